import pytest

from thalweg.core.errors import StorageError
from thalweg.core.kinds import COUNT, NUMBER, check_kinds, damaged, one_of

KINDS = {
    "name": str, "gap": (NUMBER, None), "count": COUNT, "word": one_of("a", "b"), "flag": bool,
    "rows": [{"x": NUMBER}], "table": {str: str}, "either": (str, [str]), "maybe": str | None,
}  # fmt: skip
RIGHT = {
    "name": "n", "gap": 0.5, "count": 3, "word": "a", "flag": True, "rows": [{"x": 1}],
    "table": {"k": "v"}, "either": ["s"], "maybe": None, "other": object,
}  # fmt: skip


def test_what_fits_passes():
    check_kinds(RIGHT, KINDS, source="f")
    check_kinds({**RIGHT, "gap": None, "rows": [], "table": {}, "either": "s"}, KINDS, source="f")


@pytest.mark.parametrize(
    ("name", "value", "place"),
    [
        ("name", 1, "name is"), ("name", None, "name is"), ("gap", "1", "gap is"),
        ("gap", True, "gap is"), ("gap", 10**400, "gap is"), ("count", -1, "count is"),
        ("count", 1.0, "count is"), ("count", True, "count is"), ("word", "c", "word is"),
        ("word", ["a"], "word is"), ("flag", 1, "flag is"), ("rows", {}, "rows is"),
        ("rows", [{"x": 1}, {"x": "1"}], r"rows\[1\].x is"), ("rows", [1], r"rows\[0\] is"),
        ("table", {"k": 1}, "table.k is"), ("either", [1], r"either\[0\] is"),
        ("maybe", 1, "maybe is"),
    ],
)  # fmt: skip
def test_what_does_not_is_told_by_its_place(name, value, place):
    with pytest.raises(StorageError, match=rf"f is damaged \(TypeError: {place}"):
        check_kinds({**RIGHT, name: value}, KINDS, source="f")


def test_what_is_not_there_and_what_is_no_table():
    with pytest.raises(StorageError, match="name is"):
        check_kinds(
            {name: value for name, value in RIGHT.items() if name != "name"}, KINDS, source="f"
        )
    with pytest.raises(StorageError, match="it is"):
        check_kinds([], KINDS, source="f")


def test_damage_names_the_file_and_the_way_out():
    assert str(damaged("f.json", ValueError("x"))) == (
        "f.json is damaged (ValueError: x): restore it from a copy, or train again"
    )
