import numpy as np

from records import facts_of
from thalweg.doctor.nets.symptoms.clipping import clipping

SPIKES = np.where(np.arange(100) % 10, 0.5, 5e4)
WILD = {"loss": SPIKES, "target_wildest": 5000.0, "data_classes": 0.0}


def test_spikes_and_wild_targets_that_came_to_little():
    (finding,) = clipping(facts_of(**WILD, validated_skill=0.1))
    assert finding.measured == 5e4 / 0.5
    assert "clip_norm" in finding.advice


def test_clipped_steps_learn_all_the_same():
    assert clipping(facts_of(**WILD, validated_skill=0.8)) == []


def test_spikes_alone_are_noise():
    assert clipping(facts_of(loss=SPIKES, validated_skill=0.1)) == []
