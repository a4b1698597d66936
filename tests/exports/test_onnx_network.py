"""Networks that recipes built answer in onnxruntime as in torch."""

import numpy as np
import pytest

import thalweg as tw
from command import thalweg
from thalweg.core.errors import InputError
from thalweg.exports.ways import export

ort = pytest.importorskip("onnxruntime")
pytest.importorskip("torch")


NETWORKS = {
    "@iris": 'layers = "mlp:8x4"\nscaling = "z-score"\nactivation = "gelu"',
    "@digits": 'layers = "conv:4/8"\nnorm = "batch"\nactivation = "leaky-relu"',
    "@diabetes": 'layers = "mlp:4"\nloss = "squared"\nactivation = "elu"\nkeep = 0.8',
    "@wine": 'layers = "mlp:5x3"\nscaling = "min-max"\nnorm = "batch"\nactivation = "tanh"',
}


@pytest.mark.parametrize("data", NETWORKS)
def test_a_network_as_onnx(tmp_path, data):
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(NETWORKS[data] + "\nepochs = 2\n")
    done = thalweg(
        "train", data, "--recipe", recipe, "--no-report", "-q", "--out", tmp_path / "run"
    )
    assert done.exit_code == 0, done.output
    saved, table = tw.load(tmp_path / "run"), tw.read(data)
    X, prediction = table.X.reshape(len(table.y), -1).astype(float), saved.predict(data)
    session = ort.InferenceSession(export(saved, "onnx"))
    names = [each.name for each in session.get_inputs()]
    feeds = {name: X[:, [j]] for j, name in enumerate(names)} if len(names) > 1 else {"X": X}
    found = session.run(None, feeds)
    if prediction.classes:
        np.testing.assert_allclose(found[1], prediction.probabilities, atol=1e-5)
        assert np.mean(found[0] == prediction.names) > 0.99  # float32 decides what is nearly a tie
    else:
        np.testing.assert_allclose(found[0], prediction.values, rtol=1e-4)


def test_a_network_from_code_is_for_torch(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = "from torch import nn\ndef build(): return nn.Linear(4, 3)\n"
    (tmp_path / "net.py").write_text(code)
    asked = ["--model", "net.py:build", "--epochs", "1", "--no-report", "-q", "--out", "run"]
    assert thalweg("train", "@iris", *asked).exit_code == 0
    with pytest.raises(InputError, match=r"which torch exports: torch\.onnx\.export"):
        export(tw.load("run"), "onnx")
