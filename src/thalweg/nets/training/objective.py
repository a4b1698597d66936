"""A network as an objective: f(w) is its loss on all data, w all its weights in one vector.

    f(w) = Σⱼ (|Bⱼ|/n)·loss on Bⱼ          over batches, so that memory stays bounded
    ∇f(w)      one backward pass a batch
    ∇²f(w)·v = ∇(∇f(w)ᵀv)                  double backward, twice as fast as forward over reverse

`tw.minimize`, `tw.classify` and spectra take it as any other objective. The network runs in one
mode throughout: in eval mode, the default, dropout is off and batch norms use their averages, so
that f is a function. In training mode every look draws the same dropout masks, and batch norms
normalise by the batch, whose composition is fixed.

The model itself is left alone: the passes run on the entries of w (`torch.func.functional_call`).
`load(w)` writes w into the model, in place.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.func import functional_call

from thalweg.core.checks import check_choice, check_count, check_vector
from thalweg.nets.flat import Flat
from thalweg.nets.training.batches import Batch, Batches, batches_of
from thalweg.nets.training.evaluate import modes_kept
from thalweg.nets.training.inputs import Inputs
from thalweg.nets.training.losses import Loss, loss_of

BATCH = 1024  # rows


def objective(
    model: nn.Module,
    data: Any,
    loss: Any = "cross-entropy",
    *,
    batch_size: int | None = BATCH,
    mode: str = "eval",
    seed: int = 0,
) -> NetworkObjective:
    """The loss of `model` on `data` as a function of its weights.

    >>> import torch, thalweg as tw
    >>> x = torch.linspace(-1, 1, 20, dtype=torch.float64)[:, None]
    >>> f = tw.nets.objective(torch.nn.Linear(1, 1).double(), (x, 3 * x + 1), "squared")
    >>> tw.minimize(f, "lbfgs", tol=1e-9).w.round(6).tolist()
    [3.0, 1.0]
    """
    check_choice("mode", mode, ("eval", "train"))
    if batch_size is not None:
        batch_size = check_count("batch_size", batch_size)
    return NetworkObjective(model, data, loss_of(loss), batch_size, mode == "train", seed)


class NetworkObjective:
    """f, ∇f and ∇²f·v of a network; plays `thalweg.core.objective.ObjectiveProtocol`."""

    def __init__(
        self,
        model: nn.Module,
        data: Any,
        loss: Loss,
        batch_size: int | None,
        in_training: bool,
        seed: int,
    ) -> None:
        self.model, self.loss = model, loss
        self._names = [name for name, p in model.named_parameters() if p.requires_grad]
        self._flat = Flat(p for p in model.parameters() if p.requires_grad)
        self._inputs = Inputs(model)
        self._batches = batches_of(data, batch_size, shuffle=False)
        self._in_training, self._seed = in_training, seed
        self.dim = self._flat.dim
        self.name = f"{loss.name} of {type(model).__name__}"
        self._check()

    @property
    def start(self) -> np.ndarray:
        """The weights that the model has now."""
        return self._vector(self._flat.gather())

    def load(self, w: np.ndarray) -> None:
        """Write `w` into the model, where its parameters are."""
        self._flat.scatter(self._tensor(check_vector("w", w, dim=self.dim)))

    def value(self, w: np.ndarray) -> Any:
        """f(w): a float at one point, float64[...] at points float[..., dim]."""
        w = np.asarray(w)
        if w.ndim > 1:
            points = w.reshape(-1, w.shape[-1])
            return np.array([self.value(point) for point in points]).reshape(w.shape[:-1])
        with torch.no_grad():
            return self._sum(lambda loss, at: (loss.item(), None), w)[0]

    def gradient(self, w: np.ndarray) -> np.ndarray:
        """∇f(w), float[dim], of the dtype of `w`."""
        return self.value_and_gradient(w)[1]

    def value_and_gradient(self, w: np.ndarray) -> tuple[float, np.ndarray]:
        """f(w) and ∇f(w)."""

        def both(loss: torch.Tensor, at: torch.Tensor) -> tuple[float, torch.Tensor]:
            (slope,) = torch.autograd.grad(loss, at)
            return loss.item(), slope

        value, gradient = self._sum(both, w)
        return value, self._vector(gradient).astype(np.asarray(w).dtype, copy=False)

    def hessian_vector(self, w: np.ndarray, v: np.ndarray) -> np.ndarray:
        """∇²f(w)·v, float[dim], of the dtype of `w`."""
        direction = self._tensor(v)

        def product(loss: torch.Tensor, at: torch.Tensor) -> tuple[float, torch.Tensor]:
            (slope,) = torch.autograd.grad(loss, at, create_graph=True)
            if not slope.requires_grad:  # linear in w: no curvature at all
                return loss.item(), torch.zeros_like(at)
            (bent,) = torch.autograd.grad(slope, at, direction, materialize_grads=True)
            return loss.item(), bent

        return self._vector(self._sum(product, w)[1]).astype(np.asarray(w).dtype, copy=False)

    def _sum(self, look: Any, w: np.ndarray) -> tuple[float, Any]:
        """Σ share·look(loss on a batch, w) over all batches."""
        at = self._tensor(w)
        value, total, rows = 0.0, None, 0
        with self._fixed():
            for batch in self._batches.epoch():
                at = at.detach().requires_grad_(torch.is_grad_enabled())
                here, part = look(self._loss_on(batch, at), at)
                value += len(batch.x) * here
                rows += len(batch.x)
                if part is not None:
                    part = part.detach() * len(batch.x)
                    total = part if total is None else total.add_(part)
        return value / rows, None if total is None else total.div_(rows)

    def _loss_on(self, batch: Batch, at: torch.Tensor) -> torch.Tensor:
        return self.loss(self._output(batch, at), self._inputs.labels(batch.y, self.loss))

    def _output(self, batch: Batch, at: torch.Tensor) -> torch.Tensor:
        parts = dict(zip(self._names, self._flat.split(at), strict=True))
        if self._in_training:  # batch norms write their averages: let them write into copies
            parts |= {name: b.clone() for name, b in self.model.named_buffers()}
        return functional_call(self.model, parts, (self._inputs(batch.x),))

    @contextmanager
    def _fixed(self) -> Iterator[None]:
        """One mode and one seed for every look; both are put back."""
        with modes_kept(self.model), torch.random.fork_rng(devices=[]):
            self.model.train(self._in_training)
            if self._in_training:
                torch.default_generator.manual_seed(self._seed)
            yield

    def _check(self) -> None:
        """Labels against the outputs of a first batch."""
        batches = self._batches
        with torch.no_grad(), self._fixed():
            first = next(iter(batches.epoch()))
            output = self._output(first, self._flat.gather())
        if isinstance(batches, Batches):
            batches.y = self._inputs.labels(batches.y, self.loss)
        y = batches.y if isinstance(batches, Batches) else self._inputs.labels(first.y, self.loss)
        self.loss.check(output, y, batches.name)

    def _tensor(self, w: np.ndarray) -> torch.Tensor:
        return torch.tensor(np.asarray(w), dtype=self._flat.dtype, device=self._flat.device)

    def _vector(self, tensor: torch.Tensor) -> np.ndarray:
        return tensor.detach().cpu().numpy()

    def __repr__(self) -> str:
        return f"NetworkObjective({self.name}, dim={self.dim})"
