"""The data of a job: read, and known again by their fingerprint.

Where the loss says what kind of target it needs, so does the reading: whole numbers are classes for
the logistic loss and quantities for the squared one.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from thalweg.objectives.linear import CLASSIFIERS
from thalweg.runs.job import Job
from thalweg.tables.read import read
from thalweg.tables.table import Table

NETWORK_TASKS = {"squared": "regression", "cross-entropy": "classification"}
MOST_SCALES = 200  # features whose scales are kept: the largest and the smallest


def table_of(job: Job) -> Table:
    """The data of the job as numbers."""
    return read(job.source, job.target, **{"task": task_of(job), **job.reading})


def task_of(job: Job) -> str | None:
    """What the loss takes the target for; None where it was not said."""
    if job.loss is not None:
        return "classification" if job.loss in CLASSIFIERS else "regression"
    return NETWORK_TASKS.get((job.recipe or {}).get("loss", ""))


def placed(source: str, directory: str) -> str:
    """A source as it was typed in `directory`, for a process that may be elsewhere."""
    if source.startswith("@") or Path(source).is_absolute():
        return source
    return str(Path(directory) / source)


def here(job: Job, directory: str) -> Job:
    """The job with its files found from where this process is."""
    held = job.validation
    return job.changed(
        source=placed(job.source, directory),
        validation=placed(held, directory) if isinstance(held, str) else held,
    )


def fingerprint(X: Any, y: np.ndarray) -> str:
    """A hash of the numbers; the same data give the same one, some 1 GB/s."""
    parts = (X.data, X.indices, X.indptr) if scipy.sparse.issparse(X) else (X,)
    found = hashlib.blake2b(digest_size=16)
    for part in (*parts, y):
        found.update(f"{part.shape} {part.dtype}".encode())
        rows = part if part.flags.c_contiguous or not part.flags.f_contiguous else part.T
        found.update(np.ascontiguousarray(rows).data)
    return found.hexdigest()


def scales(table: Table) -> list[tuple[str, float, float]]:
    """Features with mean and standard deviation; of many, those with the most extreme ones."""
    mean, spread = table.mean_and_spread
    order = np.argsort(-spread, kind="stable")
    if len(order) > MOST_SCALES:
        order = np.concatenate([order[: MOST_SCALES // 2], order[-MOST_SCALES // 2 :]])
    names = table.feature_names
    return [(names[j], float(mean[j]), float(spread[j])) for j in order]
