import math

import pytest
import torch
from torch import nn
from torch.nn import functional

import thalweg as tw
from small_nets import digits
from thalweg.core.errors import InputError
from thalweg.doctor.nets.facts.examination import Examination
from thalweg.doctor.nets.facts.measured import Measured


def trained(x, y, x_val, y_val, steps=150, **asked):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    pairs = {"data": (x, y), "validation": (x_val, y_val), **asked}
    with tw.watch(model, optimizer, loss="cross-entropy", every=10, **pairs) as w:
        for k in range(steps):
            rows = torch.arange(k * 32, k * 32 + 32) % len(x)
            optimizer.zero_grad()
            loss = functional.cross_entropy(model(x[rows]), y[rows])
            loss.backward()
            optimizer.step()
            w.step(loss, targets=y[rows])
        w.validate(functional.cross_entropy(model(x_val), y_val))
    return w


@pytest.fixture(scope="module")
def parts():
    x, y = digits(900)
    return x[:600], y[:600], x[600:900], y[600:900]


def test_a_healthy_training_has_all_facts_and_nothing_to_act_on(parts):
    w = trained(*parts)
    s = w.record.scalars
    assert s["first_loss"] == pytest.approx(math.log(10), abs=0.5)
    assert s["constant_loss"] == pytest.approx(math.log(10), abs=0.1)
    assert s["validated_skill"] > 0.8
    assert s["data_reference"] > 0.8
    assert s["small_fit"] < 0.1
    assert s["batch_moved"] == 0.0
    assert not math.isnan(w.record["validation_loss"][-1])
    assert (~torch.tensor(w.record["hessian_largest"]).isnan()).any()  # by its own closure
    assert [f for f in w.diagnose() if f.severity == 3] == []


def test_training_computes_the_same_bits(parts):
    watched = trained(*parts)._instruments.model
    alone = trained(*parts, data=None, validation=None)._instruments.model
    for p, q in zip(watched.parameters(), alone.parameters(), strict=True):
        assert torch.equal(p, q)


def test_labels_torn_from_their_rows_are_found(parts):
    x, y, x_val, y_val = parts
    order = torch.randperm(len(y), generator=torch.Generator().manual_seed(0))
    (finding, *_) = trained(x, y[order], x_val, y_val).diagnose()
    assert finding.name == "shuffled labels"


def test_only_what_is_known():
    model = nn.Linear(2, 2)
    assert Examination(model, None, None, None).before(None).scalars().keys() == {
        "mode_dropout", "mode_norm", "dropped"
    }  # fmt: skip
    assert Examination(model, "cross-entropy", None, None).after() == Measured()
    data = torch.randn(20, 2), torch.arange(20) % 2
    assert Examination(model, None, data, None).before(None).data_size is not None
    assert not Examination(model, None, data, None).has_closure


def test_bad_input():
    model, x, y = nn.Linear(2, 2), torch.randn(4, 2), torch.zeros(4, dtype=torch.long)
    with pytest.raises(InputError, match=r"data of watch must be a pair \(x, y\), got 3"):
        Examination(model, None, 3, None)
    with pytest.raises(InputError, match="validation of watch must have at least one row"):
        Examination(model, None, (x, y), (x, y[:3]))
    with pytest.raises(InputError, match="loss must be a known name"):
        Examination(model, "entropy", (x, y), None)


def test_a_model_of_other_samples():
    y = torch.arange(4) % 2
    with pytest.raises(InputError, match="model cannot take samples of shape"):
        Examination(nn.Linear(3, 2), "cross-entropy", (torch.randn(4, 2), y), None).before(None)
    both = nn.Bilinear(2, 2, 2)
    with pytest.raises(InputError, match="model cannot take samples of shape"):
        Examination(both, "cross-entropy", (torch.randn(4, 2), y), None).before(None)


def test_labels_of_another_shape_than_the_outputs():
    """A column of outputs and a row of labels would be a matrix of differences."""
    x, y = torch.randn(20, 2), torch.randn(20)
    with pytest.raises(InputError, match="labels of data must have the shape"):
        Examination(nn.Linear(2, 1), "squared", (x, y), None).before(None)
