import math

import numpy as np
import torch

from thalweg.core.record import LAYER_COLUMNS, Layer
from thalweg.doctor.nets.instruments import journal as module
from thalweg.doctor.nets.instruments.curvature import Curvature
from thalweg.doctor.nets.instruments.instruments import Look
from thalweg.doctor.nets.instruments.journal import Journal
from thalweg.doctor.nets.instruments.noise import Agreement

LAYERS = [Layer(name, "Linear", "linear", 1.0, (1, 1), 1, 1) for name in "ab"]


def seen(value):
    return Look(value, {name: np.array([value, -value]) for name in LAYER_COLUMNS})


def step(journal, loss, validation=math.nan, **more):
    journal.step(loss, validation, 0.1, 0.01, True, 0.0, **more)


def test_steps_looks_and_layers_in_order():
    journal = Journal(2)
    journal.look(1, seen(5.0))
    step(journal, 2.0, curvature=Curvature(4.0, -1.0, 0.5, 7.0, 0.1, math.nan))
    journal.agree(Agreement(0.25, 3.0))
    step(journal, 1.0, validation=1.5)
    record = journal.record(LAYERS, [1, 0], {"rank": 0}, [{"name": "SGD"}], ["note"])
    assert record["step"].tolist() == [1, 2]
    assert record["loss"].tolist() == [2, 1]
    assert np.array_equal(record["validation_loss"], [math.nan, 1.5], equal_nan=True)
    hessian = [record[f"hessian_{n}"][0] for n in ("largest", "smallest", "error", "trace")]
    assert hessian == [4.0, -1.0, 0.5, 7.0]
    assert record["look"].tolist() == [1]
    assert record["gradient_norm_total"].tolist() == [5.0]
    assert (record["gradient_cosine"][0], record["gradient_difference"][0]) == (0.25, 3.0)
    assert [layer.name for layer in record.layers] == ["b", "a"]
    assert record["mean"].tolist() == [[-5.0, 5.0]]
    assert record.scalars["steps"] == 2
    assert record.notes == ("note",)


def test_losses_that_wait_are_read_in_their_place(monkeypatch):
    monkeypatch.setattr(module, "STEPS", 8)
    journal = Journal(2)
    for k in range(40):
        step(journal, torch.tensor(float(k)))  # as on another device
        if k == 20:
            assert journal.read() is None
    step(journal, torch.tensor(math.nan))
    assert journal.read() == 41
    assert journal.read() is None
    record = journal.record(LAYERS, [0, 1], {}, [], [])
    assert record["loss"].tolist()[:-1] == (record["step"][:-1] - 1).tolist()


def test_an_agreement_of_a_look_that_is_not_kept_goes_nowhere(monkeypatch):
    monkeypatch.setattr(module, "LOOKS", 2)
    journal = Journal(2)
    for k in range(4):
        journal.look(k, seen(float(k)))
        journal.agree(Agreement(float(k), 0.0))
    assert journal.looks.rows[:, 0].tolist() == journal.looks.rows[:, 2].tolist() == [0, 2]


def test_a_record_does_not_follow_the_journal():
    journal = Journal(2)
    step(journal, 1.0)
    record = journal.record(LAYERS, [0, 1], {}, [], [])
    journal.steps.rows[:] = 9.0
    assert record["loss"].tolist() == [1.0]


def test_a_validation_loss_goes_to_the_last_step():
    journal = Journal(2)
    step(journal, 2.0)
    step(journal, 1.0)
    journal.validate(0.5)
    step(journal, 0.9)
    record = journal.record(LAYERS, [0, 1], {}, [], [])
    assert np.array_equal(record["validation_loss"], [math.nan, 0.5, math.nan], equal_nan=True)
