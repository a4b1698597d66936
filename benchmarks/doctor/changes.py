"""What a careless preparation does to data: functions of a `Split`, an amount and a generator.

`fresh` rows are what the users of the trained network will have. Most changes touch them as they
touch the rest, since the same code prepares them; what leaks is not in them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from doctor.data import Split

Change = Callable[[Split, float, np.random.Generator], Split]


def everywhere(function: Callable[[np.ndarray], np.ndarray], made: Split) -> Split:
    """The same function of all samples."""
    x, x_val, x_fresh = (function(part) for part in (made.x, made.x_val, made.x_fresh))
    return replace(made, x=x, x_val=x_val, x_fresh=x_fresh)


def scale(made: Split, factor: float, rng: np.random.Generator) -> Split:
    """All features in other units."""
    return everywhere(lambda x: x * factor, made)


def shift(made: Split, distance: float, rng: np.random.Generator) -> Split:
    """All features far from zero."""
    return everywhere(lambda x: x + distance, made)


def spread_columns(made: Split, ratio: float, rng: np.random.Generator) -> Split:
    """Each feature in units of its own: factors from 1 to `ratio`, in geometric steps."""
    factors = ratio ** np.linspace(0.0, 1.0, made.x.shape[1])
    return everywhere(lambda x: x * factors, made)


def round_off(made: Split, step: float, rng: np.random.Generator) -> Split:
    """Cast to whole numbers of `step`, towards zero: what was in [0, step) is nothing."""
    return everywhere(lambda x: np.trunc(x / step) * step, made)


def clip(made: Split, limit: float, rng: np.random.Generator) -> Split:
    """Cut to [−limit, limit]: raw numbers are then all alike."""
    return everywhere(lambda x: np.clip(x, -limit, limit), made)


def one_row(made: Split, amount: float, rng: np.random.Generator) -> Split:
    """A buffer that is written once: every sample is the first one."""
    first = made.x[:1]
    return everywhere(lambda x: np.repeat(first, len(x), 0), made)


def leak_label(made: Split, size: float, rng: np.random.Generator) -> Split:
    """A feature that is the label; nobody has it when it matters: then it is any label."""

    def beside(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.column_stack([x, size * y])

    others = rng.permutation(made.y_fresh)
    return replace(
        made,
        x=beside(made.x, made.y),
        x_val=beside(made.x_val, made.y_val),
        x_fresh=beside(made.x_fresh, others),
    )


def leak_rows(made: Split, share: float, rng: np.random.Generator) -> Split:
    """Validation on rows that are in the training data too, but for a `share`."""
    rows = rng.choice(len(made.x), len(made.x_val))
    kept = rng.random(len(rows)) < share
    x_val, y_val = made.x[rows], made.y[rows]
    x_val[kept], y_val[kept] = made.x_val[kept], made.y_val[kept]
    return replace(made, x_val=x_val, y_val=y_val)


def shuffle_labels(made: Split, share: float, rng: np.random.Generator) -> Split:
    """A share of the training labels put in another order among themselves."""
    rows = np.flatnonzero(rng.random(len(made.y)) < share)
    y = made.y.copy()
    y[rows] = y[rng.permutation(rows)]
    return replace(made, y=y)


def roll_labels(made: Split, rows: float, rng: np.random.Generator) -> Split:
    """Training labels that are off by some rows."""
    return replace(made, y=np.roll(made.y, int(rows)))


def imbalance(made: Split, share: float, rng: np.random.Generator) -> Split:
    """Of every class but the last, all training rows; of the last, a share, rounded up."""
    last = np.flatnonzero(made.y == made.y.max())
    gone = last[int(np.ceil(share * len(last))) :]
    return replace(made, x=np.delete(made.x, gone, 0), y=np.delete(made.y, gone))


def sort(made: Split, amount: float, rng: np.random.Generator) -> Split:
    """Training rows in the order of their labels."""
    order = np.argsort(made.y, kind="stable")
    return replace(made, x=made.x[order], y=made.y[order])


def outlier_targets(made: Split, share: float, rng: np.random.Generator) -> Split:
    """A share of the training targets a thousand times too large."""
    y = made.y.copy()
    y[rng.random(len(y)) < share] *= 1000.0
    return replace(made, y=y)


def not_a_number(made: Split, share: float, rng: np.random.Generator) -> Split:
    """Missing values of training rows, as files have them."""
    x = made.x.copy()
    x[rng.random(x.shape) < share] = np.nan
    return replace(made, x=x)


def scale_targets(made: Split, factor: float, rng: np.random.Generator) -> Split:
    """Targets in other units."""
    return replace(
        made, y=made.y * factor, y_val=made.y_val * factor, y_fresh=made.y_fresh * factor
    )


def noise_columns(made: Split, count: float, rng: np.random.Generator) -> Split:
    """Features that have to do with nothing."""
    return everywhere(
        lambda x: np.column_stack([x, rng.standard_normal((len(x), int(count)))]), made
    )


def faint_columns(made: Split, count: float, rng: np.random.Generator) -> Split:
    """Features of size 1e-40, as products of many probabilities are."""
    return everywhere(
        lambda x: np.column_stack([x, 1e-40 * rng.standard_normal((len(x), int(count)))]), made
    )


def bumps(made: Split, gamma: float, rng: np.random.Generator) -> Split:
    """Radial features exp(−γ‖x − c‖²) about 48 training rows c."""
    centres = made.x[rng.choice(len(made.x), 48, replace=False)]

    def features(x: np.ndarray) -> np.ndarray:
        return np.exp(-gamma * ((x[:, None] - centres) ** 2).sum(2))

    return everywhere(features, made)


CHANGES: dict[str, Change] = {
    "scale": scale,
    "shift": shift,
    "spread columns": spread_columns,
    "round off": round_off,
    "clip": clip,
    "one row": one_row,
    "leak label": leak_label,
    "leak rows": leak_rows,
    "shuffle labels": shuffle_labels,
    "roll labels": roll_labels,
    "imbalance": imbalance,
    "sort": sort,
    "outlier targets": outlier_targets,
    "not a number": not_a_number,
    "scale targets": scale_targets,
    "noise columns": noise_columns,
    "faint columns": faint_columns,
    "bumps": bumps,
}
