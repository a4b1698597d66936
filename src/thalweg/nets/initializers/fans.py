"""Fans: of how many terms a unit's output is the sum, and into how many sums an input goes.

    o = Σᵢ wᵢxᵢ  over n_in terms:   E[x] = 0, V[x] = γ², V[w] = σ²   give   V[o] = n_in σ² γ²

and backwards, a gradient with respect to an input is a sum over n_out terms. Counted, for a
convolution away from its borders (K = ∏k kernel elements, S = ∏s strides, g groups):

    layer             weight              n_in           n_out
    Linear            [out, in]           in             out
    ConvNd            [out, in/g, k…]     (in/g)·K       (out/g)·K/S
    ConvTransposeNd   [in, out/g, k…]     (in/g)·K/S     (out/g)·K
    Embedding         [rows, dim]         1              1
    any other         [out, in, …]        in·…           out·…

With strides, a position takes part in K/S sums on average. An embedding sums nothing: each output
is one weight. `torch.nn.init` agrees for Linear, and for plain convolutions of one group and
stride 1; it counts all `out` channels whatever the groups, and takes the fans of a transposed
convolution the wrong way round.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from torch import Tensor, nn
from torch.nn.modules.conv import _ConvNd, _ConvTransposeNd

from thalweg.core.checks import describe
from thalweg.core.errors import InputError


class Fans(NamedTuple):
    """Terms in a unit's sum, and sums that an input goes into."""

    n_in: float
    n_out: float


def fans(module: nn.Module, weight: Tensor | None = None) -> Fans:
    """The fans of a layer, by its `weight` or by another of its weights."""
    weight = getattr(module, "weight", None) if weight is None else weight
    if not isinstance(weight, Tensor) or weight.ndim < 2:
        raise InputError(
            "module must have a weight of two axes or more, got "
            f"{describe(module)}: fans belong to layers that sum their inputs"
        )
    if isinstance(module, nn.Embedding | nn.EmbeddingBag):
        return Fans(1.0, 1.0)
    first, second = weight.shape[:2]
    kernel = math.prod(weight.shape[2:])
    if isinstance(module, _ConvTransposeNd):
        strides = math.prod(module.stride)
        return Fans(first / module.groups * kernel / strides, float(second * kernel))
    if isinstance(module, _ConvNd):
        strides = math.prod(module.stride)
        return Fans(float(second * kernel), first / module.groups * kernel / strides)
    return Fans(float(second * kernel), float(first * kernel))
