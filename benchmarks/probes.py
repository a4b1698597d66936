"""What `tw.watch` takes of a training, for three networks on random data.

    mlp          784-512-512-10, ReLU, batches of 64, Adam
    cnn          two convolutions (16, 32 channels) with batch norm, 28 × 28, batches of 32
    transformer  two layers of width 64 with four heads, 32 words, batches of 16

    plain        the loop alone
    again        the same once more: how far ratios may be trusted
    cheap        with tw.watch(model, optimizer)
    curvature    with closure= as well, on a batch like those of the training

All begin at the same weights and take turns in pieces of some steps, in another order each time. A
ratio is the processor time of all pieces of a loop by the mean of the two plain ones, as what else
the machine does is no part of that; `by its own clock` is what the watch says it took. Promised: at
most 1.05 for the cheap tier, 0.20 more with curvature. The first look of each tier comes at once
and is in the ratio.

    python benchmarks/probes.py --steps 2000
"""

from __future__ import annotations

import argparse
import copy
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import numpy as np
import torch
from torch import nn
from torch.nn import functional

import thalweg as tw

PIECE = 50  # steps of one loop before it is another's turn
WARM = 20  # steps that are not timed


class Transformer(nn.Module):
    """Words in, one of ten classes out."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(100, 64)
        layer = nn.TransformerEncoderLayer(64, 4, 128, dropout=0.1, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(64, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Scores."""
        return self.head(self.layers(self.words(x)).mean(1))


def mlp() -> tuple[nn.Module, torch.Tensor]:
    """784-512-512-10, and batches."""
    model = nn.Sequential(
        nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10)
    )
    return model, torch.randn(8, 64, 784)


def cnn() -> tuple[nn.Module, torch.Tensor]:
    """Two convolutions, and batches."""
    model = nn.Sequential(
        nn.Conv2d(1, 16, 3), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(800, 10),
    )  # fmt: skip
    return model, torch.randn(8, 32, 1, 28, 28)


def transformer() -> tuple[nn.Module, torch.Tensor]:
    """Two layers of attention, and batches."""
    return Transformer(), torch.randint(100, (8, 16, 32))


def main() -> None:
    """Print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    print(f"{asked.steps} steps, {asked.threads} threads")
    print(f"{'':<13}{'ms a step':>10}{'again':>9}{'cheap':>9}{'looks':>7}"
          f"{'curvature':>11}{'looks':>7}{'by its own clock':>24}")  # fmt: skip
    for make in (mlp, cnn, transformer):
        measure(make, asked.steps)


def measure(make: Callable[[], tuple[nn.Module, torch.Tensor]], steps: int) -> None:
    """One line of the table."""
    torch.manual_seed(0)
    model, batches = make()
    labels = torch.randint(10, batches.shape[:2])
    with ExitStack() as stack:
        models = [copy.deepcopy(model) for _ in range(4)]
        optimizers = [torch.optim.Adam(each.parameters(), lr=1e-3) for each in models]
        loops = [stepper(m, o, batches, labels) for m, o in zip(models, optimizers, strict=True)]
        for loop in loops:
            run(loop, WARM)
        cheap = stack.enter_context(tw.watch(models[1], optimizers[1]))

        def closure() -> torch.Tensor:
            return functional.cross_entropy(models[2](batches[0]), labels[0])

        curved = stack.enter_context(tw.watch(models[2], optimizers[2], closure=closure))
        watches = [None, cheap, curved, None]
        seconds = [0.0] * 4
        for turn in range(steps // PIECE):
            for k in np.roll(range(4), turn):
                begun = time.process_time()
                run(loops[k], PIECE, watches[k])
                seconds[k] += time.process_time() - begun
    first_time, with_cheap, with_both, again = seconds
    plain = (first_time + again) / 2
    first, second = cheap.record, curved.record
    bends = int(np.isfinite(second["hessian_trace"]).sum())
    own = (
        f"{first.scalars['overhead']:.3f}, {second.scalars['overhead']:.3f} + "
        f"{second.scalars['curvature_overhead']:.3f}"
    )
    print(
        f"{make.__name__:<13}{1e3 * plain / steps:>10.2f}{again / first_time:>8.3f}×"
        f"{with_cheap / plain:>8.3f}×{len(first['look']):>7}"
        f"{with_both / plain:>10.3f}×{bends:>7}{own:>24}",
        flush=True,
    )


def stepper(
    model: nn.Module, optimizer: torch.optim.Optimizer, batches: torch.Tensor, labels: torch.Tensor
) -> Iterator[torch.Tensor]:
    """A loop as a person writes it, a step each time it is asked."""
    while True:
        for x, y in zip(batches, labels, strict=True):
            optimizer.zero_grad()
            loss = functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            yield loss


def run(loop: Iterator[torch.Tensor], steps: int, watch: tw.doctor.Watch | None = None) -> None:
    """Some steps, told to the watch if there is one."""
    for _ in range(steps):
        loss = next(loop)
        if watch is not None:
            watch.step(loss)


if __name__ == "__main__":
    main()
