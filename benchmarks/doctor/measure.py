"""What a program reaches, and whether that is health or harm.

A healthy program reaches its floor, scores on training rows at most 0.1 better, and its validation
loss is not far above the best it had. A faulty program is worse than its twin, by a
margin, in the way that its fault says:

    score       the twin's score on fresh rows is higher by the margin
    loss        log₁₀ of the training loss is higher by the margin
    gap         training score − fresh score is larger than the twin's by the margin
    leak        the score that it gives itself is above that on fresh rows by the margin
    modes       outputs in train and eval mode differ by that share of their size
    denormals   that share of its inputs and activations is not zero and below 2⁻¹²⁶
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import torch
from torch import nn

from doctor.loop import Result, run
from doctor.program import Program
from doctor.sources import FLOORS

STORED = Path(__file__).with_name("measured.json")
TINY = torch.finfo(torch.float32).tiny


@dataclass(frozen=True)
class Measured:
    """The numbers of one run; losses that are no number are None."""

    score: float
    fresh_score: float
    training_score: float
    first_loss: float | None  # training, first epoch
    last_loss: float | None
    best_validation_loss: float | None
    last_validation_loss: float | None
    modes: float
    denormals: float


def measure(program: Program) -> tuple[Measured, float, int]:
    """Run it: the numbers, the seconds that took, and the steps."""
    result = run(program)
    finite = [value for value in result.validation_loss if math.isfinite(value)]
    measured = Measured(
        round(result.score, 4),
        round(result.fresh_score, 4),
        round(result.training_score, 4),
        _short(result.training_loss[0]),
        _short(result.training_loss[-1]),
        _short(min(finite)) if finite else None,
        _short(result.validation_loss[-1]),
        round(_modes(program, result), 4),
        round(_denormals(program, result), 4),
    )
    return measured, result.seconds, result.steps


@cache
def stored() -> dict[str, Measured]:
    """The numbers that were put down, by the name of the program."""
    return {name: Measured(**numbers) for name, numbers in json.loads(STORED.read_text()).items()}


def reached(program: Program) -> float:
    """The score that the healthy twin of a faulty program, or a healthy one itself, reached."""
    return stored()[(program.twin or program).name].score


def store(measured: dict[str, Measured]) -> None:
    """Put the numbers down."""
    lines = [f"{json.dumps(n)}: {json.dumps(asdict(m))}" for n, m in sorted(measured.items())]
    STORED.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def ailments(program: Program, own: Measured) -> list[str]:
    """Why a healthy program is none; nothing if it is."""
    floor = FLOORS[program.data.source] if program.floor is None else program.floor
    found = []
    if own.score < floor:
        found.append(f"score {own.score:.3f} below {floor}")
    if abs(own.score - own.fresh_score) > 0.03:
        found.append(f"score {own.score:.3f}, on fresh rows {own.fresh_score:.3f}")
    if own.training_score - own.score > 0.1:
        found.append(f"score {own.score:.3f}, on training rows {own.training_score:.3f}")
    if own.last_loss is None:
        found.append("a loss that is no number")
    last, best = own.last_validation_loss, own.best_validation_loss
    if last is None or best is None or last > 1.5 * best + 0.05:
        found.append(f"validation loss {last}, at best {best}")
    return found


def harm(program: Program, own: Measured, twin: Measured) -> float:
    """How much worse a faulty program is than its twin, to be compared with its margin."""
    assert program.fault is not None
    return HARMS[program.fault.harm](own, twin)


def _loss(own: Measured, twin: Measured) -> float:
    if own.last_loss is None:
        return math.inf
    return math.log10(max(own.last_loss, 1e-12) / max(twin.last_loss or 0.0, 1e-12))


HARMS: dict[str, Callable[[Measured, Measured], float]] = {
    "score": lambda own, twin: twin.fresh_score - own.fresh_score,
    "loss": _loss,
    "gap": lambda own, twin: (
        (own.training_score - own.fresh_score) - (twin.training_score - twin.fresh_score)
    ),
    "leak": lambda own, twin: own.score - own.fresh_score,
    "modes": lambda own, twin: own.modes,
    "denormals": lambda own, twin: own.denormals,
}


@torch.no_grad()
def _modes(program: Program, result: Result) -> float:
    """‖f(x) in train mode − f(x) in eval mode‖/‖f(x) in eval mode‖ over validation rows."""
    x = program.split().x_val
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(program.seed)
        evaluated = result.model.eval()(x)
        trained = result.model.train()(x)
    size = float(evaluated.norm())
    share = float((trained - evaluated).norm()) / size if size else 0.0
    return share if math.isfinite(share) else 0.0


@torch.no_grad()
def _denormals(program: Program, result: Result) -> float:
    """The share of denormals among inputs and outputs of layers, over training rows."""
    seen: list[torch.Tensor] = []

    def look(module: nn.Module, inputs: tuple[torch.Tensor, ...], output: torch.Tensor) -> None:
        seen.append(output)

    x = program.split().x[:200]
    hooks = [layer.register_forward_hook(look) for layer in result.model]  # type: ignore[arg-type]
    result.model.eval()(x)
    for hook in hooks:
        hook.remove()
    numbers = torch.cat([x.flatten(), *(output.flatten() for output in seen)])
    return float(((numbers != 0) & (numbers.abs() < TINY)).double().mean())


def _short(value: float) -> float | None:
    return float(f"{value:.4g}") if math.isfinite(value) else None
