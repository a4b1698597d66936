"""Convex, smooth, strongly convex: three inequalities for all pairs.

For all points x₁, x₂ of a function f with gradient ∇f

    convex             f(x₁) ≥ f(x₂) + ⟨∇f(x₂), x₁ − x₂⟩
    L-smooth           ‖∇f(x₁) − ∇f(x₂)‖ ≤ L‖x₁ − x₂‖
    c-strongly convex  f(x₁) ≥ f(x₂) + ⟨∇f(x₂), x₁ − x₂⟩ + (c/2)‖x₁ − x₂‖²

How far f(x₁) lies above the tangent at x₂, measured by the distance, is one number for each pair:

    k(x₁, x₂) = 2(f(x₁) − f(x₂) − ⟨∇f(x₂), x₁ − x₂⟩) / ‖x₁ − x₂‖²

Convex says k ≥ 0, strongly convex k ≥ c. Smoothness says k ≤ L: integrate ∇f along the segment from
x₂ to x₁, where it differs from ∇f(x₂) by at most L times the way gone, and the quadratic upper
bound of the lecture is what comes out. For least squares k runs exactly from the smallest to the
largest eigenvalue of the Hessian.

A strongly convex f has one minimizer: at a second one, x₂, the gradient is zero and f would be
(c/2)‖x₁ − x₂‖² lower than itself. And gradient descent with the step 2/(L + c) comes nearer to it
by the same factor at every step, which is what "converges at the rate γᵏ" means:

    ‖xᵏ⁺¹ − x*‖ ≤ γ‖xᵏ − x*‖     ⇒     ‖xᵏ − x*‖ ≤ γᵏ‖x⁰ − x*‖        γ = (L − c)/(L + c)

All of these speak of every pair, so that one pair is enough to refute them: `check_convex` and
`check_smooth` search for it.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

import thalweg as tw
from thalweg.labbook import (
    Break,
    Check,
    Curve,
    Figure,
    Findings,
    Guide,
    Lab,
    Panel,
    Point,
    Ruling,
    Setting,
    Sheet,
    curve,
    figure,
    panel,
)

ROUNDING = 1e-6  # of k/L: what the differences of f that k is made of may lose
CLAIMED = 10.0  # an L for the function that has none: ten times its usual curvature
ENOUGH = 300  # pairs that find the narrow kink of that function with any seed
Search = Callable[..., Any]


class Convex(NamedTuple):
    """A problem with the constants that are claimed for it."""

    name: str
    f: Any
    c: float  # of strong convexity
    L: float


class Pairs(NamedTuple):
    """What pairs of points say, float64[count] each."""

    k: np.ndarray  # how far f lies above its tangent
    slope: np.ndarray  # ‖∇f(x₁) − ∇f(x₂)‖ / ‖x₁ − x₂‖


def experiment(
    setting: Setting,
    *,
    check_convex: Search = tw.check_convex,
    check_smooth: Search = tw.check_smooth,
    smoothness: float = 1.0,
) -> Findings:
    """Pairs on two convex problems, with `smoothness` times their L, and on one that is neither."""
    looks = {"samples": setting.pick(glance=24, quick=300, full=6_000), "seed": setting.seed}
    more = {**looks, "samples": max(ENOUGH, looks["samples"])}
    problems = _problems(smoothness)
    squares, logistic = problems
    pairs = {each.name: _pairs(each.f, setting) for each in problems}
    found: dict[str, Any] = {}
    for name, f, c, L in problems:
        found[f"{name}: convex"] = check_convex(f, **looks)
        found[f"{name}: {c:.3g}-strongly convex"] = check_convex(f, strong_convexity=c, **looks)
        found[f"{name}: {L:.3g}-smooth"] = check_smooth(f, L, **looks)
    tight = {
        f"{squares.name}: c a tenth larger": check_convex(
            squares.f, strong_convexity=1.1 * squares.c, **looks
        ),
        f"{squares.name}: L a tenth smaller": check_smooth(squares.f, 0.9 * squares.L, **looks),
    }
    neither = cusps()
    refuted = {
        "cusps: convex": check_convex(neither, **more),
        f"cusps: {CLAIMED:g}-smooth": check_smooth(neither, CLAIMED, **more),
    }
    checks = [
        *_of_pairs(problems, pairs),
        *_of_searches(found, tight),
        *_of_minimizers(logistic, setting),
        *_of_rate(squares, setting),
        *_of_neither(neither, *refuted.values()),
    ]
    return Findings(
        checks,
        [_searches({**found, **tight, **refuted})],
        [_pairs_figure(problems, pairs), _neither_figure(neither, *refuted.values())],
        [
            f"least squares on diabetes, 442 × 10, c = {squares.c:.3g}; logistic regression on "
            f"breast cancer, 569 × 30, l2 = c = {logistic.c:g}; cusps is Σ |wᵢ|^1.2 + 0.1·cos 3wᵢ"
        ],
    )


def cusps() -> tw.Objective:
    """Σ |wᵢ|^1.2 + 0.1·cos 3wᵢ: not convex where the cosine bends down, no L at wᵢ = 0."""
    return tw.Objective(
        lambda w: float(np.sum(np.abs(w) ** 1.2 + 0.1 * np.cos(3.0 * w))),
        lambda w: 1.2 * np.sign(w) * np.abs(w) ** 0.2 - 0.3 * np.sin(3.0 * w),
        dim=2, name="cusps", bounds=[(-3.0, 3.0)] * 2,
    )  # fmt: skip


def corners_only(objective: Any, *_: Any, **__: Any) -> Any:
    """A search that is no use: it looks at two corners of a box and its middle."""
    corner = np.ones(objective.dim)
    ends = 0.5 * (objective.value(-corner) + objective.value(corner))
    slack = ends - objective.value(0.0 * corner)
    return SimpleNamespace(
        holds=slack >= 0.0, pair=None, pairs_tested=1, measured=np.nan, worst_slack=slack
    )


def _problems(smoothness: float) -> list[Convex]:
    diabetes, cancer = (tw.read(name, dtype="float64") for name in ("@diabetes", "@cancer"))
    scaled = tw.scaling.ZScore().fit_transform
    squares = tw.LinearProblem(scaled(diabetes.X), diabetes.y, "squared", fit_intercept=False)
    logistic = tw.LinearProblem(
        scaled(cancer.X), cancer.y, "logistic", l2=0.05, fit_intercept=False
    )
    least = (1.0 - ROUNDING) * float(np.linalg.eigvalsh(squares.hessian(np.zeros(squares.dim)))[0])
    return [
        Convex("squares", squares, least, smoothness * squares.smoothness),
        Convex("logistic", logistic, logistic.strong_convexity, smoothness * logistic.smoothness),
    ]


def _pairs(f: Any, setting: Setting) -> Pairs:
    """Pairs at distances from 0.01 to 3: half at random, half along eigenvectors of the Hessian."""
    count = setting.pick(glance=150, quick=2_000, full=30_000)
    rng = setting.rng("pairs", f.name)
    eigenvectors = np.linalg.eigh(f.hessian(np.zeros(f.dim)))[1].T
    k, slope = np.empty(count), np.empty(count)
    for i in range(count):
        x2 = rng.standard_normal(f.dim)
        u = rng.standard_normal(f.dim) if i % 2 else rng.choice(eigenvectors)
        way = 10.0 ** rng.uniform(-2.0, 0.5) * u / np.linalg.norm(u)
        f2, g2 = f.value_and_gradient(x2)
        f1, g1 = f.value_and_gradient(x2 + way)
        k[i] = 2.0 * (f1 - f2 - g2 @ way) / (way @ way)
        slope[i] = np.linalg.norm(g1 - g2) / np.linalg.norm(way)
    return Pairs(k, slope)


def _of_pairs(problems: list[Convex], pairs: dict[str, Pairs]) -> list[Check]:
    """The inequalities as they stand in the lectures, on pairs drawn here."""
    total = sum(len(these.k) for these in pairs.values())
    slack = {each.name: ROUNDING * each.L for each in problems}
    lowest = {name: these.k.min() for name, these in pairs.items()}
    highest = {name: these.k.max() for name, these in pairs.items()}
    steepest = {name: these.slope.max() for name, these in pairs.items()}
    return [
        Check(
            "convex: f(x₁) ≥ f(x₂) + ⟨∇f(x₂), x₁ − x₂⟩",
            all(lowest[name] >= -slack[name] for name in pairs),
            f"{total:,} pairs, least k " + _listed(lowest),
        ),
        Check(
            "strongly convex: f lies (c/2)‖x₁ − x₂‖² above its tangents",
            all(lowest[each.name] >= each.c - slack[each.name] for each in problems),
            "least k/c " + _listed({each.name: lowest[each.name] / each.c for each in problems}),
        ),
        Check(
            "L-smooth: ‖∇f(x₁) − ∇f(x₂)‖ ≤ L‖x₁ − x₂‖",
            all(steepest[each.name] <= each.L + slack[each.name] for each in problems),
            "largest share of L "
            + _listed({each.name: steepest[each.name] / each.L for each in problems}),
        ),
        Check(
            "hence f(x₁) ≤ f(x₂) + ⟨∇f(x₂), x₁ − x₂⟩ + (L/2)‖x₁ − x₂‖²",
            all(highest[each.name] <= each.L + slack[each.name] for each in problems),
            "largest k/L " + _listed({each.name: highest[each.name] / each.L for each in problems}),
        ),
    ]


def _of_searches(found: dict[str, Any], tight: dict[str, Any]) -> list[Check]:
    tested = sum(check.pairs_tested for check in found.values())
    return [
        Check(
            "a search for a violating pair finds none where there is none",
            all(check.holds is True for check in found.values()),
            f"{len(found)} searches over {tested:,} pairs",
        ),
        Check(
            "and finds one where a constant is a tenth off",
            all(check.holds is False for check in tight.values()),
            f"{sum(check.holds is False for check in tight.values())} of {len(tight)} refuted, for "
            "least squares, whose c and L are the ends of its spectrum",
        ),
    ]


def _of_minimizers(logistic: Convex, setting: Setting) -> list[Check]:
    """One minimizer with strong convexity, many without."""
    rng = setting.rng("starts")
    f = logistic.f
    starts = setting.pick(glance=4, quick=12, full=50)
    ends, norms = [], []
    for _ in range(starts):
        run = tw.minimize(f, "newton", 3.0 * rng.standard_normal(f.dim), tol=1e-12, progress=False)
        ends.append(run.w)
        norms.append(np.linalg.norm(f.gradient(run.w)))
    apart = max(float(np.linalg.norm(end - ends[0])) for end in ends)
    allowed = 2.0 * max(norms) / logistic.c
    X = np.array([[1.0, 1.0], [2.0, 2.0]])
    flat = tw.LinearProblem(X, [1.0, 2.0], "squared", fit_intercept=False)
    two = [
        tw.minimize(flat, "gd", w0, tol=1e-10, progress=False) for w0 in ([5.0, 0.0], [0.0, 5.0])
    ]
    values, between = [run.value for run in two], float(np.linalg.norm(two[0].w - two[1].w))
    return [
        Check(
            "strongly convex, so all starts end at one minimizer",
            # ‖w − w*‖ ≤ ‖∇f(w)‖/c for each of them.
            bool(apart <= allowed + 1e-12),
            f"{starts} ends at most {apart:.1g} apart, ‖∇f‖/c allows {allowed:.1g}",
        ),
        Check(
            "merely convex, there can be many",
            between > 1.0 and max(values) <= 1e-12,
            f"two equal columns: f = {values[0]:.1g} and {values[1]:.1g}, {between:.3g} apart",
        ),
    ]


def _of_rate(squares: Convex, setting: Setting) -> list[Check]:
    """Convergence at the rate γᵏ."""
    f, theory = squares.f, tw.theory.gradient_descent
    constants = {"smoothness": squares.L, "strong_convexity": squares.c}
    step = theory.optimal_step(**constants)
    gamma = theory.contraction(step, **constants)
    best = tw.minimize(f, "newton", tol=1e-14, progress=False).w
    w0 = best + setting.rng("rate").standard_normal(f.dim)
    way = [w0]
    tw.minimize(
        f, tw.GD(step=step), w0, tol=1e-300, progress=False,
        max_iter=setting.pick(glance=150, quick=1_500, full=9_000),
        callback=lambda seen: way.append(np.array(seen.w)),
    )  # fmt: skip
    distances = np.linalg.norm(np.array(way) - best, axis=1)
    seen = distances[:-1] > 1e-7 * distances[0]
    ratios = (distances[1:] / distances[:-1])[seen]
    k = np.flatnonzero(seen)
    bounds = tw.theory.rate.bound(float(distances[0]), gamma, k)
    return [
        Check(
            "converges at the rate γᵏ: ‖xᵏ⁺¹ − x*‖ ≤ γ‖xᵏ − x*‖, so ‖xᵏ − x*‖ ≤ γᵏ‖x⁰ − x*‖",
            bool(ratios.max() <= gamma + ROUNDING)
            and bool(np.all(distances[k] <= bounds * (1.0 + ROUNDING))),
            f"{len(k):,} steps of gradient descent with 2/(L + c): ratios up to "
            f"{ratios.max():.6f}, γ = {gamma:.6f}",
        )
    ]


def _of_neither(f: tw.Objective, convex: Any, smooth: Any) -> list[Check]:
    """Both pairs, looked at again by hand."""
    checks = []
    for check, statement in (
        (convex, "on a function that is not convex, check_convex finds a pair that shows it"),
        (smooth, f"on one without L, check_smooth finds a pair that refutes L = {CLAIMED:g}"),
    ):
        if check.pair is None:
            checks.append(Check(statement, False, "no pair found"))
            continue
        x1, x2 = check.pair
        way = x1 - x2
        k = 2.0 * (f.value(x1) - f.value(x2) - f.gradient(x2) @ way) / (way @ way)
        slope = np.linalg.norm(f.gradient(x1) - f.gradient(x2)) / np.linalg.norm(way)
        shows = k < 0.0 if check is convex else max(k, slope) > CLAIMED
        number = f"k = {k:.3g}" if check is convex else f"the slope changes by {slope:.3g} a unit"
        at = " and ".join(f"({x[0]:.3g}, {x[1]:.3g})" for x in (x1, x2))
        checks.append(Check(statement, bool(shows), f"{at}: {number}"))
    return checks


def _listed(numbers: dict[str, Any]) -> str:
    return ", ".join(f"{number:.4g} ({name})" for name, number in numbers.items())


def _searches(found: dict[str, Any]) -> Sheet:
    rows = tuple(
        (name, "holds" if check.holds else "refuted", check.pairs_tested, float(check.worst_slack))
        for name, check in found.items()
    )
    return Sheet(
        "Searches for a violating pair", ("claimed", "found", "pairs", "least slack"), rows
    )


def _pairs_figure(problems: list[Convex], pairs: dict[str, Pairs]) -> Figure:
    panels = []
    for each in problems:
        k = np.sort(pairs[each.name].k)
        share = np.linspace(0.0, 100.0, len(k))
        marks: list[Curve | Guide] = [Guide("c and L", each.c), Guide("", each.L)]
        marks.append(curve("k of the pairs, sorted", share, k, 1))
        panels.append(panel("percent of pairs", "k", marks, log="y", title=each.name))
    lines = [
        f"{each.name}: k from {pairs[each.name].k.min():.3g} to {pairs[each.name].k.max():.3g}, "
        f"between c = {each.c:.3g} and L = {each.L:.3g}"
        for each in problems
    ]
    title = "How far f lies above its tangents"
    return figure(title, panels, ". ".join(lines) + ".", columns=2)


def _neither_figure(f: tw.Objective, convex: Any, smooth: Any) -> Figure:
    panels = []
    for check, title in ((convex, "Below its tangent"), (smooth, "Above its upper bound")):
        if check.pair is not None:
            panels.append(_section(f, check, title))
    if not panels:  # nothing was found: the function all the same
        s = np.linspace(-3.0, 3.0, 301)
        values = [f.value(np.array([x, 0.0])) for x in s]
        panels.append(panel("w₁", "f", [curve("f", s, values, 0)]))
    return figure(
        "Pairs that refute, on cusps", panels,
        "Along the line through the pair that was found f(x₁) lies below the tangent at x₂, so f "
        f"is not convex; and near a kink above the parabola of curvature L = {CLAIMED:g}.",
        columns=2,
    )  # fmt: skip


def _section(f: tw.Objective, check: Any, title: str) -> Panel:
    """f along the line from x₂ through x₁, with what bounds it there."""
    x1, x2 = check.pair
    length = float(np.linalg.norm(x1 - x2))
    u = (x1 - x2) / length
    s = np.linspace(-0.5 * length, 1.5 * length, 301)
    f2, slope = f.value(x2), f.gradient(x2) @ u
    values = np.array([f.value(x2 + t * u) for t in s])
    marks: list[Curve | Point] = [curve("f", s, values, 1)]
    marks.append(curve("tangent at x₂", s, f2 + slope * s, 0, theory=True))
    if title.startswith("Above"):
        bound = f2 + slope * s + 0.5 * CLAIMED * s**2
        marks.append(curve(f"tangent + {CLAIMED / 2:g}s²", s, bound, 2, theory=True))
    marks.append(Point("x₁", length, float(f.value(x1))))
    marks.append(Point("x₂", 0.0, float(f2), "square"))
    return panel("s, from x₂ towards x₁", "f", marks, title=title)


LAB = Lab(
    name="convexity",
    claim="Convexity, L-smoothness with its quadratic upper bound, strong convexity with its one "
    "minimizer, and convergence at a rate γ are inequalities for all pairs of points, which a "
    "search can refute.",
    formula="(c/2)‖x₁ − x₂‖² ≤ f(x₁) − f(x₂) − ⟨∇f(x₂), x₁ − x₂⟩ ≤ (L/2)‖x₁ − x₂‖²",
    places=("A, Convex Optimization", "B, Convergence Rate and Assumptions"),
    expected=Ruling.HOLDS,
    experiment=experiment,
    breaks=(
        Break("half", "half of L claimed", {"smoothness": 0.5}),
        Break(
            "blind", "a search that looks at two corners and the middle",
            {"check_convex": corners_only, "check_smooth": corners_only},
        ),
    ),
    fails_if="a pair of points on either convex problem with k outside [c, L], two starts that end "
    "at different minimizers, a step that contracts by less than γ, or a search that misses the "
    "pairs on the function that is neither convex nor smooth",
    code="""\
import numpy as np
import thalweg as tw

bowl = tw.surfaces.Quadratic((1.0, 10.0))
print(tw.check_convex(bowl, strong_convexity=1.0, samples=200))
print(tw.check_smooth(bowl, 9.0, samples=200))  # its L is 10
found = tw.check_convex(tw.surfaces.Himmelblau(), samples=200)
print(found)
x1, x2 = found.pair
f = tw.surfaces.Himmelblau()
assert f.value(x1) < f.value(x2) + f.gradient(x2) @ (x1 - x2)
""",
    seconds=2.9,
)  # fmt: skip
