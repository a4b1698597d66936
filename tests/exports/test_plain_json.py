"""A program that reads the JSON answers as Thalweg does, and so does the page of the docs."""

import datetime
import json
import math
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from exported_rows import CASES, same, stacked, told
from thalweg.exports.ways import export

ROOT = Path(__file__).resolve().parents[2]


ORDERS = {"ymd": (0, 1, 2), "dmy": (2, 1, 0), "mdy": (2, 0, 1)}


def parts_of(text, column):
    """Of a date: year, month, weekday and hour, or sines and cosines of these."""
    numbers = [int(each) for each in re.findall(r"\d+", text)]
    year, month, day = (numbers[place] for place in ORDERS[column["order"]])
    told = {"year": year, "month": month, "hour": numbers[3] if len(numbers) > 3 else 0}
    told["weekday"] = datetime.date(year, month, day).isoweekday()
    cycles = {"month": (1, 12), "weekday": (1, 7), "hour": (0, 24)}
    for name, (first, many) in cycles.items():
        angle = 2 * math.pi * (told[name] - first) / many
        told |= {f"{name} sin": math.sin(angle), f"{name} cos": math.cos(angle)}
    return [told[part] for part in column["parts"]]


def evaluated(model, row):
    """What the page of docs says of the JSON, word for word."""
    z = [0.0] * len(model["intercepts"])
    for column in model["columns"]:
        value, w = row[column["name"]], column["coefficients"]
        value = column["fill"] if value is None else value
        assert value is not None
        if column["kind"] == "text":
            known = value in column["categories"]
            parts = w[column["categories"].index(value)] if known else [0.0] * len(z)
        elif column["kind"] == "date":
            x = value if value is column["fill"] else parts_of(value, column)
            parts = [sum(a * each[k] for a, each in zip(x, w, strict=True)) for k in range(len(z))]
        else:
            parts = [float(value) * each for each in w]
        z = [a + b for a, b in zip(z, parts, strict=True)]
    z = [a + b for a, b in zip(z, model["intercepts"], strict=True)]
    if model["link"] == "identity":
        return z[0], None
    if model["link"] == "exp":
        return math.exp(z[0]), None
    if model["link"] == "softmax":
        parts = [math.exp(each - max(z)) for each in z]
        return model["classes"][z.index(max(z))], [each / sum(parts) for each in parts]
    answer = model["classes"][z[0] > 0]
    odds = 1 / (1 + math.exp(-z[0]))
    return answer, None if model["link"] == "sign" else [1 - odds, odds]


@pytest.mark.parametrize("name", CASES)
def test_json(exported, name):
    saved, prediction, rows = told(exported, name)
    model = json.loads(export(saved, "json"))
    assert model["format"] == "thalweg linear model"
    same(prediction, *stacked([evaluated(model, row) for row in rows]))


@pytest.mark.skipif(shutil.which("node") is None, reason="no JavaScript is here")
@pytest.mark.parametrize("name", CASES)
def test_the_page_of_docs(exported, name):
    saved, prediction, rows = told(exported, name)
    page = (ROOT / "docs/concepts/exports.md").read_text("utf-8")
    script = page.partition("```js\n")[2].partition("```")[0]
    ask = f"{script}\nconst model = {export(saved, 'json').decode()};\n"
    ask += f"console.log(JSON.stringify({json.dumps(rows)}.map((row) => answer(model, row))));"
    done = subprocess.run(["node", "-"], input=ask, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    same(prediction, *stacked([(each["value"], each.get("probabilities")) for each in found]))


def test_a_matrix_without_names(matrix):
    saved, X = matrix
    model = json.loads(export(saved, "json"))
    rows = [{f"x{j}": value for j, value in enumerate(row)} for row in X.tolist()]
    same(saved.predict(X), *stacked([evaluated(model, row) for row in rows]))
