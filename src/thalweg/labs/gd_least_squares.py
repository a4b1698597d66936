"""On least squares gradient descent takes log(1/ε) steps in the end.

For f(w) = ½‖y − Xw‖² gradient and Hessian are

    ∇f(w) = XᵀXw − Xᵀy        ∇²f = XᵀX

so that ‖∇f(w₁) − ∇f(w₂)‖ = ‖XᵀX(w₁ − w₂)‖ ≤ λ_max(XᵀX)‖w₁ − w₂‖: L = λ_max(XᵀX), and η = 1/L is a
safe step. With cᵢ the coordinate of w₀ − w* along the eigenvector of λᵢ, T steps leave

    f(w_T) − f* = ½ Σᵢ λᵢcᵢ² (1 − λᵢ/L)²ᵀ

Each term is at most Lcᵢ²/2T, which is the O(L/ε) of convex functions. If all λᵢ > 0, the smallest
decides in the end: the gap falls by (1 − λ_min/L)² a step, and ε takes O(log 1/ε) steps.

A term with λᵢ = 0 is zero from the start. So the same holds of a matrix without full rank, with the
smallest eigenvalue that is not zero in place of λ_min: linear convergence needs no strong
convexity here, only that f grows away from its minimizers.

How long the end is in coming is another matter. With λᵢ = i⁻² and cᵢ² = 1/i the sum is close to
1/8T until T ≈ L/λ_min: for thousands of steps gradient descent is as slow as the convex bound says.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import thalweg as tw
from thalweg.labbook import (
    Break,
    Check,
    Curve,
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

ROUNDING = 1e-9  # of a bound
FLOOR = 1e-16  # of the first gap: a gap below it is known to fewer than eight digits
FULL, DEFICIENT, POWER = "full rank", "rank 6 of 9", "power law"


class Descent(NamedTuple):
    """A run on ½‖y − Xw‖², and the spectrum behind it."""

    name: str
    eigenvalues: np.ndarray  # of XᵀX, those that are not zero, ascending
    L: float  # as the problem states it
    distance: float  # ‖w₀ − w*‖, w* the nearest minimizer
    gaps: np.ndarray  # f(w_T) − f*, from T = 0
    predicted: np.ndarray  # ½ Σ λᵢcᵢ²(1 − λᵢ/L)²ᵀ
    moved: float  # by how much the part of w in the null space changed, relative to ‖w₀‖

    @property
    def per_step(self) -> float:
        """What the gap is multiplied by at each step, over the last third that can be measured."""
        seen = np.flatnonzero(self.gaps > FLOOR * self.gaps[0])
        last = seen[-max(3, len(seen) // 3) :]
        return float(np.exp(np.polyfit(last, np.log(self.gaps[last]), 1)[0]))

    @property
    def theory(self) -> float:
        """(1 − λ₊/L)², λ₊ the smallest eigenvalue that is not zero."""
        return (1.0 - self.eigenvalues[0] / self.eigenvalues[-1]) ** 2

    def steps_to(self, part: float) -> int | None:
        """Steps to that part of the first gap."""
        within = self.gaps <= part * self.gaps[0]
        return int(np.argmax(within)) if within.any() else None


def experiment(setting: Setting, *, step: float = 1.0, schedule: str = "constant") -> Findings:
    """Gradient descent with η = `step`/λ_max on three matrices."""
    diabetes = tw.read("@diabetes", dtype="float64")
    X, y = tw.scaling.ZScore().fit_transform(diabetes.X), np.asarray(diabetes.y, dtype=float)
    part = X[:, :6]
    sums = part[:, ::2] + part[:, 1::2]
    size = setting.pick(glance=30, quick=60, full=300)
    steps = setting.pick(glance=1_000, quick=6_000, full=12_000)
    how = (step, schedule)
    runs = [
        _descend(FULL, X, y, 30.0 * setting.rng(FULL).standard_normal(10), steps, *how),
        _descend(
            DEFICIENT, np.hstack([part, sums]), y,
            30.0 * setting.rng(DEFICIENT).standard_normal(9), steps, *how,
        ),
        # 3L/λ_min steps: exp(−6) of what 1/T alone would leave.
        _descend(POWER, *_power_law(size, setting), 3 * size**2, *how),
    ]  # fmt: skip
    rows = [
        (run.name, len(run.eigenvalues), run.eigenvalues[-1] / run.eigenvalues[0],
         f"{run.per_step:.5f}", f"{run.theory:.5f}",
         *(run.steps_to(part) or "—" for part in (1e-2, 1e-4)))
        for run in runs
    ]  # fmt: skip
    heads = ("matrix", "rank", "L/λ₊", "per step", "(1 − λ₊/L)²", "to 10⁻²", "to 10⁻⁴")
    return Findings(
        [*_of_constant(X, y, setting), *_of_bounds(runs), *_of_rates(runs), *_of_phases(runs[2])],
        [Sheet("How the gap falls", heads, tuple(rows))],
        [_gaps_figure(runs)],
        [
            "full rank: diabetes, 442 × 10, standardized; the second is its first six columns and "
            "three that are sums of those; the third is made with eigenvalues i⁻² of XᵀX, "
            f"i = 1 … {size}"
        ],
    )


def _least_squares(X: np.ndarray, y: np.ndarray) -> tw.LinearProblem:
    """½‖y − Xw‖²: a linear problem is a mean over its rows, so they are made √n times longer."""
    root = np.sqrt(len(X))
    return tw.LinearProblem(root * X, root * y, "squared", fit_intercept=False)


def _power_law(size: int, setting: Setting) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """X, y and w₀ with λᵢ = i⁻² and cᵢ² = 1/i, w* = 0 and y = 0."""
    i = np.arange(1.0, size + 1.0)
    left, right = (np.linalg.qr(setting.rng(s).standard_normal((size, size)))[0] for s in "UV")
    signs = setting.rng("signs").choice([-1.0, 1.0], size)
    return left @ np.diag(1.0 / i) @ right.T, np.zeros(size), right @ (signs / np.sqrt(i))


def _descend(
    name: str, X: np.ndarray, y: np.ndarray, w0: np.ndarray, steps: int,
    step: float, schedule: str,
) -> Descent:  # fmt: skip
    """Run, and measure gaps as ½‖X(w − w*)‖², which loses no digits."""
    problem = _least_squares(X, y)
    values, vectors = np.linalg.eigh(X.T @ X)
    is_zero = values < 1e-10 * values[-1]
    null = vectors[:, is_zero]
    nearest = np.linalg.lstsq(X, y, rcond=1e-10)[0] + null @ (null.T @ w0)
    way = [np.array(w0)]
    tw.minimize(
        problem, tw.GD(step=step / values[-1], schedule=schedule), w0, tol=1e-300,
        max_iter=steps, progress=False, callback=lambda seen: way.append(np.array(seen.w)),
    )  # fmt: skip
    off = np.array(way) - nearest
    gaps = 0.5 * np.sum((off @ X.T) ** 2, axis=1)
    moved = float(np.linalg.norm(null.T @ (way[-1] - w0)) / np.linalg.norm(w0))
    distance = float(np.linalg.norm(off[0]))
    values, c = values[~is_zero], (vectors.T @ off[0])[~is_zero]
    factors = (1.0 - values / values[-1]) ** 2
    T = np.arange(len(gaps))[:, None]
    predicted = 0.5 * np.sum(values * c**2 * factors**T, axis=1)
    return Descent(name, values, problem.smoothness, distance, gaps, predicted, moved)


def _of_constant(X: np.ndarray, y: np.ndarray, setting: Setting) -> list[Check]:
    """L, and the gradient it is the Lipschitz constant of."""
    problem = _least_squares(X, y)
    largest = float(np.linalg.eigvalsh(X.T @ X)[-1])
    w = setting.rng("gradient").standard_normal(10)
    by_hand = X.T @ (X @ w) - X.T @ y
    off = np.linalg.norm(problem.gradient(w) - by_hand) / np.linalg.norm(by_hand)
    pairs = setting.pick(glance=60, quick=300, full=3_000)
    holds, less = (
        tw.check_smooth(problem, part * largest, samples=pairs, seed=setting.seed)
        for part in (1.0 + 1e-9, 0.99)
    )
    return [
        Check("∇f(w) = XᵀXw − Xᵀy", bool(off <= 1e-12), f"relative difference {off:.1g}"),
        Check(
            "∇f is λ_max(XᵀX)-Lipschitz, and no smaller constant does",
            bool(holds.holds) and less.holds is False
            and abs(problem.smoothness / largest - 1.0) <= 1e-6,
            f"L = {problem.smoothness:.6g}, λ_max = {largest:.6g}; no violation among "
            f"{holds.pairs_tested:,} pairs, one with 0.99·λ_max",
        ),
    ]  # fmt: skip


def _of_bounds(runs: list[Descent]) -> list[Check]:
    """The O(L/ε) of convex functions."""
    shares = {}
    for run in runs:
        T = np.arange(1, len(run.gaps))
        bounds = tw.theory.gradient_descent.value_bound(
            run.distance, step=1.0 / run.eigenvalues[-1], iterations=T
        )
        shares[run.name] = float(np.max(run.gaps[1:] / bounds))
    off = max(_off(run) for run in runs)
    return [
        Check(
            "with η = 1/L the gap is at most L‖w₀ − w*‖²/2T at every T: O(L/ε) steps",
            max(shares.values()) <= 1.0 + ROUNDING,
            "at most " + ", ".join(f"{s:.2g} of it ({n})" for n, s in shares.items()),
        ),
        Check(
            "at every T the gap is ½ Σᵢ λᵢcᵢ²(1 − λᵢ/L)²ᵀ, eigenvector by eigenvector",
            off <= 1e-6, f"relative difference at most {off:.1g}",
        ),
    ]  # fmt: skip


def _off(run: Descent) -> float:
    """How far the gaps are from what the spectrum says, where they are above rounding."""
    seen = run.predicted > FLOOR * run.gaps[0]
    return float(np.max(np.abs(run.gaps[seen] / run.predicted[seen] - 1.0)))


def _of_rates(runs: list[Descent]) -> list[Check]:
    """Linear convergence, with full rank and without."""
    full, deficient, _ = runs
    checks = []
    for run, statement in (
        (full, "λ_min > 0: O(log 1/ε) steps, as the gap falls by (1 − λ_min/L)² a step"),
        (deficient, "without full rank the same, with the smallest eigenvalue that is not zero"),
    ):
        T = np.arange(len(run.gaps))
        safe = tw.theory.gradient_descent.safe_rate(
            smoothness=float(run.eigenvalues[-1]), strong_convexity=float(run.eigenvalues[0])
        )
        bounds = tw.theory.rate.bound(run.gaps[0], safe, T)
        below = np.all(run.gaps <= bounds * (1.0 + ROUNDING) + FLOOR * run.gaps[0])
        ratio = np.log(run.per_step) / np.log(run.theory)
        checks.append(
            Check(
                # The last third still holds some of the next eigenvalue: a few percent.
                statement, bool(below and abs(ratio - 1.0) <= 0.05),
                f"{run.per_step:.6f} a step measured, {run.theory:.6f} by theory; "
                f"{run.steps_to(1e-2) or 0:,} steps to 10⁻²",
            )
        )  # fmt: skip
    checks.append(
        Check(
            "what lies in the null space of X stays where it began",
            deficient.moved <= 1e-10, f"moved by {deficient.moved:.1g} of ‖w₀‖",
        )
    )  # fmt: skip
    return checks


def _of_phases(run: Descent) -> list[Check]:
    """The power law and its end."""
    low, high = _sublinear(run)
    T = np.arange(low, min(high, len(run.gaps)))
    power = float(np.polyfit(np.log(T), np.log(run.gaps[T]), 1)[0]) if len(T) > 1 else 0.0
    last = len(run.gaps) - 1
    left = run.gaps[-1] * last / (run.gaps[min(high, last)] * high)
    late = np.log(run.per_step) / np.log(run.theory)
    return [
        Check(
            "a power-law spectrum has a sublinear phase, here 1/T",
            # By the sum it is T⁻¹·exp(−2Tλ_min/L), and Tλ_min/L ≤ 0.05 in this range.
            abs(power + 1.0) <= 0.15,
            f"fitted power {power:.3f} from T = {low} to {high}",
        ),
        Check(
            "and a linear one after it",
            # Neighbouring eigenvalues still count, so that it is a little faster than the last.
            bool(left <= 0.02 and 1.0 - ROUNDING <= late <= 2.0),
            f"at T = {last:,} the gap is {left:.2g} of what 1/T would leave; {run.per_step:.5f} a "
            f"step, (1 − λ_min/L)² = {run.theory:.5f}",
        ),
    ]


def _sublinear(run: Descent) -> tuple[int, int]:
    """From where the largest eigenvalue is done to where the smallest begins to count."""
    return 3, int(0.05 * run.eigenvalues[-1] / run.eigenvalues[0])


def _gaps_figure(runs: list[Descent]) -> Figure:
    left: list[Curve] = []
    for k, run in enumerate(runs[:2], 1):
        T = np.flatnonzero(run.gaps > FLOOR * run.gaps[0])
        safe = tw.theory.gradient_descent.safe_rate(
            smoothness=float(run.eigenvalues[-1]), strong_convexity=float(run.eigenvalues[0])
        )
        left.append(curve(run.name, T, run.gaps[T] / run.gaps[0], k))
        name = "(1 − λ₊/L)ᵀ" if k == 1 else ""
        left.append(curve(name, T, tw.theory.rate.bound(1.0, safe, T), k, theory=True))
    run = runs[2]
    T = np.arange(1, len(run.gaps))
    bound = tw.theory.gradient_descent.value_bound(
        run.distance, step=1.0 / run.eigenvalues[-1], iterations=T
    )
    seen = run.gaps[1:] > FLOOR * run.gaps[0]
    right = [
        curve(run.name, T[seen], run.gaps[1:][seen] / run.gaps[0], 3),
        curve("L‖w₀ − w*‖²/2T", T, bound / run.gaps[0], 3, theory=True),
    ]
    _, high = _sublinear(run)
    return figure(
        "Least squares: gap by steps",
        [
            panel("T", "gap / first gap", left, log="y", title="Linear, with or without full rank"),
            panel("T", "gap / first gap", right, log="xy", title="First 1/T, then linear"),
        ],
        "On the left both gaps fall in a straight line on a logarithmic scale, below their bounds: "
        f"{runs[0].per_step:.5f} a step with full rank, {runs[1].per_step:.5f} without. On the "
        f"right, with eigenvalues i⁻², the gap falls like 1/T up to about T = {high}, and bends "
        "down after it.",
        columns=2,
    )


LAB = Lab(
    name="gd-least-squares",
    claim="For ½‖y − Xw‖² the gradient is λ_max(XᵀX)-Lipschitz; with η = 1/λ_max gradient descent "
    "is within ε after O(λ_max/ε) steps, and after only O(log 1/ε) if λ_min(XᵀX) > 0.",
    formula="f(w_T) − f* ≤ (1 − λ_min/L)ᵀ (f(w₀) − f*),   L = λ_max(XᵀX)",
    places=("A, GD for Linear regression",),
    expected=Ruling.HOLDS,
    experiment=experiment,
    breaks=(
        Break("step", "a step of 2.5/L", {"step": 2.5}),
        Break("decay", "steps that shrink like 1/√t", {"schedule": "1/sqrt(t)"}),
    ),
    fails_if="a T at which the gap is above L‖w₀ − w*‖²/2T or above (1 − λ₊/L)ᵀ of the first, or "
    "an end of the run at which it does not fall by (1 − λ₊/L)² a step, λ₊ the smallest eigenvalue "
    "that is not zero",
    remark="The condition λ_min > 0 is enough and not necessary: without full rank the smallest "
    "eigenvalue that is not zero takes its place. And O(log 1/ε) has L/λ₊ in it: a spectrum that "
    "falls like a power shows the slow 1/T first, for as long as anybody may care to wait.",
    code="""\
import numpy as np
import thalweg as tw

X = np.array([[2.0, 0.0, 2.0], [0.0, 1.0, 1.0]])  # two rows, three columns: rank 2
problem = tw.LinearProblem(X * 2**0.5, np.ones(2) * 2**0.5, "squared", fit_intercept=False)
low, high = np.linalg.eigvalsh(X @ X.T)  # the eigenvalues of XᵀX that are not zero
run = tw.minimize(problem, tw.GD(step=1 / high), tol=1e-300, max_iter=60)
gaps = run.trace["value"]
rate = (gaps[50] / gaps[40]) ** 0.1
print(f"L = {high:.4f}; {rate:.6f} a step, by theory {(1 - low / high) ** 2:.6f}")
assert abs(problem.smoothness - high) < 1e-6 and abs(rate - (1 - low / high) ** 2) < 1e-3
""",
    seconds=2.5,
)
