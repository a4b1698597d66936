"""Too small a learning rate is slow, too large a one never arrives.

Along an eigenvector of curvature λ one step of gradient descent multiplies the distance to the
minimum by 1 − ηλ. All curvatures of f lie between μ and L, so that the slowest of them decides:

    ‖w⁺ − w*‖ ≤ ρ‖w − w*‖        ρ = max(|1 − ημ|, |1 − ηL|)

Small η. Then ρ = 1 − ημ, and to come within ε takes log(1/ε)/2ημ steps: half the rate, twice the
steps, nothing else gained.

Large η. From 2/L on, |1 − ηL| is 1 or more, and the top eigenvector is crossed further out at every
step. In between, the best is where both ends contract alike,

    η = 2/(L + μ)        ρ = (L − μ)/(L + μ)

hardly twice as fast as the safe 1/L, and close to the edge.

Where f is no quadratic, what decides is the curvature λ of the Hessian at the minimum itself: above
2/λ it repels, whatever L is. The run need not blow up then. It may hop between two sides of the
valley for ever, which is not converging either.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import thalweg as tw
from thalweg.labbook import (
    Axis,
    Break,
    Check,
    Curve,
    Figure,
    Findings,
    Guide,
    Lab,
    Panel,
    Ruling,
    Setting,
    Sheet,
    curve,
    figure,
    panel,
)

SMALL = 0.5  # ηλ up to which a rate is small
SHOWN = (0.1, 1.0, 1.9, 2.1)  # ηλ of the runs that are drawn
DRAWN_STEPS = 50


class Valley(NamedTuple):
    """A function, its minimum, and where to begin."""

    name: str
    f: Any
    w0: np.ndarray
    minimum: float
    curvature: float  # λ, the largest at the minimum
    smoothness: float | None  # L, the largest anywhere; None where there is none
    least: float  # μ at the minimum

    @property
    def gap(self) -> float:
        """f(w₀) − f*."""
        return float(self.f.value(self.w0)) - self.minimum


class Tried(NamedTuple):
    """One learning rate."""

    rate: float  # η·λ
    steps: int | None  # to ε of the first gap; None where it did not arrive
    outcome: str


def experiment(
    setting: Setting, *, method: Callable[[float], Any] = lambda step: tw.GD(step=step)
) -> Findings:
    """Steps to ε against η, from far below 1/λ to 3/λ, on three functions."""
    lowest = setting.pick(glance=0.1, quick=0.02, full=0.001)
    below = np.append(np.geomspace(lowest, 1.0, setting.pick(glance=4, quick=9, full=19)), 1.5)
    near = setting.pick(glance=(1.9,), quick=(1.8, 1.9, 1.95), full=(1.8, 1.9, 1.95, 1.99))
    above = setting.pick(glance=(2.1, 3.0), quick=(2.05, 2.2, 3.0), full=(2.01, 2.05, 2.2, 3.0))
    valleys, epsilon = _valleys(setting), _epsilon(setting)
    found = {
        valley.name: [
            _try(valley, method, float(rate), setting) for rate in (*below, *near, *above)
        ]
        for valley in valleys
    }
    checks = [
        *_of_small(found),
        *_of_large(found),
        *_of_theory(valleys[0], found[valleys[0].name], epsilon),
        *_of_curvature(valleys[1], found[valleys[1].name]),
    ]
    rows: tuple[tuple[str | float, ...], ...] = tuple(
        (name, tried.rate, "—" if tried.steps is None else tried.steps, tried.outcome)
        for name, every in found.items()
        for tried in every
        if tried.rate in (below[0], below[-1], *near[-1:], 1.0, *above)
    )
    notes = [
        f"{v.name}: λ = {v.curvature:.3g}, "
        + ("no L" if v.smoothness is None else f"L = {v.smoothness:.3g}")
        + f", μ = {v.least:.3g}"
        for v in valleys
    ]
    return Findings(
        checks,
        [
            Sheet(
                f"Steps to {_written(epsilon)} of the first gap",
                ("function", "ηλ", "steps", "ended"),
                rows,
            )
        ],
        [_steps_figure(valleys, found, epsilon), _runs_figure(valleys[:2], method)],
        notes,
    )


def _valleys(setting: Setting) -> list[Valley]:
    """Ridge regression, logistic regression, and a chain of four layers that share a weight."""
    diabetes, cancer = (tw.read(name, dtype="float64") for name in ("@diabetes", "@cancer"))
    scaled = tw.scaling.ZScore().fit_transform
    ridge = tw.LinearProblem(scaled(diabetes.X), diabetes.y, "squared", l2=0.3, fit_intercept=False)
    logistic = tw.LinearProblem(scaled(cancer.X), cancer.y, "logistic", l2=0.1, fit_intercept=False)
    chain = tw.surfaces.LinearChain(layers=4, target=(1.0, 0.3))
    starts = {
        "ridge": 30.0 * setting.rng("ridge").standard_normal(ridge.dim),
        "logistic": 0.3 * setting.rng("logistic").standard_normal(logistic.dim),
        "chain": setting.rng("chain").uniform(0.8, 0.95, 2) * np.array([1.0, 0.3**0.25]),
    }
    valleys = []
    functions: tuple[Any, ...] = (ridge, logistic, chain)
    for (name, w0), f in zip(starts.items(), functions, strict=True):
        best = tw.minimize(f, "newton", w0, tol=1e-13, progress=False)
        products = [f.hessian_vector(best.w, unit) for unit in np.eye(f.dim)]
        curvatures = np.linalg.eigvalsh(np.array(products))
        known = None if name == "chain" else float(f.smoothness)
        valleys.append(
            Valley(name, f, w0, best.value, float(curvatures[-1]), known, float(curvatures[0]))
        )
    return valleys


def _try(valley: Valley, method: Callable[[float], Any], rate: float, setting: Setting) -> Tried:
    """Run with η = `rate`/λ until the gap is ε of the first, or far longer than it should take.

    Above 2/λ a run may come near the minimum on its way, and leave again: it goes on to the end.
    """
    enough = _epsilon(setting) * valley.gap
    limit = setting.pick(glance=150, quick=600, full=5_000)
    if rate < 2.0:  # three times what the slowest direction takes by theory
        slowest = max(abs(1.0 - rate * valley.least / valley.curvature), abs(1.0 - rate), 0.5)
        limit = int(1.5 * np.log(_epsilon(setting)) / np.log(slowest)) + 50
    run = tw.minimize(
        valley.f, method(rate / valley.curvature), valley.w0, tol=1e-300, max_iter=limit,
        progress=False,
        callback=lambda seen: bool(rate < 2.0 and seen.value - valley.minimum <= enough),
    )  # fmt: skip
    left = run.trace.last["value"] - valley.minimum
    if left <= enough:
        return Tried(rate, run.iterations, "arrived")
    share = f"{left / valley.gap:.2g} of the gap left"
    return Tried(rate, None, "diverged" if run.outcome is tw.Outcome.DIVERGED else share)


def _epsilon(setting: Setting) -> float:
    return setting.pick(glance=1e-4, quick=1e-6, full=1e-8)


def _written(epsilon: float) -> str:
    return "10⁻" + "⁰¹²³⁴⁵⁶⁷⁸⁹"[round(-np.log10(epsilon))]


def _of_small(found: dict[str, list[Tried]]) -> list[Check]:
    slopes = {}
    for name, every in found.items():
        small = [tried for tried in every if tried.rate <= SMALL and tried.steps]
        if len(small) >= 2:
            logs = np.log([(tried.rate, float(tried.steps or 0)) for tried in small])
            slopes[name] = float(np.polyfit(logs[:, 0], logs[:, 1], 1)[0])
    slowest = {name: (every[0].steps, _best(every).steps) for name, every in found.items()}
    return [
        Check(
            "too small is slow: steps to ε grow like 1/η",
            # Whole steps, and 1 − ηλ for exp(−ηλ), bend the line by some percent at ηλ = 0.5.
            len(slopes) == len(found) and all(abs(s + 1.0) <= 0.1 for s in slopes.values()),
            "fitted power of η: " + ", ".join(f"{s:.3f} ({n})" for n, s in slopes.items()),
        ),
        Check(
            "too small is slow: the smallest rate takes many times the steps of the best",
            all(most and least and most > 5 * least for most, least in slowest.values()),
            ", ".join(f"{m or 0:,} for {b or 0:,} ({n})" for n, (m, b) in slowest.items()),
        ),
    ]  # fmt: skip


def _of_large(found: dict[str, list[Tried]]) -> list[Check]:
    every = [tried for some in found.values() for tried in some]
    within, beyond = ([t for t in every if (t.rate < 2.0) is is_in] for is_in in (True, False))
    ended = [f"{name} {some[-1].outcome}" for name, some in found.items()]
    return [
        Check(
            "every rate below 2/λ arrives", all(tried.steps is not None for tried in within),
            f"{sum(t.steps is not None for t in within)} of {len(within)} runs",
        ),
        Check(
            "too large does not converge: no rate above 2/λ arrives",
            all(tried.steps is None for tried in beyond),
            f"{sum(t.steps is None for t in beyond)} of {len(beyond)} runs did not; at "
            f"{beyond[-1].rate:g}/λ: {', '.join(ended)}",
        ),
    ]  # fmt: skip


def _of_theory(ridge: Valley, every: list[Tried], epsilon: float) -> list[Check]:
    arrived = [tried for tried in every if tried.steps and tried.rate < 2.0]
    rooms = [_bound(ridge, tried.rate, epsilon) - (tried.steps or 0) for tried in arrived]
    best, safe = _best(every), next((t for t in every if t.rate == 1.0), every[0])
    optimum = ridge.curvature * tw.theory.gradient_descent.optimal_step(
        smoothness=ridge.curvature, strong_convexity=ridge.least
    )
    return [
        Check(
            "on the quadratic no rate takes more steps than max(|1 − ημ|, |1 − ηL|) allows",
            len(rooms) > 3 and min(rooms) >= 0,
            f"{len(rooms)} rates, least room {min(rooms, default=0):,} steps",
        ),
        Check(
            "1/L is safe and at most about twice the steps of the best rate",
            # By theory the factor is log((L − μ)/(L + μ))/log(1 − μ/L), below 2.2 here.
            bool(best.steps and safe.steps and safe.steps <= 2.5 * best.steps),
            f"{safe.steps or 0:,} steps at 1/L, {best.steps or 0:,} at {best.rate:.3g}/L; "
            f"by theory the best is {optimum:.3g}/L",
        ),
    ]  # fmt: skip


def _of_curvature(logistic: Valley, every: list[Tried]) -> list[Check]:
    assert logistic.smoothness is not None
    times = logistic.smoothness / logistic.curvature
    longest = max((t.rate for t in every if t.steps), default=0.0)
    return [
        Check(
            "beyond quadratics the limit is 2/λ at the minimum, which can be far above 2/L",
            longest * times > 4.0 and longest < 2.0,
            f"logistic arrives with η = {longest * times:.3g}/L = {longest:.3g}/λ, not beyond 2/λ",
        )
    ]


def _best(every: list[Tried]) -> Tried:
    return min(every, key=lambda tried: tried.steps or np.inf)


def _bound(ridge: Valley, rate: float, epsilon: float) -> int:
    return tw.theory.gradient_descent.linear_iterations(
        ridge.gap, epsilon * ridge.gap, smoothness=ridge.curvature,
        strong_convexity=ridge.least, step=rate / ridge.curvature,
    )  # fmt: skip


def _steps_figure(valleys: list[Valley], found: dict[str, list[Tried]], epsilon: float) -> Figure:
    marks: list[Curve | Guide] = [Guide("1/λ and 2/λ", 1.0, "y"), Guide("", 2.0, "y")]
    for k, (name, every) in enumerate(found.items(), 1):
        arrived = [(t.rate, t.steps) for t in every if t.steps]
        if arrived:
            rates, steps = np.array(arrived, dtype=float).T
            marks.append(curve(name, rates, steps, k, dots=True))
    rates = np.geomspace(found["ridge"][0].rate, 1.99, 200)
    bounds = [_bound(valleys[0], rate, epsilon) for rate in rates]
    marks.append(curve("ridge, theory", rates, bounds, 1, theory=True))
    best = _best(found["ridge"])
    return figure(
        f"Steps to {_written(epsilon)} of the first gap",
        panel(Axis("ηλ", "log", high=3.0), "steps", marks, log="y"),
        f"On a logarithmic scale steps fall in a straight line as η grows, down to {best.steps} at "
        f"{best.rate:.3g}/λ on ridge regression, and there are none to show from 2/λ on: no run "
        "arrives.",
    )


def _runs_figure(valleys: list[Valley], method: Callable[[float], Any]) -> Figure:
    panels = [_runs(valley, method) for valley in valleys]
    return figure(
        "Runs with four learning rates", panels,
        "With 0.1/λ the gap falls slowly, with 1/λ and 1.9/λ fast. With 2.1/λ it falls while the "
        "flatter directions settle, and then the steepest takes over: the gap grows without end "
        "on ridge regression, and levels off on logistic regression, where the run hops between "
        "two sides of the valley.",
        columns=2,
    )  # fmt: skip


def _runs(valley: Valley, method: Callable[[float], Any]) -> Panel:
    marks = []
    for k, rate in enumerate(SHOWN, 1):
        run = tw.minimize(
            valley.f, method(rate / valley.curvature), valley.w0, tol=1e-300,
            max_iter=DRAWN_STEPS, progress=False,
        )  # fmt: skip
        gaps = np.maximum((run.trace["value"] - valley.minimum) / valley.gap, 1e-16)
        marks.append(curve(f"{rate:g}/λ", run.trace["iteration"], gaps, k))
    return panel(
        "step", Axis("gap / first gap", "log", low=1e-9, high=1e4), marks, title=valley.name
    )


LAB = Lab(
    name="learning-rate",
    claim="With a small learning rate training takes long to converge, with a large one it does "
    "not converge.",
    formula="steps to ε ≈ log(1/ε)/2ημ for small η,   none for η > 2/λ",
    places=("C, Challenges with optimization",),
    expected=Ruling.HOLDS,
    experiment=experiment,
    breaks=(
        Break("search", "steps that ignore the rate they are given", {"method": lambda _: tw.GD()}),
        Break(
            "decay", "a rate that shrinks like 1/t",
            {"method": lambda step: tw.GD(step=step, schedule="1/t")},
        ),
    ),
    fails_if="steps to ε that do not grow like 1/η for small η, a rate below 2/λ that does not "
    "arrive, or one above it that does",
    remark="How large is too large is decided by the largest curvature λ at the minimum. On a "
    "quadratic that is L; on logistic regression the limit 2/λ lies well above 2/L.",
    code="""\
import thalweg as tw

bowl = tw.surfaces.Quadratic((1.0, 10.0))  # L = 10
for share in (0.05, 0.2, 1.0, 1.8, 2.1):
    run = tw.minimize(bowl, tw.GD(step=share / bowl.smoothness), [3.0, 1.0], tol=1e-6)
    print(f"{share:>4}/L: {run.iterations:>5} steps, {run.outcome.name}")
    assert run.converged == (share < 2.0)
""",
    seconds=2.4,
)  # fmt: skip
