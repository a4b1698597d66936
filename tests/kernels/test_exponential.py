"""The functions against the standard library's, to the last digits, and at their edges."""

import math

import numpy as np
import pytest

from thalweg.kernels.compile import kernel
from thalweg.kernels.exponential import exp_of, exp_of_negative, log1p_of_unit, log_of

ULP = np.finfo(float).eps


@kernel
def exps(x, out):
    """Write eˣ of every entry into `out`, in place."""
    for i in range(x.size):
        out[i] = exp_of_negative(x[i])


@kernel
def logs(e, out):
    """Write log(1 + e) of every entry into `out`, in place."""
    for i in range(e.size):
        out[i] = log1p_of_unit(e[i])


def applied(function, x):
    out = np.empty(x.size)
    function(x, out)
    return out


def test_exponentials_are_right_to_three_units_in_the_last_place():
    x = -np.concatenate([np.linspace(0.0, 708.0, 100_003), np.geomspace(1e-300, 1.0, 10_007)])
    error = np.abs(applied(exps, x) / np.exp(x) - 1.0)
    assert error.max() <= 3 * ULP


def test_logarithms_are_right_to_three_units_in_the_last_place():
    e = np.concatenate([np.linspace(0.0, 1.0, 100_003)[1:], np.geomspace(1e-300, 1.0, 10_007)])
    error = np.abs(applied(logs, e) / np.log1p(e) - 1.0)
    assert error.max() <= 3 * ULP


def test_the_ends_are_exact():
    assert exp_of_negative(0.0) == 1.0
    assert exp_of_negative(-0.0) == 1.0
    assert log1p_of_unit(0.0) == 0.0
    assert log1p_of_unit(1.0) == pytest.approx(math.log(2.0), rel=ULP)


@pytest.mark.parametrize("x", [-709.0, -1e6, -math.inf])
def test_below_the_normal_numbers_it_is_zero(x):
    assert exp_of_negative(x) == 0.0


def test_a_nan_stays_one():
    assert math.isnan(exp_of_negative(math.nan))
    assert math.isnan(log1p_of_unit(math.nan))


def test_one_at_a_time_is_many_at_a_time_but_for_rounding():
    # Each is right to three units; which products are fused with a sum is up to the compiler.
    x = -np.random.default_rng(0).exponential(10.0, size=1001)
    alone = np.array([exp_of_negative(one) for one in x])
    np.testing.assert_array_max_ulp(alone, applied(exps, x), maxulp=6)


def test_exponentials_of_either_sign_are_right_to_four_units_and_end_in_infinity():
    for x in np.linspace(-708.0, 708.0, 4001).tolist():
        assert abs(exp_of(x) / math.exp(x) - 1.0) <= 4 * ULP
    assert exp_of(709.0) == math.inf
    assert exp_of(-709.0) == 0.0
    assert math.isnan(exp_of(math.nan))


def test_logarithms_are_right_to_three_units_of_themselves_or_of_one():
    for x in np.geomspace(1e-307, 1e308, 4001).tolist() + np.linspace(0.5, 2.0, 1001).tolist():
        assert abs(log_of(x) - math.log(x)) <= 3 * ULP * max(1.0, abs(math.log(x)))
    assert log_of(1.0) == 0.0
