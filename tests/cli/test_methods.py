import re
import subprocess
import sys
from importlib.util import find_spec

import thalweg as tw
from command import answer, sentence, thalweg


def test_all_methods_and_optimizers():
    found = answer("methods")["methods"]
    methods = {each["name"]: each for each in found if each["kind"] == "method"}
    assert set(methods) == set(tw.METHODS)
    for name, method in methods.items():
        assert set(method["options"]) == set(tw.METHODS[name]().options)
        assert 10 < len(method["summary"]) < 100
    assert {each["name"] for each in found if each["kind"] == "optimizer"} >= {"adam", "lbfgs"}
    assert methods["sag"]["takes"] == ["linear", "l1"]
    assert methods["gd"]["takes"] == ["linear", "functions", "noise"]
    assert methods["fista"]["takes"][:3] == ["linear", "functions", "l1"]


def test_what_a_person_reads(monkeypatch):
    text = thalweg("methods").stdout
    assert re.search(r"^sag +linear, l1 ", text, re.M)
    words = " ".join(text.split())
    assert "step along the mean of the last gradient seen at every sample" in words
    monkeypatch.setenv("COLUMNS", "40")
    assert max(map(len, thalweg("methods").stdout.splitlines())) <= 40


def test_one_method():
    text = thalweg("methods", "sag").stdout
    assert text.startswith("sag, a method\n")
    assert "g ← g + (aᵢℓ′(xᵢᵀw, yᵢ) − sᵢ)xᵢ" in text
    assert "16·max(L_max/(nμ), ½) log(1/ε) passes, in expectation" in text
    assert "sampling  " in text
    assert "no rate is proved" in thalweg("methods", "lbfgs").stdout


def test_a_name_that_both_have():
    found = answer("methods", "adam")["methods"]
    assert [each["kind"] for each in found] == ["method", "optimizer"]
    assert "betas" in found[1]["options"]


def test_an_unknown_name():
    assert "got 'sagg': did you mean 'sag'?" in sentence("methods", "sagg")


def test_the_list_is_made_without_torch():
    code = (
        "import sys\nfrom thalweg.cli import main\n"
        "main(['methods'], standalone_mode=False)\n"
        "main(['methods', 'sag'], standalone_mode=False)\n"
        "assert 'torch' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert ("truncated-newton" in done.stdout) == (find_spec("torch") is not None)
