import math
from types import SimpleNamespace

import pytest

import thalweg as tw
from drawings import run_of
from thalweg.core.certificate import NONE, Certificate
from thalweg.core.outcome import Outcome
from thalweg.core.verdict import WORDS, verdict_of

GAP = Certificate("duality gap", True, 0.0, 1e-5, "a gap", "near", gap=1e-6)
OPEN = Certificate("duality gap", False, 1.0, 1e-5, "a gap", "little", gap=1.0)
FLAT = Certificate("stationarity", True, 0.0, 1e-5, "flat", "stationary", "more")
STEEP = Certificate("stationarity", False, 1.0, 1e-5, "steep", "little")
TRAINED = Certificate(NONE, False, 1.0, math.nan, "none", "losses")
SADDLE = SimpleNamespace(kind="saddle", explanation="curvatures of both signs")


@pytest.mark.parametrize(
    ("outcome", "certificate", "word"),
    [
        ("CONVERGED", GAP, "CERTIFIED"),
        ("CONVERGED", FLAT, "CONVERGED"),
        ("ITERATION_LIMIT", OPEN, "NOT CERTIFIED"),
        ("TIME_LIMIT", STEEP, "NOT CERTIFIED"),
        ("STALLED", OPEN, "NOT CERTIFIED"),
        ("NO_MINIMUM", OPEN, "NOT CERTIFIED"),
        ("INTERRUPTED", OPEN, "NOT CERTIFIED"),
        ("INTERRUPTED", GAP, "CERTIFIED"),  # the proof counts, whatever ended the run
        ("FINISHED", TRAINED, "FINISHED"),
        ("EARLY_STOPPED", TRAINED, "FINISHED"),
        ("TIME_LIMIT", TRAINED, "STOPPED"),
        ("INTERRUPTED", TRAINED, "STOPPED"),
        ("DIVERGED", TRAINED, "DIVERGED"),
        ("DIVERGED", OPEN, "DIVERGED"),
    ],
)
def test_one_word(outcome, certificate, word):
    run = run_of(certificate=certificate, outcome=Outcome[outcome], reason="So.")
    assert verdict_of(run) == (word, "So.")
    assert word in WORDS


def test_a_saddle_outdoes_all_but_divergence():
    for certificate in (GAP, FLAT, TRAINED):
        run = run_of(certificate=certificate)
        assert verdict_of(run, SADDLE) == ("SADDLE", "Curvatures of both signs.")
    assert verdict_of(run_of(outcome=Outcome.DIVERGED), SADDLE).word == "DIVERGED"
    assert verdict_of(run_of(), SimpleNamespace(kind="minimum", explanation="")).word == "CERTIFIED"


def test_a_real_saddle():
    surface = tw.surfaces.Saddle()
    run = tw.minimize(surface, "gd", [0.0, 0.0])
    assert verdict_of(run).word == "CONVERGED"
    assert verdict_of(run, tw.classify(surface, run.w)).word == "SADDLE"
