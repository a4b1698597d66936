"""Training loss on digits against gradient evaluations, for every optimizer.

    python examples/figures/optimizers.py

draws docs/nets/figures/optimizers.svg: a 64-32-10 network, full batches, each optimizer at the best
of five learning rates; the Newton family has none to choose. A Hessian-vector product counts as two
gradients.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import torch
from sklearn.datasets import load_digits
from torch import nn

import thalweg as tw

BUDGET = 200  # gradient evaluations
RATES = (1e-3, 1e-2, 1e-1, 0.3, 1.0)
FIRST_ORDER = ("SGD", "HeavyBall", "Nesterov", "AdaGrad", "RMSProp", "Adam", "Nadam")
SECOND_ORDER = ("LBFGS", "TruncatedNewton")
DASHES = ("-", "--", "-.", ":")
FIGURE = Path(__file__).parents[2] / "docs" / "nets" / "figures" / "optimizers.svg"


def data() -> tuple[torch.Tensor, torch.Tensor]:
    """Digits, scaled to [0, 1]."""
    X, y = load_digits(return_X_y=True)
    return torch.tensor(X / 16.0), torch.tensor(y)


def network() -> nn.Module:
    """The same at every call."""
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(64, 32), nn.Tanh(), nn.Linear(32, 10)).double()


def first_order(name: str, lr: float) -> list[float]:
    """The loss after each step."""
    (X, y), model = data(), network()
    optimizer = getattr(tw.nets, name)(model, lr=lr)
    losses = []
    for _ in range(BUDGET):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(X), y)
        loss.backward()
        losses.append(loss.item())
        optimizer.step()
    return losses


def second_order(name: str) -> tuple[list[float], list[float]]:
    """Evaluations so far, and the lowest loss until then."""
    (X, y), model = data(), network()
    optimizer = getattr(tw.nets, name)(model)
    evaluations, losses = [1.0], [nn.functional.cross_entropy(model(X), y).item()]

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(X), y)
        if name == "LBFGS":
            loss.backward()
            evaluations.append(evaluations[-1] + 1.0)
            losses.append(min(losses[-1], loss.item()))
        return loss

    while evaluations[-1] < BUDGET:
        optimizer.step(closure)
        if name != "LBFGS":
            evaluations.append(optimizer.evaluations)
            losses.append(nn.functional.cross_entropy(model(X), y).item())
    return evaluations, losses


def main() -> None:
    """Draw it."""
    matplotlib.rcParams["svg.hashsalt"] = "thalweg"  # the same bytes every time
    figure, axes = plt.subplots(figsize=(7.0, 4.2), layout="constrained")
    colours = plt.get_cmap("tab10")
    for k, name in enumerate(FIRST_ORDER):
        runs = {lr: first_order(name, lr) for lr in RATES}
        lr = min(runs, key=lambda rate: runs[rate][-1])
        axes.plot(runs[lr], DASHES[k % 4], color=colours(k), label=f"{name}, lr={lr:g}")
        print(f"{name:<16} lr={lr:<6g} {runs[lr][-1]:.2e}")
    for k, name in enumerate(SECOND_ORDER, len(FIRST_ORDER)):
        evaluations, losses = second_order(name)
        axes.plot(evaluations, losses, DASHES[k % 4], color=colours(k), label=name)
        print(f"{name:<16} {'':<9} {losses[-1]:.2e}")
    axes.set(yscale="log", xlim=(0, BUDGET), xlabel="gradient evaluations", ylabel="training loss")
    axes.legend(fontsize="small")
    FIGURE.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(FIGURE, metadata={"Date": None})


if __name__ == "__main__":
    main()
