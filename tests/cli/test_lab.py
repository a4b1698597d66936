import sys
from types import ModuleType, SimpleNamespace

import pytest

from command import answer, sentence, thalweg


def test_there_are_none():
    assert thalweg("lab").stdout == "there are no labs in this version\n"
    assert answer("lab") == {"labs": []}
    assert "got 'gd-rate': this version has none" in sentence("lab", "gd-rate")


@pytest.fixture
def labs(monkeypatch):
    """Two labs, of which one fails."""

    def gd_rate():
        """Gradient descent keeps its rate."""
        return SimpleNamespace(holds=True, __str__=lambda: "PASS")

    def odd():
        """Two is odd."""
        return SimpleNamespace(holds=False)

    module = ModuleType("thalweg.labs")
    module.LABS = {"gd-rate": gd_rate, "odd": odd}
    module.__spec__ = SimpleNamespace(name="thalweg.labs")
    monkeypatch.setitem(sys.modules, "thalweg.labs", module)


def test_listed_and_run(labs):
    assert answer("lab")["labs"][0] == {
        "name": "gd-rate", "claim": "Gradient descent keeps its rate.",
    }  # fmt: skip
    assert "odd      Two is odd." in thalweg("lab").stdout
    assert answer("lab", "gd-rate")["labs"][0]["holds"] is True
    assert answer("lab", "odd", code=5)["labs"][0]["holds"] is False
    assert "did you mean 'gd-rate'?" in sentence("lab", "gd-rat")
