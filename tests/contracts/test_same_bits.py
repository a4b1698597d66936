"""The same data give the same bits: on any number of threads, and wherever in memory they lie.

Leaves are made small here, so that small data have many of them; each run is held to the bits of
the first one: variables, value and certificate. The suite tries every method on every loss, the
storages and dtypes in turn; `make bits` tries all of them together.
"""

import os

import numpy as np
import pytest
import scipy.sparse

import thalweg as tw
from linear_data import BOUNDED
from thalweg.core.errors import InputError
from thalweg.kernels import leaves
from thalweg.methods import set_step
from thalweg.methods.registry import METHODS
from thalweg.objectives import set_gram

THREADS = (1, 2, 3, 8)
MEANS = ("poisson", "gamma", "tweedie")
LOSSES = ("squared", "logistic", "squared-hinge", "huber", "multinomial", *MEANS)
PENALTIES = {"l2": (0.0, 1e-2), "elastic net": (1e-3, 1e-3)}
STORAGES = ("C", "F", "csr")
DTYPES = (np.float64, np.float32)
N, P = 203, 9


@pytest.fixture(autouse=True)
def small_leaves(monkeypatch):
    monkeypatch.setattr(leaves, "SECOND", 64)
    monkeypatch.setattr(leaves, "LEAF", 128)
    leaves.leaf_edges.cache_clear()
    yield
    leaves.leaf_edges.cache_clear()


def table(loss, dtype):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, P)) * np.logspace(-1, 1, P) + np.linspace(0, 3, P)
    X[:, 2] += 2000.0  # a column of years
    X[rng.random((N, P)) < 0.3] = 0.0
    X[:, 2] += 1.0  # stored in every row of a sparse matrix
    z = X[:, 0] - X[:, 4] / 3 + rng.standard_normal(N)
    z -= np.median(z)
    if loss == "multinomial":
        return X.astype(dtype), np.digitize(z, [-1.0, 1.0])
    if loss in MEANS:
        return X.astype(dtype), np.exp(0.3 * z)
    return X.astype(dtype), z if loss in ("squared", "huber") else z > 0


def stored(X, storage):
    if storage == "csr":
        return scipy.sparse.csr_array(X)
    return np.asarray(X, order=storage)


def at(array, offset):
    """The same numbers, this many bytes past a multiple of 64."""
    room = np.empty(array.nbytes + 128, dtype=np.uint8)
    start = -room.ctypes.data % 64 + offset
    order = "C" if array.flags.c_contiguous else "F"
    view = room[start : start + array.nbytes].view(array.dtype).reshape(array.shape, order=order)
    view[...] = array
    return view


def spaced(array):
    """The same numbers with gaps between them."""
    wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), dtype=array.dtype)
    wide[..., ::2] = array
    return wide[..., ::2]


def layouts(X, y):
    """The same data in five places and shapes of memory."""
    if scipy.sparse.issparse(X):
        for offset in (8, 24, 40, 56):
            parts = [at(part, offset) for part in (X.data, X.indices, X.indptr)]
            yield scipy.sparse.csr_array(tuple(parts), shape=X.shape), at(y, offset // 8)
        yield X.copy(), spaced(y)
        return
    for offset in (8, 24, 40):
        yield at(X, offset), at(y, offset // 8)
    yield X.copy(order="K"), spaced(y)
    if X.flags.c_contiguous:
        yield spaced(X), y  # copied into rows
    else:
        yield spaced(X.T.copy()).T.copy(order="F"), y


def found(problem, method):
    """All that a few iterations leave behind, as bytes."""
    run = tw.minimize(problem, method, max_iter=3, tol=1e-12, seed=3, progress=False)
    numbers = np.array([run.value, run.certificate.measured, *run.trace["gradient_norm"]])
    return run.w.tobytes() + numbers.tobytes()


EVERYTHING = "THALWEG_ALL_BITS" in os.environ
NAMES = [name for name in METHODS if name != "auto"]
TABLE = [
    (method, loss, storage)
    for k, method in enumerate(NAMES)
    for m, loss in enumerate(LOSSES)
    for s, storage in enumerate(STORAGES)
    if EVERYTHING or (k + m) % len(STORAGES) == s
]


@pytest.mark.parametrize(("method", "loss", "storage"), TABLE)
def test_threads_and_layouts_change_no_bit(method, loss, storage):
    tried = 0
    single = NAMES.index(method) % 7 == LOSSES.index(loss)  # float32 takes kernels of its own
    for dtype in DTYPES if EVERYTHING else DTYPES[single : single + 1]:
        X, y = table(loss, dtype)
        X = stored(X, storage)
        for l1, l2 in PENALTIES.values():
            options = {"l1": l1, "l2": l2}
            try:
                first = found(tw.LinearProblem(X, y, loss, threads=1, **options), method)
            except InputError:
                continue  # the method refuses this loss or penalty, and says so: see its own tests
            for threads in THREADS[1:]:
                problem = tw.LinearProblem(X, y, loss, threads=threads, **options)
                assert found(problem, method) == first, (dtype, l1, threads)
            for k, (X_there, y_there) in enumerate(layouts(X, y)):
                problem = tw.LinearProblem(X_there, y_there, loss, threads=1, **options)
                assert found(problem, method) == first, (dtype, l1, f"layout {k}")
            tried += 1
    if not tried:
        pytest.skip("refused for this loss")


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_nor_do_they_of_a_step_over_a_set(storage, dtype, monkeypatch):
    monkeypatch.setattr(set_step, "FEWEST", 4)
    monkeypatch.setattr(set_gram, "FEWEST", 16)
    X, y = table("multinomial", dtype)
    X, penalties = stored(X, storage), {"l1": 1e-3, "l2": 1e-3}

    def bits(X, y, threads):
        return found(tw.LinearProblem(X, y, "multinomial", threads=threads, **penalties), "newton")

    first = bits(X, y, 1)
    assert all(bits(X, y, threads) == first for threads in THREADS[1:])
    assert all(bits(X_there, y_there, 1) == first for X_there, y_there in layouts(X, y))


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("standardize", [False, True])
def test_what_a_problem_knows_of_itself_is_the_same(loss, storage, standardize):
    X, y = table(loss, np.float64)
    X = stored(X, storage)
    rng = np.random.default_rng(1)

    def known(X, y, threads):
        problem = tw.LinearProblem(
            X, y, loss, l2=0.1, standardize=standardize, threads=threads,
            sample_weight=np.arange(N) % 5,
        )  # fmt: skip
        # e^z is beyond a double where coefficients of any size meet columns far from zero.
        size = 1.0 if loss in BOUNDED else 1e-4
        w = size * np.random.default_rng(2).standard_normal(problem.dim)
        centred = problem.centred
        parts = [
            problem.rows.means, problem.rows.variances, problem.row_squares,
            problem.column_squares, np.array([problem.smoothness, centred.smoothness]),
            problem.scores(w), problem.gradient(w), problem.hessian_vector(w, w[::-1].copy()),
            problem.hessian(w), problem.transpose(problem.scores(w)), centred.gradient(w),
            problem.hessian_at(problem.scores(w)).diagonal(),
        ]  # fmt: skip
        return b"".join(np.asarray(part).tobytes() for part in parts)

    first = known(X, y, 1)
    for threads in THREADS[1:]:
        assert known(X, y, threads) == first
    for X_there, y_there in layouts(X, y):
        assert known(X_there, y_there, int(rng.integers(1, 4))) == first
