import pytest

import thalweg as tw
from thalweg.jobs.rows import rows_of
from thalweg.jobs.trained import Trained
from thalweg.jobs.trainer import trainer_of
from thalweg.runs.job import Job


def test_the_model_is_the_one_the_run_ended_with():
    job, table = Job("@diabetes"), tw.read("@diabetes")
    trainer, rows = trainer_of(job), rows_of(Job("@diabetes"), tw.read("@diabetes"))
    ready = trainer.ready(job, rows, table.encoding)
    trained = trainer.train(job, ready, table.encoding, progress=False)
    assert isinstance(trained, Trained)
    assert trained.point is None
    assert list(trained.files) == ["model.npz"]
    loss = ((trained.model.answers(rows.X).values - rows.y) ** 2).mean() / 2
    penalty = (trained.model.coefficients**2).sum() / 2 / len(rows.y)
    assert loss + penalty == pytest.approx(trained.run.value)
