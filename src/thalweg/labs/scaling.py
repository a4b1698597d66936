"""Scaled features make gradient descent fast.

Least squares with an intercept, f(w, c) = (1/2n) Σᵢ (xᵢᵀw + c − yᵢ)², has the Hessian

    H = (1/n) Σᵢ x̃ᵢx̃ᵢᵀ,    x̃ᵢ = (xᵢ, 1)

whose diagonal holds the mean squares of the features. A feature measured in thousands beside one
measured in hundredths makes a condition number κ = λ_max/λ_min of 10⁹ or so, and gradient descent
with step 1/L takes about κ log(1/ε) steps. Changing the units changes H and nothing else: scaling
and shifting the features gives the same predictions at the minimum.

    min-max    x′ = (x − min)/(max − min), in [0, 1]; minus 1, in [−1, 0]
    mean       x′ = (x − mean)/(max − min)
    z-score    x′ = (x − μ)/σ, mean 0 and variance 1
    log        x′ = log(1 + x/u) of skewed columns, before one of the others
    whitening  x′ = Σ^(−½)(x − μ), variance 1 and no correlation: H = I, κ = 1

Subtracting the mean takes the correlation with the intercept away. Dividing by σ gives H a unit
diagonal, and a matrix with a unit diagonal is within a factor d of the best that any scaling of d
columns can do (van der Sluis, Numer. Math. 14 (1969)). What is left is the correlation between
features, which only whitening removes; then the first step is the last.

Min-max scaling depends on two values of a column, the smallest and the largest: where the column
has a long tail, most values end up in a small part of the range. The logarithm shortens the tail.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

import thalweg as tw
from thalweg.figures.styles import Style
from thalweg.labbook import (
    Break,
    Check,
    Contour,
    Figure,
    Findings,
    Histogram,
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

RAW, RANGE, BELOW, MEAN, Z, LOG_RANGE, WHITE = NAMES = (
    "as it comes", "min-max [0, 1]", "min-max [−1, 0]", "mean", "z-score", "log, min-max",
    "whitening",
)  # fmt: skip
SCALINGS = (RANGE, BELOW, MEAN, Z)  # of single columns
# Of breast cancer's thirty columns, eight that no other repeats: radius, perimeter and area of the
# same cell would leave κ near 10⁵ after any scaling of single columns.
COLUMNS = (
    "mean radius", "mean texture", "mean smoothness", "mean concavity", "mean symmetry",
    "mean fractal dimension", "area error", "fractal dimension error",
)  # fmt: skip
SKEWED = "area error"
SHARE = 1e-3  # of the first gap, to be reached

Scalers = Mapping[str, Callable[[np.ndarray], np.ndarray]]  # a name to what it makes of X


class Trial(NamedTuple):
    """Gradient descent on one version of the data."""

    kappa: float
    steps: int  # to SHARE of the first gap; the budget where it was not reached
    reached: bool
    bound: int  # steps that theory allows
    gaps: np.ndarray  # shares of the first gap after each step


def scalers() -> dict[str, Callable[[np.ndarray], np.ndarray]]:
    """What the slides name, as the library has it."""
    scaling = tw.scaling

    def log_range(X: np.ndarray) -> np.ndarray:
        return scaling.MinMaxScaler().fit_transform(scaling.LogScaler().fit_transform(X))

    return {
        RAW: np.copy,
        RANGE: lambda X: scaling.MinMaxScaler().fit_transform(X),
        BELOW: lambda X: scaling.MinMaxScaler((-1.0, 0.0)).fit_transform(X),
        MEAN: lambda X: scaling.MeanScaler().fit_transform(X),
        Z: lambda X: scaling.ZScore().fit_transform(X),
        LOG_RANGE: log_range,
        WHITE: lambda X: scaling.Whitening().fit_transform(X),
    }


def without_mean() -> dict[str, Callable[[np.ndarray], np.ndarray]]:
    """Wrong: a z-score that divides and does not subtract."""
    return {**scalers(), Z: lambda X: tw.scaling.ZScore(center=False).fit_transform(X)}


def without_turning() -> dict[str, Callable[[np.ndarray], np.ndarray]]:
    """Wrong: a whitening that leaves the correlations."""
    return {**scalers(), WHITE: lambda X: tw.scaling.ZScore().fit_transform(X)}


def experiment(
    setting: Setting, *, make: Callable[[], dict[str, Callable[[np.ndarray], np.ndarray]]] = scalers
) -> Findings:
    """κ and steps of gradient descent on two tables, as they come and scaled in six ways."""
    scaled = make()
    tables = {name: _data(setting, name) for name in ("@cancer", "@wine")}
    trials = {
        name: {how: _descend(setting, scale(X), y) for how, scale in scaled.items()}
        for name, (X, y) in tables.items()
    }
    X = tables["@cancer"][0]
    long_tail = X[:, [COLUMNS.index(SKEWED)]]
    shares = {how: _lowest(scaled[how](long_tail)) for how in (RANGE, LOG_RANGE)}
    checks = [
        _formulas(scaled, [X for X, _ in tables.values()]),
        *_faster(trials),
        _unit_diagonal(scaled, [X for X, _ in tables.values()]),
        _whitened(trials),
        Check(
            "the logarithm spreads out a skewed column that min-max scaling has in a corner",
            shares[RANGE] >= 0.75 and shares[LOG_RANGE] <= 0.5 * shares[RANGE],
            f"{SKEWED}: {shares[RANGE]:.0%} of the values in the lowest tenth of the range, "
            f"{shares[LOG_RANGE]:.0%} with the logarithm",
        ),
    ]
    rows = tuple(
        (name[1:], how, trial.kappa, _count(trial), trial.bound)
        for name, of_table in trials.items()
        for how, trial in of_table.items()
    )
    heads = ("data", "scaling", "κ", f"steps to {SHARE:g} of the first gap", "allowed by theory")
    return Findings(
        checks,
        [Sheet("Condition number and steps of gradient descent, step 1/L", heads, rows)],
        [
            _contours(scaled, *_two_features(setting)),
            _curves(trials["@cancer"]),
            _histograms(scaled, long_tail),
        ],
        [
            "least squares with an intercept on 80 % of the rows, drawn by the seed: breast "
            f"cancer ({len(COLUMNS)} of 30 columns) and wine (13 columns, class 3 against the rest)"
        ],
    )


def _data(setting: Setting, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Rows drawn by the seed, and a target of 0 and 1."""
    table = tw.read(name, dtype="float64")
    labels = np.asarray(table.y)
    X, y = np.asarray(table.X), (labels == labels.max()).astype(float)
    if name == "@cancer":
        X = X[:, [list(table.feature_names).index(column) for column in COLUMNS]]
    kept = setting.rng(name).permutation(len(y))[: int(0.8 * len(y))]
    return X[kept], y[kept]


def _two_features(setting: Setting) -> tuple[np.ndarray, np.ndarray]:
    """Radius and texture, and a target without its mean: a problem of two weights."""
    X, y = _data(setting, "@cancer")
    return X[:, :2], y - y.mean()


def _descend(
    setting: Setting, Z: np.ndarray, y: np.ndarray, *, fit_intercept: bool = True
) -> Trial:
    budget = setting.pick(glance=3_000, quick=10_000, full=300_000)
    problem = tw.LinearProblem(Z, y, "squared", fit_intercept=fit_intercept)
    low, high = _ends(Z, fit_intercept)
    best = tw.minimize(problem, "newton", tol=1e-14, progress=False).value
    first = problem.value(problem.start) - best
    gaps = [1.0]

    def note(step: Any) -> bool:
        gaps.append((step.value - best) / first)
        return gaps[-1] <= SHARE

    tw.minimize(
        problem, tw.GD(step=1.0 / high), tol=1e-300, max_iter=budget, progress=False, callback=note
    )
    allowed = tw.theory.gradient_descent.linear_iterations(
        1.0, SHARE, smoothness=high, strong_convexity=low, step=1.0 / high
    )
    return Trial(high / low, len(gaps) - 1, gaps[-1] <= SHARE, allowed, np.array(gaps))


def _ends(Z: np.ndarray, fit_intercept: bool = True) -> tuple[float, float]:
    """λ_min and λ_max of the Hessian."""
    rows = np.column_stack([Z, np.ones(len(Z))]) if fit_intercept else Z
    roots = np.linalg.svd(rows / np.sqrt(len(Z)), compute_uv=False)
    return float(roots[-1] ** 2), float(roots[0] ** 2)


def _formulas(scaled: Scalers, tables: list[np.ndarray]) -> Check:
    """Each scaling beside the slide's formula, written out."""
    off = 0.0
    for X in tables:
        low, high, mean, spread = X.min(0), X.max(0), X.mean(0), np.std(X, axis=0)
        by_hand = {
            RANGE: (X - low) / (high - low),
            BELOW: (X - low) / (high - low) - 1.0,
            MEAN: (X - mean) / (high - low),
            Z: (X - mean) / spread,
        }
        off = max(off, *(np.abs(scaled[how](X) - Z).max() for how, Z in by_hand.items()))
        white = scaled[WHITE](X)
        off = max(off, np.abs(white.mean(0)).max(),
                  np.abs(white.T @ white / len(X) - np.eye(X.shape[1])).max())  # fmt: skip
    return Check(
        "min-max, mean and z-score follow their formulas; whitening has covariance I",
        off <= 1e-8, f"off by {off:.1g} at most",
    )  # fmt: skip


def _faster(trials: dict[str, dict[str, Trial]]) -> list[Check]:
    drops = [of[RAW].kappa / of[how].kappa for of in trials.values() for how in SCALINGS]
    gains = [of[RAW].steps / of[how].steps for of in trials.values() for how in SCALINGS]
    slowest = max(of[how].steps for of in trials.values() for how in SCALINGS)
    every = [trial for of in trials.values() for trial in of.values()]
    raw = [of[RAW] for of in trials.values()]
    return [
        Check(
            # Units from 10⁻³ to 10³ put 10⁶ into κ; 10⁴ leaves room for other rows.
            "each of the four scalings of columns divides κ by 10⁴ or more", min(drops) >= 1e4,
            f"by {min(drops):.2g} to {max(drops):.2g}; from {min(t.kappa for t in raw):.2g} or "
            "more as it comes",
        ),
        Check(
            "gradient descent is much faster with each of them",
            not any(t.reached for t in raw) and min(gains) > 1.0,
            f"at most {slowest:,} steps; unscaled not in {raw[0].steps:,}, and "
            f"{min(t.bound for t in raw):.2g} or more are allowed",
        ),
        Check(
            "the steps are within those that κ allows", all(t.steps <= t.bound for t in every),
            f"at most {max(t.steps / t.bound for t in every if t.bound > 1):.2g} of them",
        ),
    ]  # fmt: skip


def _unit_diagonal(scaled: Scalers, tables: list[np.ndarray]) -> Check:
    """Van der Sluis: the z-score is within a factor d of every other scaling of the columns."""
    worst = 0.0
    for X in tables:
        centred = [scaled[how](X) for how in (RAW, RANGE, BELOW, MEAN)]
        others = [_ends(Z - Z.mean(0), fit_intercept=False) for Z in centred]
        low, high = _ends(scaled[Z](X), fit_intercept=False)
        worst = max(worst, *(high / low / (b / a) / X.shape[1] for a, b in others))
    return Check(
        "the z-score has at most d times the κ of any other scaling of the columns", worst <= 1.0,
        f"at most {worst:.2g} of what the theorem allows",
    )  # fmt: skip


def _whitened(trials: dict[str, dict[str, Trial]]) -> Check:
    white = [of[WHITE] for of in trials.values()]
    kappa, steps = max(t.kappa for t in white), max(t.steps for t in white)
    return Check(
        "after whitening κ = 1, and the first step reaches the minimum",
        abs(kappa - 1.0) <= 1e-6 and steps == 1, f"κ − 1 = {kappa - 1.0:.1g}, steps: {steps}",
    )  # fmt: skip


def _lowest(column: np.ndarray) -> float:
    """The share of values in the lowest tenth of the range."""
    low, high = column.min(), column.max()
    return float(np.mean(column <= low + 0.1 * (high - low)))


def _count(trial: Trial) -> str | int:
    return trial.steps if trial.reached else f"> {trial.steps:,}"


def _contours(scaled: Scalers, X: np.ndarray, y: np.ndarray) -> Figure:
    """f over both weights, and the way of gradient descent from zero."""
    drawn, told = [], []
    for how in (RAW, RANGE, Z, WHITE):
        Z_ = scaled[how](X)
        drawn_panel, words = _contour_panel(Z_, y, how)
        drawn.append(drawn_panel)
        told.append(words)
    return figure(
        "Two features: the loss over both weights", drawn, " ".join(told),
        "breast cancer, mean radius and mean texture, no intercept; circle: start, cross: minimum",
        columns=2,
    )  # fmt: skip


def _contour_panel(Z_: np.ndarray, y: np.ndarray, how: str) -> tuple[Panel, str]:
    problem = tw.LinearProblem(Z_, y, "squared", fit_intercept=False)
    low, high = _ends(Z_, fit_intercept=False)
    way = [np.zeros(2)]
    best = np.linalg.lstsq(Z_, y)[0]

    def note(step: Any) -> bool:
        way.append(np.array(step.w))
        return float(np.linalg.norm(step.w - best)) <= 1e-3 * float(np.linalg.norm(best))

    run = tw.minimize(
        problem, tw.GD(step=1.0 / high), tol=1e-300, max_iter=2_000, progress=False,
        callback=note,
    )  # fmt: skip
    reach = 1.5 * np.linalg.norm(best)
    across = np.linspace(-reach, reach, 61)
    off = np.stack(np.meshgrid(across, across), -1)
    heights = 0.5 * np.einsum("...i,ij,...j", off, Z_.T @ Z_ / len(y), off)
    path = np.array(way)
    marks = (
        Contour(best[0] + across, best[1] + across, heights,
                heights.max() * np.geomspace(1e-3, 0.8, 8)),
        curve("gd", path[:, 0], path[:, 1], Style("vermilion", shape="circle")),
        Point("", 0.0, 0.0, "circle"),
        Point("", float(best[0]), float(best[1]), "cross"),
    )  # fmt: skip
    words = f"{how}: κ = {high / low:.3g}, {_steps_of(run.iterations)}"
    return panel("first weight", "second weight", marks, title=words), f"{words}."


def _steps_of(count: int) -> str:
    return "1 step" if count == 1 else f"{count:,} steps"


def _curves(trials: dict[str, Trial]) -> Figure:
    drawn = []
    for hue, (how, trial) in enumerate(trials.items()):
        # Evenly on the log axis: the first steps are worth seeing.
        steps = np.unique(np.geomspace(1, len(trial.gaps) - 1, 200).astype(int))
        shares = np.maximum(trial.gaps[steps], 0.1 * SHARE)
        drawn.append(curve(how, steps, shares, hue, dots=len(steps) < 30))
    told = " ".join(f"{how}: {_count(trial)} steps." for how, trial in trials.items())
    return figure(
        "Gradient descent before and after scaling",
        panel("step", "share of the first gap", drawn, log="xy"),
        f"Breast cancer. {told}",
        f"shares below {0.1 * SHARE:g} are drawn there",
    )


def _histograms(scaled: Scalers, column: np.ndarray) -> Figure:
    drawn = []
    for hue, how in ((2, RANGE), (1, LOG_RANGE)):
        heights, edges = np.histogram(scaled[how](column), bins=20, range=(0.0, 1.0))
        style = Style(("ink", "blue", "vermilion")[hue])
        drawn.append(panel("scaled value", "cells", [Histogram("", edges, heights, style)],
                           title=how))  # fmt: skip
    return figure(
        f"A skewed column ({SKEWED}) in its range", drawn,
        f"{_lowest(scaled[RANGE](column)):.0%} of the values lie in the lowest tenth of the range; "
        f"with the logarithm {_lowest(scaled[LOG_RANGE](column)):.0%} do.",
        columns=2,
    )  # fmt: skip


LAB = Lab(
    name="scaling",
    claim="Gradient descent converges much faster with scaled features: min-max to [0, 1] or "
    "[−1, 0], mean normalization, z-score; the logarithm first where data is skewed; whitening.",
    formula="x′ = (x − min)/(max − min)\nx′ = (x − mean)/(max − min)\nx′ = (x − μ)/σ",
    places=("A, Data Preprocessing", "C, Future Normalization", "C, Internal Covariate Shift"),
    expected=Ruling.HOLDS,
    experiment=experiment,
    breaks=(
        Break("uncentred", "a z-score that does not subtract the mean", {"make": without_mean}),
        Break("correlated", "a whitening that leaves the correlations", {"make": without_turning}),
    ),
    fails_if="a scaling of columns that divides κ by less than 10⁴, or after which gradient "
    "descent takes more steps than κ allows or than unscaled; κ other than 1 after whitening",
    code="""\
import numpy as np
import thalweg as tw

table = tw.read("@wine", dtype="float64")
y = (table.y == 2).astype(float)
for scaler in (None, tw.scaling.MinMaxScaler(), tw.scaling.ZScore(), tw.scaling.Whitening()):
    X = table.X if scaler is None else scaler.fit_transform(table.X)
    problem = tw.LinearProblem(X, y, "squared")
    run = tw.minimize(problem, "gd", tol=1e-4, max_iter=3000, progress=False)
    kappa = np.linalg.cond(np.column_stack([X, np.ones(len(X))])) ** 2
    print(f"{scaler}: κ = {kappa:.3g}, {run.iterations} steps, {run.outcome.word.lower()}")
assert run.converged and kappa < 1.001
""",
    seconds=2.6,
    remark="The range [−1, 0] is the slide's; [−1, 1] is usual. It helps, but less than [0, 1] "
    "where most values of a column are small: they then lie far from zero, and the columns are "
    "correlated with the intercept. The logarithm shortens tails; κ it may lower "
    "or raise a little.",
)
