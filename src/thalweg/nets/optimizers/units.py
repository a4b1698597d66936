"""A unit's incoming weights: which entries of a weight tensor feed the same output.

    Linear      [out, in]                      row o
    ConvNd      [out, in/groups, k…]           row o
    ConvTransposeNd  [in, out/groups, k…]      entries [:, o, …] of the rows of o's group

In memory, a unit is some `runs` of `length` consecutive elements, `stride` apart.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import torch
from torch import nn

from thalweg.rules.clip import clip_factor

TRANSPOSED = (nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)


class Units(NamedTuple):
    """Where the weights of one unit lie."""

    runs: int
    length: int  # elements of a run
    stride: int  # from the beginning of one run to that of the next


def parameter_groups(model: nn.Module) -> list[dict[str, Any]]:
    """All parameters of `model`, with the axis along which those of a transposed convolution lie.

    An optimizer of Thalweg that is given a model makes these itself.
    """
    groups: dict[tuple[int, int], list[torch.Tensor]] = {(0, 1): []}
    turned = {
        id(module.weight): module.groups
        for module in model.modules()
        if isinstance(module, TRANSPOSED)
    }
    for parameter in model.parameters():
        key = (1, turned[id(parameter)]) if id(parameter) in turned else (0, 1)
        groups.setdefault(key, []).append(parameter)
    return [
        {"params": params, "unit_axis": axis, "unit_groups": count}
        for (axis, count), params in groups.items()
        if params
    ]


def units_of(weight: torch.Tensor, axis: int, groups: int) -> Units | None:
    """The units of a weight; None for a vector, which is a bias or a scale."""
    if weight.ndim < 2 or weight.numel() == 0:
        return None
    if axis == 0:
        length = weight.numel() // weight.shape[0]
        return Units(1, length, length)
    length = math.prod(weight.shape[2:])
    return Units(weight.shape[0] // groups, length, weight.shape[1] * length)


def project_units(weight: torch.Tensor, axis: int, groups: int, radius: float) -> None:
    """Scale every unit of `weight` into the ball of this radius, in place."""
    if weight.ndim < 2:
        return
    # Dimensions are split, and none is joined with another: that would copy some layouts.
    parts = weight.unflatten(0, (groups, weight.shape[0] // groups))
    over = tuple(range(2, parts.ndim)) if axis == 0 else (1, *range(3, parts.ndim))
    norms = torch.linalg.vector_norm(parts, dim=over, keepdim=True, dtype=torch.float64)
    factor = clip_factor(norms, radius)
    factor[~torch.isfinite(norms)] = 1.0
    parts.mul_(factor.to(weight.dtype))
