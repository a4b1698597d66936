import math

import numpy as np
import pytest

from records import SGD, STUCK, facts_of
from thalweg.doctor.nets.symptoms.rate import adagrad, limit_of, rate_large, rate_small


def grows(step, edge):
    """Whether steps on ½λx², ηλ = edge, grow: the definition behind the limits."""
    x = before = 1.0
    for _ in range(4000):
        x, before = step(x, before, edge), x
        if abs(x) > 1e9:
            return True
    return abs(x) > 1.0


BETA = 0.9
RULES = {
    "SGD": lambda x, old, e: x - e * x,
    "heavy ball": lambda x, old, e: x - e * x + BETA * (x - old),
    "Nesterov": lambda x, old, e: (x + BETA * (x - old)) * (1 - e),
}
SETTINGS = {
    "SGD": SGD,
    "heavy ball": {**SGD, "momentum": BETA},
    "Nesterov": {**SGD, "momentum": BETA, "nesterov": True},
}


@pytest.mark.parametrize("name", RULES)
def test_limits_are_where_steps_begin_to_grow(name):
    limit = limit_of(SETTINGS[name])
    assert not grows(RULES[name], 0.99 * limit)
    assert grows(RULES[name], 1.01 * limit)


def test_adams_limit():
    assert limit_of({"name": "Adam", "betas": (0.9, 0.999)}) == pytest.approx(38.0)


def test_curvature_decides():
    (finding,) = rate_large(facts_of(**STUCK, hessian_largest=3000.0, rate=1e-3))
    assert (finding.measured, finding.limit) == (3.0, 2.0)
    assert "0.0003" in finding.advice
    assert rate_large(facts_of(**STUCK, hessian_largest=1900.0, rate=1e-3)) == []


def test_an_adaptive_optimizer_has_its_own_curvature():
    adam = {"name": "Adam", "betas": (0.9, 0.999), "lr": 1e-3}
    changes = {**STUCK, "hessian_largest": 1e6, "optimizers": (adam,)}
    assert rate_large(facts_of(**changes, hessian_preconditioned=3e4)) == []
    assert rate_large(facts_of(**changes, hessian_preconditioned=5e4))


def test_only_where_training_failed():
    wild = {"hessian_largest": 1e6, "update_ratio": 1.0}
    assert rate_large(facts_of(**wild)) == []
    assert rate_small(facts_of(update_ratio=1e-9)) == []


def test_weights_that_never_moved():
    (finding,) = rate_small(facts_of(**STUCK, update_ratio=1e-4))
    assert finding.measured == pytest.approx(1e-4 * 100)
    assert rate_small(facts_of(**STUCK, update_ratio=1e-2)) == []


def test_a_schedule_to_nothing():
    (finding,) = rate_small(facts_of(**STUCK, rate=np.geomspace(0.1, 1e-6, 100)))
    assert "the rate fell" in finding.claim


def test_sixteen_samples():
    assert rate_small(facts_of(**STUCK, small_fit=0.9))
    assert rate_small(facts_of(**STUCK, small_fit=0.9, small_fit_standard=0.9)) == []


def test_adagrad_by_its_name():
    theirs = {"name": "Adagrad", "lr": 0.01}
    assert adagrad(facts_of(**STUCK, optimizers=(theirs,)))
    assert adagrad(facts_of(**STUCK, optimizers=({**theirs, "name": "AdaGrad"},)))
    assert adagrad(facts_of(**STUCK)) == []
    assert adagrad(facts_of(optimizers=(theirs,))) == []


def test_nothing_measured_says_nothing():
    empty = {"update_ratio": math.nan, "rate": math.nan}
    facts = facts_of(**STUCK, **empty, optimizers=())
    assert rate_small(facts) == adagrad(facts) == []
