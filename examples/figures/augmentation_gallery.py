"""Draw `docs/nets/figures/augmentation.png`: every augmentation on two photographs.

Run it with matplotlib installed (extra `plots`): `python examples/figures/augmentation_gallery.py`.
The photographs are those that come with scikit-learn.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import torch
from PIL import Image
from sklearn.datasets import load_sample_images

import thalweg as tw

PICTURE = Path(__file__).parents[2] / "docs" / "nets" / "figures" / "augmentation.png"
HEIGHT, WIDTH = 128, 192
DRAWS = 3  # of each augmentation and photograph

nets = tw.nets
ROWS = {
    "HorizontalFlip()": nets.HorizontalFlip(seed=2),
    "RandomCrop(96, (96, 192))": nets.RandomCrop(96, (96, 192), seed=1),
    "ColourJitter(0.4, 0.4, 0.8)": nets.ColourJitter(0.4, 0.4, 0.8),
    "Translation(0.2)": nets.Translation(0.2),
    "Rotation(30)": nets.Rotation(30.0, seed=27),
    "Stretching(0.4)": nets.Stretching(0.4, seed=1),
    "LensDistortion((-0.3, 0.6))": nets.LensDistortion((-0.3, 0.6), seed=27),
    "Augmentation(all of them)": nets.Augmentation(
        nets.HorizontalFlip(),
        nets.ColourJitter(0.3, 0.3, 0.4),
        nets.Rotation(15.0, padding_mode="reflection"),
        nets.Stretching(0.2, padding_mode="reflection"),
        nets.LensDistortion(0.2, padding_mode="reflection"),
        nets.RandomCrop(96, (104, 160)),
    ),
}


def photographs() -> torch.Tensor:
    """Both, uint8[2, 3, HEIGHT, WIDTH], smoothed as they shrink."""
    small = [
        np.asarray(Image.fromarray(picture).resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS))
        for picture in load_sample_images().images
    ]
    return torch.from_numpy(np.stack(small)).permute(0, 3, 1, 2)


def main() -> None:
    """One row an augmentation: each photograph as it came, and what chance made of it."""
    batch = photographs()
    columns = 2 * (1 + DRAWS)
    figure, axes = plt.subplots(len(ROWS), columns, figsize=(11.0, 8.2))
    for row, (name, augment) in zip(axes, ROWS.items(), strict=True):
        many = augment(batch.repeat_interleave(DRAWS, 0)).split(DRAWS)
        images = [
            image for came, drawn in zip(batch, many, strict=True) for image in (came, *drawn)
        ]
        for axis, image in zip(row, images, strict=True):
            axis.imshow(image.permute(1, 2, 0).numpy())
            axis.set_axis_off()
        row[0].set_title(name, fontsize=9, loc="left", family="monospace", pad=3)
    figure.subplots_adjust(0.005, 0.005, 0.995, 0.975, wspace=0.04, hspace=0.28)
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(PICTURE, dpi=72)
    # A palette is a third of the size, and enough to look at.
    with Image.open(PICTURE) as picture:
        flat = picture.convert("RGB").quantize(128, dither=Image.Dither.NONE)
    flat.save(PICTURE, optimize=True)
    print(f"{PICTURE}: {PICTURE.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
