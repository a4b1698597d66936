"""What SAG, IAG, SAGA and SVRG share: a memory of slopes, a way to visit samples, a step.

The step is, with L_eff of `methods.sampling` (l2 included) and b samples a step,

    None       what practice takes: factor/L_b, the factor each method's own
    "theory"   what its theorem takes
    "search"   factor/L, L by a test at every sample that costs no look at its row
    a number

    L_b = (n(b − 1)·L_mean + (n − b)·L_eff)/(b(n − 1))

the smoothness of a mini-batch, between L_eff for one sample and the mean for all. Visits in turn or
in shuffled passes leave SAG, IAG and SAGA half of `theory.stability.remembered_limit` at most. The
memory begins

    "seen"     empty: sums are divided by the number of samples seen so far, each counted npᵢ times
    "zero"     with zeros, divided by n: as theorems have it
    "full"     with the slopes at w₀, for the price of a pass
    None       "seen" from w₀ = 0, else "full": a good start is not to be lost in the first steps

The loop is told the size of d = g/m + l2·w, the direction of the last step, which tends to the
gradient as the slopes become exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from thalweg.core.checks import check_choice, check_count, check_number
from thalweg.core.errors import InputError
from thalweg.kernels.incremental import SVRG, Memory, Rule, dense_pass, snapshot_pass, sparse_pass
from thalweg.kernels.lag import cells_of
from thalweg.kernels.leaves import leaf_edges, tree_sum
from thalweg.kernels.rows import is_sparse
from thalweg.kernels.sum_tree import sum_tree
from thalweg.methods.expectation import Difficulty, Expected
from thalweg.methods.method import Method
from thalweg.methods.problem import Problem
from thalweg.methods.sampling import SAMPLINGS, Sampler, sampler
from thalweg.objectives.finite_sum import (
    enter,
    leave,
    leave_gradient,
    rows_are_as_seen,
    sample_smoothness,
)
from thalweg.objectives.linear import LinearProblem
from thalweg.theory.stability import remembered_limit

STARTS = ("seen", "zero", "full")
STEPS = ("theory", "search")
FEW = 3_000  # samples of several classes with l1: fewer are visited as often
LARGEST = 0.999  # η·l2 at most: at 1 the penalty takes all of w away in one step
DAMPED = 0.5  # of the limit beyond which slopes remembered in turn rock w
LEAST = 2.0**-20  # of Lᵢ, which an estimate of it does not fall below


class IncrementalState(NamedTuple):
    """All that these methods carry from one pass to the next."""

    w: np.ndarray  # iterate, float[dim]
    value: float  # F(w)
    gradient: np.ndarray  # d, or its gradient mapping where there is l1, float[dim]
    v: np.ndarray  # the iterate in float64, for the rows as they are stored, float64[dim]; or w
    g: np.ndarray  # Σ sᵢx̃ᵢ, float64[dim]. Changed in place.
    slopes: np.ndarray  # s, float64[n·K]; NaN where never seen. Changed in place.
    tree: np.ndarray  # sum tree of the Lᵢ that are estimated, or empty. Changed in place.
    numbers: np.ndarray  # m, L, largest Lᵢ: float64[3]
    rng: np.random.Generator


class Pull(NamedTuple):
    """A term (κ/2)‖w − c‖² to be added to F for a pass, which Catalyst asks for."""

    kappa: float
    centre: np.ndarray  # c, like `v` of the state, float64[dim]


@dataclass(frozen=True)
class Incremental(Method):
    """Base of these methods: options, their checks, and one pass as an iteration."""

    State: ClassVar[type] = IncrementalState
    takes_penalty: ClassVar[bool] = True
    takes_noise: ClassVar[bool] = False
    only_linear: ClassVar[bool] = True
    needs_bound: ClassVar[bool] = True
    law: ClassVar[str] = "16·max(L_max/(nμ), ½) log(1/ε) passes, in expectation"
    kind: ClassVar[int]  # of the kernel
    factor: ClassVar[float]  # η·L of practice
    theory_factor: ClassVar[float]  # and of the theorem
    step: float | str | None = None
    sampling: str = "lipschitz"
    batch: int = 1
    start: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_step(self.step)
        check_choice("sampling", self.sampling, SAMPLINGS)
        check_count("batch", self.batch)
        if self.start is not None:
            check_choice("start", self.start, STARTS)

    def check(self, problem: Problem) -> None:
        """It takes samples to visit, and a step that the l2 penalty can bear."""
        check_samples(self, problem)

    def init(self, problem: Problem, w0: np.ndarray, rng: np.random.Generator) -> Any:
        """The state at w₀, the memory as `start` says."""
        data = problem.objective
        start = self.start or ("full" if w0.any() else "seen")
        tree, numbers = self.prepared(problem)
        slopes = np.full(data.n * data.outputs, 0.0 if start == "zero" else np.nan)
        v, g = enter(data, w0), np.zeros(data.dim)
        if start == "full":
            return self.at_snapshot(problem, v, g, slopes, tree, numbers, rng)
        numbers[0] = data.n if start == "zero" else 0.0
        value, gradient = problem.value_and_gradient(w0)
        return IncrementalState(
            w0,
            value + problem.penalty(w0),
            self.stationarity(problem, w0, gradient, numbers),
            v, g, slopes, tree, numbers, rng,
        )  # fmt: skip

    def prepared(self, problem: Problem) -> tuple[np.ndarray, np.ndarray]:
        """The tree and the numbers of the memory.

        What the run keeps of its problem is made here as well, before the state takes its memory:
        it needs some in passing.
        """
        self.fixed_step(problem, problem.objective.l2)
        self.largest_step(problem, problem.objective.l2)
        return first_search(self, problem.objective)

    def advance(self, problem: Problem, state: Any) -> Any:
        """One pass: n samples visited. Slopes, g and the tree of `state` change in place."""
        return self.travel(problem, state)

    def travel(self, problem: Problem, state: Any, pull: Pull | None = None) -> IncrementalState:
        """One pass over F and, where it is given, a pull."""
        data = problem.objective
        v, numbers = visit(self, problem, state, data.n, pull)
        w = leave(data, v)
        gradient = direction(data, v, state.g, numbers[0])
        return IncrementalState(
            w,
            problem.value(w) + problem.penalty(w),
            self.stationarity(problem, w, gradient, numbers),
            v, state.g, state.slopes, state.tree, numbers, state.rng,
        )  # fmt: skip

    def at_snapshot(
        self,
        problem: Problem,
        v: np.ndarray,
        g: np.ndarray,
        slopes: np.ndarray,
        tree: np.ndarray,
        numbers: np.ndarray,
        rng: np.random.Generator,
    ) -> IncrementalState:
        """The state at `v`; its slopes and g, changed in place, and its value come of one pass."""
        data = problem.objective
        loss = snapshot(problem, v, slopes, g)
        numbers[0] = data.n
        value = loss + data.ridge(v[: data.p * data.outputs])
        w = leave(data, v)
        gradient = direction(data, v, g, data.n)
        return IncrementalState(
            w,
            value + problem.penalty(v),
            self.stationarity(problem, w, gradient, numbers),
            v, g, slopes, tree, numbers, rng,
        )  # fmt: skip

    def expected(self, problem: LinearProblem, hard: Difficulty) -> Expected | None:
        """(½ + 1.5s) log(1/ε) passes, at least 8, where 16·max(L_max/(nμ), ½) log(1/ε) are sure.

        With l1 and several classes at most 1.5 log(1/ε)/s^¼, s = l1/l1_max, as is usual there, and
        as many visits of few samples as of `FEW`.
        """
        bound = 16.0 * max(hard.worst, 0.5) * hard.digits if hard.is_certain else None
        count = max(8.0, (0.5 + 1.5 * hard.s) * hard.digits)
        if problem.l1 and problem.outputs > 1:
            usual = 1.5 * hard.digits / max(hard.share, 1e-4) ** 0.25
            count = min(count, usual * max(1.0, FEW / problem.n))
        return Expected(bound, count, {"visits": 1.0}, 8, 9)

    def stationarity(
        self, problem: Problem, w: np.ndarray, gradient: np.ndarray, numbers: np.ndarray
    ) -> np.ndarray:
        """The gradient, or with l1 the mapping (w − S(w − η∇, η·l1))/η: zero at the minimizers."""
        gradient = gradient.astype(w.dtype, copy=False)
        if not problem.is_composite:
            return gradient
        l2 = problem.objective.l2
        step = self.fixed_step(problem, l2)
        if self.step == "search":
            searched = self.factor / (max(numbers[1], numbers[2]) + l2)
            step = min(searched, self.largest_step(problem, l2))
        return problem.mapping(w, gradient, step)

    def fixed_step(self, problem: Problem, l2: float) -> float:
        """η where it is fixed, for this l2; 0 where it is searched for."""
        if self.step == "search":
            return 0.0
        if isinstance(self.step, float | int):
            return float(self.step)
        factor = self.factor if self.step is None else self.theory_factor
        L = problem.kept("L_b", lambda: batch_smoothness(self, problem)) + l2
        if L == 0.0:
            return 1.0  # all rows are zero: any step does
        return min(factor / L, self.largest_step(problem, l2))

    def largest_step(self, problem: Problem, l2: float) -> float:
        """η at most: what the penalty bears and, of remembered slopes in turn, what is stable."""
        largest = LARGEST / l2 if l2 else np.inf
        if self.sampling not in ("cyclic", "shuffled"):
            return largest
        if self.kind == SVRG and self.step != "search":
            return largest  # its slopes do not grow old; but a search may always miss one in turn
        n = -(-problem.objective.n // self.batch)  # steps a pass
        L = problem.kept("L", lambda: data_smoothness(problem.objective)) + l2
        if L == 0.0:
            return largest
        return min(largest, DAMPED * remembered_limit(L, samples=n, order=self.sampling))


def check_step(step: Any) -> None:
    """Raise unless the step is None, a number above 0, or one of `STEPS`."""
    if isinstance(step, str):
        check_choice("step", step, STEPS)
    elif step is not None:
        check_number("step", step, above=0.0, advice="leave it out to have it chosen")


def check_samples(method: Any, problem: Problem) -> None:
    """Raise unless the objective is a sum over samples that this step and batch fit."""
    data = problem.objective
    if not isinstance(data, LinearProblem):
        raise InputError(
            f"{method.name} needs a LinearProblem, whose samples it can visit one by one, got "
            f"{problem.name}: use method='gd' or 'adam'"
        )
    if method.batch > data.n:
        raise InputError(
            f"batch must be at most {data.n}, the number of samples, got {method.batch}"
        )
    step = method.step
    if isinstance(step, float | int) and step * data.l2 >= 1.0:
        raise InputError(
            f"step must be below 1/l2 = {1.0 / data.l2:g}, got {step:g}: "
            "leave it out to have it chosen"
        )


def first_search(method: Any, data: LinearProblem) -> tuple[np.ndarray, np.ndarray]:
    """The sum tree, empty unless each Lᵢ is estimated, and the numbers of the memory."""
    numbers = np.zeros(3)
    if method.step != "search":
        return np.empty(0), numbers
    rows = sample_smoothness(data)
    # From above: a large Lᵢ that is met late has let w go astray by then.
    numbers[1:] = rows.max() or 1.0
    is_drawn = method.sampling == "lipschitz" and rows.any()
    return sum_tree(rows) if is_drawn else np.empty(0), numbers


def snapshot(problem: Problem, v: np.ndarray, slopes: np.ndarray, g: np.ndarray) -> float:
    """Write the slopes at `v` into `slopes` and Σ sᵢx̃ᵢ into `g`, in place; the mean loss."""
    data = problem.objective
    samples, count, b = data.samples, data.p * data.outputs, intercepts(data, v)
    g[:] = 0.0

    def leaf(start: int, stop: int) -> tuple[float, np.ndarray]:
        part = g if start == 0 else np.zeros(data.dim)  # the first leaf needs none of its own
        sums = part[:count], intercepts(data, part)
        return snapshot_pass(samples, v[:count], b, start, stop, slopes, *sums), part

    edges = leaf_edges(data.n, data.matrix.entries * data.outputs, data.dim)
    loss, _ = tree_sum(leaf, edges, data.threads)
    problem.count_samples(data.n)
    return loss / data.n


def direction(data: LinearProblem, v: np.ndarray, g: np.ndarray, seen: float) -> np.ndarray:
    """d = g/m + l2·w in the variables of the problem, a fresh float64[dim]."""
    count = data.p * data.outputs
    d = g / seen
    d[:count] += data.l2 * v[:count]
    return leave_gradient(data, d)


def intercepts(data: LinearProblem, v: np.ndarray) -> np.ndarray:
    """The intercepts of `v` as a view, or zeros where the model has none, float64[K]."""
    return v[data.p * data.outputs :] if data.fit_intercept else np.zeros(data.outputs)


def visit(
    method: Any, problem: Problem, state: Any, count: int, pull: Pull | None
) -> tuple[np.ndarray, np.ndarray]:
    """Visit `count` samples: v, fresh, and the numbers. Slopes, g and tree change in place."""
    data, v, g, numbers = problem.objective, state.v.copy(), state.g, state.numbers.copy()
    kappa = pull.kappa if pull else 0.0
    if pull:
        g -= data.n * kappa * pull.centre  # the gradient of −κ⟨c, w⟩, as if of the samples
    coefficients = data.p * data.outputs
    memory = Memory(
        v[:coefficients],
        intercepts(data, v),
        g[:coefficients],
        intercepts(data, g),
        state.slopes,
        state.tree,
        numbers,
    )
    l2, least = data.l2 + kappa, LEAST * data.curvature_bound
    step, largest = method.fixed_step(problem, l2), method.largest_step(problem, l2)
    rule = Rule(method.kind, method.batch, step, method.factor, largest, least, data.l1, l2, kappa)
    if state.tree.size:
        order, odds = np.empty(count, dtype=np.int64), state.rng.random(count)
    else:
        draw = sampler_of(method, problem)
        order, odds = draw.order(count, state.rng), draw.odds
    if is_sparse(data.samples.X):
        cells = cells_of(memory.w, memory.g, data.l1)
        sparse_pass(data.samples, order, odds, rule, memory, cells, lag_block(data))
        del cells  # before anything else is made
    else:
        dense_pass(data.samples, order, odds, rule, memory)
    problem.count_samples(count)
    if pull:
        g += data.n * kappa * pull.centre
    return v, numbers


def data_smoothness(data: LinearProblem) -> float:
    """A bound on L without l2: by Lanczos, or the mean Lᵢ if that is less."""
    mean = float(sample_smoothness(data).mean())
    if not rows_are_as_seen(data):
        return mean  # Lanczos takes the features as centred, which these rows are not
    return min(mean, data.smoothness - data.l2)


def lag_block(data: LinearProblem) -> int:
    """After how many steps all coefficients catch up: then it costs an eighth of these steps."""
    nnz = max(1.0, data.matrix.entries / data.n)
    return int(min(max(64, 8 * data.p / nnz), 16_384))


def sampler_of(method: Any, problem: Problem) -> Sampler:
    """The sampler of a run, made once."""
    data = problem.objective
    return problem.kept(
        "sampler", lambda: sampler(method.sampling, sample_smoothness(data) + data.l2)
    )


def batch_smoothness(method: Any, problem: Problem) -> float:
    """L_b without l2."""
    data, b, draw = problem.objective, method.batch, sampler_of(method, problem)
    rows, n = sample_smoothness(data), data.n
    single = draw.smoothness(rows)
    if n == 1:
        return single
    return (n * (b - 1) * float(rows.mean()) + (n - b) * single) / (b * (n - 1))
