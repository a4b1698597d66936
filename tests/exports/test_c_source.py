"""The C file, compiled without a warning, answers as Thalweg does."""

import ctypes
import math
import shutil
import subprocess

import numpy as np
import pytest

from exported_rows import CASES, DATES, TEXTS, same, told
from thalweg.exports.ways import export


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler is here")
@pytest.mark.parametrize("name", CASES)
def test_c(exported, name, tmp_path):
    saved, prediction, rows = told(exported, name)
    (tmp_path / "model.c").write_bytes(export(saved, "c"))
    strict = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off"]
    made = ["cc", *strict, "-O2", "-shared", "-fPIC", "-o", "model.so", "model.c", "-lm"]
    done = subprocess.run(made, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    predict = ctypes.CDLL(str(tmp_path / "model.so")).predict
    size = max(1, len(prediction.classes)) if prediction.probabilities is not None else 1

    def asked(row):
        numbers = [
            math.nan if v is None else float(v) for k, v in row.items() if k not in TEXTS | DATES
        ]
        texts = [None if v is None else v.encode() for k, v in row.items() if k in TEXTS | DATES]
        answer = (ctypes.c_double * size)()
        place = predict(
            (ctypes.c_double * len(numbers))(*numbers),
            (ctypes.c_char_p * (len(texts) + 1))(*texts, None),
            answer,
        )
        return place, list(answer)

    found = [asked(row) for row in rows]
    answers = [prediction.classes[k] if prediction.classes else each[0] for k, each in found]
    has_odds = prediction.probabilities is not None
    same(prediction, answers, np.array([each for _, each in found]) if has_odds else None)
    for column in rows[0] if name == "no gaps" else ():
        assert asked(rows[0] | {column: None})[0] == -1
    assert asked(rows[0] | {"size": math.inf})[0] == -1
