import math

import numpy as np
import pytest
from scipy import stats

from thalweg.core.errors import InputError
from thalweg.doctor.nets.treatment.interval import paired_interval


def test_by_hand():
    # d̄ = 2, s = 1, t(2) = 4.3027 at 95 %: ± 4.3027/√3
    interval = paired_interval([1.0, 2.0, 3.0])
    assert interval.mean == 2.0
    assert interval.high - interval.mean == pytest.approx(4.302653 / math.sqrt(3))
    assert interval.differences == (1.0, 2.0, 3.0)


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_it_is_that_of_the_paired_t_test(level):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=7), rng.normal(0.5, size=7)
    reference = stats.ttest_rel(b, a).confidence_interval(level)
    interval = paired_interval(b - a, level)
    assert (interval.low, interval.high) == pytest.approx((reference.low, reference.high))
    # It excludes zero exactly where the test rejects.
    has_zero = interval.low <= 0.0 <= interval.high
    assert has_zero == (stats.ttest_rel(b, a).pvalue >= 1 - level)


def test_it_covers_the_truth_as_often_as_it_says():
    rng = np.random.default_rng(1)
    inside = [
        interval.low <= 0.3 <= interval.high
        for interval in (paired_interval(rng.normal(0.3, 1.0, 4)) for _ in range(2000))
    ]
    assert np.mean(inside) == pytest.approx(0.95, abs=0.015)


def test_limits():
    alone = paired_interval([0.4])
    assert (alone.low, alone.high) == (-math.inf, math.inf)
    assert str(alone) == "+0.400 in 1 pair"
    same = paired_interval([0.25] * 3)
    assert same.low == same.mean == same.high == 0.25


@pytest.mark.parametrize("bad", [[], [math.nan, 1.0], [math.inf]])
def test_sentence(bad):
    with pytest.raises(InputError, match="differences must be finite numbers, at least one"):
        paired_interval(bad)
