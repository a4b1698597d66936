"""Rows of steps and looks, kept while a training goes on, and the record made of them.

At most 131,072 steps and 2,048 looks are kept, as `SpacedRows`. A loss on another device than the
CPU is read at the next look: reading it at once would make the device wait.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

from thalweg.core.record import LAYER_COLUMNS, LOOK_COLUMNS, STEP_COLUMNS, Layer, Record
from thalweg.doctor.nets.instruments.curvature import UNKNOWN, Curvature
from thalweg.doctor.nets.instruments.instruments import Look
from thalweg.doctor.nets.instruments.noise import Agreement
from thalweg.doctor.nets.instruments.spaced_rows import SpacedRows

STEPS = 131_072
LOOKS = 2048
BUNDLE = 256  # steps that are entered together
_LOSS, _VALIDATION = STEP_COLUMNS.index("loss"), STEP_COLUMNS.index("validation_loss")
_SPARSE = ("validation_loss", "hessian_largest", "hessian_smallest", "hessian_error",
           "hessian_trace", "hessian_trace_error", "hessian_preconditioned")  # fmt: skip


class Journal:
    """What was measured so far."""

    def __init__(self, layers: int) -> None:
        sparse = [STEP_COLUMNS.index(name) for name in _SPARSE]
        self.steps = SpacedRows((len(STEP_COLUMNS),), STEPS, sparse)
        self.looks = SpacedRows((len(LOOK_COLUMNS),), LOOKS)
        self.layers = SpacedRows((len(LAYER_COLUMNS), layers), LOOKS)
        self._new: list[tuple[float, ...]] = []  # steps that are not in the table yet
        self._count = 0  # steps in all
        self._waiting: list[tuple[int, torch.Tensor]] = []  # losses to be read, by number of row
        self._last_look_is_kept = False

    def step(
        self,
        loss: float | torch.Tensor,
        validation: float,
        rate: float,
        seconds: float,
        training: bool,
        kept: float,
        curvature: Curvature = UNKNOWN,
    ) -> None:
        """One step of the optimizer."""
        number = self._count
        self._count += 1
        if isinstance(loss, torch.Tensor):
            self._waiting.append((number, loss))
            loss = math.nan
        self._new.append((number + 1, loss, validation, rate, seconds, training, kept, *curvature))
        if len(self._new) == BUNDLE:
            self.enter()

    def validate(self, loss: float) -> None:
        """A validation loss of after the last step."""
        self.enter()
        self.steps.rows[-1, _VALIDATION] = loss

    def enter(self) -> None:
        """Steps become rows, many at a time: a list costs a tenth of a row of a table."""
        for row in self._new:
            self.steps.offer(row)
        self._new = []

    def look(self, step: int, look: Look) -> None:
        """One look, at the step that was just added."""
        self.looks.offer((step, look.total, math.nan, math.nan))
        self._last_look_is_kept = self.layers.offer(
            np.stack([look.columns[name] for name in LAYER_COLUMNS])
        )

    def agree(self, agreement: Agreement) -> None:
        """The gradient of the last look beside that of the step after it."""
        if self._last_look_is_kept:
            self.looks.rows[-1, 2:] = agreement

    def read(self) -> int | None:
        """Read the losses that wait; the step of the first that is not finite, None if all are."""
        if not self._waiting:
            return None
        self.enter()
        numbers = [number for number, _ in self._waiting]
        values = torch.stack([loss for _, loss in self._waiting]).tolist()
        self._waiting = []
        for number, value in zip(numbers, values, strict=True):
            if number % self.steps.stride == 0:
                self.steps.rows[number // self.steps.stride, _LOSS] = value
        return next(
            (n + 1 for n, value in zip(numbers, values, strict=True) if not math.isfinite(value)),
            None,
        )

    def record(
        self,
        layers: Sequence[Layer],
        order: Sequence[int],
        scalars: Mapping[str, Any],
        optimizers: Sequence[Mapping[str, Any]],
        notes: Sequence[str],
    ) -> Record:
        """Everything so far, layers in the given order."""
        self.read()
        self.enter()
        columns = {name: self.steps.rows[:, k].copy() for k, name in enumerate(STEP_COLUMNS)}
        columns |= {name: self.looks.rows[:, k].copy() for k, name in enumerate(LOOK_COLUMNS)}
        order = list(order)
        columns |= {name: self.layers.rows[:, k, order] for k, name in enumerate(LAYER_COLUMNS)}
        counts = {"steps": self.steps.came, "stride": self.steps.stride}
        ordered = tuple(layers[k] for k in order)
        return Record(ordered, columns, {**counts, **scalars}, tuple(optimizers), tuple(notes))
