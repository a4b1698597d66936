"""Predictions grow and fall with κ, n and tol as the rates they come from."""

import math

import numpy as np
import pytest
import scipy.sparse

import thalweg as tw
from thalweg.methods.expectation import Law
from thalweg.planner import prediction
from thalweg.planner.geometry import geometry
from thalweg.planner.prediction import (
    candidates,
    crossing_of,
    crowding_of,
    difficulty,
    l1_max,
    rough_difficulty,
    usual_steps,
)

RNG = np.random.default_rng(0)
DENSE, WIDE = RNG.standard_normal((60, 5)), RNG.standard_normal((20, 50))
SPARSE = scipy.sparse.csr_array(RNG.standard_normal((80, 9)) * (RNG.random((80, 9)) < 0.3))
SCORES, SPARSE_SCORES = DENSE @ np.arange(1.0, 6.0) + 1.0, SPARSE @ np.ones(9)
PROBLEMS = {
    "dense squared, l2": lambda: tw.LinearProblem(DENSE, SCORES, l2=0.1),
    "dense logistic, l1": lambda: tw.LinearProblem(DENSE, SCORES > 0, "logistic", l1=0.01),
    "sparse logistic, l2": lambda: tw.LinearProblem(
        SPARSE, SPARSE_SCORES > 0, "logistic", l2=1e-3, fit_intercept=False
    ),
    "sparse squared, l1 and l2": lambda: tw.LinearProblem(SPARSE, SPARSE_SCORES, l1=0.1, l2=1e-2),
    "wide squared hinge, l2": lambda: tw.LinearProblem(
        WIDE, WIDE[:, 0] > 0, "squared-hinge", l2=1e-4, fit_intercept=False
    ),
    "dense multinomial, l2": lambda: tw.LinearProblem(
        DENSE, np.arange(60) % 3, "multinomial", l2=1e-2
    ),
}


def problem(l2, n=50):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 4))
    return tw.LinearProblem(X, X[:, 0] > 0, "logistic", l2=l2, fit_intercept=False)


def hopes(data, tol=1e-6):
    return candidates(data, difficulty(data, geometry(data), tol), is_short=False)


def iterations(name, l2, tol=1e-6, n=50):
    return hopes(problem(l2, n), tol)[name].iterations


CANDIDATES = list(hopes(problem(0.1)))


def test_candidates_come_in_the_order_of_the_table():
    assert [name for name in tw.METHODS if name in CANDIDATES] == CANDIDATES
    assert CANDIDATES[:3] == ["cholesky", "newton", "newton-cg"]  # the more exact ones first
    assert {"adam", "iag", "bfgs"}.isdisjoint(CANDIDATES)


def test_how_hard_a_problem_is_by_hand():
    data = tw.LinearProblem(np.diag([1.0, 2.0]), [1.0, 1.0], l2=0.5, fit_intercept=False)
    hard = difficulty(data, geometry(data), 1e-4)
    # Lᵢ = ‖xᵢ‖² + l2 is 1.5 and 4.5; L = max xᵢⱼ²/n + l2 = 2.5; n = 2, μ = 0.5.
    assert hard.kappa == pytest.approx(5.0)
    assert (hard.r, hard.s, hard.worst) == pytest.approx((3.0, 2.5, 4.5))
    assert hard.is_certain
    assert hard.digits == pytest.approx(math.log(1e4))


def test_an_intercept_makes_no_method_slower_but_leaves_no_theorem():
    data = tw.LinearProblem(DENSE, SCORES, l2=0.1)
    hard = difficulty(data, geometry(data), 1e-6)
    assert math.isfinite(hard.kappa)
    assert not hard.is_certain
    free = tw.LinearProblem(DENSE, SCORES)
    assert difficulty(free, geometry(free), 1e-6).kappa == math.inf


def test_how_far_an_l1_penalty_is_below_the_one_that_leaves_nothing():
    for name, data in ((name, make()) for name, make in PROBLEMS.items()):
        top = l1_max(data)
        for factor, is_empty in ((1.001, True), (0.9, False)):
            run = tw.minimize(data.replaced(l1=factor * top, l2=0.0), tol=1e-10, progress=False)
            coefficients, _ = data.split(run.w)
            assert (np.max(np.abs(coefficients)) < 1e-6) == is_empty, name
        hard = difficulty(data.replaced(l1=0.25 * top), geometry(data), 1e-6)
        assert hard.share == pytest.approx(0.25)


def test_a_rough_look_is_of_the_same_order():
    for make in PROBLEMS.values():
        data = make()
        exact, rough = difficulty(data, geometry(data), 1e-6), rough_difficulty(data, 1e-6)
        assert rough.share == exact.share
        assert rough.steps == pytest.approx(exact.steps, rel=0.1)  # as r^0.2
        assert rough.r == pytest.approx(exact.r, rel=0.5)
        if math.isfinite(exact.s):
            assert exact.s / 10.0 < rough.s < 10.0 * exact.s


def test_usual_steps_grow_with_the_features_and_where_little_holds_the_coefficients():
    tall = usual_steps(1_000, 16, 1.0)
    assert usual_steps(1_000, 256, 1.0) == pytest.approx(2.0 * tall)  # p^¼
    assert usual_steps(1_000, 16, 1e3) == pytest.approx(1e3**0.05 * tall)
    assert usual_steps(10, 16, 1e3) == pytest.approx(1e3**0.13 * tall)
    assert usual_steps(1_000, 16, math.inf) == usual_steps(1_000, 16, 1e4)


def test_passes_are_a_power_law_of_steps_and_r():
    data = problem(1e-2)
    hard = difficulty(data, geometry(data), 1e-6)._replace(steps=32.0, r=16.0)
    laws = {"logistic": Law(3.0, 0.4, 0.5), "huber": Law(2.0, 1.0, 0.0)}
    assert hard.passes(data, laws) == pytest.approx(3.0 * 4.0 * 4.0)
    assert hard._replace(r=math.inf).passes(data, laws) == pytest.approx(3.0 * 4.0 * 100.0)
    wide = tw.LinearProblem(WIDE, WIDE[:, 0], "huber", l2=0.1)
    assert hard.passes(wide, laws) == pytest.approx(2.5 * 2.0 * 32.0)


def test_a_small_problem_is_looked_at_as_it_is_and_a_large_one_sampled(monkeypatch):
    looked = []
    monkeypatch.setattr(prediction, "l1_max", lambda data: looked.append(data) or 1.0)
    data = tw.LinearProblem(DENSE, SCORES > 0, "logistic", l1=0.01)
    rough_difficulty(data, 1e-6)
    assert looked[0] is data
    monkeypatch.setattr(prediction, "WHOLE", 100)
    monkeypatch.setattr(prediction, "ENTRIES", 100)
    rough_difficulty(data, 1e-6)
    assert looked[1].n < data.n


def test_rows_are_looked_at_where_they_are_fewer_than_features(monkeypatch):
    monkeypatch.setattr(prediction, "WORTH_A_LOOK", 0)
    wide = tw.LinearProblem(WIDE, WIDE[:, 0], l2=0.1)
    assert difficulty(wide, geometry(wide), 1e-6).crowding == crowding_of(wide)
    long = tw.LinearProblem(DENSE, SCORES, l2=0.1)
    assert difficulty(long, geometry(long), 1e-6).crowding == math.inf


@pytest.mark.parametrize("name", CANDIDATES)
def test_a_smaller_tolerance_never_takes_less(name):
    assert iterations(name, 0.01, 1e-8) >= iterations(name, 0.01, 1e-2) > 0


@pytest.mark.parametrize("name", ["gd", "nesterov", "saga", "sdca", "catalyst"])
def test_a_smaller_penalty_takes_more(name):
    assert iterations(name, 1e-4) > iterations(name, 1e-1)


@pytest.mark.parametrize("name", ["saga", "sdca"])
def test_single_samples_gain_from_more_samples(name):
    assert iterations(name, 1e-3, n=2_000) < iterations(name, 1e-3, n=50)


def test_conjugate_gradients_take_few_products_where_blocks_pay(monkeypatch):
    data = problem(1e-6)
    monkeypatch.setattr("thalweg.methods.preconditioner.LARGE", 1)
    with_blocks = hopes(data)["newton-cg"]
    monkeypatch.setattr("thalweg.methods.preconditioner.LARGE", 10**9)
    without = hopes(data)["newton-cg"]
    assert with_blocks.passes["blocks"] == 1.0
    assert "blocks" not in without.passes
    assert with_blocks.passes["gradient"] < without.passes["gradient"]


def test_gradient_descent_is_bounded_by_kappa():
    data = problem(0.05)
    hope = hopes(data)["gd"]
    assert hope.bound == pytest.approx(geometry(data).L.value / 0.05 * math.log(1e6))
    assert hope.iterations < hope.bound


def test_the_bound_of_gradient_descent_holds():
    data = problem(0.05)
    hope = hopes(data)["gd"]
    run = tw.minimize(data, "gd", tol=1e-6, max_iter=100_000, progress=False)
    assert run.converged
    assert run.iterations <= hope.bound


def test_a_law_is_told_exactly_where_a_bound_is_known():
    problem = tw.LinearProblem(np.eye(9), np.arange(9.0), l2=0.1, fit_intercept=False)
    bounded = {name for name, hope in hopes(problem).items() if hope.bound}
    assert bounded == {name for name, method in tw.METHODS.items() if method.law}


def test_crowding_is_n_times_the_mean_square_of_a_cosine():
    apart = tw.LinearProblem(np.eye(6), np.arange(6.0), l2=0.1, fit_intercept=False)
    assert crowding_of(apart) == 0.0
    alike = tw.LinearProblem(np.ones((6, 3)), np.arange(6.0), l2=0.1, fit_intercept=False)
    assert crowding_of(alike) == pytest.approx(6.0)
    rng = np.random.default_rng(0)
    drawn = tw.LinearProblem(rng.standard_normal((200, 1_000)), np.arange(200.0), l2=0.1)
    assert crowding_of(drawn) == pytest.approx(200 / 1_000, rel=0.3)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_crossing_of_features_is_that_of_their_curvature(loss, fit_intercept):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 60)) * (rng.random((300, 60)) < 0.2) * rng.uniform(0.1, 9.0, 60)
    data = tw.LinearProblem(
        scipy.sparse.csr_array(X), X[:, 0] > 0, loss, l2=1e-3, fit_intercept=fit_intercept
    ).centred
    Z = X - X.mean(axis=0) if fit_intercept else X
    H = data.curvature_bound * Z.T @ Z / 300 + 1e-3 * np.eye(60)
    d = 1.0 / np.sqrt(np.diag(H))
    C = H * np.outer(d, d)
    expected = (np.sum(C**2) - 60.0) / 60.0
    assert crossing_of(data) == pytest.approx(expected, rel=0.3)  # by one vector of signs


def test_features_that_hardly_cross_are_taken_one_by_one():
    rng = np.random.default_rng(0)
    X = scipy.sparse.random(40_000, 400, 0.005, "csr", rng=rng)
    y = np.asarray(X @ rng.standard_normal(400)).ravel() + 0.1 * rng.standard_normal(40_000)
    apart = tw.LinearProblem(X, y > 0, "squared-hinge", l2=1e-8)
    row = tw.plan(apart).row("cd")
    assert row.eligible
    assert tw.minimize(apart, "cd", progress=False).converged
    alike = scipy.sparse.csr_array(X + scipy.sparse.csr_array(np.full((1, 400), 0.5)).multiply(
        rng.standard_normal((40_000, 1))))  # fmt: skip
    refused = tw.plan(tw.LinearProblem(alike, y > 0, "squared-hinge", l2=1e-8)).row("cd")
    assert not refused.eligible
    assert "nearly orthogonal" in refused.remark
