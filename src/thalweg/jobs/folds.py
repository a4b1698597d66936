"""Cross-validation: each fold is held out once, the model trained on the others and scored on it.

The scores go to `folds.json` when all are there, so that a training that is resumed later does not
do them again. Everything is drawn by the seed.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from thalweg.core.outcome import Outcome
from thalweg.core.storage import from_json, to_json, write_file
from thalweg.jobs.rows import Rows, folds_of
from thalweg.jobs.trainer import trainer_of
from thalweg.runs.job import Job
from thalweg.runs.prediction import scores_of
from thalweg.tables.encoding import Encoding
from thalweg.tables.table import Table

FOLDS = "folds.json"
MEAN, SPREAD = "mean over folds", "standard deviation over folds"


def cross_validate(
    job: Job, table: Table, folder: Path, *, progress: bool = True
) -> dict[str, dict[str, float]]:
    """Mean and standard deviation of the scores over the folds."""
    file = folder / FOLDS
    if not file.exists():
        found = [_scores(job, part, table.encoding, progress) for part in folds_of(job, table)]
        write_file(file, to_json(found))
    scores: list[Mapping[str, float]] = from_json(file.read_bytes(), source=str(file))
    columns = {name: np.array([each[name] for each in scores]) for name in scores[0]}
    return {
        MEAN: {name: float(column.mean()) for name, column in columns.items()},
        SPREAD: {name: float(column.std(ddof=1)) for name, column in columns.items()},
    }


def _scores(job: Job, part: Rows, encoding: Encoding, progress: bool) -> dict[str, float]:
    """Of the held-out rows, by a model trained on the others."""
    trainer = trainer_of(job)
    ready = trainer.ready(job, part, encoding)
    trained = trainer.train(job, ready, encoding, progress=progress)
    if trained.run.outcome is Outcome.INTERRUPTED:
        raise KeyboardInterrupt  # the fold has ended well; the folds are to end too
    assert part.held is not None
    return scores_of(trained.model, part.held.X, part.held.y)
