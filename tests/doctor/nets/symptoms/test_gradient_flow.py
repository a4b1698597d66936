import math

import numpy as np
import pytest

from records import LAST, LINEAR, STUCK, facts_of
from thalweg.doctor.nets.symptoms.gradient_flow import exploding, vanishes_at_first, vanishing


def test_the_ratio_by_hand():
    norms = np.array([1e-6, np.nan, 1e-3, 1e-2])
    (finding,) = vanishing(facts_of(**STUCK, gradient_norm=norms))
    assert finding.measured == pytest.approx((1e-6 / math.sqrt(220)) / (1e-2 / math.sqrt(63)))
    assert finding.evidence == {"first": "first", "last": "last"}


def test_at_first_or_later():
    norms = np.array([[1.0, 1, 1, 1]] + 4 * [[1e-8, 1, 1, 1]])
    record = facts_of(**STUCK, gradient_norm=norms)
    assert vanishing(record)
    assert not vanishes_at_first(record)


def test_one_hidden_layer_has_no_depth():
    norms = np.array([1e-6, 1.0])
    assert vanishing(facts_of(**STUCK, layers=(LINEAR, LAST), gradient_norm=norms)) == []


def test_layers_that_are_cut_off():
    norms = np.array([np.nan, np.nan, np.nan, 1.0])
    (finding,) = vanishing(facts_of(**STUCK, gradient_norm=norms))
    assert finding.evidence["layers"] == ["first", "middle"]
    assert vanishing(facts_of(gradient_norm=norms)) == []


def test_exploding_with_depth_and_in_time():
    (deep,) = exploding(facts_of(**STUCK, gradient_norm=np.array([1e6, np.nan, 1e3, 1.0])))
    assert "times that of last" in deep.claim
    (late,) = exploding(facts_of(**STUCK, gradient_norm_total=np.geomspace(0.1, 1e4, 5)))
    assert late.measured == pytest.approx(1e5)
    assert exploding(facts_of(gradient_norm_total=np.geomspace(0.1, 1e4, 5))) == []


def test_gradients_that_shrink_as_training_ends_do_not_explode():
    assert exploding(facts_of(**STUCK, gradient_norm_total=np.geomspace(1e4, 0.1, 5))) == []
