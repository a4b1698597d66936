"""What became of the network: its loss and skill on training and validation rows, in eval mode.

A record has them as `trained_loss` and `validated_loss`, and so on, of at most 2,000 rows each.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import nn

from thalweg.doctor.nets.facts.loss import Criterion
from thalweg.doctor.nets.facts.task import Task, answers, recalls_of, score, skill
from thalweg.doctor.nets.instruments.origin import nothing_left
from thalweg.nets.training.evaluate import modes_kept

CHUNK = 512  # rows of one pass


class Reached(NamedTuple):
    """A network on some rows."""

    loss: float
    score: float  # mean recall of the classes, or R²
    skill: float  # 0 for an answer that ignores the sample, 1 for a perfect one
    recall: float | None  # of the class that is told right least often; None for numbers


def outcome(
    model: nn.Module, criterion: Criterion, x: torch.Tensor, y: torch.Tensor, task: Task
) -> Reached:
    """Of one part of the data."""
    output = outputs(model, x)
    with torch.no_grad():
        loss = float(criterion(output, y))
    said = answers(output, task)
    recall = float(recalls_of(said, task).min()) if task.classes else None
    return Reached(loss, score(said, task), skill(said, task), recall)


@torch.no_grad()
def outputs(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    """f(x) in eval mode."""
    with nothing_left(model), modes_kept(model):
        model.eval()
        return torch.cat([model(part) for part in x.split(CHUNK)])
