"""The squared loss along a path of penalties, over the few features that it needs.

    minimise  ½ Σᵢ cᵢ (xᵢᵀw + b − yᵢ)² + l1ₖ‖w‖₁ + ½l2ₖ‖w‖²        k = 1, 2, …, from the one before

With more features than samples most coefficients are zero all the way. At a point, with the slopes
v = Σ cᵢ(zᵢ − yᵢ)xᵢ of the point before:

    wanted     features with |vⱼ| ≥ l1ₖ − ½(l1ₖ₋₁ − l1ₖ); those that are new are gathered from X,
               and the Gram matrix H of all that were gathered gets their rows
    descent    sweeps over H and systems on the support (`quadratic_path`), as if these were all
    check      v at the result, of all features, which is a pass over X and makes the duality gap:
               features beyond l1ₖ join, until the gap is small

Several points go together, for what a look at them takes whatever the data are: wanted is what the
last of them wants. The rule for that is a guess (the strong rule, with half of its margin), the gap
is not.

Cost: a pass over X for a point, two where the guess was wrong; n·m for a new feature among m; a row
of H for each move of a coordinate. Memory: m(m + n) numbers, and n + p for each of a few points.
Tibshirani et al., J. R. Stat. Soc. B 74 (2012), for the strong rule.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
import scipy.sparse

from thalweg.certificates.dual_point import unit
from thalweg.certificates.duality import Gap
from thalweg.certificates.path_gaps import Residuals, pulls, residual_gaps
from thalweg.kernels.rows import CSR
from thalweg.methods.quadratic_path import QuadraticPath
from thalweg.methods.screening import feature_spread
from thalweg.objectives.columns import append, gather, offsets
from thalweg.objectives.linear import LinearProblem

TOGETHER = 10  # points at most,
REACH = 0.4  # as long as the last l1 is no less than this part of the first
AHEAD = 0.5  # of the step to the next l1: how far slopes are expected to move
AIM = 0.3  # of the gap that is asked for, over the gathered features
SHARPER = 0.1  # of that, where it was not enough
MOST_ROUNDS = 20  # at a point
MOST_MEMBERS = 3_000  # of H, 72 MB
FEWEST = 64  # that H has room for
NOWHERE = 1e-13  # of ‖x‖²: the square of a feature that is constant, but for rounding


class PathPoint(NamedTuple):
    """A point of the path, in the variables that were asked for."""

    w: np.ndarray  # float[dim]
    gap: Gap
    norm: float  # of the shortest subgradient
    start: tuple[float, float]  # value and gap where it began, over the gathered features
    rounds: int
    is_done: bool  # whether the gap is small enough


class _Members:
    """The gathered features, their Gram matrix and where the path is, all growing."""

    def __init__(self, data: LinearProblem, v: np.ndarray, s: float) -> None:
        self.data = data
        self.means, self.spread = feature_spread(data)
        self.q_of_all = -v  # at w = 0
        self.roots = np.sqrt(data.weights)
        self.features: np.ndarray | CSR = np.empty((0, data.n))
        if data.matrix.is_sparse:
            empty = np.empty(0, dtype=np.int32)
            self.features = CSR(np.empty(0), empty, np.zeros(1, dtype=np.int64))
        self.tilt = np.empty(0)  # Σ√c·a of each, which an intercept takes off
        self.places = np.full(data.p, -1)
        self.members = np.empty(0, dtype=np.int64)
        nothing = np.empty(0)
        self.path = QuadraticPath(
            np.zeros((0, 0)), nothing, s, nothing, is_positive=data.is_positive
        )
        self.offsets, self.units, self.lengths = (np.empty(0) for _ in range(3))  # of the members
        self.X = None  # for products with many columns, where nothing has to be shifted
        if isinstance(data.matrix.rows, CSR) and data.rows.shift is None:
            self.X = scipy.sparse.csr_array(tuple(data.matrix.rows), shape=data.matrix.shape)

    def missing(self, is_wanted: np.ndarray) -> np.ndarray:
        """The wanted features that are no members yet and not constant, int64."""
        return np.flatnonzero(is_wanted & (self.places < 0) & (self.spread > 0.0))

    def grow(self, new: np.ndarray) -> None:
        """Gather these features, and their rows of H."""
        m, k, path = self.members.size, new.size, self.path
        rows = gather(self.data, new, self.means)
        self.features = append(self.features, rows)
        tilt = _times(rows, self.roots, self.data.n) if self.data.fit_intercept else np.zeros(k)
        self.tilt = np.concatenate([self.tilt, tilt])
        products = _products(rows, self.features, self.data.n)
        products -= np.outer(tilt, self.tilt)
        squares = products[np.arange(k), m + np.arange(k)]
        is_flat = squares <= NOWHERE * (squares + tilt**2)
        d = 1.0 / np.sqrt(np.where(is_flat, 1.0, squares))
        path.d = np.concatenate([path.d, d])
        products *= np.outer(d, path.d)
        products[is_flat] = 0.0
        if m + k > len(path.H):
            room = np.zeros((max(2 * len(path.H), m + k, FEWEST),) * 2)
            room[:m, :m] = path.H[:m, :m]
            path.H = room
        path.H[m : m + k, : m + k] = products
        path.H[: m + k, m : m + k] = products.T
        self.places[new] = m + np.arange(k)
        self.members = np.concatenate([self.members, new])
        path.q = np.concatenate([path.q, d * self.q_of_all[new]])
        path.x = np.concatenate([path.x, np.zeros(k)])
        path.g = np.empty(m + k)
        self.offsets = offsets(self.data, self.members, self.means)
        self.units = self.data.features.units[self.members]
        self.lengths = self.data.features.lengths()[self.members]

    def scores(self, U: np.ndarray) -> np.ndarray:
        """Xu for coefficients of the members, float64[K, m], as columns; 0 where a weight is."""
        A, n = self.features, self.data.n
        Z = (_scipy(A, n).T @ U.T) if isinstance(A, CSR) else A.T @ U.T
        roots = np.where(self.roots > 0.0, self.roots, 1.0)
        return Z / roots[:, None] + self.offsets @ U.T

    def slopes(self, theta: np.ndarray) -> np.ndarray:
        """Σ cᵢθᵢxᵢ of all features for columns θ that sum to zero, float64[K, p]."""
        data = self.data
        if self.X is not None:
            weighted = data.weights[:, None] * theta
            G, totals = self.X.T @ weighted, weighted.sum(axis=0)
            several = data.features.with_outputs(theta.shape[1], is_matrix=True)
            return several.leave(G, totals).T
        several = data.features.with_outputs(theta.shape[1], is_matrix=True)
        return several.leave(*data.rows.transpose(theta)).T


class _Block(NamedTuple):
    """Some points of the path that were looked at together."""

    W: np.ndarray  # in the variables that were asked for, float[K, dim]
    gaps: list[Gap]
    V: np.ndarray  # Σ cᵢθᵢxᵢ, float64[K, p]
    norms: np.ndarray  # of the shortest subgradients, float64[K]


def working_path(
    problem: LinearProblem, l1s: np.ndarray, l2s: np.ndarray, limit: float
) -> Iterator[PathPoint]:
    """The points of the path in turn, gaps at most `limit` where they are done; all l1 > 0.

    It ends early where too many features are needed.
    """
    data = problem.centred
    y, c = data.y, data.weights
    b = float(c @ y) if data.fit_intercept else 0.0
    v = data.transpose(b - y)
    here = _Members(data, v, float(np.einsum("i,i,i", c, y - b, y - b)))
    pull = partial(pulls, is_positive=data.is_positive)
    k, before = 0, float(pull(v).max(initial=0.0))
    while k < len(l1s):
        last = _end(l1s, k)
        lowest = float(l1s[k:last].min())
        step = max(before - float(l1s[k]), 0.0)
        new = here.missing(pull(v) >= lowest - AHEAD * step)
        goal, rounds, starts = AIM * limit, 0, None
        while k < last:
            if here.members.size + new.size > MOST_MEMBERS:
                return
            if new.size:
                here.grow(new)
            elif rounds:
                goal *= SHARPER
            at = slice(k, last)
            X, began = here.path.along(l1s[at], l2s[at], goal)
            starts, rounds = began if starts is None else starts, rounds + 1
            block = _looked_at(problem, here, X, l1s[at], l2s[at])
            is_fine = np.array([gap.gap <= limit for gap in block.gaps])
            count = len(is_fine) if is_fine.all() else int(np.argmin(is_fine))
            if rounds >= MOST_ROUNDS:
                count = max(count, 1)
            for i in range(count):
                start = (float(starts[i, 0]), float(starts[i, 1]))
                norm, is_done = float(block.norms[i]), bool(is_fine[i])
                yield PathPoint(block.W[i], block.gaps[i], norm, start, rounds, is_done)
            if count:
                before, v = float(l1s[k + count - 1]), block.V[count - 1]
                rounds, starts = 0, starts[count:]
            k += count
            if k < last:
                here.path.x = X[count] / here.path.d
                left = slice(count, None)
                is_beyond = np.any(pull(block.V[left]) > l1s[k:last, None], axis=0)
                new = here.missing(is_beyond)


def _end(l1s: np.ndarray, k: int) -> int:
    """Where the points end that go together with point k."""
    end = min(k + TOGETHER, len(l1s))
    far = np.flatnonzero(l1s[k:end] < REACH * l1s[k])
    return k + max(int(far[0]), 1) if far.size else end


def _looked_at(
    problem: LinearProblem, here: _Members, U: np.ndarray, l1s: np.ndarray, l2s: np.ndarray
) -> _Block:
    """Points with these coefficients of the members as they are returned, and their gaps."""
    data, dtype, K = here.data, problem.matrix.dtype, len(U)
    W = U if dtype == np.float64 else U.astype(dtype).astype(np.float64)
    at_u, _ = _residuals(data, here.scores(U))
    at_w, b = (at_u, _) if W is U else _residuals(data, here.scores(W))
    full = np.zeros((K, problem.dim))
    full[:, here.members] = W
    delta = np.zeros(K)
    if problem.fit_intercept:
        shift = problem.features.place[here.members] - data.features.place[here.members]
        moved, lift = W * here.units, data.term.origin - problem.term.origin
        full[:, -1] = b + moved @ shift + lift
        sizes = np.abs(b) + np.abs(moved) @ np.abs(shift) + abs(lift)
        delta = unit(problem.p) * sizes + np.abs(full[:, -1].astype(dtype) - full[:, -1])
    V = here.slopes(at_u)
    found = Residuals(at_w, at_u, V, np.abs(b) + np.abs(W) @ here.lengths, b)
    penalties = l1s * np.abs(W).sum(axis=1) + 0.5 * l2s * np.einsum("kj,kj->k", W, W)
    gaps = residual_gaps(data, found, penalties, l1s, l2s, delta)
    return _Block(
        full.astype(dtype),
        gaps,
        V,
        _norms(V, here.members, U, l1s, l2s, is_positive=data.is_positive),
    )


def _residuals(data: LinearProblem, Z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """z + b − y with the best b, which is returned too, for columns Z, changed in place."""
    Z -= data.y[:, None]
    if not data.fit_intercept:
        return Z, np.zeros(Z.shape[1])
    b = -(data.weights @ Z)
    Z += b
    Z -= data.weights @ Z  # what the rounding of b has left
    return Z, b


def _norms(
    V: np.ndarray,
    members: np.ndarray,
    U: np.ndarray,
    l1s: np.ndarray,
    l2s: np.ndarray,
    *,
    is_positive: bool,
) -> np.ndarray:
    """The largest entry of the shortest subgradient at each point."""
    l1s = l1s[:, None]
    far = np.maximum(pulls(V, is_positive=is_positive) - l1s, 0.0)
    G = V[:, members] + l2s[:, None] * U
    far[:, members] = np.where(U == 0.0, far[:, members], np.abs(G + l1s * np.sign(U)))
    return far.max(axis=1, initial=0.0)


def _scipy(A: CSR, n: int) -> scipy.sparse.csr_array:
    return scipy.sparse.csr_array(tuple(A), shape=(len(A.indptr) - 1, n))


def _products(B: np.ndarray | CSR, A: np.ndarray | CSR, n: int) -> np.ndarray:
    """BAᵀ, float64[k, m]."""
    if isinstance(A, CSR) or isinstance(B, CSR):
        assert isinstance(A, CSR)
        assert isinstance(B, CSR)
        return (_scipy(B, n) @ _scipy(A, n).T).toarray()
    return B @ A.T


def _times(A: np.ndarray | CSR, u: np.ndarray, n: int) -> np.ndarray:
    """Au, float64[k]."""
    return (_scipy(A, n) if isinstance(A, CSR) else A) @ u
