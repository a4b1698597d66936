import pytest

from thalweg.core.errors import InputError
from thalweg.runs.strength import Strength, Strengths, strength_of


@pytest.mark.parametrize(
    ("text", "value"), [("0.5", 0.5), ("1e-3", 1e-3), ("1/n", 0.01), (0.25, 0.25), ("10/n", 0.1)]
)
def test_by_hand(text, value):
    assert strength_of("l2", text).of(100) == value


@pytest.mark.parametrize("text", ["0.1", "1/n", "1e-300", "0.30000000000000004/n"])
def test_text_and_back(text):
    once = strength_of("l2", text)
    assert strength_of("l2", str(once)) == once


def test_several_to_choose_from():
    several = strength_of("l2", "1/n, 10/n,0.5,1/n")
    assert several == Strengths((Strength(1.0, True), Strength(10.0, True), Strength(0.5)))
    assert str(several) == "1/n,10/n,0.5"
    assert strength_of("l2", str(several)) == several
    assert strength_of("l2", "auto") == Strengths()
    assert str(Strengths()) == "auto"


def test_what_is_a_penalty_stays_one():
    assert strength_of("l2", Strength(2.0)) == Strength(2.0)


@pytest.mark.parametrize(
    "text", ["-1", "nan", "inf", "x", "1/p", "n/1", "", "/n", "1/", "1,", "1,x", "auto,1"]
)
def test_bad_input(text):
    with pytest.raises(InputError, match="l1 must be a number at least 0, or one over n"):
        strength_of("l1", text)
