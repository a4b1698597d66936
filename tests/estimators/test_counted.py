import numpy as np
import pytest
import scipy.sparse

from thalweg.estimators.counted import counted


@pytest.mark.parametrize("storage", [np.asarray, scipy.sparse.csr_matrix])
def test_samples_without_weight_are_left_out(storage):
    X, y = storage(np.arange(6.0).reshape(3, 2)), np.array([1.0, 2.0, 3.0])
    rows, targets, weights = counted(X, y, np.array([0.5, 0.0, 2.0]))
    dense = rows if isinstance(rows, np.ndarray) else rows.toarray()
    assert dense.tolist() == [[0.0, 1.0], [4.0, 5.0]]
    assert (targets.tolist(), weights.tolist()) == ([1.0, 3.0], [0.5, 2.0])


@pytest.mark.parametrize("weights", [np.ones(3), np.zeros(3)])
def test_nothing_is_copied_where_all_count_or_none(weights):
    X, y = np.eye(3), np.ones(3)
    found = counted(X, y, weights)
    assert all(one is other for one, other in zip(found, (X, y, weights), strict=True))
