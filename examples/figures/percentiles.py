"""Internal covariate shift: what goes into the last sigmoids while a network learns digits.

Three hidden layers of 100 sigmoid units, with and without batch norms, as in figure 1 of Ioffe &
Szegedy (2015). Left: accuracy on rows that are not trained on. Middle and right: the 15th, 50th and
85th percentile of the inputs of the last hidden layer's sigmoids, as `tw.watch` records them.

    python examples/figures/percentiles.py [file]      draws docs/doctor/figures/percentiles.svg
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl
import torch
from sklearn.datasets import load_digits
from torch import nn

import thalweg as tw
from thalweg.doctor.nets.symptoms.covariate_shift import shift

STEPS, BATCH, TRAINED, EVERY = 1500, 60, 1300, 10


def network(has_norms: bool) -> nn.Sequential:
    """64-100-100-100-10."""
    parts: list[nn.Module] = []
    for k in range(3):
        parts.append(nn.Linear(100 if k else 64, 100))
        parts += [tw.nets.BatchNorm(100)] if has_norms else []
        parts.append(nn.Sigmoid())
    model = nn.Sequential(*parts, nn.Linear(100, 10))
    tw.nets.initialize(model, "xavier", seed=0)
    return model


def trained(has_norms: bool) -> tuple[tw.doctor.Record, list[float]]:
    """What was seen of a training, and the accuracy at every look."""
    digits, labels = load_digits(return_X_y=True)
    generator = torch.Generator().manual_seed(0)
    order = torch.randperm(len(labels), generator=generator)
    x, y = torch.tensor(digits, dtype=torch.float32)[order] / 16.0, torch.tensor(labels)[order]
    model = network(has_norms)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    accuracies = []
    with tw.watch(model, optimizer, every=EVERY) as w:
        for step in range(STEPS):
            rows = torch.randint(TRAINED, (BATCH,), generator=generator)
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
            loss.backward()
            optimizer.step()
            w.step(loss)
            if step % EVERY == 0:
                model.eval()
                with torch.no_grad():
                    guess = model(x[TRAINED:]).argmax(1)
                model.train()
                accuracies.append(float((guess == y[TRAINED:]).double().mean()))
    return w.record, accuracies


def before_last(record: tw.doctor.Record) -> str:
    """The layer whose output goes into the last sigmoids: linear, or a norm."""
    last = max(k for k, layer in enumerate(record.layers) if layer.role == "sigmoid")
    return record.layers[last - 1].name


def main(path: Path) -> None:
    """Draw the three panels, and print what they show."""
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    torch.set_num_threads(1)
    plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "thalweg", "font.size": 9})
    figure, (left, *panels) = plt.subplots(1, 3, figsize=(11, 3.2), layout="constrained")
    for panel, has_norms, colour in zip(panels, (False, True), ("#e45756", "#4c78a8"), strict=True):
        name = "with batch norms" if has_norms else "without"
        record, accuracies = trained(has_norms)
        layer, steps = before_last(record), record["look"]
        low, middle, high = (record.of(layer, p) for p in ("p15", "p50", "p85"))
        score = shift(record, layer)
        panel.fill_between(steps, low, high, color=colour, alpha=0.25, linewidth=0)
        panel.plot(steps, middle, color=colour, linewidth=1.5)
        panel.set_title(f"{name}: shift {score.shift:.2f}")
        panel.set_ylabel("inputs of the last sigmoids, 15–50–85 %")
        left.plot(steps, accuracies, color=colour, label=name)
        good = [int(s) for s, a in zip(steps, accuracies, strict=True) if a > 0.9]
        print(f"{name:16}  accuracy {accuracies[-1]:.1%}, above 90 % from step {min(good)}")
        print(f"{'':16}  median between {middle.min():.2f} and {middle.max():.2f}, half ", end="")
        print(f"band {score.spread[0]:.2f} to {score.spread[1]:.2f}, shift {score.shift:.2f}")
    panels[1].sharey(panels[0])
    left.set_ylabel("validation accuracy")
    left.legend(frameon=False)
    for panel in (left, *panels):
        panel.set_xlabel("step")
        panel.grid(alpha=0.25)
        panel.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None, dpi=110)


if __name__ == "__main__":
    here = Path(__file__).parents[2] / "docs" / "doctor" / "figures" / "percentiles.svg"
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else here)
