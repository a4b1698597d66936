"""Leave a saddle: say what kind of point a training stands at, and step down from it if it can.

Where the gradient is nearly zero, gradient descent takes no step, whatever lies beside it. Both
ends of the Hessian's spectrum say what the point is (`thalweg.certificates.critical_point`). At a
saddle the eigenvector v of λ_min < 0, with its sign, is a way down:

    f(w + αv) ≈ f(w) + α∇f(w)ᵀv + ½λ_min α²        ∇f(w)ᵀv ≤ 0

The step α is doubled while the loss falls, and the weights go to the lowest point that was seen:

    α = α₀, 2α₀, 4α₀, …        w ← w + αv        α₀ = 10⁻⁴ max(1, ‖w‖∞)

The same is done at a maximum, and at a degenerate point along whatever direction f was measured to
fall. At all others the weights stay bit for bit.

The loss is that of `closure`: it should be of many samples, as the gradient of a small batch is
noise. It is computed in the mode that the model is in, and random numbers that it draws are drawn
again at every look. Nothing but the parameters changes: buffers, gradients and PyTorch's generators
are put back. Optimizers are not told; their momentum is that from before.

Cost: at most `max_products` Hessian-vector products, each some three gradients, as many vectors of
float64, and some twenty losses. One process: under DDP each would go its own way.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from thalweg.certificates.critical_point import CriticalPoint, classify
from thalweg.core.checks import check_callable
from thalweg.core.errors import InputError
from thalweg.doctor.nets.instruments.curvature import gradients_aside
from thalweg.doctor.nets.instruments.origin import nothing_left
from thalweg.nets.flat import trainable
from thalweg.nets.model import check_model
from thalweg.nets.optimizers.closure import Closure
from thalweg.nets.training import world

FIRST = 1e-4  # α₀ for weights of size 1
DOUBLINGS = 40  # of a loss that falls for ever


class Escape(NamedTuple):
    """What a point was, and where it was left to."""

    kind: str  # "saddle", "minimum", "maximum", "degenerate" or "not stationary"
    before: float  # loss at the point
    after: float  # loss where the weights are now
    smallest: float  # λ_min, or an upper bound on it
    largest: float  # λ_max, or a lower bound on it
    error: float  # eigenvalues within it count as zero
    gradient_norm: float  # ‖∇f‖∞ at the point
    step: float  # α: how far the weights moved; 0 where they are as they were
    explanation: str  # of the kind

    def __str__(self) -> str:
        where = (
            f"{self.kind} (λ_min = {self.smallest:.3g}, λ_max = {self.largest:.3g}, error ≤ "
            f"{self.error:.2g}, ‖∇f‖∞ = {self.gradient_norm:.2g}): {self.explanation}"
        )
        if self.step == 0.0:
            return f"{where}. The weights are as they were, at a loss of {self.before:.6g}."
        return (
            f"{where}. The loss fell from {self.before:.6g} to {self.after:.6g} over a step of "
            f"{self.step:.3g}."
        )


def escape(
    model: nn.Module,
    closure: Callable[[], torch.Tensor],
    *,
    tol: float = 1e-2,
    max_products: int = 100,
    seed: int = 0,
) -> Escape:
    """Classify the point where `model` stands, and leave it if it is a saddle, in place.

    Parameters
    ----------
    closure
        Returns the loss, with its graph, and leaves `backward` alone. The same loss at every call.
    tol
        The gradient counts as zero up to `tol`·max(1, ‖∇²f‖).
    max_products
        Hessian-vector products; more of them make `error` smaller.
    seed
        Of the start of Lanczos.

    >>> import torch, thalweg as tw
    >>> model = torch.nn.Sequential(torch.nn.Linear(1, 1, bias=False), torch.nn.Linear(1, 1))
    >>> _ = [torch.nn.init.zeros_(p) for p in model.parameters()]
    >>> x = torch.tensor([[-1.0], [1.0]])
    >>> left = tw.doctor.escape(model, lambda: (model(x) - x).square().mean())
    >>> left.kind, left.before, left.after < 0.2
    ('saddle', 1.0, True)
    """
    check_model(model)
    check_callable("closure", closure, signature="without arguments that returns the loss")
    if world.size() > 1:
        raise InputError(
            f"escape must run in one process, got {world.size()}: each would step along a loss of "
            "its own; let one of them do it and send its weights to the others"
        )
    flat = trainable(model)
    group = {"params": list(flat.tensors), "lr": 1.0, "weight_decay": 0.0}
    with nothing_left(model), gradients_aside(flat), sdpa_kernel(SDPBackend.MATH):
        f = Closure([group], closure, with_graph=True, fan_in=0.0)
        w = f.gather()
        goal = w
        try:
            before = _loss(f, w)
            point = _classified(f, w, tol, max_products, seed)
            step, after = 0.0, before
            if point.escape is not None:
                direction = point.escape.astype(w.dtype)
                step, after = _descend(f, w, direction, before)
                goal = w + w.dtype.type(step) * direction
        finally:
            f.scatter(goal)
    return Escape(
        point.kind, before, after, point.smallest, point.largest, point.error,
        point.gradient_norm, step, point.explanation,
    )  # fmt: skip


def _loss(f: Closure, w: np.ndarray) -> float:
    """f(w), or what is wrong with it."""
    value, again = f.value_and_gradient(w)[0], f.value(w)
    if not math.isfinite(value):
        raise InputError(
            f"closure must return a finite loss, got {value}: go back to weights from before"
        )
    # With and without a graph PyTorch may take other kernels, which round otherwise.
    if abs(value - again) > 1e-4 * abs(value):
        raise InputError(
            f"closure must return the same loss at the same weights, got {value:.6g} and then "
            f"{again:.6g}: let it use one batch, chosen before"
        )
    return value


def _classified(
    f: Closure, w: np.ndarray, tol: float, max_products: int, seed: int
) -> CriticalPoint:
    try:
        return classify(f, w, tol=tol, max_products=max_products, seed=seed)
    except RuntimeError as problem:
        line = (str(problem).splitlines() or [""])[0]
        raise InputError(
            "closure must return a loss that can be differentiated twice, got one that cannot "
            f"({line}): call the model from before torch.compile, and no layer whose backward "
            "pass has no derivative"
        ) from problem


def _descend(f: Closure, w: np.ndarray, direction: np.ndarray, value: float) -> tuple[float, float]:
    """The step to the lowest point seen on the way down, and the loss there."""
    eps = float(np.finfo(w.dtype).eps)
    best, lowest = 0.0, value
    first = FIRST * max(1.0, float(np.max(np.abs(w))))
    for step in first * 2.0 ** np.arange(DOUBLINGS):
        now = f.value(w + w.dtype.type(step) * direction)
        # The first steps are so short that the loss changes by its rounding alone.
        if not now <= lowest + 100.0 * eps * abs(value):
            break
        if now < lowest:
            best, lowest = float(step), now
    return best, lowest
