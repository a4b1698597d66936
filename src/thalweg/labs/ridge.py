"""Ridge regression has one solution, in closed form, which shrinks as λ grows.

The penalised sum of squares and half its gradient are

    L_λ(w) = ‖Xw − y‖² + λ‖w‖²        ½∇L_λ(w) = (XᵀX + λI)w − Xᵀy

XᵀX has no negative eigenvalue, so those of XᵀX + λI are at least λ > 0. The matrix can be inverted,
L_λ is strongly convex, and the only point without slope is its only minimum:

    ŵ = (XᵀX + λI)⁻¹Xᵀy

None of this asks whether XᵀX itself can be inverted. With the singular values σᵢ of X and its left
singular vectors uᵢ,

    ‖ŵ‖² = Σᵢ (σᵢ uᵢᵀy / (σᵢ² + λ))²

where every summand with σᵢ > 0 falls as λ grows. Gradient descent, w⁺ = w − η(∇L(w) + λ∇R(w)),
comes to the same point from everywhere, the distance shrinking by at most ρ = max|1 − ηλᵢ| a step,
λᵢ the eigenvalues of the Hessian. Without a penalty and with dependent columns it keeps for ever
what its start had in the directions that X does not see. Thalweg's problems are means over n rows:
λ here is n times their l2.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import thalweg as tw
from thalweg.labbook import (
    NOTED,
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

CLOSE = 1e-8  # of ‖ŵ‖: a condition number up to 10⁷ leaves this much of 10⁻¹⁶
WEAKEST, STRONGEST = 1e-3, 1e5  # λ
DESCENT = 100.0  # λ where gradient descent is tried: some hundred steps to ŵ

Solver = Callable[[np.ndarray, np.ndarray, float], np.ndarray]


class Data(NamedTuple):
    """Columns of mean 0 and deviation 1, a centred target."""

    name: str
    X: np.ndarray
    y: np.ndarray


class Descent(NamedTuple):
    """Gradient descent from several starts."""

    starts: np.ndarray  # float[starts, d]
    ways: list[np.ndarray]  # float[T + 1, d] each
    values: list[float]  # F at the ends

    @property
    def spread(self) -> np.ndarray:
        """The distance between the first two at every step."""
        return np.linalg.norm(self.ways[0] - self.ways[1], axis=1)


def closed_form(X: np.ndarray, y: np.ndarray, strength: float) -> np.ndarray:
    """Thalweg's ridge regression, by Cholesky's factors."""
    model = tw.Ridge(alpha=strength, fit_intercept=False, tol=1e-10, method="cholesky")
    return model.fit(X, y).coef_


def forgotten_rows(X: np.ndarray, y: np.ndarray, strength: float) -> np.ndarray:
    """Wrong: the mean of the squares, not their sum, beside the same λ."""
    return closed_form(X, y, strength * len(y))


def unpenalised(X: np.ndarray, y: np.ndarray, strength: float) -> np.ndarray:
    """Wrong: least squares without the penalty."""
    return closed_form(X, y, 0.0)


def experiment(setting: Setting, *, solve: Solver = closed_form) -> Findings:
    """`solve` beside the formula on three data sets, two of them with singular XᵀX."""
    every = _data()
    grid = np.geomspace(WEAKEST, STRONGEST, setting.pick(glance=9, quick=33, full=161))
    found = {data.name: np.array([solve(data.X, data.y, each) for each in grid]) for data in every}
    dependent = every[1]
    steps = setting.pick(glance=600, quick=2_000, full=20_000)
    count = setting.pick(glance=2, quick=3, full=12)
    starts = 100.0 * setting.rng("starts").standard_normal((count, dependent.X.shape[1]))
    held = _descend(dependent, DESCENT, starts, steps)
    free = _descend(dependent, 0.0, starts, steps)
    target = solve(dependent.X, dependent.y, DESCENT)
    checks = [
        *_formula(every, grid, found),
        *_uniqueness(every, grid),
        *_descents(dependent, held, target),
        _unpenalised_ends(dependent, free),
        _limit(every, grid, found),
    ]
    return Findings(
        checks,
        [_table(every, grid, found)],
        [_picture(every, grid, found), _ways(dependent, held, free, target)],
        [
            "diabetes, 442 × 10, columns of mean 0 and deviation 1; the same with three columns "
            "twice (XᵀX of rank 10 of 13); the first 8 rows of it (rank 8 of 10)",
        ],
    )


def _data() -> list[Data]:
    table = tw.read("@diabetes")
    X = tw.scaling.ZScore().fit_transform(table.X)
    y = np.asarray(table.y, dtype=np.float64)
    y = y - y.mean()
    return [
        Data("diabetes", X, y),
        Data("columns twice", np.hstack([X, X[:, :3]]), y),
        Data("8 rows", X[:8], y[:8]),
    ]


def _exact(data: Data, strength: float) -> np.ndarray:
    """The lecture's formula."""
    d = data.X.shape[1]
    return np.linalg.solve(data.X.T @ data.X + strength * np.eye(d), data.X.T @ data.y)


def _norms(data: Data, grid: np.ndarray) -> np.ndarray:
    """‖ŵ‖ at every λ, from the singular values."""
    U, s, _ = np.linalg.svd(data.X, full_matrices=False)
    return np.linalg.norm(s * (U.T @ data.y) / (s**2 + grid[:, None]), axis=1)


def _descend(data: Data, strength: float, starts: np.ndarray, steps: int) -> Descent:
    """Gradient descent with step 1/L from each start."""
    n = len(data.y)
    problem = tw.LinearProblem(data.X, data.y, "squared", l2=strength / n, fit_intercept=False)
    method = tw.GD(step=1.0 / _curvatures(data, strength)[-1])
    ways, values = [], []
    for start in starts:
        way = [np.array(start)]

        def keep(seen: tw.Step, way: list[np.ndarray] = way) -> None:
            way.append(np.array(seen.w))

        run = tw.minimize(
            problem, method, start, tol=1e-300, max_iter=steps, progress=False, callback=keep
        )
        ways.append(np.array(way))
        values.append(run.value)
    shortest = min(map(len, ways))  # one that cannot move any more ends early
    return Descent(starts, [way[:shortest] for way in ways], values)


def _curvatures(data: Data, strength: float) -> np.ndarray:
    """Eigenvalues of the Hessian of the mean, rising: those of (XᵀX + λI)/n."""
    problem = tw.LinearProblem(data.X, data.y, l2=strength / len(data.y), fit_intercept=False)
    return np.linalg.eigvalsh(problem.hessian(np.zeros(problem.dim)))


def _formula(every: list[Data], grid: np.ndarray, found: dict[str, np.ndarray]) -> list[Check]:
    """Closed form, stationarity, and the fall of ‖ŵ‖."""
    off, slope, norms, falls = [], [], [], []
    for data in every:
        solutions = found[data.name]
        exact = np.array([_exact(data, each) for each in grid])
        off.append(np.linalg.norm(solutions - exact, axis=1) / np.linalg.norm(exact, axis=1))
        pull = data.X.T @ data.y
        rest = solutions @ (data.X.T @ data.X) + grid[:, None] * solutions - pull
        slope.append(np.linalg.norm(rest, axis=1) / np.linalg.norm(pull))
        size = np.linalg.norm(solutions, axis=1)
        norms.append(np.abs(size / _norms(data, grid) - 1.0))
        falls.append(np.all(np.diff(size) < 0))
    cases = f"{len(every)} data sets × {len(grid)} λ from {grid[0]:g} to {grid[-1]:g}"
    first = found[every[0].name]
    return [
        Check(
            "the solver's ŵ is (XᵀX + λI)⁻¹Xᵀy, with XᵀX singular too",
            bool(np.max(off) < CLOSE), f"off by at most {np.max(off):.1e} of ‖ŵ‖, {cases}",
        ),
        Check(
            "there (XᵀX + λI)w − Xᵀy is zero", bool(np.max(slope) < CLOSE),
            f"at most {np.max(slope):.1e} of ‖Xᵀy‖",
        ),
        Check(
            "‖ŵ‖ falls from every λ to the next", all(falls),
            f"on diabetes from {np.linalg.norm(first[0]):.4g} to {np.linalg.norm(first[-1]):.3g}",
        ),
        Check(
            "and is √Σ(σᵢuᵢᵀy/(σᵢ² + λ))²", bool(np.max(norms) < CLOSE),
            f"off by at most {np.max(norms):.1e} of it",
        ),
    ]  # fmt: skip


def _uniqueness(every: list[Data], grid: np.ndarray) -> list[Check]:
    """XᵀX + λI is positive definite, whatever XᵀX is."""
    room, least = [], []
    for data in every:
        n = len(data.y)
        for each in (grid[0], grid[len(grid) // 2], grid[-1]):
            values = n * _curvatures(data, each)
            room.append((values[0] - each) / values[-1])
        bare = _curvatures(data, 0.0)
        least.append(bare[0] / bare[-1])
    return [
        Check(
            "the smallest eigenvalue of XᵀX + λI is at least λ > 0",
            min(room) > -1e-12,  # of the largest: rounding
            f"it is above λ by {min(room):.1e} to {max(room):.1e} of the largest, up to rounding",
        ),
        Check(
            "though XᵀX is singular on two of the three data sets",
            least[0] > 1e-4 and max(map(abs, least[1:])) < 1e-12,
            "smallest/largest eigenvalue " + ", ".join(f"{each:.1e}" for each in least),
        ),
    ]


def _descents(data: Data, held: Descent, target: np.ndarray) -> list[Check]:
    """Gradient descent with the penalty."""
    n, size = len(data.y), float(np.linalg.norm(target))
    bend = _curvatures(data, DESCENT)
    step = 1.0 / bend[-1]
    rate = tw.theory.gradient_descent.contraction(
        step, smoothness=bend[-1], strong_convexity=bend[0]
    )
    # One step by hand from the first start: w − η(∇L + λ∇R) of the sums, means being n times less.
    w, after = held.ways[0][:2]
    slope = 2.0 * data.X.T @ (data.X @ w - data.y) + DESCENT * 2.0 * w
    by_hand = w - step / (2.0 * n) * slope
    apart = [np.linalg.norm(way - target, axis=1) for way in held.ways]
    T = np.arange(len(apart[0]))
    slack = CLOSE * size
    bounded = all(np.all(each <= rate**T * each[0] * (1 + 1e-9) + slack) for each in apart)
    ends = max(float(each[-1]) for each in apart)
    return [
        Check(
            "a step of gradient descent is w − η(∇L + λ∇R)",
            bool(np.linalg.norm(after - by_hand) < 1e-12 * np.linalg.norm(w)),
            f"off by {np.linalg.norm(after - by_hand):.1e}",
        ),
        Check(
            f"gradient descent from {len(apart)} random starts arrives at the one ŵ, XᵀX singular",
            ends < 1e-6 * size,
            f"within {ends:.1e} after {T[-1]:,} steps, ‖ŵ‖ = {size:.3g}, λ = {DESCENT:g}",
        ),
        Check(
            "the distance shrinks by ρ = 1 − ημ a step at least", bounded,
            f"ρ = {rate:.5f}, at every one of {T[-1]:,} steps",
        ),
    ]  # fmt: skip


def _unpenalised_ends(data: Data, free: Descent) -> Check:
    """Where gradient descent ends without λ: wherever it began, as far as X does not see."""
    _, s, Vt = np.linalg.svd(data.X)
    rank = int((s > 1e-9 * s[0]).sum())
    seen, blind = Vt[:rank], Vt[rank:]  # Xv = 0 for the latter
    first, last = free.ways[0], free.ways[1]
    before, after = (blind @ (first[k] - last[k]) for k in (0, -1))
    shortest = np.linalg.pinv(data.X) @ data.y
    best = tw.LinearProblem(data.X, data.y, fit_intercept=False).value(shortest)
    step = 1.0 / _curvatures(data, 0.0)[-1]
    bounds = [
        # To the nearest minimum, which differs from the start in what X sees.
        tw.theory.gradient_descent.value_bound(
            float(np.linalg.norm(seen @ (start - shortest))), step=step, iterations=len(first) - 1
        )
        for start in free.starts[:2]
    ]
    worst = max(free.values[:2]) - best
    change = float(np.linalg.norm(after - before))
    return Check(
        "without λ two runs end apart, as far as their starts were in directions that X does not "
        "see, and both near the least loss",
        bool(change < 1e-9 * np.linalg.norm(before)) and worst <= max(bounds),
        f"{np.linalg.norm(first[-1] - last[-1]):.3g} apart; {np.linalg.norm(before):.3g} of it "
        f"since the start, changed by {change:.1e}; losses within {worst / best:.1e} of the least",
    )


def _limit(every: list[Data], grid: np.ndarray, found: dict[str, np.ndarray]) -> Check:
    data = every[1]
    smallest = np.linalg.pinv(data.X) @ data.y
    off = float(np.linalg.norm(found[data.name][0] - smallest) / np.linalg.norm(smallest))
    return Check(
        "as λ → 0 it picks the shortest of all least squares solutions",
        off < 1e-2, f"{off:.1e} of its length away at λ = {grid[0]:g}", NOTED,
    )  # fmt: skip


def _table(every: list[Data], grid: np.ndarray, found: dict[str, np.ndarray]) -> Sheet:
    shown = range(0, len(grid), max(1, (len(grid) - 1) // 8))
    return Sheet(
        "‖ŵ‖ of the solver",
        ("λ", *(data.name for data in every)),
        tuple(
            (grid[k], *(float(np.linalg.norm(found[data.name][k])) for data in every))
            for k in shown
        ),
    )


def _picture(every: list[Data], grid: np.ndarray, found: dict[str, np.ndarray]) -> Figure:
    sizes = [np.linalg.norm(found[data.name], axis=1) for data in every]
    norms = panel(
        "λ", "‖ŵ‖",
        [
            mark
            for hue, (data, size) in enumerate(zip(every, sizes, strict=True), 1)
            for mark in (
                curve(data.name, grid, size, hue),
                curve("by singular values", grid, _norms(data, grid), 0, theory=True),
            )
        ],
        log="xy", title="length of the solution",
    )  # fmt: skip
    weights = panel(
        "λ", "ŵ", [curve("", grid, each, k) for k, each in enumerate(found["diabetes"].T)],
        log="x", title="its ten weights, diabetes",
    )  # fmt: skip
    return figure(
        "Ridge regression as λ grows",
        [norms, weights],
        f"The length of the solution falls on all three data sets, on diabetes from "
        f"{sizes[0][0]:.3g} to {sizes[0][-1]:.3g}; thin lines are the singular values' formula. "
        "Single weights may grow for a while.",
        columns=2,
    )


def _ways(data: Data, held: Descent, free: Descent, target: np.ndarray) -> Figure:
    bend = _curvatures(data, DESCENT)
    apart = np.linalg.norm(held.ways[0] - target, axis=1)
    T = np.arange(int(np.argmax(apart < 1e-10)) or len(apart))  # until rounding is all that is left
    rate = tw.theory.gradient_descent.contraction(
        1.0 / bend[-1], smoothness=bend[-1], strong_convexity=bend[0]
    )
    toward = panel(
        "steps", "‖w − ŵ‖",
        [
            curve("gd", T, apart[: len(T)]),
            curve("ρᵀ‖w₀ − ŵ‖", T, apart[0] * rate**T, "gd", theory=True),
        ],
        log="y", title=f"from a random start, λ = {DESCENT:g}",
    )  # fmt: skip
    between = panel(
        "steps", "distance of two runs",
        [
            curve(f"λ = {DESCENT:g}", T, held.spread[: len(T)], 1),
            curve("λ = 0", T, free.spread[: len(T)], 2),
        ],
        log="y", title="from two starts, XᵀX singular",
    )  # fmt: skip
    return figure(
        "Gradient descent on ridge regression",
        [toward, between],
        f"With λ = {DESCENT:g} gradient descent comes within {apart[-1]:.1e} of ŵ, never slower "
        "than theory allows. Two runs meet with the penalty, and stay "
        f"{free.spread[-1]:.3g} apart without it.",
        columns=2,
    )


LAB = Lab(
    name="ridge",
    claim="For λ > 0 the sum of squares plus λ‖w‖² has exactly one minimum, "
    "(XᵀX + λI)⁻¹Xᵀy, whose length falls as λ grows and which gradient descent finds.",
    formula="ŵ = (XᵀX + λI)⁻¹Xᵀy",
    places=("A, Ridge Regression", "A, Regularization"),
    expected=Ruling.HOLDS,
    experiment=experiment,
    breaks=(
        Break("rows", "λ beside the mean of the squares, not the sum", {"solve": forgotten_rows}),
        Break("unpenalised", "least squares without the penalty", {"solve": unpenalised}),
    ),
    fails_if="a λ at which the solver is further than 10⁻⁸ from (XᵀX + λI)⁻¹Xᵀy or at which ‖ŵ‖ is "
    "not smaller than at the λ before; an eigenvalue of XᵀX + λI below λ; or a start from which "
    "gradient descent ends elsewhere",
    code="""\
import numpy as np, thalweg as tw

rng = np.random.default_rng(0)
X = rng.standard_normal((50, 3))
X = np.hstack([X, X[:, :1]])  # a column twice: XᵀX is singular
y = rng.standard_normal(50)
lengths = []
for strength in (0.1, 1.0, 10.0, 100.0):
    w = tw.Ridge(alpha=strength, fit_intercept=False, tol=1e-10).fit(X, y).coef_
    exact = np.linalg.solve(X.T @ X + strength * np.eye(4), X.T @ y)
    assert np.allclose(w, exact, atol=1e-8)
    lengths.append(float(np.linalg.norm(w)))
print([round(each, 4) for each in lengths])
assert lengths == sorted(lengths, reverse=True)
""",
    seconds=1.5,
)
