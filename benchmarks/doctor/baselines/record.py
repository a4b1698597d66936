"""What the four detectors look at: the numbers that an `Observer` keeps of one training.

Each detector has a schedule of its own: DeepLocalize looks at means at every step, TheDeepChecker
at probes of every tenth, UMLAUT at every epoch, AutoTrainer at an inspection after every third.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from torch import nn

from doctor.data import Split
from doctor.program import Program


@dataclass(frozen=True)
class Epoch:
    """After an epoch."""

    loss: float  # mean over its batches
    accuracy: float
    validation_loss: float
    validation_accuracy: float
    learning_rate: float


@dataclass(frozen=True)
class Inspection:
    """After every third epoch and after the last."""

    epoch: int  # from 1
    first_norm: float  # ‖∇‖ of the first trained layer
    last_norm: float
    zeros: float  # share of all entries of gradients
    is_finite: bool  # all weights and gradients
    outputs: float  # the largest mean |output| of a layer
    sums: float  # mean of Σ|output| over the classes, as probabilities


@dataclass(frozen=True)
class Probe:
    """One layer at every tenth step."""

    dead: float | None  # share of units below 1e-5 on 95 % of the samples; ReLU only
    saturated: float | None  # share of units with ρ > 0.85; bounded activations only
    spread: float | None  # standard deviation of the activations; None without activation
    weight: float  # mean |w|
    tiny: float  # share of |w| < 1e-5
    negative: float  # share of w < 0
    gradient: float  # mean |g|
    update: float  # log₁₀(mean |Δw| / mean |w|)
    penalty: float  # mean |gradient of the penalty| / mean |g|; 0 without one


@dataclass
class Record:
    """What a training left behind."""

    program: Program
    data: Split
    start: nn.Module  # before the first step
    end: nn.Module
    losses: list[float] = field(default_factory=list)  # of each step
    accuracies: list[float] = field(default_factory=list)
    # By what and which layer: "forward", "backward", "gradient" or "weights"; a mean for each step.
    means: dict[tuple[str, int], list[float]] = field(default_factory=dict)
    probes: list[list[Probe]] = field(default_factory=list)  # one a layer, every tenth step
    epochs: list[Epoch] = field(default_factory=list)
    inspections: list[Inspection] = field(default_factory=list)
