"""Draw `docs/nets/figures/dropout.svg`: the output at inference beside its mean over thinned nets.

A unit, and a network with three hidden layers of ReLUs, both with random weights: a histogram of
their outputs over many draws of who stays, its mean, and the output at inference. Run it with
matplotlib installed (extra `plots`): `python examples/figures/dropout.py`. It prints the numbers of
the page.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import torch
from torch import nn

import thalweg as tw

PICTURE = Path(__file__).parents[2] / "docs" / "nets" / "figures" / "dropout.svg"
KEEP, DRAWS, WIDTH = 0.5, 20_000, 100


def networks() -> dict[str, nn.Sequential]:
    """One that is linear in what is dropped, and one that is not."""
    torch.manual_seed(1)
    generator = torch.Generator().manual_seed(0)

    def dropout() -> nn.Module:
        return tw.nets.Dropout(KEEP, "weights", generator=generator)

    hidden = [layer for _ in range(3) for layer in (dropout(), nn.Linear(WIDTH, WIDTH), nn.ReLU())]
    for layer in hidden:
        if isinstance(layer, nn.Linear):
            nn.init.kaiming_normal_(layer.weight)
    return {
        "one linear unit": nn.Sequential(dropout(), nn.Linear(WIDTH, 1)),
        "three hidden layers of ReLUs": nn.Sequential(*hidden, dropout(), nn.Linear(WIDTH, 1)),
    }


@torch.no_grad()
def main() -> None:
    """Sample, print, draw."""
    torch.set_num_threads(1)
    plt.rcParams.update({"svg.hashsalt": "thalweg", "font.size": 9})
    figure, axes = plt.subplots(1, 2, figsize=(9, 2.9))
    for axis, (name, network) in zip(axes, networks().items(), strict=True):
        x = torch.randn(WIDTH, generator=torch.Generator().manual_seed(2))
        outputs = network(x.expand(DRAWS, WIDTH)).flatten()
        mean, at_inference = float(outputs.mean()), float(network.eval()(x))
        error = float(outputs.std()) / DRAWS**0.5
        print(
            f"{name}: mean over {DRAWS:,} draws {mean:.4f} ± {error:.4f}, at inference "
            f"{at_inference:.4f}: {abs(mean - at_inference) / error:.1f} standard errors apart"
        )
        axis.hist(outputs.numpy(), bins=80, color="0.8")
        axis.axvline(mean, color="C0", label="mean over draws")
        axis.axvline(at_inference, color="C3", linestyle="--", label="at inference")
        axis.set(title=name, xlabel="output", yticks=[])
        axis.spines[["top", "right", "left"]].set_visible(False)
        axis.legend(fontsize=8, frameon=False)
    figure.tight_layout()
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(PICTURE, metadata={"Date": None})


if __name__ == "__main__":
    main()
