"""A training under way: what was asked, where it is, and how it is put aside and taken up again.

The next step depends on: the model's weights and buffers, the optimizer's state, PyTorch's
generator (dropout draws from it), the generators of batches and augmentation, the batches that are
done in this epoch, the sums over them, what early stopping and probes remember, and the counters.
All of it, with the trace and the clock, is what a checkpoint holds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

import numpy as np
import torch
from torch import nn

from thalweg.core.clock import Clock
from thalweg.core.trace import Trace
from thalweg.nets.flat import trainable
from thalweg.nets.training import checkpoint as storage
from thalweg.nets.training import world
from thalweg.nets.training.asked import Companions
from thalweg.nets.training.batches import Batch, Batches, Stream, groups_of
from thalweg.nets.training.choice import name_of
from thalweg.nets.training.evaluate import NO_SCORE, Score
from thalweg.nets.training.inputs import Inputs
from thalweg.nets.training.losses import Loss
from thalweg.nets.training.probe import Stateful, stateful
from thalweg.nets.training.step import Taken
from thalweg.running.checkpoint import Checkpoint

# After the columns of every trace: a row an epoch, `iteration` counts steps.
COLUMNS = ("epoch", "training_loss", "validation_loss", "validation_accuracy", "rate")


@dataclass
class Training:
    """What was asked of a training, and where it is."""

    model: nn.Module
    optimizer: torch.optim.Optimizer
    loss: Loss
    inputs: Inputs
    batches: Batches | Stream
    epochs: int
    seed: int
    accumulate: int = 1
    companions: Companions = field(default_factory=Companions)
    validation: Batches | Stream | None = None

    def __post_init__(self) -> None:
        self.output: torch.Tensor | None = None  # of a first batch: what labels must fit
        self.epoch = 0  # epochs done
        self.position = 0  # batches done of this one
        self.step = 0  # steps of the optimizer
        self.looks = 0  # rows passed forward and backward
        self.value_sum = 0.0  # Σ rows·F over this epoch
        self.loss_sum = 0.0  # Σ rows·loss
        self.rows = 0  # of this epoch so far
        self.is_stopped = False  # by early stopping
        self.clock = Clock()
        self.storage_problem = ""  # why the last checkpoint could not be written
        self.trace = Trace(extra=COLUMNS)
        self.w0 = self.weights()
        self.last_finite = self._copy()  # the model as the last epoch left it
        self.last_finite_epoch = 0

    @property
    def seconds(self) -> float:
        """Time spent so far, that before a resume included and compiling not."""
        return self.clock.seconds

    @property
    def rate(self) -> float:
        """The learning rate of the first group."""
        return float(self.optimizer.param_groups[0].get("lr", math.nan))

    @property
    def length(self) -> int | None:
        """Batches of an epoch, where that is known."""
        try:
            return len(self.batches)
        except TypeError:
            return None

    @property
    def progress(self) -> float:
        """The share of the training that is done, in [0, 1]."""
        share = self.position / self.length if self.length else 0.0
        return min(1.0, (self.epoch + share) / self.epochs)

    def groups(self) -> Iterator[list[Batch]]:
        """What is left of this epoch, ready for the model."""
        for group in groups_of(self.batches.epoch(self.position), self.accumulate):
            starts = accumulate((len(batch.x) for batch in group), initial=self.rows)
            yield [self._ready(batch, start) for batch, start in zip(group, starts, strict=False)]

    def _ready(self, batch: Batch, first_row: int) -> Batch:
        augment = self.companions.augmentation
        x = batch.x if augment is None else augment(batch.x)
        y = self.inputs.labels(batch.y, self.loss)
        # What is in memory was checked as a whole; what comes along is checked as it comes.
        comes_along = isinstance(self.batches, Stream) and not self.batches.is_checked
        if comes_along and self.output is not None:
            self.loss.check(self.output, y, self.batches.name, first_row)
        return Batch(self.inputs(x), y)

    def count(self, batches: int, taken: Taken) -> None:
        """Add a step to the books."""
        self.step += 1
        self.position += batches
        self.looks += taken.looks
        self.rows += taken.rows
        self.value_sum += taken.rows * taken.value
        self.loss_sum += taken.rows * taken.loss

    def note(self, score: Score = NO_SCORE) -> None:
        """A row of the trace for the epoch so far, and new sums."""
        value, loss, rows = world.mean_over_ranks(
            self.value_sum, self.loss_sum, float(self.rows), device=self.inputs.like.device
        )
        self.append(value / rows, loss / rows, score)
        self.value_sum, self.loss_sum, self.rows = 0.0, 0.0, 0

    def append(self, value: float, loss: float, score: Score = NO_SCORE) -> None:
        """A row of the trace."""
        passes = self.looks / max(1, self.batches.rows or self.rows)
        self.trace.append(
            iteration=self.step,
            passes=passes,
            evaluations=passes,
            seconds=self.seconds,
            value=value,
            gradient_norm=math.nan,
            gap=math.nan,
            epoch=self.epoch,
            training_loss=loss,
            validation_loss=score.loss,
            validation_accuracy=score.accuracy,
            rate=self.rate,
        )

    def remember(self) -> None:
        """Keep the model as it is, to come back to if the next epoch ruins it."""
        with torch.no_grad():
            for name, tensor in self.model.state_dict().items():
                self.last_finite[name].copy_(tensor)
        self.last_finite_epoch = self.epoch

    def go_back(self) -> None:
        """Give the model the weights of the last epoch that ended well."""
        self.model.load_state_dict(self.last_finite)

    def weights(self) -> np.ndarray:
        """The parameters as one vector, float[dim]."""
        flat = trainable(self.model).gather().cpu()
        return (flat if flat.dtype in (torch.float32, torch.float64) else flat.float()).numpy()

    def _copy(self) -> dict[str, torch.Tensor]:
        return {name: t.detach().clone() for name, t in self.model.state_dict().items()}

    @property
    def identity(self) -> dict[str, Any]:
        """What must agree for a checkpoint to belong to this training."""
        return {
            "model": storage.describe_model(self.model),
            "data": self.batches.fingerprint(),
            "seed": self.seed,
            "loss": self.loss.name,
            "optimizer": name_of(self.optimizer),
            "batch size": getattr(self.batches, "size", None),
            "accumulate": self.accumulate,
            "precision": self.inputs.precision,
            "regularizers": [type(each).__name__ for each in self.companions.regularizers],
            "augmentation": type(self.companions.augmentation).__name__,
            "early stopping": type(self.companions.early_stopping).__name__,
            "scheduler": type(self.companions.scheduler).__name__,
            "probes": [type(each).__name__ for each in self._probes] or None,
            "processes": world.size(),
        }

    def put_aside(self, file: Any) -> None:
        """Write all that the next step depends on."""
        if not world.is_main():
            return
        counters = {name: getattr(self, name) for name in _COUNTERS}
        storage.write(
            file,
            self.identity,
            {
                **counters,
                "seconds": self.seconds,
                "compiled": self.clock.compiled,
                "model": self.model.state_dict(),
                "optimizer": self.optimizer.state_dict(),
                "torch": torch.random.get_rng_state(),
                "devices": torch.cuda.get_rng_state_all() if self._on_cuda else [],
                "batches": self.batches.state_dict(),
                "parts": [_state(part) for part in self._parts],
                "probes": [probe.state_dict() for probe in self._probes],
                "w0": torch.from_numpy(self.w0),
                "last_finite": self.last_finite,
                "trace": torch.from_numpy(self.trace.rows.copy()),
                "stride": self.trace.stride,
            },
        )

    def take_up(self, checkpoint: Checkpoint) -> bool:
        """Go on from a checkpoint if there is one; the caller keeps PyTorch's generator."""
        saved = storage.read(checkpoint.file)
        if saved is None:
            return False
        storage.check_same(checkpoint.file, saved, self.identity)
        state = saved.state
        for name in _COUNTERS:
            setattr(self, name, state[name])
        self.clock.go_on(state["seconds"], state.get("compiled", 0.0))
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.batches.load_state_dict(state["batches"])
        for part, kept in zip(self._parts, state["parts"], strict=True):
            if kept is not None:
                part.load_state_dict(kept)
        for probe, kept in zip(self._probes, state.get("probes", ()), strict=True):
            probe.load_state_dict(kept)
        self.w0 = state["w0"].numpy()
        self.last_finite = state["last_finite"]
        self.trace = Trace(state["trace"].numpy(), stride=state["stride"], extra=COLUMNS)
        torch.random.set_rng_state(state["torch"])
        if self._on_cuda:
            torch.cuda.set_rng_state_all(state["devices"])
        return True

    @property
    def _parts(self) -> list[Any]:
        """What else may remember something from step to step."""
        own = self.companions
        return [own.augmentation, own.early_stopping, own.scheduler, *own.regularizers]

    @property
    def _probes(self) -> list[Stateful]:
        return stateful(self.companions.probes)

    @property
    def _on_cuda(self) -> bool:
        return self.inputs.like.device.type == "cuda"


_COUNTERS = (
    "epoch", "position", "step", "looks", "value_sum", "loss_sum", "rows", "is_stopped",
    "last_finite_epoch",
)  # fmt: skip


@contextmanager
def attached(regularizers: Sequence[Any], model: nn.Module) -> Iterator[None]:
    """Regularizers that watch a model do so within the block."""
    done: list[Any] = []
    try:
        for regularizer in regularizers:
            regularizer.attach(model)
            done.append(regularizer)
        yield
    finally:
        for regularizer in reversed(done):
            regularizer.detach()


@contextmanager
def own_randomness(seed: int, device: torch.device) -> Iterator[None]:
    """PyTorch's generators begin at `seed` within the block, and are as before after it."""
    on_cuda = device.type == "cuda"
    with torch.random.fork_rng(devices=[device.index or 0] if on_cuda else []):
        torch.default_generator.manual_seed(seed)
        if on_cuda:
            torch.cuda.manual_seed_all(seed)
        yield


def _state(part: Any) -> Any:
    read = getattr(part, "state_dict", None)
    return None if read is None else read()
