"""What became of the network: its loss and skill on training and validation rows, in eval mode.

trained_loss, validated_loss      on at most 2,000 rows each
trained_score, validated_score    mean recall of the classes, or R²
trained_skill, validated_skill    0 for an answer that ignores the sample, 1 for a perfect one
trained_recall, validated_recall  of the class that is told right least often
mode_difference                   ‖f in train mode − f in eval mode‖/‖f in eval mode‖ on
                                  training rows, means over 8 passes in train mode
"""

from __future__ import annotations

import math

import torch
from torch import nn

from thalweg.doctor.facts.loss import Criterion
from thalweg.doctor.facts.task import Task, answers, recalls_of, score, skill
from thalweg.nets.probes.origin import nothing_left
from thalweg.nets.training.evaluate import modes_kept

PASSES = 8
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


@torch.no_grad()
def mode_difference(model: nn.Module, x: torch.Tensor, batch: int) -> dict[str, float]:
    """How far outputs of batches in train mode are from those in eval mode, on average."""
    x = x[: max(batch, 2) * max(1, CHUNK // max(batch, 2))]
    parts = [part for part in x.split(max(batch, 2)) if len(part) > 1]
    if not parts:
        return {}
    evaluated = outputs(model, torch.cat(parts))
    with nothing_left(model), modes_kept(model):
        model.train()
        passes = [torch.cat([model(part) for part in parts]) for _ in range(PASSES)]
    size = float(evaluated.norm())
    difference = float((torch.stack(passes).mean(0) - evaluated).norm())
    share = difference / size if size else 0.0
    return {"mode_difference": share if math.isfinite(share) else 0.0}
