"""SVRG converges linearly and stores one gradient instead of n.

SGD needs steps that shrink because the gradients of single samples do not vanish at the minimum.
SVRG takes a full gradient at a snapshot x_s once in a while and corrects each sample's by it:

    d_s = (1/n) Σᵢ ∇fᵢ(x_s)
    v = ∇fᵢ(x) − ∇fᵢ(x_s) + d_s        x ← x − αv        m times, then x_s ← x

On average v is ∇f(x). For convex fᵢ with gradients of Lipschitz constant L its size is bounded by

    E‖v‖² ≤ 4L(f(x) − f* + f(x_s) − f*)

so that the noise dies out as both points near the minimum, and a constant step converges. Summed
over the m steps of an epoch, with x_{s+1} one of its iterates drawn at random:

    E f(x_{s+1}) − f* ≤ θ(f(x_s) − f*),        θ = 1/(μα(1 − 2Lα)m) + 2Lα/(1 − 2Lα)

With α = 0.1/L and m = 50L/μ this is θ = ½. Practice takes 1/2L, m = 2n and the last iterate, for
which nothing is proved.

A step needs two gradients of its sample, an epoch n + 2m, and only d_s and x_s are stored: 2d
numbers, where SAG stores a gradient of every sample. For a linear model ∇fᵢ(x_s) is one number
times xᵢ. The library keeps that number from the pass for d_s, so that a step computes one gradient,
for n numbers of memory; the iterates are the same.

With b samples a step the noise falls, and the step may be 1/2L_b, from L_max at b = 1 to the
smoothness L of the whole at b = n. The steps to a given accuracy are of the order n/b + L_b/μ:

    L_b = (n(b − 1)L + (n − b)L_max) / (b(n − 1))
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

import thalweg as tw
from thalweg.labbook import (
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
from thalweg.labbook.sources import samples

CONDITION = 100.0  # L_max/μ of the theorem's runs: an epoch is then a few passes
HARDER = 1_000.0  # of those that count steps
REACH = 1e-8  # of the first gap
MOST = 200  # epochs
EXACT = 1e-11  # of the first gap: down to it, differences of values have digits left
FLOOR = 1e-12  # of the first gap: below it is rounding
BATCHES = (1, 4, 16, 64)


class Data(NamedTuple):
    """Rows of two classes."""

    name: str
    X: Any
    y: np.ndarray
    note: str


class Way(NamedTuple):
    """Gaps over the first gap, against passes over the data."""

    passes: np.ndarray
    gaps: np.ndarray


class Course(NamedTuple):
    """SVRG as the theorem and as practice have it, and SGD, on one problem."""

    name: str
    rate: float  # θ
    promised: float  # passes to `REACH` by the theorem
    ways: dict[str, Way]
    bound: np.ndarray  # θˢ
    noise: np.ndarray  # E‖v‖² of practice at the end of each epoch
    noise_bound: np.ndarray  # 4L(f(x) − f* + f(x_s) − f*)
    sgd_noise: np.ndarray  # E‖∇fᵢ(x)‖² there


class Batches(NamedTuple):
    """Steps to `REACH` by the size of a batch."""

    name: str
    sizes: np.ndarray
    steps: np.ndarray  # with 1/2L_b
    own: np.ndarray  # with the library's own step
    theory: np.ndarray  # ∝ n/b + L_b/μ, equal to `steps` at b = 1


class Literal(NamedTuple):
    """The lecture's loop, and the library's run of the same visits."""

    apart: float  # the largest difference of the two w, over the largest entry
    gradients: int  # of single samples that the loop computed in an epoch
    expected: int  # n + 2m
    stored: int  # numbers kept besides x
    features: int
    library: float  # gradients of single samples in an epoch of the library's


def experiment(setting: Setting, *, method: type[tw.SVRG] = tw.SVRG) -> Findings:
    """The theorem's runs, practice's, the lecture's own loop, batches and options of `method`."""
    every = _data(setting)
    courses = [_course(each, setting, method) for each in every]
    batches = _batches(every[0], setting, method)
    literal = _literal(every[0], method)
    options = _options(every[0], setting, method)
    checks = [
        *_course_checks(courses),
        *_literal_checks(literal),
        _batch_check(batches),
        _option_check(options),
    ]
    return Findings(
        checks,
        [_course_table(courses), _option_table(options), _batch_table(batches)],
        [_draw_courses(courses), _draw_inside(courses[0], batches)],
        [each.note for each in every],
    )


def _data(setting: Setting) -> list[Data]:
    cancer = tw.read("@cancer", dtype="float64")
    X = tw.scaling.ZScore().fit_transform(cancer.X)
    small = Data("cancer", X, np.asarray(cancer.y), "breast cancer, 569 × 30, z-scores")
    if setting.budget == "glance":
        return [small]
    rows = setting.pick(quick=4_000, full=20_000)
    found = [Data(*samples(name, rows)) for name in ("a9a", "covtype")]
    if all(each.name != "cancer" for each in found):
        return found
    digits = tw.read("@digits", dtype="float64")
    odd = np.asarray(digits.y) % 2
    return [Data("digits", digits.X / 16.0, odd, "digits, odd or even, 1,797 × 64"), small]


def _problem(data: Data, condition: float) -> tuple[tw.LinearProblem, float]:
    """Logistic regression with l2 = L_max/condition, and the L of the theorem, l2 included."""
    steepest = float(
        tw.LinearProblem(data.X, data.y, "logistic", fit_intercept=False).row_squares.max() / 4.0
    )
    l2 = steepest / condition
    problem = tw.LinearProblem(data.X, data.y, "logistic", l2=l2, fit_intercept=False)
    return problem, steepest + l2


def _run(
    problem: tw.LinearProblem, method: Any, seed: int, is_over: Callable[[tw.Step], bool]
) -> tw.Run:
    return tw.minimize(
        problem, method, tol=1e-300, max_iter=MOST, progress=False, seed=seed, callback=is_over
    )


def _seeds(setting: Setting, count: int) -> list[int]:
    return [int(seed) for seed in setting.rng("draws").integers(2**31, size=count)]


def _course(data: Data, setting: Setting, method: type[tw.SVRG]) -> Course:
    problem, L = _problem(data, CONDITION)
    best = tw.minimize(problem, "newton", tol=1e-14, progress=False)
    first = problem.value(problem.start) - best.value
    chosen = tw.theory.svrg.recommended(smoothness=L, strong_convexity=problem.l2)
    inner, own = chosen.inner_steps / problem.n, 0.5 / L
    epochs, seeds = 8, _seeds(setting, setting.pick(glance=4, quick=10, full=50))

    def way(taken: Any, count: int, chances: list[int]) -> Way:
        runs = [
            _run(problem, taken, seed, lambda seen: seen.iteration == count) for seed in chances
        ]
        gaps = np.mean([run.trace["value"] - best.value for run in runs], axis=0) / first
        return Way(np.mean([run.trace["passes"] for run in runs], axis=0), gaps)

    exact = method(chosen.step, "uniform", inner=inner, iterate="random")
    points: list[np.ndarray] = [problem.start]

    def keep(seen: tw.Step) -> bool:
        points.append(np.array(seen.w))
        return seen.iteration == 12

    practice = _run(problem, method(own, "uniform"), seeds[0], keep)
    sgd = tw.SGD(own, "constant", sampling="uniform", average="none")
    ways = {
        "theory": way(exact, epochs, seeds),
        "last": Way(
            practice.trace["passes"], (practice.trace["value"] - best.value) / first
        ),
        "random": way(method(own, "uniform", iterate="random"), 18, seeds[:1]),
        "sgd": way(sgd, 18, seeds[:1]),
    }  # fmt: skip
    gaps = practice.trace["value"] - best.value
    needed = tw.theory.svrg.epochs(
        1.0, REACH, step=chosen.step, inner_steps=chosen.inner_steps, smoothness=L,
        strong_convexity=problem.l2,
    )  # fmt: skip
    sums = gaps[1:] + gaps[:-1]
    exact_until = int(np.argmax(np.append(sums, 0.0) <= EXACT * first))
    noise = [_noise(data, problem, *pair) for pair in zip(points[1:], points[:-1], strict=True)][
        :exact_until
    ]
    return Course(
        data.name, chosen.rate, needed * (1.0 + inner), ways,
        np.array([chosen.rate**s for s in range(epochs + 1)]),
        np.array([each[0] for each in noise]),
        4.0 * L * sums[:exact_until],
        np.array([each[1] for each in noise]),
    )  # fmt: skip


def _noise(data: Data, problem: tw.LinearProblem, x: Any, snapshot: Any) -> tuple[float, float]:
    """E‖v‖² of SVRG at x, and E‖∇fᵢ(x)‖² of SGD."""
    X = data.X if isinstance(data.X, np.ndarray) else data.X.toarray()

    def gradients(w: np.ndarray) -> np.ndarray:
        slopes = -problem.y / (1.0 + np.exp(problem.y * problem.scores(w)))
        return slopes[:, None] * X + problem.l2 * w

    here, there = gradients(x), gradients(snapshot)
    v = here - there + there.mean(axis=0)
    return float(np.mean(np.sum(v**2, axis=1))), float(np.mean(np.sum(here**2, axis=1)))


def _batches(data: Data, setting: Setting, method: type[tw.SVRG]) -> Batches:
    problem, L = _problem(data, HARDER)
    best = tw.minimize(problem, "newton", tol=1e-14, progress=False).value
    allowed = best + REACH * (problem.value(problem.start) - best)
    n, whole = problem.n, problem.smoothness
    seed = _seeds(setting, 1)[0]
    steps: list[float] = []
    own: list[float] = []
    smoothness: list[float] = []
    for b in BATCHES:
        L_b = (n * (b - 1) * whole + (n - b) * L) / (b * (n - 1))
        for kept, step in ((steps, 0.5 / L_b), (own, None)):
            taken = method(step, "uniform", b)
            run = _run(problem, taken, seed, lambda seen: seen.value <= allowed)
            kept.append(run.iterations * 2 * n / b)
        smoothness.append(L_b)
    order = n / np.array(BATCHES) + np.array(smoothness) / problem.l2
    return Batches(
        data.name, np.array(BATCHES), np.array(steps), np.array(own), steps[0] * order / order[0]
    )


def _literal(data: Data, method: type[tw.SVRG]) -> Literal:
    """Three epochs of 2n steps, samples visited in turn so that both visit the same."""
    rows = data.X[:200]
    X = rows if isinstance(rows, np.ndarray) else rows.toarray()
    y, l2, n, computed = np.where(data.y[:200] == data.y.max(), 1.0, -1.0), 0.05, len(X), 0
    step, epochs = 0.5 / (float(np.sum(X**2, axis=1).max()) / 4.0 + l2), 3

    def gradient(i: int, w: np.ndarray) -> np.ndarray:
        nonlocal computed
        computed += 1
        return -y[i] / (1.0 + np.exp(y[i] * (X[i] @ w))) * X[i] + l2 * w

    snapshot = np.zeros(X.shape[1])
    for _ in range(epochs):
        d = np.mean([gradient(i, snapshot) for i in range(n)], axis=0)
        x = snapshot
        for t in range(2 * n):
            x = x - step * (gradient(t % n, x) - gradient(t % n, snapshot) + d)
        snapshot = x
    problem = tw.LinearProblem(X, y, "logistic", l2=l2, fit_intercept=False)
    run = _run(problem, method(step, "cyclic"), 0, lambda seen: seen.iteration == epochs)
    return Literal(
        float(np.max(np.abs(run.w - snapshot)) / np.max(np.abs(snapshot))),
        computed // epochs,
        tw.theory.svrg.evaluations_per_epoch(samples=n, inner_steps=2 * n),
        d.size + snapshot.size,
        X.shape[1],
        n * (run.counts["gradients"] - 1.0) / epochs,
    )


def _options(data: Data, setting: Setting, method: type[tw.SVRG]) -> dict[str, tw.Run]:
    """What the lecture calls practical issues, each to a duality gap of 10⁻⁶."""
    problem, _ = _problem(data, HARDER)
    sparse = scipy.sparse.csr_array(data.X)
    dense = data.X if isinstance(data.X, np.ndarray) else data.X.toarray()
    l1: dict[str, Any] = {"l1": 1e-3, "l2": problem.l2, "fit_intercept": False}
    given: dict[str, tuple[Any, Any]] = {
        "last iterate, step 1/2L": (problem, method(sampling="uniform")),
        "random iterate": (problem, method(sampling="uniform", iterate="random")),
        "step by search": (problem, method(step="search")),
        "draws by Lᵢ": (problem, method()),
        "batches of 4": (problem, method(batch=4)),
        "acceleration (Catalyst)": (problem, tw.Catalyst("svrg")),
        "l1, dense rows": (tw.LinearProblem(dense, data.y, "logistic", **l1), method()),
        "l1, sparse rows": (tw.LinearProblem(sparse, data.y, "logistic", **l1), method()),
    }
    return {
        name: tw.minimize(each, taken, tol=1e-6, max_iter=60, progress=False,
                          seed=_seeds(setting, 1)[0])
        for name, (each, taken) in given.items()
    }  # fmt: skip


def _passes(way: Way) -> float:
    """Passes to `REACH`, or infinity."""
    arrived = way.gaps <= REACH
    return float(way.passes[arrived.argmax()]) if arrived.any() else np.inf


def _told(items: list[Any], text: Any) -> str:
    return "; ".join(f"{each.name}: {text(each)}" for each in items)


def _course_checks(courses: list[Course]) -> list[Check]:
    last = {each.name: _passes(each.ways["last"]) for each in courses}
    drawn = {each.name: _passes(each.ways["random"]) for each in courses}
    return [
        Check(
            "theory's step 0.1/L, m = 50L/μ and a random iterate: the mean gap is at most θˢ of "
            "the first after every epoch, θ = 1/2",
            all(np.all(each.ways["theory"].gaps[1:] <= each.bound[1:]) for each in courses),
            _told(
                courses,
                lambda each: f"{each.ways['theory'].gaps[1]:.2g} after one epoch, "
                f"{each.ways['theory'].gaps[3]:.2g} after three",
            ),
        ),
        Check(
            "practice's step 1/2L, m = 2n and the last iterate: 10⁻⁸ of the first gap in fewer "
            "passes than the theorem allows",
            all(last[each.name] < each.promised for each in courses),
            _told(courses, lambda each: f"{last[each.name]:.0f}, {each.promised:.0f} allowed"),
        ),
        Check(
            "with a random iterate as well",
            all(drawn[each.name] < each.promised for each in courses),
            _told(courses, lambda each: f"{drawn[each.name]:.0f} passes"),
        ),
        Check(
            "SGD with the same step stays a thousand times higher at least",
            all(
                each.ways["sgd"].gaps[-1] >= 1e3 * each.ways["last"].gaps[-1] for each in courses
            ),
            _told(courses, lambda each: f"{each.ways['sgd'].gaps[-1]:.2g} of the first gap"),
        ),
        Check(
            "E‖v‖² ≤ 4L(f(x) − f* + f(x_s) − f*) at the end of every epoch",
            all(np.all(each.noise <= each.noise_bound) for each in courses),
            _told(courses, lambda each: f"{np.max(each.noise / each.noise_bound):.2g} at most"),
        ),
        Check(
            # Its bound falls with the gap; SGD's keeps the slopes at the minimum.
            "it falls by a factor of 10⁴ while E‖∇fᵢ(x)‖² of SGD stays within 10",
            all(
                each.noise[-1] <= 1e-4 * each.noise[0]
                and 0.1 <= each.sgd_noise[-1] / each.sgd_noise[0] <= 10.0
                for each in courses
            ),
            _told(
                courses,
                lambda each: f"from {each.noise[0]:.2g} to {each.noise[-1]:.2g}, SGD's "
                f"{each.sgd_noise[-1]:.2g}",
            ),
        ),
    ]  # fmt: skip


def _literal_checks(literal: Literal) -> list[Check]:
    return [
        Check(
            "the lecture's loop, two gradients a step, and the library's run have the same iterate "
            "after three epochs",
            literal.apart <= 1e-9,
            f"{literal.apart:.1g} apart, relative to the largest entry",
        ),
        Check(
            "it computes n + 2m gradients an epoch and stores 2d numbers, d_s and x_s",
            literal.gradients == literal.expected and literal.stored == 2 * literal.features,
            f"{literal.gradients:,} gradients, n + 2m = {literal.expected:,}; {literal.stored} "
            f"numbers, d = {literal.features}; the library, which keeps a number a sample, "
            f"{literal.library:,.0f} gradients",
        ),
    ]


def _batch_check(batches: Batches) -> Check:
    off = batches.steps / batches.theory
    return Check(
        # From above only: it is the order of a bound, and one sample a step may do worse than it.
        "mini-batches, with a step 1/2L_b: steps fall with b at least like n/b + L_b/μ, within a "
        "factor of 2, to less than a third at b = 16",
        bool(np.all(off <= 2.0) and batches.steps[2] < batches.steps[0] / 3.0),
        f"{batches.name}: "
        + ", ".join(
            f"{steps:,.0f} steps of {b}"
            for b, steps in zip(batches.sizes, batches.steps, strict=True)
        )
        + f"; from {off.min():.2f} to {off.max():.2f} of it",
    )


def _option_check(options: dict[str, tw.Run]) -> Check:
    values = [options[f"l1, {rows} rows"].value for rows in ("dense", "sparse")]
    return Check(
        "every variant ends with a duality gap of 10⁻⁶ at most, sparse rows as dense ones do",
        all(run.converged for run in options.values()) and abs(values[0] - values[1]) <= 1e-6,
        ", ".join(f"{name} {run.trace['passes'][-1]:.0f}" for name, run in options.items())
        + " passes",
    )


def _course_table(courses: list[Course]) -> Sheet:
    rows: list[tuple[str | float, ...]] = []
    for each in courses:
        rows += [
            (f"{each.name}, SVRG of theory, {s} epochs", float(each.ways["theory"].passes[s]),
             float(each.ways["theory"].gaps[s]), float(each.bound[s]))
            for s in range(1, len(each.bound))
            if each.ways["theory"].gaps[s] > FLOOR
        ]  # fmt: skip
        rows += [
            (f"{each.name}, {name}", float(each.ways[key].passes[-1]),
             max(float(each.ways[key].gaps[-1]), FLOOR), "none")
            for key, name in (("last", "practice, last"), ("random", "practice, random"),
                              ("sgd", "SGD, same step"))
        ]  # fmt: skip
    return Sheet("Gaps over the first", ("run", "passes", "gap", "θˢ"), tuple(rows))


def _option_table(options: dict[str, tw.Run]) -> Sheet:
    rows: list[tuple[str | float, ...]] = [
        (name, float(run.trace["passes"][-1]), run.outcome.word, float(run.certificate.gap or 0.0))
        for name, run in options.items()
    ]
    return Sheet(
        "Practical issues, each to a duality gap of 10⁻⁶", ("variant", "passes", "ended", "gap"),
        tuple(rows),
    )  # fmt: skip


def _batch_table(batches: Batches) -> Sheet:
    columns = (batches.sizes, batches.steps, batches.theory, batches.own)
    return Sheet(
        f"Steps to {REACH:g} of the first gap by samples a step, {batches.name}",
        ("samples a step", "steps, 1/2L_b", "∝ n/b + L_b/μ", "steps, the library's step"),
        tuple(tuple(float(each) for each in row) for row in zip(*columns, strict=True)),
    )


def _draw_courses(courses: list[Course]) -> Figure:
    panels = []
    for each in courses:
        theory, ways = each.ways["theory"], each.ways
        marks = [
            curve("SVRG, theory", theory.passes, _shown(theory.gaps), 3, dots=True),
            curve("θˢ", theory.passes, each.bound, 3, theory=True),
            curve("practice, last", ways["last"].passes, _shown(ways["last"].gaps), 2, dots=True),
            curve("practice, random", ways["random"].passes, _shown(ways["random"].gaps), 4),
            curve("SGD, same step", ways["sgd"].passes[1:], _shown(ways["sgd"].gaps[1:]), 1),
        ]
        panels.append(panel("passes", "f − f*, of the first", marks, log="y", title=each.name))
    told = " ".join(
        f"On {each.name} practice reaches 10⁻⁸ of the first gap in "
        f"{_passes(each.ways['last']):.0f} passes with the last iterate and "
        f"{_passes(each.ways['random']):.0f} with a random one; the theorem allows "
        f"{each.promised:.0f}. SGD ends at {each.ways['sgd'].gaps[-1]:.2g}."
        for each in courses
    )
    return figure("SVRG: theory's step and practice's", panels, told, columns=2)


def _shown(gaps: np.ndarray) -> np.ndarray:
    return np.where(gaps > FLOOR, gaps, np.nan)


def _draw_inside(course: Course, batches: Batches) -> Figure:
    epochs = np.arange(1, len(course.noise) + 1)
    noise = panel(
        "epoch", "mean square of a step's gradient",
        [
            curve("SGD", epochs, course.sgd_noise, 1),
            curve("SVRG", epochs, course.noise, 2, dots=True),
            curve("4L(gap + gap at x_s)", epochs, course.noise_bound, 2, theory=True),
        ],
        log="y", title=f"Noise, {course.name}",
    )  # fmt: skip
    steps = panel(
        "samples a step", f"steps to {REACH:g}",
        [
            curve("step 1/2L_b", batches.sizes, batches.steps, 3, dots=True),
            curve("∝ n/b + L_b/μ", batches.sizes, batches.theory, 3, theory=True),
        ],
        log="xy", title=f"Mini-batches, {batches.name}",
    )  # fmt: skip
    told = (
        f"E‖v‖² falls from {course.noise[0]:.2g} to {course.noise[-1]:.2g} in {len(course.noise)} "
        f"epochs, within its bound, while SGD's stays at {course.sgd_noise[-1]:.2g}. Batches of 16 "
        f"take {batches.steps[2]:,.0f} steps instead of {batches.steps[0]:,.0f}."
    )
    return figure("Why it converges, and what batches save", [noise, steps], told, columns=2)


class Uncorrected(tw.SVRG):
    """Without the gradients at the snapshot: SGD with a constant step."""

    def travel(self, problem: Any, state: Any, pull: Any = None) -> Any:
        """The visits of an epoch."""
        state.slopes[:], state.g[:] = 0.0, 0.0
        return super().travel(problem, state, pull)


class Stale(tw.SVRG):
    """Always corrected by the first snapshot."""

    def travel(self, problem: Any, state: Any, pull: Any = None) -> Any:
        """The visits of an epoch."""
        slopes, g = state.slopes.copy(), state.g.copy()
        after = super().travel(problem, state, pull)
        after.slopes[:], after.g[:] = slopes, g
        return after


LAB = Lab(
    name="svrg",
    claim="SVRG corrects a sample's gradient by that at a snapshot and by the snapshot's full "
    "gradient: a linear rate for two gradients a step and occasional full passes, storing only d_s "
    "and x_s; with the random or the last iterate, and with mini-batches.",
    formula="x ← x − α(∇fᵢ(x) − ∇fᵢ(x_s) + d_s),   E f(x_{s+1}) − f* ≤ θ(f(x_s) − f*)",
    places=("B, Stochastic Variance Reduced GD",),
    expected=Ruling.HOLDS,
    experiment=experiment,
    breaks=(
        Break("correction", "no correction by the snapshot", {"method": Uncorrected}),
        Break("stale", "a snapshot that is never taken anew", {"method": Stale}),
    ),
    fails_if="an epoch after which the mean gap is above θˢ of the first; a run of practice that "
    "needs more passes than the theorem allows; E‖v‖² above 4L(f(x) − f* + f(x_s) − f*) once; an "
    "iterate that differs from the lecture's loop by more than 10⁻⁹; or batches of 16 that need a "
    "third of the steps or more",
    code="""\
import thalweg as tw

table = tw.read("@cancer", dtype="float64")
X = tw.scaling.ZScore().fit_transform(table.X)
problem = tw.LinearProblem(X, table.y, "logistic", l2=1.0, fit_intercept=False)
best = tw.minimize(problem, "newton", tol=1e-13, progress=False).value
L = problem.row_squares.max() / 4 + problem.l2
alpha, m, theta = tw.theory.svrg.recommended(smoothness=L, strong_convexity=problem.l2)
svrg = tw.SVRG(alpha, "uniform", inner=m / problem.n, iterate="random")
gaps = tw.minimize(problem, svrg, tol=1e-300, max_iter=3, progress=False).trace["value"] - best
print(f"θ = {theta:.2f}, gaps {gaps}")
assert all(gaps[s] <= theta**s * gaps[0] for s in range(4))
""",
    seconds=2.1,
    remark="The lecture draws the next snapshot from x¹ … xᵐ, the theorem from x⁰ … xᵐ⁻¹; the "
    "bound is far from tight either way. The library's own step for batches takes the mean of the "
    "Lᵢ in place of L, which is shorter than 1/2L_b.",
)
