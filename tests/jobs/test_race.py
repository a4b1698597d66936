import json
import shutil

import pytest

from thalweg.core.errors import InputError, StorageError
from thalweg.jobs import race as module
from thalweg.jobs.job import Job
from thalweg.jobs.race import load_race, resume_race, train_race
from thalweg.jobs.saved import load

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


def test_certified_ones_lead_the_quickest_first(raced):
    ranked = raced.ranked
    assert [each.run.converged for each in ranked] == [True, True, False]
    assert ranked[0].run.seconds <= ranked[1].run.seconds
    assert ranked[2].run.method == "gd"
    assert raced.best is ranked[0] or raced.best.folder == ranked[0].folder
    assert (raced.predict("@cancer").values == raced.best.predict("@cancer").values).all()


def test_one_plan_with_what_each_took(raced):
    took = {row.method: row.actual_iterations for row in raced.plan.rows}
    for each in raced.members:
        assert took[each.run.method] == each.run.iterations
    assert len({each.run.plan.seconds for each in raced.members}) == 1


def test_it_is_loaded_as_a_race(raced):
    again = load(raced.folder)
    assert again.methods == raced.methods
    assert again.command == "typed"
    assert again.is_finished
    assert "3 methods" in repr(again)


def test_a_race_goes_on_with_what_was_not_done(raced, tmp_path):
    shutil.copytree(raced.folder, tmp_path / "r")
    shutil.rmtree(tmp_path / "r" / "lbfgs")
    (tmp_path / "r" / "gd-step-0.01" / "result.json").unlink()
    assert not load_race(tmp_path / "r").is_finished
    again = resume_race(tmp_path / "r", **QUIET)
    assert again.is_finished
    for old, new in zip(raced.members, again.members, strict=True):
        assert new.run.w.tobytes() == old.run.w.tobytes()


@pytest.mark.parametrize(
    ("methods", "sentence"),
    [(["gd", "gd"], "twice"), (["gd", "cholesky"], "squared loss"), (["gd", "sagg"], "did you")],
)
def test_bad_input_leaves_nothing_behind(tmp_path, methods, sentence):
    with pytest.raises(InputError, match=sentence):
        train_race(JOB, methods, tmp_path / "r", **QUIET)
    assert not list(tmp_path.iterdir())


def test_another_format_is_a_sentence(raced, tmp_path):
    (tmp_path / "race.json").write_text(json.dumps({"format": 9}))
    with pytest.raises(StorageError, match="another format"):
        load_race(tmp_path)
    assert module.FORMAT == 1
