"""A step of at most 1/L descends by at least (η/2)‖∇f‖².

The quadratic upper bound of an L-smooth f, at w⁺ = w − η∇f(w), is

    f(w⁺) ≤ f(w) + ⟨∇f(w), w⁺ − w⟩ + (L/2)‖w⁺ − w‖²
          = f(w) − η(1 − ηL/2)‖∇f(w)‖²

and for η ≤ 1/L the bracket is at least ½:

    f(w⁺) ≤ f(w) − (η/2)‖∇f(w)‖²

so that f falls strictly wherever its gradient is not zero. Convexity was not used. Divide what a
step has gained by what the lemma promises, and call it the worth of the step:

    r = (f(w) − f(w⁺)) / (η/2)‖∇f(w)‖²

The lemma says r ≥ 1. On a quadratic, along an eigenvector of curvature λ, it is r = 2 − ηλ exactly.
So along the top eigenvector, λ = L, the lemma is tight at η = 1/L, fails from there on, and from
η = 2/L on r is negative: f itself rises. Along flatter directions it survives longer steps.
"""

from __future__ import annotations

from collections.abc import Callable
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
    Ruling,
    Setting,
    Sheet,
    curve,
    figure,
    panel,
)

SHARES = (0.1, 0.5, 1.0)  # of 1/L: steps that the lemma allows
TRIED = np.linspace(0.1, 2.5, 25)  # ηL of single steps along eigenvectors
# A gain is the difference of two values, each wrong by some units of the last digit. Only steps
# that promise JUDGED times that are judged, and their r is then right to ROUNDING.
JUDGED = 1e8 * np.finfo(float).eps
ROUNDING = 1e-6
SEARCHED = "by search"


class Steps(NamedTuple):
    """A run of gradient descent, step by step: those that can be judged."""

    function: str
    step: str  # η as it is written
    number: np.ndarray  # t
    worth: np.ndarray  # r

    @property
    def row(self) -> tuple[str, str, int, float, float]:
        """Its line in the table."""
        least, middle = float(self.worth.min()), float(np.median(self.worth))
        return self.function, self.step, len(self.worth), least, middle


def experiment(
    setting: Setting,
    *,
    step: float = 1.0,
    smoothness: Callable[[Any], float] = lambda f: f.smoothness,
) -> Findings:
    """Gradient descent with η = `step`·share/L on four functions, and along eigenvectors."""
    count = setting.pick(glance=50, quick=500, full=10_000)
    runs: list[Steps] = []
    for name, f, w0 in _functions(setting):
        for share in SHARES:
            eta = step * share / smoothness(f)
            written = f"{share:g}/L"
            runs.append(_steps(name, written, f, tw.GD(step=eta), w0, count))
        runs.append(_steps(name, SEARCHED, _unknown(f), tw.GD(), w0, count))
    along = _along(setting, smoothness)
    return Findings(
        [*_of_runs(runs), *_of_single_steps(along)],
        [
            Sheet(
                "What the steps were worth", ("function", "η", "steps", "least r", "median r"),
                tuple(run.row for run in runs),
            )
        ],
        [_single_steps(along), _whole_runs(runs)],
        ["a step whose gain is within rounding of f is not judged; the others are all counted"],
    )  # fmt: skip


def waves(dim: int) -> tw.Objective:
    """½‖w‖² + 3Σ cos wᵢ: smooth, with curvatures from −2 to 4, so not convex."""
    return tw.Objective(
        lambda w: 0.5 * w @ w + 3.0 * np.cos(w).sum(),
        lambda w: w - 3.0 * np.sin(w),
        dim=dim, name="waves", smoothness=4.0,
    )  # fmt: skip


def mean_curvature(f: Any) -> float:
    """A wrong L: the mean of the eigenvalues of the Hessian in place of the largest."""
    unit, at = np.eye(f.dim), np.zeros(f.dim)
    return float(np.mean([abs(e @ f.hessian_vector(at, e)) for e in unit]))


def _functions(setting: Setting) -> list[tuple[str, Any, np.ndarray]]:
    """Names, functions and starts."""
    diabetes, cancer = (tw.read(name, dtype="float64") for name in ("@diabetes", "@cancer"))
    scaled = tw.scaling.ZScore().fit_transform
    squares = tw.LinearProblem(scaled(diabetes.X), diabetes.y, "squared", fit_intercept=False)
    logistic = tw.LinearProblem(scaled(cancer.X), cancer.y, "logistic", fit_intercept=False)
    found: list[tuple[str, Any, float]] = [
        ("least squares", squares, 30.0),
        ("logistic", logistic, 1.0),
        ("quadratic", _bowl(setting), 1.0),
        ("waves, not convex", waves(8), 2.0),
    ]
    return [
        (name, f, size * setting.rng("start", name).standard_normal(f.dim))
        for name, f, size in found
    ]


def _bowl(setting: Setting) -> tw.surfaces.Quadratic:
    return tw.surfaces.Quadratic.conditioned(100.0, dim=8, rotation="random", seed=setting.seed)


def _unknown(f: Any) -> tw.Objective:
    """The same function, its L kept to itself."""
    return tw.Objective(f.value, f.gradient, dim=f.dim, name="f", check_gradient=False)


def _steps(name: str, written: str, f: Any, method: tw.GD, w0: np.ndarray, count: int) -> Steps:
    """Run, and divide what each step gained by what the lemma promises for it."""
    way = [np.array(w0)]
    tw.minimize(
        f, method, w0, tol=1e-300, max_iter=count, progress=False,
        callback=lambda seen: way.append(np.array(seen.w)),
    )  # fmt: skip
    points = np.array(way)
    values = np.array([f.value(w) for w in points])
    norms = np.array([np.linalg.norm(f.gradient(w)) for w in points[:-1]])
    lengths = np.linalg.norm(np.diff(points, axis=0), axis=1)
    promised = 0.5 * lengths * norms  # (η/2)‖∇f‖², as a step is η‖∇f‖ long
    judged = promised > JUDGED * np.abs(values[:-1])
    return Steps(
        name, written, 1 + np.flatnonzero(judged), -np.diff(values)[judged] / promised[judged]
    )


def _along(setting: Setting, smoothness: Callable[[Any], float]) -> dict[float, np.ndarray]:
    """r of single steps with ηL = TRIED along three eigenvectors of a bowl, by their λ/L."""
    bowl = _bowl(setting)
    assert bowl.basis is not None  # it is rotated
    steepest = np.argsort(bowl.eigenvalues)[::-1]
    worth = {}
    for k in steepest[[0, 1, -1]]:
        eigenvector = bowl.basis[:, k]
        slope = np.linalg.norm(bowl.gradient(eigenvector))
        gains = []
        for eta in TRIED / smoothness(bowl):
            run = tw.minimize(
                bowl, tw.GD(step=eta), eigenvector, tol=1e-300, max_iter=1, progress=False
            )
            # From the trace: a run that rises returns the point that it began at.
            gain = bowl.value(eigenvector) - run.trace.last["value"]
            gains.append(gain / (0.5 * eta * slope**2))
        worth[float(bowl.eigenvalues[k] / bowl.smoothness)] = np.array(gains)
    return worth


def _of_runs(runs: list[Steps]) -> list[Check]:
    given, searched = (
        [r for r in runs if (r.step == SEARCHED) is is_found] for is_found in (False, True)
    )
    worst, worst_found = (min(some, key=lambda run: run.worth.min()) for some in (given, searched))
    return [
        Check(
            "f(w⁺) ≤ f(w) − (η/2)‖∇f(w)‖² at every step with η ≤ 1/L",
            all(np.all(run.worth >= 1.0 - ROUNDING) for run in given),
            f"{sum(len(run.worth) for run in given):,} steps on four functions, one of them not "
            f"convex; least r = {worst.worth.min():.5g}, {worst.function} with η = {worst.step}",
        ),
        Check(
            "f falls strictly wherever ∇f ≠ 0", all(np.all(run.worth > 0.0) for run in given),
            f"{sum(int(np.sum(run.worth <= 0.0)) for run in given)} steps that did not descend",
        ),
        Check(
            "where L is not known, a search finds steps that descend as much",
            all(np.all(run.worth >= 1.0 - ROUNDING) for run in searched),
            f"{sum(len(run.worth) for run in searched):,} steps, "
            f"least r = {worst_found.worth.min():.5g}",
        ),
    ]  # fmt: skip


def _of_single_steps(along: dict[float, np.ndarray]) -> list[Check]:
    off = max(float(np.abs(r - (2.0 - part * TRIED)).max()) for part, r in along.items())
    top = along[1.0]
    above, rising = top[(TRIED > 1.0 + 1e-9) & (TRIED < 2.0 - 1e-9)], top[TRIED > 2.0 + 1e-9]
    return [
        Check(
            "along eigenvectors r = 2 − ηλ, so that at η = 1/L the lemma is tight",
            off <= ROUNDING,
            f"off by at most {off:.1g} in {len(TRIED)} steps each along {len(along)} of them",
        ),
        Check(
            "beyond 1/L the lemma can fail", bool(np.all(above < 1.0)),
            f"along the top one r from {above.max():.3g} to {above.min():.3g} for 1 < ηL < 2",
        ),
        Check(
            "beyond 2/L f rises along the top eigenvector", bool(np.all(rising < 0.0)),
            f"r from {rising.max():.3g} to {rising.min():.3g} for 2 < ηL ≤ {TRIED[-1]:g}",
        ),
    ]  # fmt: skip


def _single_steps(along: dict[float, np.ndarray]) -> Figure:
    marks: list[Curve | Guide] = [Guide("r = 1, the lemma", 1.0), Guide("", 0.0)]
    marks += [Guide("1/L and 2/L", 1.0, "y"), Guide("", 2.0, "y")]
    for k, (part, r) in enumerate(along.items(), 1):
        marks.append(curve(f"λ = {part:.2g}L" if part < 1 else "λ = L", TRIED, r, k))
    for part in along:
        name = "2 − ηλ" if part == 1.0 else ""
        marks.append(curve(name, TRIED, 2.0 - part * TRIED, 0, theory=True))
    ends = ", ".join(f"{r[-1]:.3g} for λ = {part:.2g}L" for part, r in along.items())
    return figure(
        "A step along an eigenvector",
        panel("ηL", "r = gain / (η/2)‖∇f‖²", marks),
        "The worth r falls along the top eigenvector (λ = L) in a straight line through 1 at η = "
        f"1/L and 0 at 2/L. At ηL = {TRIED[-1]:g} it is {ends}.",
    )


def _whole_runs(runs: list[Steps]) -> Figure:
    at_limit = [run for run in runs if run.step == "1/L"]
    marks = [curve(run.function, run.number, run.worth, k + 1) for k, run in enumerate(at_limit)]
    return figure(
        "Runs with η = 1/L",
        panel("step", "r = gain / (η/2)‖∇f‖²", [Guide("r = 1, the lemma", 1.0), *marks], log="x"),
        "Every step is worth at least what the lemma promises: the least r is "
        + ", ".join(f"{run.worth.min():.3g} ({run.function})" for run in at_limit)
        + ". Towards the end of a run, when only flat directions are left, r goes to 2.",
    )


LAB = Lab(
    name="descent-lemma",
    claim="On an L-smooth function a gradient step with η ≤ 1/L lowers f by at least "
    "(η/2)‖∇f(w)‖², so that f falls strictly until the gradient is zero.",
    formula="η ≤ 1/L   ⇒   f(w − η∇f(w)) ≤ f(w) − (η/2)‖∇f(w)‖²",
    places=("A, Step I: The Descend",),
    expected=Ruling.HOLDS,
    experiment=experiment,
    breaks=(
        Break("step", "a step of 1.5/L", {"step": 1.5}),
        Break("mean", "1/L with the mean curvature for L", {"smoothness": mean_curvature}),
    ),
    fails_if="a single step with η ≤ 1/L that lowers f by less than (η/2)‖∇f‖², beyond rounding, "
    "or a step above 1/L along the top eigenvector that keeps the lemma",
    remark="The lecture states the lemma for convex functions. Convexity is not needed, and one of "
    "the four functions here has none.",
    code="""\
import numpy as np
import thalweg as tw

bowl = tw.surfaces.Quadratic((1.0, 10.0))
w = np.array([0.0, 1.0])  # the top eigenvector
for share in (0.5, 1.0, 1.5, 2.5):
    step = share / bowl.smoothness
    after = w - step * bowl.gradient(w)
    gain, promised = bowl.value(w) - bowl.value(after), step / 2 * np.sum(bowl.gradient(w) ** 2)
    print(f"step {share}/L: gain {gain:6.2f}, the lemma's {promised:5.2f}")
    assert (gain >= promised - 1e-12) == (share <= 1.0)
    assert (gain < 0) == (share > 2.0)
""",
    seconds=1.6,
)
