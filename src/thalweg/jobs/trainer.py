"""Which half trains a job: linear models, or networks, whose torch is imported only for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from thalweg.jobs.linear import check_linear, ready_linear, train_linear
from thalweg.jobs.trained import Trained
from thalweg.runs.job import Job


class Trainer(NamedTuple):
    """Two steps, what may be refused and what takes time; and the first for a second method."""

    ready: Callable[..., Any]  # (job, rows, encoding): what is trained, checked
    train: Callable[..., Trained]  # (job, that, encoding, folder=, progress=)
    check: Callable[..., None]  # (job, what was made ready for another method, encoding)


def trainer_of(job: Job) -> Trainer:
    """The half that trains `job`."""
    if not job.is_network:
        return Trainer(ready_linear, train_linear, check_linear)
    from thalweg.jobs.network import train_network
    from thalweg.jobs.network_training import check_network, ready

    return Trainer(ready, train_network, check_network)
