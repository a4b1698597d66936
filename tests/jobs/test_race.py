import json
import shutil

import pytest

from thalweg.core.errors import InputError
from thalweg.jobs.race import resume_race, train_race
from thalweg.jobs.train import train
from thalweg.runs.job import Job
from thalweg.runs.saved import load
from thalweg.runs.saved_race import load_race

JOB = Job("@cancer", standardize=True)
QUIET = {"progress": False, "report": False}


@pytest.fixture(scope="module")
def raced(tmp_path_factory):
    place = tmp_path_factory.mktemp("races")
    methods = ["gd[step=0.01]", "newton", "lbfgs"]
    return train_race(JOB.changed(max_iter=60), methods, place / "r", command="typed", **QUIET)


def test_a_folder_within_a_folder_for_each(raced):
    assert sorted(path.name for path in raced.folder.iterdir()) == [
        "gd-step-0.01", "lbfgs", "newton", "race.json",
    ]  # fmt: skip
    assert load(raced.folder / "newton").run.method == "newton"


def test_one_plan_with_what_each_took(raced):
    took = {row.method: row.actual_iterations for row in raced.plan.rows}
    for each in raced.members:
        assert took[each.run.method] == each.run.iterations
    assert len({each.run.plan.seconds for each in raced.members}) == 1


def test_a_race_goes_on_with_what_was_not_done(raced, tmp_path):
    shutil.copytree(raced.folder, tmp_path / "r")
    shutil.rmtree(tmp_path / "r" / "lbfgs")
    (tmp_path / "r" / "gd-step-0.01" / "result.json").unlink()
    assert not load_race(tmp_path / "r").is_finished
    again = resume_race(tmp_path / "r", **QUIET)
    assert again.is_finished
    for old, new in zip(raced.members, again.members, strict=True):
        assert new.run.w.tobytes() == old.run.w.tobytes()


def iterations(race):
    return {each.run.method: each.run.iterations for each in race.members}


@pytest.mark.parametrize("cut_off", ["killed before lbfgs", "killed in lbfgs"])
def test_what_a_limit_ended_is_done_in_a_race_that_was_killed(raced, tmp_path, cut_off):
    shutil.copytree(raced.folder, tmp_path / "r")
    if cut_off == "killed before lbfgs":
        shutil.rmtree(tmp_path / "r" / "lbfgs")
    else:
        (tmp_path / "r" / "lbfgs" / "result.json").unlink()
    assert iterations(raced)["gd"] == 60
    assert iterations(resume_race(tmp_path / "r", **QUIET)) == iterations(raced)


def test_it_goes_on_by_new_limits_or_where_all_had_ended(raced, tmp_path):
    shutil.copytree(raced.folder, tmp_path / "r")
    assert iterations(resume_race(tmp_path / "r", max_iter=15, **QUIET))["gd"] == 75
    assert iterations(resume_race(tmp_path / "r", **QUIET))["gd"] == 135
    shutil.rmtree(tmp_path / "r" / "lbfgs")
    assert iterations(resume_race(tmp_path / "r", max_iter=5, **QUIET))["gd"] == 140


@pytest.mark.parametrize("cut_off", ["killed", "interrupted", "not begun"])
def test_with_new_limits_all_have_as_much(raced, tmp_path, cut_off):
    """Of three that need more than they get, one is cut off: it ends where the others do."""
    job = JOB.changed(max_iter=20, tol=1e-14)
    methods = ["gd[step=0.01]", "gd[step=0.02]"]
    train_race(job, methods, tmp_path / "r", **QUIET)
    second = tmp_path / "r" / "gd-step-0.02"
    if cut_off == "not begun":
        shutil.rmtree(second)
    elif cut_off == "killed":
        (second / "result.json").unlink()
        (second / "checkpoint.npz").unlink()
    else:
        shutil.rmtree(second)
        train(job.changed(method=methods[1], max_iter=7), second, **QUIET)
        for name in ("result.json", "run.json"):
            record = json.loads((second / name).read_text()) | {"outcome": "INTERRUPTED"}
            (second / name).write_text(json.dumps(record))
        header = json.loads((second / "job.json").read_text())
        header["job"]["max_iter"] = 20
        (second / "job.json").write_text(json.dumps(header))
    found = iterations(resume_race(tmp_path / "r", max_iter=15, **QUIET))
    assert found == dict.fromkeys(found, 35)


@pytest.mark.parametrize(
    ("methods", "sentence"),
    [(["gd", "gd"], "twice"), (["gd", "cholesky"], "squared loss"), (["gd", "sagg"], "did you")],
)
def test_bad_input_leaves_nothing_behind(tmp_path, methods, sentence):
    with pytest.raises(InputError, match=sentence):
        train_race(JOB, methods, tmp_path / "r", **QUIET)
    assert not list(tmp_path.iterdir())
