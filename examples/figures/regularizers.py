"""Draw `docs/nets/figures/regularizers.svg`: what each regularizer does to weights and activations.

A network 64-64-10 of sigmoid units learns scikit-learn's digits by SGD, once without and once with
each regularizer. Run it with matplotlib installed (extra `plots`):
`python examples/figures/regularizers.py`. It prints the numbers of the page.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn

import thalweg as tw

PICTURE = Path(__file__).parents[2] / "docs" / "nets" / "figures" / "regularizers.svg"
EPOCHS, BATCH, LR = 60, 50, 0.3

nets = tw.nets
RUNS: dict[str, Callable[[], list[tw.nets.Regularizer]]] = {
    "none": list,
    "L1, proximal, towards the end": lambda: [nets.L1(1e-3, "towards the end")],
    "L1 in the loss, towards the end": lambda: [nets.L1(1e-3, "towards the end", proximal=False)],
    "L2": lambda: [nets.L2(3e-4)],
    "max-norm 3": lambda: [nets.MaxNorm(3.0)],
    "KL-sparsity, ρ = 0.05": lambda: [nets.KLSparsity(0.05, strength=0.2)],
}


class Seen(NamedTuple):
    """After one epoch."""

    zeros: float  # share of weights that are exactly 0
    longest: float  # largest norm of a unit's incoming weights
    activation: float  # mean over training data and hidden units
    error: float  # on test data, in percent


def train(regularizers: Sequence[tw.nets.Regularizer], seed: int = 0) -> list[Seen]:
    """A plain loop with the four calls that a regularizer asks for."""
    digits = load_digits()
    X, X_test, y, y_test = (
        torch.as_tensor(part)
        for part in train_test_split(
            digits.data.astype("float32") / 16, digits.target, test_size=0.3, random_state=0
        )
    )
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(64, 64), nn.Sigmoid(), nn.Linear(64, 10))
    optimizer = nets.SGD(model, lr=LR)
    for regularizer in regularizers:
        regularizer.attach(model)
    seen, steps, step = [], EPOCHS * -(-len(X) // BATCH), 0
    for _ in range(EPOCHS):
        for rows in torch.randperm(len(X)).split(BATCH):
            progress = step / (steps - 1)
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(X[rows]), y[rows])
            for regularizer in regularizers:
                loss = loss + regularizer.penalty(model, progress)
            loss.backward()
            optimizer.step()
            for regularizer in regularizers:
                regularizer.after_step(model, progress, LR)
            step += 1
        seen.append(look(model, X, X_test, y_test))
    for regularizer in regularizers:
        regularizer.detach()
    return seen


@torch.no_grad()
def look(model: nn.Sequential, X: torch.Tensor, X_test: torch.Tensor, y_test: torch.Tensor) -> Seen:
    """What the figure shows."""
    weights = torch.cat([p.flatten() for p in model.parameters() if p.ndim > 1])
    norms = torch.cat([p.norm(dim=1) for p in model.parameters() if p.ndim > 1])
    wrong = (model(X_test).argmax(1) != y_test).double().mean()
    return Seen(
        float((weights == 0).double().mean()),
        float(norms.max()),
        float(model[:2](X).mean()),
        100 * float(wrong),
    )


def main() -> None:
    """Train, print, draw."""
    torch.set_num_threads(1)
    runs = {name: train(make()) for name, make in RUNS.items()}
    print(f"{'after the last epoch':32} zeros  longest unit  mean activation  test error")
    for name, seen in runs.items():
        zeros, longest, activation, error = seen[-1]
        print(f"{name:32} {zeros:5.0%} {longest:13.4f} {activation:16.3f} {error:9.1f} %")

    panels = [
        ("zeros", "share of exact zeros", list(RUNS)[1:3], [0.8 * EPOCHS], []),
        ("longest", "longest unit ‖w‖", ["none", "L2", "max-norm 3"], [], [3.0]),
        ("activation", "mean activation", ["none", "KL-sparsity, ρ = 0.05"], [], [0.05]),
    ]
    plt.rcParams.update({"svg.hashsalt": "thalweg", "font.size": 9})
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.2))
    colours = dict(zip(RUNS, ["0.5", "C0", "C1", "C2", "C3", "C4"], strict=True))
    for axis, (field, title, names, upright, level) in zip(axes, panels, strict=True):
        for name in names:
            values = [getattr(seen, field) for seen in runs[name]]
            axis.plot(range(1, EPOCHS + 1), values, label=name, color=colours[name])
        for place in upright:
            axis.axvline(place, color="0.7", linestyle=":", linewidth=1)
        for place in level:
            axis.axhline(place, color="0.7", linestyle=":", linewidth=1)
        axis.set(xlabel="epoch", title=title)
        axis.set_ylim(bottom=0)
        axis.legend(fontsize=7.5, frameon=False)
        axis.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(PICTURE, metadata={"Date": None})


if __name__ == "__main__":
    main()
