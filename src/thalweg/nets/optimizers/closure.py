"""A closure as an objective: what a method of `thalweg.methods` sees of a network's parameters.

    u = w/(√η·k^0.2)    the variables: all parameters, one after another, each in its metric
    f(u) = loss + Σ (δ/2)‖w‖²

k is the number of inputs of a unit, 1 for a bias, whose input is 1: the inputs of a unit with many
are smaller than that, and so is the curvature along its weights. On the networks of the tests,
k^0.2 saves L-BFGS a tenth to a third of its gradients; k^0.5 is too much. A group's learning rate η
is its metric too: a method that takes no learning rate moves a group of four times the rate as if
its variables were half as large; equal rates change nothing. δ is the group's `weight_decay`. With
η = 1 and `fan_in` = 0 the variables are the weights themselves.

Within one step of an optimizer the closure must be one function: what random numbers it draws
(dropout) are drawn again at every look.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from thalweg.core.errors import InputError

FAN_IN = 0.2  # power of a unit's number of inputs in the metric


class Closure:
    """The loss that `closure` computes, as a function of all parameters of some groups."""

    name = "the closure"

    def __init__(
        self,
        groups: Sequence[dict[str, Any]],
        closure: Callable[[], Any],
        *,
        with_graph: bool,
        damping: float = 0.0,
        fan_in: float = FAN_IN,
    ) -> None:
        self.parameters = [p for group in groups for p in group["params"] if p.requires_grad]
        rated = [
            (float(group["lr"]), float(group["weight_decay"]))
            for group in groups
            for p in group["params"]
            if p.requires_grad
        ]
        self.metric = [
            math.sqrt(lr) * (p[0].numel() ** fan_in if p.ndim > 1 and p.numel() else 1.0)
            for p, (lr, _) in zip(self.parameters, rated, strict=True)
        ]
        self.decays = [decay for _, decay in rated]
        self.sizes = [p.numel() for p in self.parameters]
        self.dim = sum(self.sizes)
        self.dtype = np.result_type(*(_numpy_dtype(p) for p in self.parameters))
        self._closure, self._with_graph, self._damping = closure, with_graph, damping
        self._drawn = torch.get_rng_state()
        self._graph: tuple[bytes, list[torch.Tensor]] | None = None  # the last point and gradients

    def gather(self) -> np.ndarray:
        """u at the present weights, float[dim]."""
        return self._vector([p.detach() / s for p, s in self._scaled()])

    @torch.no_grad()
    def scatter(self, u: np.ndarray) -> None:
        """Set the weights, in place: they stay where they are in memory."""
        self._graph = None  # it was made of the weights before
        for (p, s), part in zip(self._scaled(), self._parts(u), strict=True):
            p.copy_(s * part.to(p))

    def value(self, u: np.ndarray) -> float:
        """f(u)."""
        if not self._with_graph:
            return self.value_and_gradient(u)[0]
        self.scatter(u)
        with torch.no_grad():
            return self._loss().item() + self.decay()

    def gradient(self, u: np.ndarray) -> np.ndarray:
        """∇f(u), float[dim]."""
        return self.value_and_gradient(u)[1]

    def value_and_gradient(self, u: np.ndarray) -> tuple[float, np.ndarray]:
        """f(u) and ∇f(u)."""
        self.scatter(u)
        with torch.enable_grad():
            loss = self._loss()
            gradients = self._with_graph_kept(loss, u) if self._with_graph else self._left_behind()
        total = loss.item() + self.decay()
        with torch.no_grad():
            own = [
                s * (g.detach() + decay * p)
                for (p, s), g, decay in zip(self._scaled(), gradients, self.decays, strict=True)
            ]
        return total, self._vector(own)

    def hessian_vector(self, u: np.ndarray, v: np.ndarray) -> np.ndarray:
        """(∇²f(u) + λI)·v by double backward, λ the damping, float[dim]."""
        if self._graph is None or self._graph[0] != u.tobytes():
            self.value_and_gradient(u)
        assert self._graph is not None
        gradients = self._graph[1]
        along = [
            s * part.to(p) for (p, s), part in zip(self._scaled(), self._parts(v), strict=True)
        ]
        given = [(g, a) for g, a in zip(gradients, along, strict=True) if g.requires_grad]
        products: Sequence[torch.Tensor | None] = [None] * len(self.parameters)
        if given:
            products = torch.autograd.grad(
                [g for g, _ in given], self.parameters, [a for _, a in given],
                retain_graph=True, allow_unused=True,
            )  # fmt: skip
        with torch.no_grad():
            own = [
                s * (decay * a + (0.0 if product is None else product))
                for (_, s), a, product, decay in zip(
                    self._scaled(), along, products, self.decays, strict=True
                )
            ]
        product = self._vector(own)
        product += self._damping * v
        return product

    def _loss(self) -> torch.Tensor:
        torch.set_rng_state(self._drawn)
        loss = self._closure()
        if not isinstance(loss, torch.Tensor) or loss.numel() != 1:
            raise InputError(
                f"closure must return the loss, one number as a tensor, got {type(loss).__name__}: "
                "end it with `return loss`"
            )
        return loss

    def _left_behind(self) -> list[torch.Tensor]:
        """The gradients that the closure's backward() left; zero where it left none."""
        return [torch.zeros_like(p) if p.grad is None else p.grad for p in self.parameters]

    def _with_graph_kept(self, loss: torch.Tensor, u: np.ndarray) -> list[torch.Tensor]:
        """The gradients, with what a second derivative needs."""
        if not loss.requires_grad:
            raise InputError(
                "closure must return a loss that depends on the parameters, got one without a "
                "gradient: compute it from the model's output, outside torch.no_grad()"
            )
        try:
            found = torch.autograd.grad(loss, self.parameters, create_graph=True, allow_unused=True)
        except RuntimeError as error:
            raise InputError(
                "closure must return the loss and leave backward() alone, as second derivatives "
                f"are taken too: {error}".splitlines()[0]
            ) from None
        gradients = [
            torch.zeros_like(p) if g is None else g
            for p, g in zip(self.parameters, found, strict=True)
        ]
        self._graph = (u.tobytes(), gradients)
        return gradients

    def decay(self) -> float:
        """Σ (δ/2)‖w‖² at the present weights."""
        return sum(
            0.5 * decay * float(torch.sum(p.detach().double() ** 2))
            for p, decay in zip(self.parameters, self.decays, strict=True)
            if decay
        )

    def _scaled(self) -> list[tuple[torch.Tensor, float]]:
        return list(zip(self.parameters, self.metric, strict=True))

    def _parts(self, u: np.ndarray) -> list[torch.Tensor]:
        """The pieces of a vector, shaped like the parameters."""
        pieces = torch.from_numpy(np.ascontiguousarray(u)).split(self.sizes)
        return [piece.view(p.shape) for piece, p in zip(pieces, self.parameters, strict=True)]

    def _vector(self, tensors: Sequence[torch.Tensor]) -> np.ndarray:
        flat = np.empty(self.dim, dtype=self.dtype)
        for part, tensor in zip(torch.from_numpy(flat).split(self.sizes), tensors, strict=True):
            part.copy_(tensor.reshape(-1))
        return flat


def _numpy_dtype(parameter: torch.Tensor) -> Any:
    return np.float64 if parameter.dtype == torch.float64 else np.float32
