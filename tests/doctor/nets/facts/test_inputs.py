import numpy as np
import pytest

from thalweg.doctor.nets.facts.inputs import inputs

RNG = np.random.default_rng(0)


def test_by_hand():
    x = np.array([[1.0, 10.0, 5.0], [3.0, 10.0, 5.0], [1.0, 30.0, 5.0], [3.0, 30.0, 5.0]])
    facts = inputs(x)
    assert facts.data_size == pytest.approx(np.sqrt((5 + 500 + 25) / 3))
    assert facts.data_offset == pytest.approx(np.sqrt(4 + 400 + 25) / np.sqrt(1 + 100))
    assert facts.data_spread == pytest.approx((2 + 0.95 * 18) / (2 + 0.05 * 18))
    assert facts.data_constant == pytest.approx(1 / 3)
    assert facts.data_distinct == 1.0


def test_standardized_columns_have_nothing():
    facts = inputs(RNG.standard_normal((500, 6)))
    assert facts.data_size == pytest.approx(1.0, abs=0.05)
    assert facts.data_offset < 0.1
    assert facts.data_spread < 1.5
    assert facts.data_denormal == facts.data_not_finite == facts.data_constant == 0.0


def test_the_condition_number_is_at_least_what_is_claimed():
    x = RNG.standard_normal((2000, 3)) * [1.0, 10.0, 100.0]
    facts, values = inputs(x), np.linalg.eigvalsh(x.T @ x)
    assert values[-1] / values[0] > 0.5 * facts.data_spread**2
    shifted = np.column_stack([np.ones(2000), RNG.standard_normal((2000, 2)) + 30.0])
    values = np.linalg.eigvalsh(shifted.T @ shifted)
    assert values[-1] / values[0] > inputs(shifted[:, 1:]).data_offset ** 2


def test_what_is_no_number_and_what_is_too_small():
    x = np.ones((10, 4))
    x[0, 0], x[3] = np.nan, [1e-40, 2.0, 3.0, 0.0]
    facts = inputs(x)
    assert facts.data_not_finite == 1 / 40
    assert facts.data_denormal == 1 / 36  # of the rows that are finite; a zero is none


def test_all_alike():
    facts = inputs(np.full((5, 3), 7.0))
    assert (facts.data_constant, facts.data_spread, facts.data_offset) == (1.0, 1.0, 0.0)
    assert facts.data_distinct == 0.2


def test_nothing_finite():
    assert inputs(np.full((3, 2), np.nan)).data_size is None
