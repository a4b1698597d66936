"""Draw a learning-rate range test on digits: losses of three seeds, their median, the usable range.

python examples/figures/lr_find.py [file]
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib
import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn

import thalweg as tw

matplotlib.use("Agg")
from matplotlib import pyplot as plt

HOME = Path(__file__).parents[2] / "docs" / "nets" / "figures" / "lr_find.svg"


def main(file: Path) -> None:
    """Write the picture."""
    X, y = load_digits(return_X_y=True)
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
    found = tw.nets.lr_find(model, (X / 16.0, y), "adam")
    assert found.suggested is not None
    assert found.lowest is not None
    assert found.highest is not None
    plt.rcParams["svg.hashsalt"] = "thalweg"
    figure, axes = plt.subplots(figsize=(7.0, 3.6), layout="constrained")
    axes.axvspan(found.lowest, found.highest, color="#009e73", alpha=0.15, label="usable range")
    for k, curve in enumerate(found.curves):
        shown = np.where(curve < 10.0, curve, np.nan)
        label = "losses of three seeds" if k == 0 else None
        axes.plot(found.rates, shown, color="#999999", linewidth=0.7, label=label)
    axes.plot(found.rates, found.losses, color="#0072b2", linewidth=2, label="smoothed median")
    axes.axvline(found.suggested, color="#d55e00", label=f"suggested, {found.suggested:.2g}")
    axes.set(xscale="log", xlabel="learning rate", ylabel="loss", ylim=(0.0, 6.0))
    axes.set_title("Learning-rate range test: Adam on digits")
    axes.legend(loc="upper left", frameon=False)
    figure.savefig(file, metadata={"Date": None})


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HOME)
