"""What a fit by an incremental method adds to X: some vectors of n and of p numbers, no more."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse

import thalweg as tw

LONG, SHORT, ENTRIES = 30_000, 300, 50  # of the longer and the shorter side of X, and of a row
THREADS = 2  # each adds a vector of p numbers while a gradient or a gap is computed

# Vectors of n and of p float64 numbers at the peak, problem, duality gap and verdict included: what
# was measured and less than half a vector more, so that the test sees one come back. One of p is
# the squares of the columns, which a problem knows from the start. Catalyst's are the most: here
# the sums of its lag take 0.3 of one, which they do not where p is large.
AT_MOST = {
    "sgd": (7.5, 11.1),
    "iag": (7.5, 10.1),
    "sag": (9.5, 10.1),
    "saga": (9.5, 10.1),
    "svrg": (10.4, 10.1),
    "sdca": (7.5, 9.6),
    "catalyst": (10.4, 11.6),
}


def sparse(n, p, dtype):
    """A CSR matrix with 64-bit indices, and labels."""
    rng = np.random.default_rng(0)
    width = p // ENTRIES
    indices = rng.integers(0, width, (n, ENTRIES)) + width * np.arange(ENTRIES)
    indptr = np.arange(0, n * ENTRIES + 1, ENTRIES)
    values = rng.standard_normal(n * ENTRIES).astype(dtype)
    X = scipy.sparse.csr_array((values, indices.ravel(), indptr), shape=(n, p))
    assert X.indices.dtype == X.indptr.dtype == np.int64
    return X, rng.random(n) > 0.5


def fit(name, X, y):
    data = tw.LinearProblem(X, y, "logistic", l2=1e-3, fit_intercept=False, threads=THREADS)
    # No run is this exact: it ends at the limit, where the verdict asks for the curvature.
    return data, tw.minimize(data, name, tol=1e-15, max_iter=12, progress=False)


@pytest.mark.parametrize("name", AT_MOST)
@pytest.mark.parametrize(("n", "p"), [(LONG, SHORT), (SHORT, LONG)])
def test_a_fit_adds_ten_vectors_at_most_and_no_copy_of_the_data(name, n, p):
    X, y = sparse(n, p, np.float32)
    fit(name, *sparse(100, 100, np.float32))  # what is compiled or imported now is not counted
    tracemalloc.start()
    data, run = fit(name, X, y)
    peak = tracemalloc.get_traced_memory()[1] / 8
    tracemalloc.stop()
    assert run.outcome is tw.Outcome.ITERATION_LIMIT
    # One side is a hundredth of the other: each run bounds the vectors of one length alone.
    of_n, of_p = AT_MOST[name]
    assert peak <= of_n * n + of_p * p
    for ours, given in zip(data.matrix.rows, (X.data, X.indices, X.indptr), strict=True):
        assert np.shares_memory(ours, given)
