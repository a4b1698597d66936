import math
from dataclasses import fields

import torch
from torch import nn
from torch.nn import functional

import thalweg as tw
from records import FACTS, record_of
from thalweg.doctor.nets.facts.measured import Measured, above, below, measured

NAMES = {each.name for each in fields(Measured)}


def test_parts_are_joined():
    one, other = Measured(data_rows=3.0, data_size=1.0), Measured(data_size=2.0, data_copy=-1.0)
    assert one | other == Measured(data_rows=3.0, data_size=2.0, data_copy=-1.0)
    assert (one | other).scalars() == {"data_rows": 3.0, "data_size": 2.0, "data_copy": -1.0}


def test_what_is_nan_or_missing_in_a_record_is_not_known():
    record = record_of(data_size=math.nan, data_spread=math.inf)
    known = measured(type(record)(record.layers, record.columns, dict(record.scalars)))
    assert known.data_size is None
    assert known.batch_skill is None
    assert known.data_spread == math.inf
    assert known.bad_where == ""
    assert known.data_rows == FACTS["data_rows"]


def test_what_is_not_known_is_neither_above_nor_below():
    assert above(2.0, 1.0)
    assert below(1.0, 2.0)
    assert not above(1.0, 1.0)
    assert not below(1.0, 1.0)
    assert not above(None, -math.inf)
    assert not below(None, math.inf)


def watched(y, loss, outputs):
    """The scalars of a training with data, validation rows, dropout and a norm."""
    x = torch.randn(60, 4)
    model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Dropout(), nn.Linear(8, outputs))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    pairs = {"data": (x[:40], y[:40]), "validation": (x[40:], y[40:])}
    with tw.watch(model, optimizer, loss=loss, every=1, **pairs) as w:
        for rows in torch.randperm(40).split(10):
            optimizer.zero_grad()
            # Noise, so that some rows are not those of the data.
            value = loss(model(x[rows] + 0.01 * torch.randn(10, 4)), y[rows])
            value.backward()
            optimizer.step()
            w.step(value, targets=y[rows])
    return w.record.scalars


def test_every_name_is_one_that_a_watch_writes():
    """A name that nobody writes would never be known, and what it is to show never be found."""
    torch.manual_seed(0)
    classes = watched(torch.arange(60) % 3, functional.cross_entropy, 3)
    numbers = watched(torch.randn(60, 1), functional.mse_loss, 1)
    assert NAMES - classes.keys() == {"target_wildest"}
    assert NAMES - classes.keys() - numbers.keys() == set()
