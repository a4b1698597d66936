"""A training at a saddle: left alone, and left along the direction of negative curvature.

Left: training losses of the networks of `examples/saddle.py`, means over twenty batches. Right: the
loss along the escape direction v from the saddle, both ways, and the parabola of λ_min.

    python examples/figures/saddle.py [file]      draws docs/doctor/figures/saddle.svg
"""

from __future__ import annotations

import copy
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import torch

import thalweg as tw

HERE = Path(__file__).parents[1]
COLOURS = {"zeros": "#e45756", "weights of 10⁻⁶": "#4c78a8"}


def means(losses: list[float]) -> tuple[np.ndarray, np.ndarray]:
    """Steps, and the means of twenty losses that end there."""
    some = np.asarray(losses)[: len(losses) // 20 * 20].reshape(-1, 20)
    return 20.0 * np.arange(1, len(some) + 1), some.mean(1)


def along(task: Any, v: torch.Tensor, steps: np.ndarray) -> list[float]:
    """The loss at w + αv for every α of `steps`."""
    parameters = list(task.model.parameters())
    w = torch.nn.utils.parameters_to_vector(parameters).detach().clone()
    found = []
    for step in steps:
        torch.nn.utils.vector_to_parameters(w + float(step) * v, parameters)
        found.append(task.loss().item())
    torch.nn.utils.vector_to_parameters(w, parameters)
    return found


def main(path: Path) -> None:
    """Draw both panels, and print what they show."""
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    sys.path.insert(0, str(HERE))
    import saddle

    torch.set_num_threads(1)
    plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "thalweg", "font.size": 9})
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.3), layout="constrained")
    for start, colour in COLOURS.items():
        task, _ = saddle.watched(start)
        alone, before = copy.deepcopy(task), copy.deepcopy(task)
        way = tw.doctor.escape(task.model, task.loss)
        pairs = zip(task.model.parameters(), before.model.parameters(), strict=True)
        v = torch.cat([(p - q).detach().flatten() for p, q in pairs]) / way.step
        alone.train(saddle.MORE)
        task.train(saddle.MORE)
        left.plot(*means(alone.losses), color=colour, linestyle="--", linewidth=1.2,
                  label=f"{start}, left alone")  # fmt: skip
        left.plot(*means(task.losses), color=colour, linewidth=1.5,
                  label=f"{start}, escape at step {saddle.FIRST}")  # fmt: skip
        print(f"{start}: {way}")
    steps = np.linspace(-6.0, 6.0, 61)
    right.plot(steps, along(before, v, steps), color=colour, linewidth=1.5, label="loss at w + αv")
    near = steps[np.abs(steps) < 2.5]
    right.plot(near, way.before + 0.5 * way.smallest * near**2, color="#777777", linestyle=":",
               label="f + ½λ_min α²")  # fmt: skip
    right.plot([0.0, way.step], [way.before, way.after], "o", color="black", markersize=4)
    right.annotate("saddle", (0.0, way.before), (0.4, way.before - 0.005))
    right.annotate("escape", (way.step, way.after), (way.step + 0.3, way.after - 0.06))
    left.set_xlabel("step")
    left.set_ylabel("training loss")
    right.set_xlabel("α")
    right.set_title(f"from weights of 10⁻⁶: λ_min = {way.smallest:.3f}", fontsize=9)
    for panel in (left, right):
        panel.grid(alpha=0.25)
        panel.spines[["top", "right"]].set_visible(False)
        panel.legend(frameon=False, fontsize=8)
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None, dpi=110)


if __name__ == "__main__":
    here = HERE.parent / "docs" / "doctor" / "figures" / "saddle.svg"
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else here)
