"""KL-sparsity: every unit is to be active a share ρ of the time.

    ρ̂_j = (1/N) Σₙ s(a_nj)                                      the mean activation of unit j
    P = β Σ_j [ρ log(ρ/ρ̂_j) + (1 − ρ) log((1 − ρ)/(1 − ρ̂_j))]    0 where every ρ̂_j = ρ

with β the `strength`, N the samples of the batch, and s what brings an activation into [0, 1]:

    Sigmoid   s(a) = a                  s′ = 1
    Tanh      s(a) = (1 + a)/2          s′ = 1/2
    ReLU      s(a) = a/(1 + a)          s′ = 1/(1 + a)²

A ReLU has no upper end, so that its mean is not a share; s gives it one, and unlike min(a, 1) does
not let go of a unit once a > 1. A unit of a convolution is a channel, seen at N = B·H·W places.

In a loop that knows nothing of it, its gradient is added to the one that flows back through the
activation,

    ∂L/∂a_nj ← ∂L/∂a_nj + (β/N)·(−ρ/ρ̂_j + (1 − ρ)/(1 − ρ̂_j))·s′(a_nj)

so that it is there for any optimizer, with no change to the loss. A loop that asks for `penalty`
adds P to the loss instead, and nothing is added a second time; P's gradient is then scaled as the
loss is, by `torch.amp.GradScaler` or for accumulation, and Hessian-vector products see it. `value`
is P to look at.

ρ̂ is kept ε = 10⁻⁶ from 0 and 1. A unit that is out there is pulled back by the slope at ε.

Ng, Sparse autoencoder (lecture notes, 2011); Srivastava et al., JMLR 15 (2014), table 9.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from torch import nn

from thalweg.core.checks import check_number, describe
from thalweg.core.errors import InputError, suggest
from thalweg.nets.regularizers.regularizer import Regularizer

EPSILON = 1e-6


class Squash(NamedTuple):
    """What brings activations into [0, 1]."""

    value: Callable[[torch.Tensor], torch.Tensor]  # s
    slope: Callable[[torch.Tensor], torch.Tensor | float]  # s′


@dataclass
class Use:
    """What becomes of one batch's penalty."""

    is_in_loss: bool = False  # whether `penalty` was asked for


@dataclass
class Batch:
    """What one forward pass leaves behind."""

    divergences: list[torch.Tensor] = field(default_factory=list)  # one an activation, β left out
    use: Use = field(default_factory=Use)


SQUASHES: dict[type[nn.Module], Squash] = {
    nn.Sigmoid: Squash(lambda a: a, lambda a: 1.0),
    nn.Tanh: Squash(lambda a: (1 + a) / 2, lambda a: 0.5),
    nn.ReLU: Squash(lambda a: a / (1 + a), lambda a: (1 + a) ** -2),
}


class KLSparsity(Regularizer):
    """Holds the mean activation of each unit at `target`, a number in (0, 1).

    `modules` are the activations to hold, by name or themselves: all Sigmoid, Tanh and ReLU of the
    model for None.
    """

    def __init__(
        self,
        target: float = 0.05,
        strength: float = 1e-3,
        schedule: Any = "constant",
        *,
        modules: Iterable[str | nn.Module] | None = None,
    ) -> None:
        super().__init__(strength, schedule)
        self.target = check_number("target", target, above=0.0, below=1.0)
        self.modules = None if modules is None else list(modules)
        self.activations: dict[str, torch.Tensor] = {}  # ρ̂ by module, of the last training batch
        self._progress = 0.0
        self._batch = Batch()
        self._handles: list[Any] = []

    def attach(self, model: nn.Module) -> None:
        """Listen to the activations of `model`, and to no other's."""
        self.detach()
        listeners = {
            module: self._listener(name, module) for name, module in self._chosen(model).items()
        }

        # Not a method: a copy of the model would copy its owner, with the graph of the last batch.
        def begin(model: nn.Module, inputs: Any) -> None:
            self._batch = Batch()

        self._handles = [model.register_forward_pre_hook(begin)]
        for module, listener in listeners.items():
            self._handles.append(module.register_forward_hook(listener))

    def detach(self) -> None:
        """Listen no more."""
        for handle in self._handles:
            handle.remove()
        self._handles = []

    @property
    def value(self) -> torch.Tensor | float:
        """P of the last training batch, without a gradient."""
        return self.strength_at(self._progress) * sum(d.detach() for d in self._batch.divergences)

    def penalty(self, model: nn.Module, progress: float) -> torch.Tensor | float:
        """P of the last training batch, which from now on carries the gradient."""
        self._progress = progress
        self._batch.use.is_in_loss = True
        strength = self.strength_at(progress)
        return strength * sum(self._batch.divergences) if strength else 0.0

    def after_step(self, model: nn.Module, progress: float, lr: float) -> None:
        """Remember how far training is."""
        self._progress = progress

    def _listener(self, name: str, module: nn.Module) -> Callable[..., None]:
        squash = _squash_of(name, module)

        def listen(module: nn.Module, inputs: Any, a: torch.Tensor) -> None:
            if not (module.training and a.requires_grad):
                return
            if a.ndim < 2:
                raise InputError(
                    f"activations must be [samples, units, …], got shape {tuple(a.shape)} from "
                    f"{name!r}: leave it out of modules"
                )
            wide = a.to(torch.promote_types(a.dtype, torch.float32))
            places = tuple(axis for axis in range(a.ndim) if axis != 1)
            mean = squash.value(wide).mean(places, keepdim=True)
            # The value is that of the clamp, the slope that of the mean: a clamp would have none.
            mean = mean + (mean.clamp(EPSILON, 1 - EPSILON) - mean).detach()
            self._batch.divergences.append(divergence(self.target, mean).sum())
            # The graph keeps the hook: were it to keep part of the graph, here `a` or the batch's
            # divergences, neither would ever be let go.
            use, fixed, rho_hat = self._batch.use, wide.detach(), mean.detach()
            count = a.numel() // a.shape[1]
            self.activations[name] = rho_hat.flatten()

            def pull(grad: torch.Tensor) -> torch.Tensor | None:
                if use.is_in_loss:
                    return None
                rho = self.target
                slope = ((1 - rho) / (1 - rho_hat) - rho / rho_hat) / count
                strength = self.strength_at(self._progress)
                return grad + (strength * slope * squash.slope(fixed)).to(grad.dtype)

            a.register_hook(pull)

        return listen

    def _chosen(self, model: nn.Module) -> dict[str, nn.Module]:
        known: dict[str, nn.Module] = dict(model.named_modules())
        if self.modules is None:
            kinds = tuple(SQUASHES)
            found = {name: each for name, each in known.items() if isinstance(each, kinds)}
            if not found:
                raise InputError(
                    f"model must have Sigmoid, Tanh or ReLU modules to hold, got "
                    f"{type(model).__name__} with none: functions such as torch.relu cannot be "
                    "listened to, modules can"
                )
            return found
        chosen: dict[str, nn.Module] = {}
        names = {id(module): name for name, module in known.items()}
        for given in self.modules:
            name = given if isinstance(given, str) else names.get(id(given))
            if name is None or name not in known:
                raise InputError(
                    f"modules must be part of the model, got {describe(given)}: "
                    f"{suggest(str(given), [name for name in known if name])}"
                )
            chosen[name] = known[name]
        return chosen


def divergence(rho: float, mean: torch.Tensor) -> torch.Tensor:
    """ρ log(ρ/ρ̂) + (1 − ρ) log((1 − ρ)/(1 − ρ̂)), for each ρ̂ in `mean`."""
    return rho * torch.log(rho / mean) + (1 - rho) * torch.log((1 - rho) / (1 - mean))


def _squash_of(name: str, module: nn.Module) -> Squash:
    for kind, squash in SQUASHES.items():
        if isinstance(module, kind):
            return squash
    raise InputError(
        f"modules must be Sigmoid, Tanh or ReLU, whose range is known, got "
        f"{type(module).__name__} at {name!r}"
    )
