import numpy as np

from records import LAST, LINEAR, facts_of
from thalweg.doctor.nets.symptoms.symmetric import symmetric


def test_zeros_and_constants():
    (zeros,) = symmetric(facts_of(weight_std=0.0, weight_mean=0.0))
    assert "begin at 0" in zeros.claim
    (halves,) = symmetric(facts_of(weight_std=1e-9, weight_mean=0.5))
    assert halves.evidence["layers"] == ["first", "middle", "last"]


def test_one_layer_is_enough():
    std = np.array([0.3, np.nan, 0.0, 0.3])
    (finding,) = symmetric(facts_of(weight_std=std, weight_mean=np.array([0, np.nan, 0.5, 0])))
    assert finding.evidence["layers"] == ["middle"]


def test_one_unit_has_nobody_to_be_alike():
    single = LAST.__class__("last", "Linear", "linear", 20.0, (1, 20), 21, 21)
    layers = (LINEAR, single)
    std, mean = np.array([0.3, 0.0]), np.array([0.0, 0.1])
    assert symmetric(facts_of(layers=layers, weight_std=std, weight_mean=mean)) == []


def test_only_the_first_look_counts():
    std = np.array([0.3, 0.3, 0.0, 0.0, 0.0])[:, None]
    assert symmetric(facts_of(weight_std=std, weight_mean=0.5)) == []
