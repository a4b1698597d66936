"""Records as `tw.watch` would make them, written down by hand."""

import math

import numpy as np

from thalweg.core.record import LAYER_COLUMNS, LOOK_COLUMNS, STEP_COLUMNS, Layer, Record
from thalweg.doctor.nets.facts.network_facts import network_facts

LINEAR = Layer("first", "Linear", "linear", 10.0, (20, 10), 220, 220)
RELU = Layer("relu", "ReLU", "relu", math.nan, (), 0, 0)
SIGMOID = Layer("sigmoid", "Sigmoid", "sigmoid", math.nan, (), 0, 0)
MIDDLE = Layer("middle", "Linear", "linear", 20.0, (20, 20), 420, 420)
LAST = Layer("last", "Linear", "linear", 20.0, (3, 20), 63, 63)
LAYERS = (LINEAR, RELU, MIDDLE, LAST)

# A training in which all is well.
WELL = {
    "loss": np.geomspace(1.1, 0.05, 100), "training": 1.0, "gradient_kept": 0.0, "rate": 1e-3,
    "gradient_norm_total": 1.0, "gradient_cosine": 0.1, "gradient_norm": 1.0, "weight_norm": 5.0,
    "update_ratio": 0.01, "weight_mean": 0.0, "dead": 0.1, "saturated": 0.0, "not_finite": 0.0,
    "mean": 0.0, "std": 1.0, "p15": -1.0, "p50": 0.0, "p85": 1.0,
}  # fmt: skip
FACTS = {
    "steps": 100.0, "stride": 1.0, "parameters": 703.0, "frozen": 0.0, "bad_step": 0,
    "bad_where": "", "bad_layer": "", "input_rows": 32.0, "input_columns": 10.0,
    "input_not_finite": 0.0, "input_constant": 0.0, "target_std": 1.0, "target_mixing": 1.0,
    "data_rows": 700.0, "data_columns": 10.0, "data_not_finite": 0.0, "data_size": 1.0,
    "data_offset": 0.1, "data_spread": 2.0, "data_constant": 0.0, "data_distinct": 1.0,
    "data_denormal": 0.0, "data_classes": 3.0, "data_largest_share": 0.35,
    "data_smallest_share": 0.31, "data_rarest": 217.0, "data_copy": -1.0, "data_shared": 0.0,
    "data_signal": 0.9, "data_signal_error": 0.03, "data_signal_validation": 0.9,
    "data_reference": 0.9, "first_loss": 1.12, "constant_loss": 1.0986, "reachable_loss": 0.0,
    "output_columns": 3.0, "output_size": 0.5, "small_fit": 0.01, "small_fit_standard": 0.01,
    "trained_loss": 0.05, "validated_loss": 0.06, "trained_score": 0.96, "validated_score": 0.94,
    "trained_skill": 0.94, "validated_skill": 0.91, "validated_recall": 0.9, "mode_dropout": 0.0,
    "mode_norm": 0.0, "dropped": 0.0, "evaluations": 10.0,
    "evaluations_in_training_mode": 0.0, "batch_known": 1.0, "batch_moved": 0.0,
}  # fmt: skip
STUCK = {
    "loss": np.full(100, 1.1), "trained_loss": 1.1, "validated_skill": 0.0,
    "trained_score": 1 / 3, "validated_score": 1 / 3, "validated_recall": 0.2,
}  # fmt: skip
SGD = {"name": "SGD", "lr": 1e-3, "momentum": 0.0, "nesterov": False, "weight_decay": 0.0}


def record_of(layers=LAYERS, looks=5, optimizers=(SGD,), **changes):
    """A healthy record with some columns or scalars changed: arrays or single numbers."""
    loss = np.asarray(changes.get("loss", WELL["loss"]), float)
    shapes = {
        **dict.fromkeys(STEP_COLUMNS, (len(loss),)),
        **dict.fromkeys(LOOK_COLUMNS, (looks,)),
        **dict.fromkeys(LAYER_COLUMNS, (looks, len(layers))),
    }
    # He's variance, where there are weights.
    std = [math.sqrt(2.0 / each.fan_in) if each.fan_in > 0 else math.nan for each in layers]
    given = {
        "step": np.arange(1.0, len(loss) + 1), "look": np.linspace(1, len(loss), looks),
        "weight_std": np.array(std), **WELL, **changes, "loss": loss,
    }  # fmt: skip
    columns = {
        name: np.broadcast_to(given.get(name, math.nan), shape).copy()
        for name, shape in shapes.items()
    }
    scalars = {**FACTS, **{name: v for name, v in changes.items() if name not in shapes}}
    return Record(tuple(layers), columns, scalars, tuple(optimizers))


def facts_of(*args, **changes):
    """The facts of such a record, as symptoms are given them."""
    return network_facts(record_of(*args, **changes))
