"""Another data set is another loss surface, with another minimum.

A training loss is a mean over the rows that were drawn, f̂(w) = (1/n) Σᵢ ℓᵢ(w). Another sample is
another function. At a fixed w the two differ like the means of n numbers do,

    f̂₁(w) − f̂₂(w) ~ √(2 Var[ℓ(w)] / n)

and so do their minima. With H the Hessian and S the covariance of a row's gradient, both of the
population and at its minimizer w*, a Newton step from w* gives

    ŵ − w* ≈ −H⁻¹∇f̂(w*)          E‖ŵ − w*‖² ≈ tr(H⁻¹SH⁻¹) / n

So the minimum that was found comes to that of the population like 1/√n, if the rows are drawn from
the population. If they are drawn from a part of it, it comes to the minimum of that part: more rows
of the wrong kind do not help.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import thalweg as tw
from thalweg.labbook import (
    Break,
    Check,
    Contour,
    Figure,
    Findings,
    Lab,
    Point,
    Ruling,
    Setting,
    Sheet,
    curve,
    figure,
    panel,
)

BMI, PRESSURE = 2, 3  # columns of diabetes: two that the picture of the surface is about
L2 = 0.01
ROOM = 0.2  # of an exponent: three deviations of one that is fitted to 40 pairs of samples
Draw = Callable[[np.random.Generator, np.ndarray, int], np.ndarray]


class Population(NamedTuple):
    """Rows that samples are drawn from, their minimizer, and what theory needs."""

    X: np.ndarray
    y: np.ndarray
    w: np.ndarray  # w*
    constant: float  # tr(H⁻¹SH⁻¹)

    def problem(self, rows: np.ndarray) -> tw.LinearProblem:
        """The loss on some of the rows."""
        return tw.LinearProblem(self.X[rows], self.y[rows], "squared", l2=L2, fit_intercept=False)


class Spread(NamedTuple):
    """Of many samples of n rows."""

    n: int
    from_truth: float  # root of the mean of ‖ŵ − w*‖²
    apart: float  # of ‖ŵ₁ − ŵ₂‖²
    surfaces: float  # of (f̂₁(w*) − f̂₂(w*))²
    excess: float  # mean of f(ŵ) − f(w*)


def at_random(rng: np.random.Generator, rows: np.ndarray, n: int) -> np.ndarray:
    """n of the rows, each as likely as any other at every draw."""
    return rng.choice(rows, n)


def experiment(setting: Setting, *, draw: Draw = at_random) -> Findings:
    """Samples of diabetes patients of growing size: their minima, and those of a part of them."""
    population = _population()
    every = np.arange(len(population.y))
    sizes = setting.pick(
        glance=(50, 200, 800, 3_200),
        quick=(50, 100, 200, 400, 800, 1_600, 3_200),
        full=(50, 100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800),
    )
    large = np.array(sizes) >= 200  # where the expansion at w* has become good
    pairs = setting.pick(glance=40, quick=200, full=2_000)
    fair = [_spread(setting, population, every, n, pairs, draw, "fair") for n in sizes]
    heavy = every[population.X[:, BMI] > 0.0]
    part = [_spread(setting, population, heavy, n, pairs, draw, "part") for n in sizes]
    n = np.array(sizes)
    predicted = np.sqrt(population.constant / n)
    slopes = {
        name: float(np.polyfit(np.log(n[large]), np.log(np.maximum(values, 1e-300)[large]), 1)[0])
        for name, values in {
            "minima": [each.apart for each in fair], "surfaces": [each.surfaces for each in fair],
        }.items()
    }  # fmt: skip
    ratios = (np.array([each.from_truth for each in fair]) / predicted)[large]
    floor = np.linalg.norm(_minimizer(population, heavy) - population.w)
    checks = [
        Check(
            "two samples have two loss surfaces: they differ at w* like 1/√n",
            abs(slopes["surfaces"] + 0.5) <= ROOM, f"exponent {slopes['surfaces']:.2f}",
        ),
        Check(
            "and two minima, which come together like 1/√n",
            abs(slopes["minima"] + 0.5) <= ROOM,
            f"exponent {slopes['minima']:.2f}; {fair[0].apart:.1f} apart for n = {sizes[0]}, "
            f"{fair[-1].apart:.1f} for {sizes[-1]:,}",
        ),
        Check(
            "the distance to the population's minimum is √(tr(H⁻¹SH⁻¹)/n), from n = 200 on",
            np.all(np.abs(ratios - 1.0) <= 0.25),
            f"{ratios.min():.2f} to {ratios.max():.2f} of theory's",
        ),
        Check(
            "rows of a part of the population lead to another minimum, however many there are",
            part[-1].from_truth > 0.8 * floor and part[-1].from_truth > 2.0 * fair[-1].from_truth,
            f"{part[-1].from_truth:.1f} away with {sizes[-1]:,} rows, {fair[-1].from_truth:.1f} "
            "with as many of all",
        ),
        Check(
            "which costs more on the population than a few rows of all",
            part[-1].excess > fair[-1].excess,
            f"{part[-1].excess:.1f} above the least loss, {fair[-1].excess:.2f} with rows of all",
        ),
    ]  # fmt: skip
    rows = [
        (a.n, a.apart, a.from_truth, p, b.from_truth)
        for a, p, b in zip(fair, predicted, part, strict=True)
    ]
    heads = ("n", "‖ŵ₁ − ŵ₂‖", "‖ŵ − w*‖", "theory", "‖ŵ − w*‖, a part")
    note = (
        f"ridge regression (l2 = {L2}) on the 442 patients of diabetes, z-scores, which are the "
        f"population; {pairs} pairs of samples of each size; the part: those above the mean body "
        "mass index"
    )
    return Findings(
        checks,
        [Sheet("Minima of samples", heads, rows)],
        [_distances(sizes, fair, part, predicted), _surfaces(setting, population, every, draw)],
        [note],
    )


def _population() -> Population:
    table = tw.read("@diabetes")
    X = tw.scaling.ZScore().fit_transform(table.X)
    y = np.asarray(table.y, dtype=float)
    y = y - y.mean()
    whole = Population(X, y, np.zeros(X.shape[1]), 0.0)
    w = _minimizer(whole, np.arange(len(y)))
    gradients = X * (X @ w - y)[:, None] + L2 * w
    H = X.T @ X / len(y) + L2 * np.eye(len(w))
    inverse = np.linalg.inv(H)
    constant = float(np.trace(inverse @ np.cov(gradients.T, bias=True) @ inverse))
    return Population(X, y, w, constant)


def _minimizer(population: Population, rows: np.ndarray) -> np.ndarray:
    return tw.minimize(population.problem(rows), "cholesky", progress=False).w


def _spread(
    setting: Setting,
    population: Population,
    rows: np.ndarray,
    n: int,
    pairs: int,
    draw: Draw,
    name: str,
) -> Spread:
    rng = setting.rng(name, n)
    whole = population.problem(np.arange(len(population.y)))
    least = whole.value(population.w)
    squares = []
    for _ in range(pairs):
        samples = [draw(rng, rows, n) for _ in range(2)]
        first, second = (_minimizer(population, each) for each in samples)
        values = [population.problem(each).value(population.w) for each in samples]
        squares.append(
            (
                np.sum((first - population.w) ** 2), np.sum((first - second) ** 2),
                (values[0] - values[1]) ** 2, whole.value(first) - least,
            )
        )  # fmt: skip
    means = np.mean(squares, axis=0)
    from_truth, apart, surfaces = np.sqrt(means[:3]).tolist()
    return Spread(n, from_truth, apart, surfaces, float(means[3]))


def _distances(
    sizes: tuple[int, ...], fair: list[Spread], part: list[Spread], predicted: np.ndarray
) -> Figure:
    drawn = panel(
        "rows n", "distance from the population's minimum",
        [
            curve("rows of all", sizes, [each.from_truth for each in fair], 1, dots=True),
            curve("√(tr(H⁻¹SH⁻¹)/n)", sizes, predicted, 1, theory=True),
            curve("rows of a part", sizes, [each.from_truth for each in part], 2, dots=True),
        ],
        log="xy",
    )  # fmt: skip
    summary = (
        f"With rows of all the distance falls from {fair[0].from_truth:.1f} to "
        f"{fair[-1].from_truth:.1f} on the line of theory; with rows of a part it stays at "
        f"{part[-1].from_truth:.1f}."
    )
    return figure("How far the minimum of a sample is away", drawn, summary)


def _surfaces(setting: Setting, population: Population, every: np.ndarray, draw: Draw) -> Figure:
    """The loss of two samples of 50 over two coefficients, the others as in w*."""
    rng = setting.rng("picture")
    spans = [population.w[k] + np.linspace(-30.0, 30.0, 41) for k in (BMI, PRESSURE)]
    panels = []
    for title in ("a sample of 50 rows", "another one"):
        problem = population.problem(draw(rng, every, 50))
        w = np.array(population.w)
        heights = np.empty((41, 41))
        for i, b in enumerate(spans[1]):
            for j, a in enumerate(spans[0]):
                w[[BMI, PRESSURE]] = a, b
                heights[i, j] = problem.value(w)
        lowest = np.unravel_index(heights.argmin(), heights.shape)
        levels = heights.min() + np.geomspace(5.0, 0.9 * np.ptp(heights), 8)
        panels.append(
            panel(
                "coefficient of the body mass", "of the blood pressure",
                [
                    Contour(spans[0], spans[1], heights, levels),
                    Point("its minimum", spans[0][lowest[1]], spans[1][lowest[0]]),
                    Point("the population's", population.w[BMI], population.w[PRESSURE], "cross"),
                ],
                title=title,
            )
        )  # fmt: skip
    summary = "Two samples of the same population: level lines and minima are not the same."
    return figure("Two samples, two surfaces", panels, summary, columns=2)


def the_same_rows(rng: np.random.Generator, rows: np.ndarray, n: int) -> np.ndarray:
    """The first n rows, again and again: no sample at all."""
    return np.resize(rows, n)


LAB = Lab(
    name="representative-data",
    claim="A different data set has a different loss surface, so the minimum that was found need "
    "not be that of the population unless the data represent it.",
    formula="E‖ŵ − w*‖² ≈ tr(H⁻¹SH⁻¹) / n",
    places=("C, Challenges with optimization",),
    expected=Ruling.HOLDS,
    experiment=experiment,
    breaks=(Break("draw", "the same rows each time", {"draw": the_same_rows}),),
    fails_if="minima of two samples that do not come together like 1/√n, a distance that is a "
    "quarter off theory's, or rows of a part of the population that lead to its minimum",
    code="""\
import numpy as np, thalweg as tw

table = tw.read("@diabetes")
X, y = tw.scaling.ZScore().fit_transform(table.X), table.y - table.y.mean()
rng = np.random.default_rng(0)
for n in (50, 200, 800, 3200):
    found = []
    for _ in range(40):
        rows = rng.integers(len(y), size=n)
        found.append(tw.minimize(tw.LinearProblem(X[rows], y[rows], l2=0.01), "cholesky").w)
    print(f"{n:5} rows: minima spread by {np.std(found, axis=0).mean():.2f}")
""",
    seconds=11.0,
)
