import json

import pytest

import thalweg as tw
from thalweg.core.errors import InputError, StorageError
from thalweg.runs.folder import (
    ENCODING,
    EXPLANATION,
    JOB,
    Header,
    begin,
    encoding_of,
    explanation_of,
    header_of,
    is_locked,
    locked,
    new_folder,
    result_of,
)
from thalweg.runs.job import Job
from thalweg.tables.column import Column
from thalweg.tables.encoding import Encoding

HEADER = Header(Job("@iris", seed=3), "thalweg train @iris --seed 3", "/x", "ab", {"python": "3"})


@pytest.fixture
def folder(tmp_path):
    begin(tmp_path / "run", HEADER, tw.read("@iris").encoding)
    return tmp_path / "run"


def test_what_is_written_is_read(folder):
    assert header_of(folder) == HEADER
    assert encoding_of(folder) == tw.read("@iris").encoding
    assert result_of(folder) is None
    assert sorted(path.name for path in folder.iterdir()) == [ENCODING, JOB]


def test_names_are_new_and_tell_the_data(tmp_path):
    names = {new_folder(tmp_path, "/some/air quality.csv.xz").name for _ in range(20)}
    assert len(names) > 1
    assert all("-air-quality-" in name for name in names)
    assert "-cancer-" in new_folder(tmp_path, "@cancer").name


def test_a_folder_in_use_is_left_alone(folder, tmp_path):
    with pytest.raises(InputError, match="thalweg train --resume"):
        begin(folder, HEADER, tw.read("@iris").encoding)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").write_text("x")
    with pytest.raises(InputError, match="is not empty"):
        begin(tmp_path / "other", HEADER, tw.read("@iris").encoding)
    with pytest.raises(InputError, match="is a file"):
        begin(tmp_path / "other" / "thesis.tex", HEADER, tw.read("@iris").encoding)
    (tmp_path / "empty").mkdir()
    begin(tmp_path / "empty", HEADER, tw.read("@iris").encoding)


def test_two_at_once_are_refused(folder):
    assert not is_locked(folder)
    with locked(folder):
        assert is_locked(folder)
        with pytest.raises(InputError, match="another process trains in it"), locked(folder):
            pass
    assert not is_locked(folder)


@pytest.mark.parametrize(
    ("file", "change", "sentence"),
    [
        (JOB, lambda text: text[: len(text) // 2], "not valid JSON"),
        (JOB, lambda text: text.replace('"format": 1', '"format": 9'), "has format 9"),
        (JOB, lambda text: "[]", "has format None"),
        (JOB, lambda text: json.dumps({"format": 1, "job": {"source": "@iris"}}), "is damaged"),
        (ENCODING, lambda text: "{}", "is damaged"),
    ],
)
def test_damage_is_a_sentence(folder, file, change, sentence):
    (folder / file).write_text(change((folder / file).read_text()))
    with pytest.raises(StorageError, match=sentence):
        header_of(folder), encoding_of(folder)


def test_an_explanation_without_one_is_damage(tmp_path):
    (tmp_path / EXPLANATION).write_text(json.dumps({"format": 1, "model": "a"}))
    with pytest.raises(StorageError, match=r"explanation.json is damaged \(KeyError"):
        explanation_of(tmp_path, "a")


def test_dates_are_checked(tmp_path):
    column = Column("when", "date", fill=(2024.0, 6.0), parts=("year", "month"), order="dmy")
    whole = Encoding((column, Column("x"))).to_dict()
    (tmp_path / ENCODING).write_text(json.dumps(whole))
    assert encoding_of(tmp_path).columns[0] == column
    for change in (
        {"parts": ["year"]}, {"parts": ["century", "month"]}, {"parts": None}, {"order": "dym"},
        {"fill": 3.0}, {"kind": "number"}, {"fill": ["a", "b"]},
    ):  # fmt: skip
        columns = [whole["columns"][0] | change, "x"]
        (tmp_path / ENCODING).write_text(json.dumps(whole | {"columns": columns}))
        with pytest.raises(StorageError, match=r"encoding.json is damaged"):
            encoding_of(tmp_path)


def test_what_is_not_there_is_a_sentence(tmp_path):
    with pytest.raises(StorageError, match="does not exist"):
        header_of(tmp_path / "nothing")
    with pytest.raises(StorageError, match="not a saved run"):
        header_of(tmp_path)
