import numpy as np
import pytest
import scipy.sparse

from thalweg.core.errors import InputError
from thalweg.tables.gaps import constants, count_missing, fill_missing, fills

X = np.array([[1.0, np.nan, 5.0], [1.0, 2.0, 5.0], [np.nan, np.nan, 5.0], [4.0, 8.0, 5.0]])
NAMES = ["a", "b", "c"]


@pytest.mark.parametrize("layout", [np.array, scipy.sparse.csr_array])
def test_missing_are_counted_by_column(layout):
    assert count_missing(layout(X), NAMES) == {"a": 1, "b": 2}
    assert count_missing(layout(np.full((2, 2), 1e308)), NAMES) == {}
    with pytest.raises(InputError, match="'b' must be finite"):
        count_missing(layout([[1.0, -np.inf]]), NAMES)


@pytest.mark.parametrize(
    ("impute", "expected"),
    [("mean", [2.0, 5.0, 5.0]), ("median", [1.0, 5.0, 5.0]), ("most-frequent", [1.0, 2.0, 5.0])],
)
def test_filled_by_hand(impute, expected):
    found = fills(X, NAMES, impute)
    assert found == expected
    filled = X.copy()
    fill_missing(filled, found)
    np.testing.assert_array_equal(filled, np.where(np.isnan(X), expected, X))


def test_a_column_without_values():
    with pytest.raises(InputError, match="'a' must hold a value, got 2"):
        fills(np.full((2, 1), np.nan), NAMES, "mean")


@pytest.mark.parametrize("layout", [np.array, scipy.sparse.csr_array])
def test_constant_columns(layout):
    held = layout([[0.0, 3.0, 1.0, 3.0], [0.0, 3.0, 0.0, 4.0]])
    assert constants(held, list("abcd")) == ["a", "b"]
