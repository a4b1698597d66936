"""Losses of the zoo and what a program reads off its outputs.

    cross-entropy, binary-cross-entropy, squared (½ of the square)    of scores
    nll, bce       of log-probabilities and of probabilities
    log            −log p of a probability, without protection from p = 0
    one-hot        squared distance from the one-hot label
    smooth         cross-entropy with labels smoothed by a tenth
    absolute       distance

The score is the mean recall of the classes, so that a rare class counts as much as a frequent one,
or R² = 1 − MSE/variance of a regression, cut to [−1, 1].
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch.nn import functional

from doctor.program import Program

Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def _squared(z: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return functional.mse_loss(z, y) / 2


def _log(p: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return -p.log().gather(1, y[:, None]).mean()


def _one_hot(z: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return functional.mse_loss(z, functional.one_hot(y, z.shape[1]).to(z.dtype))


def _smooth(z: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return functional.cross_entropy(z, y, label_smoothing=0.1)


LOSSES: dict[str, Loss] = {
    "cross-entropy": functional.cross_entropy,
    "smooth": _smooth,
    "nll": functional.nll_loss,
    "log": _log,
    "one-hot": _one_hot,
    "binary-cross-entropy": functional.binary_cross_entropy_with_logits,
    "bce": functional.binary_cross_entropy,
    "squared": _squared,
    "absolute": functional.l1_loss,
}


def criterion(program: Program) -> Loss:
    """The loss of outputs and labels as `prepare` gives them."""
    loss = LOSSES[program.loss]
    if program.has_one_output:
        return lambda z, y: loss(z, y.to(z.dtype)[:, None])
    return loss


def score(program: Program, output: torch.Tensor, y: torch.Tensor, classes: int) -> float:
    """Mean recall of the classes, or R²."""
    if not classes:
        share = ((output[:, 0] - y) ** 2).mean() / y.var(correction=0)
        return float((1.0 - share).nan_to_num(nan=-1.0).clamp(-1.0, 1.0))
    said = _classes(program, output, classes)
    present = [c for c in range(classes) if bool((y == c).any())]
    return sum(float((said[y == c] == c).float().mean()) for c in present) / len(present)


def _classes(program: Program, output: torch.Tensor, classes: int) -> torch.Tensor:
    if not program.has_one_output:
        return output.argmax(1)
    z = output[:, 0].nan_to_num()
    if program.loss in ("squared", "absolute"):
        return z.round().clamp(0, classes - 1).long()
    return (z > (0.5 if program.net.output == "sigmoid" else 0.0)).long()
