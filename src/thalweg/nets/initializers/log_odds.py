"""Log-odds of the classes: a last bias with which an untrained network predicts their shares.

    b_k = log π_k − (1/K) Σⱼ log πⱼ          then softmax(b) = π

π_k is the share of class k among the labels; equal shares give b = 0. A single output with a
sigmoid takes b₁ − b₀ = log(π₁/(1 − π₁)), which `initialize` does by itself. The first epochs are
then not spent on learning that one class is rare: the loss begins at the entropy of the labels.
A class without a sample counts as one sample, so that its bias stays finite.
"""

from __future__ import annotations

from typing import Any

import torch

from thalweg.core.checks import check_count, describe
from thalweg.core.errors import InputError


def log_odds(labels: Any = None, *, shares: Any = None, classes: int | None = None) -> torch.Tensor:
    """b, float64[K], from `labels` 0, 1, …, K − 1, or from the `shares` of the classes.

    `classes` is K, where the labels may lack the last ones.
    """
    if (labels is None) == (shares is None):
        raise InputError("log_odds needs labels or shares, one of the two")
    counts = _counts(labels, classes) if shares is None else _shares(shares, classes)
    logs = counts.log()
    return logs - logs.mean()


def _counts(labels: Any, classes: int | None) -> torch.Tensor:
    y = _tensor("labels", labels).flatten()
    if y.numel() == 0:
        raise InputError("labels must hold at least one label, got none")
    if y.is_complex() or not (y == y.to(torch.int64)).all():
        raise InputError(
            f"labels must be whole numbers, got {describe(labels)}: "
            "number the classes 0, 1, …, or pass shares="
        )
    y = y.to(torch.int64)
    top = int(y.max()) + 1
    classes = max(top, 2) if classes is None else check_count("classes", classes, at_least=2)
    if int(y.min()) < 0 or top > classes:
        wrong = int(y.min()) if int(y.min()) < 0 else top - 1
        raise InputError(f"labels must lie in 0, …, {classes - 1}, got {wrong}")
    return torch.bincount(y, minlength=classes).clamp(min=1).to(torch.float64)


def _shares(shares: Any, classes: int | None) -> torch.Tensor:
    pi = _tensor("shares", shares, torch.float64)
    if pi.ndim != 1 or pi.numel() < 2 or not bool((pi > 0).all()) or not bool(pi.isfinite().all()):
        raise InputError(
            f"shares must be two positive numbers or more, got {describe(shares)}: "
            "give every class a share, of a rare one a small share"
        )
    if classes is not None and classes != pi.numel():
        raise InputError(f"shares must be {classes}, as classes are, got {pi.numel()}")
    return pi


def _tensor(name: str, value: Any, dtype: torch.dtype | None = None) -> torch.Tensor:
    try:
        return torch.as_tensor(value, dtype=dtype).detach().cpu()
    except (TypeError, ValueError, RuntimeError) as problem:
        raise InputError(f"{name} must be numbers, got {describe(value)}") from problem
