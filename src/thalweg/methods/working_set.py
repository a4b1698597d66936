"""The working set of coordinate descent: the few features that it looks at, gathered from X.

The support of w and the features nearest to their bound |vⱼ| = l1, by (|vⱼ| − l1)/‖xⱼ‖, twice the
support in all; a small set, whose Gram matrix is made, is of the features beyond their bound and a
few more, at most half as many again as the support. What was gathered stays: once all features that
may not be zero are, X is not read again.

Massias, Gramfort & Salmon, ICML 2018.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from thalweg.kernels import cd as kernels
from thalweg.kernels.rows import CSR
from thalweg.methods.held import leaning
from thalweg.methods.problem import Problem
from thalweg.objectives.columns import append, gather, offsets
from thalweg.objectives.linear import LinearProblem

if TYPE_CHECKING:
    from thalweg.methods.cd import CDState

# Of the features at first, if as many are beyond their bound: a sweep is cheap then. But no more
# than there are samples, since no more are needed at a time: under a weak l1 all are beyond it.
SHARE = 10
SPARE = 16  # one feature inside its bound for so many beyond: it may be wanted soon
SMALL_SHARE = 100  # of the features at first, where H grows with the square of their number


def wanted_features(
    data: LinearProblem, state: CDState, least: int, *, is_small: bool = False
) -> np.ndarray:
    """The working set, int64, ascending; a small one has few features inside their bound.

    `least`: of how many it is at least.
    """
    if data.is_smooth:
        return np.arange(data.p)
    nearness = nearness_of(data, state)
    support = int(np.count_nonzero(nearness == np.inf))
    beyond = int(np.count_nonzero(nearness > 0.0))  # the support among them
    if is_small:
        most = max(3 * support // 2, data.p // SMALL_SHARE)
        size = max(least, min(beyond + beyond // SPARE, most))
    else:
        size = max(least, 2 * support, min(beyond, data.p // SHARE, data.n))
        if np.count_nonzero(nearness > -np.inf) <= 2 * size:
            size = data.p  # with all that is left gathered, X need not be read again
    if size < data.p:
        far = np.argpartition(nearness, data.p - size)[: data.p - size]
        nearness[far] = -np.inf
    return np.flatnonzero(nearness > -np.inf)


def nearness_of(data: LinearProblem, state: CDState) -> np.ndarray:
    """(|vⱼ| − l1)/‖xⱼ‖, float64[p]; ∞ on the support, −∞ for what is out."""
    coefficients, _ = data.split(state.w)
    nearness = np.full(data.p, -np.inf)
    can_move = ~state.is_out & (state.spread > 0.0)
    beyond = leaning(data, coefficients, state.v)
    np.divide(beyond, state.spread, out=nearness, where=can_move)
    nearness[coefficients != 0.0] = np.inf
    return nearness


def grown(problem: Problem, state: CDState, least: int) -> tuple[CDState, np.ndarray]:
    """The state with all wanted features gathered, and their places among the members."""
    data = problem.objective
    wanted = wanted_features(data, state, least)
    places = np.full(data.p, -1)
    places[state.members] = np.arange(state.members.size)
    new = wanted[places[wanted] < 0]
    if not new.size:
        return state, places[wanted]
    problem.passes += 1 + data.matrix.is_sparse
    features = append(features_of(state), gather(data, new, state.means))
    parts = features if isinstance(features, CSR) else (features, state.indices, state.indptr)
    places[new] = state.members.size + np.arange(new.size)
    return state._replace(
        members=np.concatenate([state.members, new]),
        data=parts[0],
        indices=parts[1],
        indptr=parts[2],
    ), places[wanted]


def features_of(state: CDState) -> np.ndarray | CSR:
    """The features of the working set, as rows."""
    return CSR(state.data, state.indices, state.indptr) if state.indptr.size else state.data


def scores_of(data: LinearProblem, state: CDState, w: np.ndarray) -> np.ndarray:
    """Xw + b for a w that is zero outside the working set, float64[n]; b where a weight is zero."""
    coefficients, b = data.split(w.astype(np.float64))
    part = coefficients[state.members]
    z = np.zeros(data.n)
    kernels.add_scores(features_of(state), part, z)
    has_weight = data.weights > 0.0
    np.divide(z, np.sqrt(data.weights), out=z, where=has_weight)
    return z + (float(b) + offsets(data, state.members, state.means) @ part)


def products(problem: Problem, state: CDState, slopes: np.ndarray) -> np.ndarray:
    """v: a pass over X, or none where all that is not out has been gathered.

    v of a feature that is out is then the last that was seen; nothing depends on it.
    """
    data, members = problem.objective, state.members
    is_missing = ~state.is_out
    is_missing[members] = False
    if is_missing.any():
        problem.passes += 1
        return data.transpose(slopes)
    found, v = np.empty(members.size), state.v.copy()
    kernels.products(features_of(state), np.sqrt(data.weights) * slopes, found)
    v[members] = found + offsets(data, members, state.means) * (data.weights @ slopes)
    return v
