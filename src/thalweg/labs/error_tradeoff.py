"""Simple models err by what they cannot say, rich ones by what they learn.

Let f* be the best function of a class F, f̂ the one that fits n samples best, and f_B the best of
all functions. What f̂ loses against f_B has two parts:

    err(f̂) − err(f_B) = [err(f̂) − err(f*)] + [err(f*) − err(f_B)]
                            learning            approximation

A larger F contains better functions, so that its approximation error is smaller, and is harder to
pin down with n samples. For least squares on polynomials of degree d, with noise of deviation σ,
err is the mean square and f* the projection of f_B, so that the two parts add up as squares:

    ‖f̂ − f_B‖² = ‖f̂ − f*‖² + ‖f* − f_B‖²        E‖f̂ − f*‖² ≈ σ²(d + 1)/n

for every one of the d + 1 coefficients of orthonormal polynomials is a mean of n noises. The
distance ‖f̂ − f*‖ is then σ√(complexity/n), with d + 1 for the complexity: the lecture's formula.
It needs several samples a coefficient; degree 20 on 21 points is worse than it says.

For classifiers, where err counts mistakes, √(complexity/n) is what the least favourable
distribution gives. With k cells and labels that are +1 with probability ½ ± h, the majority of n/k
votes is wrong with probability Φ(−2h√(n/k)) and then costs 2h. The worst h is 0.376·√(k/n), where

    E err(f̂) − err(f*) = 2h Φ(−2h√(n/k)) = 0.170 √(k/n)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.polynomial import chebyshev

import thalweg as tw
from thalweg.figures.spec import Mark
from thalweg.labbook import (
    NOTED,
    Axis,
    Break,
    Check,
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

POINTS = 21
NOISE = 0.5  # σ
SIMPLE, RIGHT, RICH = 1, 2, 20  # the lecture's degrees
QUIET = 0.1  # σ of the second truth, whose approximation error never ends
# cos πu for even u: means over D, to rounding for polynomials (Gauss & Chebyshev).
NODES = np.cos(np.pi * (np.arange(1_000) + 0.5) / 1_000)
MARGINS = 0.376 * np.geomspace(0.25, 4.0, 9)  # h in units of √(k/n), the worst one amid them
WORST = 0.170  # max over c of 2cΦ(−2c)
FINITE = 0.1  # by how much 16 samples a coefficient may leave the formula: its next term is ~ 1/16

Truth = Callable[[np.ndarray], np.ndarray]


def quadratic(x: np.ndarray) -> np.ndarray:
    """The lecture's truth, up to its numbers."""
    return 2.0 * x**2 + x


def kinked(x: np.ndarray) -> np.ndarray:
    """A truth that no polynomial equals."""
    return np.abs(x - 0.3)


class Errors(NamedTuple):
    """Distances of one class, root mean square over x."""

    learning: np.ndarray  # ‖f̂ − f*‖ of every draw
    approximation: float  # ‖f* − f_B‖
    total: np.ndarray  # ‖f̂ − f_B‖ of every draw, by quadrature
    predicted: float  # σ√((d + 1)/n)

    @property
    def rms(self) -> float:
        """√ of the mean of ‖f̂ − f*‖²."""
        return float(np.sqrt(np.mean(self.learning**2)))


def points(n: int, rng: np.random.Generator) -> np.ndarray:
    """n points of D, one in each n-th part of it: denser at the ends, where polynomials are wild.

    Drawn without regard to each other, two of 21 points may nearly coincide, and degree 20 then
    errs by millions.
    """
    return np.cos(np.pi * (np.arange(n) + rng.random(n)) / n)


def features(x: np.ndarray, degree: int) -> np.ndarray:
    """φ₀ … φ_d, orthonormal under D: they span what 1, x, … x^d span."""
    phi = chebyshev.chebvander(x, degree)
    phi[:, 1:] *= math.sqrt(2.0)
    return phi


def fitted(x: np.ndarray, y: np.ndarray, degree: int, l2: float) -> np.ndarray:
    """f̂: the least squares fit, as coefficients of φ."""
    problem = tw.LinearProblem(features(x, degree), y, "squared", l2=l2, fit_intercept=False)
    return tw.minimize(problem, "cholesky", tol=1e-8, max_iter=3, progress=False).w


def errors(
    truth: Truth, noise: float, degree: int, n: int, draws: int, l2: float, rng: np.random.Generator
) -> Errors:
    """Both errors of polynomials of this degree, over `draws` samples of n points."""
    grid, wanted = features(NODES, degree), truth(NODES)
    best = grid.T @ wanted / len(NODES)  # f*, the projection
    approximation = math.sqrt(np.mean((grid @ best - wanted) ** 2))
    if approximation < 1e-12:  # rounding of a truth that is in the class
        approximation = 0.0
    learning, total = [], []
    for _ in range(draws):
        x = points(n, rng)
        w = fitted(x, truth(x) + noise * rng.standard_normal(n), degree, l2)
        learning.append(np.linalg.norm(w - best))
        total.append(math.sqrt(np.mean((grid @ w - wanted) ** 2)))
    predicted = noise * math.sqrt((degree + 1) / n)
    return Errors(np.array(learning), approximation, np.array(total), predicted)


def worst_vote(k: int, n: int, cells: int, rng: np.random.Generator) -> float:
    """err(f̂) − err(f*) of majority votes in k cells of n samples, at the worst margin h.

    The majority of a cell minimises the empirical 0/1 risk there, so that no solver is needed.
    """
    found = []
    for margin in MARGINS * math.sqrt(k / n):
        votes = rng.multinomial(n, np.full(k, 1.0 / k), max(1, cells // k))
        ahead = 2.0 * rng.binomial(votes, 0.5 + margin) - votes
        wrong = np.mean(ahead < 0) + 0.5 * np.mean(ahead == 0)
        found.append(2.0 * margin * wrong)
    return max(found)


def experiment(setting: Setting, *, l2: float = 0.0) -> Findings:
    """Polynomial least squares of growing degree, with a penalty `l2` that should be 0."""
    draws = setting.pick(glance=25, quick=100, full=2_000)
    degrees = setting.pick(
        glance=[SIMPLE, RIGHT, RICH], quick=[1, 2, 3, 4, 6, 8, 10, 13, 16, 20],
        full=list(range(1, 21)),
    )  # fmt: skip
    at_21 = {
        d: errors(quadratic, NOISE, d, POINTS, draws, l2, setting.rng("21", d)) for d in degrees
    }
    freedom = setting.pick(glance=150, quick=400, full=6_000)  # squared normals in a mean
    sizes = setting.pick(glance=(16, 512), quick=(16, 128, 1_024), full=(16, 64, 256, 1_024))
    by_n = {
        d: [
            (n, errors(quadratic, NOISE, d, n, -(-freedom // (d + 1)), l2, setting.rng("n", d, n)))
            for n in (each * (d + 1) for each in sizes)
        ]
        for d in (SIMPLE, RIGHT, RICH)
    }
    kink = _kink(setting, l2)
    cells = setting.pick(glance=4_000, quick=20_000, full=400_000)
    votes = {
        (k, n): worst_vote(k, n, cells, setting.rng("votes", k, n))
        for k in (4, 16, 64) for n in (1_600, 6_400, 25_600)
    }  # fmt: skip
    checks = [
        *_illustration(at_21, by_n), *_formula(by_n, freedom), *_kink_checks(kink), _votes(votes),
    ]  # fmt: skip
    return Findings(
        checks,
        [_table(at_21)],
        [_picture(setting, l2), _curves(at_21, by_n, kink, votes)],
        [
            f"truth 2x² + x with σ = {NOISE}, {draws} draws of {POINTS} points; second truth "
            f"|x − 0.3| with σ = {QUIET}. Points are cos πu, one u at random in each n-th part of "
            "[0, 1]. The powers of x are written in orthonormal polynomials of the same span.",
        ],
    )


def _kink(setting: Setting, l2: float) -> dict[int, dict[int, Errors]]:
    """Both errors for the truth with a kink, by n and degree."""
    degrees = setting.pick(
        glance=[1, 6, 20], quick=[1, 2, 4, 6, 9, 12, 16, 20], full=list(range(1, 25))
    )
    draws = setting.pick(glance=5, quick=20, full=200)
    return {
        n: {d: errors(kinked, QUIET, d, n, draws, l2, setting.rng("kink", n, d)) for d in degrees}
        for n in (POINTS, 100 * POINTS)
    }


def _illustration(
    at_21: dict[int, Errors], by_n: dict[int, list[tuple[int, Errors]]]
) -> list[Check]:
    """The lecture's three degrees on 21 points."""
    simple, right, rich = (at_21[d] for d in (SIMPLE, RIGHT, RICH))
    medians = {d: float(np.median(each.total)) for d, each in at_21.items()}
    best = min(medians, key=medians.__getitem__)
    below = np.mean(simple.learning < simple.approximation)
    last = by_n[SIMPLE][-1]
    off = max(
        float(np.max(np.abs(1.0 - (each.learning**2 + each.approximation**2) / each.total**2)))
        for each in at_21.values()
    )
    return [
        Check(
            "the squared error is the sum of the two squared parts, in every draw", off < 1e-6,
            f"off by at most {off:.1g} of it, over {sum(len(e.total) for e in at_21.values()):,} "
            "fits",
        ),
        Check(
            "degree 1: the approximation error dominates",
            bool(below > 0.8),
            f"{simple.approximation:.3f}, learning {np.median(simple.learning):.3f}, in "
            f"{below:.0%} of the draws below it; with n = {last[0]} samples still "
            f"{last[1].approximation:.3f}, learning {last[1].rms:.3f}",
        ),
        Check(
            # 21 coefficients against 3: √7 by the formula, and more with one sample for each.
            "degree 20: the learning error dominates, and is more than √7 times that of degree 2",
            bool(np.median(rich.learning) > math.sqrt(7.0) * np.median(right.learning))
            and rich.approximation == 0.0,
            f"median {np.median(rich.learning):.3g}, of degree 2 {np.median(right.learning):.3g}; "
            "approximation 0",
        ),
        Check(
            "degree 2 balances the two: the lowest total of all degrees", best == RIGHT,
            ", ".join(f"{medians[d]:.3g} at degree {d}" for d in (SIMPLE, RIGHT, RICH)),
        ),
    ]  # fmt: skip


def _formula(by_n: dict[int, list[tuple[int, Errors]]], freedom: int) -> list[Check]:
    """The learning error beside √(complexity/n)."""
    # A mean of `freedom` squared normals has the relative deviation √(2/freedom), its root half.
    spread = 1.0 / math.sqrt(2.0 * freedom)
    room = FINITE + 4.0 * spread
    ratios = [each.rms / each.predicted for row in by_n.values() for _, each in row]
    slopes = {
        d: math.log(row[-1][1].rms / row[0][1].rms) / math.log(row[-1][0] / row[0][0])
        for d, row in by_n.items()
    }
    rich, right = by_n[RICH][-1], by_n[RIGHT][-1]
    growth = math.log(
        (rich[1].rms * math.sqrt(rich[0])) / (right[1].rms * math.sqrt(right[0]))
    ) / math.log((RICH + 1) / (RIGHT + 1))
    # The ratio of two such roots, over the logarithm of the range; 0.03 for finite n.
    bend = 0.03 + 4.0 * math.sqrt(2.0) * spread / math.log(by_n[RICH][-1][0] / by_n[RICH][0][0])
    tilt = 0.03 + 4.0 * math.sqrt(2.0) * spread / math.log((RICH + 1) / (RIGHT + 1))
    return [
        Check(
            "‖f̂ − f*‖ is √(complexity/n) times σ, with 16 samples a coefficient or more",
            all(abs(each - 1.0) < room for each in ratios),
            f"{min(ratios):.3f} to {max(ratios):.3f} of it over {len(ratios)} classes and sizes, "
            f"room {room:.2f}",
        ),
        Check(
            "it falls like n^(−1/2)", all(abs(each + 0.5) < bend for each in slopes.values()),
            ", ".join(f"n^{each:.3f} for degree {d}" for d, each in slopes.items()),
        ),
        Check(
            "it grows like (d + 1)^(1/2)", abs(growth - 0.5) < tilt,
            f"(d + 1)^{growth:.3f} from degree {RIGHT} to {RICH}",
        ),
        Check(
            "as a mean square, err(f̂) − err(f*) falls like complexity/n, the square of the formula",
            all(abs(2.0 * each + 1.0) < 2.0 * bend for each in slopes.values()),
            ", ".join(f"n^{2.0 * each:.2f}" for each in slopes.values()), NOTED,
        ),
    ]  # fmt: skip


def _kink_checks(kink: dict[int, dict[int, Errors]]) -> list[Check]:
    """The trade-off where the approximation error never ends."""
    (n, few), (more, many) = kink.items()
    degrees = list(few)
    parts = np.array([few[d].approximation for d in degrees])
    best = [
        degrees[int(np.argmin([np.median(each[d].total) for d in degrees]))] for each in (few, many)
    ]
    first, last = few[degrees[0]], few[degrees[-1]]
    ratio = [float(np.median(each.learning)) / each.approximation for each in (first, last)]
    return [
        Check(
            "the approximation error falls with the degree", bool(np.all(np.diff(parts) < 0)),
            f"from {parts[0]:.3f} to {parts[-1]:.4f} for the truth with a kink",
        ),
        Check(
            "simple F: approximation dominates; complex F: learning dominates; the best degree "
            "grows with n",
            ratio[0] < 1.0 < ratio[1] and best[0] < best[1],
            f"learning/approximation {ratio[0]:.2g} at degree {degrees[0]}, {ratio[1]:.2g} at "
            f"degree {degrees[-1]}; best degree {best[0]} for n = {n}, {best[1]} for "
            f"n = {more:,}",
        ),
    ]  # fmt: skip


def _votes(votes: dict[tuple[int, int], float]) -> Check:
    constants = [excess / math.sqrt(k / n) for (k, n), excess in votes.items()]
    return Check(
        "classifiers: at the worst margin the learning error in mistakes is 0.170·√(k/n)",
        # Whole votes, and the largest of many noisy means, move it by some percent.
        all(abs(each / WORST - 1.0) < 0.15 for each in constants),
        f"{min(constants):.3f} to {max(constants):.3f} times √(k/n), for k of 4 to 64 cells and "
        "n of 1,600 to 25,600",
    )


def _table(at_21: dict[int, Errors]) -> Sheet:
    return Sheet(
        f"{POINTS} points, distances in root mean square; learning and total are medians",
        ("degree", "approximation", "learning", "total", "σ√((d + 1)/n)"),
        tuple(
            (
                d, each.approximation, np.median(each.learning), np.median(each.total),
                NOISE * math.sqrt((d + 1) / POINTS),
            )
            for d, each in at_21.items()
        ),
    )  # fmt: skip


def _picture(setting: Setting, l2: float) -> Figure:
    """One sample and the three fits."""
    rng = setting.rng("picture")
    x = points(POINTS, rng)
    y = quadratic(x) + NOISE * rng.standard_normal(POINTS)
    fine = np.linspace(-1.0, 1.0, 400)
    fits = {d: features(fine, d) @ fitted(x, y, d, l2) for d in (SIMPLE, RIGHT, RICH)}
    low, high = float(y.min()) - 0.8, float(y.max()) + 0.8
    marks: list[Mark] = [
        *(
            curve(f"degree {d}", fine, fit, k, decides_range=False)
            for k, (d, fit) in enumerate(fits.items(), 1)
        ),
        curve("truth", fine, quadratic(fine), 0, theory=True),
        *(Point("" if k else f"{POINTS} samples", x[k], y[k]) for k in range(POINTS)),
    ]
    wild = float(np.abs(fits[RICH]).max())
    return figure(
        f"{POINTS} samples of a quadratic, and fits of degree 1, 2 and 20",
        panel("x", Axis("y", low=low, high=high), marks),
        "The line misses the bend, the parabola is near the truth, and degree 20 goes through "
        f"every sample and reaches {wild:.3g} between them.",
    )


def _curves(
    at_21: dict[int, Errors],
    by_n: dict[int, list[tuple[int, Errors]]],
    kink: dict[int, dict[int, Errors]],
    votes: dict[tuple[int, int], float],
) -> Figure:
    degrees = np.array(list(at_21))
    n, few = next(iter(kink.items()))
    kinks = np.array(list(few))
    against_degree = panel(
        "degree", "root mean square",
        [
            curve("approximation error", degrees, [e.approximation for e in at_21.values()], 2,
                  dots=True),
            curve("learning error", degrees, [np.median(e.learning) for e in at_21.values()], 1,
                  dots=True),
            curve("σ√((d + 1)/n)", degrees, NOISE * np.sqrt((degrees + 1) / POINTS), 1,
                  theory=True),
        ],
        title=f"truth 2x² + x, n = {POINTS}",
    )  # fmt: skip
    with_kink = panel(
        "degree", "root mean square",
        [
            curve("approximation error", kinks, [e.approximation for e in few.values()], 2,
                  dots=True),
            curve("learning error", kinks, [np.median(e.learning) for e in few.values()], 1,
                  dots=True),
            curve("total", kinks, [np.median(e.total) for e in few.values()], 0),
        ],
        log="y", title=f"truth |x − 0.3|, n = {n}",
    )  # fmt: skip
    against_n = panel(
        "n", "learning error",
        [
            mark
            for hue, (d, row) in enumerate(by_n.items(), 3)
            for mark in (
                curve(f"degree {d}", [n for n, _ in row], [e.rms for _, e in row], hue, dots=True),
                curve("", [n for n, _ in row], [e.predicted for _, e in row], hue, theory=True),
            )
        ],
        log="xy", title="learning error and σ√(complexity/n)",
    )  # fmt: skip
    share = np.array([k / n for k, n in votes])
    order = np.argsort(share)
    mistakes = panel(
        "k/n", "mistakes too many",
        [
            curve("votes in k cells", share[order], np.array(list(votes.values()))[order], 6,
                  dots=True),
            curve("0.170·√(k/n)", share[order], WORST * np.sqrt(share[order]), 6, theory=True),
        ],
        log="xy", title="classifiers, worst margin",
    )  # fmt: skip
    return figure(
        "Learning and approximation error",
        [against_degree, with_kink, against_n, mistakes],
        "The learning error grows with the degree and the approximation error falls. With "
        f"{POINTS} samples of a quadratic, degree 1 errs by {at_21[SIMPLE].approximation:.2f} "
        f"whatever it learns, degree 20 by {np.median(at_21[RICH].learning):.3g} in what it "
        "learns. With n the learning error falls along √(complexity/n).",
        columns=2,
    )


LAB = Lab(
    name="error-tradeoff",
    claim="What a learned function loses against the best of all is a learning error, which grows "
    "like √(complexity/n), plus an approximation error, which falls with the complexity: the "
    "second dominates for simple classes, the first for complex ones.",
    formula="err(f̂) − err(f_Bayes) ∝ √(complexity(F)/n) + (err(f*) − err(f_Bayes))",
    places=(
        "A, Statistical Learning Guarantees",
        "A, Learning-Approx. Error Trade-off",
        "A, An Illustration",
        "A, Vary d",
    ),
    expected=Ruling.HOLDS,
    experiment=experiment,
    breaks=(Break("penalty", "fits held back by a penalty of 1, no minimisers", {"l2": 1.0}),),
    fails_if="a degree among 1, 2 and 20 at which the other part is the larger one, a best degree "
    "other than 2 on 21 points, or a learning error off σ√(complexity/n) by more than 10 % and "
    "the spread of the draws, for n ≥ 16(d + 1)",
    code="""\
import numpy as np, thalweg as tw
from numpy.polynomial.chebyshev import chebvander

rng = np.random.default_rng(0)
x = np.cos(np.pi * (np.arange(21) + rng.random(21)) / 21)
y = 2 * x**2 + x + 0.5 * rng.standard_normal(21)
fine = np.cos(np.linspace(0, np.pi, 1001))
error = {}
for d in (1, 2, 20):  # Chebyshev's polynomials span what 1, x, … x^d span
    run = tw.minimize(tw.LinearProblem(chebvander(x, d), y, fit_intercept=False), "cholesky")
    error[d] = np.sqrt(np.mean((chebvander(fine, d) @ run.w - 2 * fine**2 - fine) ** 2))
print({d: round(float(e), 3) for d, e in error.items()})
assert error[2] < error[1] < error[20]
""",
    seconds=2.8,
    remark="The slide names √(complexity/n) for err itself. For the mean square this is the rate "
    "of the distance ‖f̂ − f*‖; the error, its square, falls faster, like complexity/n. For the "
    "mistakes of classifiers it is the rate of the least favourable distribution, which is "
    "measured too. The formula also needs several samples a coefficient: at degree 20 and 21 "
    "points the error is above it.",
)
