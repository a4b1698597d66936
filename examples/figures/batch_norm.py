"""Batch normalization: the inputs of a unit over training, and a normalization that fails.

Left and middle, as in the paper's figure 1: the 15th, 50th and 85th percentile of the input of one
sigmoid unit in the last hidden layer, over training on digits, without and with batch norms.
Right: a bias before `naive_normalization` grows without end while the loss stays where it was.

    python examples/figures/batch_norm.py [file]      draws docs/nets/figures/batch-norm.svg
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl
import torch
from sklearn.datasets import load_digits
from torch import nn

import thalweg as tw

STEPS, BATCH, LAYERS = 1000, 60, 3
PERCENTILES = (0.15, 0.5, 0.85)


def network(has_norms: bool) -> nn.Sequential:
    """Three hidden layers of 100 sigmoid units, as in the paper."""
    layers: list[nn.Module] = []
    for k in range(LAYERS):
        layers.append(nn.Linear(64 if k == 0 else 100, 100))
        layers += [tw.nets.BatchNorm(100)] if has_norms else []
        layers.append(nn.Sigmoid())
    model = nn.Sequential(*layers, nn.Linear(100, 10))
    tw.nets.initialize(model, "xavier", seed=0)
    return model


def bands(has_norms: bool) -> tuple[torch.Tensor, float]:
    """Percentiles of what goes into the last sigmoid, float[steps, 3], and the test accuracy."""
    digits, labels = load_digits(return_X_y=True)
    X, y = torch.tensor(digits / 16.0, dtype=torch.float32), torch.tensor(labels)
    model = network(has_norms)
    optimizer = tw.nets.SGD(model, lr=0.5)
    generator = torch.Generator().manual_seed(0)
    body = model[:-2]
    seen = []
    for _ in range(STEPS):
        rows = torch.randint(1200, (BATCH,), generator=generator)
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(X[rows]), y[rows]).backward()
        optimizer.step()
        with torch.no_grad():
            seen.append(torch.quantile(body(X[:300])[:, 0], torch.tensor(PERCENTILES)))
    if has_norms:
        tw.nets.population_statistics(model, X[:1200], batch_size=BATCH)
    with torch.no_grad():
        right = (model.eval()(X[1200:]).argmax(1) == y[1200:]).double().mean()
    return torch.stack(seen), float(right)


def naive(steps: int = 100) -> tuple[list[float], list[float]]:
    """Bias and loss, step by step, of u + b into a naive normalization."""
    u = torch.randn(64, 1, generator=torch.Generator().manual_seed(0))
    b = nn.Parameter(torch.zeros(1))
    optimizer = tw.nets.SGD([b], lr=0.1)
    biases, losses = [], []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = (tw.nets.naive_normalization(u + b) - 1.0).square().mean()
        loss.backward()
        biases.append(b.item())
        losses.append(loss.item())
        optimizer.step()
    return biases, losses


def main(path: Path) -> None:
    """Draw the three panels, and print what they show."""
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    torch.set_num_threads(1)
    plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "thalweg", "font.size": 9})
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.2), layout="constrained")
    for panel, has_norms in zip(axes, (False, True), strict=False):
        name = "with batch norms" if has_norms else "without"
        seen, accuracy = bands(has_norms)
        low, middle, high = seen[::10].T.numpy()
        steps = range(0, STEPS, 10)
        panel.fill_between(steps, low, high, color="#4c78a8", alpha=0.25, linewidth=0)
        panel.plot(steps, middle, color="#4c78a8", linewidth=1.5)
        panel.set_title(f"{name}: test accuracy {accuracy:.1%}")
        panel.set_xlabel("step")
        panel.set_ylabel("input of a sigmoid unit, 15–50–85 %")
        drift = seen[:, 1].max() - seen[:, 1].min()
        print(f"{name:16}  accuracy {accuracy:.4f}, the median moves over {drift:.2f}")
    axes[1].sharey(axes[0])
    axes[0].set_ylim(-2.5, 2.5)
    biases, losses = naive()
    axes[2].plot(biases, color="#e45756", label="bias")
    axes[2].plot(losses, color="#54a24b", label="loss")
    axes[2].set_title("normalized outside the gradient")
    axes[2].set_xlabel("step")
    axes[2].legend(frameon=False)
    ends = f"bias {biases[0]:.2f} to {biases[-1]:.2f}, loss {losses[0]:.4f} to {losses[-1]:.4f}"
    print(f"{'naive':16}  {ends}")
    for panel in axes:
        panel.grid(alpha=0.25)
        panel.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None, dpi=110)


if __name__ == "__main__":
    here = Path(__file__).parents[2] / "docs" / "nets" / "figures" / "batch-norm.svg"
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else here)
