"""Both ends of the Hessian's spectrum and its trace, of the loss that a closure returns.

    ∇²f(w)·v = ∇(∇f(w)ᵀv)       double backward; the graph of ∇f is made once a look
    λ_min, λ_max                12 steps of Lanczos with three vectors (`thalweg.curvature.extent`)
    tr ∇²f                      2 vectors of random signs (`thalweg.curvature.trace`)
    λ_max of D^(−½)∇²f D^(−½)   12 steps more, where the optimizer is adaptive (`preconditioner`)

12 steps find the outermost eigenvalues of networks, which stand apart from the rest, to about
a per cent; what is proved about the ends is in `hessian_error`.

The closure computes the loss of a batch with the model, and leaves `backward` alone. It runs in the
mode the model is in. What it changes is put back: buffers, PyTorch's generators, gradients. Fused
attention has no second derivative, so that the plain form is used meanwhile.

Cost: about 14 or 26 products, each some three gradients; memory: the graph of a gradient.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from thalweg.core.checks import describe
from thalweg.core.errors import InputError
from thalweg.curvature.extent import spectrum_extent
from thalweg.curvature.trace import trace
from thalweg.doctor.nets.instruments.origin import nothing_left
from thalweg.doctor.nets.instruments.preconditioner import preconditioner
from thalweg.nets.flat import Flat, trainable

STEPS = 12
SIGNS = 2
Product = Callable[[np.ndarray], np.ndarray]  # v to ∇²f·v, float[dim]


class Curvature(NamedTuple):
    """What is known of the Hessian at one point."""

    largest: float
    smallest: float
    error: float  # the true ends lie at most this far beyond; ∞ where nothing is known
    trace: float
    trace_error: float  # standard error
    preconditioned: float  # largest, as an adaptive optimizer sees it; NaN for others


UNKNOWN = Curvature(*[math.nan] * 6)


def curvature(
    model: nn.Module,
    closure: Callable[[], Any],
    rng: np.random.Generator,
    optimizer: torch.optim.Optimizer | None = None,
) -> Curvature:
    """Curvature of the loss that `closure` returns, over the trained parameters of `model`.

    NaN where loss or products are not finite. Raises RuntimeError where the network has no second
    derivative.
    """
    flat = trainable(model)
    with nothing_left(model), gradients_aside(flat), torch.enable_grad():
        with sdpa_kernel(SDPBackend.MATH):
            loss = _check(closure())
        if not math.isfinite(loss.item()):
            return UNKNOWN
        slope = _slope(loss, flat)
        if not slope.requires_grad:  # linear in the weights: no curvature at all
            return Curvature(0.0, 0.0, 0.0, 0.0, 0.0, math.nan)
        scales = None if optimizer is None else preconditioner(optimizer, flat.tensors)
        try:
            return _measure(_product(slope, flat), flat, rng, scales)
        except InputError:  # a product that is not finite
            return UNKNOWN


def _measure(
    product: Product, flat: Flat, rng: np.random.Generator, scales: list[torch.Tensor] | None
) -> Curvature:
    extent = spectrum_extent(product, flat.dim, rng=rng, tol=1e-3, max_steps=STEPS)
    total = trace(product, flat.dim, probes=SIGNS, rng=rng)
    preconditioned = math.nan
    if scales is not None:
        d = flat.join(scales).double().cpu().numpy()
        seen = spectrum_extent(
            lambda v: d * product(d * v), flat.dim, rng=rng, tol=1e-3, max_steps=STEPS
        )
        preconditioned = seen.largest
    ends = extent.largest, extent.smallest, extent.error
    return Curvature(*ends, total.value, total.standard_error, preconditioned)


def _check(loss: Any) -> torch.Tensor:
    if not isinstance(loss, torch.Tensor) or loss.numel() != 1:
        raise InputError(
            f"closure must return the loss of a batch, one number as a tensor, got "
            f"{describe(loss)}: end it with `return loss`"
        )
    if not loss.requires_grad:
        raise InputError(
            "closure must return a loss that depends on the parameters, got one without a "
            "gradient: compute it from the model's output, outside torch.no_grad()"
        )
    return loss


def _slope(loss: torch.Tensor, flat: Flat) -> torch.Tensor:
    """∇f as one vector that can be differentiated once more."""
    try:
        parts = torch.autograd.grad(
            loss, flat.tensors, create_graph=True, allow_unused=True, materialize_grads=True
        )
    except RuntimeError as problem:
        if "second time" not in str(problem):
            raise
        raise InputError(
            "closure must return the loss and leave backward() alone, got a loss that was "
            "differentiated already: second derivatives need its graph"
        ) from None
    return flat.join(parts)


def _product(slope: torch.Tensor, flat: Flat) -> Product:
    wide = torch.promote_types(flat.dtype, torch.float32)  # NumPy has no bfloat16

    def product(v: np.ndarray) -> np.ndarray:
        along = torch.from_numpy(np.ascontiguousarray(v)).to(flat.device, flat.dtype)
        parts = torch.autograd.grad(
            slope, flat.tensors, along, retain_graph=True, allow_unused=True, materialize_grads=True
        )
        return flat.join(parts).to(wide).cpu().numpy()

    return product


@contextmanager
def gradients_aside(flat: Flat) -> Iterator[None]:
    """Whatever the closure leaves in `.grad` is replaced by what was there before."""
    kept = [p.grad for p in flat.tensors]
    for p in flat.tensors:
        p.grad = None
    try:
        yield
    finally:
        for p, gradient in zip(flat.tensors, kept, strict=True):
            p.grad = gradient
