import numpy as np
import pytest
import torch
from torch import nn

import thalweg as tw
from small_nets import digits
from thalweg.core.finding import Severity
from thalweg.core.record import LAYER_COLUMNS, STEP_COLUMNS, Layer, Record
from thalweg.doctor.nets.facts.network_facts import network_facts
from thalweg.doctor.nets.symptoms.standing_still import standing_still

LOOKS, STEPS = 20, 200


def layer(name, role="linear"):
    trainable = 20 if role == "linear" else 0
    return Layer(name, role, role, 4.0, (4, 4), trainable, trainable)


def record(*, loss=0.69, gradient=1e-3, ends=(-0.2, 1.0), unit="tanh", first=0.69, **given):
    """Of linear, units, linear: hidden weights of norm 1, gradients as given."""
    layers = (layer("0"), layer("1", unit), layer("2"))
    columns = {name: np.full(STEPS, np.nan) for name in STEP_COLUMNS}
    columns |= {name: np.full((LOOKS, 3), np.nan) for name in LAYER_COLUMNS}
    columns["step"], columns["look"] = np.arange(1.0, STEPS + 1), 1.0 + 10 * np.arange(LOOKS)
    columns["loss"] = np.broadcast_to(np.asarray(loss, dtype=float), STEPS).copy()
    columns["loss"][:5] = first
    columns["weight_norm"][:, [0, 2]] = 1.0
    columns["gradient_norm"][:, 0] = gradient
    columns["gradient_norm"][:, 2] = 0.5
    columns["gradient_norm"][0, 0] = given.get("began", gradient)
    columns["update_ratio"][:, [0, 2]] = given.get("moved", 1e-2)
    columns["dead" if unit == "relu" else "saturated"][:, 1] = given.get("idle", 0.0)
    columns["hessian_smallest"][120::20], columns["hessian_largest"][120::20] = ends
    columns["hessian_error"][120::20] = 0.5
    return Record(given.get("layers", layers), columns, {})


def test_by_hand():
    (finding,) = standing_still(network_facts(record()))
    assert finding.name == "saddle or plateau"
    assert finding.severity is Severity.ACT
    assert finding.measured == pytest.approx(1e-3 * 1.0 / 0.69)
    assert finding.limit == 0.02
    assert finding.evidence["hessian_smallest"] == -0.2
    assert finding.evidence["hessian_largest"] == 1.0
    assert finding.evidence["hessian_error"] == 0.5
    assert "λ_min = -0.2 and λ_max = 1" in finding.claim
    assert "beside a saddle," in finding.cause
    assert "tw.doctor.escape(model, closure)" in finding.advice


@pytest.mark.parametrize("ends", [(np.nan, np.nan), (-0.01, 1.0)])
def test_without_negative_curvature_it_may_be_a_plateau(ends):
    (finding,) = standing_still(network_facts(record(ends=ends)))
    assert finding.severity is Severity.ACT
    assert "a saddle or a plateau" in finding.cause
    assert "λ" not in finding.claim


def test_elasticity_has_no_unit():
    one, other = record(), record(loss=6900.0, first=6900.0, gradient=10.0)
    found = [standing_still(network_facts(each))[0].measured for each in (one, other)]
    assert found[0] == pytest.approx(found[1])


LATER = {"loss": 0.55, "gradient": 0.1}


def test_a_saddle_later_on_is_a_warning():
    (finding,) = standing_still(network_facts(record(**LATER)))
    assert finding.severity is Severity.WARN
    assert finding.measured == -0.2
    assert finding.limit == -0.02
    assert "stands still at 0.55 (first 0.69)" in finding.claim


@pytest.mark.parametrize(
    "healthy",
    [
        {"loss": 0.5, "gradient": 5.0},  # converged on batches
        {"loss": 1e-3},  # converged on all data, with a bend that is left
        {"loss": np.linspace(0.69, 0.1, STEPS)},  # falls
        {"gradient": 0.1, "ends": (np.nan, np.nan)},  # slow to begin with
        {"began": 1.0, "ends": (np.nan, np.nan)},  # has been elsewhere
        {"moved": 1e-7},  # the rate is too small
        {"unit": "relu", "idle": 1.0},  # dead
        {"idle": 1.0},  # saturated
        {**LATER, "ends": (np.nan, np.nan)},
        {**LATER, "ends": (-0.01, 1.0)},
        {**LATER, "gradient": 1.0},
        {**LATER, "loss": 0.3, "gradient": 0.05},
        {**LATER, "loss": np.linspace(0.69, 0.4, STEPS)},
        {"loss": np.nan},
        {"loss": -1.0},
        {"layers": (layer("0", "tanh"), layer("1", "tanh"), layer("2"))},  # linear
    ],
)
def test_nothing_is_found(healthy):
    assert standing_still(network_facts(record(**healthy))) == []


def test_noise_is_no_fall():
    noise = 0.01 * np.random.default_rng(0).standard_normal(STEPS)
    assert standing_still(network_facts(record(loss=0.55 + noise, gradient=0.1))) != []


def test_a_short_training_says_nothing():
    seen = record()
    short = {name: column[:50] for name, column in seen.columns.items()}
    assert standing_still(network_facts(Record(seen.layers, short, {}))) == []
    none = {name: column[:0] for name, column in seen.columns.items()}
    assert standing_still(network_facts(Record(seen.layers, none, {}))) == []


@pytest.mark.parametrize("sigma", [1e-5, 0.1])
def test_digits_beside_the_origin(sigma):
    x, y = digits()
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 16), nn.Tanh(), nn.Linear(16, 10))
    for p in model.parameters():
        nn.init.normal_(p, std=sigma) if p.ndim > 1 else nn.init.zeros_(p)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def loss_on(rows):
        return nn.functional.cross_entropy(model(x[rows]), y[rows])

    with tw.watch(model, optimizer, every=10, closure=lambda: loss_on(slice(0, 200))) as w:
        for _ in range(200):
            optimizer.zero_grad()
            loss = loss_on(torch.randint(len(x), (32,)))
            loss.backward()
            optimizer.step()
            w.step(loss)
    found = standing_still(network_facts(w.record))
    assert [finding.severity for finding in found] == ([Severity.ACT] if sigma == 1e-5 else [])
    if found:
        assert "beside a saddle," in found[0].cause
