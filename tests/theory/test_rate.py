import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thalweg.core.errors import InputError
from thalweg.theory.rate import bound, iterations, smallest_count


def test_bound_is_the_recurrence_unrolled():
    error, errors = 5.0, []
    for _ in range(20):
        errors.append(error)
        error *= 0.7
    np.testing.assert_allclose(bound(5.0, 0.7, np.arange(20)), errors)
    assert bound(5.0, 0.7, 3) == pytest.approx(5.0 * 0.343)


@given(
    constant=st.floats(1e-6, 1e6),
    rate=st.floats(0.0, 1 - 1e-7),
    tolerance=st.floats(1e-12, 1e3),
)
def test_iterations_are_the_first_that_suffice(constant, rate, tolerance):
    T = iterations(constant, rate, tolerance)
    assert bound(constant, rate, T) <= tolerance
    assert T == 0 or bound(constant, rate, T - 1) > tolerance


@given(threshold=st.integers(0, 10**15), at_least=st.integers(0, 5))
def test_smallest_count_finds_the_threshold(threshold, at_least):
    found = smallest_count(lambda T: float(threshold > T), 0.5, at_least=at_least)
    assert found == max(threshold, at_least)


def test_nothing_shrinks_at_the_rate_one():
    with pytest.raises(InputError, match=r"rate must be in \[0, 1\), got 1.0: at the rate 1"):
        iterations(1.0, 1.0, 0.1)
