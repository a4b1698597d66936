import numpy as np
import pytest
import torch
from torch import nn

from thalweg.jobs import network_certificate
from thalweg.jobs.network_certificate import certify_network
from thalweg.nets.recipes.recipe import Recipe

SQUARED = Recipe(loss="squared")


def line(rows=50):
    """A linear map at the least squares solution, its data, and the Hessian."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, 3))
    y = X @ [1.0, 2.0, 3.0] + 0.1 * rng.normal(size=rows)
    w = np.linalg.lstsq(X, y, rcond=None)[0]
    model = nn.Linear(3, 1, bias=False).double()
    model.weight.data = torch.tensor(w)[None]
    return model, (torch.tensor(X), torch.tensor(y)[:, None]), X.T @ X / rows


def test_a_minimum_with_the_ends_of_its_spectrum():
    model, data, hessian = line()
    point, spectrum = certify_network(model, SQUARED, data)
    ends = np.linalg.eigvalsh(hessian)
    assert point.kind == "minimum"
    assert (point.smallest, point.largest) == pytest.approx((ends[0], ends[-1]))
    assert spectrum.nodes == pytest.approx(ends)
    assert point.objective == "squared of the network on 50 rows"
    assert point.gradient_norm < 1e-10


def test_a_saddle_has_a_way_out():
    model = nn.Sequential(nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False)).double()
    for p in model.parameters():
        nn.init.zeros_(p)
    x = torch.linspace(-1, 1, 20, dtype=torch.float64)[:, None]
    point, _ = certify_network(model, SQUARED, (x, x))
    assert point.kind == "saddle"
    assert point.drop > 0.0


def test_elsewhere_nothing_is_stationary_and_what_is_left_out_is_said():
    model, data, _ = line()
    model.weight.data += 1.0
    before = model.weight.clone()
    point, _ = certify_network(model, SQUARED.changed(weight_decay=0.1, l1=0.1), data)
    assert point.kind == "not stationary"
    assert "without weight_decay and l1" in point.explanation
    assert torch.equal(model.weight, before)
    assert model.weight.grad is None


def test_rows_are_drawn_by_the_seed(monkeypatch):
    monkeypatch.setattr(network_certificate, "ROWS", 20)
    model, data, _ = line()
    one, two, other = (certify_network(model, SQUARED, data, seed) for seed in (1, 1, 2))
    assert one.point.largest == two.point.largest != other.point.largest
    assert np.array_equal(one.spectrum.density, two.spectrum.density)
    assert "on 20 of 50 rows, drawn by seed 1" in repr(one.point)


def test_the_more_weights_the_fewer_rows(monkeypatch):
    monkeypatch.setattr(network_certificate, "FEWEST", 2)
    monkeypatch.setattr(network_certificate, "WORK", 10 * 3.0)
    monkeypatch.setattr(network_certificate, "ACTIVATION", 0)
    model, data, _ = line()
    assert "on 10 of 50 rows" in certify_network(model, SQUARED, data).point.objective


def test_training_mode_is_left_and_not_used():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Dropout(0.5), nn.Linear(3, 1)).train()
    data = torch.rand(30, 3), torch.rand(30, 1)
    one, two = (certify_network(model, SQUARED, data).point for _ in range(2))
    assert model.training
    assert one.gradient_norm == two.gradient_norm
