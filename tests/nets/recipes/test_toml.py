import math
import tomllib

import pytest

from thalweg.core.errors import InputError
from thalweg.nets.recipes.toml import to_toml


def test_what_is_written_is_what_is_read():
    record = {
        "word": 'quo"te\\ and\nline é', "whole": 3, "small": 1e-7, "no": False,
        "many": [1, 2.5, "x"],
        "infinite": math.inf, "table": {"deep": (1, 2)},
    }  # fmt: skip
    assert tomllib.loads(to_toml(record)) == {
        **record, "table": {"deep": [1, 2]},
    }  # fmt: skip


def test_none_and_empty_tables_are_left_out():
    assert to_toml({"a": None, "b": {}, "c": 1}) == "c = 1\n"


def test_what_cannot_be_written():
    with pytest.raises(InputError, match="thing must be a number, a word or a list"):
        to_toml({"thing": object()})
