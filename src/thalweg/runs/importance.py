"""Permutation importance: how much worse a model answers where one column is shuffled.

    importance of column j  =  mean over shuffles π of  worse(score(X with xⱼ := xⱼ[π]), score(X))

and its spread is the standard deviation over the shuffles. It is what the model relies on, not what
the world does: of two columns that say the same, each may be small, as the other stays. A column of
text is shuffled whole, all its categories at once. The score is R², the log loss where there are
probabilities, else accuracy.

Cost: a linear model's scores change by (xⱼ[π] − xⱼ)wⱼ, O(n) a shuffle; any other model answers all
rows anew.
Breiman, Machine Learning 45 (2001); Fisher, Rudin & Dominici, JMLR 20 (2019).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse

from thalweg.core.explanation import RAISES, Importance, Shuffled
from thalweg.core.scores import class_scores, number_scores
from thalweg.runs.linear_model import LinearModel
from thalweg.runs.prediction import Answers, Model
from thalweg.tables.encoding import Encoding

Shuffle = Callable[[slice, np.ndarray], Answers]  # (features of a column, order of the rows)


def importance_of(
    model: Model,
    encoding: Encoding,
    X: Any,
    y: np.ndarray,
    *,
    repeats: int,
    rows: int,
    seed: int = 0,
) -> Shuffled:
    """Of every column of the source, the largest first, on `rows` rows at most, drawn."""
    rng = np.random.default_rng(seed)
    known = np.flatnonzero(y >= 0 if model.classes else ~np.isnan(y))
    if len(known) > rows:
        known = np.sort(rng.choice(known, rows, replace=False))
    if len(known) < X.shape[0]:
        X, y = X[known], y[known]
    measure, score = scored(model, y, model.answers(X))
    sign = 1.0 if measure in RAISES else -1.0
    shuffled = _shuffles(model, X)
    found, start = [], 0
    for column in encoding.columns:
        part = slice(start, start + len(column.features))
        start = part.stop
        worse = [
            sign * (scored(model, y, shuffled(part, rng.permutation(len(y))))[1] - score)
            for _ in range(repeats)
        ]
        found.append(Importance(column.name, float(np.mean(worse)), float(np.std(worse))))
    found.sort(key=lambda each: -each.mean)
    return Shuffled(measure, score, len(y), repeats, tuple(found))


def scored(model: Model, y: np.ndarray, answers: Answers) -> tuple[str, float]:
    """The measure that importance is of, and its value."""
    if not model.classes:
        return "R²", number_scores(y, answers.values)["R²"]
    measure = "accuracy" if answers.probabilities is None else "log loss"
    return measure, class_scores(y, *answers)[measure]


def _shuffles(model: Model, X: Any) -> Shuffle:
    return _of_scores(model, X) if isinstance(model, LinearModel) else _of_rows(model, X)


def _of_scores(model: LinearModel, X: Any) -> Shuffle:
    """By what the shuffle adds to the scores."""
    z, by_column = model.scores(X), X.tocsc() if scipy.sparse.issparse(X) else X

    def shuffled(part: slice, order: np.ndarray) -> Answers:
        own = np.asarray(by_column[:, part] @ model.coefficients[part])
        return model.answers_of(z + (own[order] - own))

    return shuffled


def _of_rows(model: Model, X: Any) -> Shuffle:
    """By rows with that column shuffled."""
    changed = X.toarray() if scipy.sparse.issparse(X) else np.array(X)

    def shuffled(part: slice, order: np.ndarray) -> Answers:
        own = changed[:, part].copy()
        changed[:, part] = own[order]
        answers = model.answers(changed)
        changed[:, part] = own
        return answers

    return shuffled
