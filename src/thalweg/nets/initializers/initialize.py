"""`initialize`: draw all weights of a network anew, and set its biases.

Every layer that has a weight of two axes or more is drawn by a scheme (`schemes`), with its own
fans (`fans`), and its bias set to a number: 0; 0.01 or 0.1, with which ReLU units fire at the
start; and for the last layer, where asked, the log-odds of the classes (`log_odds`). Norms become
the identity, γ = 1 and β = 0. Whatever else there is (slopes of a PReLU, tokens, biases of
modules without weights) is left as it was, and the record says so. A weight that two layers share
is drawn once; shared with an embedding, it has the fans of the layer.

The last layer is the one that was registered last: in a Sequential, the last in order.

Draws come from the generator alone, in the order of the record, on the generator's device: one seed
gives one set of weights on any device. Everything is checked before anything is written.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn.utils import parametrize

from thalweg.core.checks import check_choice, check_count, check_number, describe
from thalweg.core.errors import InputError
from thalweg.nets.initializers.fans import Fans, fans
from thalweg.nets.initializers.schemes import DISTRIBUTIONS, Scheme, scheme_of
from thalweg.nets.model import check_model
from thalweg.nets.optimizers.groups import NORMS

EMBEDDINGS = (nn.Embedding, nn.EmbeddingBag)
# Added to a seed: data drawn with the same seed would otherwise be the very numbers of the weights.
ASIDE = 1_000_003


@dataclass(frozen=True)
class Assigned:
    """What was done to one tensor."""

    name: str
    shape: tuple[int, ...]
    rule: str  # the scheme, or what else happened
    fans: Fans | None = None
    sigma: float | None = None  # standard deviation it was drawn with

    def __str__(self) -> str:
        if self.fans is None:
            return self.rule
        return (
            f"{self.rule}, n_in {self.fans.n_in:g}, n_out {self.fans.n_out:g}, σ {self.sigma:.3g}"
        )


@dataclass(frozen=True)
class Initialization:
    """What `initialize` did, tensor by tensor; prints as a table."""

    tensors: tuple[Assigned, ...]

    def __getitem__(self, name: str) -> Assigned:
        return {tensor.name: tensor for tensor in self.tensors}[name]

    def __str__(self) -> str:
        names = max(len(tensor.name) for tensor in self.tensors)
        shapes = max(len(str(list(tensor.shape))) for tensor in self.tensors)
        return "\n".join(
            f"{tensor.name:{names}}  {list(tensor.shape)!s:{shapes}}  {tensor}"
            for tensor in self.tensors
        )

    __repr__ = __str__


@torch.no_grad()
def initialize(
    model: nn.Module,
    scheme: str | Scheme = "he",
    bias: float = 0.0,
    *,
    distribution: str = "normal",
    last_bias: Any = None,
    seed: int | None = None,
    generator: torch.Generator | None = None,
) -> Initialization:
    """Draw the weights of `model` in place by `scheme`, and set its biases to `bias`.

    `last_bias`: a number, or one for every output, as `log_odds(labels)` gives them.
    `seed` (0 where nothing is given) or `generator`: where the draws come from.
    """
    check_model(model)
    chosen = scheme_of(scheme)
    check_choice("distribution", distribution, DISTRIBUTIONS)
    bias = check_number("bias", bias)
    generator = _generator(seed, generator)
    jobs = list(_jobs(model))
    last = _last_bias(jobs, last_bias)

    done = []
    for job in jobs:
        rule, n, sigma = "left as it was", None, None
        if job.kind == "weight":
            n = fans(job.module, job.tensor)
            rule, sigma = _rule(chosen, distribution), chosen.variance(n) ** 0.5
            _draw(job, chosen, n, distribution, generator)
        elif job.kind == "bias" and job.name in last:
            rule = "last_bias"
            job.tensor.copy_(last[job.name])
        elif job.kind == "bias":
            rule = f"{bias:g}"
            job.tensor.fill_(bias)
        elif job.kind == "norm":
            rule = "identity"
        done.append(Assigned(job.name, tuple(job.tensor.shape), rule, n, sigma))
    for module in model.modules():
        reset = getattr(module, "reset_parameters", None)
        if isinstance(module, NORMS) and callable(reset):
            reset()
    return Initialization(tuple(done))


@dataclass(frozen=True)
class _Job:
    """One tensor, and what is to become of it."""

    name: str
    kind: str  # weight, bias, norm or other
    module: Any
    tensor: torch.Tensor


def _jobs(model: nn.Module) -> Iterator[_Job]:
    """Every parameter once, in the order of its module."""
    seen: set[int] = set()
    found = False
    # Embeddings last: a weight that is shared with a layer is then that layer's.
    for path, module in sorted(model.named_modules(), key=lambda m: isinstance(m[1], EMBEDDINGS)):
        own = dict(module.named_parameters(recurse=False))
        has_weight = any(_is_weight(name, p) for name, p in own.items())
        for name, parameter in own.items():
            full = f"{path}.{name}".lstrip(".")
            _check_ready(full, module, parameter)
            if id(parameter) in seen:
                continue
            seen.add(id(parameter))
            if isinstance(module, NORMS):
                kind = "norm"
            elif _is_weight(name, parameter):
                kind, found = "weight", True
            else:
                is_bias = has_weight and parameter.ndim == 1 and "bias" in name
                kind = "bias" if is_bias else "other"
            yield _Job(full, kind, module, parameter)
    if not found:
        raise InputError(
            "model must have a layer with a weight of two axes or more, got "
            f"{describe(model)}: there is nothing to draw"
        )


def _is_weight(name: str, parameter: torch.Tensor) -> bool:
    return "weight" in name and parameter.ndim >= 2 and parameter.numel() > 0


def _check_ready(name: str, module: nn.Module, parameter: torch.Tensor) -> None:
    if isinstance(module, parametrize.ParametrizationList) or name.endswith("weight_g"):
        raise InputError(
            f"weights must be parameters themselves, got {name!r} of a parametrization: "
            "initialize first, then add weight_norm and the like"
        )
    if not parameter.is_floating_point():
        raise InputError(f"weights must be real floating-point, got {parameter.dtype} in {name!r}")


def _draw(
    job: _Job, scheme: Scheme, n: Fans, distribution: str, generator: torch.Generator
) -> None:
    weight = job.tensor
    # Half precisions are drawn in single: not every generator knows them.
    dtype = weight.dtype if weight.dtype in (torch.float32, torch.float64) else torch.float32
    weight.copy_(scheme.draw(weight.shape, n, distribution, generator, dtype))
    if isinstance(job.module, EMBEDDINGS) and job.module.padding_idx is not None:
        weight[job.module.padding_idx] = 0.0


def _rule(scheme: Scheme, distribution: str) -> str:
    if scheme.name in ("zeros", "constant"):
        return "zeros" if scheme.name == "zeros" else f"constant {scheme.number:g}"
    return distribution if scheme.name == "normal" else f"{scheme.name} {distribution}"


def _last_bias(jobs: list[_Job], value: Any) -> dict[str, torch.Tensor]:
    """The bias of the last layer, by its name; nothing where none is asked for."""
    if value is None:
        return {}
    biased = [job for job in jobs if job.kind == "bias"]
    if not biased:
        raise InputError("last_bias needs a layer with a bias, got a model without: leave it out")
    name, size = biased[-1].name, biased[-1].tensor.numel()
    wanted = torch.as_tensor(value, dtype=torch.float64).detach().flatten()
    if wanted.numel() == 2 and size == 1:
        wanted = wanted[1:] - wanted[:1]  # one output with a sigmoid: the odds of class 1
    if wanted.numel() not in (1, size):
        raise InputError(
            f"last_bias must have {size} numbers, as {name!r} has, got {wanted.numel()}: "
            "pass log_odds(labels, classes=…)"
        )
    if not bool(wanted.isfinite().all()):
        raise InputError(f"last_bias must be finite, got {describe(value)}")
    return {name: wanted.expand(size)}


def _generator(seed: int | None, generator: torch.Generator | None) -> torch.Generator:
    if generator is None:
        return torch.Generator().manual_seed(ASIDE + check_count("seed", seed or 0, at_least=0))
    if seed is not None:
        raise InputError(f"seed must be left out where a generator is given, got {seed!r}")
    return generator
