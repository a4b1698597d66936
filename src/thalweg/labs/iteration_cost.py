"""An iteration costs md, d or bd multiplications.

The gradient of a mean over m samples with d features needs the score ⟨xᵢ, w⟩ of every sample, and
its slope times xᵢ added up: twice md multiplications.

    gradient descent     w ← w − η (1/m) Σᵢ ℓ′(⟨xᵢ, w⟩, yᵢ) xᵢ         O(md) a step
    stochastic           the same for one sample i                   O(d)
    mini-batch           the same for b of them                      O(bd)

A pass over the data is thus one step, m steps or m/b steps, for about the same price: that is why
the question is how many steps a problem takes.

Times are taken as processor time, and the least of several counts: whatever else a machine does can
only add to it. What the loop around a step takes is taken off, by a run of gradient descent on the
same data. The power of m, d and b is the slope of a straight line through the logarithms. Rows need
to be long for it, as every sample also costs an exponential, and small beside memory, as a row that
is not in cache costs more than its multiplications.

Sparse rows cost what is stored of them. There d is the number of stored entries, not of columns.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
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

# Off the power by this much is off by a factor of two over a range of eight: more than what loops
# and caches add, and much less than another power of m, d or b.
ALLOWED = 0.35
ROUNDS = 4  # of measuring, where clocks were too noisy before: a time can only be too long
LOOKS = 4  # iterations of a run that are timed
STORED = 64  # entries of a sparse row
GRADIENT, PASS, LOOK = "gradient", "pass", "look"
Gradient = Callable[[tw.LinearProblem, np.ndarray], Any]
Stochastic = Callable[..., Any]


class Case(NamedTuple):
    """The sizes of an iteration."""

    m: int
    d: int
    b: int = 0  # samples a step; 0 for all of them
    is_sparse: bool = False


class Series(NamedTuple):
    """Iterations that differ in one size."""

    method: str
    size: str  # "m", "d" or "b"
    power: float  # that theory says
    cases: tuple[Case, ...]

    @property
    def sizes(self) -> np.ndarray:
        """The size in all cases."""
        return np.array([getattr(case, self.size) for case in self.cases], dtype=float)


class Clock:
    """The least processor time of everything that was measured."""

    def __init__(self, setting: Setting, gradient: Gradient, stochastic: Stochastic) -> None:
        self.gradient, self.stochastic = gradient, stochastic
        self.numbers = setting.rng("X").standard_normal(
            setting.pick(glance=2_100_000, quick=2_100_000, full=8_200_000)
        )
        self.rng = setting.rng("problems")
        self.problems: dict[Case, tw.LinearProblem] = {}
        self.least: dict[tuple[str, Case], float] = {}

    def measure(self, case: Case) -> None:
        """Note what an iteration of this size takes, if it is less than before."""
        problem = self.problem(case)
        whole = case._replace(b=0)
        if not case.b:
            w = np.zeros(problem.dim)
            for _ in range(3):
                start = time.process_time()
                self.gradient(problem, w)
                self._note(GRADIENT, case, time.process_time() - start)
            return
        method = self.stochastic(batch=case.b, step=1e-3, sampling="cyclic")
        self._note(PASS, case, _iteration_seconds(problem, method))
        self._note(LOOK, whole, _iteration_seconds(problem, tw.GD(step=1e-3)))

    def seconds(self, case: Case) -> float:
        """One iteration: a gradient; or a pass of steps, without the look at F after it, a step."""
        if not case.b:
            return self.least[GRADIENT, case]
        one_pass, look = self.least[PASS, case], self.least[LOOK, case._replace(b=0)]
        return max(one_pass - look, 0.01 * one_pass) / -(-case.m // case.b)

    def power(self, series: Series) -> float:
        """The slope of the logarithms."""
        seconds = [self.seconds(case) for case in series.cases]
        return float(np.polyfit(np.log(series.sizes), np.log(seconds), 1)[0])

    def agrees(self, series: Series) -> bool:
        """Whether that is the power of theory."""
        return abs(self.power(series) - series.power) <= ALLOWED

    def problem(self, case: Case) -> tw.LinearProblem:
        """Logistic regression of that size, made once, from one store of random numbers."""
        case = case._replace(b=0)
        if case not in self.problems:
            m, d = case.m, case.d
            X: Any
            if case.is_sparse:
                # One entry in each of 64 equal ranges of columns, so that none comes twice.
                starts = np.arange(STORED) * (d // STORED)
                columns = (starts + self.rng.integers(0, d // STORED, (m, STORED))).ravel()
                ends = np.arange(0, m * STORED + 1, STORED)
                X = scipy.sparse.csr_array((self.numbers[: m * STORED], columns, ends), (m, d))
            else:
                X = self.numbers[: m * d].reshape(m, d)
            y = self.rng.choice([-1.0, 1.0], m)
            self.problems[case] = tw.LinearProblem(
                X, y, "logistic", l2=0.1, fit_intercept=False, threads=1
            )
        return self.problems[case]

    def _note(self, kind: str, case: Case, seconds: float) -> None:
        self.least[kind, case] = min(seconds, self.least.get((kind, case), np.inf))


def one_gradient(problem: tw.LinearProblem, w: np.ndarray) -> Any:
    """What gradient descent computes at every step."""
    return problem.value_and_gradient(w)


def some_of_it(problem: tw.LinearProblem, w: np.ndarray) -> Any:
    """A wrong one, of the first hundred samples."""
    return problem.part(0, 100).value_and_gradient(w)


def experiment(
    setting: Setting, *, gradient: Gradient = one_gradient, stochastic: Stochastic = tw.SGD
) -> Findings:
    """Processor time of single iterations, and exact counts."""
    clock, every = Clock(setting, gradient, stochastic), _series(setting)
    cases = list(dict.fromkeys(case for series in every for case in series.cases))
    for _ in range(ROUNDS):
        for _ in range(setting.pick(glance=2, quick=5, full=20)):
            for case in cases:
                clock.measure(case)
        if all(clock.agrees(series) for series in every):
            break
    rows: list[tuple[str | float, ...]] = []
    for each in every:
        micros = [1e6 * clock.seconds(case) for case in (each.cases[0], each.cases[-1])]
        ends = [f"{t:,.0f}" if t >= 100.0 else f"{t:.2g}" for t in micros]
        rows.append((each.method, each.size, each.power, f"{clock.power(each):.2f}", *ends))
    heads = ("method", "size", "power", "fitted", "µs at the smallest", "µs at the largest")
    return Findings(
        [*_of_powers(every, clock), *_of_price(every, clock), *_of_counts(setting, stochastic)],
        [Sheet("Time of one iteration against its sizes", heads, tuple(rows))],
        [_figure(every, clock)],
        ["processor time, least of several; logistic loss, rows drawn from a normal distribution"],
    )


def _series(setting: Setting) -> list[Series]:
    """What is measured."""
    rows = setting.pick(
        glance=(500, 2_000, 8_000), quick=(500, 1_000, 2_000, 4_000, 8_000),
        full=(500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000),
    )  # fmt: skip
    wide = setting.pick(
        glance=(512, 2_048, 8_192), quick=(512, 1_024, 2_048, 4_096, 8_192),
        full=(512, 1_024, 2_048, 4_096, 8_192, 16_384),
    )  # fmt: skip
    batches = setting.pick(glance=(4, 32, 256), quick=(4, 16, 64, 256), full=(4, 16, 64, 256, 1024))
    few, some = 250, 256  # samples where d differs, features where m does
    return [
        Series("gd", "m", 1.0, tuple(Case(m, some) for m in rows)),
        Series("gd", "d", 1.0, tuple(Case(few, d) for d in wide)),
        Series("sgd", "m", 0.0, tuple(Case(m, some, 1) for m in rows)),
        Series("sgd", "d", 1.0, tuple(Case(few, d, 1) for d in wide)),
        Series("mini-batch", "b", 1.0, tuple(Case(2_048, some, b) for b in batches)),
        Series("mini-batch", "m", 0.0, tuple(Case(m, some, 32) for m in rows)),
        Series("sgd, sparse", "d", 0.0, tuple(Case(2_000, d, 1, True) for d in wide)),
    ]


def _iteration_seconds(problem: tw.LinearProblem, method: Any) -> float:
    """The shortest iteration of a run, the loop around it included."""
    marks: list[float] = []

    def note(_: tw.Step) -> bool:
        marks.append(time.process_time())
        return len(marks) > LOOKS  # a run that is stopped is not asked why it did not arrive

    tw.minimize(problem, method, tol=1e-300, progress=False, callback=note)
    return float(np.diff(marks).min())


def _of_powers(every: list[Series], clock: Clock) -> list[Check]:
    statements = {
        ("gd", "m"): "gradient descent: an iteration grows like m",
        ("gd", "d"): "and like d: O(md)",
        ("sgd", "m"): "stochastic: a step does not grow with m",
        ("sgd", "d"): "and grows like d: O(d)",
        ("mini-batch", "b"): "mini-batch: a step grows like b: O(bd)",
        ("mini-batch", "m"): "and does not grow with m",
        ("sgd, sparse", "d"): "sparse rows cost what is stored, whatever d is",
    }
    return [
        Check(
            statements[each.method, each.size], clock.agrees(each),
            f"{each.size}^{clock.power(each):.2f} from {each.sizes[0]:,.0f} to "
            f"{each.sizes[-1]:,.0f}, by theory {each.size}^{each.power:g}",
        )
        for each in every
    ]  # fmt: skip


def _of_price(every: list[Series], clock: Clock) -> list[Check]:
    """One gradient beside m single steps."""
    case = next(each for each in every if each.size == "m").cases[-1]
    ratio = clock.seconds(case) / clock.seconds(case._replace(b=1))
    cost, sizes = tw.theory.complexity.iteration_cost, {"samples": case.m, "features": case.d}
    theory = cost("gd", **sizes) / cost("sgd", **sizes)
    return [
        Check(
            "one gradient costs about as much as m single steps",
            # Steps one by one and a pass over all differ by a constant, small beside m.
            0.1 <= ratio / theory <= 10.0,
            f"{ratio:,.0f} times one step, {theory:,.0f} by theory",
        )
    ]


def _of_counts(setting: Setting, stochastic: Callable[..., Any]) -> list[Check]:
    """Passes as they are counted, and steps as a loop in plain NumPy takes them."""
    m, d, iterations = 60, 7, 5
    rng = setting.rng("counts")
    X, y = rng.standard_normal((m, d)), rng.choice([-1.0, 1.0], m)
    problem = tw.LinearProblem(X, y, "logistic", l2=0.1, fit_intercept=False)
    descent, passes = (
        tw.minimize(problem, method, tol=1e-300, max_iter=iterations, progress=False)
        for method in (tw.GD(step=0.1), stochastic(step=0.1))
    )
    off, costs = 0.0, []
    for b in (1, 4, 15, 60):
        method = stochastic(
            batch=b, step=0.1, schedule="constant", sampling="cyclic", average="none"
        )
        ends: list[np.ndarray] = []
        tw.minimize(
            problem, method, tol=1e-300, max_iter=1, progress=False,
            callback=_keep_in(ends),
        )  # fmt: skip
        w, touched, steps = _one_pass(X, y, b)
        off = max(off, float(np.linalg.norm(ends[0] - w)))
        by_theory = tw.theory.complexity.iteration_cost(
            "mini-batch", samples=m, features=d, batch=b
        )
        costs.append(touched * d / steps == by_theory)
    counted: Mapping[str, float] = descent.counts
    return [
        Check(
            "an iteration of gradient descent is one gradient, one pass over m·d numbers",
            counted["gradients"] == counted["passes"] == iterations + 1
            and bool(np.all(np.diff(descent.trace["evaluations"]) == 1)),
            f"{counted['gradients']:g} gradients in {iterations} iterations and one at the start",
        ),
        Check(
            "a pass of mini-batches is m/b steps on b rows each, bd numbers a step",
            off <= 1e-12 and all(costs) and bool(np.all(np.diff(passes.trace["passes"]) == 2)),
            f"b = 1, 4, 15, 60 of {m} rows: off a plain loop by {off:.1g}; the trace counts one "
            "pass for the steps and one for the look at F",
        ),
    ]  # fmt: skip


def _keep_in(ends: list[np.ndarray]) -> Callable[[tw.Step], None]:
    return lambda seen: ends.append(np.array(seen.w))


def _one_pass(X: np.ndarray, y: np.ndarray, b: int) -> tuple[np.ndarray, int, int]:
    """Steps on b rows in turn: where they lead, how many rows they touched, and their number."""
    w, touched, steps = np.zeros(X.shape[1]), 0, 0
    for first in range(0, len(y), b):
        rows, signs = X[first : first + b], y[first : first + b]
        slopes = -signs / (1.0 + np.exp(signs * (rows @ w)))
        w = w - 0.1 * (rows.T @ slopes / len(rows) + 0.1 * w)
        touched, steps = touched + len(rows), steps + 1
    return w, touched, steps


def _figure(every: list[Series], clock: Clock) -> Figure:
    hues = {"gd": 0, "sgd": 5, "mini-batch": 1, "sgd, sparse": 3}
    panels = []
    for size, title in (("m", "Samples"), ("d", "Features"), ("b", "Batch")):
        marks = []
        for each in every:
            if each.size != size:
                continue
            times = np.array([1e6 * clock.seconds(case) for case in each.cases])
            line = times[-1] * (each.sizes / each.sizes[-1]) ** each.power
            hue = hues[each.method]
            marks.append(curve(each.method, each.sizes, times, hue, dots=True))
            marks.append(curve("" if marks[:-1] else "theory", each.sizes, line, hue, theory=True))
        panels.append(panel(size, "µs an iteration", marks, log="xy", title=title))
    said = "; ".join(f"{each.method} like {each.size}^{clock.power(each):.2f}" for each in every)
    return figure(
        "Time of one iteration", panels,
        f"Beside lines of the powers that theory says, times grow: {said}.", columns=2,
    )  # fmt: skip


LAB = Lab(
    name="iteration-cost",
    claim="An iteration costs O(md) with gradient descent, O(d) with stochastic gradient descent "
    "and O(bd) with mini-batches of b samples.",
    formula="GD O(md),   SGD O(d),   mini-batch O(bd)",
    places=("A, Computation Cost", "B, Convergence Rate and Computational Complexity"),
    expected=Ruling.HOLDS,
    experiment=experiment,
    breaks=(
        Break("hundred", "a gradient of the first hundred samples", {"gradient": some_of_it}),
        Break(
            "whole", "mini-batches that are the whole data",
            {"stochastic": lambda batch=1, **options: tw.SGD(batch=10**6, **options)},
        ),
    ),
    fails_if=f"a fitted power of m, d or b more than {ALLOWED} off, a count of passes that "
    "differs, or a pass of mini-batches that ends elsewhere than m/b steps in plain NumPy",
    remark="For sparse data read d as the number of stored entries of a row.",
    code="""\
import time
import numpy as np
import thalweg as tw

rng = np.random.default_rng(0)
for m in (2_000, 8_000):
    X, y = rng.standard_normal((m, 300)), rng.choice([-1, 1], m)
    problem = tw.LinearProblem(X, y, "logistic", threads=1)
    w, spent = problem.start, []
    for _ in range(9):
        start = time.process_time()
        problem.gradient(w)
        spent.append(time.process_time() - start)
    print(f"m = {m}: {1e3 * min(spent):.2f} ms a gradient")
assert tw.theory.complexity.iteration_cost("gd", samples=m, features=300) == m * 300
""",
    seconds=1.8,
)  # fmt: skip
