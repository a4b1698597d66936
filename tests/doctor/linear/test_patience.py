import math

import pytest

from thalweg.doctor.linear.patience import ITERATIONS, OUT_OF_REACH, SLOW, patience, spelled


def test_the_marks_are_where_a_run_is_used_up():
    for kappa, is_above in ((0.99 * SLOW, False), (1.01 * SLOW, True)):
        assert (patience(kappa, 1.0, kappa, 100).gd > ITERATIONS) == is_above
    for kappa, is_above in ((0.99 * OUT_OF_REACH, False), (1.01 * OUT_OF_REACH, True)):
        assert (patience(kappa, 1.0, kappa, 100).nesterov > ITERATIONS) == is_above
    assert 2_800 < SLOW < 3_000
    assert 4e5 < OUT_OF_REACH < 5e5


@pytest.mark.parametrize("kappa", [3.0, 100.0])
def test_gradient_descent_takes_that_long_on_the_worst_quadratic(kappa):
    # Both ends contract alike under the step 2/(L + μ): errors by (κ − 1)/(κ + 1), F by its square.
    share, steps = 1.0, 0
    while share > 1e-6:
        share *= ((kappa - 1.0) / (kappa + 1.0)) ** 2
        steps += 1
    assert patience(kappa, 1.0, kappa, 10).gd == steps


def test_sag_is_free_of_the_condition_where_samples_are_many():
    assert patience(100.0, 1.0, 100.0, 10_000).sag == patience(1.0, 1.0, 1.0, 10_000).sag
    assert patience(1e6, 1.0, 1e6, 100).sag > patience(1e5, 1.0, 1e5, 100).sag


def test_beyond_rounding_it_is_for_ever():
    assert patience(1e20, 1.0, 1e20, 10).gd == math.inf
    assert str(patience(1e20, 1.0, 1e20, 10)).startswith("gd inf iterations, nesterov 1.5e+11")


def test_spelled():
    assert spelled(999.0) == "999"
    assert spelled(12_345.0) == "1.2e+04"
