"""As λ grows, the training error rises and the test error falls, then rises.

A polynomial of degree 14 has 15 numbers to learn from 21 points: enough to follow the noise. Ridge
regression holds them back,

    minimise  Σᵢ (f(xᵢ) − yᵢ)² + λ‖w‖²        f(x) = b + w₁x + … + w₁₄x¹⁴

and its fit is linear in y, ŷ = Hy with H = H(λ) whose trace, the number of free parameters that are
left, falls from 15 towards 1. Of two strengths the larger cannot have the smaller sum of squares:
add the two optimality conditions, and both penalties cancel but for (λ₂ − λ₁)(‖ŵ₁‖² − ‖ŵ₂‖²) ≥ 0.
So the training error rises with λ, always. The test error is, on average over the noise,

    E(f̂(x) − y)² = σ² + (E f̂(x) − f(x))² + Var f̂(x)
                   noise      bias²           variance

The variance, σ²‖h(x)‖² for a prediction h(x)ᵀy, falls with λ and the bias grows: their sum is
lowest somewhere in between. With the noise known, both are exact sums, drawn beside the measured
ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import thalweg as tw
from thalweg.figures.spec import Mark
from thalweg.labbook import (
    Axis,
    Break,
    Check,
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

POINTS, SPAN, NOISE = 21, 20.0, 2.0  # x = 0, 1, … 20 and σ, as in the figure's notebook
WEAKEST, STRONGEST = 1e-10, 1e3  # λ
SHOWN = (1e-10, 1e-1, 1e3)  # of the three fits that are drawn
ROUNDING = 1e-9  # of the error: what two solutions of condition 10¹² may differ by

Fit = Callable[[np.ndarray, np.ndarray, float], "tw.Ridge"]


class Curves(NamedTuple):
    """Errors at every λ: measured ones of every draw, and what theory expects."""

    grid: np.ndarray  # λ, float[k]
    train: np.ndarray  # mean squares, float[k, draws]
    test: np.ndarray  # on new noise, float[k, draws]
    norms: np.ndarray  # ‖ŵ‖, float[k, draws]
    expected_train: np.ndarray  # float[k]
    bias: np.ndarray  # squared, float[k]
    variance: np.ndarray  # float[k]
    freedom: np.ndarray  # trace H, float[k]

    @property
    def expected_test(self) -> np.ndarray:
        """Noise, bias² and variance."""
        return NOISE**2 + self.bias + self.variance


def truth(x: np.ndarray) -> np.ndarray:
    """The quadratic behind the data."""
    return -1.5 * x + x**2 / 9.0


def ridge(X: np.ndarray, y: np.ndarray, strength: float) -> tw.Ridge:
    """Thalweg's ridge regression on each column of y; the intercept is free."""
    return tw.Ridge(alpha=strength, method="cholesky").fit(X, y)


def indifferent(X: np.ndarray, y: np.ndarray, strength: float) -> tw.Ridge:
    """Wrong: the weakest penalty whatever was asked for."""
    return ridge(X, y, WEAKEST)


def powers(x: np.ndarray, degree: int) -> np.ndarray:
    """x … x^d of x scaled to [−1, 1] as the 21 points are, float[n, d]."""
    scaler = tw.scaling.MinMaxScaler((-1.0, 1.0)).fit(np.linspace(0.0, SPAN, POINTS)[:, None])
    return scaler.transform(x[:, None]) ** np.arange(1, degree + 1)


def experiment(setting: Setting, *, degree: int = 14, fit: Fit = ridge) -> Findings:
    """Ridge on `degree` powers, over strengths and draws of the noise."""
    x, fresh = np.linspace(0.0, SPAN, POINTS), np.arange(0.0, SPAN + 0.05, 0.1)
    X, X_test = powers(x, degree), powers(fresh, degree)
    draws = setting.pick(glance=25, quick=60, full=1_000)
    grid = np.geomspace(WEAKEST, STRONGEST, setting.pick(glance=8, quick=27, full=53))
    rng = setting.rng("noise")
    y = truth(x)[:, None] + NOISE * rng.standard_normal((len(x), draws))
    y_test = truth(fresh)[:, None] + NOISE * rng.standard_normal((len(fresh), draws))
    curves = _measure(grid, X, y, X_test, y_test, fit, fresh)
    return Findings(
        _checks(curves),
        [_table(curves)],
        [_picture(curves, x, y[:, 0], fresh, degree, fit), _parts(curves)],
        [
            f"degree {degree}, {POINTS} points x = 0, 1, … 20 scaled to [−1, 1], "
            f"y = −1.5x + x²/9 + noise of deviation {NOISE:g}, {draws} draws; tested at "
            f"{len(fresh)} points of the same range with new noise",
        ],
    )


def _measure(
    grid: np.ndarray,
    X: np.ndarray,
    y: np.ndarray,
    X_test: np.ndarray,
    y_test: np.ndarray,
    fit: Fit,
    fresh: np.ndarray,
) -> Curves:
    """Fit all draws at every λ, and expect the same by the matrices."""
    train, test, norms, expected = [], [], [], []
    for strength in grid:
        model = fit(X, y, float(strength))
        train.append(np.mean((model.predict(X) - y) ** 2, axis=0))
        test.append(np.mean((model.predict(X_test) - y_test) ** 2, axis=0))
        norms.append(np.linalg.norm(model.coef_, axis=1))
        expected.append(_expected(X, X_test, fresh, float(strength)))
    return Curves(grid, *map(np.array, (train, test, norms)), *np.array(expected).T)


def _expected(
    X: np.ndarray, X_test: np.ndarray, fresh: np.ndarray, strength: float
) -> tuple[float, float, float, float]:
    """Training error, bias², variance and trace H, from the singular values of centred powers."""
    n, mean = len(X), X.mean(0)
    U, s, Vt = np.linalg.svd(X - mean, full_matrices=False)
    shrunk = s / (s**2 + strength)
    H = (U * (s * shrunk)) @ U.T + 1.0 / n
    h = ((X_test - mean) @ Vt.T * shrunk) @ U.T + 1.0 / n  # predictions of test points, hᵀy
    f = truth(np.linspace(0.0, SPAN, n))
    rest = np.eye(n) - H
    train = (np.sum((rest @ f) ** 2) + NOISE**2 * np.sum(rest**2)) / n
    bias = np.mean((h @ f - truth(fresh)) ** 2)
    variance = NOISE**2 * np.mean(np.sum(h**2, axis=1))
    return float(train), float(bias), float(variance), float(np.trace(H))


def _checks(curves: Curves) -> list[Check]:
    grid, draws = curves.grid, curves.test.shape[1]
    mean_train, mean_test = curves.train.mean(1), curves.test.mean(1)
    rising = np.diff(curves.train, axis=0)
    always = bool(np.all(rising >= -ROUNDING * curves.train[1:]))
    best = int(np.argmin(mean_test))
    ends = [curves.test[k] - curves.test[best] for k in (0, -1)]
    # Each draw is its own comparison; four deviations of their mean.
    sure = [each.mean() - 4.0 * each.std(ddof=1) / np.sqrt(draws) for each in ends]
    lowest = np.argmin(curves.test, axis=0)
    inside = float(np.mean((lowest > 0) & (lowest < len(grid) - 1)))
    turn = int(np.argmin(curves.expected_test))
    down, up = np.diff(curves.expected_test[: turn + 1]), np.diff(curves.expected_test[turn:])
    return [
        Check(
            "the training error rises from every λ to the next, in every draw",
            always and bool(mean_train[-1] > 1.5 * mean_train[0]),
            f"mean {mean_train[0]:.3f} to {mean_train[-1]:.3f} over {len(grid)} λ, {draws} draws",
        ),
        Check(
            "the test error is U-shaped: higher at both ends than between", min(sure) > 0.0,
            f"mean {mean_test[0]:.2f} at λ = {grid[0]:.0e}, {mean_test[best]:.2f} at "
            f"λ = {grid[best]:.1g}, {mean_test[-1]:.2f} at λ = {grid[-1]:.0e}; surely above by "
            f"{sure[0]:.2f} and {sure[1]:.2f}",
        ),
        Check(
            "so it is draw by draw: the best λ lies inside in at least 9 of 10", inside >= 0.9,
            f"in {inside:.0%} of {draws}",
        ),
        Check(
            "its exact mean falls at every step up to one λ and rises at every step after",
            bool(np.all(down < 0) and np.all(up > 0) and 0 < turn < len(grid) - 1),
            f"{curves.expected_test[0]:.2f}, least {curves.expected_test[turn]:.2f} at "
            f"λ = {grid[turn]:.1g}, {curves.expected_test[-1]:.2f}",
        ),
        _as_expected(curves),
        Check(
            "the model becomes simpler from left to right: ‖ŵ‖ and trace H fall",
            bool(np.all(np.diff(curves.norms, axis=0) < 0) and np.all(np.diff(curves.freedom) < 0)),
            f"mean ‖ŵ‖ {curves.norms[0].mean():.3g} to {curves.norms[-1].mean():.2g}, trace H "
            f"{curves.freedom[0]:.2f} to {curves.freedom[-1]:.2f}",
        ),
        Check(
            "the penalty helps: at the best λ the excess over the noise is less than half that of "
            "the weakest",
            bool(mean_test[best] - NOISE**2 < 0.5 * (mean_test[0] - NOISE**2)),
            f"{mean_test[best] - NOISE**2:.2f} and {mean_test[0] - NOISE**2:.2f}, "
            f"noise {NOISE**2:g}",
        ),
    ]  # fmt: skip


def _as_expected(curves: Curves) -> Check:
    """Means over draws beside the exact expectations."""
    off = []
    for measured, exact in (
        (curves.train, curves.expected_train), (curves.test, curves.expected_test),
    ):  # fmt: skip
        deviation = measured.std(1, ddof=1) / np.sqrt(measured.shape[1])
        off.append(np.abs(measured.mean(1) - exact) / deviation)
    # Errors at neighbouring λ go together, and squares have a long tail: five deviations.
    return Check(
        "training and test error are what bias and variance say",
        bool(np.max(off) < 5.0), f"at most {np.max(off):.1f} deviations of the mean off",
    )  # fmt: skip


def _table(curves: Curves) -> Sheet:
    every = range(0, len(curves.grid), max(1, len(curves.grid) // 9))
    return Sheet(
        "Mean squares, over the draws",
        ("λ", "training", "test", "test expected", "bias²", "variance", "trace H"),
        tuple(
            (
                float(f"{curves.grid[k]:.2g}"), curves.train[k].mean(), curves.test[k].mean(),
                curves.expected_test[k], curves.bias[k], curves.variance[k], curves.freedom[k],
            )
            for k in every
        ),
    )  # fmt: skip


def _picture(
    curves: Curves, x: np.ndarray, y: np.ndarray, fresh: np.ndarray, degree: int, fit: Fit
) -> Figure:
    """Three fits of one draw and the errors against λ: the lecture's four panels."""
    low, high = float(y.min()) - 2.0, float(y.max()) + 2.0

    def one(strength: float) -> Panel:
        model = fit(powers(x, degree), y[:, None], strength)
        found = model.predict(powers(fresh, degree)).ravel()
        marks: list[Mark] = [
            curve("truth", fresh, truth(fresh), 0, theory=True),
            curve("fit", fresh, found, 1, decides_range=False),
            *(Point("" if k else "21 points", x[k], y[k], "cross") for k in range(len(x))),
        ]
        return panel("x", Axis("y", low=low, high=high), marks, title=f"λ = {strength:g}")

    errors = panel(
        "λ", "mean square",
        [
            curve("training", curves.grid, curves.train.mean(1), 3),
            curve("test", curves.grid, curves.test.mean(1), 2),
            curve("expected", curves.grid, curves.expected_train, 3, theory=True),
            curve("", curves.grid, curves.expected_test, 2, theory=True),
            Guide("noise σ²", NOISE**2),
        ],
        log="xy", title="errors",
    )  # fmt: skip
    best = int(np.argmin(curves.test.mean(1)))
    return figure(
        f"Ridge regression of degree {degree} on {POINTS} points",
        [*map(one, SHOWN), errors],
        "The fit follows the noise, then the truth, then nothing. Mean training error rises from "
        f"{curves.train[0].mean():.2f} to {curves.train[-1].mean():.2f}; mean test error falls "
        f"from {curves.test[0].mean():.2f} to {curves.test[best].mean():.2f} at "
        f"λ = {curves.grid[best]:.1g} and rises to {curves.test[-1].mean():.2f}.",
        columns=2,
    )


def _parts(curves: Curves) -> Figure:
    parts = panel(
        "λ", Axis("mean square", "log", low=0.01),
        [
            curve("bias²", curves.grid, curves.bias, 4),
            curve("variance", curves.grid, curves.variance, 5),
            curve("their sum", curves.grid, curves.bias + curves.variance, 0),
        ],
        log="x", title="what the test error is made of",
    )  # fmt: skip
    freedom = panel(
        "λ", "trace H", [curve("free parameters left", curves.grid, curves.freedom, 6)],
        log="x", title="complexity",
    )  # fmt: skip
    return figure(
        "Bias, variance and complexity",
        [parts, freedom],
        f"Variance falls from {curves.variance[0]:.2f} to {curves.variance[-1]:.2f} as bias² grows "
        f"from {curves.bias[0]:.1e} to {curves.bias[-1]:.2f}; the free parameters fall from "
        f"{curves.freedom[0]:.1f} to {curves.freedom[-1]:.1f}.",
        columns=2,
    )


LAB = Lab(
    name="ridge-polynomial",
    claim="With ridge regression of a degree 14 polynomial on 21 points, the training error rises "
    "with λ, and the test error falls first and rises then.",
    formula="min Σᵢ (f(xᵢ) − yᵢ)² + λ‖w‖²;  test MSE = σ² + bias²(λ) + variance(λ)",
    places=("A, Weight Decay Benefits",),
    expected=Ruling.HOLDS,
    experiment=experiment,
    breaks=(
        Break("indifferent", "a fit that ignores λ", {"fit": indifferent}),
        Break("degree", "degree 2, which has nothing to unlearn", {"degree": 2}),
    ),
    fails_if="a draw and a λ at which the training error is smaller than at the λ before, or a "
    "mean test error that at one of the ends is not higher, by four deviations, than in between",
    code="""\
import numpy as np, thalweg as tw

rng = np.random.default_rng(0)
x, fresh = np.linspace(-1, 1, 21)[:, None], np.linspace(-1, 1, 201)[:, None]
y = 10 * x[:, 0] ** 2 + 2 * rng.standard_normal(21)
powers = np.arange(1, 15)
train, test = [], []
for strength in (1e-8, 1e-4, 1e-1, 1e1, 1e3):
    model = tw.Ridge(alpha=strength, method="cholesky").fit(x**powers, y)
    train.append(float(np.mean((model.predict(x**powers) - y) ** 2)))
    test.append(float(np.mean((model.predict(fresh**powers) - 10 * fresh[:, 0] ** 2) ** 2)))
print([round(each, 2) for each in train], [round(each, 2) for each in test])
assert train == sorted(train) and min(test) < min(test[0], test[-1])
""",
    seconds=2.3,
)
