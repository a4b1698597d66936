"""The learning-rate range test: raise the rate step by step and watch the loss.

    ηₖ = η_low·(η_high/η_low)^(k/(K−1))        one mini-batch and one step for each k
    L(η) = median over seeds of the running median of the losses before step k

Where the rate is too small the loss stays, then it falls, then it rises. A running median, centred,
does not see a spike of a few batches and does not lag behind the rates, as an average of the past
does; the median over seeds (other orders of the batches, the same weights) does not see an odd one.
What is left of the noise is measured, from the differences of neighbouring losses.

    usable range   from where a tenth of the fall is done to the lowest loss
    suggested      the steepest fall per factor of the rate within it

There is no usable range if the loss does not fall by more than four times its noise, or if it was
lost from the first step. Then `suggested` is None and `reason` says which; nothing is guessed.

The model and the optimizer are copied, and left exactly as they were.
Smith, WACV 2017.
"""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn

from thalweg.core.card import GOOD, NEUTRAL, html_card, text_card
from thalweg.core.checks import check_count, check_number
from thalweg.core.errors import InputError
from thalweg.nets.training.batches import Batch, Batches, Stream, batches_of
from thalweg.nets.training.choice import name_of, optimizer_of
from thalweg.nets.training.denormals import flushed_denormals
from thalweg.nets.training.inputs import Inputs
from thalweg.nets.training.journey import own_randomness
from thalweg.nets.training.losses import Loss, loss_of
from thalweg.nets.training.step import Stepper

RUINED = 4.0  # times the loss at the start: from here on every rate is too large
CLEAR = 4.0  # times the noise: a fall that chance does not explain
BEGUN = 0.1  # of the fall: where the usable range begins
PLATEAU = 0.1  # of the steps: how many tell the loss at the start


@dataclass(frozen=True, eq=False, repr=False)
class RateRange:
    """What the test found."""

    suggested: float | None  # None where there is no usable range
    lowest: float | None  # the usable range
    highest: float | None
    reason: str
    rates: np.ndarray  # ηₖ, float64[K]
    losses: np.ndarray  # L(ηₖ), float64[K]; infinite from where it was ruined
    curves: np.ndarray  # the losses of each seed as measured, float64[seeds, K]
    noise: float  # of L
    optimizer: str

    @property
    def is_usable(self) -> bool:
        """Whether a rate can be named."""
        return self.suggested is not None

    def __repr__(self) -> str:
        return text_card(self._headline(), f"for {self.optimizer}", [self.reason])

    def _repr_html_(self) -> str:
        tone = GOOD if self.is_usable else NEUTRAL
        return html_card(
            self._headline(), f"for {self.optimizer}", [("reason", self.reason)], tone=tone
        )

    def _headline(self) -> str:
        return f"lr = {self.suggested:.2g}" if self.suggested else "NO USABLE RANGE"


def lr_find(
    model: nn.Module,
    data: Any,
    optimizer: Any = "adam",
    loss: Any = "cross-entropy",
    *,
    lowest: float = 1e-7,
    highest: float = 10.0,
    steps: int = 100,
    seeds: int = 3,
    batch_size: int | None = 64,
) -> RateRange:
    """Find the learning rates at which `model` learns, and suggest one.

    >>> import torch, thalweg as tw
    >>> x = torch.linspace(-1, 1, 64)[:, None]
    >>> found = tw.nets.lr_find(torch.nn.Linear(1, 1), (x, 3 * x), "sgd", "squared", batch_size=16)
    >>> found.lowest < found.suggested < found.highest
    True
    """
    lowest = check_number("lowest", lowest, above=0.0)
    highest = check_number("highest", highest, above=lowest)
    steps, seeds = check_count("steps", steps, at_least=20), check_count("seeds", seeds)
    rates = np.geomspace(lowest, highest, steps)
    loss = loss_of(loss)
    curves = np.empty((seeds, steps))
    name = ""
    for seed in range(seeds):
        batches = batches_of(data, batch_size, seed=seed)
        if not batches.can_repeat:
            raise InputError(
                "data must be iterable again and again, got a generator: "
                "pass a pair (x, y), a list or a DataLoader"
            )
        name, curves[seed] = _ramp(*_copies(model, optimizer), batches, loss, rates, seed)
    return judge(rates, curves, name)


def _copies(model: nn.Module, optimizer: Any) -> tuple[nn.Module, torch.optim.Optimizer]:
    """Copies of both: the copied optimizer holds the copied parameters."""
    if isinstance(optimizer, torch.optim.Optimizer):
        optimizer_of(optimizer, model)
        return copy.deepcopy((model, optimizer))
    copied = copy.deepcopy(model)
    return copied, optimizer_of(optimizer, copied)


def _ramp(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    batches: Batches | Stream,
    loss: Loss,
    rates: np.ndarray,
    seed: int,
) -> tuple[str, np.ndarray]:
    """The loss before each step, infinite from where it was ruined."""
    inputs = Inputs(model)
    stepper = Stepper(model, optimizer, loss, inputs)
    # Groups keep the proportions that they were given.
    given = [float(group["lr"]) for group in optimizer.param_groups]
    shares = [lr / given[0] if given[0] else 1.0 for lr in given]
    measured = np.full(len(rates), np.inf)
    done = 0
    with own_randomness(seed, inputs.like.device), flushed_denormals():
        if not model.training:
            model.train()
        while done < len(rates):
            for batch in batches.epoch():
                if done == len(rates):
                    break
                for group, share in zip(optimizer.param_groups, shares, strict=True):
                    group["lr"] = float(rates[done] * share)
                ready = Batch(inputs(batch.x), inputs.labels(batch.y, loss))
                if done == 0:
                    with torch.no_grad():
                        loss.check(inputs.look(model, ready.x), ready.y, batches.name)
                measured[done] = stepper.step([ready], 0.0).value
                done += 1
                at_start = np.median(measured[: max(1, min(done, len(rates) // 10))])
                if not measured[done - 1] <= RUINED * max(at_start, 1e-12):
                    if not math.isfinite(measured[done - 1]):
                        measured[done - 1] = np.inf
                    if _is_ruined(measured[:done], at_start):
                        return name_of(optimizer), measured
    return name_of(optimizer), measured


def _is_ruined(measured: np.ndarray, at_start: float) -> bool:
    """Whether it is no single spike: not finite, or high in most of the last five steps."""
    last = measured[-5:]
    high = ~(last <= RUINED * max(at_start, 1e-12))
    return not math.isfinite(measured[-1]) or (len(last) == 5 and int(high.sum()) >= 3)


def judge(rates: np.ndarray, curves: np.ndarray, optimizer: str = "") -> RateRange:
    """The usable range of measured losses, float64[seeds, K]."""
    K = len(rates)
    width = 2 * (K // 40) + 3  # odd
    smooth = np.array([running_median(curve, width) for curve in curves])
    L = np.median(smooth, axis=0)
    low = int(np.argmin(L))
    noise = _noise(curves, width, low)

    def ended(reason: str) -> RateRange:
        return RateRange(None, None, None, reason, rates, L, curves, noise, optimizer)

    start = max(3, int(PLATEAU * K))
    at_start = float(np.median(L[:start]))
    if not math.isfinite(at_start):
        return ended(
            f"The loss was ruined at rates as small as {rates[0]:.2g}: lower `lowest`, scale the "
            "inputs, or look at the initial weights."
        )
    fall = at_start - float(L[low]) if low >= start else 0.0
    if fall <= CLEAR * noise:
        return ended(
            f"The loss fell by {fall:.2g} and its noise is {noise:.2g}, which is no clear fall: "
            "raise `steps`, `seeds` or `batch_size`, or `highest` if it did not rise in the end."
        )
    # The range begins where the fall has begun for good.
    not_yet = np.flatnonzero(L[: low + 1] > at_start - max(BEGUN * fall, CLEAR * noise))
    first = min(int(not_yet[-1]) + 1 if not_yet.size else 0, low)
    if low - first < 2:
        return ended(
            f"The loss fell at rates near {rates[low]:.2g} alone: raise `steps` to see a range."
        )
    best = first + int(np.argmin(_slope(L, width)[first : low + 1]))
    best = min(max(best, first + 1), low - 1)
    rises = bool(np.any(L[low:] > L[low] + max(BEGUN * fall, CLEAR * noise)))
    reason = (
        f"The loss falls from {at_start:.3g} to {L[low]:.3g} between rates of {rates[first]:.2g} "
        f"and {rates[low]:.2g}, steepest near {rates[best]:.2g}"
    )
    reason += "." if rises else ", and still falls at the end: the range may reach further up."
    return RateRange(
        float(rates[best]), float(rates[first]), float(rates[low]), reason, rates, L, curves,
        noise, optimizer,
    )  # fmt: skip


def running_median(values: np.ndarray, width: int) -> np.ndarray:
    """The median of each value and its neighbours, fewer at the ends."""
    half = width // 2
    return np.array(
        [np.median(values[max(0, k - half) : k + half + 1]) for k in range(len(values))]
    )


def _slope(L: np.ndarray, width: int) -> np.ndarray:
    """The change of L per step, over `width` steps; infinite where L is."""
    half = width // 2
    left = np.concatenate([np.full(half, L[0]), L[:-half]])
    right = np.concatenate([L[half:], np.full(half, L[-1])])
    with np.errstate(invalid="ignore"):
        slope = right - left
    return np.where(np.isfinite(slope), slope, np.inf)


def _noise(curves: np.ndarray, width: int, low: int) -> float:
    """How far L may be off by chance up to its lowest place: from differences of neighbours.

    A trend hardly moves those, and a spike not their median. Noise may grow with the weights, as
    from the equal outputs of weights that are zero: the noisiest stretch counts. A median of m
    values spreads by about 1.25·σ/√m; over seeds, once more.
    """
    found = []
    for curve in curves:
        part = curve[: max(low + width, len(curve) // 2)]
        steps = np.diff(part[np.isfinite(part)])
        spread = [
            float(np.median(np.abs(part - np.median(part))))
            for part in np.array_split(steps, max(1, len(steps) // (3 * width)))
            if part.size
        ]
        found.append(1.4826 * max(spread, default=0.0) / math.sqrt(2.0))
    return 1.25**2 * float(np.median(found)) / math.sqrt(width * len(curves))
