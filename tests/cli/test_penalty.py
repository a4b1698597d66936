import click
import pytest

from thalweg.cli.penalty import PenaltyType
from thalweg.runs.strength import Strength


@pytest.mark.parametrize(
    ("text", "value"), [("0.5", 0.5), ("1e-3", 1e-3), ("1/n", 0.01), ("10/n", 0.1), ("0", 0.0)]
)
def test_by_hand(text, value):
    assert PenaltyType().convert(text, None, None).of(100) == value


def test_several():
    several = PenaltyType().convert("1/n,10/n", None, None)
    assert [point.of(100) for point in several.points] == [0.01, 0.1]


def test_what_is_a_penalty_stays_one():
    assert PenaltyType().convert(Strength(2.0), None, None) == Strength(2.0)


@pytest.mark.parametrize("text", ["-1", "nan", "inf", "x", "1/p", "n/1", "", "/n", "1/"])
def test_bad_input(text):
    with pytest.raises(click.BadParameter, match="a number at least 0, or one over n"):
        PenaltyType().convert(text, None, None)
