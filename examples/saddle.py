"""A training that a saddle holds: found by the doctor, left by `escape`, trained to the end.

The origin is a saddle of a network with one hidden layer: where both layers are zero, neither has a
gradient. Three networks learn digits, one from zeros, one from weights of size 10⁻⁶ beside the
saddle, one from LeCun's weights. Each is watched for 300 steps; where the doctor finds a saddle it
is left along the direction of negative curvature, and training goes on for 2,000 steps more.
Beside it, the same training left alone.

    python examples/saddle.py
"""

from __future__ import annotations

import copy
from collections.abc import Callable

import torch
from sklearn.datasets import load_digits
from torch import nn

import thalweg as tw

FIRST, MORE, BATCH, TRAINED = 300, 2000, 64, 1300
STARTS: dict[str, Callable[[nn.Module], object]] = {
    "zeros": lambda m: tw.nets.initialize(m, "zeros"),
    "weights of 10⁻⁶": lambda m: tw.nets.initialize(m, "normal[sigma=1e-6]", seed=0),
    "weights of LeCun's size": lambda m: tw.nets.initialize(m, "lecun", seed=0),
}


class Task:
    """Digits, a network that learns them, and the batches it gets."""

    def __init__(self, start: str) -> None:
        digits, labels = load_digits(return_X_y=True)
        self.generator = torch.Generator().manual_seed(0)
        order = torch.randperm(len(labels), generator=self.generator)
        self.x = torch.tensor(digits, dtype=torch.float32)[order] / 16.0
        self.y = torch.tensor(labels)[order]
        self.model = nn.Sequential(nn.Linear(64, 32), nn.Tanh(), nn.Linear(32, 10))
        STARTS[start](self.model)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.losses: list[float] = []  # of batches

    def loss(self, rows: torch.Tensor | slice = slice(0, TRAINED)) -> torch.Tensor:
        """Cross-entropy on some rows; on all that are trained on by default."""
        return nn.functional.cross_entropy(self.model(self.x[rows]), self.y[rows])

    def train(self, steps: int, w: tw.doctor.Watch | None = None) -> float:
        """Some steps, watched or not; the loss on all rows after them."""
        for _ in range(steps):
            rows = torch.randint(TRAINED, (BATCH,), generator=self.generator)
            self.optimizer.zero_grad()
            loss = self.loss(rows)
            loss.backward()
            self.optimizer.step()
            self.losses.append(loss.item())
            if w is not None:
                w.step(loss)
        return self.loss().item()

    def learnt(self) -> str:
        """The step at which twenty batches in a row had a loss below 1 on average."""
        means = torch.tensor(self.losses).unfold(0, 20, 1).mean(1)
        return f"step {int((means < 1.0).nonzero()[0]) + 20}" if (means < 1.0).any() else "never"

    def accuracy(self) -> float:
        """On the rows that were never trained on."""
        with torch.no_grad():
            guess = self.model(self.x[TRAINED:]).argmax(1)
        return float((guess == self.y[TRAINED:]).double().mean())


def watched(start: str) -> tuple[Task, list[tw.Finding]]:
    """A training after its first steps, and whether the doctor finds a saddle."""
    task = Task(start)
    with tw.watch(task.model, task.optimizer, closure=task.loss, every=10) as w:
        task.train(FIRST, w)
    return task, [each for each in w.diagnose() if each.name == "saddle or plateau"]


def main() -> None:
    """Print the findings, the way out, and what became of each training."""
    torch.set_num_threads(1)
    for start in STARTS:
        task, findings = watched(start)
        alone = copy.deepcopy(task)
        print(f"\nfrom {start}, after {FIRST} steps: loss {task.loss().item():.3f}")
        for finding in findings:
            print(finding)
            left = tw.doctor.escape(task.model, task.loss)
            print(f"escape: {left}")
            _continue("then", task)
        _continue("left alone", alone)


def _continue(how: str, task: Task) -> None:
    loss = task.train(MORE)
    print(f"{how}, {MORE} steps later: loss {loss:.3f}, accuracy {task.accuracy():.1%}", end="")
    print(f", loss below 1: {task.learnt()}")


if __name__ == "__main__":
    main()
