"""The Cs of every fold and share of l1, in the shapes that scikit-learn gives them.

New ones are arrays [folds, ratios, Cs, …]. The old ones are dicts by class, each with the same
scores [folds, Cs, ratios], and without the last axis where no ratio was asked for.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Walk(NamedTuple):
    """What came of the Cs of one fold with one l1_ratio."""

    W: np.ndarray  # coefficients with intercepts, float64[K, rows of coef_, p or p + 1]
    iterations: np.ndarray  # int32[K]
    gaps: np.ndarray  # float64[K]
    is_done: np.ndarray  # bool[K]


def mean_of_best(
    walks: list[list[Walk]], scores: np.ndarray, Cs: np.ndarray, ratios: list[float]
) -> tuple[np.ndarray, float, float]:
    """The mean coefficients of the folds, each at its best penalty, and the mean C and ratio."""
    F = len(walks)
    best = [divmod(int(np.argmax(scores[f].ravel())), len(Cs)) for f in range(F)]
    W = np.mean([walks[f][r].W[k] for f, (r, k) in enumerate(best)], axis=0)
    return W, float(np.mean([Cs[k] for _, k in best])), float(np.mean([ratios[r] for r, _ in best]))


def new_shapes(
    walks: list[list[Walk]], scores: np.ndarray, chosen: tuple[float, float]
) -> dict[str, Any]:
    """Attributes with use_legacy_attributes=False; walks are by fold and ratio."""
    C, ratio = chosen
    paths = np.array([[walk.W for walk in each] for each in walks])  # [F, R, K, rows, p + 1]
    iterations = np.array([[walk.iterations for walk in each] for each in walks])
    return {
        "C_": C, "l1_ratio_": ratio, "coefs_paths_": paths, "scores_": scores,
        "n_iter_": iterations,
    }  # fmt: skip


def old_shapes(new: dict[str, Any], classes: np.ndarray, is_plain: bool) -> dict[str, Any]:
    """The same with use_legacy_attributes=True; of two classes the second alone is told."""
    told = classes[1:] if len(classes) == 2 else classes
    by_ratio: Any = (slice(None),) * 2 + ((0,) if is_plain else (slice(None),))
    paths = np.moveaxis(new["coefs_paths_"], (0, 1, 2, 3), (1, 3, 2, 0))  # [rows, F, K, R, p + 1]
    return {
        "C_": np.full(len(told), new["C_"]),
        "l1_ratio_": np.full(len(told), new["l1_ratio_"]),
        "coefs_paths_": {each: paths[c][by_ratio] for c, each in enumerate(told)},
        "scores_": {each: new["scores_"].swapaxes(1, 2)[by_ratio] for each in told},
        "n_iter_": new["n_iter_"].swapaxes(1, 2)[by_ratio][None],
    }
