import numpy as np
import pytest
import scipy.sparse

import thalweg as tw
from thalweg.core import finiteness
from thalweg.scaling.validation import check_finite, validated_inverse


@pytest.mark.parametrize("block", [1, 7, 100_000])
def test_the_first_bad_entry_is_found_whatever_the_block(block, monkeypatch):
    monkeypatch.setattr(finiteness, "BLOCK", block)
    X = np.zeros((9, 4))
    check_finite(X)
    X[6, 1] = np.inf
    X[8, 0] = np.nan
    with pytest.raises(tw.InputError, match="got inf in row 6, column 1"):
        check_finite(X)


def test_in_images_it_is_named_by_channel_and_pixel():
    X = np.zeros((3, 2, 4, 4), dtype=np.float32)
    X[2, 1, 0, 3] = np.nan
    with pytest.raises(tw.InputError, match=r"got nan in image 2, channel 1, at \(0, 3\)"):
        check_finite(X)


def test_a_bad_entry_of_a_sparse_matrix_is_named():
    X = scipy.sparse.csr_array(np.array([[0.0, 1.0], [0.0, 0.0], [np.nan, 2.0]]))
    with pytest.raises(tw.InputError, match="got nan in row 2, column 0"):
        tw.scaling.ZScore(center=False).fit(X)


def test_an_entry_given_twice_counts_as_its_sum():
    twice = scipy.sparse.csr_array(
        (np.array([1.0, 2.0, 4.0]), np.array([0, 0, 0]), np.array([0, 2, 3])), shape=(2, 1)
    )
    scaler = tw.scaling.ZScore(center=False).fit(twice)
    assert scaler.spread_ == pytest.approx([0.5])
    assert twice.nnz == 3


def test_the_inverse_wants_as_many_columns_as_there_were():
    with pytest.raises(tw.InputError, match="X must have 3 columns, as transform returns, got 2"):
        validated_inverse(np.ones((4, 2)), 3)
