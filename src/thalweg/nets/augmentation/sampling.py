"""Read images between their pixels, and come back in the type that they had.

    out[i, j] = Σ_kl in[k, l] · Λ(k − y_ij) · Λ(l − x_ij)        Λ(t) = (1 − |t|)₊

is the bilinear value at the position (x_ij, y_ij). Positions are given as PyTorch's `grid_sample`
takes them: −1 and 1 are the outer edges of the image, not the centres of its outer pixels
(`align_corners=False`). What lies outside is, by `padding_mode`,

    "zeros"       0: black, or the mean of data that was centred
    "border"      the nearest pixel of the edge
    "reflection"  the image mirrored at its edges

uint8 is computed in float32 and rounded to the nearest level, once, at the end; values outside
0…255 become the nearer of the two.
"""

from __future__ import annotations

import torch
from torch.nn import functional

from thalweg.core.checks import check_choice

PADDING_MODES = ("zeros", "border", "reflection")


def check_padding_mode(padding_mode: str) -> str:
    """The name, if it is one of `PADDING_MODES`."""
    return check_choice("padding_mode", padding_mode, PADDING_MODES)


def centres(count: int) -> torch.Tensor:
    """The positions of `count` pixels along a side, float64[count] on the CPU."""
    return (2 * torch.arange(count, dtype=torch.float64) + 1) / count - 1


def empty_grid(images: torch.Tensor, size: tuple[int, int]) -> torch.Tensor:
    """Room for the positions of every pixel of new images of height and width `size`."""
    dtype = torch.float64 if images.dtype == torch.float64 else torch.float32
    return torch.empty(len(images), *size, 2, dtype=dtype, device=images.device)


def as_float(images: torch.Tensor) -> torch.Tensor:
    """The images to compute with: uint8 as float32, floats as they are."""
    return images.float() if images.dtype == torch.uint8 else images


def as_type(images: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Back to the type that came; uint8 by rounding."""
    return images.round_().clamp_(0, 255).to(dtype) if dtype == torch.uint8 else images


def sample(
    images: torch.Tensor, grid: torch.Tensor, padding_mode: str, mode: str = "bilinear"
) -> torch.Tensor:
    """The images [B, (C,) H, W] at the positions `grid`, float[B, H′, W′, 2]."""
    channelled = as_float(images if images.ndim == 4 else images[:, None])
    out = functional.grid_sample(
        channelled,
        grid,
        mode=mode,
        padding_mode=padding_mode,
        align_corners=False,
    )
    out = out if images.ndim == 4 else out[:, 0]
    return as_type(out, images.dtype)
