import numpy as np

from records import LAST, LINEAR, MIDDLE, RELU, SIGMOID, STUCK, facts_of
from thalweg.core.finding import Severity
from thalweg.doctor.nets.symptoms.activations import dead, saturated


def test_more_than_half_of_a_layer():
    assert dead(facts_of(**STUCK, dead=0.5)) == []
    (finding,) = dead(facts_of(**STUCK, dead=0.6))
    assert finding.severity is Severity.ACT
    assert "60% of the units of relu" in finding.claim


def test_a_sparse_code_is_only_noted():
    (finding,) = dead(facts_of(dead=0.9))
    assert finding.severity is Severity.NOTE


def test_what_was_dead_at_first_and_woke_up():
    share = np.array([0.9, 0.9, 0.1, 0.1, 0.1])[:, None]
    assert dead(facts_of(**STUCK, dead=share)) == []


def test_saturated_units_of_hidden_layers():
    layers = (LINEAR, SIGMOID, MIDDLE, LAST)
    (finding,) = saturated(facts_of(**STUCK, layers=layers, saturated=0.8))
    assert finding.evidence == {"layer": "sigmoid"}
    assert saturated(facts_of(**STUCK, layers=(LINEAR, SIGMOID), saturated=0.8)) == []
    assert saturated(facts_of(**STUCK, layers=(LINEAR, RELU, LAST), saturated=0.8)) == []
