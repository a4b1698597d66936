import json
from dataclasses import replace

import numpy as np
import pytest

import thalweg as tw
from thalweg.jobs import folds
from thalweg.jobs.folds import FOLDS, MEAN, SPREAD, cross_validate
from thalweg.jobs.linear import check_linear, ready_linear, train_linear
from thalweg.jobs.rows import folds_of
from thalweg.jobs.trainer import Trainer
from thalweg.runs.job import Job


def test_scores_are_those_of_models_that_never_saw_the_fold(tmp_path):
    job, table = Job("@diabetes", l2="0.1", folds=4), tw.read("@diabetes")
    found = cross_validate(job, table, tmp_path, progress=False)
    r2 = []
    for part in folds_of(job, table):
        model = tw.Ridge(alpha=0.1 * len(part.y)).fit(part.X, part.y)
        r2.append(model.score(part.held.X, part.held.y))
    assert found[MEAN]["R²"] == pytest.approx(np.mean(r2), abs=1e-5)
    assert found[SPREAD]["R²"] == pytest.approx(np.std(r2, ddof=1), abs=1e-5)


def test_folds_that_are_done_are_not_done_again(tmp_path):
    (tmp_path / FOLDS).write_text(json.dumps([{"R²": 0.25}, {"R²": 0.75}]))
    found = cross_validate(Job("@diabetes", folds=2), tw.read("@diabetes"), tmp_path)
    assert found[MEAN] == {"R²": 0.5}


def test_ctrl_c_in_a_fold_ends_them_all(tmp_path, monkeypatch):
    def interrupted(job, ready, encoding, **options):
        trained = train_linear(job, ready, encoding, **options)
        return trained._replace(run=replace(trained.run, outcome=tw.Outcome.INTERRUPTED))

    monkeypatch.setattr(
        folds, "trainer_of", lambda job: Trainer(ready_linear, interrupted, check_linear)
    )
    with pytest.raises(KeyboardInterrupt):
        cross_validate(Job("@diabetes", folds=2), tw.read("@diabetes"), tmp_path, progress=False)
    assert list(tmp_path.iterdir()) == []
