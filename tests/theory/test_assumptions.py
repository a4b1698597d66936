import numpy as np
import pytest

from thalweg.core.errors import InputError
from thalweg.theory.assumptions import check_curvatures, check_iterations


def test_curvatures_in_order_pass():
    assert check_curvatures(4, 1) == (4.0, 1.0)
    assert check_curvatures(2.0, 2.0) == (2.0, 2.0)


@pytest.mark.parametrize(
    ("smoothness", "strong_convexity", "sentence"),
    [
        (-1.0, 1.0, "smoothness must be above 0, got -1.0"),
        (1.0, 0.0, "strong_convexity must be above 0, got 0.0: without strong convexity only"),
        (1.0, 2.0, "strong_convexity must be at most the smoothness 1.0, got 2.0"),
        (np.inf, 1.0, "smoothness must be above 0, got inf"),
    ],
)
def test_curvatures_out_of_order_are_named(smoothness, strong_convexity, sentence):
    with pytest.raises(InputError, match=sentence):
        check_curvatures(smoothness, strong_convexity)


def test_iterations_are_one_number_or_an_array():
    assert check_iterations(3) == 3.0
    T = check_iterations(np.array([0, 1, 2]))
    assert T.dtype == np.float64
    np.testing.assert_array_equal(T, [0.0, 1.0, 2.0])


@pytest.mark.parametrize(
    "iterations", [-1, 1.5, True, np.array([1, -1]), np.array([0.5]), np.array([np.nan])]
)
def test_iterations_that_are_no_counts_are_named(iterations):
    with pytest.raises(InputError, match=r"iterations must .* whole number"):
        check_iterations(iterations)
