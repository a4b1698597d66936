"""Images a second: each augmentation on a batch, beside a plain loop over its images.

The loop does to one image after the other what the augmentation does to all, with the same torch
functions and arithmetic, and no more: no checks, no choice of samples, no rounding for uint8. Each
pair is timed in turn in the same run and the table shows the median of the ratios, which is little
disturbed by what else the machine does. RandomCrop's loop resizes the whole image and cuts the
patch out, as one would write it; the batch reads the patch alone.
"""

from __future__ import annotations

import argparse
import math
import random
import statistics
import time
from collections.abc import Callable

import torch
from torch.nn import functional

import thalweg as tw

Image = torch.Tensor  # [C, H, W]


def flip(image: Image) -> Image:
    """Mirrored."""
    return image.flip(-1)


def crop(image: Image) -> Image:
    """The lecture's three steps, with sizes in proportion to the image."""
    height, width = image.shape[-2:]
    short = min(height, width)
    length = random.randint(short, 2 * short)
    size = (round(height * length / short), round(width * length / short))
    resized = functional.interpolate(image[None], size, mode="bilinear", align_corners=False)[0]
    patch = 7 * short // 8
    top = random.randint(0, size[0] - patch)
    left = random.randint(0, size[1] - patch)
    return resized[:, top : top + patch, left : left + patch]


def colour(image: Image) -> Image:
    """Brightness, contrast and saturation, one after the other."""
    b, c, s = (random.uniform(0.8, 1.2) for _ in range(3))
    image = b * image
    image = c * image + (1 - c) * image.mean()
    grey = 0.299 * image[0] + 0.587 * image[1] + 0.114 * image[2]
    return s * image + (1 - s) * grey


def affine(image: Image, theta: list[list[float]]) -> Image:
    """One image, read at the positions of one map."""
    grid = functional.affine_grid(
        torch.tensor([theta]), [1, 1, *image.shape[-2:]], align_corners=False
    )
    return functional.grid_sample(image[None], grid, align_corners=False)[0]


def translation(image: Image) -> Image:
    """Shifted."""
    a, b = random.uniform(-0.2, 0.2), random.uniform(-0.2, 0.2)
    return affine(image, [[1.0, 0.0, a], [0.0, 1.0, b]])


def rotation(image: Image) -> Image:
    """Turned."""
    theta = math.radians(random.uniform(-15.0, 15.0))
    c, s = math.cos(theta), math.sin(theta)
    return affine(image, [[c, -s, 0.0], [s, c, 0.0]])


def stretching(image: Image) -> Image:
    """Stretched."""
    u, v = (math.exp(random.uniform(-0.18, 0.18)) for _ in range(2))
    return affine(image, [[u, 0.0, 0.0], [0.0, v, 0.0]])


def lens(image: Image) -> Image:
    """Bent."""
    height, width = image.shape[-2:]
    grid = functional.affine_grid(torch.eye(2, 3)[None], [1, 1, height, width], align_corners=False)
    x, y = grid.unbind(-1)
    squared = ((x * width) ** 2 + (y * height) ** 2) / (width**2 + height**2)
    bent = grid * (1 + random.uniform(-0.2, 0.2) * squared)[..., None]
    return functional.grid_sample(image[None], bent, align_corners=False)[0]


def three_maps(image: Image) -> Image:
    """Three readings of one image."""
    return stretching(translation(rotation(image)))


def pairs(side: int) -> dict[str, tuple[Callable[[Image], Image], Callable[[Image], Image]]]:
    """Each augmentation and its plain form of one image."""
    nets = tw.nets
    maps = (nets.Rotation(), nets.Translation(0.1), nets.Stretching(0.2))
    return {
        "HorizontalFlip": (nets.HorizontalFlip(1.0), flip),
        "RandomCrop": (nets.RandomCrop(7 * side // 8, (side, 2 * side)), crop),
        "ColourJitter": (nets.ColourJitter(0.2, 0.2, 0.2), colour),
        "Translation": (maps[1], translation),
        "Rotation": (maps[0], rotation),
        "Stretching": (maps[2], stretching),
        "LensDistortion": (nets.LensDistortion(), lens),
        "all three maps": (nets.Augmentation(*maps), three_maps),
    }


def one_by_one(plain: Callable[[Image], Image], batch: torch.Tensor) -> torch.Tensor:
    """The plain loop."""
    return torch.stack([plain(image) for image in batch])


def seconds(work: Callable[..., object], *given: object) -> float:
    """How long it takes, once."""
    start = time.perf_counter()
    work(*given)
    return time.perf_counter() - start


def compare(batch: torch.Tensor, repeats: int) -> None:
    """Print a table for one batch."""
    count, *_, side = batch.shape
    print(f"\n{count} images of 3 × {side} × {side}, float32, and uint8 in the last column")
    print(f"{'':16} {'loop':>12} {'batched':>12} {'ratio':>8} {'uint8':>14}")
    levels = (255 * batch).to(torch.uint8)
    for name, (augment, plain) in pairs(side).items():
        augment(batch)  # once outside the clock
        one_by_one(plain, batch)
        times = [
            (seconds(one_by_one, plain, batch), seconds(augment, batch), seconds(augment, levels))
            for _ in range(repeats)
        ]
        ratio = statistics.median(loop / batched for loop, batched, _ in times)
        loop, batched, uint8 = (
            f"{count / statistics.median(column):,.0f}/s" for column in zip(*times, strict=True)
        )
        print(f"{name:16} {loop:>12} {batched:>12} {ratio:7.1f}× {uint8:>14}")


def main() -> None:
    """Small images, as one trains on, and the lecture's 224 × 224."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=7, help="timed pairs per augmentation")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    print(f"{options.threads} threads, torch {torch.__version__}")
    for count, side in ((256, 32), (32, 224)):
        batch = torch.rand(count, 3, side, side, generator=torch.Generator().manual_seed(0))
        compare(batch, options.repeats)


if __name__ == "__main__":
    main()
