import errno
import json
import os
import shutil
from dataclasses import replace

import pytest

from thalweg.core import storage
from thalweg.core.errors import InputError, StorageError
from thalweg.core.run import Run
from thalweg.jobs import linear
from thalweg.jobs.train import resume, train
from thalweg.runs.folder import RESULT, locked
from thalweg.runs.job import Job
from thalweg.runs.saved import load

QUIET = {"progress": False, "report": False}
SLOW = Job("@cancer", method="gd", max_iter=40)


def files(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_folder_of_plain_files(tmp_path):
    saved = train(Job("@cancer", standardize=True), tmp_path / "a", command="typed", **QUIET)
    assert files(tmp_path / "a") == [
        "encoding.json", "explanation.json", "job.json", "model.npz", "plan.json", "result.json",
        "run.json", "trace.csv", "weights.npz",
    ]  # fmt: skip
    result = json.loads((tmp_path / "a" / RESULT).read_text())
    assert result["verdict"] == "CERTIFIED"
    assert result["rows"] == 569
    assert result["scores"]["training"]["accuracy"] > 0.98
    assert saved.header.command == "typed"
    assert Run.load(tmp_path / "a").converged


def test_a_report_goes_with_it(tmp_path):
    train(Job("@cancer", standardize=True), tmp_path / "a", command="typed", progress=False)
    page = (tmp_path / "a" / "report.html").read_text()
    assert "CERTIFIED" in page
    assert "typed" in page
    assert "mean radius" in page


def test_held_out_rows_and_folds_are_scored(tmp_path):
    job = Job("@cancer", standardize=True, validation=0.25, folds=2)
    scores = train(job, tmp_path / "a", **QUIET).scores
    assert set(scores) == {
        "training", "held out", "mean over folds", "standard deviation over folds"
    }  # fmt: skip


def test_stopped_by_a_limit_it_goes_on_to_the_same_bits(tmp_path):
    whole = train(SLOW.changed(max_iter=80), tmp_path / "whole", **QUIET)
    first = train(SLOW, tmp_path / "parts", **QUIET)
    assert first.result["verdict"] == "NOT CERTIFIED"
    assert "checkpoint.npz" in files(tmp_path / "parts")
    second = resume(tmp_path / "parts", **QUIET)  # forty more
    assert second.run.iterations == 80
    assert second.run.w.tobytes() == whole.run.w.tobytes()
    columns = [name for name in whole.run.trace.columns if name != "seconds"]
    for name in columns:
        assert second.run.trace[name].tobytes() == whole.run.trace[name].tobytes(), name
    assert resume(tmp_path / "parts", max_iter=5, **QUIET).run.iterations == 85


def test_killed_before_the_end_it_is_finished(tmp_path, monkeypatch):
    whole = train(Job("@iris"), tmp_path / "whole", **QUIET)

    def killed(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(linear, "diagnose", killed)  # the run is over, nothing of it is written
        with pytest.raises(KeyboardInterrupt):
            train(Job("@iris"), tmp_path / "a", **QUIET)
    assert RESULT not in files(tmp_path / "a")
    with pytest.raises(InputError, match=r"has not been finished: .* thalweg train --resume"):
        load(tmp_path / "a").predict("@iris")
    again = resume(tmp_path / "a", **QUIET)
    assert again.run.w.tobytes() == whole.run.w.tobytes()
    assert "checkpoint.npz" not in files(tmp_path / "a")


def killed(*_, **__):
    raise KeyboardInterrupt


def test_a_resume_that_is_killed_keeps_the_run_and_what_it_was_given(tmp_path, monkeypatch):
    job = Job("@iris", method="gd", max_iter=20)
    train(job, tmp_path / "a", **QUIET)
    whole = train(replace(job, max_iter=27), tmp_path / "whole", **QUIET)
    with monkeypatch.context() as patch:
        patch.setattr(linear, "diagnose", killed)
        with pytest.raises(KeyboardInterrupt):
            resume(tmp_path / "a", max_iter=7, **QUIET)
    assert load(tmp_path / "a").run.iterations == 20  # until the other has ended
    assert len(load(tmp_path / "a").predict("@iris").values) == 150
    again = resume(tmp_path / "a", **QUIET)
    assert again.run.iterations == 27
    assert again.run.w.tobytes() == whole.run.w.tobytes()
    assert "limits.json" not in files(tmp_path / "a")


def full(room, monkeypatch):
    """A disk that takes these files and no others."""
    flush = storage._flush

    def fail(path, content):
        if not any(name in path.name for name in room):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        flush(path, content)

    monkeypatch.setattr(storage, "_flush", fail)


def test_a_disk_full_at_the_report_loses_no_verdict(tmp_path, monkeypatch):
    train(Job("@iris"), tmp_path / "whole", **QUIET)
    told = []
    full([*files(tmp_path / "whole"), "checkpoint"], monkeypatch)
    saved = train(Job("@iris"), tmp_path / "a", progress=False, note=told.append)
    assert saved.run.converged
    assert load(tmp_path / "a").result["verdict"] == "CERTIFIED"
    assert files(tmp_path / "a") == files(tmp_path / "whole")
    assert told[-1].endswith(f"; thalweg report {tmp_path / 'a'} writes it later")


def test_a_disk_full_at_the_end_says_what_the_verdict_was(tmp_path, monkeypatch):
    full(["job.json", "encoding.json", "plan.json", "checkpoint"], monkeypatch)
    with pytest.raises(StorageError, match=r"No space left.* ended: CERTIFIED, duality gap [\d.]"):
        train(Job("@iris"), tmp_path / "a", **QUIET)


def test_a_folder_that_is_removed_meanwhile_is_made_again(tmp_path, monkeypatch):
    whole = train(Job("@iris"), tmp_path / "whole", **QUIET)
    diagnose = linear.diagnose

    def removed(*given, **named):
        shutil.rmtree(tmp_path / "a")
        return diagnose(*given, **named)

    monkeypatch.setattr(linear, "diagnose", removed)
    train(Job("@iris"), tmp_path / "a", **QUIET)
    again = load(tmp_path / "a")
    assert again.run.w.tobytes() == whole.run.w.tobytes()
    assert len(again.predict("@iris").values) == 150


@pytest.mark.parametrize(
    ("job", "sentence"),
    [
        (Job("no-such-file.csv"), "no-such-file.csv"),
        (Job("@cancer", "colour"), "colour"),
        (Job("@cancer", method="sagg"), "did you mean"),
        (Job("@cancer", loss="multinomial", method="cholesky"), "needs the squared loss"),
        (Job("@iris", loss="logistic"), "two classes"),
        (Job("@cancer", folds=300), "rarest class"),
    ],
)
def test_bad_input_leaves_nothing_behind(tmp_path, job, sentence):
    with pytest.raises(InputError, match=sentence):
        train(job, tmp_path / "deep" / "a", **QUIET)
    assert not list((tmp_path / "deep").glob("*"))


def test_a_place_that_cannot_be_written_is_a_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises((InputError, StorageError), match="file"):
        train(Job("@iris"), tmp_path / "file" / "a", **QUIET)


def test_what_cannot_be_resumed_says_why(tmp_path):
    train(Job("@iris"), tmp_path / "done", **QUIET)
    with pytest.raises(InputError, match="is finished"):
        resume(tmp_path / "done")
    with pytest.raises(StorageError, match="does not exist"):
        resume(tmp_path / "nothing")
    file = tmp_path / "t.csv"
    file.write_text("x,y\n1,2.5\n2,3.5\n4,1.5\n")
    train(Job(str(file), "y", method="gd", max_iter=1, l2="1"), tmp_path / "a", **QUIET)
    with locked(tmp_path / "a"), pytest.raises(InputError, match="another process"):
        resume(tmp_path / "a")
    file.write_text("x,y\n1,2.5\n2,3.5\n4,1.25\n")
    with pytest.raises(InputError, match="has changed since"):
        resume(tmp_path / "a")


def test_paths_are_found_from_another_place(tmp_path, monkeypatch):
    (tmp_path / "t.csv").write_text("x,y\n1,2.5\n2,3.5\n4,1.5\n")
    monkeypatch.chdir(tmp_path)
    train(Job("t.csv", "y", method="gd", max_iter=1, validation="t.csv"), "a", **QUIET)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert resume("../a", max_iter=1, **QUIET).run.iterations == 2


def test_the_reader_is_told_what_the_table_noted(tmp_path):
    (tmp_path / "t.csv").write_text("x,c,y\n1,5,2.5\n2,5,3.5\n4,5,1.5\n")
    told = []
    train(Job(str(tmp_path / "t.csv"), "y"), tmp_path / "a", note=told.append, **QUIET)
    assert any("constant" in sentence for sentence in told)
