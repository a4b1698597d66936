"""The benchmark of treatments: which faults are repairable, and what is computed of them."""

import math

import pytest
from doctor.faulty import FAULTY
from doctor.recipe import recipe_of
from doctor.table import share
from doctor.wilson import wilson
from scipy import stats
from treatment import Case, _Draw, _summary, chosen, is_repairable

from thalweg.doctor.causes import DENORMALS, LEAKING, SHUFFLED, ZERO_GRAD
from thalweg.doctor.nets.remedies.registry import ALL


@pytest.mark.parametrize(("k", "n"), [(0, 10), (3, 10), (10, 10), (57, 120), (1, 1)])
def test_wilson_is_scipys(k, n):
    reference = stats.binomtest(k, n).proportion_ci(0.95, "wilson")
    assert wilson(k, n) == pytest.approx((reference.low, reference.high))
    assert wilson(0, 0) == (0.0, 1.0)
    assert share(19, 20) == "19/20 95 % [76, 99]"


def test_repairable_faults_have_lost_nothing():
    found = [program for program in FAULTY if is_repairable(program)]
    assert len(found) >= 100
    assert {p.fault.cause for p in found}.isdisjoint({DENORMALS, LEAKING, SHUFFLED, ZERO_GRAD})
    for program in found:
        assert recipe_of(program) is not None
        assert len(program.split().x) == len(program.twin.split().x), program.name


def test_one_of_each_family_the_shortest():
    programs = chosen("", "all", 1, None)
    assert len({p.family for p in programs}) == len(programs) >= 25
    tuned, held = (chosen("", part, 1, None) for part in ("tuned", "held-out"))
    assert {p.name for p in [*tuned, *held]} == {p.name for p in programs}
    assert len(chosen("rate", "all", 2, 3)) == 3


def test_random_remedies_are_drawn_one_at_a_time_and_replay():
    draws = []
    for _ in range(2):
        draw = _Draw("a program")
        draws.append([remedy for _ in ALL for remedy in draw("any")])
    assert draws[0] == draws[1]
    assert sorted(map(str, draws[0])) == sorted(map(str, ALL))
    assert draws[0] != list(ALL)


def case(treated, low=0.2, held_out=True):
    return Case("x", "dead ReLUs", held_out, 0.1, treated, 0.9, 0.5, 14.0, 20.0, (), (low,), 1, 1.0)


def test_figures_by_hand():
    text = _summary("all", [case(0.9), case(0.86), case(0.8)])
    assert "restored to 95 % of the twin 2/3 67 %" in text
    assert "by a random remedy 0/3" in text
    assert "the lowest end +0.2000; 3 confirmed" in text
    mean = ((0.9 - 0.5) + (0.86 - 0.5) + (0.8 - 0.5)) / 3
    assert f"over a random remedy {mean:+.3f}" in text
    assert math.isclose(case(0.9).twin, 0.9)
