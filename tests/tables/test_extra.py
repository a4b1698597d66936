import os
import sys

import polars as pl
import pytest

from thalweg.core.errors import InputError
from thalweg.tables.extra import failures, polars, without_panic_text


def test_polars_or_how_to_get_it(monkeypatch):
    assert polars("t.csv") is pl
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(InputError, match=r"t\.csv needs polars.*pip install polars"):
        polars("t.csv")


def test_a_panic_is_a_failure_of_the_file_too():
    assert issubclass(pl.exceptions.PanicException, failures())
    assert issubclass(pl.exceptions.ComputeError, failures())
    assert not issubclass(KeyboardInterrupt, failures())


def test_what_is_printed_past_python_stays_off_the_screen(capfd):
    with without_panic_text():
        os.write(2, b"thread panicked")
    os.write(2, b"seen")
    assert capfd.readouterr().err == "seen"
