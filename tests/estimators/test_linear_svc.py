"""LinearSVC: a minimum by hand, the penalised intercept, one against the rest, refusals."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC as Theirs

import thalweg as tw


def two_classes():
    return make_classification(120, 6, flip_y=0.2, random_state=0)


def test_two_points_by_hand():
    # x = ∓1: 2C(1 − w)² + ½w² is least where w = 4C/(4C + 1); by symmetry b = 0.
    model = tw.LinearSVC(C=0.5, tol=1e-12).fit([[-1.0], [1.0]], ["no", "yes"])
    np.testing.assert_allclose(model.coef_, [[2.0 / 3.0]], rtol=1e-6)
    np.testing.assert_allclose(model.intercept_, [0.0], atol=1e-9)


@pytest.mark.parametrize("scaling", [1.0, 10.0])
def test_the_gradient_of_the_definition_vanishes(scaling):
    X, y = two_classes()
    s, C = np.random.default_rng(0).random(len(y)), 0.3
    model = tw.LinearSVC(C=C, intercept_scaling=scaling, tol=1e-13, method="newton")
    model.fit(X + 1, y, sample_weight=s)
    w, b = model.coef_[0], model.intercept_[0]
    sign = 2 * y - 1
    pull = 2 * C * s * np.maximum(0, 1 - sign * ((X + 1) @ w + b)) * sign
    np.testing.assert_allclose(w, (X + 1).T @ pull, atol=1e-6)
    # The intercept is s·v, and v is penalised as any weight.
    assert b / scaling == pytest.approx(scaling * pull.sum(), abs=1e-6)


def test_a_larger_scaling_frees_the_intercept():
    X, y = two_classes()
    free = tw.LinearProblem(X + 1, y, "squared-hinge", l2=1 / (2 * len(y)))
    _, b = free.coefficients(tw.minimize(free, "newton", tol=1e-12).w)
    off = [
        abs(tw.LinearSVC(intercept_scaling=scaling, tol=1e-12).fit(X + 1, y).intercept_[0] - b)
        for scaling in (1.0, 10.0, 100.0)
    ]
    assert off[0] > 10 * off[1] > 100 * off[2]


@pytest.mark.parametrize("penalty", ["l1", "l2"])
@pytest.mark.parametrize("class_weight", [None, {0: 3.0, 1: 1.0, 2: 0.5}])
def test_three_classes_stand_one_by_one_against_the_rest(penalty, class_weight):
    X, y = load_iris(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    shared = {"C": 0.1, "penalty": penalty, "class_weight": class_weight}
    method = "cd" if penalty == "l1" else "newton"
    ours = tw.LinearSVC(tol=1e-12, method=method, **shared).fit(X, y)
    theirs = Theirs(tol=1e-8, dual=False, max_iter=10**5, random_state=0, **shared).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4)
    assert len(ours.runs_) == len(ours.certificate_) == 3
    assert "LinearSVC, 2 against the rest\n" in ours.report()
    assert ours.n_iter_ == max(run.iterations for run in ours.runs_)


def test_dual_stands_for_sdca():
    X, y = two_classes()
    dual = tw.LinearSVC(dual=True).fit(X, y)
    assert dual.method_ == "sdca"
    np.testing.assert_allclose(dual.coef_, tw.LinearSVC(dual=False).fit(X, y).coef_, atol=1e-2)


REFUSED = {
    "hinge": ({"loss": "hinge"}, "loss must not be 'hinge' here: use 'squared_hinge', or sklearn"),
    "together": (
        {"multi_class": "crammer_singer"},
        "multi_class must not be 'crammer_singer' here: use 'ovr'",
    ),
    "dual l1": ({"dual": True, "penalty": "l1"}, "dual must not be True here: with penalty='l1'"),
    "both": ({"dual": True, "method": "cd"}, "dual must not be True here: method is given too"),
}


@pytest.mark.parametrize(("options", "message"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_honoured_is_refused(options, message):
    with pytest.raises(tw.InputError, match=message):
        tw.LinearSVC(**options).fit(*two_classes())
