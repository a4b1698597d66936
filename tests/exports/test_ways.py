"""What can be asked for, and what cannot."""

import pytest

import thalweg as tw
from command import thalweg
from thalweg.core.errors import InputError
from thalweg.exports.ways import export


def test_a_race_sends_its_winner(tmp_path):
    race = tmp_path / "race"
    asked = ["--no-report", "-q", "-m", "newton", "-m", "gd", "--max-iter", "20", "--out", race]
    thalweg("train", "@cancer", "--standardize", *asked)
    loaded = tw.load(race)
    assert export(loaded, "json") == export(loaded.best, "json")


def test_what_cannot_be(exported, tmp_path):
    place, _, _ = exported
    with pytest.raises(InputError, match="to must be a known name, got 'pmml'"):
        export(tw.load(place / "two"), "pmml")
    pytest.importorskip("torch")
    thalweg("train", "@iris", "--model", "mlp:2", "--epochs", "1", "--out", tmp_path / "net")
    with pytest.raises(InputError, match=r"to must be 'onnx' for .*net, which is a network"):
        export(tw.load(tmp_path / "net"), "c")
