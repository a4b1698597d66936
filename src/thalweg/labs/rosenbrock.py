"""Rosenbrock's valley is hard to follow, but it has no saddle.

In two variables f(x, y) = (a − x)² + b(y − x²)². Both terms are zero at one point only, (a, a²),
which is the global minimum. The second term is zero on the parabola y = x², the floor of the
valley; there f = (a − x)² is what is left, and its slope is gentle, while a distance d beside the
floor meets a slope of 2bd and more:

    on the floor       ∇f = (−2(a − x), 0)
    d above the floor  ∇f = (−2(a − x) − 4bxd, 2bd)

At the minimum the curvatures are about 2b(1 + 4a²) across the valley and 2/(1 + 4a²) along it: for
a = 1, b = 100 they are 1002 and 0.4, a condition number of 2508.

A stationary point has ∂f/∂y = 2b(y − x²) = 0, so it lies on the floor, and then ∂f/∂x = −2(a − x)
is zero only for x = a. There is one stationary point, and it is the minimum: no saddle, whatever a
and b > 0 are. What the function tests is a narrow, curved, flat valley.

In three variables, with the terms (a − x)² + b(y − x²)² + (a − y)² + b(z − y²)², a stationary point
has z = y² and y = (a + bx²)/(1 + b), and x is a root of

    (a − x)(1 + b) + 2bx(a − x²) = 0

For a = 1 the root x = 1 splits off and leaves x² + x + (1 + b)/2b = 0, whose discriminant −1 − 2/b
is negative: one stationary point again. A saddle appears in three variables only where a is larger
(for b = 100 from about a = 3 on), and with a = 1 from four variables on, between two minima.
"""

from __future__ import annotations

import importlib.util
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import thalweg as tw
from thalweg.labbook import (
    CORRECTED,
    WRITTEN,
    Break,
    Check,
    Figure,
    Findings,
    Lab,
    Ruling,
    Setting,
    Sheet,
    curve,
    figure,
    panel,
)

START = (-1.5, 2.0)
NEAR = 1e-2  # of the minimum: there a method has followed the valley to its end
BESIDE = 0.1  # d: how far from the floor the walls are measured
CURVED = ("bfgs", "lbfgs", "newton", "newton-cg")  # methods that learn or know the curvature
FAMILIES = {
    "momentum": ("gd", "heavy-ball", "nesterov", "fista"),
    "adaptive": ("adagrad", "rmsprop", "adam", "nadam"),
    "curvature": CURVED,
}
UPTO = 100  # steps that the pictures of the ways show
VARIABLES = (2, 3, 4)  # in which stationary points are searched for, with a = 1
LARGE = 4.0  # an a for which the cubic of the derivation has three real roots

Points = Counter[tuple[str, tuple[float, ...]]]  # (kind, place) to how many searches ended there
Make = Callable[[float, float, int], Any]  # a, b and the number of variables to a surface


class Way(NamedTuple):
    """How a method went from the start to the minimum."""

    method: str
    to_floor: int  # steps until |y − x²| ≤ 0.1; -1: never
    to_minimum: int  # steps until ‖w − w*‖ ≤ NEAR; -1: never
    distance: np.ndarray  # ‖w − w*‖ after each step
    outcome: str


def rosenbrock(a: float, b: float, dim: int) -> Any:
    """The function of the lecture; a sum over neighbours in more than two variables."""
    return tw.surfaces.Rosenbrock(a, b, dim)


def folded(a: float, b: float, dim: int) -> Any:
    """A wrong one, with y² in the place of the last variable: it has saddles, at y = 0."""
    true = tw.surfaces.Rosenbrock(a, b, dim)

    def value(w: np.ndarray) -> float:
        return true.value(np.append(w[:-1], w[-1] ** 2))

    def gradient(w: np.ndarray) -> np.ndarray:
        slope = true.gradient(np.append(w[:-1], w[-1] ** 2))
        return np.append(slope[:-1], 2.0 * w[-1] * slope[-1])

    def product(w: np.ndarray, v: np.ndarray) -> np.ndarray:
        inner, bend = np.append(w[:-1], w[-1] ** 2), np.append(np.ones(dim - 1), 2.0 * w[-1])
        last = np.append(np.zeros(dim - 1), 2.0 * true.gradient(inner)[-1])
        return bend * true.hessian_vector(inner, bend * v) + last * v

    return tw.Objective(
        value, gradient, product, dim=dim, bounds=true.bounds, minimizer=true.minimizer
    )


def experiment(setting: Setting, *, make: Make = rosenbrock, b: float = 100.0) -> Findings:
    """Race every method through the valley, and look for saddles in two, three, four variables."""
    surface = make(1.0, b, 2)
    names = [name for name, method in tw.METHODS.items() if not method.only_linear]
    steps = setting.pick(glance=400, quick=5_000, full=100_000)
    raced = tw.race(surface, names, start=START, steps=steps, tol=1e-9)
    ways = [_way(run, path) for run, path in zip(raced.runs, raced.paths, strict=True)]
    found = {f"{dim}, a = 1": _stationary(setting, make(1.0, b, dim)) for dim in VARIABLES}
    found |= {f"3, a = {a:g}, by the cubic": _lifted(make, a, b) for a in (1.0, LARGE)}
    checks = [
        *_claims(make, b, surface, {way.method: way for way in ways}, steps),
        *_about_saddles(found),
    ]
    notes = [_animation(setting, raced)]
    return Findings(
        checks,
        [_race_table(ways, steps), _point_table(found)],
        [_race_figure(raced, ways), _valley_figure(surface, b)],
        [note for note in notes if note],
    )


def _way(run: Any, path: np.ndarray) -> Way:
    distance = np.linalg.norm(path - [1.0, 1.0], axis=1)
    off = np.abs(path[:, 1] - path[:, 0] ** 2)
    return Way(run.method, _first(off <= BESIDE), _first(distance <= NEAR), distance,
               run.outcome.word.lower())  # fmt: skip


def _first(flags: np.ndarray) -> int:
    return int(np.argmax(flags)) if flags.any() else -1


def _claims(make: Make, b: float, surface: Any, ways: dict[str, Way], steps: int) -> list[Check]:
    """What the slide says rightly."""
    wrong = []
    for a in (-1.0, 0.5, 1.0, 2.0):
        for steepness in (1.0, 10.0, 100.0):
            at = np.array([a, a * a])
            other = make(a, steepness, 2)
            if other.value(at) != 0.0 or tw.classify(other, at).kind != "minimum":
                wrong.append((a, steepness))
    pair = tw.check_convex(surface, samples=200)
    floor, walls = _slopes(surface)
    gd, newton = ways["gd"], ways["newton"]
    needed = gd.to_minimum if gd.to_minimum >= 0 else steps
    curved = max(
        way.to_minimum if way.to_minimum >= 0 else steps for way in (ways[name] for name in CURVED)
    )
    return [
        Check(
            "(a, a²) is a minimum, with f = 0", not wrong,
            "at all of 12 pairs of a from −1 to 2 and b from 1 to 100" if not wrong
            else f"not at (a, b) = {wrong[0]}",
        ),
        Check("f is not convex", pair.holds is False, pair.sentence),
        Check(
            # 2bd = 20 against at most 2|a − x| = 5 between x = −1.5 and the minimum.
            f"the valley is narrow: the slope {BESIDE:g} beside the floor is 4 times that on it "
            "or more", (walls / floor).min() >= 4.0,
            f"{(walls / floor).min():.3g} to {(walls / floor).max():.3g} times",
        ),
        Check(
            "the valley is long: gradient descent is on its floor after 5 % of its steps",
            0 <= gd.to_floor <= 0.05 * needed, f"on the floor after {gd.to_floor}, "
            + (f"within {NEAR:g} of the minimum after {needed:,}" if gd.to_minimum >= 0
               else f"not within {NEAR:g} of the minimum after {steps:,}"),
        ),
        Check(
            "it is hard for gradient descent: ten times the steps of the slowest method that "
            "uses curvature", needed >= 10 * curved,
            f"{needed:,}{'' if gd.to_minimum >= 0 else ' and more'}; at most {curved:,} for "
            f"{', '.join(CURVED)}; Newton's method takes {newton.to_minimum}",
        ),
    ]  # fmt: skip


def _slopes(surface: Any) -> tuple[np.ndarray, np.ndarray]:
    """‖∇f‖ on the floor from x = −1.5 to 0.9, and `BESIDE` above or below it, the lesser."""
    x = np.linspace(-1.5, 0.9, 49)
    floor, above, below = (
        np.array([np.linalg.norm(surface.gradient(np.array([u, u * u + d]))) for u in x])
        for d in (0.0, BESIDE, -BESIDE)
    )
    return floor, np.minimum(above, below)


def _stationary(setting: Setting, surface: Any) -> Points:
    """Kinds and places of stationary points, with how many starts led there."""
    dim = surface.dim
    seen: Points = Counter()
    kinds: dict[tuple[float, ...], str] = {}
    for start in _starts(setting, dim):
        end = _newton(surface, start)
        if np.abs(surface.gradient(end)).max() > 1e-6:
            continue
        place = tuple((np.round(end, 3) + 0.0).tolist())
        if place not in kinds:
            kinds[place] = tw.classify(surface, end).kind
        seen[kinds[place], place] += 1
    return seen


def _newton(surface: Any, w: np.ndarray) -> np.ndarray:
    """Newton's method on ∇f = 0: no descent, it goes to saddles as well as to minima."""
    for _ in range(60):
        slope = surface.gradient(w)
        hessian = np.array([surface.hessian_vector(w, v) for v in np.eye(w.size)])
        if not np.isfinite(hessian).all() or np.abs(slope).max() <= 1e-12:
            break
        w = w - np.linalg.lstsq(hessian, slope)[0]
    return w


def _starts(setting: Setting, dim: int) -> np.ndarray:
    """Points of the floor xᵢ₊₁ = xᵢ², where all stationary points are near, and others anywhere."""
    # The basin of the saddle in four variables is 0.1 wide along the floor: two starts hit it.
    first = np.linspace(-1.2, 1.2, setting.pick(glance=49, quick=97, full=961))
    floor = np.column_stack([first, *(np.abs(first) ** 2**k for k in range(1, dim))])
    count = setting.pick(glance=15, quick=100, full=3_000)
    return np.vstack([floor, setting.rng("starts", dim).uniform(-4.0, 4.0, (count, dim))])


def _lifted(make: Make, a: float, b: float) -> Points:
    """All stationary points in three variables, from the real roots of the derivation's cubic."""
    surface = make(a, b, 3)
    seen: Points = Counter()
    for x in np.roots([-2 * b, 0.0, 2 * a * b - (1 + b), a * (1 + b)]):
        if abs(x.imag) > 1e-9:
            continue
        y = (a + b * x.real**2) / (1 + b)
        at = np.array([x.real, y, y * y])
        seen[tw.classify(surface, at).kind, tuple(np.round(at, 3).tolist())] += 1
    return seen


def _about_saddles(found: dict[str, Points]) -> list[Check]:
    two, three, four, cubic, large = found.values()
    return [
        Check(
            "it has saddle points to test a method on, in the two variables of the formula",
            "saddle" in _kinds(two),
            f"{_kinds(two).count('saddle')} among the stationary points at which {_ends(two)} "
            "ended", WRITTEN,
        ),
        Check(
            "in two variables (a, a²) is the only stationary point, a minimum",
            _kinds(two) == ["minimum"], _listed(two), CORRECTED,
        ),
        Check(
            "in three variables, with a = 1, there is no saddle either",
            _kinds(three) == _kinds(cubic) == ["minimum"],
            f"{_listed(three)}; one real root of the cubic", CORRECTED,
        ),
        Check(
            f"in three variables with a = {LARGE:g} there is a saddle",
            _kinds(large) == ["minimum", "minimum", "saddle"], _listed(large), CORRECTED,
        ),
        Check(
            "in four variables there is a saddle", "saddle" in _kinds(four), _listed(four),
            CORRECTED,
        ),
    ]  # fmt: skip


def _kinds(seen: Points) -> list[str]:
    return sorted(kind for kind, _ in seen)


def _ends(seen: Points) -> str:
    return f"{sum(seen.values()):,} searches"


def _listed(seen: Points) -> str:
    places = ", ".join(f"{kind} at {_point(place)}" for kind, place in sorted(seen))
    return f"{places}; {_ends(seen)}" if sum(seen.values()) > 5 else places


def _point(place: tuple[float, ...]) -> str:
    return "(" + ", ".join(f"{x:.3g}" for x in place) + ")"


def _race_table(ways: list[Way], steps: int) -> Sheet:
    rows = tuple(
        (
            way.method, _steps(way.to_floor), _steps(way.to_minimum),
            float(np.nanmin(way.distance)), way.outcome,
        )
        for way in sorted(ways, key=lambda way: (way.to_minimum < 0, way.to_minimum))
    )  # fmt: skip
    return Sheet(
        f"Every method from (−1.5, 2), its default settings, at most {steps:,} steps",
        ("method", "steps to the floor", f"to within {NEAR:g} of (1, 1)", "nearest", "outcome"),
        rows,
    )


def _steps(count: int) -> str | int:
    return count if count >= 0 else "never"


def _point_table(found: dict[str, Points]) -> Sheet:
    rows = tuple(
        (case, kind, _point(place), count)
        for case, seen in found.items()
        for (kind, place), count in sorted(seen.items())
    )
    return Sheet(
        "Stationary points, b = 100", ("variables", "kind", "place", "searches that ended there"),
        rows,
    )  # fmt: skip


def _race_figure(raced: Any, ways: list[Way]) -> Figure:
    drawn = []
    for family, names in FAMILIES.items():
        chosen = [k for k, run in enumerate(raced.runs) if run.method in names]
        part = tw.Race(
            raced.objective,
            tuple(raced.runs[k] for k in chosen), tuple(raced.paths[k] for k in chosen),
        )  # fmt: skip
        marks = tw.plot(part, upto=UPTO).figure.panels[0].marks
        drawn.append(panel("x", "y", marks, title=f"{family}, {UPTO} steps"))
    distances = [
        curve(way.method, np.arange(1, len(way.distance)), np.maximum(way.distance[1:], 1e-9))
        for way in ways
        if np.isfinite(way.distance).all()
    ]
    drawn.append(panel("step", "distance to the minimum", distances, log="xy", title="all steps"))
    summary = tw.plot(raced).figure.summary
    return figure("The ways from (−1.5, 2) and where they led", drawn, summary, columns=2)


def _valley_figure(surface: Any, b: float) -> Figure:
    x = np.linspace(-1.5, 0.98, 200)
    floor, beside = (
        np.array([np.linalg.norm(surface.gradient(np.array([u, u * u + d]))) for u in x])
        for d in (0.0, BESIDE)
    )
    return figure(
        "A flat floor between steep walls",
        panel(
            "x along the valley", "‖∇f‖",
            [
                curve(f"{BESIDE:g} above the floor", x, beside, 2),
                curve("2bd", x, np.full_like(x, 2 * b * BESIDE), 2, theory=True),
                curve("on the floor", x, floor, 1),
                curve("2|a − x|", x[::8], 2 * (1 - x[::8]), 0, theory=True),
            ],
            log="y",
        ),
        f"On the floor the gradient falls from {floor[0]:.2g} at x = −1.5 to 0 at the minimum; "
        f"{BESIDE:g} above it, it is {beside.min():.3g} and more.",
    )  # fmt: skip


def _animation(setting: Setting, raced: Any) -> str:
    """Write the race as a GIF where time is no matter, and say where, or why not."""
    if not setting.is_full:
        return "--full also writes the race as an animation, rosenbrock.gif"
    if importlib.util.find_spec("matplotlib") is None:
        return "no animation: matplotlib is not installed (the extra `plots` brings it)"
    file = tw.plot(raced).save(setting.folder / "rosenbrock.gif")
    return f"the race as an animation: {file}"


LAB = Lab(
    name="rosenbrock",
    claim="Rosenbrock's function has its global minimum (a, a²) in a long, narrow, flat valley, "
    "which makes gradient methods slow; it is used to test methods on saddle points.",
    formula="f(x, y) = (a − x)² + b(y − x²)²",
    places=("C, Saddle Points",),
    expected=Ruling.FAILS_AS_WRITTEN,
    correction="It tests a narrow curved valley: in two variables, and in three with a = 1, its "
    "only stationary point is the minimum. A saddle comes with four variables, or with three and "
    "a = 4.",
    experiment=experiment,
    breaks=(
        Break("folded", "y² in place of y, which has saddles at y = 0", {"make": folded}),
        Break("bowl", "b = 0.5, a wide bowl in place of the valley", {"b": 0.5}),
    ),
    fails_if="a saddle among the stationary points in two variables, or in three with a = 1; none "
    "in four; another minimum than (a, a²); or gradient descent within 10 times the steps of the "
    "slowest of BFGS, L-BFGS, Newton and Newton-CG",
    code="""\
import numpy as np
import thalweg as tw

valley = tw.surfaces.Rosenbrock()
race = tw.race(valley, ["gd", "adam", "lbfgs", "newton"], start=(-1.5, 2.0), steps=2000)
print(race)
print(tw.classify(valley, [1.0, 1.0]))
a, b = 1.0, 100.0  # stationary in three variables: (a − x)(1 + b) + 2bx(a − x²) = 0
x = np.roots([-2 * b, 0.0, 2 * a * b - (1 + b), a * (1 + b)])
print("roots", x)
assert np.sum(np.abs(x.imag) < 1e-9) == 1 and tw.classify(valley, [1.0, 1.0]).kind == "minimum"
""",
    seconds=6.0,
    remark="The slide calls it a test for saddle points. The part about the valley holds; the part "
    "about saddles is true of the function only where it has four variables or more.",
)
