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
import re
from collections.abc import Callable
from dataclasses import dataclass

import torch

from thalweg.core.checks import check_number
from thalweg.core.errors import InputError, suggest
from thalweg.nets.initializers.fans import Fans

DISTRIBUTIONS = ("normal", "uniform")
VARIANCES: dict[str, Callable[[Fans], float]] = {
    "lecun": lambda n: 1.0 / n.n_in,
    "xavier": lambda n: 2.0 / (n.n_in + n.n_out),
    "xavier-in": lambda n: 1.0 / n.n_in,
    "he": lambda n: 2.0 / n.n_in,
}
OPTIONS = {"zeros": None, "constant": "value", "normal": "sigma", **dict.fromkeys(VARIANCES)}

_CALL = re.compile(r"(?P<name>[\w-]+)\s*(\[\s*(?P<option>\w+)\s*=\s*(?P<number>[^\]]+)\])?")


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
    call = _CALL.fullmatch(text.strip()) if isinstance(text, str) else None
    if call is None or call["name"] not in OPTIONS:
        raise InputError(
            f"scheme must be a known name, got {text!r}: "
            f"{suggest(call['name'] if call else str(text), OPTIONS)}"
        )
    name, option = call["name"], OPTIONS[call["name"]]
    if call["option"] != option:
        written = f"{name}[{option}=…]" if option else name
        raise InputError(f"scheme must be written {written}, got {text!r}")
    if option is None:
        return Scheme(name)
    try:
        number = float(call["number"])
    except ValueError:
        raise InputError(f"{option} must be a finite number, got {call['number']!r}") from None
    return Scheme(name, check_number(option, number, at_least=0.0 if name == "normal" else None))
