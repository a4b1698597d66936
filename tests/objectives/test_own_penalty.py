import numpy as np
import pytest

import thalweg as tw
from terms import elastic, group_lasso, lasso, non_negative
from thalweg.objectives.own_penalty import Penalty

V = np.array([3.0, 4.0, 0.3, -0.4])


def test_by_hand():
    # Groups of length 5 and ½: a step of 1 at strength 1 takes a fifth off the first, all of the
    # second.
    own = group_lasso(1.0)
    assert own.value(V) == 5.5
    np.testing.assert_allclose(own.prox(V, 1.0), [2.4, 3.2, 0.0, 0.0])
    assert own.dual(V) == 5.0
    assert (own.has_dual, own.has_conjugate) == (True, False)
    assert elastic(1.0, 2.0).conjugate(np.array([3.0, 0.5])) == 1.0
    assert repr(own) == "Penalty(group lasso)"


def test_coefficients_of_several_classes_keep_their_shape():
    W = V.reshape(2, 2)
    assert group_lasso(1.0).value(W) == 5.5
    assert group_lasso(1.0).prox(W, 1.0).shape == (2, 2)


def test_no_step_leads_to_the_nearest_point_with_a_value():
    assert lasso(1.0).prox(V, 0.0).tolist() == V.tolist()
    assert non_negative().prox(V, 0.0).tolist() == [3.0, 4.0, 0.3, 0.0]


def test_what_is_given_in_float32_is_computed_in_float64():
    seen = []
    own = Penalty(lambda w: seen.append(w.dtype) or 0.0, lambda v, step: v, name="none")
    own.value(V.astype(np.float32))
    assert own.prox(V.astype(np.float32), 1.0).dtype == np.float64
    assert seen == [np.float64]


def test_functions_that_work_in_place_are_harmless():
    def prox(v, step):
        v *= 0.0
        return v

    own = Penalty(lambda w: 0.0, prox, name="zero")
    v = V.copy()
    own.prox(v, 1.0)
    assert v.tolist() == V.tolist()


def fitting(**options):
    return Penalty(**{"value": lambda w: 0.0, "prox": lambda v, step: v, "name": "own", **options})


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"value": 0.0}, "value must be a function of the coefficients that returns a number"),
        ({"prox": None}, "prox must be a function of coefficients and a step"),
        ({"dual": 1.0}, "dual must be a function of an array u"),
        ({"conjugate": 1.0}, "conjugate must be a function of an array u"),
        ({"dual": np.max, "conjugate": np.max}, "dual must be left out where conjugate is given"),
        ({"name": None}, "name must be given to a penalty of your own"),
    ],
)
def test_what_is_no_penalty_is_refused_with_a_sentence(options, says):
    with pytest.raises(tw.InputError, match=says):
        fitting(**options)


@pytest.mark.parametrize("bad", [lambda w: w, lambda w: None, lambda w: True, lambda w: "0"])
def test_a_value_that_is_no_number_is_refused_with_a_sentence(bad):
    with pytest.raises(tw.InputError, match="value of the penalty 'own' must return one real"):
        fitting(value=bad).value(V)


@pytest.mark.parametrize("bad", [lambda v, s: v[:2], lambda v, s: 0.0, lambda v, s: None])
def test_a_prox_of_another_shape_is_refused_with_a_sentence(bad):
    with pytest.raises(tw.InputError, match=r"prox of the penalty 'own' must return .* \(4,\)"):
        fitting(prox=bad).prox(V, 1.0)
