"""Which half trains a job: linear models, or networks, whose torch is imported only for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from thalweg.jobs.linear import ready_linear, train_linear
from thalweg.jobs.trained import Trained
from thalweg.runs.job import Job


class Trainer(NamedTuple):
    """Two steps: what may be refused, and what takes time."""

    ready: Callable[..., Any]  # (job, rows, encoding): what is trained, checked
    train: Callable[..., Trained]  # (job, that, encoding, folder=, progress=)


def trainer_of(job: Job) -> Trainer:
    """The half that trains `job`."""
    if not job.is_network:
        return Trainer(ready_linear, train_linear)
    from thalweg.jobs.network import train_network
    from thalweg.jobs.network_training import ready

    return Trainer(ready, train_network)
