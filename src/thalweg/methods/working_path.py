"""The squared loss along a path of penalties, over the few features that it needs.

    minimise  ½ Σᵢ cᵢ (xᵢᵀw + b − yᵢ)² + l1ₖ‖w‖₁ + ½l2ₖ‖w‖²        k = 1, 2, …, from the one before

With more features than samples most coefficients are zero all the way. At a point, with the slopes
v = Σ cᵢ(zᵢ − yᵢ)xᵢ of the point before:

    wanted     features with |vⱼ| ≥ l1ₖ − ½(l1ₖ₋₁ − l1ₖ). Those that are new are gathered from X,
               and the Gram matrix H of all that were gathered gets their rows
    descent    sweeps over H and systems on the support (`quadratic_path`), as if these were all
    check      v at the result, of all features, which is a pass over X and makes the duality gap:
               features beyond l1ₖ join, until the gap is small

The rule for what is wanted is a guess (the strong rule, with half of its margin), the gap is not.

Cost: a pass over X for a point, two where the guess was wrong; n·m for a new feature among m; a row
of H for each move of a coordinate. Memory: m(m + n) numbers.
Tibshirani et al., J. R. Stat. Soc. B 74 (2012), for the strong rule.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import scipy.sparse

from thalweg.certificates.duality import Gap, gap_by_scores
from thalweg.kernels.cd import add_scores
from thalweg.kernels.rows import CSR
from thalweg.methods.quadratic_path import QuadraticPath
from thalweg.methods.screening import feature_spread
from thalweg.objectives.columns import append, gather, offsets
from thalweg.objectives.linear import LinearProblem

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
        self.path = QuadraticPath(np.zeros((0, 0)), np.empty(0), s, np.empty(0))

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

    def scores(self, part: np.ndarray) -> np.ndarray:
        """Xw for coefficients of the members, float64[n]; 0 where a weight is."""
        z = np.zeros(self.data.n)
        add_scores(self.features, part, z)
        np.divide(z, self.roots, out=z, where=self.roots > 0.0)
        return z + offsets(self.data, self.members, self.means) @ part


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
    s = float(np.einsum("i,i,i", c, y - b, y - b))
    here = _Members(data, v, s)
    before = float(np.abs(v).max(initial=0.0))
    for l1, l2 in zip(l1s.tolist(), l2s.tolist(), strict=True):
        at = data.replaced(l1=l1, l2=l2)
        near = l1 - AHEAD * max(before - l1, 0.0)
        goal, start, rounds, is_done = AIM * limit, None, 0, False
        while rounds < MOST_ROUNDS and not is_done:
            new = np.flatnonzero((np.abs(v) >= near) & (here.places < 0) & (here.spread > 0.0))
            if here.members.size + new.size > MOST_MEMBERS:
                return
            if new.size:
                here.grow(new)
            elif rounds:
                goal *= SHARPER
            _, starts = here.path.along(np.array([l1]), np.array([l2]), goal)
            start = starts[0] if start is None else start
            rounds += 1
            w, gap, v = _certified(problem, at, here)
            is_done = gap.gap <= limit
            near = l1
        norm = _norm(v, here, l1, l2)
        assert start is not None
        yield PathPoint(w, gap, norm, (float(start[0]), float(start[1])), rounds, is_done)
        before = l1


def _certified(
    problem: LinearProblem, at: LinearProblem, here: _Members
) -> tuple[np.ndarray, Gap, np.ndarray]:
    """The point as it is returned, its gap, and v of all features."""
    dtype, part = problem.matrix.dtype, here.path.w
    u = np.zeros(at.p)
    u[here.members] = part
    z = here.scores(part)
    b = float(at.weights @ (at.y - z)) if at.fit_intercept else 0.0
    u = at.features.join(u, b)
    w = at.enter(u, problem).astype(dtype)
    back = problem.enter(w.astype(np.float64), at)
    rounded = back[: at.p][here.members]
    z_back = z if np.array_equal(rounded, part) else here.scores(rounded)
    z_back = z_back + float(at.split(back)[1])
    return w, *gap_by_scores(at, back, z_back, (u, z + b))


def _norm(v: np.ndarray, here: _Members, l1: float, l2: float) -> float:
    """The largest entry of the shortest subgradient."""
    part = here.path.w
    G = v.copy()
    G[here.members] += l2 * part
    far = np.maximum(np.abs(G) - l1, 0.0)
    far[here.members] = np.where(
        part == 0.0, far[here.members], np.abs(G[here.members] + l1 * np.sign(part))
    )
    return float(far.max(initial=0.0))


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
