"""Gradients, weights, and what a step did to them, by layer.

    ‖g‖ = (Σ_p ‖g_p‖²)^½      over the parameters p of a layer; w likewise
    update ratio = ‖Δw‖/‖w‖

All norms of a look are one batched call and one read from the device. ‖w‖ and ‖g‖ are of all
entries. Δw needs the weights of before the step: of parameters with more than 16,384 entries that
many are kept, drawn once (`Sample`), which is good for a relative error of about 1 %, and a model
of any size needs no second copy of its weights. Moments of weights are of the same entries.

A parameter that stands in several layers (tied weights) counts in each of them, and once in the
total. Frozen parameters have a weight but no gradient and no update: NaN.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
import torch
from torch import nn

from thalweg.doctor.nets.instruments.layers import weight_of
from thalweg.doctor.nets.instruments.sample import Sample

KEPT = 16_384  # entries of a parameter to compare before and after a step


class Norms:
    """Of the parameters of `layers`, the trained ones and the frozen ones."""

    def __init__(self, layers: Iterable[nn.Module], generator: torch.Generator) -> None:
        layers = list(layers)
        unique = {id(p): p for module in layers for p in module.parameters(recurse=False)}
        self.parameters = list(unique.values())
        number = {key: k for k, key in enumerate(unique)}
        self.own = [[number[id(p)] for p in m.parameters(recurse=False)] for m in layers]
        weights = [weight_of(module) for module in layers]
        self.weights = [None if w is None else number[id(w)] for w in weights]
        self.sample = Sample(self.parameters, KEPT, generator)
        self.clear()

    def clear(self) -> None:
        """Begin a step."""
        count = len(self.parameters)
        self.gradient = np.full(count, math.nan)  # ‖g_p‖
        self.weight = np.full(count, math.nan)  # ‖w_p‖ before the step
        self.moments = np.full((count, 2), math.nan)  # mean and std of the entries
        self.moved = np.full(count, math.nan)  # ‖Δw_p‖, and ‖w_p‖ of the same entries
        self.start = np.full(count, math.nan)
        self._before: dict[int, torch.Tensor] = {}

    def gradients(self, which: Sequence[int]) -> None:
        """Norms of the gradients as they are now."""
        given = [k for k in which if self.parameters[k].grad is not None]
        self.gradient[given] = norms([_dense(self.parameters[k].grad) for k in given])

    def weigh(self, which: Sequence[int]) -> None:
        """Norms and moments of the weights as they are now; some of them are kept for `after`."""
        self.weight[which] = norms([self.parameters[k].detach() for k in which])
        shown = set(self.weights)
        kept = {k: self.sample.of(k, self.parameters[k]) for k in which}
        pairs = {k: _moments(kept[k]) for k in which if k in shown and kept[k].numel()}
        if pairs:
            self.moments[list(pairs)] = _read(list(pairs.values()))
        self._before |= {k: some for k, some in kept.items() if self.parameters[k].requires_grad}

    def forget(self, which: Sequence[int]) -> None:
        """These did not step, or before they were weighed: there is nothing to compare."""
        for k in which:
            self._before.pop(k, None)

    def after(self) -> None:
        """How far the trained weights have moved since `weigh`."""
        which = list(self._before)
        scales = np.array([self.sample.scales[k] for k in which])
        changes = [self.sample.of(k, self.parameters[k]) - self._before[k] for k in which]
        self.moved[which] = scales * norms(changes)
        self.start[which] = scales * norms([self._before[k] for k in which])
        self._before = {}

    def by_layer(self) -> dict[str, np.ndarray]:
        """The columns of one look, float64[layers] each."""
        return {
            "gradient_norm": np.array([_together(self.gradient[own]) for own in self.own]),
            "weight_norm": np.array([_together(self.weight[own]) for own in self.own]),
            "update_ratio": np.array([self._update_ratio(own) for own in self.own]),
            "weight_mean": self._of_weight(0),
            "weight_std": self._of_weight(1),
        }

    @property
    def total(self) -> float:
        """‖g‖ over all parameters."""
        return _together(self.gradient)

    def _update_ratio(self, own: list[int]) -> float:
        moved, size = _together(self.moved[own]), _together(self.start[own])
        if size == 0:
            return math.inf if moved else 0.0
        return moved / size

    def _of_weight(self, moment: int) -> np.ndarray:
        return np.array([math.nan if k is None else self.moments[k, moment] for k in self.weights])


def norms(tensors: Sequence[torch.Tensor]) -> np.ndarray:
    """‖·‖ of each tensor, float64[len], by one call and one read; ∞ for one that is not finite."""
    if not tensors:
        return np.empty(0)
    wide = [t.float() if t.dtype in (torch.float16, torch.bfloat16) else t for t in tensors]
    found = _read(torch._foreach_norm(wide))
    found[np.isnan(found)] = math.inf
    return found


def _read(tensors: Sequence[torch.Tensor]) -> np.ndarray:
    """Tensors of one shape as an array, in one transfer."""
    device = tensors[0].device
    return np.array(torch.stack([t.to(device) for t in tensors]).tolist(), dtype=np.float64)


def _moments(weight: torch.Tensor) -> torch.Tensor:
    """Mean and standard deviation, by two vectorized passes."""
    if weight.dtype in (torch.float16, torch.bfloat16):
        weight = weight.float()
    mean = weight.mean()
    return torch.stack([mean, torch.linalg.vector_norm(weight - mean) / weight.numel() ** 0.5])


def _dense(gradient: torch.Tensor | None) -> torch.Tensor:
    """A sparse gradient has the norm of its values."""
    assert gradient is not None
    return gradient.coalesce().values() if gradient.is_sparse else gradient


def _together(parts: np.ndarray) -> float:
    """(Σ‖·‖²)^½ of what was measured, NaN if nothing was."""
    parts = parts[~np.isnan(parts)]
    return math.hypot(*parts.tolist()) if parts.size else math.nan
