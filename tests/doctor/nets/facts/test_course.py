import numpy as np
import pytest

from records import STUCK, facts_of, record_of
from thalweg.doctor.nets.facts.network_facts import network_facts


def test_by_hand():
    went = facts_of(loss=np.full(100, 0.5), constant_loss=1.0, reachable_loss=0.0).course
    assert (went.first, went.last, went.best) == (1.12, 0.5, 0.5)
    assert went.learnt == 0.5
    assert went.behind == 0.0
    assert went.gap == pytest.approx(0.02)
    assert not went.failed


def test_without_facts_it_goes_from_the_first_loss():
    record = record_of(loss=np.linspace(2.0, 1.0, 1000))
    record = type(record)(record.layers, record.columns, {"bad_step": 0})
    went = network_facts(record).course
    assert went.first == 2.0
    assert went.learnt == pytest.approx((2.0 - went.last) / 2.0)
    assert went.constant is None
    assert not went.failed


@pytest.mark.parametrize(
    ("changes", "which"),
    [
        (STUCK, "stuck"),
        ({"bad_step": 3}, "diverged"),
        ({"loss": np.geomspace(1.0, 100.0, 50)}, "diverged"),
        ({"loss": np.full(5, np.nan)}, "diverged"),
    ],
)
def test_failures(changes, which):
    went = facts_of(**changes).course
    assert getattr(went, which)
    assert went.failed


def test_a_network_behind_a_simple_model_has_failed():
    assert not facts_of(validated_skill=0.76, data_reference=0.9).course.failed
    assert facts_of(validated_skill=0.74, data_reference=0.9).course.failed


def test_a_negative_loss_may_be_the_goal():
    """Log-likelihoods of densities fall below zero: that is progress."""
    record = record_of(loss=np.linspace(1.0, -3.0, 100))
    record = type(record)(record.layers, record.columns, {"bad_step": 0})
    assert not network_facts(record).course.failed
