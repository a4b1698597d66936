import numpy as np
import pytest

import thalweg as tw
from terms import huber, logistic, squared
from thalweg.objectives.own_loss import Loss, unit_of

Z, Y = np.array([3.0, -1.0]), np.array([1.0, 1.0])


def test_by_hand():
    loss = squared()
    assert loss.values(Z, Y).tolist() == [2.0, 2.0]
    assert loss.slopes(Z, Y).tolist() == [2.0, -2.0]
    assert loss.curvatures(Z, Y).tolist() == [1.0, 1.0]
    assert loss.conjugates(np.array([2.0, -2.0]), Y).tolist() == [4.0, 0.0]
    assert (loss.has_curvature, loss.has_conjugate) == (True, True)


def test_curvatures_that_were_not_given_come_from_the_slopes():
    given, made = logistic(), logistic(curvature=None)
    z = np.linspace(-5.0, 5.0, 21)
    y = np.sign(z + 0.1)
    assert not made.has_curvature
    np.testing.assert_allclose(made.curvatures(z, y), given.curvatures(z, y), atol=1e-9)


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("mean", [0.0, 1e6])
def test_differences_are_taken_in_the_unit_of_the_targets(unit, mean):
    loss = huber(0.7 * unit, curvature=None)
    y = unit * (mean + np.linspace(-1.0, 1.0, 50))
    assert unit_of(y) == pytest.approx(0.589 * unit, rel=1e-2)
    z = np.full(50, unit * mean)
    np.testing.assert_allclose(
        loss.curvatures(z, y, unit_of(y)), np.abs(z - y) <= 0.7 * unit, atol=1e-3
    )
    assert unit_of(np.full(3, -5.0)) == 5.0
    assert unit_of(np.zeros(3)) == 1.0


def test_curvatures_stay_between_zero_and_the_bound():
    loss = squared(curvature=lambda z, y: 3.0 * np.sign(z))
    assert loss.curvatures(Z, Y).tolist() == [1.0, 0.0]


def test_functions_that_work_in_place_or_reuse_a_buffer_are_harmless():
    room = np.empty(2)

    def value(z, y):
        z -= y
        y *= 0.0
        np.multiply(z, 0.5 * z, out=room)
        return room

    loss = tw.Loss(value, lambda z, y: z - y, bound=1.0)
    z, y = Z.copy(), Y.copy()
    first = loss.values(z, y)
    loss.values(z + 1.0, y)
    assert first.tolist() == [2.0, 2.0]
    assert (z.tolist(), y.tolist()) == (Z.tolist(), Y.tolist())


def test_its_name_is_that_of_its_function():
    def pinball(z, y):
        return np.abs(z - y)

    assert Loss(pinball, np.sign, bound=1.0).name == "pinball"
    assert repr(Loss(pinball, np.sign, bound=1.0, name="mine")) == "Loss(mine)"


def fitting(**options):
    given = {"value": lambda z, y: z * z, "slope": lambda z, y: 2 * z, "bound": 2.0, "name": "own"}
    return Loss(**{**given, **options})


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"value": 1.0}, r"value must be a function of arrays \(z, y\) that returns an array"),
        ({"slope": None}, "slope must be a function"),
        ({"curvature": 2.0}, "curvature must be a function"),
        ({"conjugate": "none"}, "conjugate must be a function"),
        ({"bound": 0.0}, "bound must be above 0, got 0.0"),
        ({"bound": np.inf}, "bound must be above 0, got inf"),
        ({"name": None}, "name must be given to a loss of your own, got None"),
        ({"name": ""}, "name must be given to a loss of your own, got ''"),
        ({"name": "logistic"}, "name must not be that of a built-in loss, got 'logistic'"),
    ],
)
def test_what_is_no_loss_is_refused_with_a_sentence(options, says):
    with pytest.raises(tw.InputError, match=says):
        fitting(**options)


@pytest.mark.parametrize(
    "bad", [lambda z, y: 0.5, lambda z, y: z[:1], lambda z, y: z.astype(str), lambda z, y: None]
)
def test_what_is_not_one_number_a_sample_is_refused_with_a_sentence(bad):
    says = r"value of the loss 'own' must return one real number a sample, in shape \(2,\), got"
    with pytest.raises(tw.InputError, match=says):
        fitting(value=bad).values(Z, Y)
