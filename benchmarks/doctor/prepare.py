"""From `Data` to a `Split`: taken from its source, divided in two, scaled, and then changed.

Seven rows of ten train, as in AutoTrainer's zoo. Scaling is measured on the training rows alone.
Changes are what a careless preparation does; each is a function of `doctor.changes`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch

from doctor.changes import CHANGES
from doctor.data import Data, Split
from doctor.sources import source

TRAINING = 0.7


def prepare(data: Data) -> Split:
    """Training, validation and fresh rows, the same ones at every call."""
    x, y = source(data.source)
    rng = np.random.default_rng(7)
    order = rng.permutation(len(x))
    x, y = x[order], y[order]
    cut = int(TRAINING * len(x))
    rows = cut if data.rows is None else data.rows
    is_regression = y.dtype.kind == "f"
    x_train, y_train = _scaled(data.scaling, x[:rows], x[:rows]), y[:rows]
    x_val, y_val = _scaled(data.scaling, x[:rows], x[cut:]), y[cut:]
    if is_regression and data.target_scaling == "z-score":
        mean, spread = y_train.mean(), y_train.std()
        y_train, y_val = (y_train - mean) / spread, (y_val - mean) / spread
    classes = 0 if is_regression else int(y.max()) + 1
    made = Split(x_train, y_train, x_val, y_val, x_val, y_val, classes)
    for name, amount in data.changes:
        made = CHANGES[name](made, amount, rng)
    return _tensors(made, data)


def _scaled(scaling: str, seen: np.ndarray, x: np.ndarray) -> np.ndarray:
    """`x` by what was seen in training: each feature, or all together ("global", "unit")."""
    if scaling == "none":
        return x.copy()
    if scaling == "unit":
        return x / np.abs(seen).max()
    if scaling == "global":
        return (x - seen.mean()) / seen.std()
    if scaling == "min-max":
        low, spread = seen.min(0), np.ptp(seen, 0)
    else:
        low, spread = seen.mean(0), seen.std(0)
    return (x - low) / np.where(spread > 0, spread, 1.0)


def _tensors(made: Split, data: Data) -> Split:
    dtype = getattr(torch, data.precision)

    def samples(x: np.ndarray) -> torch.Tensor:
        side = round(x.shape[1] ** 0.5)
        shaped = x.reshape(len(x), 1, side, side) if data.as_images else x
        return torch.tensor(np.ascontiguousarray(shaped), dtype=dtype)

    def labels(y: np.ndarray) -> torch.Tensor:
        return torch.tensor(y, dtype=torch.int64 if made.classes else dtype)

    return replace(
        made,
        x=samples(made.x),
        y=labels(made.y),
        x_val=samples(made.x_val),
        y_val=labels(made.y_val),
        x_fresh=samples(made.x_fresh),
        y_fresh=labels(made.y_fresh),
    )
