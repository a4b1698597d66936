"""What formulas share, by hand; the formulas themselves are tried in tests/planner."""

import math

import numpy as np
import pytest

import thalweg as tw
from thalweg.methods.expectation import Difficulty, Expected


def hard(kappa, tol):
    return Difficulty(tol, kappa, r=1.0, s=1.0, worst=1.0, is_certain=True)


def test_momentum_takes_a_power_of_kappa_but_not_for_ever():
    assert hard(1e5, 1e-2).accelerated == pytest.approx(0.5 * 100.0 * math.log(100.0))
    assert hard(1e30, 1e-2).accelerated == hard(math.inf, 1e-2).accelerated == 500.0


@pytest.mark.parametrize("name", tw.METHODS)
def test_what_a_method_expects_can_be_priced(name):
    from thalweg.planner.cost import Cost

    data = tw.LinearProblem(np.eye(9), np.arange(9.0), l1=0.1, l2=0.1)
    hope = tw.METHODS[name]().expected(data, hard(10.0, 1e-6))
    if hope is None:
        assert not tw.METHODS[name].law
        return
    assert isinstance(hope, Expected)
    assert 1.0 <= hope.iterations < math.inf
    assert all(hasattr(Cost, kind) for kind in hope.passes)
    assert hope.refusal == ""


def test_a_plan_is_told_why_it_leaves_a_method_out():
    data = tw.LinearProblem(np.eye(9), np.arange(9.0), l2=0.1)
    assert "an l1 penalty" in tw.CD().expected(data, hard(10.0, 1e-6)).refusal
