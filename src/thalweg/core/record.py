"""What was seen of a training: columns over its steps, its looks and its layers.

A *step* is one step of the optimizer. A *look* is a step at which layers were measured: there are
fewer of them, as they cost more. Numbers are float64, NaN where nothing was measured.

One number a step, float64[steps]:

    step                 t, from 1; every `stride`-th where a training is long
    loss                 as it was given
    validation_loss      as it was given, at this step or one of those left out after it
    rate                 learning rate η of the first group of the first optimizer
    seconds              from the step before, data and all, without what looking took
    training             1 where the model was in training mode, 0 in eval mode
    gradient_kept        1 where the gradient held that of the step before (no zero_grad), else 0
    hessian_largest      λ_max of the loss of `closure`, after the step; at most the true one
    hessian_smallest     λ_min, at least the true one
    hessian_error        the true ends lie at most this far beyond, with probability 0.999
    hessian_trace        tr ∇²f, an unbiased estimate
    hessian_trace_error  its standard error
    hessian_preconditioned
                         λ_max as an adaptive optimizer sees it, of D^(−½)∇²f D^(−½); NaN for others

One number a look, float64[looks]:

    look                 its step t
    gradient_norm_total  ‖g‖ over all parameters
    gradient_cosine      cos(g_t, g_{t+1}), of the gradients of this step and of the next
    gradient_difference  ‖g_{t+1} − g_t‖; both estimated from a fixed few thousand of the entries

One number a look and layer, float64[looks, layers], layers in the order of the forward pass:

    gradient_norm        ‖g‖ of the layer's parameters, as the optimizer was given it; ∞ where it is
                         not finite
    weight_norm          ‖w‖ of its parameters, before the step
    update_ratio         ‖Δw‖/‖w‖, by all that happened from the optimizer's step to `step`
    weight_mean          mean of the entries of its weight (the parameter with two axes or more)
    weight_std           their standard deviation, before the step, from at most 16,384 entries
    mean, std            of all entries of its output, over the batch
    p15, p50, p85        percentiles of its output, from at most 4,096 entries
    dead                 share of units never above 0 on the batch: of ReLU and its like, and of
                         Linear and convolutions, whose units a ReLU behind them would make dead
    saturated            share of units with a slope below 4 % of its largest on 95 % of the batch
    saturation           share of entries with such a slope (softmax: of samples sure to 99 %)
    not_finite           1 where the output had an entry that is not finite, else 0

A unit is a feature of a Linear layer, a channel of a convolution. Outputs are those of forward
passes in which gradients were on; where a module was called several times in a step, its first four
calls count together.

Scalars, numbers and words, are in `scalars`:

    steps                      taken in all
    stride                     steps from one row to the next
    parameters, frozen         how many numbers are trained, and how many are not
    input_rows, input_columns  of the first batch: samples, and numbers a sample has
    input_min, input_max, input_mean, input_std, input_not_finite
    input_constant             columns that have one value on the whole batch; NaN for one sample
    target_kind                of targets given to `step` at looks: "classes", "one-hot",
                               "zero-one", "numbers"; empty where none were given
    target_columns             numbers a sample's target has
    target_classes             classes that were seen
    target_largest_share       share of the most frequent one
    target_min, target_max, target_mean, target_std
    target_mixing              how much batches differ in their targets, in units of what drawing
                               rows at random does
    evaluations                calls of the model without gradients that were seen
    evaluations_in_training_mode
    bad_step                   where something was the first not to be finite, 0 where all was
    bad_where                  "inputs", "forward", "gradient" or "loss"
    bad_layer                  the layer in which it began, as far as known
    overhead                   seconds of the cheap tier by seconds of training
    curvature_overhead         the same of the curvature tier
    rank, processes            of torch.distributed: all is of this process alone

and, where `watch` was given data and loss, what the doctor's `facts` are: names that begin with
`data_`, `batch_`, `first_`, `constant_`, `reachable_`, `output_`, `small_`, `mode_`, `trained_` and
`validated_`, each said in the file that measures it.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from thalweg.core.errors import InputError, StorageError, suggest
from thalweg.core.kinds import COUNT, NUMBER, check_kinds, damaged
from thalweg.core.storage import check_format, from_json, to_json, write_file

FORMAT = 1
STEP_COLUMNS = (
    "step", "loss", "validation_loss", "rate", "seconds", "training", "gradient_kept",
    "hessian_largest", "hessian_smallest", "hessian_error", "hessian_trace", "hessian_trace_error",
    "hessian_preconditioned",
)  # fmt: skip
LOOK_COLUMNS = ("look", "gradient_norm_total", "gradient_cosine", "gradient_difference")
LAYER_COLUMNS = (
    "gradient_norm", "weight_norm", "update_ratio", "weight_mean", "weight_std",
    "mean", "std", "p15", "p50", "p85", "dead", "saturated", "saturation", "not_finite",
)  # fmt: skip
ABOUT = "about.json"  # all that is no column, as text

ABOUT_KINDS: dict[str, Any] = {
    "layers": [{
        "name": str, "kind": str, "role": str, "fan_in": NUMBER, "shape": [COUNT],
        "parameters": COUNT, "trainable": COUNT,
    }],
    "scalars": dict, "optimizers": [dict], "notes": [str],
}  # fmt: skip


@dataclass(frozen=True)
class Layer:
    """One module that has parameters or is an activation."""

    name: str  # in the model
    kind: str  # its class: "Linear", "ReLU"
    role: str  # "linear", "relu", "sigmoid", "tanh", "softmax", "norm" or "other"
    fan_in: float  # terms in a unit's sum; NaN where there is no such sum
    shape: tuple[int, ...]  # of its weight; () without one
    parameters: int  # numbers that it has
    trainable: int  # those of them that are trained


@dataclass(frozen=True)
class Record:
    """Layers, columns and scalars of one training."""

    layers: tuple[Layer, ...]
    columns: Mapping[str, np.ndarray]
    scalars: Mapping[str, Any]
    optimizers: tuple[Mapping[str, Any], ...] = ()  # name, and the settings of its first group
    notes: tuple[str, ...] = field(default=())  # what could not be seen, in words

    def __getitem__(self, column: str) -> np.ndarray:
        if column not in self.columns:
            known = suggest(str(column), self.columns)
            raise InputError(f"a record has no column {column!r}: {known}")
        return self.columns[column]

    def of(self, layer: str, column: str) -> np.ndarray:
        """A column of one layer, float64[looks]."""
        names = [each.name for each in self.layers]
        if layer not in names:
            raise InputError(f"a record has no layer {layer!r}: {suggest(str(layer), names)}")
        if column not in LAYER_COLUMNS:
            known = suggest(str(column), LAYER_COLUMNS)
            raise InputError(f"a layer has no column {column!r}: {known}")
        return self.columns[column][:, names.index(layer)]

    def save(self, file: str | Path) -> None:
        """Write everything into one .npz, in one step: a reader sees the old one or the new."""
        write_file(Path(file), self.to_bytes())

    def to_bytes(self) -> bytes:
        """What `save` writes."""
        about = {
            "format": FORMAT,
            "layers": [
                {f.name: getattr(each, f.name) for f in fields(Layer)} for each in self.layers
            ],
            "scalars": self.scalars,
            "optimizers": self.optimizers,
            "notes": self.notes,
        }
        out = io.BytesIO()
        text = np.frombuffer(to_json(about), dtype=np.uint8)
        np.savez_compressed(out, **{ABOUT: text}, **self.columns)  # type: ignore[arg-type]
        return out.getvalue()

    @classmethod
    def load(cls, file: str | Path) -> Record:
        """Read back what `save` wrote; nothing in the file is executed."""
        try:
            with np.load(io.BytesIO(Path(file).read_bytes()), allow_pickle=False) as stored:
                content = {name: stored[name] for name in stored.files}
            text = content.pop(ABOUT).tobytes()
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as problem:
            raise StorageError(
                f"{file} is not a record ({problem}): give a file that Record.save wrote"
            ) from problem
        about = from_json(text, source=str(file))
        check_format(about, FORMAT, source=str(file))
        check_kinds(about, ABOUT_KINDS, source=str(file))
        _check_columns(content, len(about["layers"]), source=str(file))
        layers = [Layer(**{**each, "shape": tuple(each["shape"])}) for each in about["layers"]]
        optimizers = tuple(about["optimizers"])
        return cls(tuple(layers), content, about["scalars"], optimizers, tuple(about["notes"]))

    def __repr__(self) -> str:
        return (
            f"Record({self.scalars.get('steps', 0):.0f} steps, {len(self['look'])} looks, "
            f"{len(self.layers)} layers)"
        )


def _check_columns(columns: Mapping[str, np.ndarray], layers: int, *, source: str) -> None:
    """Raise unless they are numbers, one a step, one a look, and one a look and layer."""
    steps, looks = (columns[name].size if name in columns else 0 for name in ("step", "look"))
    for names, shape in (
        (STEP_COLUMNS, (steps,)), (LOOK_COLUMNS, (looks,)), (LAYER_COLUMNS, (looks, layers)),
    ):  # fmt: skip
        for name in names:
            column = columns.get(name)
            if column is None or column.dtype.kind not in "iuf" or column.shape != shape:
                raise damaged(source, ValueError(f"column {name} must be {shape} numbers"))
