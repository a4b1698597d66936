"""RMSProp forgets old gradients, and goes on where AdaGrad stalls.

AdaGrad's sum of squares becomes a mean that fades with β (C writes ρ, and δ for ε):

    sₜ = βsₜ₋₁ + (1 − β)gₜ²        a gradient k steps ago weighs (1 − β)βᵏ
    C:  θ ← θ − ηgₜ/(ε + √sₜ)       A:  θ ← θ − ηgₜ/√(sₜ + ε), with gₜ₋₁ in sₜ

Along a gradient that stays s is (1 − βᵗ)g², so that a move is η/√(1 − βᵗ), from η/√(1 − β) at
first to η in the end, however steep the slope is. After K steps of slope G and k of slope g,

    s = g²(1 − βᵏ) + βᵏG²(1 − βᴷ)

the steep stretch is forgotten after about log(G²/g²)/(1 − β) steps, where AdaGrad's
KG² + kg² holds the rate down for G²/g² times as long as the stretch was.

As (1 − β)gₜ² ≤ sₜ no move of C is longer than η/√(1 − β). In lecture A's form gₜ is not in its own
denominator, and nothing bounds the move: with s = 0 at the start the first is ηg/√ε, which for
ε = 10⁻⁸ is ten thousand times that of gradient descent.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import thalweg as tw
from thalweg import rules
from thalweg.labbook import (
    CONDITION,
    NOTED,
    WRITTEN,
    Axis,
    Break,
    Check,
    Figure,
    Findings,
    Guide,
    Lab,
    Ruling,
    Setting,
    Sheet,
    curve,
    figure,
    panel,
)

Rule = Callable[..., tuple[Any, Any]]
BETA, EPS = 0.9, 1e-8
ADAGRAD_RATES = (0.1, 1.0, 3.0, 10.0)  # its best are far larger than those of RMSProp
RMSPROP_RATES = (0.01, 0.03, 0.1)
STEEP, GENTLE, STRETCH = 100.0, 1.0, 100  # G, g, K


def fed(rule: Rule, gradients: np.ndarray, *constants: float) -> tuple[np.ndarray, np.ndarray]:
    """Moves and s that a rule makes of given gradients, float64[T] each."""
    s, moves, means = 0.0, [], []
    for g in gradients.tolist():
        moved, s = rule(0.0, g, s, *constants)
        moves.append(-moved)
        means.append(s)
    return np.array(moves), np.array(means)


def walk(
    rule: Rule, gradient: Callable[[Any], Any], w: np.ndarray, T: int, *constants: float,
    s: Any = 0.0,
) -> np.ndarray:  # fmt: skip
    """w₀ … w_T, float64[T + 1, dim]."""
    s, way = s + 0.0 * w, [w]
    with np.errstate(all="ignore"):  # what is thrown away may overflow
        for _ in range(T):
            w, s = rule(w, gradient(w), s, *constants)
            way.append(w)
    return np.array(way)


class Memory(NamedTuple):
    """Answers to given gradients."""

    weights: np.ndarray  # of a gradient k steps ago in s, float64[k]
    steady: np.ndarray  # moves along slope 1, η = 1, float64[T]
    after: np.ndarray  # moves along a gentle slope after a steep stretch
    theory: np.ndarray  # the same by the formula
    adagrad: np.ndarray  # the same by AdaGrad


def remembered(rule: Rule) -> Memory:
    """An impulse, a slope, and a slope after a steep stretch."""
    T = 200
    impulse = np.zeros(T)
    impulse[0] = 1.0
    slopes = np.concatenate([np.full(STRETCH, STEEP), np.full(T, GENTLE)])
    k = np.arange(1, T + 1)
    s = GENTLE**2 * (1.0 - BETA**k) + BETA**k * STEEP**2 * (1.0 - BETA**STRETCH)
    return Memory(
        fed(rule, impulse, 1.0, BETA, EPS)[1],
        fed(rule, np.ones(T), 1.0, BETA, EPS)[0],
        fed(rule, slopes, 1.0, BETA, EPS)[0][STRETCH:],
        GENTLE / np.sqrt(s),
        fed(rules.adagrad, slopes, 1.0, EPS)[0][STRETCH:],
    )


def memory_checks(found: Memory) -> list[Check]:
    """The formulas of the docstring."""
    k = np.arange(len(found.weights))
    off = float(np.abs(found.weights - (1.0 - BETA) * BETA**k).max())
    expected = 1.0 / np.sqrt(1.0 - BETA ** (k + 1.0))
    back = int(np.argmax(found.after > 0.9))
    return [
        Check(
            "s is a mean in which a gradient k steps ago weighs (1 − β)βᵏ", off < 1e-12,
            f"largest difference {off:.1e}, β = {BETA}",
        ),
        Check(
            "along a gradient that stays the move is η/√(1 − βᵗ), η in the end",
            np.allclose(found.steady, expected, rtol=1e-6),
            f"{found.steady[0]:.3f} η at first, {found.steady[-1]:.3f} η after 200 steps",
        ),
        Check(
            "a steep stretch is forgotten, by AdaGrad it is not",
            np.allclose(found.after, found.theory, rtol=1e-6) and found.adagrad[-1] < 0.01,
            f"after {STRETCH} steps of slope {STEEP:g} a move along slope {GENTLE:g} is 0.9 η "
            f"again {back} steps on; AdaGrad's is {found.adagrad[-1]:.1e} η after 200",
        ),
    ]  # fmt: skip


class Corner(NamedTuple):
    """Beale's surface from its steep corner: values on the way, by method and rate."""

    values: dict[tuple[str, float], np.ndarray]

    def best(self, name: str) -> tuple[float, float]:
        """The lowest value in the end, the median of the last tenth, and its rate."""
        return min(
            (float(np.median(way[-len(way) // 10 :])), rate)
            for (each, rate), way in self.values.items()
            if each == name
        )


def cornered(setting: Setting, rule: Rule) -> Corner:
    """AdaGrad, RMSProp, and lecture A's form with s₀ = 0 and with s₀ = g₁²."""
    T = setting.pick(glance=1_000, quick=3_000, full=20_000)
    surface = tw.surfaces.Beale()
    start = 4.0 + setting.rng("corner").uniform(-0.1, 0.1, 2)
    squares = surface.gradient(start) ** 2
    forms: list[tuple[str, Rule, tuple[float, ...], Any, tuple[float, ...]]] = [
        ("adagrad", rules.adagrad, (EPS,), 0.0, ADAGRAD_RATES),
        ("rmsprop", rule, (BETA, EPS), 0.0, RMSPROP_RATES),
        ("inside", rules.rmsprop_inside, (BETA, EPS), 0.0, RMSPROP_RATES[:1]),
        ("lagged", rules.rmsprop_lagged, (BETA, EPS), 0.0, RMSPROP_RATES[:1]),
        ("warm", rules.rmsprop_lagged, (BETA, EPS), squares, RMSPROP_RATES[:1]),
    ]
    values = {}
    for name, by, constants, s, rates in forms:
        for rate in rates:
            way = walk(by, surface.gradient, start, T, rate, *constants, s=s)
            values[name, rate] = np.nan_to_num(surface.value(way), nan=np.inf, posinf=np.inf)
    return Corner(values)


def corner_checks(found: Corner) -> list[Check]:
    """Who gets away from the corner."""
    (ada, ada_rate), (rms, rms_rate) = found.best("adagrad"), found.best("rmsprop")
    inside, lagged, warm = (found.best(name)[0] for name in ("inside", "lagged", "warm"))
    first = found.values["rmsprop", RMSPROP_RATES[0]][0]
    late = {name: found.values[name, RMSPROP_RATES[0]][-300:].max() for name in ("rmsprop", "warm")}
    return [
        Check(
            # Measured ratios are below 1/1000; a tenth leaves room for other starts.
            "where gradients were huge at first AdaGrad stalls and RMSProp goes on",
            rms < 0.1 * ada and rms < 0.1,
            f"from f = {first:,.0f} AdaGrad at its best rate, {ada_rate:g}, comes to {ada:.2g}, "
            f"RMSProp to {rms:.1e}, η = {rms_rate:g}",
        ),
        Check(
            "ε inside or outside the root makes no difference here", inside < 0.1,
            f"f = {inside:.1e} with ε inside, η = {RMSPROP_RATES[0]}",
        ),
        Check(
            "lecture A's form, gₜ₋₁ in sₜ and s = 0 at first, does it too", lagged < 0.1,
            "its first move is ηg/√ε, after which the value is "
            f"{found.values['lagged', RMSPROP_RATES[0]][1]:.0e}", WRITTEN,
        ),
        Check(
            "it does if s begins with the first squared gradient", warm < 0.1,
            f"f = {warm:.1e} in the middle of its last steps, η = {RMSPROP_RATES[0]}", CONDITION,
        ),
        Check(
            "even then it is thrown out of the minimum again and again",
            late["warm"] > 10.0 * late["rmsprop"],
            f"within its last 300 steps f comes up to {late['warm']:.2g}, by C's form to "
            f"{late['rmsprop']:.1e}: where g is small for long the next larger one is divided by "
            "almost nothing", NOTED,
        ),
    ]  # fmt: skip


class Wall(NamedTuple):
    """Steps before and at a cliff, by form: longest in a coordinate, in units of η."""

    moves: dict[str, np.ndarray]  # float64[T]
    slope: float  # the largest entry of the first gradient


def walled(setting: Setting, rule: Rule) -> Wall:
    """Along the gentle slope of `tw.surfaces.Cliff` into its wall, η = 0.01."""
    surface = tw.surfaces.Cliff()
    rate, T = 0.01, 400
    start = surface.start + 0.1 * setting.rng("wall").standard_normal(2)
    squares = surface.gradient(start) ** 2
    forms = {
        "RMSProp (C)": (rule, 0.0),
        "ε inside": (rules.rmsprop_inside, 0.0),
        "lagged, s₀ = g²": (rules.rmsprop_lagged, squares),
        "lagged, s₀ = 0 (A)": (rules.rmsprop_lagged, 0.0),
    }
    moves = {
        name: np.abs(np.diff(walk(by, surface.gradient, start, T, rate, BETA, EPS, s=s), axis=0))
        for name, (by, s) in forms.items()
    }
    largest = float(np.abs(surface.gradient(start)).max())
    return Wall({name: each.max(1) / rate for name, each in moves.items()}, largest)


def wall_checks(found: Wall) -> list[Check]:
    """The bound η/√(1 − β), and who keeps it."""
    bound = (1.0 - BETA) ** -0.5
    own, inside, warm, lagged = (found.moves[name] for name in found.moves)
    return [
        Check(
            "with gₜ in sₜ no move is longer than η/√(1 − β)",
            max(own.max(), inside.max()) <= bound * (1.0 + 1e-9),
            f"longest {own.max():.4f} η, bound {bound:.4f} η, at the wall of a cliff",
        ),
        Check(
            "lecture A's first move is ηg/√ε",
            np.isclose(lagged[0], found.slope / EPS**0.5, rtol=1e-6),
            f"{lagged[0]:,.0f} η for g = {found.slope:.3f}",
        ),
        Check(
            "without gₜ in sₜ a wall throws it, however s begins", warm.max() > 3.0 * bound,
            f"longest move {warm.max():.3g} η with s₀ = g²", NOTED,
        ),
    ]  # fmt: skip


class Noise(NamedTuple):
    """E‖w‖² late on a noisy bowl, η the same for all."""

    errors: dict[str, float]


def noised(setting: Setting, rule: Rule) -> Noise:
    """Where the objective is convex AdaGrad's shrinking rate is what noise needs."""
    T = setting.pick(glance=2_000, quick=10_000, full=100_000)
    bowl = tw.surfaces.Quadratic(np.ones(30))
    rate, start = 0.1, np.ones(30)
    errors = {}
    for name, by, constants in (
        ("AdaGrad", rules.adagrad, (EPS,)),
        ("RMSProp (C)", rule, (BETA, EPS)),
        ("ε inside", rules.rmsprop_inside, (BETA, EPS)),
        ("lagged (A)", rules.rmsprop_lagged, (BETA, EPS)),
    ):
        noisy = tw.Noisy(bowl, 1.0, seed=setting.seed)  # the same noise for each
        s = 1.0 if name == "lagged (A)" else 0.0
        way = walk(by, noisy.gradient, start, T, rate, *constants, s=s)
        errors[name] = float((way[T // 2 :] ** 2).mean())
    return Noise(errors)


def noise_checks(found: Noise) -> list[Check]:
    """Convex: AdaGrad is good. And the forms do not matter in the long run."""
    ada, own = found.errors["AdaGrad"], found.errors["RMSProp (C)"]
    others = [each / own for name, each in found.errors.items() if name != "AdaGrad"]
    return [
        Check(
            "where f is convex AdaGrad is good: under noise it settles, RMSProp circles",
            ada < 0.5 * own,
            f"mean squared distance {ada:.4f}, RMSProp {own:.4f}, both with η = 0.1",
        ),
        Check(
            # Without g in its own denominator long moves stay long, which costs something.
            "on a long run the forms do about the same", 0.5 < min(others) <= max(others) < 2.0,
            f"{min(others):.2f} to {max(others):.2f} times the distance² of C's form",
        ),
    ]  # fmt: skip


def method_check(rule: Rule) -> Check:
    """tw.RMSProp against the rules."""
    surface = tw.surfaces.Himmelblau()
    start = np.array([4.0, 4.0])
    off = 0.0
    for by, inside, lagged in (
        (rule, False, False), (rules.rmsprop_inside, True, False),
        (rules.rmsprop_lagged, False, True),
    ):  # fmt: skip
        eps = 1.0 if lagged else EPS  # with 10⁻⁸ the first move ends the run
        method = tw.RMSProp(lr=0.01, beta=BETA, eps=eps, eps_inside=inside, lagged=lagged)
        run = tw.minimize(surface, method, start, tol=1e-300, max_iter=100, progress=False)
        other = walk(by, surface.gradient, start, run.iterations, 0.01, BETA, eps)
        values = surface.value(other)
        off = max(off, abs(run.trace["value"][-1] - values[-1]) / (1.0 + values[-1]))
    return Check(
        "tw.RMSProp walks by these formulas, with each of its options", off < 1e-9,
        f"largest difference {off:.1e} of the value after 100 steps",
    )  # fmt: skip


def draw(memory: Memory, corner: Corner, wall: Wall) -> Figure:
    """Recovery, Beale's corner, and the wall."""
    k = np.arange(1, len(memory.after) + 1)
    recovery = panel(
        "steps after the steep stretch", Axis("move, in η", "log"),
        [curve("RMSProp (C)", k, memory.after, 2),
         curve("theory", k, memory.theory, 2, theory=True),
         curve("AdaGrad", k, memory.adagrad, 1)],
        title="What is forgotten",
    )  # fmt: skip
    (_, ada), (_, rms) = corner.best("adagrad"), corner.best("rmsprop")
    t = np.arange(len(corner.values["adagrad", ada]))
    lines = [
        curve(name, t, np.maximum(corner.values[key, rate], 1e-6), hue)
        for name, key, rate, hue in (
            ("AdaGrad", "adagrad", ada, 1), ("RMSProp (C)", "rmsprop", rms, 2),
        )
    ]  # fmt: skip
    descent = panel("step", "f", lines, log="y", title="Beale's surface, best rates")
    last = t[-300:]
    thrown = panel(
        "step", "f",
        [curve("RMSProp (C)", last, corner.values["rmsprop", RMSPROP_RATES[0]][last], 2),
         curve("lagged, s₀ = g²", last, corner.values["warm", RMSPROP_RATES[0]][last], 3)],
        log="y", title="Beale's surface, at the end",
    )  # fmt: skip
    near = slice(0, 300)
    names = list(wall.moves)
    hues = (2, 4, 3, 5)
    moves = panel(
        "step", Axis("longest move, in η", "log", low=0.1),
        [*(curve(names[i], np.arange(300), np.maximum(wall.moves[names[i]][near], 1e-2), hues[i])
           for i in (0, 2, 3)), Guide("η/√(1 − β)", (1.0 - BETA) ** -0.5)],
        title="Into the wall of a cliff",
    )  # fmt: skip
    return figure(
        "RMSProp and AdaGrad", [recovery, descent, moves, thrown],
        "After a steep stretch RMSProp's moves are back at η within about "
        f"{int(np.argmax(memory.after > 0.9))} steps, AdaGrad's stay at "
        f"{memory.adagrad[-1]:.1e} η. On Beale's surface AdaGrad ends at "
        f"{corner.best('adagrad')[0]:.2g}, RMSProp at {corner.best('rmsprop')[0]:.1e}. At a wall "
        f"C's moves stay within η/√(1 − β), lagged ones reach "
        f"{wall.moves[names[2]].max():.3g} η, and with s₀ = 0 the first is "
        f"{wall.moves[names[3]][0]:,.0f} η. At the minimum lagged moves throw it out again.",
        columns=2,
    )  # fmt: skip


def experiment(setting: Setting, *, rule: Rule = rules.rmsprop) -> Findings:
    """Given gradients, a non-convex surface, a cliff and a noisy bowl."""
    memory, corner = remembered(rule), cornered(setting, rule)
    wall, noise = walled(setting, rule), noised(setting, rule)
    checks = [
        *memory_checks(memory), *corner_checks(corner), *wall_checks(wall), *noise_checks(noise),
        method_check(rule),
    ]  # fmt: skip
    names = {
        "adagrad": "AdaGrad", "rmsprop": "gₜ in sₜ, ε outside (C)", "inside": "ε inside",
        "lagged": "gₜ₋₁ in sₜ, s₀ = 0 (A)", "warm": "gₜ₋₁ in sₜ, s₀ = g₁²",
    }  # fmt: skip
    rows = [
        (names[name], f"{rate:g}", f if np.isfinite(f) else "diverges")
        for (name, rate), way in corner.values.items()
        for f in [float(np.median(way[-len(way) // 10 :]))]
    ]
    T = len(corner.values["adagrad", ADAGRAD_RATES[0]]) - 1
    return Findings(
        checks,
        [
            Sheet(f"Beale's surface from its corner: f by {T:,} steps, median of the last tenth",
                  ("form", "η", "f"), tuple(rows)),
            Sheet("Mean squared distance on a noisy bowl, and longest move at a wall",
                  ("form", "noisy bowl", "wall, in η"),
                  (("AdaGrad", noise.errors["AdaGrad"], "–"),
                   *((name, noise.errors.get(name, noise.errors["lagged (A)"]), moves.max())
                     for name, moves in wall.moves.items()))),
        ],
        [draw(memory, corner, wall)],
        [f"β = {BETA}, ε = {EPS:g}; Beale's surface from about (4, 4), where its slope is "
         "a hundred thousand"],
    )  # fmt: skip


def summed(w: Any, g: Any, s: Any, lr: Any, beta: Any, eps: Any) -> tuple[Any, Any]:
    """AdaGrad's sum in place of the mean."""
    return rules.adagrad(w, g, s, lr, eps)


LAB = Lab(
    name="rmsprop",
    claim="AdaGrad may shrink the rate too soon where f is not convex; with an exponentially "
    "decaying average of squared gradients it recovers.",
    formula="s = βs + (1 − β)g²;  A: θ ← θ − ηg/√(s + ε), s of gₜ₋₁;  C: θ ← θ − ηg/(δ + √s)",
    places=("A, RMSProp", "C, RMSProp"),
    expected=Ruling.HOLDS_IF,
    experiment=experiment,
    breaks=(
        Break("summed", "a sum in place of the decaying mean", {"rule": summed}),
        Break("lagged", "gₜ left out of its own denominator", {"rule": rules.rmsprop_lagged}),
    ),
    condition="The newest gradient is in s, as lecture C writes it. Lecture A's slide has gₜ₋₁ "
    "there: with s = 0 at first its first move is ηg/√ε, so s has to begin with g₁².",
    fails_if="a weight in s other than (1 − β)βᵏ, a move along a steady slope other than "
    "η/√(1 − βᵗ), a move longer than η/√(1 − β), or an AdaGrad that at one of its rates comes "
    "within ten times the value of RMSProp on Beale's surface",
    code="""\
import numpy as np
import thalweg as tw
from thalweg.rules import rmsprop_lagged

beale, corner = tw.surfaces.Beale(), np.array([4.0, 4.0])
adagrad = tw.minimize(beale, "adagrad[lr=3]", corner, max_iter=1000, tol=1e-300)
rmsprop = tw.minimize(beale, "rmsprop[lr=0.01, beta=0.9]", corner, max_iter=1000, tol=1e-300)
print(f"AdaGrad {adagrad.value:.2g}, RMSProp {rmsprop.value:.2g}")
assert 10 * rmsprop.value < adagrad.value
print("lecture A's first step:", rmsprop_lagged(corner, beale.gradient(corner), 0, 0.01, 0.9, 1e-8))
""",
    seconds=1.5,
    remark="Lecture C's formula holds as written, with ε inside the root or outside. It is lecture "
    "A's, taken by the letter, that needs the condition: its first move throws the run away.",
)
