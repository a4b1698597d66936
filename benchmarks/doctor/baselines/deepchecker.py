"""TheDeepChecker (2022): some thirty checks before, during and after training.

Before (`before_training.py`), during (`in_training.py`), and after:

    with an augmentation: similarity of what it does to the outputs < 0.95   → shuffled labels
    train against eval mode: similarity of the outputs of a layer < 0.75,
    or losses that differ by more than 50 %                                  → train/eval mix-up

Similarity is the cosine, over training rows, of the trained network. Causes come in the order of
the checks: it reports all that it finds.

Left out: corrupted labels after training, of which no threshold is described.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import torch
from torch import nn
from torch.nn import functional

from doctor.baselines.before_training import before_training
from doctor.baselines.in_training import in_training
from doctor.baselines.layers import layers_of
from doctor.baselines.record import Record
from doctor.baselines.verdict import Verdict, verdict
from doctor.loop import AUGMENTATIONS
from doctor.losses import criterion
from thalweg.doctor.causes import MODES, SHUFFLED

AUGMENTED, SWITCHED, LOSSES = 0.95, 0.75, 0.5


def deepchecker(record: Record) -> Verdict:
    """Everything that it would have said, the earliest first."""
    return verdict([*before_training(record), *in_training(record), *after_training(record)])


@torch.no_grad()
def after_training(record: Record) -> Iterator[str]:
    """What the trained network shows."""
    model, x, y = record.end, record.data.x, record.data.y
    states = [buffer.clone() for buffer in model.buffers()]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(record.program.seed)
        augmented = AUGMENTATIONS[record.program.loop.augmentation](x)
        plain, other = (outputs(model.eval(), each) for each in (x, augmented))
        if similarity(plain[-1], other[-1]) < AUGMENTED:
            yield SHUFFLED
        trained = outputs(model.train(), x)
    for buffer, state in zip(model.buffers(), states, strict=True):
        buffer.copy_(state)
    loss_of = criterion(record.program)
    losses = [float(loss_of(each[-1], y)) for each in (plain, trained)]
    if modes_differ(losses[0], losses[1], map(similarity, plain, trained)):
        yield MODES


def modes_differ(plain: float, trained: float, similarities: Iterable[float]) -> bool:
    """Whether losses in eval and train mode, or outputs of a layer, are too far apart."""
    return abs(trained - plain) > LOSSES * abs(plain) or min(similarities) < SWITCHED


def outputs(model: nn.Module, x: torch.Tensor) -> list[torch.Tensor]:
    """Of each layer."""
    seen: list[torch.Tensor] = []
    hooks = [
        layer.end.register_forward_hook(lambda module, inputs, output: seen.append(output))
        for layer in layers_of(model)
    ]
    model(x)
    for hook in hooks:
        hook.remove()
    return seen


def similarity(a: torch.Tensor, b: torch.Tensor) -> float:
    """Cosine of two tensors; of tensors without direction it is 1 if they are equal."""
    if torch.equal(a, b):
        return 1.0
    return float(functional.cosine_similarity(a.flatten(), b.flatten(), dim=0))
