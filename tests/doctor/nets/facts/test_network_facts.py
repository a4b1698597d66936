from dataclasses import replace

import thalweg as tw
from records import LAYERS, LINEAR, STUCK, facts_of, record_of
from thalweg.doctor.nets.facts.network_facts import network_facts


def test_layers_with_weights_that_are_trained():
    assert facts_of().trained_layers == [0, 2, 3]
    frozen = replace(LINEAR, trainable=0)
    assert facts_of(layers=(frozen, *LAYERS[1:])).trained_layers == [2, 3]


def test_what_is_known_and_how_it_went():
    record = record_of(**STUCK)
    facts = network_facts(record)
    assert facts.record is record
    assert facts.measured.trained_loss == 1.1
    assert facts.course.stuck


def test_a_record_that_was_saved_has_the_same_facts(tmp_path):
    record = record_of(**STUCK, data_offset=30.0)
    record.save(tmp_path / "record.npz")
    again = network_facts(tw.doctor.Record.load(tmp_path / "record.npz"))
    assert again.measured == network_facts(record).measured
    assert again.course == network_facts(record).course
