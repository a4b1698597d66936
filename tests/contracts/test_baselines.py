"""The detectors of benchmarks/doctor/baselines: their thresholds, and numbers on both sides."""

import dataclasses
import math
from functools import cache

import pytest
import torch
from doctor.baselines import (
    autotrainer,
    before_training,
    deepchecker,
    deeplocalize,
    in_training,
    observer,
    one_batch,
    umlaut,
)
from doctor.baselines.layers import layers_of
from doctor.baselines.matching import activation_matches, loss_matches
from doctor.baselines.observer import Observer, accuracy
from doctor.baselines.record import Epoch, Inspection, Probe, Record
from doctor.baselines.run import DETECTORS, judge, observe
from doctor.baselines.verdict import Verdict
from doctor.data import Data
from doctor.healthy import make
from doctor.loop import run
from doctor.program import Fault, changed
from doctor.table import count
from doctor.wilson import wilson
from torch import nn

from thalweg.doctor.causes import (
    CAUSES,
    CONSTANT,
    COVARIATE_SHIFT,
    DEAD,
    EXPLODING,
    IMBALANCE,
    INIT_VARIANCE,
    LEAKING,
    MODES,
    NAN,
    OVERFITTING,
    PLATEAU,
    RATE_LARGE,
    RATE_SMALL,
    REGULARIZATION,
    SATURATED,
    SHUFFLED,
    SYMMETRIC,
    UNDERFITTING,
    UNSCALED,
    VANISHING,
    WRONG_LOSS,
)

IRIS = make("iris", Data("iris", scaling="unit"), "mlp:6", epochs=10, batch_size=16)
PLANE = make("plane", Data("plane", scaling="unit"), "mlp:6", loss="squared", epochs=4)
QUIET = Inspection(3, 1.0, 1.0, 0.0, True, 1.0, 1.0)
GOOD = Epoch(0.5, 0.9, 0.5, 0.9, 1e-3)
CALM = Probe(0.0, 0.0, 1.0, 0.1, 0.0, 0.5, 0.01, -3.0, 0.0)


def record(program=IRIS, **numbers):
    """A training that nothing is wrong with, but for the numbers given."""
    torch.manual_seed(0)
    data = program.split()
    model = program.model(data)
    made = Record(program, data, model, model)
    made.epochs, made.inspections = [GOOD] * 10, [QUIET]
    return dataclasses.replace(made, **numbers)


def test_thresholds_are_those_described():
    a, u, d, t, b = autotrainer, umlaut, deeplocalize, in_training, before_training
    assert (a.BETA1, a.BETA2, a.BETA3, a.GAMMA, a.ZETA) == (1e-3, 1e-4, 70, 0.7, 0.03)
    assert (a.ETA, a.DELTA, a.THETA, a.OMEGA1, a.OMEGA2, a.WAIT) == (0.2, 0.01, 0.6, 10, 1, 0.3)
    assert a.LARGE_LOSS == 1000
    assert (u.DROPPED, u.LIMIT, u.FASTEST, u.SLOWEST) == (0.5, 1, 0.01, 1e-7)
    assert (u.TOO_GOOD, u.TOO_FAR_ABOVE, u.FROM) == (0.95, 0.05, 3)
    assert (d.WINDOW, d.HALF) == (5, 0.5)
    assert (t.PATIENCE, t.UNITS, t.ENTRIES, t.SPREAD) == (5, 0.5, 0.95, (0.5, 2.0))
    assert (t.LARGEST_WEIGHT, t.GROWTH, t.SHRINKAGE) == (1e8, 2, 0.5)
    assert (t.SMALLEST_SLOPE, t.LARGEST_SLOPE, t.UPDATE) == (1e-6, 1e6, (-4.0, -1.0))
    assert (t.DROP, t.DIVERGED, t.TURNS, t.TURNING_WINDOW, t.CORRELATION) == (0.05, 2, 0.5, 50, 0.5)
    assert (b.BALANCE, b.VARIATION, b.ALPHA, b.FIRST_LOSS) == (0.5, 1e-3, 0.1, 1)
    assert (b.EPSILON, b.RELATIVE) == (1e-4, 1e-2)
    assert (observer.PERIOD, observer.EVERY) == (10, 3)
    assert (observer.NEARLY_ZERO, observer.SATURATED) == (1e-5, 0.85)
    assert (one_batch.SAMPLES, one_batch.ITERATIONS, one_batch.ERROR) == (16, 1000, 0.05)
    assert (deepchecker.AUGMENTED, deepchecker.SWITCHED, deepchecker.LOSSES) == (0.95, 0.75, 0.5)


# AutoTrainer


def low(value=0.3):
    """Epochs that stay at one accuracy."""
    return [dataclasses.replace(GOOD, accuracy=value, validation_accuracy=value)] * 10


@pytest.mark.parametrize(
    ("inspection", "epochs", "causes"),
    [
        ({}, [GOOD] * 10, ()),
        # Slow: below 0.6 and no gain of 0.01; the third of ten epochs is 30 %.
        ({}, low(), (RATE_SMALL, UNDERFITTING)),
        ({}, low(0.61), ()),
        ({"epoch": 2}, low(), ()),
        ({"first_norm": 9e-5, "last_norm": 0.1}, low(), (VANISHING, RATE_SMALL, UNDERFITTING)),
        ({"first_norm": 9e-5, "last_norm": 0.1}, [GOOD] * 10, ()),
        ({"first_norm": 9e-5, "last_norm": 0.05}, low(), (RATE_SMALL, UNDERFITTING)),
        ({"first_norm": 71.0}, low(), (EXPLODING, RATE_SMALL, UNDERFITTING)),
        ({"first_norm": 71.0}, [GOOD] * 10, ()),
        ({"first_norm": 69.0}, low(), (RATE_SMALL, UNDERFITTING)),
        ({"is_finite": False}, [dataclasses.replace(GOOD, loss=math.nan)] * 10, (EXPLODING, NAN)),
        ({"is_finite": False}, [dataclasses.replace(GOOD, loss=1000.0)] * 10, (EXPLODING, NAN)),
        ({"is_finite": False}, [GOOD] * 10, ()),
        ({"zeros": 0.7}, [GOOD] * 10, (DEAD,)),
        ({"zeros": 0.69}, [GOOD] * 10, ()),
        ({"sums": 1.11}, [GOOD] * 10, (WRONG_LOSS,)),
        ({"sums": math.nan}, [GOOD] * 10, (WRONG_LOSS,)),
        ({}, [dataclasses.replace(GOOD, loss=-0.1)] * 10, (WRONG_LOSS,)),
        ({"outputs": 10.0}, [GOOD] * 10, (UNSCALED,)),
        ({"outputs": 9.9}, [GOOD] * 10, ()),
    ],
)
def test_autotrainer_by_hand(inspection, epochs, causes):
    now = dataclasses.replace(QUIET, **inspection)
    said = autotrainer.autotrainer(record(inspections=[now], epochs=epochs))
    assert said == Verdict(bool(causes), causes)


def test_autotrainer_says_first_what_it_saw_first():
    early = dataclasses.replace(QUIET, outputs=20.0)
    late = dataclasses.replace(QUIET, epoch=6, zeros=1.0)
    assert autotrainer.autotrainer(record(inspections=[early, late])).causes == (UNSCALED, DEAD)


def test_autotrainer_counts_falls_from_a_maximum_to_the_next_minimum():
    # Falls of 0.04, 0.02 and, in two steps, 0.03.
    curve = [0.5, 0.6, 0.56, 0.7, 0.68, 0.8, 0.785, 0.77 - 1e-9, 0.9, 0.95]
    assert autotrainer.oscillates(curve, 10)
    assert not autotrainer.oscillates(curve, 11)
    assert not autotrainer.oscillates(sorted(curve), 10)


def test_autotrainer_is_slow_only_if_no_curve_gains():
    flat = low()
    risen = [*flat[:-1], dataclasses.replace(GOOD, accuracy=0.3, validation_accuracy=0.32)]
    assert autotrainer.is_slow(flat)
    assert not autotrainer.is_slow(risen)


@pytest.mark.parametrize(
    ("new", "classes", "activation", "loss"),
    [
        ({}, 3, True, True),
        ({"output": "softmax"}, 3, False, True),
        ({"loss": "nll"}, 3, False, True),
        ({"loss": "nll", "output": "log-softmax"}, 3, True, True),
        ({"loss": "bce", "output": "sigmoid"}, 2, True, True),
        ({"loss": "binary-cross-entropy"}, 3, True, False),
        ({"loss": "squared"}, 3, True, False),
        ({"loss": "squared"}, 0, True, True),
    ],
)
def test_last_activation_and_loss(new, classes, activation, loss):
    program = changed(IRIS, **new)
    assert activation_matches(program) == activation
    assert loss_matches(program, classes) == loss


# UMLAUT


@pytest.mark.parametrize(
    ("new", "causes"),
    [
        ({}, ()),
        ({"output": "softmax"}, (WRONG_LOSS,)),
        ({"activation": "identity"}, (UNDERFITTING,)),
        ({"layers": "residual:1x4"}, (UNDERFITTING,)),
        ({"keep": 0.49}, (REGULARIZATION,)),
        ({"keep": 0.5}, ()),
        ({"scaling": "none"}, (UNSCALED,)),
        ({"changes": (("not a number", 0.1),)}, (NAN,)),
    ],
    ids=str,
)
def test_umlaut_of_programs(new, causes):
    assert umlaut.umlaut(record(changed(IRIS, **new))).causes == causes


@pytest.mark.parametrize(
    ("last", "causes"),
    [
        ({}, ()),
        ({"loss": math.nan}, (NAN,)),
        ({"learning_rate": 0.011}, (RATE_LARGE,)),
        ({"learning_rate": 0.9e-7}, (RATE_SMALL,)),
        ({"validation_loss": 0.51}, (OVERFITTING,)),
        ({"validation_loss": 0.51, "loss": 0.51}, ()),
        ({"validation_accuracy": 0.96}, (LEAKING,)),
        ({"accuracy": 0.84}, (LEAKING,)),
    ],
    ids=str,
)
def test_umlaut_of_epochs(last, causes):
    epochs = [GOOD, GOOD, dataclasses.replace(GOOD, **last)]
    assert umlaut.umlaut(record(epochs=epochs)).causes == causes


def test_umlaut_asks_accuracies_from_the_third_epoch_on_and_of_classes():
    perfect = dataclasses.replace(GOOD, validation_accuracy=1.0)
    assert not umlaut.umlaut(record(epochs=[perfect] * 2)).detected
    assert umlaut.umlaut(record(epochs=[perfect] * 3)).causes == (LEAKING,)
    assert not umlaut.umlaut(record(PLANE, epochs=[perfect] * 3)).detected


# DeepLocalize


@pytest.mark.parametrize(
    ("values", "stop"),
    [
        ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], None),
        ([1.0, math.inf], (1, "number")),
        ([0.0, 1.0, 0.0, 2.0, 0.0], (4, "zero")),
        ([0.0, 1.0, 0.0, 2.0, 3.0, 4.0], None),
        ([0.0, 0.0, 0.0, 0.0], None),
        ([3.0, 2.0, 2.0, 2.0, 2.0, 2.0], (5, "equal")),
        ([2.0, 2.0, 2.0, 2.0, 3.0], None),
    ],
)
def test_deeplocalize_of_one_series(values, stop):
    assert deeplocalize.first_stop(values) == stop


def test_deeplocalize_is_mean_equal_to_maximum():
    for values in ([1.0, 1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0, 0.5]):
        by_definition = sum(values) / 5 == max(values)
        assert (deeplocalize.first_stop(values) is not None) == by_definition


@pytest.mark.parametrize(
    ("numbers", "causes"),
    [
        ({}, ()),
        ({"losses": [1.0, math.nan]}, (NAN,)),
        ({"losses": [1.0] * 5}, (PLATEAU, VANISHING)),
        ({"accuracies": [0.5] * 5}, (PLATEAU, VANISHING)),
        ({"accuracies": [0.0, 0.0, 0.0, 0.1, 0.2]}, (UNDERFITTING,)),
        ({"accuracies": [math.nan] * 5}, ()),
        ({"means": {("forward", 0): [0.0] * 5, ("forward", 1): []}}, (DEAD, VANISHING)),
        ({"means": {("backward", 0): [0.0] * 5, ("forward", 1): []}}, (VANISHING, DEAD)),
        ({"means": {("backward", 1): [0.0] * 5}}, ()),  # the last layer's
        ({"means": {("weights", 0): [0.3] * 5, ("forward", 1): []}}, (RATE_SMALL, PLATEAU)),
        ({"means": {("weights", 0): [0.0] * 5, ("forward", 1): []}}, (SYMMETRIC,)),
        # What comes first in time, and in a step the forward pass.
        ({"losses": [1.0] * 5, "means": {("forward", 0): [1.0, math.nan]}}, (NAN,)),
        ({"losses": [1.0] * 5, "means": {("forward", 0): [0.0] * 5}}, (DEAD, VANISHING)),
    ],
    ids=str,
)
def test_deeplocalize_by_hand(numbers, causes):
    assert deeplocalize.deeplocalize(record(**numbers)).causes == causes


# TheDeepChecker, in training


def probed(times=5, **numbers):
    """Two layers; something is wrong with the second, so many times in a row."""
    ill = [CALM, dataclasses.replace(CALM, **numbers)]
    return [[CALM, CALM], *[ill] * times, [CALM, CALM]]


@pytest.mark.parametrize(
    ("ill", "cause"),
    [
        ({"dead": 0.51}, DEAD),
        ({"saturated": 0.51}, SATURATED),
        ({"spread": 0.49, "saturated": None}, COVARIATE_SHIFT),
        ({"spread": 2.01, "saturated": None}, COVARIATE_SHIFT),
        ({"tiny": 0.96}, SYMMETRIC),
        ({"negative": 0.96}, DEAD),
        ({"weight": 2e8}, EXPLODING),
        ({"gradient": 9e-7}, VANISHING),
        ({"gradient": 2e6}, EXPLODING),
        ({"update": -4.1}, RATE_SMALL),
        ({"update": -0.9}, RATE_LARGE),
    ],
    ids=str,
)
def test_deepchecker_needs_five_times_in_a_row(ill, cause):
    assert list(in_training.in_training(record(probes=probed(**ill)))) == [cause]
    assert list(in_training.in_training(record(probes=probed(4, **ill)))) == []


def test_deepchecker_begins_to_count_again():
    assert in_training.lasting([True] * 4 + [False] + [True] * 4) is None
    assert in_training.lasting([False] + [True] * 6) == 5


def test_deepchecker_is_calm_at_its_limits():
    at = {"dead": 0.5, "saturated": 0.5, "tiny": 0.95, "negative": 0.95, "update": -4.0}
    assert list(in_training.in_training(record(probes=probed(9, **at)))) == []
    bounded = probed(9, spread=0.1, saturated=0.0)
    assert list(in_training.in_training(record(probes=bounded))) == []


@pytest.mark.parametrize(
    ("what", "factor", "cause"),
    [
        ("weight", 2.1, EXPLODING),
        ("gradient", 2.1, EXPLODING),
        ("gradient", 0.49, VANISHING),
        ("penalty", 2.1, REGULARIZATION),
        ("weight", 1.9, None),
        ("gradient", 1.9, None),
        ("gradient", 0.51, None),
        ("penalty", 1.9, None),
    ],
)
def test_deepchecker_of_growth(what, factor, cause):
    probes = [[dataclasses.replace(CALM, **{what: 0.1 * factor**k})] for k in range(6)]
    assert list(in_training.in_training(record(probes=probes))) == ([cause] if cause else [])
    assert list(in_training.in_training(record(probes=probes[:5]))) == []


def losses(*periods):
    return [value for value in periods for _ in range(10)]


def of_loss(loss, accuracy=(0.5,)):
    accuracies = losses(*(accuracy * len(loss))[: len(loss)])
    return list(in_training.in_training(record(losses=losses(*loss), accuracies=accuracies)))


def test_deepchecker_of_the_loss():
    falling = [0.9**k for k in range(9)]
    assert of_loss(falling) == []
    assert of_loss([0.96**k for k in range(6)]) == [PLATEAU, RATE_SMALL]
    assert of_loss([0.96**k for k in range(6)], (0.96,)) == []  # fitted
    assert of_loss([1.0, 2.6, 2.4, 2.2, 2.1, 2.0]) == [RATE_LARGE, EXPLODING]
    assert of_loss([1.0, 2.6, 2.4, 2.2, 2.0]) == []
    assert of_loss([math.nan]) == [NAN]


def test_deepchecker_of_fluctuation_and_correlation():
    assert in_training.turning([(-1.0) ** k for k in range(50)])
    assert not in_training.turning([(-1.0) ** k for k in range(49)])
    assert not in_training.turning([float(k) for k in range(50)])
    falling = [0.9**k for k in range(10)]
    unrelated = (0.5, 0.6, 0.6, 0.5)
    assert abs(in_training.correlation(falling, (unrelated * 3)[:10])) < 0.5
    assert of_loss(falling, unrelated) == [WRONG_LOSS]
    assert of_loss(falling[:9], unrelated) == []
    assert in_training.correlation([1.0, 2.0, 3.0], [3.0, 2.0, 1.0]) == pytest.approx(-1.0)
    assert in_training.correlation([1.0, 2.0], [3.0, 3.0]) == 1.0


# TheDeepChecker, before and after


def test_deepchecker_of_labels():
    # Two classes, 9 : 1: exp(0.3251) − 1 = 0.384; 8 : 2: exp(0.5004) − 1 = 0.649.
    nine, eight = torch.tensor([0] * 9 + [1]), torch.tensor([0] * 8 + [1] * 2)
    assert before_training.balance(nine, 2) == pytest.approx(0.384, abs=1e-3)
    assert before_training.balance(eight, 2) == pytest.approx(0.649, abs=1e-3)
    assert before_training.balance(torch.arange(5), 5) == pytest.approx(1.0)
    right = torch.tensor([math.log(1 / 9)])
    assert before_training.bias_is_log_ratio(right, nine, 2)
    assert before_training.bias_is_log_ratio(torch.tensor([0.3, 0.3 + float(right)]), nine, 2)
    assert not before_training.bias_is_log_ratio(torch.zeros(1), nine, 2)


@pytest.mark.parametrize(
    ("activation", "sigma", "odd"),
    [
        (nn.ReLU(), (2 / 400) ** 0.5, False),
        (nn.ReLU(), 400**-0.5, True),
        (nn.Tanh(), 400**-0.5, False),  # Glorot's, as many outputs as inputs
        (nn.SELU(), 400**-0.5, False),
        (nn.SELU(), (2 / 400) ** 0.5, True),
        (nn.ReLU(), 1200**-0.5, False),  # PyTorch's own
    ],
)
def test_deepchecker_of_the_first_variance(activation, sigma, odd):
    layer = layers_of(nn.Sequential(nn.Linear(400, 400), activation))[0]
    w = torch.randn(400, 400, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        layer.start.weight.copy_(sigma * (w / w.std()))
    assert before_training.has_odd_variance(layer) == odd


@pytest.mark.parametrize(
    ("new", "cause"),
    [
        ({"scaling": "none"}, UNSCALED),
        ({"changes": (("imbalance", 0.02),), "source": "moons"}, IMBALANCE),
        ({"initializer": "zeros"}, SYMMETRIC),
        ({"initializer": "constant[value=0.1]"}, SYMMETRIC),
        ({"initializer": "normal[sigma=9.0]"}, INIT_VARIANCE),
        ({"initializer": "he", "bias": -2.0}, INIT_VARIANCE),
        ({"gain": 100.0}, WRONG_LOSS),
        ({"detached": 1}, VANISHING),
        ({"learning_rate": 1e-9}, UNDERFITTING),
        ({"changes": (("one row", 0.0),)}, UNDERFITTING),
        ({"changes": (("scale", 0.0),)}, CONSTANT),
    ],
    ids=str,
)
def test_deepchecker_before_training(new, cause, monkeypatch):
    monkeypatch.setattr(one_batch, "ITERATIONS", 100)
    assert cause not in before_first_step()
    assert cause in list(before_training.before_training(record(changed(FAST, **new))))


FAST = changed(IRIS, learning_rate=0.1)


@cache
def before_first_step():
    return tuple(before_training.before_training(record(FAST)))


def test_deepchecker_after_training():
    program = changed(IRIS, keep=0.3, initializer="normal[sigma=3.0]")
    assert MODES in list(deepchecker.after_training(record(program)))
    assert list(deepchecker.after_training(record())) == []
    mixed = changed(IRIS, augmentation="mix", scaling="z-score")
    assert list(deepchecker.after_training(record(mixed))) == [SHUFFLED]
    assert deepchecker.modes_differ(1.0, 1.51, [1.0])
    assert deepchecker.modes_differ(1.0, 1.0, [1.0, 0.74])
    assert not deepchecker.modes_differ(1.0, 0.5, [1.0, 0.75])
    a = torch.tensor([1.0, 0.0])
    assert deepchecker.similarity(a, torch.tensor([1.0, 1.0])) == pytest.approx(0.5**0.5)
    assert deepchecker.similarity(0 * a, 0 * a) == 1.0


# The observer


def test_layers_are_weights_and_what_follows():
    model = nn.Sequential(
        nn.Flatten(), nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Dropout(), nn.Linear(4, 2)
    )
    first, last = layers_of(model)
    assert (first.start, first.end, first.activation) == (model[1], model[3], model[3])
    assert (last.start, last.end, last.activation) == (model[5], model[5], None)


def test_observer_notes_what_the_step_did():
    program = changed(IRIS, optimizer="sgd", learning_rate=0.5)
    torch.manual_seed(0)
    data = program.split()
    model = program.model(data)
    optimizer = program.optimizer(model)
    seen = Observer(program, model, optimizer)
    x, y = data.x[:16], data.y[:16]
    with seen:
        for _ in range(10):
            before, bias = (p.detach().clone() for p in model[1].parameters())
            optimizer.zero_grad()
            output = model(x)
            loss = nn.functional.cross_entropy(output, y)
            loss.backward()
            optimizer.step()
            seen.step(loss, targets=y, anything="else")
    kept, w = seen.record, model[1].weight.detach()
    assert len(kept.losses) == 10
    assert kept.losses[-1] == pytest.approx(float(loss.detach()))
    assert kept.accuracies[-1] == pytest.approx(float((output.argmax(1) == y).float().mean()))
    assert kept.means["weights", 0][-1] == pytest.approx(float(w.mean()))
    assert kept.means["gradient", 0][-1] == pytest.approx(float(model[1].weight.grad.mean()))
    # The mean of (p − y)/n over samples and classes is 0.
    assert kept.means["backward", 1][-1] == pytest.approx(0.0, abs=1e-8)
    hidden = torch.relu(nn.functional.linear(x, before, bias))
    assert kept.means["forward", 0][-1] == pytest.approx(float(hidden.mean()))
    (probe,) = [layers[0] for layers in kept.probes]
    moved = float((w - before).abs().mean() / w.abs().mean())
    assert probe.update == pytest.approx(math.log10(moved), abs=1e-4)
    assert probe.negative == pytest.approx(float((w < 0).float().mean()))
    assert not torch.equal(kept.start[1].weight, w)
    assert not model._forward_hooks


def test_observer_leaves_the_training_as_it_is():
    program = changed(IRIS, epochs=4, keep=0.8, norm="batch")
    kept, alone = observe(program), run(program)
    assert [e.loss for e in kept.epochs] == pytest.approx(list(alone.training_loss))
    assert [e.validation_loss for e in kept.epochs] == pytest.approx(list(alone.validation_loss))
    assert [each.epoch for each in kept.inspections] == [3, 4]


def test_accuracy_of_classes_and_of_regressions():
    data = PLANE.split()
    assert float(accuracy(PLANE, data.y[:, None], data.y, data)) == 1.0
    mean = data.y.mean().expand(len(data.y), 1)
    assert float(accuracy(PLANE, mean, data.y, data)) == pytest.approx(0.0, abs=1e-6)
    iris = IRIS.split()
    sure = nn.functional.one_hot(iris.y, 3).float()
    assert float(accuracy(IRIS, sure, iris.y, iris)) == 1.0
    binary = changed(IRIS, loss="binary-cross-entropy")
    z, y = torch.tensor([[1.0], [-1.0]]), torch.tensor([1, 1])
    assert float(accuracy(binary, z, y, iris)) == 0.5


# All together


def test_judge_lets_all_speak_in_words_of_causes():
    said = judge(changed(IRIS, learning_rate=1e-9))
    assert set(said) == set(DETECTORS)
    assert all(set(each.causes) <= set(CAUSES) for each in said.values())
    assert RATE_SMALL in said["AutoTrainer"].causes
    assert said["UMLAUT"].causes[0] == RATE_SMALL
    assert said["DeepLocalize"].causes[0] == RATE_SMALL
    assert RATE_SMALL in said["TheDeepChecker"].causes


def test_counts_by_hand():
    fault = Fault("f", RATE_LARGE, (EXPLODING,), "why", "where")
    names = ("right", "alternative", "late", "wrong", "silent")
    ill = [changed(IRIS, name=name, fault=fault) for name in names]
    well = [changed(IRIS, name=name) for name in ("calm", "alarmed")]
    causes = [(RATE_LARGE,), (EXPLODING, DEAD), (DEAD, EXPLODING), (DEAD,), (), (), (NAN,)]
    said = {p.name: each for p, each in zip([*ill, *well], causes, strict=True)}
    assert count([*ill, *well], said) == (5, 4, 2, 1, 3, 2, 1)


def test_wilson_by_hand():
    # 8 of 10 with z = 2: (0.8 + 0.2 ± 2√(0.016 + 0.01))/1.4.
    low, high = wilson(8, 10, 2.0)
    assert low == pytest.approx((1.0 - 2 * 0.026**0.5) / 1.4)
    assert high == pytest.approx((1.0 + 2 * 0.026**0.5) / 1.4)
    assert wilson(0, 20)[0] == 0.0
    assert wilson(20, 20)[1] == pytest.approx(1.0)
    assert wilson(0, 0) == (0.0, 1.0)


@pytest.mark.parametrize(("k", "n"), [(0, 10), (3, 10), (69, 69), (1, 116)])
def test_wilsons_ends_are_where_the_share_is_z_errors_away(k, n):
    for end in wilson(k, n):
        distance = abs(k / n - end)
        is_cut = end in (0.0, 1.0)
        assert is_cut or distance == pytest.approx(1.959964 * (end * (1 - end) / n) ** 0.5)
