import contextlib
import itertools
import json
import os
import threading
from pathlib import Path

import numpy as np
import pytest

from thalweg.core import storage
from thalweg.core.errors import StorageError, WriteError
from thalweg.core.storage import (
    check_format,
    clear_left,
    from_json,
    read_folder,
    to_json,
    write_file,
    write_folder,
    write_out,
)

NAMES = ("run.json", "weights.npz")


def files(tag):
    return {name: f"{tag} {name}".encode() for name in NAMES}


class Crash(BaseException):
    """Stands for the power going off: no handler catches it."""


def crashing(calls, number):
    """Patches every write, move and removal to crash at the given one."""

    def patch(function):
        def wrapped(*args, **options):
            calls.append(function.__name__)
            if len(calls) == number:
                raise Crash
            return function(*args, **options)

        return wrapped

    return patch


@pytest.mark.parametrize("number", range(1, 12))
def test_a_crash_at_any_moment_leaves_the_old_folder_or_the_new(tmp_path, monkeypatch, number):
    folder = tmp_path / "run"
    write_folder(folder, files("old"), marker="run.json")
    calls = []
    patch = crashing(calls, number)
    with monkeypatch.context() as patched:
        for owner, name in (
            (storage, "_flush"), (os, "rename"), (storage.shutil, "rmtree"), (storage,
            "_flush_directory"),
        ):  # fmt: skip
            patched.setattr(owner, name, patch(getattr(owner, name)))
        try:
            write_folder(folder, files("new"), marker="run.json")
        except Crash:
            assert len(calls) == number
    found = read_folder(folder, NAMES)
    assert found in (files("old"), files("new"))
    # And the place is usable again.
    write_folder(folder, files("newer"), marker="run.json")
    assert read_folder(folder, NAMES) == files("newer")


@pytest.mark.parametrize("number", range(1, 6))
def test_a_crash_at_any_moment_leaves_the_old_file_or_the_new(tmp_path, monkeypatch, number):
    path = tmp_path / "state"
    write_file(path, b"old")
    patch = crashing([], number)
    with monkeypatch.context() as patched:
        for owner, name in ((storage, "_flush"), (os, "replace"), (storage, "_flush_directory")):
            patched.setattr(owner, name, patch(getattr(owner, name)))
        with contextlib.suppress(Crash):
            write_file(path, b"new")
    assert path.read_bytes() in (b"old", b"new")


@pytest.mark.parametrize("number", range(1, 9))
def test_a_crash_leaves_files_of_one_writing_wherever_their_mark_is(tmp_path, monkeypatch, number):
    storage.write_together(tmp_path, files("old"))
    patch = crashing([], number)
    with monkeypatch.context() as patched:
        for owner, name in ((storage, "_flush"), (os, "replace"), (storage, "_flush_directory")):
            patched.setattr(owner, name, patch(getattr(owner, name)))
        with contextlib.suppress(Crash):
            storage.write_together(tmp_path, files("new"))
    if (tmp_path / NAMES[-1]).exists():
        assert {name: (tmp_path / name).read_bytes() for name in NAMES} in (
            files("old"), files("new"),
        )  # fmt: skip
    else:
        assert number in (3, 4, 5)  # before the folder is flushed, or either file is moved
    storage.write_together(tmp_path, files("newer"))
    assert read_folder(tmp_path, NAMES) == files("newer")


@pytest.mark.parametrize("room", [0, 1])
def test_a_disk_that_fills_up_changes_none_of_several_files(tmp_path, monkeypatch, room):
    storage.write_together(tmp_path, files("old"))
    flush, left = storage._flush, iter(range(room))

    def full(path, content):
        if next(left, None) is None:
            path.write_bytes(content[:3])
            raise OSError(28, "No space left on device")
        flush(path, content)

    monkeypatch.setattr(storage, "_flush", full)
    with pytest.raises(WriteError, match=r"weights\.npz cannot be written .*No space.* unchanged"):
        storage.write_together(tmp_path, files("new"))
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == files("old")


@pytest.mark.parametrize("is_there", [True, False])
@pytest.mark.parametrize("number", range(1, len(NAMES) + 1))
def test_a_move_that_fails_is_taken_back(tmp_path, monkeypatch, number, is_there):
    if is_there:
        storage.write_together(tmp_path, files("old"))
    move, moves = os.replace, itertools.count(1)

    def failing(source, target):
        if next(moves) == number:
            raise OSError(5, "Input/output error")
        move(source, target)

    monkeypatch.setattr(os, "replace", failing)
    with pytest.raises(WriteError, match=r"Input/output error.* what was there is unchanged$"):
        storage.write_together(tmp_path, files("new"))
    there = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert there == (files("old") if is_there else {})


def test_what_cannot_be_taken_back_has_no_mark_and_does_not_say_unchanged(tmp_path, monkeypatch):
    storage.write_together(tmp_path, files("old"))

    def failing(*_):
        raise OSError(13, "Permission denied")

    monkeypatch.setattr(os, "replace", failing)
    with pytest.raises(WriteError, match=r"Permission denied.* has room$"):
        storage.write_together(tmp_path, files("new"))
    assert not (tmp_path / NAMES[-1]).exists()


def test_a_full_disk_is_a_sentence_and_changes_nothing(tmp_path, monkeypatch):
    folder = tmp_path / "run"
    write_folder(folder, files("old"), marker="run.json")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(storage, "_flush", full)
    with pytest.raises(StorageError, match=r"cannot be saved .*No space left.*is unchanged"):
        write_folder(folder, files("new"), marker="run.json")
    with pytest.raises(StorageError, match="cannot be written"):
        write_file(tmp_path / "state", b"x")
    assert read_folder(folder, NAMES) == files("old")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run"]


def test_a_link_stays_and_its_file_is_replaced_in_its_own_place(tmp_path):
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "file").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "far" / "file")
    (tmp_path / "dangling").symlink_to("far/new")
    before = (tmp_path / "far" / "file").stat().st_ino
    for name, place in (("link", "file"), ("dangling", "new"), ("plain", "../plain")):
        write_out(tmp_path / name, b"new")
        assert (tmp_path / name).is_symlink() == (name != "plain")
        assert (tmp_path / "far" / place).read_text() == "new"
    assert (tmp_path / "far" / "file").stat().st_ino != before
    assert not list(tmp_path.rglob("*.new-*"))


def test_a_pipe_and_a_device_are_written_through(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    found = []
    reader = threading.Thread(target=lambda: found.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    write_out(tmp_path / "pipe", b"through")
    reader.join(10)
    assert found == [b"through"]
    assert (tmp_path / "pipe").is_fifo()
    (tmp_path / "device").symlink_to("/dev/null")
    write_out(tmp_path / "device", b"nowhere")
    assert Path("/dev/null").is_char_device()
    assert (tmp_path / "device").is_symlink()


@pytest.mark.parametrize("place", ["/dev/full", ".", "loop", "file/below"])
def test_what_cannot_be_written_through_is_a_sentence(tmp_path, place):
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "file").write_text("here")
    with pytest.raises(StorageError, match=r"cannot be written .*: choose a place"):
        write_out(tmp_path / place, b"x")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["file", "loop"]


def test_a_link_in_the_folder_of_a_run_leads_nowhere(tmp_path):
    (tmp_path / "mine").write_text("kept")
    (tmp_path / "report.html").symlink_to("mine")
    write_file(tmp_path / "report.html", b"new")
    assert (tmp_path / "mine").read_text() == "kept"


def test_other_files_in_a_run_folder_are_kept(tmp_path):
    folder = tmp_path / "run"
    write_folder(folder, files("old"), marker="run.json")
    (folder / "notes.txt").write_text("mine")
    (folder / "figures").mkdir()
    (folder / "figures" / "a.svg").write_text("<svg/>")
    write_folder(folder, files("new"), marker="run.json")
    assert (folder / "notes.txt").read_text() == "mine"
    assert (folder / "figures" / "a.svg").read_text() == "<svg/>"
    assert read_folder(folder, NAMES) == files("new")


def test_a_folder_of_someone_elses_is_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(StorageError, match="holds files but no saved run"):
        write_folder(tmp_path, files("new"), marker="run.json")
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_file_in_the_way_is_reported(tmp_path):
    (tmp_path / "run").write_text("a file")
    with pytest.raises(StorageError, match="is a file, not a folder"):
        write_folder(tmp_path / "run", files("new"), marker="run.json")
    with pytest.raises(StorageError, match="is a file: give the folder"):
        read_folder(tmp_path / "run", NAMES)


def test_missing_folder_and_missing_file(tmp_path):
    with pytest.raises(StorageError, match="does not exist"):
        read_folder(tmp_path / "nowhere", NAMES)
    write_folder(tmp_path / "run", files("old"), marker="run.json")
    (tmp_path / "run" / "weights.npz").unlink()
    with pytest.raises(StorageError, match=r"lacks weights\.npz"):
        read_folder(tmp_path / "run", NAMES)


def test_abandoned_temporary_files_are_cleared_once_they_are_old(tmp_path):
    left, fresh = tmp_path / ".state.new-dead", tmp_path / ".state.new-live"
    left.write_text("half")
    fresh.write_text("half")
    os.utime(left, (0, 0))
    write_file(tmp_path / "state", b"x")
    assert not left.exists()
    assert fresh.exists()


def test_what_killed_writers_left_is_cleared_where_nobody_else_writes(tmp_path):
    for name in (".state.new-dead", "state", ".other"):
        (tmp_path / name).write_text("half")
    (tmp_path / ".run.new-dead" / "part").mkdir(parents=True)
    clear_left(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".other", "state"]


def test_json_keeps_numbers_exactly_and_is_valid_json():
    record = {
        "x": 0.1 + 0.2, "nan": float("nan"), "inf": [-float("inf")], "array": np.array([1.5,
        np.inf]), "scalar": np.float32(0.1), "none": None, "flag": True, "text": "‖∇f‖",
    }  # fmt: skip
    text = to_json(record)
    json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))
    again = from_json(text, source="test")
    assert again["x"] == record["x"]
    assert np.isnan(again["nan"])
    assert again["inf"] == [-float("inf")]
    assert again["array"] == [1.5, float("inf")]
    assert again["scalar"] == float(np.float32(0.1))
    assert (again["none"], again["flag"], again["text"]) == (None, True, "‖∇f‖")


def test_damaged_json_is_a_sentence():
    with pytest.raises(StorageError, match=r"run\.json is not valid JSON"):
        from_json(b"{half", source="run.json")


def test_a_file_is_complete_before_it_takes_the_place_of_the_old_one(tmp_path, monkeypatch):
    path = tmp_path / "file"
    storage.write_file(path, b"old")
    seen = []

    def crash(source, target):
        seen.append((Path(source).read_bytes(), Path(target).read_bytes()))
        raise OSError("the power fails")

    monkeypatch.setattr(storage.os, "replace", crash)
    with pytest.raises(StorageError, match="what was there is unchanged"):
        storage.write_file(path, b"new")
    assert seen == [(b"new", b"old")]
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("content", "found"), [({"format": 2}, "2"), ({}, "None"), ([], "None"), ("1", "None")]
)
def test_another_format_is_a_sentence(content, found):
    check_format({"format": 1}, 1, source="run.json")
    sentence = f"run.json has format {found}, this version of Thalweg reads 1: resume it with"
    with pytest.raises(StorageError, match=sentence):
        check_format(content, 1, source="run.json", way_out="resume it")
