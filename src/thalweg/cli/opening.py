"""What is trained by a job, made ready, with notes on its data and on what was not said."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from thalweg.cli.screen import note

if TYPE_CHECKING:
    from thalweg.jobs.opening import Opened
    from thalweg.runs.job import Job


def made_ready(job: Job) -> tuple[Opened, Any]:
    """The data, and a LinearProblem or what a network's half makes; raises where it cannot be."""
    from thalweg.jobs.opening import opened
    from thalweg.jobs.trainer import trainer_of

    data = opened(job, note)
    ready = trainer_of(job).ready(job, data.rows, data.encoding)
    if job.loss is None and not job.is_network:
        note(f"{ready.loss}, by what y holds; --loss takes another", "loss")
    return data, ready
