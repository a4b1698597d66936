import numpy as np
import pytest

import thalweg as tw
from linear_data import features, labels, regression, solved
from thalweg.doctor.linear.facts import curvature
from thalweg.doctor.linear.facts import effect as module
from thalweg.doctor.linear.facts.effect import effect


def orthogonal():
    """Columns that are orthogonal, of mean square 1 and mean 0."""
    return np.linalg.qr(features(40, 4) - features(40, 4).mean(axis=0))[0] * 40**0.5


def test_share_by_hand_where_all_directions_are_alike():
    X = orthogonal()
    for l2 in (0.01, 1.0, 99.0):
        problem, run = solved(regression(X, l2=l2), method="cholesky")
        found = effect(problem, run.w)
        np.testing.assert_allclose(found.share, l2 / (1.0 + l2), rtol=1e-9)
        np.testing.assert_allclose(found.move, l2, rtol=1e-6)  # w = g/(1 + l2) would be g
        assert found.zeros == 0
        assert effect(problem, None).share <= found.share + 1e-12


def test_l1_moves_every_coefficient_alike():
    X = orthogonal()
    problem, run = solved(regression(X, l1=0.1), method="cd", tol=1e-12)
    w = run.w[:4]
    assert np.count_nonzero(w) == 4
    np.testing.assert_allclose(effect(problem, run.w).move, 0.2 / np.linalg.norm(w), rtol=1e-6)


def test_move_is_how_far_the_unpenalised_solution_is():
    X = features()
    problem, run = solved(regression(X, l2=0.05), tol=1e-12)
    _, free = solved(regression(X), tol=1e-12)
    by_hand = np.linalg.norm((free.w - run.w)[:5]) / np.linalg.norm(run.w[:5])
    np.testing.assert_allclose(effect(problem, run.w).move, by_hand, rtol=1e-5)


def test_move_of_a_curved_loss_to_first_order():
    X = features(2000)
    y = labels(X)
    problem, run = solved(tw.LinearProblem(X, y, "logistic", l2=1e-4), tol=1e-12)
    _, free = solved(tw.LinearProblem(X, y, "logistic"), tol=1e-12)
    by_hand = np.linalg.norm((free.w - run.w)[:5]) / np.linalg.norm(run.w[:5])
    np.testing.assert_allclose(effect(problem, run.w).move, by_hand, rtol=1e-2)


def test_without_a_matrix_by_conjugate_gradients(monkeypatch):
    problem, run = solved(regression(features(), l2=0.05))
    exact = effect(problem, run.w).move
    monkeypatch.setattr(curvature, "DENSE", 1)
    np.testing.assert_allclose(effect(problem, run.w).move, exact, rtol=0.05)
    monkeypatch.setattr(module, "PRODUCTS", 1)
    assert np.isnan(effect(problem, run.w).move)


@pytest.mark.parametrize("loss", ["squared", "logistic", "squared-hinge", "huber", "multinomial"])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_largest_pull_is_where_l1_sets_all_to_zero(loss, fit_intercept):
    X = features(120, 4)
    y = X.sum(axis=1) + 3.0
    if loss in ("logistic", "squared-hinge"):
        y = y > 2.0
    if loss == "multinomial":
        y = np.digitize(y, [2.0, 4.0])
    edge = effect(tw.LinearProblem(X, y, loss, fit_intercept=fit_intercept), None).largest_pull
    for factor, is_zero in ((1.001, True), (0.98, False)):
        problem = tw.LinearProblem(X, y, loss, l1=factor * edge, fit_intercept=fit_intercept)
        _, run = solved(problem, method="fista", tol=1e-9)
        assert (not problem.split(run.w)[0].any()) == is_zero


def test_before_a_solution_nothing_is_invented():
    found = effect(regression(features()), None)
    assert found.share == 0.0
    assert found.zeros == -1
    assert np.isnan(found.move)


def test_a_target_that_pulls_nowhere():
    problem, run = solved(tw.LinearProblem(features(), np.ones(200), l2=1.0))
    assert np.isnan(effect(problem, run.w).share) or effect(problem, run.w).share < 1.0


@pytest.mark.parametrize("loss", ["squared", "logistic", "squared-hinge", "huber"])
@pytest.mark.parametrize("l2", [0.01, 1.0, 100.0])
def test_what_is_certain_before_a_run_holds_after_it(loss, l2):
    X = features(150, 3) + 2.0
    y = X.sum(axis=1) if loss in ("squared", "huber") else labels(X - 2.0)
    problem, run = solved(tw.LinearProblem(X, y, loss, l2=l2), tol=1e-10)
    assert effect(problem, None).share <= effect(problem, run.w).share * (1.0 + 1e-6)
