"""What all cross-validated estimators do with folds: ask for them, and keep what they predicted.

Metadata goes where scikit-learn's own classes of the same names send it: `groups` and the like to
the splitter, weights to the fits, and to the scorer that asks for them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import check_cv
from sklearn.utils import Bunch
from sklearn.utils._metadata_requests import _raise_for_params, _routing_enabled, process_routing

from thalweg.core.errors import InputError


class Metadata(NamedTuple):
    """What came with a fit, by who asked for it."""

    for_split: dict[str, Any]
    for_score: dict[str, Any]


class Fold(NamedTuple):
    """Rows to fit to and rows to be scored on."""

    train: np.ndarray  # int64
    test: np.ndarray  # int64


def routed(estimator: Any, sample_weight: Any, params: dict[str, Any]) -> Metadata:
    """The metadata of a fit; without routing the scorer has the weights, and nothing else goes."""
    _raise_for_params(params, estimator, "fit")
    given = {} if sample_weight is None else {"sample_weight": sample_weight}
    if not _routing_enabled():
        return Metadata({}, given)
    sent = process_routing(estimator, "fit", **given, **params)
    nobody = Bunch(split={}, score={})
    return Metadata(sent.get("splitter", nobody).split, sent.get("scorer", nobody).score)


def folds_of(
    cv: Any, X: Any, y: Any, metadata: Metadata, *, is_classifier: bool = False
) -> list[Fold]:
    """The folds that `cv` makes, in its order."""
    splits = check_cv(cv, y, classifier=is_classifier).split(X, y, **metadata.for_split)
    rows = np.arange(len(y))
    folds = [Fold(rows[train], rows[test]) for train, test in splits]
    if not folds:
        raise InputError("cv must give one fold or more, got none: use cv=5")
    for k, fold in enumerate(folds):
        if not (fold.train.size and fold.test.size):
            raise InputError(
                f"cv must give rows to fit to and rows to score on, got fold {k} with "
                f"{fold.train.size} and {fold.test.size}: use fewer folds"
            )
    return folds


def out_of_fold(n: int, folds: list[Fold], predictions: list[np.ndarray]) -> np.ndarray:
    """What each row was predicted by models that had not seen it, float64[n, …].

    `predictions` are those of the test rows of each fold. A row that was tested several times has
    the mean of them, and one that never was has NaN.
    """
    total = np.zeros((n, *predictions[0].shape[1:]))
    count = np.zeros(n)
    for fold, predicted in zip(folds, predictions, strict=True):
        np.add.at(total, fold.test, predicted)
        np.add.at(count, fold.test, 1.0)
    count = count.reshape(n, *[1] * (total.ndim - 1))
    return np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0.0)
