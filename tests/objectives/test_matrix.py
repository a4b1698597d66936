import numpy as np
import pytest
import scipy.sparse

import thalweg as tw
from thalweg.kernels.rows import CSR
from thalweg.objectives.linear import LinearProblem
from thalweg.objectives.matrix import check_finite, check_matrix


def dense(dtype=np.float64):
    return np.array([[1, 0, 2], [0, 0, 3], [4, 5, 0], [0, 6, 0]], dtype=dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_dense_floats_are_used_in_place(order, dtype):
    X = np.asarray(dense(dtype), order=order)
    matrix = check_matrix(X)
    assert np.shares_memory(matrix.rows, X)
    assert matrix.rows.flags[f"{order}_CONTIGUOUS"]
    assert (matrix.shape, matrix.dtype, matrix.entries, matrix.notes) == ((4, 3), dtype, 12, ())
    assert not matrix.is_sparse


@pytest.mark.parametrize("kind", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("make", [scipy.sparse.csr_array, scipy.sparse.csr_matrix])
def test_csr_floats_are_used_in_place_with_their_indices(make, dtype, kind):
    X = make(dense(dtype))
    X.indices, X.indptr = X.indices.astype(kind), X.indptr.astype(kind)
    matrix = check_matrix(X)
    assert isinstance(matrix.rows, CSR)
    for kept, given in zip(matrix.rows, (X.data, X.indices, X.indptr), strict=True):
        assert np.shares_memory(kept, given)
    assert matrix.rows.indices.dtype == matrix.rows.indptr.dtype == kind
    assert (matrix.shape, matrix.dtype, matrix.entries, matrix.notes) == ((4, 3), dtype, 6, ())
    assert matrix.is_sparse


CONVERTED = {
    "csc": (scipy.sparse.csc_array, "X was converted from CSC to CSR, one copy"),
    "coo": (scipy.sparse.coo_array, "X was converted from COO to CSR, one copy"),
    "lil": (scipy.sparse.lil_array, "X was converted from LIL to CSR, one copy"),
    "integers": (lambda X: X.astype(np.int32), "X was converted from int32 to float64, one copy"),
    "unsigned": (lambda X: X.astype(np.uint8), "X was converted from uint8 to float64, one copy"),
    "every other column": (
        lambda X: np.repeat(X, 2, axis=1)[:, ::2],
        "X was copied: its rows are not contiguous",
    ),
    "every other row": (
        lambda X: np.repeat(X, 2, axis=0)[::2],
        "X was copied: its rows are not contiguous",
    ),
    "sparse integers": (
        lambda X: scipy.sparse.csr_array(X.astype(np.int64)),
        "X was converted from int64 to float64, one copy",
    ),
}


@pytest.mark.parametrize("case", CONVERTED)
def test_other_forms_are_copied_once_and_the_note_says_so(case):
    convert, note = CONVERTED[case]
    matrix = check_matrix(convert(dense()))
    assert matrix.notes == (note,)
    assert matrix.dtype == np.float64
    np.testing.assert_array_equal(plain(matrix), dense())


def test_bools_become_numbers_with_a_note():
    matrix = check_matrix(dense() > 0)
    assert matrix.notes == ("X was converted from bool to float64, one copy",)
    np.testing.assert_array_equal(matrix.rows, (dense() > 0) * 1.0)


def test_two_conversions_leave_two_notes():
    matrix = check_matrix(scipy.sparse.csc_array(dense(np.int64)))
    assert len(matrix.notes) == 2
    np.testing.assert_array_equal(plain(matrix), dense())


def test_lists_are_matrices():
    np.testing.assert_array_equal(check_matrix([[1.0, 2.0], [3.0, 4.0]]).rows, [[1, 2], [3, 4]])


def plain(matrix):
    if not matrix.is_sparse:
        return matrix.rows
    return scipy.sparse.csr_array(tuple(matrix.rows), shape=matrix.shape).toarray()


def squared_value(X, w):
    return LinearProblem(X, np.arange(4.0), fit_intercept=False).value(w)


def slow_value(w):
    return float(np.mean((dense() @ w - np.arange(4.0)) ** 2)) / 2


def test_a_read_only_array_works_in_place():
    X, w = dense(), np.array([0.5, -1.0, 2.0])
    X.flags.writeable = False
    assert np.shares_memory(check_matrix(X).rows, X)
    assert squared_value(X, w) == pytest.approx(slow_value(w), rel=1e-14)


def test_a_memory_mapped_array_works_in_place(tmp_path):
    np.save(tmp_path / "X.npy", dense())
    w = np.array([0.5, -1.0, 2.0])
    X = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert isinstance(X, np.memmap)
    matrix = check_matrix(X)
    assert np.shares_memory(matrix.rows, X)
    assert matrix.notes == ()
    assert squared_value(X, w) == pytest.approx(slow_value(w), rel=1e-14)


def test_unsorted_rows_are_accepted_as_they_are():
    # Row 0 holds column 2 before column 0.
    X = scipy.sparse.csr_array(
        (np.array([2.0, 1, 3, 4, 5, 6]), [2, 0, 2, 0, 1, 1], [0, 2, 3, 5, 6]), shape=(4, 3)
    )
    matrix, w = check_matrix(X), np.array([0.5, -1.0, 2.0])
    assert matrix.rows.indices.tolist() == [2, 0, 2, 0, 1, 1]
    assert np.shares_memory(matrix.rows.data, X.data)
    assert squared_value(X, w) == pytest.approx(slow_value(w), rel=1e-14)


def test_duplicates_are_refused_with_their_row():
    X = scipy.sparse.csr_array(([1.0, 2.0, 3.0, 4.0], [0, 1, 2, 1], [0, 1, 4]), shape=(2, 3))
    with pytest.raises(tw.InputError, match=r"column twice in row 1: .*sum_duplicates"):
        check_matrix(X)
    assert X.nnz == 4


def test_duplicates_of_coo_are_summed_as_their_meaning_is():
    X = scipy.sparse.coo_array(([1.0, 2.0], ([0, 0], [1, 1])), shape=(1, 2))
    assert plain(check_matrix(X)).tolist() == [[0.0, 3.0]]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("order", ["C", "F"])
def test_what_is_not_finite_is_refused_with_its_place(bad, order):
    X = np.asarray(dense(), order=order)
    X[2, 1] = X[3, 0] = bad
    with pytest.raises(tw.InputError, match=f"finite, got {bad} in row 2, column 1: impute"):
        check_finite(check_matrix(X))


def test_the_place_is_right_beyond_the_first_block():
    X = np.zeros((600, 2000))
    X[550, 1234] = np.nan
    with pytest.raises(tw.InputError, match="row 550, column 1234"):
        check_finite(check_matrix(X))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("entry", range(6))
def test_what_is_not_finite_in_csr_is_refused_with_its_place(entry, bad):
    X = scipy.sparse.csr_array(dense())
    row, column = np.argwhere(dense() != 0)[entry]
    X.data[entry] = bad
    with pytest.raises(tw.InputError, match=f"got {bad} in row {row}, column {column}"):
        check_finite(check_matrix(X))


@pytest.mark.parametrize("make", [np.asarray, np.asfortranarray, scipy.sparse.csr_array])
def test_what_is_finite_passes(make):
    X = dense()
    X[2, 1] = 1e308
    check_finite(check_matrix(make(X)))


REFUSED = {
    "no samples": (np.zeros((0, 3)), r"at least one sample and one feature, got shape \(0, 3\)"),
    "no features": (np.zeros((3, 0)), r"at least one sample and one feature, got shape \(3, 0\)"),
    "sparse without samples": (scipy.sparse.csr_array((0, 3)), "at least one sample"),
    "one axis": (np.zeros(3), r"two axes, .* got shape \(3,\): use X.reshape\(-1, 1\)"),
    "sparse with one axis": (scipy.sparse.coo_array([1.0, 2.0]), r"two axes, .* shape \(2,\)"),
    "three axes": (np.zeros((2, 2, 2)), r"two axes, .* got shape \(2, 2, 2\)"),
    "a number": (3.0, r"two axes, .* got shape \(\)"),
    "ragged": ([[1.0, 2.0], [3.0]], "every row the same length"),
    "objects": (np.array([[1, None]], dtype=object), "float32, float64 or integer, got object"),
    "complex": (np.ones((2, 2)) * 1j, "float32, float64 or integer, got complex128"),
    "sparse complex": (scipy.sparse.csr_array(np.ones((2, 2)) * 1j), "got complex128"),
    "text": (np.array([["a", "b"]]), "got <U1: convert it, and encode text as numbers"),
    "float16": (np.ones((2, 2), dtype=np.float16), "float32, float64 or integer, got float16"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_used_is_refused_with_a_sentence(case):
    X, says = REFUSED[case]
    with pytest.raises(tw.InputError, match=f"^X must .*{says}"):
        check_matrix(X)


@pytest.mark.parametrize("make", [np.array, np.asfortranarray, scipy.sparse.csr_array])
def test_nothing_that_was_passed_is_written_to(make):
    X = make(dense())
    parts = [X] if isinstance(X, np.ndarray) else [X.data, X.indices, X.indptr]
    before = [part.copy() for part in parts]
    problem = LinearProblem(X, np.arange(4.0), l1=0.1, l2=0.1, standardize=True)
    w = np.ones(problem.dim)
    problem.value_and_gradient(w)
    problem.hessian_vector(w, w)
    assert problem.smoothness > 0
    assert problem.row_smoothness.shape == (4,)
    for part, kept in zip(parts, before, strict=True):
        np.testing.assert_array_equal(part, kept)


@pytest.mark.parametrize("storage", ["C", "F", "csr"])
def test_some_rows_keep_storage_dtype_and_indices(storage):
    dense = (np.arange(12.0).reshape(4, 3) * (np.arange(12).reshape(4, 3) % 2)).astype(np.float32)
    X = np.array(dense, order=storage) if storage != "csr" else scipy.sparse.csr_array(dense)
    if storage == "csr":
        X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    else:
        X.flags.writeable = False
    whole = check_matrix(X)
    part = whole.take(np.array([1, 3]))
    assert (part.shape, part.dtype) == ((2, 3), np.float32)
    rows, before = part.rows, whole.rows
    if storage == "csr":
        assert (rows.indices.dtype, rows.indptr.dtype) == (np.int64, np.int64)
        found = scipy.sparse.csr_array(tuple(rows), shape=part.shape).toarray()
    else:
        assert rows.flags.f_contiguous == before.flags.f_contiguous
        assert not rows.flags.writeable
        found = rows
    assert part.entries == (np.count_nonzero(dense[[1, 3]]) if storage == "csr" else 6)
    np.testing.assert_array_equal(found, dense[[1, 3]])


def test_some_rows_of_a_sparse_matrix_are_a_matrix_of_their_own():
    X = scipy.sparse.csr_array(dense())
    some = check_matrix(X).between(2, 4)
    assert (some.shape, some.entries) == ((2, 3), 3)
    assert np.shares_memory(some.rows.data, X.data)
    again = scipy.sparse.csr_array(tuple(some.rows), shape=some.shape)  # refuses a late beginning
    np.testing.assert_array_equal(again.toarray(), dense()[2:])
