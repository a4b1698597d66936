import json

import numpy as np
import pytest

import thalweg as tw
from laboratory import FIGURE, result
from thalweg.labbook.result import Result, Sheet, written
from thalweg.labbook.ruling import Check, Ruling


def test_what_is_saved_is_read_again(tmp_path):
    made = result(tables=[Sheet("c", ("a", "b"), (("x", np.float64(0.5)), ("y", float("inf"))))])
    file = made.save(tmp_path)
    again = Result.load(file)
    assert again.record() == made.record()
    assert again.figures == made.figures
    assert json.loads(file.read_text())["passed"] is True
    assert list(tmp_path.iterdir()) == [file]  # one file, so that it is there whole or not
    pictures = made.pictures()
    assert pictures["gd-rate-1.svg"].startswith(b"<svg")
    assert b'viewBox="0 0 360' in pictures["gd-rate-1-narrow.svg"]


def test_it_passes_where_the_verdict_is_the_expected_one():
    wrong = [
        Check("as it stands", False, "1 > 0", "as written"),
        Check("c", True, "m", "corrected"),
    ]
    assert not result(checks=wrong).passed
    found = result(checks=wrong, expected=Ruling.FAILS_AS_WRITTEN)
    assert found.passed
    assert repr(found).startswith("PASS  gd-rate: fails as written")
    assert "✕ as it stands: 1 > 0" in repr(found)
    assert "<svg" in found._repr_html_()


@pytest.mark.parametrize(
    "content", [b"{}", b"[]", b"{", b'{"format": 99}', b'{"format": 2, "passed": true}']
)
def test_a_damaged_file_is_one_sentence(tmp_path, content):
    file = tmp_path / "gd-rate.json"
    file.write_bytes(content)
    with pytest.raises(tw.StorageError, match=r"gd-rate\.json"):
        Result.load(file)


def test_a_record_without_its_drawings(tmp_path):
    file = result(figures=[FIGURE]).save(tmp_path)
    content = json.loads(file.read_text("utf-8"))
    file.write_text(json.dumps({**content, "drawings": []}), "utf-8")
    with pytest.raises(tw.StorageError, match="run its lab again"):
        Result.load(file)


def test_tables_are_whole():
    with pytest.raises(tw.InputError, match="a cell for each of 2 heads, got 1"):
        Sheet("c", ("a", "b"), (("x",),))


@pytest.mark.parametrize(
    ("cell", "text"),
    [("a", "a"), (3, "3"), (12345, "12,345"), (2.0, "2"), (0.123456, "0.123"), (1e-9, "1e-09"),
     (0.0, "0"), (float("nan"), "nan"), (float("inf"), "inf"), (1e300, "1e+300")],
)  # fmt: skip
def test_cells_are_read_at_a_glance(cell, text):
    assert written(cell) == text
