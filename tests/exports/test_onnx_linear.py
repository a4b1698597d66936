"""A linear model answers in onnxruntime as in Thalweg."""

import math

import numpy as np
import pytest

from exported_rows import CASES, DATED, TEXTS, same, told
from thalweg.core.errors import InputError
from thalweg.exports.ways import export

ort = pytest.importorskip("onnxruntime")


@pytest.mark.parametrize("name", sorted(CASES.keys() - set(DATED)))
def test_onnx(exported, name):
    saved, prediction, rows = told(exported, name)
    session = ort.InferenceSession(export(saved, "onnx"))

    def asked(rows):
        feeds = {}
        for key in rows[0]:
            values = [row[key] for row in rows]
            is_text = key in TEXTS
            filled = ["" if is_text else math.nan] * len(values)
            filled = [f if v is None else v for f, v in zip(filled, values, strict=True)]
            kind = object if is_text else np.float64
            feeds[key] = np.array(filled, dtype=kind).reshape(-1, 1)
        return dict(
            zip([o.name for o in session.get_outputs()], session.run(None, feeds), strict=True)
        )

    found = asked(rows)
    answers = found["label"] if prediction.classes else found["prediction"]
    same(prediction, answers, found.get("probabilities"))
    for column in rows[0] if name == "no gaps" else ():
        assert np.isnan(asked([rows[0] | {column: None}])["probabilities"]).all()


def test_a_matrix_without_names(matrix):
    saved, X = matrix
    session = ort.InferenceSession(export(saved, "onnx"))
    same(saved.predict(X), *session.run(["label", "probabilities"], {"X": X}))


def test_dates_are_refused(exported):
    saved, _, _ = told(exported, "dates")
    with pytest.raises(InputError, match=r"ONNX reads no dates.*'built', 'seen': .*--to json"):
        export(saved, "onnx")
