"""The record of a training that stopped and went on: both parts, one after the other.

A watch begins to count anew in every process. `Memory`, a probe with a state, puts what it has seen
into the training's checkpoint, with the weights of the same moment, and a resumed training puts
that before what it sees itself:

    steps, looks     those of the second part count on from the first
    first batch      of the first part
    targets          of the part with more looks
    the end          of the second part

All losses are then those of a training that never stopped. Looks come at the same distance, counted
from the resume, and the step after it, like a first one, has none before it to be compared with.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from thalweg.core.record import LAYER_COLUMNS, LOOK_COLUMNS, STEP_COLUMNS, Layer, Record
from thalweg.doctor.nets.instruments.journal import STEPS
from thalweg.doctor.nets.watch import Watch
from thalweg.nets.training.probe import Moment

ADDED = ("steps", "evaluations", "evaluations_in_training_mode")
BAD = ("bad_step", "bad_where", "bad_layer")


class Memory:
    """A probe that tells a watch, and keeps what that sees in the checkpoint of a training."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self.before: Record | None = None  # what was seen before a resume

    def __call__(self, moment: Moment) -> None:
        """One step is over."""
        self._watch(moment)

    @property
    def record(self) -> Record:
        """All that was seen so far."""
        now = self._watch.record
        return now if self.before is None else joined(self.before, now)

    def state_dict(self) -> dict[str, Any]:
        """For the checkpoint."""
        record = self.record
        return {
            "layers": [asdict(layer) for layer in record.layers],
            "columns": record.columns,
            "scalars": record.scalars,
            "optimizers": record.optimizers,
            "notes": record.notes,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """What a checkpoint holds is from before."""
        self.before = Record(
            layers=tuple(Layer(**each) for each in state["layers"]),
            columns={name: np.asarray(column) for name, column in state["columns"].items()},
            scalars=state["scalars"],
            optimizers=tuple(state["optimizers"]),
            notes=tuple(state["notes"]),
        )


def joined(first: Record, second: Record) -> Record:
    """The record of a training whose second part is `second`."""
    if not first.scalars["steps"]:
        return second
    if not second.scalars["steps"]:
        # What was measured at the end stands in the second; what a first step brings does not.
        found = {key: x for key, x in second.scalars.items() if key not in first.scalars}
        return Record(
            first.layers, first.columns, {**first.scalars, **found}, first.optimizers, first.notes
        )
    steps = float(first.scalars["steps"])
    names = [layer.name for layer in second.layers]
    order = [names.index(layer.name) for layer in first.layers]
    parts = {name: (first[name], second[name]) for name in (*STEP_COLUMNS, *LOOK_COLUMNS)}
    parts |= {name: (first[name], second[name][:, order]) for name in LAYER_COLUMNS}
    for name in ("step", "look"):
        parts[name] = first[name], second[name] + steps
    columns = {name: np.concatenate(both) for name, both in parts.items()}
    thin = -(-len(columns["step"]) // STEPS)
    columns |= {name: columns[name][::thin] for name in STEP_COLUMNS}
    return Record(
        first.layers,
        columns,
        _scalars(first, second, thin),
        second.optimizers,
        (*dict.fromkeys([*first.notes, *second.notes]), f"resumed after step {steps:.0f}"),
    )


def _scalars(first: Record, second: Record, thin: int) -> dict[str, Any]:
    one, two = first.scalars, second.scalars
    more = one if len(first["look"]) >= len(second["look"]) else two
    scalars = {**one, **two}
    scalars |= {key: x for key, x in one.items() if key.startswith("input_")}
    scalars |= {key: x for key, x in more.items() if key.startswith("target_")}
    scalars |= {key: one[key] + two[key] for key in ADDED}
    scalars["stride"] = thin * max(one["stride"], two["stride"])
    if one["bad_step"]:
        scalars |= {key: one[key] for key in BAD}
    elif two["bad_step"]:
        scalars["bad_step"] = one["steps"] + two["bad_step"]
    return scalars
