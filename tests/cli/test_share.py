import click
import pytest

from thalweg.cli.share import ShareType


@pytest.mark.parametrize(
    ("text", "value"), [("0.2", 0.2), (0.25, 0.25), ("held.csv", "held.csv"), ("@iris", "@iris")]
)
def test_by_hand(text, value):
    assert ShareType().convert(text, None, None) == value


@pytest.mark.parametrize("text", ["0", "1", "20", "-0.1", "nan"])
def test_bad_input(text):
    with pytest.raises(click.BadParameter, match="between 0 and 1, or a file"):
        ShareType().convert(text, None, None)
