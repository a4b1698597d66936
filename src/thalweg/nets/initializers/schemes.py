"""Schemes: of which variance the first weights are drawn, by the fans of their layer.

    zeros                   w = 0
    constant[value=c]       w = c
    normal[sigma=σ]         V[w] = σ²                  whatever the layer
    lecun                   V[w] = 1/n_in              V[o] = V[x] through linear units
    xavier                  V[w] = 2/(n_in + n_out)    a compromise with the gradients' variance (A)
    xavier-in               V[w] = 1/n_in              what lecture C calls Xavier's ("1/m"): lecun
    he                      V[w] = 2/n_in              ReLU sets half of the terms to zero

Weights are drawn from N(0, V) or, equally good, uniformly from ±√(3V), which has variance V too.
LeCun et al. 1998; Glorot & Bengio, AISTATS 2010; He et al., ICCV 2015.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch

from thalweg.core.checks import check_number
from thalweg.core.errors import InputError, suggest
from thalweg.core.options import name_and_options, name_in
from thalweg.nets.initializers.fans import Fans

DISTRIBUTIONS = ("normal", "uniform")
VARIANCES: dict[str, Callable[[Fans], float]] = {
    "lecun": lambda n: 1.0 / n.n_in,
    "xavier": lambda n: 2.0 / (n.n_in + n.n_out),
    "xavier-in": lambda n: 1.0 / n.n_in,
    "he": lambda n: 2.0 / n.n_in,
}
OPTIONS = {"zeros": None, "constant": "value", "normal": "sigma", **dict.fromkeys(VARIANCES)}


@dataclass(frozen=True)
class Scheme:
    """How weights are drawn: by name, and its number where it has one."""

    name: str
    number: float = 0.0  # c of constant, σ of normal

    def mean(self) -> float:
        """What the weights scatter about."""
        return self.number if self.name == "constant" else 0.0

    def variance(self, n: Fans) -> float:
        """V[w] in a layer of these fans."""
        if self.name in VARIANCES:
            return VARIANCES[self.name](n)
        return self.number**2 if self.name == "normal" else 0.0

    def draw(
        self,
        shape: torch.Size,
        n: Fans,
        distribution: str,
        generator: torch.Generator,
        dtype: torch.dtype,
    ) -> torch.Tensor:
        """A weight of this shape, on the generator's device."""
        drawn = torch.full(shape, self.mean(), dtype=dtype, device=generator.device)
        sigma = math.sqrt(self.variance(n))
        if sigma == 0.0:
            return drawn
        if distribution == "normal":
            return drawn.normal_(0.0, sigma, generator=generator)
        reach = math.sqrt(3.0) * sigma
        return drawn.uniform_(-reach, reach, generator=generator)


def scheme_of(text: str | Scheme) -> Scheme:
    """The scheme that a name stands for: "he", "normal[sigma=0.01]", "constant[value=0.5]"."""
    if isinstance(text, Scheme):
        return text
    name = name_in(text) if isinstance(text, str) else None
    if name not in OPTIONS:
        known = suggest(name or str(text), OPTIONS)
        raise InputError(f"scheme must be a known name, got {text!r}: {known}")
    (name, given), option = name_and_options(text), OPTIONS[name]
    if list(given) != ([option] if option else []):
        written = f"{name}[{option}=…]" if option else name
        raise InputError(f"scheme must be written {written}, got {text!r}")
    if option is None:
        return Scheme(name)
    try:
        number = float(given[option])
    except (TypeError, ValueError):
        raise InputError(f"{option} must be a finite number, got {given[option]!r}") from None
    return Scheme(name, check_number(option, number, at_least=0.0 if name == "normal" else None))
