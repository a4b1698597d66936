"""What all augmentations share: a batch of images in, a batch of images out, each sample by chance.

    x̃ᵢ = T(xᵢ; θᵢ) with probability p,   xᵢ otherwise        θᵢ drawn anew for every sample

A batch is [B, C, H, W], or [B, H, W] for greyscale images, of float32, float64 or uint8, on any
device. What comes back has the same type, and the same shape but for crops; the batch that came
is left alone, and is handed back itself where nothing is to be done. A label is never seen, so it
cannot change: that x and T(x) share it is up to whoever chooses T.

All chance comes from one generator on the CPU, so that a seed means the same images on every
device. p = 0 and p = 1 draw nothing. `state_dict` holds where the generator is; a run that loads it
goes on to the same bits.

Only the samples that were drawn are computed on.
"""

from __future__ import annotations

import math
from typing import Any

import torch

from thalweg.core.checks import check_count, check_number, describe
from thalweg.core.errors import InputError

DTYPES = (torch.float32, torch.float64, torch.uint8)


class Transform:
    """An augmentation of batches: a subclass gives `transform`, which changes all that it is given.

    `p` is the probability for each sample, `seed` that of the generator it has of its own.
    """

    resizes = False  # whether H and W change

    def __init__(self, p: float = 1.0, seed: int = 0) -> None:
        self.p = check_number("p", p, at_least=0.0, at_most=1.0)
        self.generator = torch.Generator().manual_seed(check_count("seed", seed, at_least=0))

    def transform(self, images: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        """Change every one of `images`; the very same tensor where there is nothing to change."""
        raise NotImplementedError

    def __call__(
        self, batch: torch.Tensor, generator: torch.Generator | None = None
    ) -> torch.Tensor:
        """The batch with samples changed by chance; `generator` stands in for its own."""
        check_images(batch)
        generator = self.generator if generator is None else generator
        chosen = self.draw(len(batch), generator)
        if len(chosen) == 0:
            return batch
        if len(chosen) == len(batch):
            return self.transform(batch, generator)
        chosen = chosen.to(batch.device)
        images = batch[chosen]
        changed = self.transform(images, generator)
        return batch if changed is images else batch.index_copy(0, chosen, changed)

    def draw(self, count: int, generator: torch.Generator) -> torch.Tensor:
        """Which of `count` samples are changed, int64[…] in rising order."""
        if self.p == 0.0:
            return torch.empty(0, dtype=torch.int64)
        if self.p == 1.0:
            return torch.arange(count)
        return (torch.rand(count, generator=generator) < self.p).nonzero().flatten()

    def state_dict(self) -> dict[str, torch.Tensor]:
        """Where the generator is."""
        return {"generator": self.generator.get_state()}

    def load_state_dict(self, state: dict[str, torch.Tensor]) -> None:
        """Go on from there."""
        self.generator.set_state(state["generator"].cpu())


def check_images(batch: Any) -> None:
    """Raise unless `batch` is a batch of images."""
    if not isinstance(batch, torch.Tensor):
        raise InputError(
            f"batch must be a tensor of images, got {describe(batch)}: use torch.as_tensor"
        )
    if batch.ndim not in (3, 4):
        raise InputError(
            f"batch must be [B, C, H, W], or [B, H, W] for greyscale, got shape "
            f"{tuple(batch.shape)}: a single image is image[None]"
        )
    if batch.dtype not in DTYPES:
        raise InputError(
            f"batch must be float32, float64 or uint8, got {batch.dtype}: convert it with .to"
        )
    if batch.numel() == 0:
        raise InputError(f"batch must hold images, got shape {tuple(batch.shape)}, which is empty")


def check_range(name: str, value: Any, *, above: float = -math.inf) -> tuple[float, float]:
    """A pair (low, high), or −s to s for a number s ≥ 0; both ends above `above`."""
    if isinstance(value, (tuple, list)):
        if len(value) != 2:
            raise InputError(f"{name} must be a number or a pair (low, high), got {value!r}")
        low, high = (check_number(f"{name}[{i}]", end) for i, end in enumerate(value))
    else:
        high = check_number(name, value, at_least=0.0, advice="or give a pair (low, high)")
        low = -high
    if not low <= high:
        raise InputError(f"{name} must rise from low to high, got {value!r}: swap its ends")
    if not low > above:
        raise InputError(f"{name} must stay above {above:g}, got {value!r}: take less of it")
    return low, high


def uniform(count: int, ends: tuple[float, float], generator: torch.Generator) -> torch.Tensor:
    """`count` numbers between the ends, float64; exactly the ends where they are the same."""
    low, high = ends
    return low + (high - low) * torch.rand(count, dtype=torch.float64, generator=generator)
