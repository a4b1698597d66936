"""What the simplest and a flexible model of another kind do on the same rows.

constant          the mean of the training rows, or their most frequent class with their shares as
                  probabilities: what any model has to beat
boosted forest    scikit-learn's HistGradientBoosting, 50 trees: it bends and crosses columns by
                  itself, so that what it has over a linear model is what straight lines leave

The forest is told by rows that it has not seen, or not at all: on its own rows it would be praised
for what it knows by heart. It is grown where rows × columns × classes of the training are at most
4·10⁶, about a second; other numbers of this machine's would make a page of other contents.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse

from thalweg.core.explanation import Baseline
from thalweg.core.scores import class_scores, number_scores
from thalweg.jobs.rows import Rows

MOST = 4_000_000  # numbers, times classes
TREES = 50
CONSTANT, FOREST = "constant", "boosted forest"


def baselines_of(rows: Rows, classes: int, seed: int) -> tuple[list[Baseline], str]:
    """Those that are cheap enough, and a sentence where the forest was left out."""
    judged = rows.held or rows
    found = [Baseline(CONSTANT, _constant(rows, judged, classes))]
    size = rows.X.shape[0] * rows.X.shape[1] * max(1, classes if classes > 2 else 1)
    if rows.held is None:
        return found, "no forest beside it, as no rows are held out: --validation 0.2 holds some"
    if scipy.sparse.issparse(rows.X) or size > MOST:
        storage = "sparse" if scipy.sparse.issparse(rows.X) else "dense"
        n, p = rows.X.shape
        return found, f"no forest beside it: on {n:,} × {p:,} {storage} it would take long"
    return [*found, Baseline(FOREST, _forest(rows, judged, classes, seed))], ""


def _constant(rows: Rows, judged: Rows, classes: int) -> dict[str, float]:
    if not classes:
        return number_scores(judged.y, np.full(len(judged.y), rows.y.mean()))
    shares = np.bincount(rows.y, minlength=classes) / len(rows.y)
    told = np.full(len(judged.y), int(shares.argmax()))
    return class_scores(judged.y, told, np.tile(shares, (len(judged.y), 1)))


def _forest(rows: Rows, judged: Rows, classes: int, seed: int) -> dict[str, float]:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    options = {"max_iter": TREES, "early_stopping": False, "random_state": seed}
    if not classes:
        forest = HistGradientBoostingRegressor(**options).fit(rows.X, rows.y)
        return number_scores(judged.y, forest.predict(judged.X))
    forest = HistGradientBoostingClassifier(**options).fit(rows.X, rows.y)
    odds = np.zeros((len(judged.y), classes))
    odds[:, forest.classes_] = forest.predict_proba(judged.X)
    return class_scores(judged.y, odds.argmax(axis=1), odds)
