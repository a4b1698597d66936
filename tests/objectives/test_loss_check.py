"""Loss functions that do not fit together are refused; those that do, in any units, are not."""

import numpy as np
import pytest

import thalweg as tw
from terms import LOSSES, huber, logistic, quantile, squared
from thalweg.objectives.loss_check import check_loss

Y = np.random.default_rng(0).standard_normal(30)
LABELS = np.sign(Y)


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("mean", [0.0, 1e3, 1e9, 1e13])
def test_good_losses_pass_in_any_units(unit, mean):
    y = unit * (Y + mean)
    for loss in (squared(), huber(0.7 * unit), quantile(0.3, 0.1 * unit), quantile(0.99, unit)):
        check_loss(loss, y)


@pytest.mark.parametrize("make", LOSSES.values())
def test_good_losses_pass_for_labels_one_target_and_equal_targets(make):
    for y in (LABELS, LABELS[:1], np.ones(5)):
        check_loss(make(), y)
        check_loss(make(curvature=None, conjugate=None), y)


def test_losses_that_know_no_residual_pass():
    # Softplus of z with a weight of its own for each sample; Cauchy-like losses are not convex.
    softplus = tw.Loss(
        lambda z, y: (1 + y**2) * np.logaddexp(0, z),
        lambda z, y: (1 + y**2) / (1 + np.exp(-z)),
        bound=float(0.25 * (1 + Y**2).max()),
        name="weighted softplus",
    )
    check_loss(softplus, Y)


BAD = [
    (squared, {"slope": lambda z, y: 2 * (z - y), "bound": 2.0},
     "slope of the loss 'own' must be the derivative of value in z, got .* differences of value"),
    (squared, {"slope": lambda z, y: y - z}, "slope of the loss 'own' must be the derivative"),
    (squared, {"slope": lambda z, y: (z - y) * 1.01, "bound": 1.01}, "must be the derivative"),
    (squared, {"bound": 0.5}, "bound of the loss 'own' must be at least the largest curvature, "
     "got 0.5, where the slope rises by 1 a unit"),
    (squared, {"value": lambda z, y: np.log1p((z - y) ** 2),
                   "slope": lambda z, y: 2 * (z - y) / (1 + (z - y) ** 2), "bound": 2.0},
     "value of the loss 'own' must be convex in z, got a slope that falls from"),
    (squared, {"value": lambda z, y: 0.5 * (z - y) ** 2 - 1.0},
     "value of the loss 'own' must be at least 0, got .*: add what only depends on y"),
    (squared, {"value": lambda z, y: np.where(z > 2, np.nan, 0.5 * (z - y) ** 2)},
     "value of the loss 'own' must be finite, got nan"),
    (squared, {"slope": lambda z, y: np.where(z > 2, np.inf, z - y)},
     "slope of the loss 'own' must be finite, got inf"),
    (squared, {"curvature": lambda z, y: 0.5 * np.ones_like(z)},
     "curvature of the loss 'own' must be the derivative of slope in z, got 0.5"),
    (squared, {"curvature": lambda z, y: np.nan * z}, "must be the derivative of slope"),
    (squared, {"conjugate": lambda t, y: t * y}, "conjugate of the loss 'own' must be zθ − "),
    (squared, {"conjugate": lambda t, y: np.nan * t}, "must be zθ − value at θ = slope"),
    (huber, {"conjugate": lambda t, y: t * y + 0.5 * t**2},
     "conjugate of the loss 'own' must be at least zθ − value for every z, .* return np.inf"),
]  # fmt: skip


def rebuilt(make, options):
    """The loss of `make` with other functions."""
    good = make()
    given = {
        "value": good._value, "slope": good._slope, "bound": good.bound,
        "curvature": None, "conjugate": None, "name": "own",
    }  # fmt: skip
    return tw.Loss(**{**given, **options})


@pytest.mark.parametrize(("make", "options", "says"), BAD)
def test_functions_that_do_not_fit_are_refused_with_a_sentence(make, options, says):
    with pytest.raises(tw.InputError, match=says):
        tw.LinearProblem(np.ones((30, 1)), Y, rebuilt(make, options))


def test_a_slope_of_the_other_label_is_refused():
    bad = rebuilt(logistic, {"slope": lambda z, y: y / (1 + np.exp(y * z))})
    with pytest.raises(tw.InputError, match="must be the derivative"):
        check_loss(bad, LABELS)


def test_a_check_can_be_left_out():
    check_loss(rebuilt(squared, {"slope": lambda z, y: y - z, "check": False}), Y)
