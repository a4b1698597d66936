import json
import shutil

import pytest

from thalweg.core.errors import InputError, StorageError
from thalweg.jobs.race import resume_race, train_race
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


def test_certified_ones_lead_the_quickest_first(raced):
    ranked = raced.ranked
    assert [each.run.converged for each in ranked] == [True, True, False]
    assert ranked[0].run.seconds <= ranked[1].run.seconds
    assert ranked[2].run.method == "gd"
    assert raced.best is ranked[0] or raced.best.folder == ranked[0].folder
    assert (raced.predict("@cancer").values == raced.best.predict("@cancer").values).all()


def test_it_is_loaded_as_a_race(raced):
    again = load(raced.folder)
    assert again.methods == raced.methods
    assert again.command == "typed"
    assert again.is_finished
    assert "3 methods" in repr(again)


def test_one_that_was_not_finished_says_so(raced, tmp_path):
    shutil.copy(raced.folder / "race.json", tmp_path)
    assert not load_race(tmp_path).is_finished
    with pytest.raises(InputError, match="has not been finished"):
        load_race(tmp_path).predict("@cancer")


def test_another_format_is_a_sentence(tmp_path):
    (tmp_path / "race.json").write_text(json.dumps({"format": 9}))
    with pytest.raises(StorageError, match="has format"):
        load_race(tmp_path)


@pytest.mark.parametrize(
    "methods",
    [{"../../x": "gd"}, {"/abs": "lbfgs"}, {"..": ".."}, {"gd": 3}, {"": ""}, ["gd"], 7, None],
)
def test_a_race_is_trained_in_its_own_folder_alone(tmp_path, methods):
    asked = {"format": 1, "command": "", "methods": methods, "job": JOB.to_dict()}
    (tmp_path / "a" / "r").mkdir(parents=True)
    (tmp_path / "a" / "r" / "race.json").write_text(json.dumps(asked))
    for opened in (load_race, lambda folder: resume_race(folder, **QUIET)):
        with pytest.raises(StorageError, match=r"race\.json is damaged"):
            opened(tmp_path / "a" / "r")
    assert [each.name for each in tmp_path.rglob("*") if each.is_file()] == ["race.json"]
