"""All facts of one training, before its first step and after its last.

Before: the data, what simple models make of it, what the loss can say, and sixteen samples. After:
loss and skill on training and validation rows. At most 2,000 rows are looked at, fewer of large
images; nothing of the model, its optimizer or PyTorch's generators is changed. Cost: a second or
two for either part, and three copies of the model.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn

from thalweg.doctor.nets.facts.batches import Batches
from thalweg.doctor.nets.facts.inputs import inputs
from thalweg.doctor.nets.facts.labels import labels
from thalweg.doctor.nets.facts.leaks import leaks
from thalweg.doctor.nets.facts.loss import loss_facts
from thalweg.doctor.nets.facts.measured import Measured
from thalweg.doctor.nets.facts.modes import modes
from thalweg.doctor.nets.facts.outcome import outcome
from thalweg.doctor.nets.facts.references import references
from thalweg.doctor.nets.facts.small_fit import small_fit
from thalweg.doctor.nets.facts.task import most_rows, rows_of, task_of
from thalweg.doctor.nets.instruments.origin import nothing_left
from thalweg.nets.training.batches import Pair, pair_of
from thalweg.nets.training.inputs import Inputs
from thalweg.nets.training.losses import loss_of

CURVED = 256  # rows of the loss whose curvature is measured


class Examination:
    """Of a model on its data, as far as they are known."""

    def __init__(
        self, model: nn.Module, loss: Any, data: Any, validation: Any, seed: int = 0
    ) -> None:
        self.model = model
        self.loss = None if loss is None else loss_of(loss)
        self._rng = np.random.default_rng(seed)
        self.data = self._pair("data", data)
        self.validation = self._pair("validation", validation)
        self.batches = None if self.data is None else Batches(*self.data, self._rng)
        self._held = None if self.validation is None else task_of(*self.validation, self._rng)

    def before(self, optimizer: torch.optim.Optimizer | None) -> Measured:
        """What can be said before the first step."""
        facts = modes(self.model)
        if self.data is None or self.batches is None:
            return facts
        task, held = self.batches.task, self._held
        facts |= inputs(task.x) | labels(task) | leaks(task, held) | references(task, held)
        if self.loss is not None:
            x, y = self._ready(self.data)
            with torch.no_grad(), nothing_left(self.model):
                self.loss.check(Inputs(self.model).look(self.model, x[:2]), y, "data")
            facts |= loss_facts(self.model, self.loss, x, y)
            facts |= small_fit(self.model, self.loss, x, y, optimizer)
        return facts

    def after(self) -> Measured:
        """What can be said after the last step."""
        facts = Measured() if self.batches is None else self.batches.facts()
        if self.loss is None:
            return facts
        if self.data is not None and self.batches is not None:
            loss, score, skill, recall = outcome(
                self.model, self.loss, *self._ready(self.data), self.batches.task
            )
            facts |= Measured(
                trained_loss=loss, trained_score=score, trained_skill=skill, trained_recall=recall
            )
        if self.validation is not None and self._held is not None:
            loss, score, skill, recall = outcome(
                self.model, self.loss, *self._ready(self.validation), self._held
            )
            facts |= Measured(
                validated_loss=loss,
                validated_score=score,
                validated_skill=skill,
                validated_recall=recall,
            )
        return facts

    def closure(self, model: nn.Module | None = None) -> torch.Tensor:
        """The loss of 256 rows, with its graph; of a copy of the model, if one is given."""
        assert self.loss is not None
        assert self.data is not None
        x, y = self._ready((self.data[0][:CURVED], self.data[1][:CURVED]))
        return self.loss((model or self.model)(x), y)

    @property
    def has_closure(self) -> bool:
        """Whether curvature can be measured."""
        return self.loss is not None and self.data is not None

    def _ready(self, pair: Pair) -> Pair:
        """As the model and its loss want them."""
        assert self.loss is not None
        as_model = Inputs(self.model)
        return as_model(pair[0]), as_model.labels(pair[1], self.loss)

    def _pair(self, name: str, given: Any) -> Pair | None:
        """Some 2,000 rows of it."""
        if given is None:
            return None
        advice = "give it some batches of a loader, put together with torch.cat"
        x, y = pair_of(f"{name} of watch", given, advice)
        rows = torch.from_numpy(rows_of(len(x), most_rows(x), self._rng))
        return x[rows], y[rows]
