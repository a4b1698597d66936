import numpy as np
import pytest

import thalweg as tw
from thalweg.core.errors import InputError
from thalweg.tables.problem import Problem, Unsettled, beside, leave_out, several, tried, unsettled


def read_again(**settled_by):
    """A reader that raises the problems whose remedy it was not given, and counts its calls."""

    def again(asked):
        again.calls.append(asked)
        left = [
            unsettled(name, f"column {name!r} is odd", **{name: value}).problems[0]
            for name, value in settled_by.items()
            if asked.get(name) != value
        ]
        if left:
            raise Unsettled(left[:1])

    again.calls = []
    return again


def test_one_problem_is_its_sentence_and_several_are_told_together():
    one = leave_out("a", "column 'a' holds nothing: leave it out")
    assert str(one) == "column 'a' holds nothing: leave it out, with drop=['a']"
    assert (one.remedy, one.problems[0].remedy) == ({}, {"drop": ["a"]})
    both = Unsettled([*one.problems, Problem("b", "column 'b' is odd", {})], {"drop": ["a"]})
    assert str(both).endswith("drop=['a']; column 'b' is odd. All is settled with drop=['a']")
    assert isinstance(both, InputError)
    assert "\n" not in str(both)


def test_what_comes_up_when_something_is_settled_is_settled_too():
    again = read_again(missing=["-"], impute="median", dates="expand")
    try:
        again({})
    except Unsettled as first:
        found = tried(first, {"sparse": True}, again)
    assert found.remedy == {"missing": ["-"], "impute": "median", "dates": "expand"}
    assert [each.column for each in found.problems] == ["missing", "impute", "dates"]
    assert again.calls[-1] == {"sparse": True, **found.remedy}  # it was tried
    assert found.asked == {"sparse": True}


def test_where_nothing_helps_nothing_is_advised():
    def again(asked):
        raise InputError("source must have a feature: none left")

    found = tried(leave_out("a", "column 'a' is odd"), {}, again)
    assert found.remedy == {}
    assert [each.sentence for each in found.problems][1:] == [
        "source must have a feature: none left"
    ]


def test_of_two_that_contradict_each_other_one_is_left_out():
    calls = []

    def again(asked):
        calls.append(asked)
        if asked.get("decimal") != ",":
            raise AssertionError
        if "b" not in asked.get("drop", ()):
            raise unsettled("b", "column 'b' has points", decimal=".")

    first = Unsettled([Problem("a", "a", {"decimal": ","}), Problem("b", "b", {"decimal": "."})])
    assert tried(first, {}, again).remedy == {"decimal": ",", "drop": ["b"]}
    assert len(calls) == 2


def test_values_stand_beside_those_that_were_asked_for():
    assert beside({"drop": "a", "impute": None}, {"drop": ["b"], "impute": "mean"}) == {
        "drop": ["a", "b"], "impute": "mean",
    }  # fmt: skip
    assert beside({"missing": None}, {"missing": ["-"]}) == {"missing": ["-"]}
    assert (several("ab"), several(None), several([1])) == (("ab",), (), (1,))
    first = Unsettled(
        [Problem("a", "a", {"max_categories": 60}), Problem("b", "b", {"max_categories": 80})]
    )
    assert tried(first, {}, lambda asked: None).remedy == {"max_categories": 80}


def test_all_problems_of_a_file_are_one_error_with_what_settles_them(tmp_path):
    file = tmp_path / "t.csv"
    rows = []
    for k in range(110):
        size = k + 0.5 if k % 7 else "-"
        rows.append(f'2024-01-{1 + k % 28:02d};"{k % 9 + 1},{100 + k}";{size};t{k % 55};{k % 3}')
    file.write_text("when;rate;size;town;y\n" + "\n".join(rows))
    with pytest.raises(Unsettled) as caught:
        tw.read(file, "y", task="regression")
    found = caught.value
    assert {each.column for each in found.problems} == {"when", "rate", "size", "town", ""}
    assert found.remedy == {
        "dates": "expand", "thousands": ",", "missing": ["-"], "max_categories": 55,
        "impute": "median",
    }  # fmt: skip
    table = tw.read(file, "y", task="regression", **found.remedy)
    assert table.X.shape == (110, 1 + 1 + 3 + 55)


def test_of_a_matrix_too():
    with pytest.raises(Unsettled) as caught:
        tw.read(np.array([[1.0, np.nan], [2.0, 3.0]]))
    assert caught.value.remedy == {"impute": "median"}
