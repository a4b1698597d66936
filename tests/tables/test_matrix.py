import numpy as np
import pytest
import scipy.sparse

from thalweg.core.errors import InputError
from thalweg.tables.learned import Options
from thalweg.tables.matrix import learn_matrix
from thalweg.tables.raw import Raw

X = np.array([[1.0, 2.0, 0.5], [3.0, np.nan, 1.5], [5.0, 6.0, 2.5]])


def test_a_column_as_the_target():
    found = learn_matrix(Raw(X.copy(), "NPY"), Options(target=-1, impute="median"))
    assert found.X.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert found.y.tolist() == [0.5, 1.5, 2.5]
    assert [column.name for column in found.columns] == ["x0", "x1"]
    assert [column.fill for column in found.columns] == [3, 4]
    assert found.missing == {"x1": 1}


def test_labels_of_the_file_and_rows_without_one():
    raw = Raw(X.copy(), "NPZ", y=np.array([1.0, 2.5, np.nan]), names=list("abc"))
    found = learn_matrix(raw, Options(drop=["b"]))
    assert (found.X.tolist(), found.y.tolist()) == ([[1, 0.5], [3, 1.5]], [1, 2.5])
    assert found.notes[0] == "1 of 3 rows have no 'y' and were left out"
    named = learn_matrix(Raw(X.copy(), "NPZ", y=np.array([1, 2, 1])), Options("y", ["x1"]))
    assert named.y.tolist() == [0, 1, 0]


@pytest.mark.parametrize("is_sparse", [None, True, False])
def test_layout_and_type_as_asked(is_sparse):
    held = np.eye(3)
    for X in (held, scipy.sparse.csr_array(held)):
        found = learn_matrix(Raw(X, "NPZ"), Options(sparse=is_sparse, dtype="float32")).X
        wanted = scipy.sparse.issparse(X) if is_sparse is None else is_sparse
        assert scipy.sparse.issparse(found) == wanted
        assert found.dtype == np.float32
        np.testing.assert_array_equal(found.toarray() if wanted else found, held)


def test_sparse_missing_values_and_unknown_targets_are_refused():
    with pytest.raises(InputError, match="impute needs dense data"):
        learn_matrix(Raw(scipy.sparse.csr_array(X), "NPZ"), Options(impute="mean"))
    with pytest.raises(InputError, match="target 'price' is no column"):
        learn_matrix(Raw(X.copy(), "NPY"), Options("price"))
