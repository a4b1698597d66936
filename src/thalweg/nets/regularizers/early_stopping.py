"""Early stopping: keep the weights that did best on validation data; stop when none do better.

After each epoch the monitored value a is compared with the best so far, a*:

    a better than a* by more than `min_delta`     a* ← a, keep a copy of the weights, k ← 0
    otherwise                                     k ← k + 1;  stop once k = `patience`

Larger is better for an accuracy, smaller for a loss or an error. The first value is the best so
far; a tie keeps the earlier; NaN is never better. `restore` puts the best weights and buffers back,
however training ended. They are in `state_dict` with the rest, so a run that resumes restores them
too, though they were found before it stopped.

The copy is on the CPU and takes the memory of one model.
"""

from __future__ import annotations

import copy
import math
from typing import Any

import torch
from torch import nn

from thalweg.core.checks import check_count, check_number, describe
from thalweg.core.errors import InputError

FALLING = ("loss", "error")  # what a name ends in when smaller is better
RISING = ("accuracy", "score")
KEPT = ("best", "best_epoch", "waited", "weights")


class EarlyStopping:
    """Watches the value named `monitor`, and keeps the best weights.

    `higher_is_better` is read off names that end in accuracy, score, loss or error.
    """

    def __init__(
        self,
        patience: int = 5,
        monitor: str = "validation accuracy",
        min_delta: float = 0.0,
        *,
        higher_is_better: bool | None = None,
    ) -> None:
        self.patience = check_count("patience", patience)
        self.monitor = monitor
        self.min_delta = check_number("min_delta", min_delta, at_least=0.0)
        self.higher_is_better = _direction(monitor, higher_is_better)
        self.best = math.nan  # a*
        self.best_epoch: int | None = None
        self.waited = 0  # k
        self.weights: dict[str, Any] | None = None  # of the best epoch, on the CPU

    def update(self, value: float | torch.Tensor, model: nn.Module, epoch: int) -> bool:
        """Take the value of this epoch; whether to stop."""
        value = float(value.detach() if isinstance(value, torch.Tensor) else value)
        if self._is_better(value):
            self.best, self.best_epoch, self.waited = value, epoch, 0
            self.weights = {name: _kept(entry) for name, entry in model.state_dict().items()}
        else:
            self.waited += 1
        return self.waited >= self.patience

    def restore(self, model: nn.Module) -> bool:
        """Put the best weights back; False if every value was NaN, so that there are none."""
        if self.weights is None:
            return False
        model.load_state_dict(self.weights)
        return True

    def state_dict(self) -> dict[str, Any]:
        """The best value, its epoch and weights, and the epochs waited since."""
        return {name: getattr(self, name) for name in KEPT}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from there."""
        missing = [name for name in KEPT if name not in state]
        if missing:
            raise InputError(
                f"state must come from EarlyStopping.state_dict, got one without {missing[0]!r}"
            )
        for name in KEPT:
            setattr(self, name, state[name])

    def _is_better(self, value: float) -> bool:
        if math.isnan(value) or self.weights is None:
            return not math.isnan(value)
        gain = value - self.best if self.higher_is_better else self.best - value
        return gain > self.min_delta


def _direction(monitor: Any, higher_is_better: bool | None) -> bool:
    if not isinstance(monitor, str):
        raise InputError(
            f"monitor must be the name of a value, such as 'validation loss', got "
            f"{describe(monitor)}"
        )
    if higher_is_better is not None:
        return higher_is_better
    if monitor.endswith(RISING) or monitor.endswith(FALLING):
        return monitor.endswith(RISING)
    raise InputError(
        f"monitor {monitor!r} does not tell whether larger is better: give higher_is_better"
    )


def _kept(entry: Any) -> Any:
    """A copy that later steps do not reach."""
    if isinstance(entry, torch.Tensor):
        return entry.detach().to("cpu", copy=True)
    return copy.deepcopy(entry)
