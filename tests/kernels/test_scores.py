import numpy as np
import pytest
import scipy.sparse

from thalweg.kernels import scores as module
from thalweg.kernels.scores import scores

N, P = 37, 13  # no multiple of the rows that go together
STORAGES = {
    "by rows": np.ascontiguousarray,
    "by columns": np.asfortranarray,
    "every other": lambda X: np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)[::2, ::2],
    "CSR": scipy.sparse.csr_array,
    "CSC": scipy.sparse.csc_array,
}
in_every_storage = pytest.mark.parametrize("storage", STORAGES.values(), ids=STORAGES)
in_both_precisions = pytest.mark.parametrize("dtype", [np.float32, np.float64])
for_one_and_several = pytest.mark.parametrize("shape", [(P,), (P, 1), (P, 2), (P, 5)])


def rows(dtype=np.float64, n=N, p=P):
    rng = np.random.default_rng(0)
    return (rng.standard_normal((n, p)) * (rng.random((n, p)) < 0.7)).astype(dtype)


def model(shape=(P,)):
    rng = np.random.default_rng(1)
    return rng.standard_normal(shape), rng.standard_normal(shape[1:])


def defined(X, W, b):
    """One product and one sum after the other, in Python's own numbers."""
    K = W.reshape(X.shape[1], -1).shape[1]
    out = np.empty((len(X), K))
    for i, k in np.ndindex(out.shape):
        total = 0.0
        for x, w in zip(X[i].tolist(), W.reshape(-1, K)[:, k].tolist(), strict=True):
            total += x * w
        out[i, k] = total + float(np.ravel(b)[k])
    return out.reshape(len(X), *W.shape[1:])


def test_by_hand():
    X = np.array([[1.0, 2.0], [0.0, -1.0]])
    assert scores(X, np.array([3.0, 0.5]), 10.0).tolist() == [14.0, 9.5]
    W = np.array([[1.0, 0.0], [0.0, 2.0]])
    assert scores(X, W, np.array([1.0, -1.0])).tolist() == [[2.0, 3.0], [1.0, -3.0]]


@in_every_storage
@in_both_precisions
@for_one_and_several
def test_to_the_last_bit_the_sum_in_order(storage, dtype, shape):
    X, (W, b) = rows(dtype), model(shape)
    found = scores(storage(X), W, b)
    assert found.dtype == np.float64
    assert found.tobytes() == defined(X, W, b).tobytes()


@in_every_storage
@for_one_and_several
def test_a_row_alone_is_scored_as_among_others(storage, shape):
    X, (W, b) = storage(rows()), model(shape)
    among = scores(X, W, b)
    X = X.tocsr() if scipy.sparse.issparse(X) else X
    for some in ([0], [N - 1], [3, 30], list(range(N - 1, -1, -2))):
        assert scores(X[some], W, b).tobytes() == among[some].tobytes()
        assert scores(X[some[0] : some[0] + 1], W, b).tobytes() == among[some[:1]].tobytes()


@in_every_storage
@for_one_and_several
def test_blocks_tiles_and_threads_change_nothing(storage, shape, monkeypatch):
    X, (W, b) = storage(rows()), model(shape)
    whole = scores(X, W, b)
    monkeypatch.setattr(module, "BLOCK", 3 * P)
    assert scores(X, W, b).tobytes() == whole.tobytes()
    monkeypatch.setattr(
        module,
        "each_leaf",
        lambda work, edges: [work(start, min(start + 5, N)) for start in range(0, N, 5)],
    )
    assert scores(X, W, b).tobytes() == whole.tobytes()


def test_more_columns_than_a_tile_holds():
    X, (W, b) = rows(n=3, p=module.TILE), model((module.TILE, 3))
    assert scores(X, W, b).tobytes() == defined(X, W, b).tobytes()


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.int64, np.uint16, np.float16])
def test_other_numbers_are_taken_as_they_are(dtype):
    X, (W, b) = (4 * rows()).astype(dtype), model()
    assert scores(X, W, b).tobytes() == defined(X.astype(np.float64), W, b).tobytes()


def test_wide_and_narrow_indices_and_what_cannot_be_written_to():
    X, (W, b) = rows(), model((P, 2))
    sparse = scipy.sparse.csr_array(X)
    wide = sparse.copy()
    wide.indices, wide.indptr = sparse.indices.astype(np.int64), sparse.indptr.astype(np.int64)
    for array in (sparse.data, sparse.indices, sparse.indptr, X, W, b):
        array.flags.writeable = False
    assert scores(wide, W, b).tobytes() == scores(sparse, W, b).tobytes()
    assert scores(X, W, b).tobytes() == scores(sparse, W, b).tobytes()
    assert module.dense_class_scores.signatures == module.dense_class_scores.signatures[:1]


def test_a_row_that_is_empty_has_the_intercept():
    X = scipy.sparse.csr_array((2, P))
    assert scores(X, np.ones(P), 0.5).tolist() == [0.5, 0.5]
    assert scores(X, np.ones((P, 2)), [0.5, 1.5]).tolist() == [[0.5, 1.5], [0.5, 1.5]]


def test_what_is_not_a_number_stays_in_its_row():
    X, (W, b) = rows(), model()
    X[2, 1], X[5, 3] = np.nan, np.inf
    found = scores(X, W, b)
    assert np.isnan(found[2])
    assert np.isinf(found[5])
    assert np.isfinite(np.delete(found, [2, 5])).all()
