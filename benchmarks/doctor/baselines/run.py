"""`judge`: train a program once and let all four detectors look at it."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn

from doctor.baselines.autotrainer import autotrainer
from doctor.baselines.deepchecker import deepchecker
from doctor.baselines.deeplocalize import deeplocalize
from doctor.baselines.observer import Observer
from doctor.baselines.record import Record
from doctor.baselines.umlaut import umlaut
from doctor.baselines.verdict import Verdict
from doctor.loop import run
from doctor.program import Program

DETECTORS: dict[str, Callable[[Record], Verdict]] = {
    "AutoTrainer": autotrainer,
    "UMLAUT": umlaut,
    "DeepLocalize": deeplocalize,
    "TheDeepChecker": deepchecker,
}


def observe(program: Program) -> Record:
    """Train it, and keep what the detectors look at."""
    observers: list[Observer] = []

    def watch(model: nn.Module, optimizer: torch.optim.Optimizer) -> Observer:
        observers.append(Observer(program, model, optimizer))
        return observers[-1]

    run(program, watch)
    return observers[0].record


def judge(program: Program) -> dict[str, Verdict]:
    """What each detector says of the program."""
    record = observe(program)
    return {name: detector(record) for name, detector in DETECTORS.items()}
