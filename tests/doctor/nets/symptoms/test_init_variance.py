import math

import numpy as np
import pytest

from records import LAYERS, STUCK, facts_of
from thalweg.doctor.nets.symptoms.init_variance import init_variance


@pytest.mark.parametrize("q", [1 / 3, 1.0, 2.0])  # PyTorch's own, LeCun, He
def test_schemes_are_fine(q):
    std = np.array([math.sqrt(q / each.fan_in) if each.fan_in > 0 else np.nan for each in LAYERS])
    assert init_variance(facts_of(**STUCK, weight_std=std)) == []


def test_far_from_all_of_them():
    (large,) = init_variance(facts_of(**STUCK, weight_std=2.0))
    assert large.measured == pytest.approx(20 * 2.0**2)
    (small,) = init_variance(facts_of(**STUCK, weight_std=1e-3))
    assert small.measured == pytest.approx(10 * 1e-6)
    assert "saddle" in small.cause


def test_it_harms_nothing():
    assert init_variance(facts_of(weight_std=2.0)) == []


def test_the_worst_layer_is_named():
    std = np.array([0.3, np.nan, 9.0, 0.3])
    (finding,) = init_variance(facts_of(**STUCK, weight_std=std))
    assert finding.evidence["layer"] == "middle"
