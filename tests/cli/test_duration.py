import click
import pytest

from thalweg.cli.duration import DurationType


@pytest.mark.parametrize(
    ("text", "seconds"), [("30", 30.0), ("30s", 30.0), ("0.5m", 30.0), ("2h", 7200.0), (5.0, 5.0)]
)
def test_by_hand(text, seconds):
    assert DurationType().convert(text, None, None) == seconds


@pytest.mark.parametrize("text", ["0", "-3s", "s", "", "3d", "nan", "inf", "3 minutes"])
def test_bad_input(text):
    with pytest.raises(click.BadParameter, match="a time above 0 such as 30s"):
        DurationType().convert(text, None, None)
