"""Momentum speeds up lasting directions and cancels swinging ones.

Both lectures remember past gradients, A as their sum and C as a velocity:

    mₜ = βmₜ₋₁ + gₜ₋₁        θₜ = θₜ₋₁ − ηmₜ
    v  = αv − εg             θ  = θ + v

With α = β, ε = η constant, v = −ηm and the two are one. When η changes they part: the sum applies
the new η to all that it remembers, the velocity keeps each gradient at the rate at which it came.

A gradient that stays the same adds up, one that changes its sign at every step cancels:

    η(g + βg + β²g + …) = ηg/(1 − β)        η(g − βg + β²g − …) = ηg/(1 + β)

The first is the effective learning rate. It is reached as 1 − βᵗ, so the first step is that of
gradient descent. Independent noise of variance σ² in g leaves (1 − β)m, the weighted mean, with
variance σ²(1 − β)/(1 + β).

Along curvature λ the error follows z² − (1 + β − ηλ)z + β = 0. Where ηλ lies between (1 − √β)² and
(1 + √β)² the roots are complex, and the error rings and shrinks by √β a step, whatever λ is; from
ηλ = 2(1 + β) on it grows. Over curvatures between μ and L the best pair is

    η = 4/(√L + √μ)²        β = ((√L − √μ)/(√L + √μ))²

with a factor (√κ − 1)/(√κ + 1) a step, where gradient descent has (κ − 1)/(κ + 1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

import thalweg as tw
from thalweg import rules
from thalweg.labbook import (
    NOTED,
    Axis,
    Break,
    Check,
    Figure,
    Findings,
    Heatmap,
    Lab,
    Point,
    Ruling,
    Setting,
    Sheet,
    curve,
    figure,
    panel,
)

Rule = Callable[..., tuple[Any, Any]]
BETA = 0.9  # the customary momentum
BOWL = tw.surfaces.Quadratic.conditioned(100.0)
ENDS = {"smoothness": 1.0, "strong_convexity": 0.01}  # L and μ of it
SMALL = 1e-6  # of the first distance: arrived
STRETCH = 200  # steps: tells a factor to about 2^(1/200), or 0.0035
BUMPS = (1.2, 0.9, 0.3)  # tilts of the double well: the less tilt, the higher the bump
CANDIDATES = (0.0, 0.5, 0.8, 0.9, 0.95, 0.99)  # β to choose from


def walk(rule: Rule, gradient: Callable, w0: Any, rates: Iterable[Any], beta: Any) -> np.ndarray:
    """w₀ … w_T by a rule of momentum with these rates, float64[T + 1, …]."""
    w, m = w0, 0.0 * w0
    way = [w]
    with np.errstate(all="ignore"):  # what grows may overflow
        for rate in rates:
            w, m = rule(w, gradient(w), m, rate, beta)
            way.append(w)
    return np.array(way)


def slope(w: np.ndarray) -> np.ndarray:
    """∇f of the bowl at one point or many."""
    return BOWL.eigenvalues * w


def fed(rule: Rule, gradients: np.ndarray, rates: Any, beta: float) -> np.ndarray:
    """The moves w_t − w_{t−1} that a rule makes of given gradients, float64[T, …]."""
    rates = np.broadcast_to(rates, len(gradients))
    w, m, way = np.zeros_like(gradients[0]), np.zeros_like(gradients[0]), []
    for g, rate in zip(gradients, rates, strict=True):
        moved, m = rule(w, g, m, rate, beta)
        way.append(moved - w)
    return np.array(way)


class Map(NamedTuple):
    """A bowl tried with all pairs of rate and momentum."""

    rates: np.ndarray  # η, in units of 1/L, float64[columns]
    betas: np.ndarray  # float64[rows], the largest first
    steps: np.ndarray  # until the distance stays below SMALL, or as many as were made
    off: float  # the largest difference of measured and theoretical factor
    least: float  # the smallest factor that was measured
    best: tuple[int, int]  # row and column of the fewest steps
    theory: tuple[int, int]  # of the optimum by Polyak


def mapped(setting: Setting, rule: Rule) -> Map:
    """Steps and factors over a grid that contains the theory's optimum."""
    T = setting.pick(glance=600, quick=900, full=3_000)
    fine = setting.pick(glance=1, quick=2, full=4)
    best_rate = tw.theory.heavy_ball.optimal_step(**ENDS)
    best_beta = tw.theory.heavy_ball.optimal_momentum(**ENDS)
    # 3.75/L at most, which no momentum below 0.87 bears.
    rates = best_rate * 2.0 ** (np.arange(-6 * fine, 1) / fine)
    rates = np.append(rates, best_rate * 1.135)
    memory = (1.0 - best_beta) * 2.0 ** (np.arange(-4 * fine, 1.5 * fine) / fine)
    betas = np.append(1.0 - memory, 0.0)
    w0 = setting.rng("map").uniform(0.5, 1.5, BOWL.dim)
    start = np.broadcast_to(w0, (len(betas), len(rates), BOWL.dim)).copy()
    way = walk(
        rule, slope, start, [rates[None, :, None]] * T,
        betas[:, None, None],
    )  # fmt: skip
    distance = np.abs(way).max(-1) / np.abs(w0).max()
    is_far = ~(distance <= SMALL)
    steps = np.where(is_far[-1], T, T + 1 - is_far[::-1].argmax(0))
    # Longer than most swings; the peaks of two such stretches are compared.
    peaks = [distance[a : a + STRETCH].max(0) for a in (STRETCH, 2 * STRETCH)]
    measured = (peaks[1] / peaks[0]) ** (1.0 / STRETCH)
    expected = np.array(
        [
            [max(_factor(end, rate, beta) for end in ENDS.values()) for rate in rates]
            for beta in betas
        ]
    )
    k = np.unravel_index(steps.argmin(), steps.shape)
    return Map(
        rates, betas, steps, float(np.abs(measured - expected).max()), float(measured.min()),
        (int(k[0]), int(k[1])),
        (int(np.abs(betas - best_beta).argmin()), int(np.abs(rates - best_rate).argmin())),
    )  # fmt: skip


def _factor(curvature: float, rate: float, beta: float) -> float:
    return tw.theory.heavy_ball.asymptotic_rate(curvature, step=rate, momentum=beta)


def map_checks(found: Map) -> list[Check]:
    """Theory's factors and optimum against those of the grid."""
    (i, j), (k, m) = found.best, found.theory
    rate = tw.theory.heavy_ball.rate(**ENDS)
    return [
        Check(
            "every pair (η, β) shrinks or grows the error by the larger root's modulus",
            found.off <= 0.01,
            f"largest difference {found.off:.4f}, over {found.steps.size} pairs",
        ),
        Check(
            # At theory's optimum roots coincide and a factor that grows like T comes on top, so
            # that on the way to 1e-6 a pair beside it may be some steps ahead.
            "no pair shrinks it faster than theory's optimum, none arrives much sooner",
            found.least >= rate - 0.01 and found.steps[k, m] <= 1.25 * found.steps[i, j],
            f"least factor {found.least:.4f}, theory {rate:.4f}; η = {found.rates[j]:.3g}/L and "
            f"β = {found.betas[i]:.3g} take {found.steps[i, j]} steps, theory's "
            f"{found.rates[m]:.3g}/L and {found.betas[k]:.3g} take {found.steps[k, m]}",
        ),
    ]


def pace_checks(rule: Rule, w0: np.ndarray) -> list[Check]:
    """Large momentum with a small rate, and with a large one."""
    L, mu = ENDS["smoothness"], ENDS["strong_convexity"]
    small = (1.0 - BETA**0.5) ** 2 / mu  # no overshoot along the gentlest direction
    limit = tw.theory.stability.heavy_ball_limit(L, BETA)
    large = 0.92 * limit
    ways = {
        name: np.clip(walk(rule, slope, w0, [rate] * T, beta), -1e9, 1e9) / w0
        for name, rate, beta, T in (
            ("fast", small, BETA, 600), ("plain", small, 0.0, 6_000), ("large", large, BETA, 600),
        )
    }  # fmt: skip
    steps = {}
    for name, way in ways.items():
        is_far = ~(np.abs(way).max(1) <= SMALL)
        steps[name] = np.inf if is_far[-1] else len(way) - int(is_far[::-1].argmax())
    beyond = {name: float(-way.min()) for name, way in ways.items()}  # in first distances
    grown = walk(rule, slope, w0, [1.02 * limit] * 600, BETA)
    # By the factors √β and 1 − ηµ there should be 20 times fewer; at least a fifth of that.
    gain = np.log(BETA**0.5) / np.log(1.0 - small * mu)
    return [
        Check(
            "large momentum with a small rate is fast", steps["plain"] >= gain / 5 * steps["fast"],
            f"η = {small:.2g}/L: {steps['fast']:.0f} steps with β = {BETA}, {steps['plain']:,.0f} "
            "without",
        ),
        Check(
            "large momentum with a large rate throws it past the minimum",
            beyond["large"] >= large * L - 1.0 and beyond["fast"] < 1.0
            and np.abs(grown[-1]).max() > 10.0 * np.abs(w0).max(),
            f"with β = {BETA} it comes out {beyond['large']:.3g} times as far on the other side at "
            f"η = {large:.2g}/L, {beyond['fast']:.2g} times at {small:.2g}/L; from {limit:.2g}/L "
            "on it grows",
        ),
    ]  # fmt: skip


class Answers(NamedTuple):
    """What the rules make of gradients that are given."""

    steady: np.ndarray  # moves along a gradient of 1, η = 1, float64[T]
    swinging: np.ndarray  # the same for ±1 in turn
    sums: np.ndarray  # steady, and η falls to a tenth half way
    velocities: np.ndarray  # the same by the velocity form
    variance: float  # of (1 − β)m, in variances of the noise
    place: tuple[float, float]  # E w² on noisy bowls, with and without momentum
    alike: float  # largest difference of the two forms while η is constant


def answers(setting: Setting, rule: Rule) -> Answers:
    """Feed steady, swinging, noisy gradients."""
    T = 600
    ones = np.ones(T)
    rng = setting.rng("forms")
    drop = np.where(np.arange(T) < T // 2, 1.0, 0.1)
    random = rng.standard_normal((T, 5))
    alike = np.abs(fed(rule, random, 0.1, BETA) - fed(rules.heavy_ball_velocity, random, 0.1, BETA))
    calm = tw.surfaces.Quadratic(np.ones(50))
    noisy = tw.Noisy(calm, 1.0, seed=setting.seed)
    count = setting.pick(glance=1_000, quick=4_000, full=40_000)
    drawn = np.array([noisy.gradient(calm.start) for _ in range(count)])
    moves = fed(rule, drawn, 1.0 - BETA, BETA)[100:]
    place = [
        float((walk(rule, noisy.gradient, np.zeros(50), [rate] * count, beta)[100:] ** 2).mean())
        for rate, beta in ((0.1 * (1.0 - BETA), BETA), (0.1, 0.0))
    ]
    return Answers(
        -fed(rule, ones, 1.0, BETA), -fed(rule, (-1.0) ** np.arange(T), 1.0, BETA),
        -fed(rule, ones, drop, BETA), -fed(rules.heavy_ball_velocity, ones, drop, BETA),
        float((-moves - 1.0).var()), (place[0], place[1]), float(alike.max()),
    )  # fmt: skip


def answer_checks(found: Answers) -> list[Check]:
    """The sums of the docstring against what came out."""
    half = len(found.sums) // 2
    full = tw.theory.heavy_ball.effective_rate(1.0, BETA)
    reached = 1.0 - BETA ** np.arange(1, len(found.steady) + 1)
    shrunk = (1.0 - BETA) / (1.0 + BETA)
    kept = (BETA * 1.0 + (1.0 - BETA) * 0.1) * full  # α of the old velocity, and a gradient at 0.1
    return [
        Check(
            "m = βm + g and v = αv − εg make the same moves while η is constant",
            found.alike < 1e-12, f"largest difference {found.alike:.1e} over 600 moves",
        ),
        Check(
            "once η falls to a tenth the sum falls at once, the velocity by α a step",
            np.isclose(found.sums[half], 0.1 * full)
            and np.isclose(found.velocities[half], kept, rtol=1e-6),
            f"the next move is {found.sums[half] / full:.3f} of the one before by the sum, "
            f"{found.velocities[half] / full:.3f} by the velocity",
        ),
        Check(
            "a steady gradient is given η/(1 − β) in the end, and 1 − βᵗ of it after t steps",
            np.allclose(found.steady, full * reached),
            f"{found.steady[-1]:.4f} η, theory {full:.4f} η; half of it after "
            f"{int(np.argmax(found.steady >= full / 2)) + 1} steps",
        ),
        Check(
            "a gradient that changes sign at every step is given η/(1 + β)",
            np.isclose(abs(found.swinging[-1]), 1.0 / (1.0 + BETA)),
            f"{abs(found.swinging[-1]):.4f} η, theory {1.0 / (1.0 + BETA):.4f} η",
        ),
        Check(
            # 50 coordinates × 900 moves, of which one in 19 is independent: 3 % is one deviation.
            "noise in the direction falls to (1 − β)/(1 + β) of its variance",
            abs(found.variance / shrunk - 1.0) < 0.15,
            f"{found.variance:.4f}, theory {shrunk:.4f}",
        ),
        Check(
            "at the same effective rate the place keeps the noise that it has without momentum",
            abs(found.place[0] / found.place[1] - 1.0) < 0.3,
            f"E w² = {found.place[0]:.4f} and {found.place[1]:.4f}: a smoother direction, but no "
            "smaller error in the end", NOTED,
        ),
    ]  # fmt: skip


class Valley(NamedTuple):
    """Ways down a valley: along it momentum leads, across it there is less zigzag."""

    plain: np.ndarray  # gaps of gradient descent with η = 1/L, float64[T + 1]
    heavy: np.ndarray  # the same with momentum
    swings: dict[float, np.ndarray]  # steep coordinate with η = 1.9/L, by momentum


def valley(rule: Rule, w0: np.ndarray) -> Valley:
    """From one start, with η = 1/L and with η = 1.9/L."""
    plain, heavy = (
        BOWL.value(walk(rule, slope, w0, [1.0 / BOWL.smoothness] * 300, beta))
        for beta in (0.0, BETA)
    )
    rate = 1.9 / BOWL.smoothness
    swings = {
        beta: walk(rule, slope, w0, [rate] * 300, beta)[:, -1] / w0[-1] for beta in (0.0, 0.5, BETA)
    }
    return Valley(plain, heavy, swings)


def valley_checks(found: Valley) -> list[Check]:
    """No gain at first, a large one later; less travelled across the valley."""
    ahead = found.heavy < found.plain
    from_then = len(ahead) - int((~ahead)[::-1].argmax())  # ahead for good
    travelled = {beta: np.abs(np.diff(swing)).sum() for beta, swing in found.swings.items()}
    ratio = found.heavy[1:4] / found.plain[1:4]
    # GD travels Σ 1.9·0.9ᵗ = 19 first distances; β = 0.5 shrinks by √0.5 where it has 0.9.
    return [
        Check(
            "in the first three updates momentum gains nothing",
            np.isclose(ratio[0], 1.0) and ratio.min() >= 0.9,
            f"gaps of {', '.join(f'{each:.3g}' for each in ratio)} times that of gradient descent, "
            "as it begins by ringing across the valley",
        ),
        Check(
            "later it leads by far", found.heavy[-1] <= 1e-2 * found.plain[-1],
            f"ahead for good from step {from_then}; after 300 steps its gap is "
            f"{found.heavy[-1] / found.plain[-1]:.1e} of that of gradient descent",
        ),
        Check(
            "zigzag across the valley is damped: less than half of the way is travelled",
            travelled[0.5] < 0.5 * travelled[0.0],
            f"{travelled[0.5]:.3g} first distances with β = 0.5, {travelled[0.0]:.3g} without "
            "(η = 1.9/L)",
        ),
        Check(
            "too much momentum rings for longer", travelled[BETA] > travelled[0.5],
            f"{travelled[BETA]:.3g} with β = {BETA}: swings die sooner only if √β < |1 − ηL|, here "
            "β < 0.81", NOTED,
        ),
    ]  # fmt: skip


class Bump(NamedTuple):
    """Where a ball from the outer side of the shallow well ends."""

    height: float  # of the barrier above the shallow well
    passed: dict[float, float]  # share of starts that end beyond it, by momentum
    at_rest: float  # share of starts inside the well that do, with most momentum


def bumps(setting: Setting, rule: Rule) -> list[Bump]:
    """Double wells of several tilts, from a few starts."""
    count = setting.pick(glance=2, quick=6, full=20)
    starts = setting.rng("bump").uniform(1.7, 1.9, count)
    found = []
    for tilt in BUMPS:
        well = tw.surfaces.DoubleWell(tilt, dim=1)
        shallow, barrier = well.minimizers[1], well.barrier

        def passed(x: np.ndarray, beta: float, well: Any = well, top: Any = barrier) -> float:
            ends = [walk(rule, well.gradient, w, [0.01] * 500, beta)[-1] for w in x[:, None]]
            return float(np.mean(np.array(ends) < top))

        inside = shallow + 0.8 * (barrier - shallow)  # lower than the barrier
        found.append(
            Bump(
                well.value(barrier) - well.value(shallow),
                {beta: passed(starts, beta) for beta in (0.0, 0.5, 0.8, 0.9)},
                passed(inside, BETA),
            )
        )
    return found


def bump_checks(found: list[Bump]) -> list[Check]:
    """Small bumps are passed with momentum, and only then."""
    small = found[0]
    return [
        Check(
            "momentum carries over a small bump, gradient descent stops before it",
            small.passed[BETA] == 1.0 and small.passed[0.0] == 0.0,
            f"a bump of {small.height:.2g}: with β = {BETA} {small.passed[BETA]:.0%} of the "
            f"starts pass, without none",
        ),
        Check(
            "small momentum does not: β = 0.5 stays in the first well",
            all(each.passed[0.5] == 0.0 for each in found),
            f"of {len(found)} bumps it passes none",
        ),
        Check(
            "what carries is the height fallen through: from inside the well no start passes",
            all(each.at_rest == 0.0 for each in found),
            "started at rest below the top of the bump, all stay",
        ),
    ]


class Chosen(NamedTuple):
    """Momentum by cross-validation."""

    folds: np.ndarray  # mean loss on held-out folds, by candidate
    test: np.ndarray  # loss on the test part after training on all folds
    error: float  # standard error of the best test loss
    best: int  # the candidate that the folds choose


def cross_validated(setting: Setting) -> Chosen:
    """Logistic regression on breast cancer, 30 updates, β by folds."""
    folds = setting.pick(glance=3, quick=5, full=10)
    table = tw.read("@cancer")
    y = np.asarray(table.y)
    rng = setting.rng("folds")
    order = rng.permutation(len(y))
    train, test = np.split(order, [int(0.7 * len(order))])
    scale = tw.scaling.ZScore().fit(table.X[train])
    X = scale.transform(table.X)

    def trained(rows: np.ndarray, beta: float) -> np.ndarray:
        problem = tw.LinearProblem(X[rows], y[rows], "logistic", fit_intercept=False)
        method = tw.HeavyBall(step=1.0 / problem.smoothness, momentum=beta)
        return tw.minimize(problem, method, tol=1e-300, max_iter=30, progress=False).w

    def losses(w: np.ndarray, rows: np.ndarray) -> np.ndarray:
        return np.logaddexp(0.0, np.where(y[rows] == 1, -1.0, 1.0) * (X[rows] @ w))

    parts = np.array_split(train, folds)
    held = [
        [losses(trained(np.setdiff1d(train, part), beta), part).mean() for part in parts]
        for beta in CANDIDATES
    ]
    of_test = np.array([losses(trained(train, beta), test) for beta in CANDIDATES])
    means = of_test.mean(1)
    error = of_test[means.argmin()].std(ddof=1) / len(test) ** 0.5
    by_fold = np.mean(held, axis=1)
    return Chosen(by_fold, means, float(error), int(by_fold.argmin()))


def choice_check(found: Chosen) -> Check:
    """Whether what the folds choose is as good as can be told on other data."""
    mine = found.test[found.best]
    return Check(
        "cross-validation finds a momentum that is good on other data",
        mine < found.test[0] and mine <= found.test.min() + found.error,
        f"it chooses β = {CANDIDATES[found.best]:g}: test loss {mine:.4f}, without momentum "
        f"{found.test[0]:.4f}, best of all {found.test.min():.4f} ± {found.error:.4f}",
    )


def method_check(rule: Rule) -> Check:
    """The library's method against the rule, on a surface that is no bowl."""
    surface = tw.surfaces.Rosenbrock()
    ways = [np.array(surface.start)]
    tw.minimize(
        surface, tw.HeavyBall(step=2e-4, momentum=BETA), tol=1e-300, max_iter=200, progress=False,
        callback=lambda seen: ways.append(np.array(seen.w)),
    )  # fmt: skip
    other = walk(rule, surface.gradient, surface.start, [2e-4] * 200, BETA)
    off = float(np.abs(np.array(ways) - other).max())
    return Check(
        "tw.HeavyBall walks by m = βm + g, w = w − ηm", off < 1e-9,
        f"largest difference {off:.1e} over 200 steps on Rosenbrock's valley",
    )  # fmt: skip


def draw_map(found: Map) -> Figure:
    """Steps over rate and momentum."""
    (i, j), (k, m) = found.best, found.theory
    x = Axis("rate η, in units of 1/L", categories=tuple(f"{each:.2g}" for each in found.rates))
    y = Axis("momentum β", categories=tuple(f"{each:.3f}" for each in found.betas))
    marks: list[Any] = [
        Heatmap(f"steps to {SMALL:g} of the first distance", found.steps, "log"),
        Point("optimum of theory", m, k, "circle"),
        Point("fewest steps", j, i, "cross"),
    ]
    return figure(
        "Rate and momentum on a bowl with κ = 100", panel(x, y, marks),
        f"Steps until the distance is a millionth. The fewest are {found.steps[i, j]}, at "
        f"η = {found.rates[j]:.3g}/L and β = {found.betas[i]:.3g}; theory's optimum takes "
        f"{found.steps[k, m]}. Without momentum the best rate takes {found.steps[-1].min()}.",
        f"The lightest pairs did not arrive within {found.steps.max()} steps",
    )  # fmt: skip


def draw_answers(said: Answers, seen: Valley, chosen: Chosen) -> Figure:
    """Four of the clauses."""
    t = np.arange(len(seen.plain))
    first = panel(
        "step", "f − f*",
        [curve("gd", t, np.maximum(seen.plain, 1e-12)),
         curve("β = 0.9", t, np.maximum(seen.heavy, 1e-12), 2)],
        log="y", title="η = 1/L: no gain at first",
    )  # fmt: skip
    shown = slice(0, 26)
    zigzag = panel(
        "step", "steep coordinate",
        [curve("gd", t[shown], seen.swings[0.0][shown]),
         curve("β = 0.5", t[shown], seen.swings[0.5][shown], 3)],
        title="η = 1.9/L: zigzag damped",
    )  # fmt: skip
    half, full = len(said.sums) // 2, 1.0 / (1.0 - BETA)
    after = np.arange(half - 15, half + 60)
    kept = 0.1 * full + 0.9 * full * BETA ** np.maximum(after - half + 1.0, 0.0)
    forms = panel(
        "step", "move, in η₀g",
        [curve("sum m", after, said.sums[after], 1), curve("velocity v", after,
         said.velocities[after], 5), curve("theory of v", after, kept, 5, theory=True)],
        title="η falls to a tenth",
    )  # fmt: skip
    beta = np.array(CANDIDATES)
    folds = panel(
        Axis("1 − β", "log"), "loss after 30 updates",
        [curve("held-out folds", 1 - beta, chosen.folds, 6, dots=True),
         curve("test part", 1 - beta, chosen.test, 4, dots=True)],
        title="β by cross-validation",
    )  # fmt: skip
    return figure(
        "What momentum does", [first, zigzag, forms, folds],
        f"With η = 1/L momentum begins as gradient descent and ends at "
        f"{seen.heavy[-1] / seen.plain[-1]:.1e} of its gap. With η = 1.9/L the swings across the "
        f"valley die sooner with β = 0.5. When η falls to a tenth, the sum's moves fall at once, "
        f"the velocity's by {BETA} a step. Folds choose β = {CANDIDATES[chosen.best]:g}.",
        columns=2,
    )  # fmt: skip


def draw_bump() -> Figure:
    """Two runs on the double well."""
    well = tw.surfaces.DoubleWell(BUMPS[0])
    methods = [tw.GD(step=0.01), tw.HeavyBall(step=0.01, momentum=BETA)]
    return tw.plot(tw.race(well, methods, start=[1.8, 1.0], steps=300)).figure


def experiment(setting: Setting, *, rule: Rule = rules.heavy_ball) -> Findings:
    """Each clause by itself, with `rule` for the sum form of momentum."""
    w0 = setting.rng("start").uniform(0.5, 1.5, BOWL.dim)
    found, said, seen = mapped(setting, rule), answers(setting, rule), valley(rule, w0)
    over, chosen = bumps(setting, rule), cross_validated(setting)
    checks = [
        *answer_checks(said), *valley_checks(seen), *map_checks(found), *pace_checks(rule, w0),
        *bump_checks(over), choice_check(chosen), method_check(rule),
    ]  # fmt: skip
    tables = [
        Sheet(
            "Share of starts that end beyond the bump, by its height and by momentum",
            ("height", "β = 0", "β = 0.5", "β = 0.8", "β = 0.9"),
            tuple((f"{each.height:.2g}", *each.passed.values()) for each in over),
        ),
        Sheet(
            "Loss after 30 updates, by momentum", ("β", "held-out folds", "test part"),
            tuple(zip(map(str, CANDIDATES), chosen.folds, chosen.test, strict=True)),
        ),
    ]  # fmt: skip
    figures = [draw_map(found), draw_answers(said, seen, chosen), draw_bump()]
    return Findings(
        checks, tables, figures,
        ["bowl with curvatures 0.01 and 1; folds and test part of breast cancer, 569 × 30"],
    )  # fmt: skip


def averaged(w: Any, g: Any, m: Any, lr: Any, beta: Any) -> tuple[Any, Any]:
    """A mean in place of the sum: the effective rate is η, not η/(1 − β)."""
    m = beta * m + (1 - beta) * g
    return w - lr * m, m


def forgetful(w: Any, g: Any, m: Any, lr: Any, beta: Any) -> tuple[Any, Any]:
    """Gradient descent: nothing of m is kept."""
    return w - lr * g, g


LAB = Lab(
    name="heavy-ball",
    claim="Momentum adds up gradients that stay, to an effective rate η/(1 − β), and cancels those "
    "that swing or are noise: after a few updates without gain it is far faster in a valley, it "
    "carries over small bumps, and with too large a rate it overshoots; cross-validation finds β.",
    formula="mₜ = βmₜ₋₁ + gₜ₋₁,  θₜ = θₜ₋₁ − ηmₜ\nv = αv − εg,  θ = θ + v",
    places=("A, Momentum", "C, Momentum", "C, Classical Momentum"),
    expected=Ruling.HOLDS,
    experiment=experiment,
    breaks=(
        Break("averaged", "a mean (1 − β)Σβᵏg in place of the sum", {"rule": averaged}),
        Break("forgetful", "a rule that remembers nothing", {"rule": forgetful}),
    ),
    fails_if="a steady gradient that is not given η/(1 − β), or a swinging one not η/(1 + β); a "
    "factor on the bowl that is 0.01 off the larger root of z² − (1 + β − ηλ)z + β; a pair that is "
    "faster than theory's; a lead in the first three updates, or none after 300; a small bump that "
    "is not passed; a β from the folds that is worse on other data than none",
    code="""\
import thalweg as tw

bowl = tw.surfaces.Quadratic.conditioned(100.0)
ends = {"smoothness": bowl.smoothness, "strong_convexity": bowl.strong_convexity}
step = tw.theory.heavy_ball.optimal_step(**ends)
momentum = tw.theory.heavy_ball.optimal_momentum(**ends)
heavy = tw.minimize(bowl, tw.HeavyBall(step=step, momentum=momentum), tol=1e-8)
plain = tw.minimize(bowl, tw.GD(step=2 / (ends["smoothness"] + ends["strong_convexity"])), tol=1e-8)
print(f"η = {step:.3f}, β = {momentum:.3f}: {heavy.iterations} steps, GD {plain.iterations}")
assert 5 * heavy.iterations < plain.iterations
""",
    seconds=1.2,
    remark="Momentum smooths the direction, not the place: at the same effective rate the iterates "
    "keep about the noise of gradient descent. Lecture C calls it “an added term in the objective "
    "function”, which it is not, and allows 1 in “a value in [0, 1]”, with which nothing is ever "
    "forgotten; its formula has α ∈ [0, 1).",
)
