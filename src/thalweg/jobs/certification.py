"""What the saved weights of a run are, proved anew on its data.

linear     the duality gap of the weights, or Newton's decrement where there is no penalty
network    minimum, saddle, neither or not stationary, by the loss on some of its rows

The data are read again and must be those that the run was trained on.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thalweg.certificates.certify import certify
from thalweg.certificates.critical_point import CriticalPoint
from thalweg.core.certificate import Certificate
from thalweg.core.errors import InputError
from thalweg.core.kinds import damaged
from thalweg.jobs.linear import problem_of
from thalweg.jobs.opening import opened_again
from thalweg.jobs.rows import Rows
from thalweg.jobs.source import here
from thalweg.runs.folder import ENCODING
from thalweg.runs.saved import Saved


def certified(saved: Saved, *, builder: str = "") -> Certificate | CriticalPoint:
    """A certificate of a linear model, or a verdict on a network; `builder` names its code."""
    rows, features = rows_again(saved), len(saved.encoding.feature_names)
    if rows.X.shape[1] != features:
        what = f"it tells of {features} features, and the data have {rows.X.shape[1]}"
        raise damaged(f"{saved.folder}/{ENCODING}", ValueError(what))
    if saved.job.is_network:
        return _network(saved, rows, builder)
    problem, run = problem_of(saved.job, rows, saved.encoding), saved.run
    coefficients, intercepts = problem.coefficients(run.w)
    model = saved.linear_model
    if not (
        np.array_equal(coefficients, model.coefficients)
        and np.array_equal(intercepts, model.intercepts)
    ):
        raise InputError(
            f"{saved.folder} must hold one model, and model.npz is not that of weights.npz: "
            "restore both from a copy, or train again"
        )
    return certify(problem, run.w, dual=run.dual, tol=saved.job.tol)


def rows_again(saved: Saved) -> Rows:
    """The rows of the run, read anew."""
    job = here(saved.job, saved.header.directory)
    return opened_again(job, saved.folder, saved.header.fingerprint).rows


def _network(saved: Saved, rows: Rows, builder: str) -> Any:
    from thalweg.jobs.network_certificate import certify_network
    from thalweg.jobs.network_recipe import job_recipe
    from thalweg.jobs.network_samples import pair

    recipe = job_recipe(saved.job, saved.encoding)
    data = pair(rows, saved.encoding, recipe.loss)
    return certify_network(saved.module(builder=builder), recipe, data, saved.job.seed).point
