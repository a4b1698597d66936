"""The C reader of dates reads what `tables.dates` reads, and nothing else."""

import ctypes
import datetime
import shutil
import subprocess

import numpy as np
import polars as pl
import pytest

from thalweg.exports.c_source import c_bytes
from thalweg.exports.portable import Portable
from thalweg.runs.prediction import IDENTITY
from thalweg.tables.column import Column
from thalweg.tables.dates import ORDERS, PARTS, as_moments, values_of

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler is here")


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """By order, a function of a text that gives its parts times 1, 100, 10⁴, … in one number."""
    place = tmp_path_factory.mktemp("c")
    found = {}
    for order in ORDERS:
        column = Column("when", "date", parts=PARTS[:4], order=order)
        w = np.array([[1e-6], [1.0], [1e2], [1e4]])
        model = Portable("y", IDENTITY, (), (column,), w, np.zeros(1), True)
        (place / f"{order}.c").write_bytes(c_bytes(model))
        strict = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O1"]
        made = ["cc", *strict, "-shared", "-fPIC", "-o", f"{order}.so", f"{order}.c", "-lm"]
        subprocess.run(made, cwd=place, check=True)
        predict = ctypes.CDLL(str(place / f"{order}.so")).predict

        def answer(text, predict=predict):
            out = (ctypes.c_double * 1)()
            texts = (ctypes.c_char_p * 1)(None if text is None else text.encode())
            return out[0] if predict(None, texts, out) == 0 else None

        found[order] = answer
    return found


def expected(texts, order):
    moments = as_moments(pl.Series("when", texts, dtype=pl.String), order)
    parts = values_of(moments, PARTS[:4]) @ [1e-6, 1.0, 1e2, 1e4]
    return [None if np.isnan(each) else each for each in parts]


ODD = [
    "", "2024", "2024-01", "2024-1-1-1", "2024-02-30", "2023-02-29", "2000-02-29", "1900-02-29",
    "2024/01-31", "2024-01-31 ", " 2024-01-31T13:00", "2024-01-31 13", "2024-01-31 13:0",
    "2024-01-31 13:00:61", "2024-01-31 13:00:05.", "2024-01-31 13:00:05.25Z", "2024-01-31Z",
    "2024-01-31 UTC", "2024-01-31 13:00+0100", "2024-01-31 13:00 -01:00", "2024-01-31 13:00+1:00",
    "1/31/2024 1:00 PM", "1/31/2024 13:00 PM", "1/31/2024 0:00 AM", "1/31/2024 12:00am",
    "1/31/2024 1:00 P", "31.1.24", "31.1.69", "31.1.068", "31.01.20240", "0.1.2024", "1.0.2024",
    "0000-01-01", "2024-01-31  13:00", "2024-01-31x", "soon", "-", None, "1/2/3", "01/02/03",
]  # fmt: skip


@pytest.mark.parametrize("order", ORDERS)
def test_odd_texts(answers, order):
    wanted = expected(ODD, order)
    for text, each in zip(ODD, wanted, strict=True):
        found = answers[order](text)
        assert found == (None if each is None else pytest.approx(each, rel=1e-12)), text


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("seed", range(5))
def test_texts_that_are_drawn(answers, order, seed):
    rng = np.random.default_rng(seed)
    texts = []
    for _ in range(300):
        day = datetime.datetime(1, 1, 1) + datetime.timedelta(minutes=int(rng.integers(5 * 10**9)))
        numbers = [f"{day.year:04d}", f"{day.month}", f"{day.day:02d}"]
        words = [numbers[ORDERS[order].index(k)] for k in range(3)]
        clock = ("", f" {day:%H:%M}", f"T{day:%H:%M:%S}Z")[rng.integers(3)]
        text = "-/."[rng.integers(3)].join(words) + clock
        if rng.random() < 0.5:  # one letter changed
            k = int(rng.integers(len(text)))
            text = text[:k] + "0123456789-/.: TZPM"[rng.integers(19)] + text[k + 1 :]
        texts.append(text)
    for text, each in zip(texts, expected(texts, order), strict=True):
        found = answers[order](text)
        assert found == (None if each is None else pytest.approx(each, rel=1e-12)), text
