import numpy as np
import pytest

import thalweg as tw
from terms import group_lasso, quantile
from thalweg.methods.own_terms import unfamiliar, way_out

X, Y = np.random.default_rng(0).standard_normal((20, 4)), np.arange(20.0)
BUILT_IN = tw.LinearProblem(X, Y, l1=0.1)
OWN_LOSS = tw.LinearProblem(X, Y, quantile(), l2=0.1)
OWN_PENALTY = tw.LinearProblem(X, Y, penalty=group_lasso(0.1))
ANY_LOSS = {
    "newton", "newton-cg", "bfgs", "lbfgs", "fista", "nesterov", "heavy-ball", "gd", "adagrad",
    "rmsprop", "adam", "nadam",
}  # fmt: skip


@pytest.mark.parametrize(
    ("problem", "able"),
    [
        (BUILT_IN, set(tw.METHODS)),
        (tw.surfaces.Rosenbrock(), set(tw.METHODS)),
        (OWN_LOSS, ANY_LOSS),
        (OWN_PENALTY, {"fista"}),
    ],
)
def test_who_takes_what(problem, able):
    assert {name for name, method in tw.METHODS.items() if not unfamiliar(method, problem)} == able


@pytest.mark.parametrize("name", sorted(set(tw.METHODS) - ANY_LOSS))
def test_a_method_that_knows_losses_by_code_names_one_that_does_not(name):
    says = rf"^{name} takes the built-in losses alone, got 'quantile 0.8': use method='lbfgs'$"
    with pytest.raises(tw.InputError, match=says):
        tw.minimize(OWN_LOSS, name)


@pytest.mark.parametrize("name", sorted(set(tw.METHODS) - {"fista"}))
def test_a_method_without_a_proximal_step_of_its_own_names_fista(name):
    says = rf"^{name} takes no penalty of your own, got 'group lasso': use method='fista'$"
    with pytest.raises(tw.InputError, match=says):
        tw.minimize(OWN_PENALTY, name)


@pytest.mark.parametrize("problem", [OWN_LOSS, OWN_PENALTY])
def test_the_method_that_is_named_takes_it(problem):
    name = way_out(problem).split("'")[1]
    assert unfamiliar(tw.METHODS[name], problem) == ""
