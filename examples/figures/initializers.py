"""Activations and gradients through 50 layers, by scheme, for tanh and ReLU.

A batch of N(0, 1) inputs goes through 50 layers of 256 units, and a random gradient comes back. The
deviation of what each layer puts out, and of the gradient that reaches it, is drawn against depth.

    python examples/figures/initializers.py [file]      draws docs/nets/figures/initializers.svg
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl
import torch
from torch import nn

import thalweg as tw

DEPTH, WIDTH, ROWS = 50, 256, 512
SCHEMES = {
    "normal[sigma=0.01]": "N(0, 0.01²): too small",
    "lecun": "LeCun 1/n_in (Xavier, on square layers)",
    "he": "He 2/n_in",
    "normal[sigma=0.2]": "N(0, 0.2²): too large",
}
COLOURS = ["#4c78a8", "#54a24b", "#e45756", "#b279a2"]
FLOOR = 1e-20  # of the picture


def through(scheme: str, activation: type[nn.Module]) -> tuple[list[float], list[float]]:
    """Deviations of activations and of gradients, layer by layer."""
    layers = [nn.Sequential(nn.Linear(WIDTH, WIDTH), activation()) for _ in range(DEPTH)]
    tw.nets.initialize(nn.Sequential(*layers).double(), scheme, seed=1)
    generator = torch.Generator().manual_seed(0)
    h = torch.randn(ROWS, WIDTH, generator=generator, dtype=torch.float64, requires_grad=True)
    outputs = []
    for layer in layers:
        h = layer(h)
        h.retain_grad()
        outputs.append(h)
    h.backward(torch.randn(h.shape, generator=generator, dtype=torch.float64))
    forward = [float(out.detach().square().mean().sqrt()) for out in outputs]
    backward = [float(out.grad.square().mean().sqrt()) for out in outputs]
    return forward, backward


def main(path: Path) -> None:
    """Draw the four panels, and print where each scheme ends."""
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "thalweg", "font.size": 9})
    figure, axes = plt.subplots(2, 2, figsize=(9, 5.4), sharex=True, layout="constrained")
    for column, (name, activation) in enumerate((("tanh", nn.Tanh), ("ReLU", nn.ReLU))):
        for (scheme, label), colour in zip(SCHEMES.items(), COLOURS, strict=True):
            sides = through(scheme, activation)
            for row, values in enumerate(sides):
                seen = [value if value > FLOOR else float("nan") for value in values]
                depth = range(1, DEPTH + 1)
                axes[row, column].semilogy(depth, seen, color=colour, label=label, linewidth=1.8)
            ends = f"activations {sides[0][-1]:8.1e}, gradients {sides[1][0]:8.1e}"
            print(f"{name:4}  {scheme:18}  {ends}")
        axes[0, column].set_title(name)
        axes[1, column].set_xlabel("layer")
    for row, what in enumerate(("activations, rms", "gradients, rms")):
        axes[row, 0].set_ylabel(what)
    for panel in axes.flat:
        panel.grid(alpha=0.25)
        panel.spines[["top", "right"]].set_visible(False)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None, dpi=110)


if __name__ == "__main__":
    here = Path(__file__).parents[2] / "docs" / "nets" / "figures" / "initializers.svg"
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else here)
