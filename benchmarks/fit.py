"""What `tw.nets.fit` takes beside loops that a person writes, and to which accuracy.

A 784-512-512-10 network with ReLU, Adam at 0.001, batches of 64, a few epochs of MNIST:

    fit        tw.nets.fit
    loader     the straightforward loop: a DataLoader over a TensorDataset, torch.optim.Adam
    memory     the same loop over indices drawn in memory, with the optimizer that fit has
    fused      the same with torch.optim.Adam(fused=True)

All begin at the same weights and are timed in turns. What else a machine does only adds to a time:
each loop's least is compared, and the median is printed beside it. Accuracies are those on the
test images.
fit should take at most 0.9 of `loader` and 1.05 of `memory`. The data is read from the folder that
`THALWEG_DATA` names, as in the other benchmarks; without it random data of that size is taken, and
accuracies mean nothing.

    python benchmarks/fit.py --epochs 5 --turns 3
"""

from __future__ import annotations

import argparse
import copy
import statistics
import time
from collections.abc import Callable

import numpy as np
import torch
from peers import data as stored
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

import thalweg as tw

BATCH = 64
RATE = 1e-3
Data = tuple[torch.Tensor, torch.Tensor]


def main() -> None:
    """Print seconds, ratios and accuracies."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--turns", type=int, default=3)
    asked = parser.parse_args()
    train, test = mnist()
    torch.manual_seed(0)
    first = network()
    for loop in LOOPS.values():  # what is compiled or allocated once is not timed
        loop(copy.deepcopy(first), (train[0][:640], train[1][:640]), 1)
    seconds: dict[str, list[float]] = {name: [] for name in LOOPS}
    accuracy: dict[str, float] = {}
    for _ in range(asked.turns):
        for name, loop in LOOPS.items():
            model = copy.deepcopy(first)
            begun = time.perf_counter()
            loop(model, train, asked.epochs)
            seconds[name].append(time.perf_counter() - begun)
            accuracy[name] = tw.nets.evaluate(model, test).accuracy
    print(f"{asked.epochs} epochs of {len(train[0]):,} × 784, {torch.get_num_threads()} threads")
    print(f"{'':<10}{'least s':>10}{'median s':>10}{'fit takes':>12}{'accuracy':>12}")
    for name, taken in seconds.items():
        least, ratio = min(taken), min(seconds["fit"]) / min(taken)
        cells = f"{least:>10.2f}{statistics.median(taken):>10.2f}{ratio:>11.3f}×"
        cells += f"{accuracy[name]:>12.4f}"
        print(f"{name:<10}{cells}", flush=True)


def mnist() -> tuple[Data, Data]:
    """Training and test images, or noise of that size."""
    try:
        parts = [
            stored.images(f"{part}-images-idx3-ubyte.gz", f"{part}-labels-idx1-ubyte.gz")
            for part in ("train", "t10k")
        ]
    except (SystemExit, OSError) as missing:
        print(f"random data of MNIST's size, accuracies mean nothing: {missing}")
        rng = np.random.default_rng(0)
        parts = [(rng.random((n, 784)), rng.integers(10, size=n)) for n in (60_000, 10_000)]
    pairs = [
        (torch.tensor(X, dtype=torch.float32), torch.tensor(y, dtype=torch.int64)) for X, y in parts
    ]
    return pairs[0], pairs[1]


def network() -> nn.Sequential:
    """784-512-512-10."""
    return nn.Sequential(
        nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10)
    )


def fit(model: nn.Module, data: Data, epochs: int) -> None:
    """Ours."""
    optimizer = tw.nets.Adam(model.parameters(), lr=RATE)
    tw.nets.fit(model, data, optimizer, epochs=epochs, batch_size=BATCH, progress=False)


def loader(model: nn.Module, data: Data, epochs: int) -> None:
    """As in the tutorials."""
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
    batches = DataLoader(TensorDataset(*data), batch_size=BATCH, shuffle=True)
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss = functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()


def memory(model: nn.Module, data: Data, epochs: int) -> None:
    """By hand, over indices."""
    in_memory(model, data, epochs, tw.nets.Adam(model.parameters(), lr=RATE))


def fused(model: nn.Module, data: Data, epochs: int) -> None:
    """By hand, with PyTorch's fastest Adam."""
    in_memory(model, data, epochs, torch.optim.Adam(model.parameters(), lr=RATE, fused=True))


def in_memory(model: nn.Module, data: Data, epochs: int, optimizer: torch.optim.Optimizer) -> None:
    """The loop of both."""
    X, y = data
    for _ in range(epochs):
        order = torch.randperm(len(X))
        for start in range(0, len(X), BATCH):
            rows = order[start : start + BATCH]
            optimizer.zero_grad()
            loss = functional.cross_entropy(model(X[rows]), y[rows])
            loss.backward()
            optimizer.step()


LOOPS: dict[str, Callable[[nn.Module, Data, int], None]] = {
    "fit": fit,
    "loader": loader,
    "memory": memory,
    "fused": fused,
}


if __name__ == "__main__":
    main()
