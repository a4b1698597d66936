"""Which columns repeat another one, up to scale, and up to a shift where there is an intercept?

Two columns are the same feature when |ρ| = 1 for their correlation ρ (their cosine without an
intercept). All pairs would be p²; a random projection makes them one number each,

    aⱼ = |Σᵢ cᵢrᵢ(xᵢⱼ − mⱼ)| / σⱼ               r ~ N(0, I), σ the size without an intercept

and repeats have the same a. Three projections agree by chance for about p²·δ³ pairs, δ = 1e-6 being
the tolerance; what agrees is then looked at itself, so that no chance is left.

Cost: three passes over X and a sort of p numbers, besides the pairs that are found.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse

from thalweg.doctor.linear.facts.sizes import Sizes
from thalweg.kernels.linear import transpose_pass
from thalweg.kernels.rows import CSR
from thalweg.objectives.columns import gather
from thalweg.objectives.linear import LinearProblem

PROJECTIONS = 3
AGREEMENT = 1e-6  # of the largest projection
REPEATED = 1e-9  # 1 − |ρ| of the same feature, up to rounding
BLOCK = 2_000_000  # entries of the pairs that are looked at together


def repeats(problem: LinearProblem, sizes: Sizes) -> np.ndarray:
    """Pairs (first, repeat) of columns, int64[k, 2]; constant ones are no repeats."""
    lengths = sizes.deviations if problem.fit_intercept else sizes.sizes
    varying = np.flatnonzero(lengths > 0.0)
    marks = _marks(problem, sizes, lengths)[:, varying]
    tolerance = AGREEMENT * np.abs(marks).max(initial=0.0)
    order = np.argsort(marks[0], kind="stable")
    is_near = np.all(np.abs(np.diff(marks[:, order], axis=1)) <= tolerance, axis=0)
    group = np.concatenate([[0], np.cumsum(~is_near)]) if order.size else np.zeros(0, int)
    members = varying[order]
    first = np.full(group.max(initial=-1) + 1, problem.p)
    np.minimum.at(first, group, members)
    pairs = np.column_stack([first[group], members])
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    is_repeat = np.abs(_correlations(problem, sizes, lengths, pairs)) >= 1.0 - REPEATED
    found = pairs[is_repeat]
    return found[np.argsort(found[:, 1], kind="stable")]


def _marks(problem: LinearProblem, sizes: Sizes, lengths: np.ndarray) -> np.ndarray:
    """a of every column, signed so that the first is not negative, float64[3, p]."""
    rng = np.random.default_rng(0)
    marks = np.zeros((PROJECTIONS, problem.p))
    for mark in marks:
        a = problem.weights * rng.standard_normal(problem.n)
        transpose_pass(problem.matrix.rows, a, 0, problem.n, mark)
        if problem.fit_intercept:
            mark -= sizes.means * a.sum()
    marks /= np.where(lengths > 0.0, lengths, 1.0)
    return marks * np.where(marks[0] < 0.0, -1.0, 1.0)


def _correlations(
    problem: LinearProblem, sizes: Sizes, lengths: np.ndarray, pairs: np.ndarray
) -> np.ndarray:
    """ρ of each pair, float64[k], a block of pairs at a time."""
    means = sizes.means if problem.fit_intercept else np.zeros(problem.p)
    scales = problem.features.units
    rho = np.empty(len(pairs))
    step = max(1, BLOCK // problem.n)
    for start in range(0, len(pairs), step):
        left, right = pairs[start : start + step].T
        wanted, places = np.unique([left, right], return_inverse=True)  # each gathered once
        rows = gather(problem, wanted, means)
        if isinstance(rows, CSR):
            A = scipy.sparse.csr_array(tuple(rows), shape=(wanted.size, problem.n))
            products = A[places[0]].multiply(A[places[1]]).sum(axis=1)
            products = products - scales[left] * means[left] * scales[right] * means[right]
        else:
            products = np.einsum("ki,ki->k", rows[places[0]], rows[places[1]])
        size = scales[left] * lengths[left] * scales[right] * lengths[right]
        rho[start : start + step] = products / size
    return rho
