import pytest

from thalweg.core.duration import seconds_in
from thalweg.core.errors import InputError


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("30", 30.0), ("30s", 30.0), ("0.5m", 30.0), ("2h", 7200.0), ("5.0", 5.0), ("2 m", 120.0)],
)
def test_by_hand(text, seconds):
    assert seconds_in(text) == seconds


def test_a_unit_may_be_asked_for():
    assert seconds_in("90s", needs_unit=True) == 90.0
    with pytest.raises(InputError, match="got '90'"):
        seconds_in("90", needs_unit=True)


@pytest.mark.parametrize("text", ["0", "-3s", "s", "", "3d", "nan", "inf", "3 minutes"])
def test_bad_input(text):
    with pytest.raises(InputError, match="a time above 0 such as 30s"):
        seconds_in(text)
