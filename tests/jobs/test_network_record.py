import numpy as np
import pytest

from records import record_of
from thalweg.doctor.nets import symptoms
from thalweg.jobs.network_record import Memory, joined
from thalweg.nets.training.checkpoint import plain


def parts():
    """A training of 100 steps and 10 looks, cut after 60 steps and 6 looks."""
    loss = np.geomspace(1.1, 0.05, 100)
    first = record_of(looks=6, loss=loss[:60], steps=60.0, look=np.arange(1.0, 61, 10))
    second = record_of(looks=4, loss=loss[60:], steps=40.0, look=np.arange(1.0, 41, 10))
    return first, second, record_of(looks=10, loss=loss, look=np.arange(1.0, 101, 10))


def test_two_parts_are_the_whole():
    first, second, whole = parts()
    found = joined(first, second)
    for name, column in whole.columns.items():
        assert np.array_equal(found[name], column, equal_nan=True), name
    assert found.scalars["steps"] == 100.0
    assert found.scalars["evaluations"] == 20.0
    assert found.notes == (*whole.notes, "resumed after step 60")
    assert symptoms.diagnose(found) == symptoms.diagnose(whole)


def test_layers_are_those_of_the_first_part_in_its_order():
    first, second, _ = parts()
    turned = record_of(layers=second.layers[::-1], looks=4, loss=second["loss"], steps=40.0)
    turned.columns["mean"][:] = [3.0, 2.0, 1.0, 0.0]
    found = joined(first, turned)
    assert [layer.name for layer in found.layers] == [layer.name for layer in first.layers]
    assert found["mean"][-1].tolist() == [0.0, 1.0, 2.0, 3.0]


def test_the_first_bad_step_counts_from_the_beginning():
    first, second, _ = parts()
    bad = {"bad_step": 3, "bad_where": "loss"}
    late = record_of(looks=4, loss=second["loss"], steps=40.0, **bad)
    assert joined(first, late).scalars["bad_step"] == 63
    early = record_of(looks=4, loss=first["loss"], steps=60.0, **bad)
    found = joined(early, late).scalars
    assert (found["bad_step"], found["bad_where"]) == (3, "loss")


def test_a_part_without_steps_brings_what_was_measured_at_the_end():
    first, _, _ = parts()
    empty = record_of(looks=0, loss=[], steps=0.0, trained_late=0.3, bad_step=9)
    found = joined(first, empty)
    assert np.array_equal(found["loss"], first["loss"])
    assert found.scalars["trained_late"] == 0.3
    assert found.scalars["bad_step"] == 0
    assert joined(empty, first) is first


def test_targets_come_from_the_part_with_more_looks():
    first, second, _ = parts()
    many = record_of(looks=6, loss=first["loss"], steps=60.0, target_mixing=1.5, input_rows=64.0)
    few = record_of(looks=4, loss=second["loss"], steps=40.0, target_mixing=9.0, input_rows=3.0)
    assert joined(many, few).scalars["target_mixing"] == 1.5
    assert joined(many, few).scalars["input_rows"] == 64.0
    assert joined(few, many).scalars["target_mixing"] == 1.5
    assert joined(few, many).scalars["input_rows"] == 3.0


def test_a_checkpoint_holds_it():
    class Seen:
        record = parts()[0]

    memory, later = Memory(Seen()), Memory(Seen())
    later.load_state_dict(plain(memory.state_dict()))
    assert later.before.layers == Seen.record.layers
    assert later.before.scalars == pytest.approx(Seen.record.scalars, nan_ok=True)
    assert later.record.scalars["steps"] == 120.0
    assert np.array_equal(later.record["step"], np.arange(1.0, 121))
