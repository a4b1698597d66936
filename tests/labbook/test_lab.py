import pytest

import thalweg as tw
from laboratory import LAB, experiment
from thalweg.labbook.ruling import Ruling


def test_its_words_are_its_module():
    """A lab for tests."""
    assert LAB.title == "Halving takes log₂(1/ε) steps"
    assert LAB.derivation.startswith("Each step halves the distance")
    assert LAB.lectures == ("A", "B")


def test_it_is_tried_and_judged():
    result = LAB.run("glance", seed=3)
    assert (result.passed, result.verdict, result.seed) == (True, Ruling.HOLDS, 3)
    assert result.environment["thalweg"] == tw.__version__
    assert result.seconds >= 0.0


def test_broken_it_fails():
    result = LAB.run("glance", broken="factor")
    assert not result.passed
    assert result.broken == "steps that shrink to 0.9"
    with pytest.raises(tw.InputError, match="a way to break halving, got 'faktor': did you mean"):
        LAB.run(broken="faktor")


def test_a_lab_that_needs_full():
    needing = LAB.__class__(**{**vars(LAB), "needs_full": True})
    assert needing.expected_at("quick") is Ruling.NEEDS_FULL
    assert needing.expected_at("full") is Ruling.HOLDS


def test_torch_is_asked_for_by_a_sentence(monkeypatch):
    from thalweg.labbook import lab as module

    def missing(*_, **__):
        raise tw.InputError("the lab needs torch")

    monkeypatch.setattr(module, "optional", missing)
    with pytest.raises(tw.InputError, match="needs torch"):
        LAB.__class__(**{**vars(LAB), "needs_torch": True}).run()
    assert LAB.run("glance").passed
    assert LAB.experiment is experiment
