"""Penalties whose functions do not fit together are refused; those that do are not."""

import numpy as np
import pytest

import thalweg as tw
from terms import elastic, group_lasso, lasso, non_negative
from thalweg.objectives.penalty_check import check_penalty

SHAPES = [(1,), (6,), (60,), (6, 2)]


def soft(v, threshold):
    return np.sign(v) * np.maximum(np.abs(v) - threshold, 0)


@pytest.mark.parametrize("strength", [1e-3, 1.0, 30.0])
@pytest.mark.parametrize("shape", SHAPES)
def test_good_penalties_pass(shape, strength):
    check_penalty(lasso(strength), shape)
    check_penalty(lasso(strength, dual=None), shape)
    check_penalty(elastic(strength, 0.5), shape)
    check_penalty(non_negative(), shape)
    if shape != (1,):
        check_penalty(group_lasso(strength), shape)


def test_other_good_penalties_pass():
    # A ball, ridge, and a penalty that leaves the first coefficient alone.
    def ball(v, step):
        return v / max(1.0, np.linalg.norm(v))

    check_penalty(
        tw.Penalty(
            lambda w: 0.0 if np.linalg.norm(w) <= 1 + 1e-12 else np.inf, ball,
            conjugate=np.linalg.norm, name="ball",
        ),
        (5,),
    )  # fmt: skip
    check_penalty(
        tw.Penalty(lambda w: (w**2).sum(), lambda v, step: v / (1 + 2 * step), name="ridge"), (5,)
    )
    free = tw.Penalty(
        lambda w: np.abs(w[1:]).sum(),
        lambda v, step: np.append(v[0], soft(v[1:], step)),
        dual=lambda u: np.inf if u[0] else np.abs(u[1:]).max(),
        name="all but one",
    )
    check_penalty(free, (5,))


BAD = [
    ({"prox": lambda v, step: soft(v, 2 * step)}, "prox of the penalty 'own' must minimise"),
    ({"prox": lambda v, step: soft(v, 0.5 * step)}, "prox of the penalty 'own' must minimise"),
    ({"prox": lambda v, step: soft(v, 1.0)}, "prox of the penalty 'own' must minimise"),
    ({"prox": lambda v, step: v}, "must minimise"),
    ({"prox": lambda v, step: 0 * v}, "must minimise"),
    ({"prox": lambda v, step: np.nan * v}, "prox of the penalty 'own' must be finite, got nan"),
    (
        {"value": lambda w: np.inf if w.any() else 0.0},
        "prox of the penalty 'own' must return a point",
    ),
    ({"value": lambda w: np.nan}, "value of the penalty 'own' must be at least 0, got nan"),
    ({"value": lambda w: np.abs(w).sum() - 1}, "value of the penalty 'own' must be at least 0"),
    ({"value": lambda w: np.sqrt(np.abs(w)).sum()}, "value of the penalty 'own' must be convex"),
    ({"value": lambda w: np.count_nonzero(w), "prox": lambda v, s: v * (v**2 > 2 * s)}, "must"),
    ({"dual": lambda u: np.abs(u).sum()}, r"dual of the penalty 'own' must be the least step"),
    ({"dual": lambda u: 0.5 * np.abs(u).max()}, "must be the least step from which prox leads"),
    ({"dual": lambda u: 0.0}, "dual of the penalty 'own' must be above 0 but at u = 0, got 0"),
    ({"dual": lambda u: np.nan}, "dual of the penalty 'own' must be above 0"),
    ({"conjugate": lambda u: 1.0}, "conjugate of the penalty 'own' must be uᵀg − value"),
    ({"conjugate": lambda u: np.nan}, "conjugate of the penalty 'own' must be uᵀg − value"),
]


def own(**options):
    return tw.Penalty(
        **{"value": lambda w: np.abs(w).sum(), "prox": soft, "name": "own", **options}
    )


@pytest.mark.parametrize("shape", SHAPES[1:])
@pytest.mark.parametrize(("options", "says"), BAD)
def test_functions_that_do_not_fit_are_refused_with_a_sentence(options, says, shape):
    with pytest.raises(tw.InputError, match=says):
        check_penalty(own(**options), shape)


def test_a_dual_norm_of_what_is_no_norm_is_refused():
    ridge = tw.Penalty(
        lambda w: (w**2).sum(), lambda v, step: v / (1 + 2 * step), dual=np.max, name="own"
    )
    with pytest.raises(tw.InputError, match=r"unless value\(2w\) = 2·value\(w\)"):
        check_penalty(ridge, (4,))


def test_a_check_can_be_left_out():
    check_penalty(own(prox=lambda v, step: v, check=False), (4,))


def test_a_problem_checks_it_for_its_own_coefficients():
    X, y = np.eye(4), np.arange(4.0)
    with pytest.raises(tw.InputError, match="must minimise"):
        tw.LinearProblem(X, y, penalty=own(prox=lambda v, step: v))
    with pytest.raises(tw.InputError, match="penalty must be a Penalty, got 'l1'"):
        tw.LinearProblem(X, y, penalty="l1")
    with pytest.raises(tw.InputError, match=r"l1 must be 0 beside a penalty of your own, got 0\.1"):
        tw.LinearProblem(X, y, l1=0.1, penalty=own())
