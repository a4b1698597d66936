import json
import shutil

import numpy as np
import pytest

import thalweg as tw
from thalweg.core.errors import InputError, StorageError
from thalweg.core.outcome import Outcome
from thalweg.jobs import explanation
from thalweg.jobs.explanation import explanation_of, shuffled_again
from thalweg.runs.folder import EXPLANATION

QUIET = {"progress": False, "report": False}


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A classifier and a regression, with rows held out and without."""
    place = tmp_path_factory.mktemp("explained")
    return {
        "cancer": tw.train(
            tw.Job("@cancer", standardize=True, validation=0.25), place / "cancer", **QUIET
        ),
        "diabetes": tw.train(tw.Job("@diabetes"), place / "diabetes", **QUIET),
    }


def test_held_out_rows_where_there_are_any(saved):
    known = tw.load(saved["cancer"].folder).explanation
    scores = saved["cancer"].scores["held out"]
    assert known.rows == "held out"
    table = np.array(known.confusion)
    assert table.sum() == known.count == 142
    assert np.trace(table) / 142 == pytest.approx(scores["accuracy"])
    assert sum(each.rows for each in known.calibration) == 142
    assert known.calibrated == "benign"
    assert known.importance.score == pytest.approx(scores["log loss"])
    assert [each.name for each in known.baselines] == ["constant", "boosted forest"]
    assert known.notes == ()


def test_else_those_of_the_training(saved):
    known = saved["diabetes"].explanation
    assert known.rows == "training"
    assert known.count == sum(each.rows for each in known.residuals) == 442
    assert known.confusion == known.calibration == ()
    assert known.importance.columns[0].column in ("bmi", "s1", "s5")
    assert "--validation 0.2" in known.notes[0]


def test_the_same_training_leaves_the_same(saved, tmp_path):
    again = tw.train(saved["cancer"].job, tmp_path / "again", **QUIET)
    one, two = ((each.folder / EXPLANATION).read_bytes() for each in (saved["cancer"], again))
    assert one == two


def test_a_run_without_it_is_one_of_a_first_version(saved, tmp_path):
    folder = shutil.copytree(saved["cancer"].folder, tmp_path / "old")
    (folder / EXPLANATION).unlink()
    old = tw.load(folder)
    assert old.explanation is None
    assert "Where it errs" not in old.report().html
    assert "What matters" in old.report().html  # coefficients are of the model


def test_that_of_another_model_is_damage(saved, tmp_path):
    folder = shutil.copytree(saved["cancer"].folder, tmp_path / "mixed")
    shutil.copy(saved["diabetes"].folder / EXPLANATION, folder)
    with pytest.raises(StorageError, match=r"explanation\.json is damaged .*another model"):
        tw.load(folder)
    content = json.loads((saved["cancer"].folder / EXPLANATION).read_text())
    for wrong in ({**content, "explanation": "x"}, {**content, "model": 1}, {"format": 1}):
        (folder / EXPLANATION).write_text(json.dumps(wrong))
        with pytest.raises(StorageError, match="is damaged"):
            tw.load(folder)


def test_of_a_training_that_diverged_nothing_is_told(tmp_path):
    job = tw.Job("@diabetes", method="gd[step=100]", max_iter=200)
    diverged = tw.train(job, tmp_path / "run", **QUIET)
    assert diverged.run.outcome is Outcome.DIVERGED
    assert tw.load(tmp_path / "run").explanation is None


def test_importance_that_would_take_long_is_left_out_and_said(saved, monkeypatch):
    from thalweg.jobs.opening import opened
    from thalweg.jobs.trained import Trained

    run = saved["diabetes"]
    data = opened(run.job)
    trained = Trained(run.run, run.linear_model, {}, [])
    monkeypatch.setattr(explanation, "LINEAR", 10 * explanation.REPEATS * 250)
    known = explanation_of(trained, data.rows, data.encoding, 0)
    assert known.importance.rows == 250
    monkeypatch.setattr(explanation, "LINEAR", 10 * explanation.REPEATS * 150)
    known = explanation_of(trained, data.rows, data.encoding, 0)
    assert known.importance is None
    assert "of 10 columns it would take long" in known.notes[0]


def test_measured_anew(saved, tmp_path):
    run = saved["cancer"]
    found, where, _ = shuffled_again(run)
    assert (found, where) == (run.explanation.importance, "held out")
    assert shuffled_again(saved["diabetes"])[1] == "training"
    table = tw.read("@cancer")
    found, where, _ = shuffled_again(run, "@cancer", repeats=2)
    assert (found.rows, found.repeats, where) == (569, 2, "given")
    file = tmp_path / "new.csv"
    file.write_text("\n".join([",".join(table.feature_names), ",".join(map(str, table.X[0]))]))
    with pytest.raises(InputError, match="must have the target 'diagnosis'"):
        shuffled_again(run, str(file))
