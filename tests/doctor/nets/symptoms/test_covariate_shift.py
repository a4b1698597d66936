import numpy as np
import pytest
import torch
from torch import nn

import thalweg as tw
from small_nets import digits
from thalweg.core.finding import Severity
from thalweg.core.record import LAYER_COLUMNS, Layer, Record
from thalweg.doctor.nets.facts.network_facts import network_facts
from thalweg.doctor.nets.symptoms.covariate_shift import covariate_shift, shift

LOOKS, STEPS = 16, 160


def layer(name, kind, role):
    trainable = 20 if role in ("linear", "norm") else 0
    return Layer(name, kind, role, 4.0, (4, 4), trainable, trainable)


LINEAR, SIGMOID = ("Linear", "linear"), ("Sigmoid", "sigmoid")


def record(middle, spread=1.0, *, kinds=(LINEAR, SIGMOID, LINEAR, SIGMOID, LINEAR), **given):
    """Of a network in which layer 2 has these medians and half this band at 16 looks."""
    layers = tuple(layer(str(k), *kind) for k, kind in enumerate(kinds))
    columns = {name: np.full((LOOKS, len(layers)), np.nan) for name in LAYER_COLUMNS}
    columns |= {"look": 1.0 + 10 * np.arange(LOOKS), "step": 1.0 + np.arange(STEPS)}
    for name, side in (("p15", -1.0), ("p50", 0.0), ("p85", 1.0)):
        columns[name] = np.zeros((LOOKS, len(layers))) + side
        columns[name][:, 2] = np.asarray(middle) + side * np.asarray(spread)
    columns["loss"] = np.full(STEPS, given.get("loss", 2.3))
    columns["loss"][:10] = 2.3
    columns["weight_norm"] = np.ones((LOOKS, len(layers)))
    columns["gradient_norm"] = np.full((LOOKS, len(layers)), given.get("gradient", 1e-3))
    return Record(layers, columns, {})


WANDERING = np.linspace(0.0, 3.0, LOOKS)


def test_by_hand():
    # Eighths of 16 looks are pairs: the first has its median at 0.1, the last at 2.9.
    found = shift(record(WANDERING, 2.0), "2")
    assert found.moved == pytest.approx(2.8)
    assert found.shift == pytest.approx(2.8 / 2.0)
    assert found.spread == (2.0, 2.0)


def test_it_is_the_largest_over_all_pairs_of_times():
    rng = np.random.default_rng(0)
    middle, spread = rng.standard_normal(8), rng.random(8) + 0.5
    largest = 0.0
    for t in range(8):
        for u in range(8):
            largest = max(largest, abs(middle[t] - middle[u]) / (spread[t] * spread[u]) ** 0.5)
    found = shift(record(np.repeat(middle, 2), np.repeat(spread, 2)), "2")
    assert found.shift == pytest.approx(largest)
    assert found.spread == pytest.approx((spread[0], spread[-1]))


def test_wandering_inputs_of_a_training_that_suffers_ask_for_action():
    (finding,) = covariate_shift(network_facts(record(WANDERING)))
    assert finding.name == "internal covariate shift"
    assert finding.severity is Severity.ACT
    assert finding.measured == pytest.approx(2.8)
    assert finding.limit == 1.0
    assert finding.evidence["layer"] == "2"
    assert "BatchNorm" in finding.advice
    assert "Sigmoid behind '2' wandered by 2.8" in finding.claim


@pytest.mark.parametrize("harmless", [{"loss": 0.5}, {"loss": 99.0}, {"gradient": 1.0}])
def test_where_training_learns_or_diverges_there_is_nothing(harmless):
    assert covariate_shift(network_facts(record(WANDERING, **harmless))) == []


@pytest.mark.parametrize(
    ("middle", "spread", "kinds"),
    [
        (0.3 * WANDERING, 1.0, None),  # within the band
        (0.02 * WANDERING, 0.01, None),  # far in bands, nothing for a sigmoid
        (0.0, np.linspace(0.3, 3.0, LOOKS), None),  # a band that widens
        (WANDERING, 1.0, (LINEAR, SIGMOID, ("BatchNorm1d", "norm"), SIGMOID, LINEAR)),
        (WANDERING, 1.0, (LINEAR, SIGMOID, LINEAR, ("ReLU", "relu"), LINEAR)),
        (WANDERING, 1.0, (LINEAR, SIGMOID, LINEAR, SIGMOID)),  # the network's output
        (WANDERING, 1.0, (SIGMOID, SIGMOID, LINEAR, SIGMOID, LINEAR)),  # nothing below learns
    ],
)
def test_nothing_is_found(middle, spread, kinds):
    given = {} if kinds is None else {"kinds": kinds}
    assert covariate_shift(network_facts(record(middle, spread, **given))) == []


def test_noise_of_batches_is_no_shift():
    rng = np.random.default_rng(0)
    noise = rng.standard_normal(16 * LOOKS)
    seen = record(0.0)
    columns = dict(seen.columns)
    for name in ("p15", "p50", "p85"):
        columns[name] = np.repeat(seen[name], 16, 0)
        columns[name][:, 2] += 0.5 * noise
    columns["look"] = np.arange(1.0, 16 * LOOKS + 1)
    found = shift(Record(seen.layers, columns, {}), "2")
    assert np.ptp(0.5 * noise) > 2.0  # single looks lie that far apart
    assert found.shift < 0.5


def test_the_score_has_no_unit():
    one, other = record(WANDERING), record(7.0 * WANDERING, 7.0)
    assert shift(one, "2").shift == pytest.approx(shift(other, "2").shift)


def test_too_few_looks_or_losses_that_are_not_finite_say_nothing():
    seen = record(WANDERING)
    short = {name: column[:8] for name, column in seen.columns.items()}
    assert np.isnan(shift(Record(seen.layers, short, {}), "2").shift)
    assert covariate_shift(network_facts(Record(seen.layers, short, {}))) == []
    bad = dict(seen.columns, loss=np.full(STEPS, np.nan))
    assert covariate_shift(network_facts(Record(seen.layers, bad, {}))) == []
    empty = dict(seen.columns, p50=np.full((LOOKS, 5), np.nan))
    assert covariate_shift(network_facts(Record(seen.layers, empty, {}))) == []


@pytest.mark.parametrize("has_norms", [True, False])
def test_norms_hold_the_inputs_of_a_network_that_learns_digits(has_norms):
    x, y = digits()
    torch.manual_seed(0)
    parts = []
    for k in range(3):
        parts += [
            nn.Linear(16 if k else 64, 16),
            nn.BatchNorm1d(16) if has_norms else nn.Identity(),
        ]
        parts.append(nn.Sigmoid())
    model = nn.Sequential(*[p for p in parts if not isinstance(p, nn.Identity)], nn.Linear(16, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    with tw.watch(model, optimizer, every=10) as w:
        for _ in range(200):
            rows = torch.randint(len(x), (32,))
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
            loss.backward()
            optimizer.step()
            w.step(loss)
    before_last = "7" if has_norms else "4"
    found = shift(w.record, before_last).shift
    assert found < 0.5 if has_norms else found > 1.0
