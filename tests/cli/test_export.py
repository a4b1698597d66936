import json

import joblib
import pytest

import thalweg as tw
from command import answer, sentence, thalweg
from thalweg.cli.export import WAYS
from thalweg.exports import ways


def test_the_ways_on_the_command_line_are_those_there_are():
    # Named twice, so that --help imports none of what they need.
    assert WAYS == ways.WAYS


def test_text_on_stdout(made):
    done = thalweg("export", made / "newton", "--to", "json")
    assert done.exit_code == 0
    assert json.loads(done.stdout)["target"] == "diagnosis"
    assert thalweg("export", made / "race", "--to", "python").stdout.startswith('"""What a linear')


def test_to_a_file(made, tmp_path):
    file = tmp_path / "model.joblib"
    told = answer("export", made / "newton", "--to", "sklearn", "--out", file)
    assert told["bytes"] == file.stat().st_size
    table = tw.read("@cancer")
    frame = pytest.importorskip("pandas").DataFrame(table.X, columns=table.feature_names)
    predicted = tw.load(made / "newton").predict("@cancer").names
    assert joblib.load(file).predict(frame).tolist() == predicted.tolist()


def test_bad_input(made, tmp_path):
    run = made / "newton"
    assert "--to onnx needs a file: --out model.onnx" in sentence("export", run, "--to", "onnx")
    assert "does not exist" in sentence("export", tmp_path / "no", "--to", "json")
    assert "which is a network" in sentence("export", made / "network", "--to", "c")
    assert "cannot be written" in sentence("export", run, "--to", "c", "--out", "/proc/no/m.c")
