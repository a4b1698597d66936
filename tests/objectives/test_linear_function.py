"""What F says of itself; its values and derivatives are tested through `LinearProblem`."""

import numpy as np
import pytest

from terms import elastic, group_lasso, lasso, quantile
from thalweg.objectives.linear import LinearProblem
from thalweg.objectives.linear_function import LinearFunction

X = np.random.default_rng(0).standard_normal((12, 4))
Y = np.random.default_rng(1).standard_normal(12)
PENALTY, CONJUGATE, DUAL = "add an l2", "give the loss its conjugate", "give the penalty its dual"


@pytest.mark.parametrize(
    ("options", "is_smooth", "is_built_in", "lacks"),
    [
        ({}, True, True, PENALTY),
        ({"l2": 0.1}, True, True, ""),
        ({"l1": 0.1}, False, True, ""),
        ({"loss": quantile()}, True, False, PENALTY),
        ({"loss": quantile(), "l2": 0.1}, True, False, ""),
        ({"loss": quantile(conjugate=None), "l2": 0.1}, True, False, CONJUGATE),
        ({"penalty": lasso(0.1)}, False, False, ""),
        ({"penalty": elastic(0.1, 0.1)}, False, False, ""),
        ({"penalty": lasso(0.1, dual=None)}, False, False, DUAL),
        ({"penalty": lasso(0.1, dual=None), "l2": 0.1}, False, False, ""),
        ({"loss": quantile(conjugate=None), "penalty": lasso(0.1)}, False, False, CONJUGATE),
    ],
)
def test_it_knows_what_it_is_made_of(options, is_smooth, is_built_in, lacks):
    problem = LinearProblem(X, Y, **options)
    assert isinstance(problem, LinearFunction)
    assert (problem.is_smooth, problem.is_built_in) == (is_smooth, is_built_in)
    assert problem.has_own_loss == (problem.loss not in ("squared",))
    assert problem.lacks.startswith(lacks)
    assert bool(problem.lacks) == bool(lacks)
    assert (problem.smooth is None) == is_smooth


def test_a_penalty_of_ones_own_is_added_and_stepped_along():
    own, built_in = (
        LinearProblem(X, Y, penalty=lasso(0.3), l2=0.1),
        LinearProblem(X, Y, l1=0.3, l2=0.1),
    )
    w = np.array([0.5, -0.1, 0.0, 2.0, 7.0])
    assert own.penalty(w) == pytest.approx(built_in.penalty(w))
    assert own.value(w) == pytest.approx(built_in.value(w))
    np.testing.assert_array_equal(own.gradient(w), built_in.gradient(w))
    np.testing.assert_allclose(own.prox(w, 0.5), built_in.prox(w, 0.5))
    assert own.prox(w.astype(np.float32), 0.5).dtype == np.float32
    assert own.smooth.penalty(w) == 0.0
    assert own.smooth.value(w) == built_in.smooth.value(w)


def test_a_penalty_of_ones_own_sees_coefficients_and_no_intercepts():
    seen = []
    own = group_lasso(0.1, size=3)
    own._value = lambda w: seen.append(w.shape) or 0.0
    own.check = False
    problem = LinearProblem(X, np.arange(12) % 3, "multinomial", penalty=own)
    problem.penalty(np.zeros(problem.dim))
    assert seen == [(4, 3)]


def test_its_name_is_in_that_of_the_problem():
    problem = LinearProblem(X, Y, quantile(0.9), l2=0.1, penalty=group_lasso(0.1))
    assert problem.name == "quantile 0.9 on 12 × 4 dense, l2 = 0.1, group lasso"
