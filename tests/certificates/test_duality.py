import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse
import sklearn.datasets
import sklearn.linear_model

import thalweg as tw
from linear_data import BOUNDED
from thalweg.certificates import duality
from thalweg.certificates.certify import certify
from thalweg.certificates.duality import (
    PASSES,
    PRODUCTS,
    Gap,
    constant_value,
    duality_gap,
    price_of_tightening,
    tightened,
)
from thalweg.objectives.linear import LinearProblem

PENALTIES = {"l2": (0.0, 0.1), "l1": (0.02, 0.0), "both": (0.02, 0.1)}


def targets(loss, n, rng, classes=3):
    if loss == "multinomial":
        return np.arange(n) % classes
    if loss in ("logistic", "squared-hinge"):
        return np.arange(n) % 2
    return rng.standard_normal(n)


def best_point(problem, evaluations=400):
    """A minimiser by another tool: w = u − v, u and v ≥ 0, which makes l1 linear, in L-BFGS-B."""
    smooth = problem.smooth or problem
    count = problem.p * problem.outputs
    free = problem.dim - count

    def join(x):
        return np.append(x[:count] - x[count : 2 * count], x[2 * count :])

    def objective(x):
        value, g = smooth.value_and_gradient(join(x))
        penalty = problem.l1 * x[: 2 * count].sum()
        return value + penalty, np.concatenate(
            [g[:count] + problem.l1, problem.l1 - g[:count], g[count:]]
        )

    x = np.zeros(2 * count + free)
    bounds = [(0, None)] * (2 * count) + [(None, None)] * free
    options = {"maxfun": evaluations, "ftol": 0.0, "gtol": 0.0}
    found = scipy.optimize.minimize(
        objective, x, jac=True, method="L-BFGS-B", bounds=bounds, options=options
    )
    return join(found.x)


def polished(problem, w, steps=10):
    """`w` after Newton steps on its own support: values cannot place it better than √ε."""
    smooth = problem.smooth or problem
    count = problem.p * problem.outputs
    signs = np.append(np.sign(w[:count]), np.zeros(problem.dim - count))
    support = np.flatnonzero((w != 0) | (np.arange(problem.dim) >= count))
    for _ in range(steps):
        H = np.array([smooth.hessian_vector(w, e) for e in np.eye(problem.dim)[support]])
        g = smooth.gradient(w) + problem.l1 * signs
        w = w.copy()
        w[support] -= np.linalg.lstsq(H[:, support], g[support], rcond=1e-10)[0]
    return w


def test_gap_by_hand():
    # One feature, ½(w − 1)² + ½w² from the samples (1, 1): at w = 0 θ = −1, v = −1, and
    # P = ½, D = −(yθ + ½θ²) − ½v² = ½ − ½ = 0. The optimum is w = ½ with P* = ¼.
    problem = LinearProblem([[1.0]], [1.0], l2=1.0, fit_intercept=False)
    found = duality_gap(problem, np.array([0.0]))
    assert (found.primal, found.dual) == (0.5, 0.0)
    found = duality_gap(problem, np.array([0.5]))
    assert (found.primal, found.dual) == (0.25, 0.25)
    assert 0.0 < found.gap < 1e-14


def test_scaled_point_by_hand():
    # l1 = ¼: at w = 0 θ = −1 and ‖v‖∞ = 1, so θ shrinks to −¼ and D = ¼ − 1/32 = 7/32. The optimum
    # is w = ¾ with P* = 1/32 + 3/16 = 7/32, the same: here θ = −¼ is the dual optimum.
    problem = LinearProblem([[1.0]], [1.0], l1=0.25, fit_intercept=False)
    found = duality_gap(problem, np.array([0.0]))
    assert found.primal == 0.5
    assert found.dual == pytest.approx(7 / 32, rel=1e-14)
    assert duality_gap(problem, np.array([0.75])).gap == pytest.approx(0.0, abs=1e-14)


def exact_ridge(problem, X, y):
    """The minimiser and P* in rational arithmetic, without any rounding."""
    d = problem.dim
    rows = [[*map(Fraction, x), Fraction(1)][:d] for x in X.tolist()]
    y, c = [*map(Fraction, y.tolist())], [*map(Fraction, problem.weights.tolist())]
    l2 = [Fraction(problem.l2)] * problem.p + [Fraction(0)]
    system = [
        [sum(ci * x[i] * x[j] for ci, x in zip(c, rows, strict=True)) + l2[i] * (i == j)
         for j in range(d)]
        + [sum(ci * x[i] * yi for ci, x, yi in zip(c, rows, y, strict=True))]
        for i in range(d)
    ]  # fmt: skip
    for i, k in itertools.product(range(d), range(d)):  # Gauss and Jordan; the matrix is definite
        if i != k:
            factor = system[k][i] / system[i][i]
            system[k] = [a - factor * b for a, b in zip(system[k], system[i], strict=True)]
    w = [system[i][d] / system[i][i] for i in range(d)]
    losses = sum(
        ci * (sum(a * b for a, b in zip(x, w, strict=True)) - yi) ** 2
        for ci, x, yi in zip(c, rows, y, strict=True)
    )
    return w, (losses + sum(a * b * b for a, b in zip(l2, w, strict=False))) / 2


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("mean", [0.0, 1e2, 1e4, 1e6])
def test_rounding_covers_what_floating_point_does(mean, fit_intercept):
    # Features with a large mean: scores and v are small differences of large numbers.
    for l2, seed in itertools.product((1e-6, 1e-2, 1.0, 1e4), range(4)):
        rng = np.random.default_rng(seed)
        X = mean + rng.standard_normal((30, 2))
        y = rng.standard_normal(30) + 100 * (seed % 2)
        problem = LinearProblem(X, y, l2=l2, fit_intercept=fit_intercept)
        w, lowest = exact_ridge(problem, X, y)
        found = duality_gap(problem, np.array(w, dtype=float))
        assert Fraction(found.dual) <= lowest + Fraction(found.rounding), (l2, seed)


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("loss", [*BOUNDED, "multinomial of 2"])
def test_the_gap_vanishes_at_the_optimum(loss, penalty, fit_intercept):
    rng = np.random.default_rng(0)
    classes = 2 if loss == "multinomial of 2" else 3
    loss = loss.removesuffix(" of 2")
    n, p = 40, 4
    X, y = rng.standard_normal((n, p)), targets(loss, n, rng, classes)
    l1, l2 = PENALTIES[penalty]
    problem = LinearProblem(X, y, loss, l1=l1, l2=l2, fit_intercept=fit_intercept, delta=0.5)
    scale = constant_value(problem)
    w = polished(problem, best_point(problem, evaluations=5000))
    assert duality_gap(problem, w).gap <= 1e-9 * scale
    assert certify(problem, w, tol=1e-9).holds
    # And it is a gap, not a constant: away from the optimum it grows with the distance.
    gaps = [duality_gap(problem, w + step * np.ones(problem.dim)).gap for step in (1e-4, 1e-2, 1.0)]
    assert 1e-9 * scale < gaps[0] < gaps[1] < gaps[2]


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("storage", [np.asfortranarray, scipy.sparse.csr_array])
def test_the_gap_vanishes_for_other_storages_too(storage, standardize):
    rng = np.random.default_rng(1)
    X = (3 + rng.standard_normal((30, 4))) * (rng.random((30, 4)) < 0.6)
    problem = LinearProblem(
        storage(X), targets("logistic", 30, rng), "logistic", l2=0.1, l1=0.01,
        standardize=standardize, sample_weight=np.arange(30) % 3,
    )  # fmt: skip
    w = polished(problem, best_point(problem))
    assert duality_gap(problem, w).gap <= 1e-9 * constant_value(problem)


@pytest.mark.parametrize("loss", BOUNDED)
def test_without_a_penalty_there_is_no_gap(loss):
    rng = np.random.default_rng(3)
    problem = LinearProblem(rng.standard_normal((9, 2)), targets(loss, 9, rng), loss)
    assert duality_gap(problem, problem.start).dual == -np.inf


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("loss", BOUNDED)
def test_constant_value_is_the_least_over_constants(loss, weighted):
    rng = np.random.default_rng(4)
    n = 10
    weights = rng.random(n) * (np.arange(n) != 3) if weighted else None
    X, y = rng.standard_normal((n, 2)), targets(loss, n, rng)
    options = {"l1": 1.0, "l2": 1.0, "sample_weight": weights, "delta": 0.5}
    problem = LinearProblem(X, y, loss, **options)
    count = problem.dim - problem.outputs

    def constant(b):
        return problem.value(np.append(np.zeros(count), b))

    if problem.outputs == 1:
        slow = min(
            scipy.optimize.minimize_scalar(
                constant, bounds=(-5, 5), method="bounded", options={"xatol": 1e-10}
            ).fun,
            constant(0.0),
        )
    else:
        slow = scipy.optimize.minimize(constant, np.zeros(3), tol=1e-10, method="BFGS").fun
    assert constant_value(problem) == pytest.approx(slow, rel=1e-9)
    without = LinearProblem(X, y, loss, fit_intercept=False, **options)
    assert constant_value(without) == pytest.approx(without.value(without.start), rel=1e-14)


def test_constant_value_by_hand():
    X = np.zeros((4, 1))
    assert constant_value(LinearProblem(X, [1, 2, 3, 6])) == pytest.approx(14 / 8)  # variance/2
    share = constant_value(LinearProblem(X, [0, 1, 1, 1], "logistic"))
    assert share == pytest.approx(-(0.25 * math.log(0.25) + 0.75 * math.log(0.75)))
    hinge = constant_value(LinearProblem(X, [0, 1, 1, 1], "squared-hinge"))
    # b = 2·¾ − 1 = ½: shortfalls ½ three times and 3/2 once.
    assert hinge == pytest.approx((3 * 0.25 + 2.25) / 8)
    assert constant_value(LinearProblem(X, [0, 1, 1, 1], "multinomial")) == pytest.approx(share)


def test_all_weight_on_one_class_leaves_nothing_to_lose():
    X, y = np.zeros((3, 1)), [0, 1, 1]
    for loss in ("logistic", "multinomial", "squared-hinge"):
        problem = LinearProblem(X, y, loss, l2=1.0, sample_weight=[0, 1, 1])
        assert constant_value(problem) == pytest.approx(0.0, abs=1e-15)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_targets_without_spread_can_be_certified(fit_intercept):
    # F(w = 0, best b) = 0: the scale of the tolerance is zero, and only an exact point holds.
    y = np.full(4, 2.0 if fit_intercept else 0.0)
    problem = LinearProblem(np.arange(4.0)[:, None], y, l2=1.0, fit_intercept=fit_intercept)
    exact = np.array([0.0, 2.0]) if fit_intercept else np.array([0.0])
    assert certify(problem, exact).gap == 0.0
    assert certify(problem, exact).holds
    away = certify(problem, exact + 1.0)
    assert not away.holds
    assert away.gap >= problem.value(exact + 1.0)


def test_a_sum_over_many_samples_is_within_its_rounding():
    # Equal terms are the worst case of a plain running sum: its error grows with n.
    n = 300_000
    problem = LinearProblem(np.zeros((n, 1)), np.full(n, 0.3), l2=1.0, fit_intercept=False)
    found = duality_gap(problem, np.zeros(1))
    exact = math.fsum(problem.weights * (0.5 * 0.3 * 0.3))
    assert abs(found.primal - exact) <= found.rounding
    assert abs(found.dual - exact) <= found.rounding


def test_a_certificate_of_scikit_learns_fit_is_consistent():
    X, y = sklearn.datasets.load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    problem = LinearProblem(X, y, "logistic", l2=1e-2)
    loose, tight = (
        sklearn.linear_model.LogisticRegression(
            C=1 / (len(y) * 1e-2), solver=solver, tol=tol, max_iter=1000
        ).fit(X, y)
        for solver, tol in (("lbfgs", 1e-2), ("newton-cholesky", 1e-12))
    )
    loose, tight = (np.append(model.coef_, model.intercept_) for model in (loose, tight))
    rough, fine = certify(problem, loose), certify(problem, tight, tol=1e-10)
    assert fine.holds
    assert fine.kind == "duality gap"
    assert fine.gap <= fine.limit == 1e-10 * constant_value(problem)
    distance = problem.value(loose) - problem.value(tight)
    assert 0.0 < distance <= rough.gap
    assert rough.evidence["primal"] == pytest.approx(problem.value(loose), rel=1e-13)
    assert rough.gap == rough.measured
    # The bound is the optimum itself, but for rounding, which is told apart.
    assert rough.evidence["dual"] - rough.evidence["rounding"] <= problem.value(tight)
    assert f"{rough.gap:.3g}" in rough.statement
    assert f"F(w) − F* ≤ {rough.gap:.3g}" in rough.shows


def test_nothing_is_modified():
    rng = np.random.default_rng(7)
    for loss, fit_intercept in itertools.product(BOUNDED, (False, True)):
        X, y = rng.standard_normal((9, 2)), targets(loss, 9, rng)
        problem = LinearProblem(X, y, loss, l1=0.01, fit_intercept=fit_intercept)
        w = rng.standard_normal(problem.dim)
        before = X.copy(), y.copy(), w.copy(), problem.y.copy(), problem.weights.copy()
        certify(problem, w)
        for now, then in zip((X, y, w, problem.y, problem.weights), before, strict=True):
            np.testing.assert_array_equal(now, then)


def test_a_given_dual_point_by_hand():
    # P(w) = ½·½[(w − 2)² + w²] + ½w², P(0) = 1, P* = P(½) = ¾. v = ½θ₁ + ½θ₂, of ℓ* = ½θ² + θy:
    # D(−1, ½) = −½(½ − 2) − ½·⅛ − ½·1/16 = ¾ − 1/16 − 1/32.
    problem = tw.LinearProblem([[1.0], [1.0]], [2.0, 0.0], l2=1.0, fit_intercept=False)
    found = duality_gap(problem, np.zeros(1), dual=np.array([-1.0, 0.5]), enough=1.0)
    assert found.dual == pytest.approx(0.75 - 1 / 16 - 1 / 32, rel=1e-14)
    # Not enough: the slopes at w are taken if they prove more.
    other = duality_gap(problem, np.array([0.5]), dual=np.array([-1.0, 0.5]))
    assert other.dual == pytest.approx(0.75, rel=1e-14)
    best = certify(problem, np.zeros(1), dual=np.array([-1.5, 0.5]), tol=1e-3)
    assert best.gap == pytest.approx(0.25, rel=1e-12)


def test_no_dual_point_proves_too_much():
    rng = np.random.default_rng(8)
    for loss, fit_intercept, l1 in itertools.product(BOUNDED, (False, True), (0.0, 0.05)):
        X, y = rng.standard_normal((12, 3)), targets(loss, 12, rng)
        problem = LinearProblem(X, y, loss, l1=l1, l2=0.1, fit_intercept=fit_intercept)
        method = "fista" if l1 else "lbfgs"
        best = tw.minimize(problem, method, tol=1e-12, max_iter=5000).value
        for size in (1e-3, 0.1, 1.0, 100.0):
            theta = size * rng.standard_normal(problem.score_shape)
            kept = theta.copy()
            found = duality_gap(problem, problem.start, dual=theta, enough=np.inf)
            assert found.floor <= best + 1e-9
            np.testing.assert_array_equal(theta, kept)


def test_a_higher_lower_bound_from_elsewhere_takes_over():
    found = Gap(primal=2.0, dual=1.0, rounding=0.25, passes=2.5)
    assert (found.gap, found.floor) == (1.25, 0.75)
    assert found.above(0.9) is found
    assert found.above(1.5).gap == 0.75  # 2 − 1.5, and the rounding again, for P's sake


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("loss", BOUNDED)
def test_on_the_right_support_a_tightened_gap_is_the_distance(loss, fit_intercept):
    rng = np.random.default_rng(8)
    X, y = rng.standard_normal((60, 8)), targets(loss, 60, rng)
    problem = LinearProblem(X, y, loss, l1=0.05, fit_intercept=fit_intercept, delta=0.5)
    best = polished(problem, best_point(problem, evaluations=5000))
    w = best * (1 + 1e-3 * rng.standard_normal(problem.dim))
    loose = duality_gap(problem, w)
    tight = tightened(problem, w, loose)
    distance = problem.value(w) - problem.value(best)
    assert distance <= tight.gap <= 1.2 * distance + 1e-10
    assert loose.gap > 10 * tight.gap  # of first order in 1e-3, where the other is of second
    assert loose.passes < tight.passes <= loose.passes + price_of_tightening(problem, w)


def test_on_a_wrong_support_the_gap_stays_as_it_was():
    # At zero there is no support: the step moves the intercept alone, and that is known already.
    rng = np.random.default_rng(9)
    problem = LinearProblem(rng.standard_normal((30, 5)), rng.standard_normal(30), l1=0.01)
    loose = duality_gap(problem, np.zeros(6))
    tight = tightened(problem, np.zeros(6), loose)
    assert tight.gap == pytest.approx(loose.gap, rel=1e-12)
    assert tight.gap <= loose.gap


def test_tightening_costs_no_more_products_than_there_are_variables_or_than_allowed():
    problem = LinearProblem(np.ones((3, 100)), [0.0, 1.0, 2.0], l1=0.1)
    few, many = np.zeros(101), np.ones(101)
    few[:3] = 1.0
    assert price_of_tightening(problem, few) == 4 + 1 + PASSES
    assert price_of_tightening(problem, many) == PRODUCTS + 1 + PASSES


def test_a_step_that_is_no_number_leaves_the_gap_as_it_was():
    problem = LinearProblem([[1e200], [1.0]], [0.0, 1.0], l2=1.0, fit_intercept=False)
    found = duality_gap(problem, np.array([1e150]))
    assert tightened(problem, np.array([1e150]), found).gap == found.gap


def test_thorough_helps_far_from_the_optimum_only():
    # A small l2 and a point far off: at scale 1 the bound is below zero, and the gap above P.
    rng = np.random.default_rng(10)
    X, y = rng.standard_normal((50, 4)), np.arange(50) % 2
    problem = LinearProblem(X, y, "logistic", l2=1e-4)
    best = best_point(problem)
    far, near = 1.5 * best, best + 1e-3
    plain, searched = duality_gap(problem, far), duality_gap(problem, far, thorough=True)
    assert plain.dual == 0.0
    assert searched.gap < 0.95 * plain.gap
    assert duality_gap(problem, near, thorough=True) == duality_gap(problem, near)


def test_a_gap_is_never_above_the_value_itself():
    # No loss is negative, so neither is F*.
    rng = np.random.default_rng(11)
    for loss in BOUNDED:
        problem = LinearProblem(rng.standard_normal((9, 3)), targets(loss, 9, rng), loss, l2=1e-8)
        found = duality_gap(problem, 1e3 * rng.standard_normal(problem.dim))
        assert found.gap <= found.primal + found.rounding


def test_the_best_constant_of_huber_ends_where_rounding_does(monkeypatch):
    looks = []
    dot = duality.dot
    monkeypatch.setattr(duality, "dot", lambda a, b: looks.append(1) or dot(a, b))
    y = np.random.default_rng(0).standard_normal(437)
    y -= np.mean(y)  # residuals are rounded like y, and not like a constant that is nearly 0
    problem = tw.LinearProblem(np.ones((437, 1)), y, "huber", delta=2.9)
    best = duality.best_constant(problem)
    assert abs(np.mean(np.clip(best - y, -2.9, 2.9))) < 1e-15
    assert len(looks) <= 11
