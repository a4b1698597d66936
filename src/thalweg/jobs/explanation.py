"""What a training leaves for its page to show of the model: what matters to it, where it errs.

On the rows that were held out, else on those of the training, which the page says. Limits are
counts and no clocks, so that a training that was killed and resumed leaves the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thalweg.core.errors import InputError
from thalweg.core.explanation import Explanation, Shuffled
from thalweg.core.outcome import Outcome
from thalweg.core.ranking import HELD_OUT, TRAINING
from thalweg.jobs.baselines import baselines_of
from thalweg.jobs.certification import rows_again
from thalweg.jobs.rows import Rows
from thalweg.jobs.trained import Trained
from thalweg.runs.importance import importance_of
from thalweg.runs.linear_model import LinearModel
from thalweg.runs.prediction import Answers, Model
from thalweg.runs.reliability import calibration, confusion, residuals
from thalweg.runs.saved import Saved
from thalweg.tables.encoding import Encoding

REPEATS = 5
LINEAR, NETWORK = 10_000_000, 1_000_000  # answers of one score that shuffling may take
FEWEST = 200  # rows, below which importance would be noise
MOST_CLASSES = 30  # of a table of confusions
MOST_ROWS = 20_000  # that are shuffled where importance is asked for


def explanation_of(
    trained: Trained, rows: Rows, encoding: Encoding, seed: int
) -> Explanation | None:
    """All that is to be kept; None of a training that diverged, whose answers mean nothing."""
    if trained.run.outcome is Outcome.DIVERGED:
        return None
    model, judged = trained.model, rows.held or rows
    answers = model.answers(judged.X)
    K = len(model.classes)
    baselines, left_out = baselines_of(rows, K, seed)
    shuffled, too_much = _importance(model, encoding, judged, seed)
    notes = [each for each in (too_much, left_out) if each]
    if K > MOST_CLASSES:
        notes.append(f"no table of confusions: {K:,} classes are too many for one")
    told, of, came_true = _probability(model, judged.y, answers)
    return Explanation(
        HELD_OUT if rows.held is not None else TRAINING,
        len(judged.y),
        shuffled,
        model.classes,
        confusion(judged.y, answers.values, K) if 0 < K <= MOST_CLASSES else (),
        of,
        () if told is None else calibration(told, came_true),
        () if K else residuals(judged.y, answers.values),
        tuple(baselines),
        tuple(notes),
    )


def _importance(
    model: Model, encoding: Encoding, judged: Rows, seed: int
) -> tuple[Shuffled | None, str]:
    """The importance, or why it was not measured."""
    columns = len(encoding.columns)
    scores = max(1, len(model.classes))
    most = LINEAR if isinstance(model, LinearModel) else NETWORK
    rows = min(len(judged.y), most // (columns * REPEATS * scores))
    if rows < min(FEWEST, len(judged.y)) or (encoding.sample_shape and most == NETWORK):
        return None, f"importance was not measured: of {columns:,} columns it would take long"
    known = judged.y >= 0 if model.classes else ~np.isnan(judged.y)
    if not known.any():
        return None, "importance was not measured: no row has a known truth"
    return importance_of(
        model, encoding, judged.X, judged.y, repeats=REPEATS, rows=rows, seed=seed
    ), ""


def _probability(
    model: Model, y: np.ndarray, answers: Answers
) -> tuple[np.ndarray | None, str, Any]:
    """A probability of each row, what it is of, and whether it came true."""
    odds, known = answers.probabilities, y >= 0
    if odds is None:
        return None, "", None
    if len(model.classes) == 2:
        return odds[known, 1], model.classes[1], y[known] == 1
    return odds[known].max(axis=1), "the class that was told", (y == answers.values)[known]


def shuffled_again(
    saved: Saved,
    data: str | None = None,
    *,
    repeats: int | None = None,
    builder: str = "",
    memory: str | None = None,
) -> tuple[Shuffled, str, tuple[str, ...]]:
    """Importance on the run's own rows or on `data`, what rows these are, and notes on them."""
    X: Any
    y: np.ndarray | None
    notes: tuple[str, ...] = ()
    if data is None:
        rows = rows_again(saved)
        X, y = (rows.held or rows)[:2]
        where = HELD_OUT if rows.held is not None else TRAINING
    else:
        table = saved.encoding.table(data, memory=memory)
        X, y, where, notes = table.X, table.y, "given", table.notes
    classes = saved.encoding.target is not None and bool(saved.encoding.target.classes)
    if y is None or not (y >= 0 if classes else ~np.isnan(y)).any():
        target = saved.encoding.target.name if saved.encoding.target else "y"
        raise InputError(
            f"{data} must have the target {target!r}, to tell how much worse answers get: give "
            f"rows that have it, or leave DATA out, thalweg explain {saved.folder}"
        )
    found = importance_of(
        saved.model(builder=builder), saved.encoding, X, y,
        repeats=repeats or REPEATS, rows=MOST_ROWS, seed=saved.job.seed,
    )  # fmt: skip
    return found, where, notes
