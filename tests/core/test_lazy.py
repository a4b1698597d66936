import sys
from types import ModuleType

import pytest

import thalweg as tw
from thalweg.core.lazy import resolve


def test_a_name_is_looked_up_once_and_then_there(monkeypatch):
    package = ModuleType("a_package")
    monkeypatch.setitem(sys.modules, "a_package", package)
    found = resolve("a_package", {"Outcome": "thalweg.core.outcome"}, "Outcome")
    assert found is tw.Outcome
    assert vars(package)["Outcome"] is found


@pytest.mark.parametrize("package", [tw.scaling, tw.nets, tw.doctor], ids=lambda p: p.__name__)
def test_packages_have_what_they_list_and_nothing_else(package):
    if package is not tw.scaling:
        pytest.importorskip("torch")
    assert dir(package) == package.__all__
    for name in package.__all__:
        assert getattr(package, name) is not None
        assert vars(package)[name] is getattr(package, name)
    almost = f"{package.__all__[0]}s"
    with pytest.raises(AttributeError, match=rf"{package.__name__} has no '{almost}': did you"):
        getattr(package, almost)
