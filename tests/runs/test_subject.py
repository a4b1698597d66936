from thalweg.jobs.race import train_race
from thalweg.jobs.train import train
from thalweg.runs.job import Job
from thalweg.runs.subject import subject_of, subject_of_race


def test_everything_that_the_folder_holds(tmp_path):
    saved = train(Job("@cancer", validation=0.5), tmp_path / "a", progress=False, report=False)
    subject = subject_of(saved)
    assert subject.title == f"{saved.run.method} on @cancer"
    assert subject.findings == tuple(saved.findings)
    assert dict(subject.data)["numbers"].startswith("dense")
    assert len(subject.scaling) == 30
    assert subject.settings["validation"] == 0.5
    assert "tw.load" in subject.script  # which rows were held out is not in three lines of Python
    assert subject.record is None


def test_a_race_has_all_runs_the_best_first(tmp_path):
    job = Job("@cancer", standardize=True)
    race = train_race(job, ["gd", "newton"], tmp_path / "r", progress=False, report=False)
    subject = subject_of_race(race.ranked, "typed")
    assert [run.method for run in subject.runs] == ["newton", "gd"]
    assert {"gd, training", "newton, training"} <= set(subject.scores)
    assert subject.command == "typed"
