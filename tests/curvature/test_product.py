"""Products are checked where they enter, and nothing they do to their arrays matters."""

import numpy as np
import pytest

from thalweg.core.errors import InputError
from thalweg.curvature.product import Product, check_generator


def test_product_is_the_callable_in_float64_and_counts():
    product = Product(lambda v: (2 * v).astype(np.float32), 3)
    result = product(np.array([1.0, 2.0, 3.0]))
    assert result.dtype == np.float64
    np.testing.assert_array_equal(result, [2.0, 4.0, 6.0])
    assert product.count == 1
    assert product.eps == np.finfo(np.float32).eps


def test_callable_may_overwrite_its_argument_and_reuse_its_result():
    buffer = np.zeros(2)

    def matvec(v):
        buffer[:] = 3 * v
        v[:] = np.nan
        return buffer

    product = Product(matvec, 2)
    v = np.array([1.0, 2.0])
    first = product(v)
    product(np.array([5.0, 5.0]))
    np.testing.assert_array_equal(v, [1.0, 2.0])
    np.testing.assert_array_equal(first, [3.0, 6.0])


@pytest.mark.parametrize(
    ("matvec", "sentence"),
    [
        (
            lambda v: np.where(np.arange(3) == 1, np.nan, v),
            r"finite numbers, got nan at position 1",
        ),
        (lambda v: v * np.inf, r"finite numbers, got -?inf"),
        (lambda v: v[:2], r"a vector of 3 entries, as v has, got an array of shape \(2,\)"),
        (lambda v: v[:, None], r"got an array of shape \(3, 1\)"),
        (lambda v: 1.0, r"a vector of 3 entries"),
        (lambda v: v * 1j, r"real numbers, got complex128"),
    ],
)
def test_a_bad_product_is_named(matvec, sentence):
    with pytest.raises(InputError, match=f"matvec must return .*{sentence}"):
        Product(matvec, 3)(np.ones(3))


def test_arguments_are_checked():
    with pytest.raises(InputError, match="matvec must be a function"):
        Product(np.eye(2), 2)
    with pytest.raises(InputError, match="dim must be a whole number"):
        Product(lambda v: v, 0)
    with pytest.raises(InputError, match=r"pass numpy.random.default_rng\(seed\)"):
        check_generator(0)
