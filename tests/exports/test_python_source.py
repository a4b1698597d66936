"""The Python file answers as Thalweg does, imports nothing, and refuses what cannot be."""

import datetime
import importlib.util
import math
import sys

import numpy as np
import pytest

from exported_rows import CASES, same, stacked, told
from thalweg.exports.ways import export


@pytest.mark.parametrize("name", CASES)
def test_python(exported, name, tmp_path):
    saved, prediction, rows = told(exported, name)
    file = tmp_path / "model.py"
    file.write_bytes(export(saved, "python"))
    spec = importlib.util.spec_from_file_location("model", file)
    module = importlib.util.module_from_spec(spec)
    before = set(sys.modules)
    spec.loader.exec_module(module)
    assert set(sys.modules) == before  # it imports nothing but what every Python has loaded
    odds = getattr(module, "probabilities", None)
    same(prediction, *stacked([(module.predict(r), odds and odds(r)) for r in rows]))
    if (
        not prediction.classes and name != "cyclic"
    ):  # the same sums in order; sines and e^z are math's
        z = np.array([module.scores(row)[0] for row in rows])
        values = np.exp(z) if name in ("counts", "sizes") else z
        assert values.tolist() == prediction.values.tolist()
    if name == "dates":
        when = datetime.datetime(2004, 2, 29, 13, 5)
        assert module.scores(rows[0] | {"seen": when}) == module.scores(
            rows[0] | {"seen": "2004-02-29T13:05:59.5Z"}
        )
        for odd in ("2003-02-29", "29.02.2004", "soon", "2004-02-29 24:00", "04-02-28"):
            with pytest.raises(ValueError, match=r"date|day|hour"):
                module.scores(rows[0] | {"seen": odd})
    listed = [list(row.values()) for row in rows]
    assert [module.predict(row) for row in listed] == [module.predict(row) for row in rows]
    with pytest.raises(ValueError, match=r"row must have 'size', got \['nothing'\]"):
        module.predict({"nothing": 1})
    with pytest.raises(ValueError, match="'lit' must be a flag, got 'perhaps'"):
        module.predict(rows[0] | {"lit": "perhaps"})
    with pytest.raises(ValueError, match="'size' must be a number, got inf"):
        module.predict(rows[0] | {"size": math.inf})
    if name == "no gaps":
        for column in rows[0]:
            with pytest.raises(ValueError, match=f"'{column}' must have a value, as in training"):
                module.predict(rows[0] | {column: None})


def test_a_matrix_without_names(matrix):
    saved, X = matrix
    model = {}
    exec(export(saved, "python"), model)
    found = [(model["predict"](row), model["probabilities"](row)) for row in X.tolist()]
    same(saved.predict(X), *stacked(found))
