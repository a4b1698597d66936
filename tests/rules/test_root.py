import numpy as np
import pytest

from thalweg.rules import sqrt


def test_float_stays_a_float():
    assert sqrt(2.25) == 1.5
    assert type(sqrt(2.25)) is float


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_array_and_scalar_keep_their_dtype(dtype):
    assert sqrt(np.array([4, 9], dtype)).tolist() == [2, 3]
    assert sqrt(np.array([4, 9], dtype)).dtype == dtype
    assert sqrt(dtype(4)).dtype == dtype


def test_whole_number_has_a_root_too():
    assert sqrt(9) == 3


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_tensor_stays_a_tensor(dtype):
    torch = pytest.importorskip("torch")
    root = sqrt(torch.tensor([4.0, 9.0], dtype=getattr(torch, dtype)))
    assert root.dtype == getattr(torch, dtype)
    assert root.tolist() == [2, 3]


def test_nan_and_infinity_pass_through():
    assert np.isnan(sqrt(float("nan")))
    assert sqrt(float("inf")) == float("inf")
    np.testing.assert_array_equal(sqrt(np.array([np.nan, np.inf])), [np.nan, np.inf])
