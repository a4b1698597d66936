import numpy as np
import pytest

import thalweg as tw
from thalweg.methods.problem import Problem
from thalweg.methods.roles import check_roles

SURFACE = tw.surfaces.Quadratic((1.0, 2.0))
X = np.random.default_rng(0).standard_normal((9, 2))
SQUARED = tw.LinearProblem(X, X[:, 0], l1=0.1)
TAKEN = {
    "smooth": (SURFACE, tw.LBFGS()),
    "noisy": (SURFACE.noisy(1.0), tw.Adam()),
    "l1 of a linear problem": (SQUARED, tw.Newton()),
    "a penalty": (tw.Regularized(SURFACE, l1=0.1), tw.FISTA()),
}
REFUSED = {
    "noisy": (SURFACE.noisy(1.0), tw.LBFGS(), "lbfgs needs exact gradients.*use one of .*adam"),
    "l1": (SQUARED, tw.LBFGS(), "lbfgs needs a smooth objective.*'newton' or .*'cd' or 'fista'"),
    "a penalty": (
        tw.Regularized(SURFACE, l1=0.1), tw.Newton(), "newton needs a smooth.*use method='fista'$"
    ),
    "its own": (SURFACE, tw.CD(), "cd needs a LinearProblem"),
}  # fmt: skip


def seen(objective):
    return Problem(objective, 3 if objective is SQUARED else 2, np.dtype(np.float64))


@pytest.mark.parametrize("case", TAKEN)
def test_a_method_takes_what_it_says(case):
    objective, method = TAKEN[case]
    check_roles(method, seen(objective))


@pytest.mark.parametrize("case", REFUSED)
def test_a_method_refuses_the_rest_and_names_those_that_do_not(case):
    objective, method, said = REFUSED[case]
    with pytest.raises(tw.InputError, match=said):
        check_roles(method, seen(objective))
