"""SAG converges linearly with one gradient a step.

SAG keeps the last gradient yᵢ of each of N samples and their sum d. A step draws a sample at
random, refreshes its gradient, and moves along the mean:

    d ← d − yᵢ + fᵢ′(x)        yᵢ ← fᵢ′(x)        x ← x − (α/N) d

All yᵢ are zero at the start, and the sum is divided by N from the first step on. Gradients of other
samples are taken not to have changed. Since each is L-smooth, L = max Lᵢ with the penalty, that is
wrong by

    ‖d/N − ∇f(x)‖ ≤ (L/N) Σᵢ ‖x − xᵢ‖,     xᵢ where sample i was last seen,

which vanishes as the steps do; so SAG needs no shrinking step, as SGD does. Schmidt, Le Roux and
Bach prove, for f that is μ-strongly convex and α = 1/16L,

    E f(xᵗ) − f* ≤ (1 − min(μ/16L, 1/8N))ᵗ C
    C = f(x⁰) − f* + (4L/N)‖x⁰ − x*‖² + σ²/16L,     σ² = (1/N) Σᵢ ‖fᵢ′(x*)‖²

Where N ≥ 2L/μ, the second term rules: N steps, the price of one full gradient, shrink the error by
(1 − 1/8N)ᴺ ≤ e^(−1/8) = 0.8825, whatever the condition. Where N < 2L/μ, a step shrinks it by
1 − μ/16L. An iteration of gradient descent with the same α shrinks it by (1 − μ/16L)², a like
figure, at N times the price.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.special
import scipy.stats
from sklearn.preprocessing import normalize

import thalweg as tw
from thalweg.labbook import (
    NOTED,
    Break,
    Check,
    Curve,
    Figure,
    Findings,
    Lab,
    Panel,
    Ruling,
    Setting,
    Sheet,
    band,
    curve,
    figure,
    panel,
)
from thalweg.labbook.sources import Samples, samples

WELL, ILL = 3.0, 0.03  # l2 in units of L/N: the bound changes its form at 2
LEAST = 1e-13  # gaps below it are rounding
SURE = 0.9995  # of the one-sided confidence interval of a mean over seeds


class Forgetful(tw.SAG):
    """SAG that loses its memory after every pass."""

    def advance(self, problem, state):  # type: ignore[no-untyped-def]
        """One pass, begun without slopes."""
        state.slopes[:] = 0.0
        state.g[:] = 0.0
        return super().advance(problem, state)


class Course(NamedTuple):
    """Gaps of one problem after each pass, and the theorem's."""

    name: str
    problem: tw.LinearProblem
    sag: np.ndarray  # float64[seeds, passes + 1]
    sgd: np.ndarray  # mean over seeds, float64[passes + 1]
    gd: np.ndarray
    bound: np.ndarray
    constant: float  # C
    initial: float  # f(x⁰) − f*
    evaluations: np.ndarray  # by SAG in each pass, in full gradients

    @property
    def mean(self) -> np.ndarray:
        """Of SAG over the seeds."""
        return self.sag.mean(axis=0)

    @property
    def upper(self) -> np.ndarray:
        """Of the confidence interval of that mean."""
        seeds = len(self.sag)
        spread = self.sag.std(axis=0, ddof=1) / np.sqrt(seeds)
        return self.mean + scipy.stats.t.ppf(SURE, seeds - 1) * spread

    @property
    def rate(self) -> float:
        """By which the mean gap falls a pass, after the first, by least squares of its log."""
        shown = np.flatnonzero(self.mean > LEAST)[1:]
        return float(np.exp(np.polyfit(shown, np.log(self.mean[shown]), 1)[0]))


class Alike(NamedTuple):
    """SAG's steps beside gradient descent's iterations, both with α = 1/16L."""

    t: np.ndarray  # steps, a multiple of N
    sag: np.ndarray
    gd: np.ndarray
    N: int
    prices: tuple[int, int]  # sample gradients that each run counted

    @property
    def pace(self) -> float:
        """SAG's decay over the second half, in units of gradient descent's."""
        half, end = len(self.t) // 2, len(self.t) - 1
        falls = [np.log(gaps[half] / gaps[end]) for gaps in (self.sag, self.gd)]
        return float(falls[0] / falls[1])


class Staleness(NamedTuple):
    """How wrong the remembered gradients are, after each pass."""

    error: np.ndarray  # ‖d/N − ∇f‖
    gradient: np.ndarray  # ‖∇f‖
    step: np.ndarray  # ‖xᵗ⁺¹ − xᵗ‖ = α‖d/N‖


def experiment(setting: Setting, *, method: type[tw.SAG] = tw.SAG, start: str = "zero") -> Findings:
    """SAG with α = 1/16L on two problems with SGD and full gradient; `start` is the memory's."""
    rows = setting.pick(glance=1_500, quick=12_000, full=None)
    passes = setting.pick(glance=40, quick=40, full=100)
    seeds = setting.pick(glance=6, quick=8, full=20)
    sag = method(step="theory", sampling="uniform", start=start)
    even, uneven = samples("a9a", rows=rows), _uneven(setting)
    scaled = even._replace(X=normalize(even.X), name=f"{even.name}, rows of length 1")
    courses = [_course(setting, data, sag, passes, seeds) for data in (scaled, uneven)]
    alike = _alike(setting, scaled, sag)
    stale = _staleness(setting, courses[0].problem, sag, passes)
    checks = [
        _slide(scaled, method, start),
        *(_bounded(course) for course in courses),
        Check(
            "one gradient a step: a pass of N steps costs one full gradient",
            all(np.all(course.evaluations == 1.0) for course in courses),
            f"N sample gradients counted in each of {len(courses[0].evaluations)} passes",
        ),
        *(_per_pass(course) for course in courses),
        *_ill_checks(alike),
        _stale_check(stale),
        *_compared(courses),
    ]  # fmt: skip
    return Findings(
        checks, _tables(courses), [_drawn(courses, alike, stale)],
        [f"1: {even.note}, logistic, rows scaled to length 1", f"2: {uneven.note}, logistic",
         f"l2 = {WELL:g}·max Lᵢ/N in 1 and 2, {ILL:g}·max Lᵢ/N where ill conditioned; mean over "
         f"{seeds} seeds, with a one-sided interval of 99.95 %"],
    )  # fmt: skip


def _uneven(setting: Setting) -> Samples:
    """Rows of very different lengths."""
    if setting.budget != "glance":
        return samples("covtype", rows=setting.pick(quick=4_000, full=50_000))
    table = tw.read("@cancer", dtype="float64")  # is read in no time
    X = tw.scaling.ZScore().fit_transform(table.X)
    return Samples("cancer", X, np.asarray(table.y), "breast cancer, 569 × 30")


def _problem(data: Samples, share: float, rows: int | None = None) -> tw.LinearProblem:
    """Logistic regression with l2 = share·max Lᵢ/N."""
    X, y = data.X[:rows], data.y[:rows]
    free = tw.LinearProblem(X, y, "logistic", fit_intercept=False)
    l2 = share * float(free.row_smoothness.max()) / free.n
    return tw.LinearProblem(X, y, "logistic", l2=l2, fit_intercept=False)


def _course(setting: Setting, data: Samples, sag: tw.SAG, passes: int, seeds: int) -> Course:
    problem = _problem(data, WELL)
    best = tw.minimize(problem, "newton", tol=1e-15, progress=False)

    def gaps(method: tw.SAG | tw.SGD | tw.GD, seed: int) -> tuple[np.ndarray, np.ndarray]:
        run = tw.minimize(
            problem, method, tol=1e-300, max_iter=passes, seed=seed, progress=False
        )  # fmt: skip
        return run.trace["value"] - best.value, np.diff(run.trace["evaluations"])

    drawn = range(100 * setting.seed, 100 * setting.seed + seeds)
    ways = [gaps(sag, seed) for seed in drawn]
    sgd = [gaps(tw.SGD(schedule="1/t", sampling="uniform"), seed)[0] for seed in drawn]
    L, N = float(problem.row_smoothness.max()), problem.n
    initial = float(ways[0][0][0])
    C = tw.theory.sag.constant(
        initial, float(np.linalg.norm(best.w)), _variance(problem, best.w),
        samples=N, smoothness=L,
    )  # fmt: skip
    bound = tw.theory.sag.value_bound(
        C, samples=N, smoothness=L, strong_convexity=problem.l2,
        iterations=N * np.arange(passes + 1),
    )  # fmt: skip
    return Course(
        data.name, problem, np.array([way[0] for way in ways]), np.mean(sgd, axis=0),
        gaps(tw.GD(), 0)[0], bound, C, initial, np.concatenate([way[1] for way in ways]),
    )  # fmt: skip


def _variance(problem: tw.LinearProblem, w: np.ndarray) -> float:
    """σ² = (1/N) Σ‖fᵢ′(w)‖² with fᵢ′ = sᵢxᵢ + l2·w: from scores and row norms alone."""
    z, l2 = problem.scores(w), problem.l2
    s = -problem.y * scipy.special.expit(-problem.y * z)
    return float(np.mean(s**2 * problem.row_squares + 2.0 * l2 * s * z) + l2**2 * (w @ w))


def _slide(data: Samples, method: type[tw.SAG], start: str) -> Check:
    """The algorithm of the slide, in NumPy, beside the library's: samples in turn, no chance."""
    m, step, l2 = 60, 0.2, 0.01
    X = data.X[:m] if isinstance(data.X, np.ndarray) else data.X[:m].toarray()
    problem = tw.LinearProblem(X, data.y[:m], "logistic", l2=l2, fit_intercept=False)
    ways: list[np.ndarray] = []
    tw.minimize(
        problem, method(step=step, sampling="cyclic", start=start), tol=1e-300, max_iter=3,
        progress=False, callback=lambda seen: ways.append(np.array(seen.w)),
    )  # fmt: skip
    x, d, y = np.zeros(X.shape[1]), np.zeros(X.shape[1]), np.zeros(X.shape)
    off = 0.0
    for way in ways:
        for i in range(m):
            label = problem.y[i]
            fresh = -label * scipy.special.expit(-label * (X[i] @ x)) * X[i]
            d = d - y[i] + fresh
            y[i] = fresh
            x = x - step * (d / m + l2 * x)
        off = max(off, float(np.max(np.abs(x - way))))
    return Check(
        "the iterates are those of the slide: memory zero at the start, sum divided by N",
        off <= 1e-12, f"{3 * m} steps in turn differ by at most {off:.1g}",
    )  # fmt: skip


def _bounded(course: Course) -> Check:
    room = course.bound + LEAST
    share = course.upper / room
    at = int(share.argmax())
    return Check(
        f"{course.name}: E f(xᵗ) − f* ≤ (1 − min(μ/16L, 1/8N))ᵗC after every pass",
        bool(np.all(course.upper <= room)),
        f"at most {share[at]:.2g} of the bound, after {at} passes; C = {course.constant:.3g}, "
        f"of which f(x⁰) − f* is {course.initial:.3g}",
    )  # fmt: skip


def _per_pass(course: Course) -> Check:
    problem = course.problem
    told = tw.theory.sag.rate_per_pass(
        samples=problem.n, smoothness=float(problem.row_smoothness.max()),
        strong_convexity=problem.l2,
    )  # fmt: skip
    limit = float(np.exp(-1.0 / 8.0))
    return Check(
        f"{course.name}, well conditioned: at most e^(−1/8) = 0.8825 a pass",
        told <= limit and course.rate <= limit,
        f"the theorem says {told:.4f}, measured {course.rate:.3f}",
    )


def _alike(setting: Setting, data: Samples, sag: tw.SAG) -> Alike:
    """The ill-conditioned problem on a few rows, where N iterations of the other are affordable."""
    N, passes = setting.pick(glance=(100, 16), quick=(300, 24), full=(1_000, 40))
    problem = _problem(data, ILL, N)
    best = tw.minimize(problem, "newton", tol=1e-15, progress=False)
    step = tw.theory.sag.step(float(problem.row_smoothness.max()))
    slow = tw.minimize(
        problem, tw.GD(step=step), tol=1e-300, max_iter=N * passes, progress=False
    )  # fmt: skip
    runs = [
        tw.minimize(
            problem, sag, tol=1e-300, max_iter=passes, seed=100 * setting.seed + k, progress=False
        )
        for k in range(setting.pick(glance=4, quick=8, full=20))
    ]  # fmt: skip
    fast = np.mean([run.trace["value"] for run in runs], axis=0) - best.value
    # The first evaluation of both is of the start, for the rule that ends a run.
    prices = tuple(N * (run.evaluations - 1) for run in (runs[0], slow))
    gaps = slow.trace["value"][::N] - best.value
    return Alike(N * np.arange(passes + 1), fast, gaps, N, (prices[0], prices[1]))


def _ill_checks(alike: Alike) -> list[Check]:
    ratio = alike.sag[2:] / alike.gd[2:]
    return [
        Check(
            "ill conditioned: t steps of SAG are worth t iterations of gradient descent with the "
            "same α",
            # Within a factor of two: both follow the same slow way down, SAG with some delay.
            bool(ratio.min() >= 0.5 and ratio.max() <= 2.0 and 0.5 <= alike.pace <= 2.0),
            f"gaps in the ratio {ratio.min():.3f} to {ratio.max():.3f} from the second pass on, "
            f"decay {alike.pace:.3f} times as fast",
        ),
        Check(
            "and N times cheaper", alike.prices[1] == alike.N * alike.prices[0],
            f"{alike.prices[0]:,} sample gradients counted, {alike.prices[1]:,} by gradient "
            f"descent; N = {alike.N}",
        ),
    ]  # fmt: skip


def _staleness(setting: Setting, problem: tw.LinearProblem, sag: tw.SAG, passes: int) -> Staleness:
    points: list[np.ndarray] = []
    directions: list[np.ndarray] = []

    class Watched(type(sag)):  # type: ignore[misc]
        """Notes x and d/N + l2·x, which the loop knows as the gradient."""

        def advance(self, problem, state):  # type: ignore[no-untyped-def]
            after = super().advance(problem, state)
            points.append(np.array(after.w))
            directions.append(np.array(after.gradient))
            return after

    watched = Watched(**sag.options)
    tw.minimize(
        problem, watched, tol=1e-300, max_iter=passes, seed=setting.seed, progress=False
    )  # fmt: skip
    exact = [problem.gradient(w) for w in points]
    alpha = tw.theory.sag.step(float(problem.row_smoothness.max()))
    pairs = list(zip(directions, exact, strict=True))
    return Staleness(
        np.array([np.linalg.norm(d - g) for d, g in pairs]),
        np.array([np.linalg.norm(g) for g in exact]),
        alpha * np.array([np.linalg.norm(d) for d in directions]),
    )


def _stale_check(stale: Staleness) -> Check:
    slope = float(np.polyfit(np.log(stale.step[2:]), np.log(stale.error[2:]), 1)[0])
    fall = stale.error[-1] / stale.error[0]
    share = float(np.median(stale.error / stale.gradient))
    return Check(
        "stale gradients become exact as the steps vanish",
        # Smoothness makes the error proportional to the way gone: a slope of 1 or more.
        bool(slope >= 0.8 and fall <= 1e-3),
        f"‖d/N − ∇f‖ falls to {fall:.1g} of what it was after a pass, like the power {slope:.2f} "
        f"of the step; it stays {share:.2g} of ‖∇f‖, which vanishes as well",
    )


def _compared(courses: list[Course]) -> list[Check]:
    even, uneven = courses
    end = {name: (c.mean[-1], c.sgd[-1], c.gd[-1]) for name, c in zip("12", courses, strict=True)}
    told = "SAG {:.1g}, SGD {:.1g}, full gradient {:.1g}"
    L = uneven.problem.row_smoothness.max() / uneven.problem.smoothness
    return [
        Check(
            f"{even.name}: after as many passes SAG is below SGD and the full gradient",
            bool(end["1"][0] < min(end["1"][1:])), told.format(*end["1"]),
        ),
        Check(
            f"{uneven.name}: the same, though the longest row makes max Lᵢ {L:,.0f} times L",
            bool(end["2"][0] < min(end["2"][1:])),
            told.format(*end["2"]) + "; the full gradient's step is 1/L, SAG's 1/(16 max Lᵢ), and "
            "drawing long rows more often mends it (sag-sampling)",
            NOTED,
        ),
    ]  # fmt: skip


def _tables(courses: list[Course]) -> list[Sheet]:
    rows = [
        (
            f"{course.name}, passes: {k}",
            course.bound[k],
            course.mean[k],
            course.sgd[k],
            course.gd[k],
        )
        for course in courses
        for k in (1, 2, 5, 10, 20, 40, 100)
        if k < len(course.bound)
    ]
    heads = ("after", "bound", "sag", "sgd", "full gradient")
    return [Sheet("f − f*, the means of SAG and SGD over seeds", heads, tuple(rows))]


def _drawn(courses: list[Course], alike: Alike, stale: Staleness) -> Figure:
    def way(gaps: np.ndarray) -> np.ndarray:
        return np.where(gaps > LEAST, gaps, np.nan)

    def course_panel(course: Course, title: str) -> Panel:
        k = np.arange(len(course.bound))
        low, high = course.sag.min(axis=0), course.sag.max(axis=0)
        marks: list[Curve] = [
            curve("sag", k, way(course.mean)),
            curve("SAG's bound", k, course.bound, "sag", theory=True),
            curve("sgd", k, way(course.sgd)),
            curve("gd", k, way(course.gd)),
        ]
        spread = band("", k, np.maximum(low, LEAST), np.maximum(high, LEAST), "sag")
        return panel("passes", "f − f*", [spread, *marks], log="y", title=title)

    k = np.arange(1, len(stale.error) + 1)
    even, uneven = courses
    return figure(
        "SAG, its bound, SGD and the full gradient",
        (
            course_panel(even, "1: rows of length 1"),
            course_panel(uneven, "2: uneven rows"),
            panel(
                "steps t", "f − f*",
                [curve("sag", alike.t, alike.sag, dots=True), curve("gd", alike.t, alike.gd)],
                log="y", title="Ill conditioned, same α",
            ),
            panel(
                "passes", "length",
                [curve("‖∇f‖", k, stale.gradient, 1), curve("‖d/N − ∇f‖", k, stale.error, 2),
                 curve("‖xᵗ⁺¹ − xᵗ‖", k, stale.step, 3)],
                log="y", title="Stale gradients become exact",
            ),
        ),
        f"SAG falls by {even.rate:.2f} and {uneven.rate:.2f} a pass, faster than the 0.8825 of its "
        f"bound. On the first problem it ends at {even.mean[-1]:.1g}, SGD at {even.sgd[-1]:.1g}, "
        f"the full gradient at {even.gd[-1]:.1g}. Where it is ill conditioned SAG's steps follow "
        f"gradient descent's iterations, N = {alike.N} times as dear.",
        columns=2,
    )  # fmt: skip


LAB = Lab(
    name="sag-rate",
    claim="With α = 1/16L SAG has E f(xᵗ) − f* ≤ (1 − min(μ/16L, 1/8N))ᵗC with one gradient a "
    "step: at most e^(−1/8) a pass where well conditioned, and where ill conditioned like gradient "
    "descent but N times cheaper; its stale gradients become exact as the steps vanish.",
    formula="E f(xᵗ) − f* ≤ (1 − min(μ/16L, 1/8N))ᵗ C\nC = f(x⁰) − f* + (4L/N)‖x⁰ − x*‖² + σ²/16L",
    places=("B, Stochastic Averaged Gradient", "B, SAG Convergence Rate"),
    expected=Ruling.HOLDS,
    experiment=experiment,
    breaks=(
        Break("memory", "a memory that is lost after every pass", {"method": Forgetful}),
        Break("seen", "sums divided by the samples seen so far", {"start": "seen"}),
    ),
    fails_if="a pass after which the mean gap over seeds, its interval included, is above the "
    "bound; a mean rate above 0.8825 a pass; or steps that are not worth an iteration of gradient "
    "descent, within a factor of two",
    code="""\
import numpy as np
import thalweg as tw
from sklearn.preprocessing import normalize

table = tw.read("@cancer", dtype="float64")
X = normalize(tw.scaling.ZScore().fit_transform(table.X))  # rows of length 1: every Lᵢ = 0.25 + l2
f = tw.LinearProblem(X, table.y, "logistic", l2=0.75 / len(X), fit_intercept=False)
best = tw.minimize(f, "newton", tol=1e-14).value
sag = tw.SAG(step="theory", sampling="uniform", start="zero")
ways = [tw.minimize(f, sag, tol=1e-300, max_iter=40, seed=k).trace["value"] for k in range(3)]
gap = np.mean(ways, axis=0) - best
print("a pass:", (gap[40] / gap[5]) ** (1 / 35), "at most", np.exp(-1 / 8))
assert (gap[40] / gap[5]) ** (1 / 35) <= np.exp(-1 / 8)
""",
    seconds=4.6,
    remark="The lecture leaves out that L is the largest smoothness of a single sample, penalty "
    "included, not that of f, and that the bound is for a memory of zeros divided by N. Where a "
    "few rows are long, max Lᵢ is far above the L of f, and the full gradient with its step 1/L "
    "may win. Stale gradients become exact in the sense that "
    "their error vanishes with the steps; beside ‖∇f‖, which vanishes too, it does not.",
)
