"""Linear problems for coordinate descent, in every storage, and what their minimum is told by."""

import numpy as np
import scipy.sparse

import thalweg as tw
from thalweg.methods.cd import CD
from thalweg.methods.problem import Problem

STORAGES = {
    "C": np.asarray,
    "F": np.asfortranarray,
    "csr": scipy.sparse.csr_array,
    "csr64": lambda X: _wide(scipy.sparse.csr_array(X)),
}


def _wide(X):
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


def data(n=40, p=60, loss="squared", *, seed=0, storage="C", dtype=np.float64, **options):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) * (rng.random((n, p)) < 0.7) + 0.5
    scores = X[:, :4] @ [2.0, -1.0, 1.0, 0.5] + 0.3 * rng.standard_normal(n)
    y = scores if loss in ("squared", "huber") else scores > np.median(scores)
    return tw.LinearProblem(STORAGES[storage](X.astype(dtype)), y, loss, **options)


def begun(problem, method=None, w0=None):
    seen = Problem(problem, problem.dim, problem.start.dtype)
    method = method or CD()
    return seen, method, method.init(seen, problem.start if w0 is None else w0, None)


def shortest_subgradient(problem, w):
    """By its definition, from the gradient of the smooth part."""
    g = problem.gradient(w)
    count = problem.p
    at_zero = np.sign(g[:count]) * np.maximum(np.abs(g[:count]) - problem.l1, 0.0)
    off_zero = g[:count] + problem.l1 * np.sign(w[:count])
    g[:count] = np.where(w[:count] == 0.0, at_zero, off_zero)
    return g
