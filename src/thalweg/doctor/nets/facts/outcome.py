"""What became of the network: its loss and skill on training and validation rows, in eval mode.

trained_loss, validated_loss      on at most 2,000 rows each
trained_score, validated_score    mean recall of the classes, or R²
trained_skill, validated_skill    0 for an answer that ignores the sample, 1 for a perfect one
trained_recall, validated_recall  of the class that is told right least often
"""

from __future__ import annotations

import torch
from torch import nn

from thalweg.doctor.nets.facts.loss import Criterion
from thalweg.doctor.nets.facts.task import Task, answers, recalls_of, score, skill
from thalweg.doctor.nets.instruments.origin import nothing_left
from thalweg.nets.training.evaluate import modes_kept

CHUNK = 512  # rows of one pass


def outcome(
    model: nn.Module, criterion: Criterion, x: torch.Tensor, y: torch.Tensor, task: Task, name: str
) -> dict[str, float]:
    """Of one part of the data: `name` is "trained" or "validated"."""
    output = outputs(model, x)
    with torch.no_grad():
        loss = float(criterion(output, y))
    said = answers(output, task)
    facts = {
        f"{name}_loss": loss,
        f"{name}_score": score(said, task),
        f"{name}_skill": skill(said, task),
    }
    if task.classes:
        facts[f"{name}_recall"] = float(recalls_of(said, task).min())
    return facts


@torch.no_grad()
def outputs(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    """f(x) in eval mode."""
    with nothing_left(model), modes_kept(model):
        model.eval()
        return torch.cat([model(part) for part in x.split(CHUNK)])
