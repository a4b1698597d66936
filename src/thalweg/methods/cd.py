"""Coordinate descent for l1 and elastic net: exact steps in one coefficient, over few features.

    minimise  F(w, b) = Σᵢ cᵢ ℓ(zᵢ, yᵢ) + (l2/2)‖w‖² + l1‖w‖₁,    z = Xw + b

or with an l1, an l2 and bounds for each column (`held`).

An iteration, at (w, b) with its scores z and v = Σᵢ cᵢℓ′ᵢxᵢ:

    working set   the features that are not zero or nearest to that (`working_set`), twice the
                  support in all; they alone are gathered from X
    model         ℓ + ℓ′·q + ½hq² for the loss, with q the change of the score, h = max(ℓ″, νκ)
    descent       ŵ, about the model's minimum over the working set: cyclic exact steps, sped up by
                  Anderson's extrapolation (`kernels.cd`), or by the Gram matrix below
    line search   w + t(ŵ − w) with t = 1, ½, ¼, … until F falls by 10⁻⁴ of its slope times t; a
                  trial costs O(n), since the scores of both ends are known. Then the best b
    screening     features that are zero at every optimum are not looked at again (`screening`);
                  once all others are gathered, nor is X

For the squared loss the model is F itself and t = 1. Otherwise κ is the curvature of a parabola
that touches ℓ from above: γ, the largest ℓ″, or ℓ′/r for Huber's loss. With h ≥ νκ, also where
ℓ″ = 0 (squared hinge, Huber), any descent on the model is one on F with t no less than about ν, and
the iterates converge to the optimum. ν falls tenfold after a whole step and grows tenfold after a
shortened one. At ν = 1 the model lies above F, and the step is whole; as ν → 0 steps become
Newton's.

The Gram matrix. Where X is sparse and rows have few entries in the working set, the model's Hessian

    H = Σᵢ cᵢhᵢx̂ᵢx̂ᵢᵀ + l2·I        x̂ the features of the working set, about their mean with a b

costs less than the sweeps that it saves: with it a step in one coefficient costs a row of H, and a
linear system jumps to the minimum on a support. Its working set is smaller. H serves again while no
other feature is beyond its bound, Σc|h − h of H| ≤ 0.1·Σch and the gradient falls to a fifth: of
smooth losses the change of h is about the rate of convergence.

The loop stops on the shortest subgradient of F at w, which is zero exactly at the optimum.

Cost: one pass over X and the gathering of new features an iteration, and sweeps over the working
set, which count as the part of a pass that they are, as do the pairs of entries for H. Memory: the
working set in float64, or H; O(n + p).
Extrapolation: Bertrand & Massias, AISTATS 2021; composite Newton steps: Lee, Sun & Saunders, SIAM
J. Optim. 24 (2014).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np

from thalweg.core.checks import check_count
from thalweg.core.errors import InputError
from thalweg.core.vector import dot
from thalweg.kernels import cd as kernels
from thalweg.kernels.duality import slopes_pass
from thalweg.kernels.losses import LOSSES
from thalweg.methods.column_screening import screened
from thalweg.methods.expectation import Difficulty, Expected
from thalweg.methods.held import held_of, penalties, rise, shortest_subgradient
from thalweg.methods.l1_quadratic import minimise_quadratic
from thalweg.methods.method import Method
from thalweg.methods.problem import Problem
from thalweg.methods.prox_newton import inside
from thalweg.methods.rounding import rounding_of
from thalweg.methods.screening import feature_spread
from thalweg.methods.working_set import (
    features_of,
    grown,
    nearness_of,
    products,
    scores_of,
    wanted_features,
)
from thalweg.objectives.columns import centred_gram, entries_in_rows, offsets, weighted
from thalweg.objectives.linear import MULTINOMIAL, LinearProblem

TIGHT = 0.01  # of the violation before: how far the model is minimised where sweeps are cheap
LOOSE = 0.1  # and where they have cost as much as a pass over X
FLOOR, LEAST_FLOOR = 1e-3, 1e-8  # ν at first, and at least
GRAM_FROM = 100_000  # entries of X: below, there is nothing to gain
MOST_PAIRS = 64  # of entries in a row, for each entry: H then costs less than some twenty sweeps
LONGEST = 30.0  # passes of an iteration, more on small data: a run is to be asked now and then
STALE = 0.1  # of Σch: an H whose curvatures are off by no more is used again,
GAIN = 0.2  # if the gradient fell to this part of itself by it
ACCEPT = 1e-4  # of the slope along the step, by which F must fall
HALVINGS = 40  # of a step at most: then it is lost in rounding
DENSE = "works on few features, which an l1 penalty leaves, or on such as are nearly orthogonal"
SWEEPS = {  # c and a; a loss that is not named has those of the logistic one
    "squared": (7.0, 0.25), "logistic": (13.0, 0.4),
    "squared-hinge": (12.0, 0.4), "huber": (12.0, 0.6),
}  # fmt: skip
LEAST_CROSSING = 1e-3
FREE = 1.0  # crossing of features up to which steps in one leave the others where they are

Scores = Callable[[np.ndarray], np.ndarray]  # Xw + b of a w


class CDState(NamedTuple):
    """All that coordinate descent carries from one iteration to the next."""

    w: np.ndarray  # coefficients and intercept, float[p] or [p + 1]
    value: float  # F(w)
    gradient: np.ndarray  # the shortest subgradient of F at w, as w
    z: np.ndarray  # Xw + b, float64[n]
    slopes: np.ndarray  # ℓ′(zᵢ), float64[n]
    v: np.ndarray  # Σ cᵢℓ′ᵢxᵢ, float64[p]
    means: np.ndarray  # of the features with an intercept, in the units of X, float64[p]
    spread: np.ndarray  # ‖xⱼ‖, weighted and about the mean, float64[p]
    is_out: np.ndarray  # zero at every optimum, bool[p]
    floor: float  # ν
    members: np.ndarray  # the working set, int64[k]
    data: np.ndarray  # its features, float64[k, n]; the entries of sparse ones, float64[nnz]
    indices: np.ndarray  # samples of those entries, int32[nnz]; empty where dense
    indptr: np.ndarray  # where each feature begins, int64[k + 1]; empty where dense
    lower: float  # F* is at least this
    chosen: np.ndarray  # the features of H, int64[m], ascending
    H: np.ndarray  # Σ cᵢhᵢx̂ᵢx̂ᵢᵀ + l2·I over them, x̂ about the mean with an intercept, float64[m, m]
    bends: np.ndarray  # the h of H, float64[n]; empty before the first H
    before: float  # ‖gradient‖∞ an iteration ago


@dataclass(frozen=True)
class CD(Method):
    """Coordinate descent. `working_set`: the number of features to begin with."""

    name: ClassVar[str] = "cd"
    State: ClassVar[type] = CDState
    takes_penalty: ClassVar[bool] = True
    takes_columns: ClassVar[bool] = True
    takes_noise: ClassVar[bool] = False
    only_linear: ClassVar[bool] = True
    descends: ClassVar[bool] = True
    by_parts: ClassVar[bool] = True
    working_set: int = 10
    anderson: bool = True
    screening: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("working_set", self.working_set)

    def check(self, problem: Problem) -> None:
        """Coordinates have exact steps where every sample has one score."""
        if not isinstance(problem.objective, LinearProblem):
            raise InputError(f"cd needs a LinearProblem, got {problem.name}: use method='fista'")
        if problem.objective.loss == MULTINOMIAL:
            able = "newton" if problem.is_composite else "newton-cg"
            raise InputError(
                f"cd needs a loss of one score a sample, got {problem.objective.loss}: "
                f"use method={able!r}"
            )

    def init(self, problem: Problem, w0: np.ndarray, rng: np.random.Generator) -> CDState:
        """The state at w₀ with the best intercept for it, no feature gathered."""
        data = problem.objective
        w0, (means, spread) = inside(data, w0), feature_spread(data)
        problem.passes += 1 + data.fit_intercept
        coefficients, b = data.split(w0)
        z = np.full(data.n, float(b))
        if np.any(coefficients):
            z = data.scores(w0)
            problem.passes += 1
        if data.fit_intercept:
            # Any other b would tilt v by the means of the features, and with it the working set.
            w0, code = w0.copy(), LOSSES[data.loss]
            w0[-1] += kernels.best_shift(code, z, data.y, data.weights, data.delta)
            z = z + (float(w0[-1]) - float(b))
        is_sparse = data.matrix.is_sparse
        start = CDState(
            w0, np.inf, w0, z, z, means, means, spread,
            floor=FLOOR,
            members=np.empty(0, dtype=np.int64),
            data=np.empty(0) if is_sparse else np.empty((0, data.n)),
            indices=np.empty(0, dtype=np.int32),
            indptr=np.zeros(1 if is_sparse else 0, dtype=np.int64),
            **_unknown(data.p),
        )  # fmt: skip
        return self._measured(problem, start)

    def moved(self, problem: Problem, state: CDState, rng: np.random.Generator) -> CDState:
        """The state where penalties are others: columns stay measured, and features gathered."""
        return self._measured(problem, state._replace(**_unknown(problem.objective.p)))

    def advance(self, problem: Problem, state: CDState) -> CDState:
        """Descend over the working set, then measure all features."""
        data = problem.objective
        if (small := self._with_gram(problem, state)) is not None:
            w = self._descend_gram(problem, small)
            found = self._arrived(problem, small, w, partial(_read_scores, problem))
            if found is not small:
                return found
        state, order = grown(problem, state, self.working_set)
        w = self._descend(problem, state, order)
        return self._arrived(problem, state, w, partial(scores_of, data, state))

    def expected(self, problem: LinearProblem, hard: Difficulty) -> Expected:
        """2/s^0.25 working sets, in all c/s^a sweeps, s = l1/l1_max: small sets where s is near 1.

        Without l1 55q^0.24 sweeps, q the crossing of features; twice as many where curvatures
        change.
        """
        if problem.is_smooth:
            bends = 55.0 if problem.loss == "squared" else 105.0
            steps = bends * min(max(hard.crossing, LEAST_CROSSING), FREE) ** 0.24
            passes = {"sweep": steps / 6.0, "call": 8.0}
            return Expected(None, 6.0, passes, 8, 10, "" if hard.crossing <= FREE else DENSE)
        s = max(hard.share, 1e-4)
        c, a = SWEEPS.get(problem.loss, SWEEPS["logistic"])
        sets = 2.0 / s**0.25
        return Expected(None, sets, {"sweep": c / s**a / sets, "call": 8.0}, 8, 10)

    def lower_bound(self, state: CDState) -> float:
        """The highest dual value of the slopes so far."""
        return state.lower

    def _arrived(self, problem: Problem, state: CDState, w: np.ndarray, scores: Scores) -> CDState:
        """The state on the way from state.w to `w` where F has fallen; `state` if there is none."""
        data, floor, z = problem.objective, state.floor, scores(w)
        if data.loss != "squared":
            w, z, floor = self._searched(data, state, w, z, scores)
        if np.array_equal(w, state.w):
            return state
        ahead = state._replace(w=w, z=z, floor=floor, before=_norm(state.gradient))
        found = self._measured(problem, ahead)
        if found.value < state.value:
            return found
        # At the rounding of F its gradient may still fall.
        is_level = found.value <= state.value + _rounding(data, state)
        return found if is_level and _norm(found.gradient) < _norm(state.gradient) else state

    def _with_gram(self, problem: Problem, state: CDState) -> CDState | None:
        """The state with H over a working set of its own, where that is the cheaper way."""
        data = problem.objective
        if not (data.l1 and data.matrix.is_sparse and data.matrix.entries >= GRAM_FROM):
            return None
        bends = self._bends(data, state)
        if state.bends.size and _norm(state.gradient) <= GAIN * state.before:
            is_missing = nearness_of(data, state) > 0.0
            is_missing[state.chosen] = False
            off = dot(data.weights, np.abs(bends - state.bends))
            if not is_missing.any() and off <= STALE * dot(data.weights, bends):
                return state
        chosen = wanted_features(data, state, self.working_set, is_small=True)
        counts = entries_in_rows(data, chosen)
        entries, pairs = float(counts.sum()), float(counts @ (counts + 1)) / 2.0
        problem.passes += 1
        if chosen.size**2 > entries or pairs > MOST_PAIRS * entries:
            return None
        problem.passes += 1 + round(pairs / data.matrix.entries)
        H = centred_gram(data, chosen, counts, data.weights * bends)
        return state._replace(chosen=chosen, H=H, bends=bends)

    def _descend_gram(self, problem: Problem, state: CDState) -> np.ndarray:
        """About the minimum over the working set of the model that H is of, as a point like w."""
        data = problem.objective
        w = state.w.copy()
        part = w[state.chosen].astype(np.float64)
        s = state.v[state.chosen] + data.l2 * part
        minimise_quadratic(state.H, s, data.l1, part, TIGHT * _norm(state.gradient))
        w[state.chosen] = part
        if data.fit_intercept:
            # As Σcᵢℓ′ᵢ = 0 at state.w, a change of b does not tilt the way there.
            code, z = LOSSES[data.loss], _read_scores(problem, w)
            w[-1] += kernels.best_shift(code, z, data.y, data.weights, data.delta)
        return w

    def _bends(self, data: LinearProblem, state: CDState) -> np.ndarray:
        """h, float64[n]."""
        bends = np.ones(data.n)
        if data.loss != "squared":
            floor = state.floor * data.curvature_bound
            kernels.curvatures(LOSSES[data.loss], state.z, data.y, data.delta, floor, bends)
        return bends

    def _descend(self, problem: Problem, state: CDState, order: np.ndarray) -> np.ndarray:
        """About the model's minimum over the working set, as a point like w."""
        data, members, A = problem.objective, state.members, features_of(state)
        roots = np.sqrt(data.weights)
        u = roots * state.slopes
        if data.loss != "squared":
            bends = np.sqrt(self._bends(data, state))
            roots, u, A = roots * bends, u / bends, weighted(A, bends)
        coefficients, b = data.split(state.w.astype(np.float64))
        part = coefficients[members]
        worst = _norm(state.gradient)
        # Of a pass over X, that a sweep costs; there may be no entries, and nothing to sweep.
        share = state.data.size * order.size / max(1, members.size * data.matrix.entries)
        budget = 1.0 / max(share, 1e-9)
        shift = offsets(data, members, state.means)
        b = float(b) + shift @ part
        r = roots if data.fit_intercept else np.zeros(data.n)
        change, sweeps = kernels.descend(
            A, r, order, held_of(data, members), TIGHT * worst, LOOSE * worst, budget,
            budget * max(LONGEST, LONGEST * GRAM_FROM / max(1, data.matrix.entries)),
            self.anderson, part, u,
        )  # fmt: skip
        problem.passes += round(sweeps * share)
        w = state.w.copy()
        w[members] = part
        if data.fit_intercept:
            w[-1] = b + change - shift @ part
        return w

    def _searched(
        self, data: LinearProblem, state: CDState, w: np.ndarray, z: np.ndarray, scores: Scores
    ) -> tuple[np.ndarray, np.ndarray, float]:
        """The point on the way from state.w to w where F has fallen enough, its z, and the next ν.

        state.w itself where there is none.
        """
        code, y, c = LOSSES[data.loss], data.y, data.weights
        theta = np.empty(data.n)
        slope = dot(c * state.slopes, z - state.z)
        old, new = (data.split(point.astype(np.float64))[0] for point in (state.w, w))
        slope += rise(data, old, new)
        noise = _rounding(data, state)
        t = 1.0
        for _ in range(HALVINGS):
            ahead = old + t * (new - old)
            value = slopes_pass(code, state.z + t * (z - state.z), y, c, data.delta, theta)
            value += penalties(data, ahead)
            if value <= state.value + ACCEPT * t * min(slope, 0.0) + noise:
                break
            t *= 0.5
        else:
            return state.w, state.z, state.floor
        if t < 1.0:
            w = inside(data, (state.w + t * (w - state.w)).astype(w.dtype))
            z = scores(w)
        if data.fit_intercept:
            w[-1] += kernels.best_shift(code, z, y, c, data.delta)
            z = scores(w)
        floor = state.floor / 10.0 if t == 1.0 else 10.0 * state.floor
        return w, z, min(max(floor, LEAST_FLOOR), 1.0)

    def _measured(self, problem: Problem, state: CDState) -> CDState:
        """The state with all that follows from its w and z."""
        data = problem.objective
        slopes = np.empty(data.n)
        code = LOSSES[data.loss]
        value = slopes_pass(code, state.z, data.y, data.weights, data.delta, slopes)
        w = state.w.astype(np.float64)
        coefficients, _ = data.split(w)
        value += penalties(data, coefficients)
        problem.gradients += 1
        v = products(problem, state, slopes)
        shortest = shortest_subgradient(data, coefficients, v, state.is_out)
        if data.fit_intercept:
            shortest = np.append(shortest, data.weights @ slopes)
        gap, is_out = screened(data, value, slopes, v, state.spread, state.is_out)
        return state._replace(
            value=value,
            gradient=shortest.astype(state.w.dtype),
            slopes=slopes,
            v=v,
            is_out=is_out if self.screening else state.is_out,
            lower=max(state.lower, value - gap),
        )


def _rounding(data: LinearProblem, state: CDState) -> float:
    """What rounding does to F(w): that of the value, and of the terms that cancel in the scores."""
    coefficients, _ = data.coefficients(state.w)
    sizes = dot(data.rows.lengths, np.abs(coefficients))
    reach = sizes * math.sqrt(dot(data.weights, state.slopes**2))
    return rounding_of(abs(state.value) + reach, state.w.dtype)


def _norm(gradient: np.ndarray) -> float:
    return float(np.max(np.abs(gradient)))


def _read_scores(problem: Problem, w: np.ndarray) -> np.ndarray:
    """Xw + b by a pass over X, float64[n]."""
    problem.passes += 1
    return problem.objective.scores(w)


def _unknown(p: int) -> dict[str, Any]:
    """What of a state depends on the penalties, before the first step with them."""
    return {
        "is_out": np.zeros(p, dtype=bool), "lower": -np.inf, "before": np.inf,
        "chosen": np.empty(0, dtype=np.int64), "H": np.empty((0, 0)), "bends": np.empty(0),
    }  # fmt: skip
