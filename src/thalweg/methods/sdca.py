"""SDCA: maximise the dual of a linear problem, one sample at a time.

    P(w, b) = Σᵢ cᵢ ℓᵢ(xᵢᵀw + b) + (l2/2)‖w‖² + l1‖w‖₁
    D(θ)    = −Σᵢ cᵢ ℓᵢ*(θᵢ) − Σⱼ max(0, |vⱼ| − l1)²/(2·l2)        v = Σᵢ cᵢθᵢxᵢ

Every θ stands for coefficients w = −S(v, l1)/l2, S the soft threshold. Visiting sample i moves its
dual to the best value while the others stay, for l1 > 0 that of a lower bound that touches D:

    θᵢ ← argmax over t of  −ℓᵢ*(t) + z(t − θᵢ) − (q/2)(t − θᵢ)²        z = xᵢᵀw + b
    v  ← v + (change of cᵢθᵢ) xᵢ                                      q = cᵢ‖xᵢ‖²/l2

which has a closed form or a few Newton steps (`kernels.sdca`), no step size, and never lowers D.

An intercept asks for Σ cᵢθᵢ = 0, which no move of a single dual can keep. So b is drawn to a centre
by a proximal term (κ/2)(b − b_k)², which makes it one more coefficient,

    b = b_k − σ/κ        σ = Σᵢ cᵢθᵢ        q = cᵢ(‖xᵢ‖²/l2 + 1/κ)

and after every pass the centre moves to where b is: the proximal point method in b alone. Where
neither passes nor centres move anything, θᵢ = ℓ′(zᵢ) for all i, w = −S(v, l1)/l2 and b = b_k, hence
σ = 0: the conditions of the optimum of P, whatever κ is. With Φ(b) = min P(·, b), a centre's
distance shrinks by κ/(κ + Φ″); and as w can take over the part of b by moving along a row,
Φ″ is of the order of l2/‖x‖² or of the mean ℓ″, whichever is smaller. A smaller κ stiffens q. Taken
is, anew for every pass,

    κ = min(10·l2/mean‖x‖², ¼·mean ℓ″)

and with it a problem takes about as many passes as without an intercept.

Cost: a dot product and an addition of one row a step, and a value of P a pass. Memory O(n + p).
Shalev-Shwartz & Zhang, Math. Program. 155 (2016); Hsieh et al., ICML 2008; the logistic step: Yu,
Huang & Lin, Mach. Learn. 85 (2011); the intercept: Rockafellar, SIAM J. Control Optim. 14 (1976).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from thalweg.core.checks import check_choice, check_count
from thalweg.core.errors import InputError
from thalweg.kernels.duality import (
    class_conjugates_pass,
    class_slopes_pass,
    conjugates_pass,
    slopes_pass,
)
from thalweg.kernels.linear import class_transpose_pass, squares_pass, transpose_pass
from thalweg.kernels.sdca import (
    SMALLEST,
    Samples,
    class_dual_pass,
    dual_pass,
    slope_and_curvature,
)
from thalweg.methods.method import Method
from thalweg.methods.problem import Problem
from thalweg.objectives.finite_sum import enter, finite_sum, leave
from thalweg.objectives.linear import LinearProblem
from thalweg.rules.soft_threshold import soft_threshold

SAMPLINGS = ("shuffled", "cyclic", "uniform")
STIFFEST = 10.0  # κ over l2/mean‖x‖²: from 3 to 30 passes are about as many
SHARE = 0.25  # κ over the mean ℓ″
NO_SLOPE = 1000.0  # a margin at which the logistic slope is zero


class SDCAState(NamedTuple):
    """All that SDCA carries from one pass to the next."""

    w: np.ndarray  # (w, b), float[dim]
    value: float  # P(w, b)
    gradient: np.ndarray  # what the last pass took from v, and σ: zero at the optimum; first ∇P(w₀)
    memory: np.ndarray  # sᵢ with θᵢ = ℓ′(sᵢ), float64[n], or θᵢ + e_y, float64[n, K]; first empty
    u: np.ndarray  # −v/l2, float64[p] or [p, K]; first empty
    b: np.ndarray  # b_k, float64[K]; first empty
    rng: np.random.Generator


@dataclass(frozen=True)
class SDCA(Method):
    """Dual coordinate ascent over shuffled blocks of rows."""

    name: ClassVar[str] = "sdca"
    State: ClassVar[type] = SDCAState
    takes_penalty: ClassVar[bool] = True
    takes_noise: ClassVar[bool] = False
    only_linear: ClassVar[bool] = True
    passes: int = 1
    sampling: str = "shuffled"
    block: int = 16

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("passes", self.passes)
        check_choice("sampling", self.sampling, SAMPLINGS)
        check_count("block", self.block)

    def check(self, problem: Problem) -> None:
        """Without l2 there is no w for a dual point."""
        objective = problem.objective
        if not isinstance(objective, LinearProblem):
            raise InputError(f"sdca needs a LinearProblem, got {problem.name}: use method='lbfgs'")
        if objective.l2 == 0.0:
            raise InputError("SDCA needs l2 > 0 (got 0): add an l2 penalty, or use method='saga'.")

    def init(self, problem: Problem, w0: np.ndarray, rng: np.random.Generator) -> SDCAState:
        """The state at w₀, no dual made yet."""
        value, gradient = problem.value_and_gradient(w0)
        empty = np.empty(0)
        return SDCAState(w0, value + problem.penalty(w0), gradient, empty, empty, empty, rng)

    def advance(self, problem: Problem, state: SDCAState) -> SDCAState:
        """One pass, or several."""
        data: LinearProblem = problem.objective
        samples = _samples(data)
        _, _, _, memory, u, b, rng = state if state.b.size else _begin(problem, samples, state)
        memory, u = memory.copy(), u.copy()
        for _ in range(self.passes):
            sigma, pull = _pull(data, samples, memory)
            b, before = b - pull * sigma, u.copy()
            visit = class_dual_pass if data.outputs > 1 else dual_pass
            visit(samples, pull, self._blocks(data.n, rng), self.block, memory, u, b)
            problem.gradients += 1
            problem.passes += 1
        sigma, _ = _pull(data, samples, memory)
        w = leave(data, _join(data, soft_threshold(u, samples.threshold), b))
        gradient = _join(data, data.l2 * (before - u), sigma).astype(w.dtype)
        value = problem.value(w) + problem.penalty(w)
        return SDCAState(w, value, gradient, memory, u, b, rng)

    def _blocks(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """The blocks of rows in the order to visit, int64."""
        count = -(-n // self.block)
        if self.sampling == "uniform":
            return rng.integers(count, size=count)
        return rng.permutation(count) if self.sampling == "shuffled" else np.arange(count)


_SAMPLES: WeakKeyDictionary[LinearProblem, Samples] = WeakKeyDictionary()


def _samples(data: LinearProblem) -> Samples:
    """The rows of `data`, made once: their norms take a pass."""
    if data not in _SAMPLES:
        rows = finite_sum(data)
        squares = rows.squares
        if data.fit_intercept:
            # Without the intercept's 1, and not by subtracting it: tiny rows would be lost.
            squares_pass(rows.X, 0, data.n, squares)
        _SAMPLES[data] = Samples(
            rows.X, rows.y, data.weights, squares, rows.code, rows.delta, data.l2,
            data.l1 / data.l2,
        )  # fmt: skip
    return _SAMPLES[data]


def _begin(problem: Problem, samples: Samples, state: SDCAState) -> SDCAState:
    """The state with duals: the slopes at w₀, or none where those are worse or w₀ = 0."""
    data: LinearProblem = problem.objective
    flat = enter(data, state.w)
    count = data.p * data.outputs
    b = flat[count:] if data.fit_intercept else np.zeros(data.outputs)
    if np.any(flat[:count]):
        z = data.scores(state.w)
        theta, u = _slopes(data, samples, z)
        problem.passes += 2
        memory = z if data.outputs == 1 else np.maximum(theta + _one_hot(data), SMALLEST)
        if _dual(data, samples, memory, theta, u, b) >= 0.0:
            return state._replace(memory=memory, u=u, b=b)
    # θ = 0, whose dual value is 0.
    memory = _one_hot(data) if data.outputs > 1 else samples.y.copy()
    if data.loss == "logistic":
        memory *= NO_SLOPE
    u = np.zeros((data.p, data.outputs) if data.outputs > 1 else data.p)
    return state._replace(memory=memory, u=u, b=b)


def _slopes(data: LinearProblem, samples: Samples, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """θ = ℓ′(z), and u = −v/l2 that belongs to it."""
    theta = np.empty_like(z) if data.outputs == 1 else z.copy()
    if data.outputs == 1:
        u = np.zeros(data.p)
        slopes_pass(samples.code, z, samples.y, samples.c, samples.delta, theta)
        transpose_pass(samples.X, samples.c * theta, 0, data.n, u)
    else:
        u = np.zeros((data.p, data.outputs))
        class_slopes_pass(theta, data.y, samples.c)
        class_transpose_pass(samples.X, samples.c[:, None] * theta, 0, data.n, u)
    return theta, u / -data.l2


def _dual(
    data: LinearProblem,
    samples: Samples,
    memory: np.ndarray,
    theta: np.ndarray,
    u: np.ndarray,
    b: np.ndarray,
) -> float:
    """D(θ) with b drawn to its centre."""
    if data.outputs == 1:
        conjugates, _ = conjugates_pass(samples.code, theta, samples.y, samples.c, samples.delta)
    else:
        conjugates, _ = class_conjugates_pass(theta, data.y, samples.c)
    sigma, pull = _pull(data, samples, memory)
    ridge = 0.5 * data.l2 * float(np.sum(soft_threshold(u, samples.threshold) ** 2))
    return -conjugates - ridge + float(b @ sigma - 0.5 * pull * sigma @ sigma)


def _pull(data: LinearProblem, samples: Samples, memory: np.ndarray) -> tuple[np.ndarray, float]:
    """σ, float64[K], and 1/κ; zeros where there is no intercept."""
    if not data.fit_intercept:
        return np.zeros(data.outputs), 0.0
    c = samples.c
    if data.outputs > 1:
        sigma = c @ memory - c @ _one_hot(data)
        curvature = float(np.min(c @ (memory * (1.0 - memory))))
    else:
        slope, curvature = slope_and_curvature(samples, memory)
        sigma = np.array([slope])
    # At least that of one sample; none at all is where θ = 0, before the first pass.
    bound = data.curvature_bound
    curvature = max(curvature, bound / data.n) if curvature > 0.0 else bound
    length = float(c @ samples.squares)
    return sigma, max(length / (STIFFEST * data.l2), 1.0 / (SHARE * curvature))


def _one_hot(data: LinearProblem) -> np.ndarray:
    return (data.y[:, None] == np.arange(data.outputs)).astype(np.float64)


def _join(data: LinearProblem, coefficients: np.ndarray, intercepts: np.ndarray) -> np.ndarray:
    flat = coefficients.ravel()
    return np.append(flat, intercepts) if data.fit_intercept else flat
