"""Ridge: the closed form by hand, alpha per target, weights, and what each solver stands for."""

import numpy as np
import pytest
import scipy.sparse

import thalweg as tw


def data(targets=2):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 4))
    return X, X @ rng.standard_normal((4, targets)) + rng.standard_normal(targets)


def test_one_feature_by_hand():
    # Centred x = (−1, 0, 1), y = (−1, 0, 1): w = x·y/(x·x + alpha) = 2/(2 + 2), b = ȳ − w·x̄.
    model = tw.Ridge(alpha=2.0, tol=1e-12).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0])
    np.testing.assert_allclose(model.coef_, [0.5], atol=1e-6)
    assert model.intercept_ == pytest.approx(0.5, abs=1e-6)


def test_it_solves_the_weighted_normal_equations():
    X, Y = data()
    s = np.random.default_rng(1).random(30)
    model = tw.Ridge(alpha=0.7, fit_intercept=False, tol=1e-13, method="cholesky")
    model.fit(X, Y, sample_weight=s)
    slow = np.linalg.solve(X.T @ (s[:, None] * X) + 0.7 * np.eye(4), X.T @ (s[:, None] * Y))
    np.testing.assert_allclose(model.coef_, slow.T, rtol=1e-9)


def test_every_target_has_its_own_alpha():
    X, Y = data()
    together = tw.Ridge(alpha=[0.1, 10.0], method="cholesky").fit(X, Y)
    for k, alpha in enumerate([0.1, 10.0]):
        alone = tw.Ridge(alpha=alpha, method="cholesky").fit(X, Y[:, k])
        np.testing.assert_allclose(together.coef_[k], alone.coef_, rtol=1e-13, atol=1e-15)
        assert together.intercept_[k] == pytest.approx(alone.intercept_, rel=1e-13)
    assert together.n_iter_.shape == (2,)
    assert [run.certificate.holds for run in together.runs_] == [True, True]
    assert "Ridge, target 1\n" in together.report()


def test_scaling_all_weights_and_alpha_alike_changes_nothing():
    X, Y = data(1)
    s = np.random.default_rng(1).random(30)
    one, ten = (
        tw.Ridge(alpha=scale, method="cholesky").fit(X, Y[:, 0], sample_weight=scale * s)
        for scale in (1.0, 10.0)
    )
    np.testing.assert_allclose(one.coef_, ten.coef_, rtol=1e-10)


def test_without_a_penalty_it_is_least_squares():
    X, Y = data(1)
    model = tw.Ridge(alpha=0.0, method="cholesky").fit(X, Y[:, 0])
    slow = np.linalg.lstsq(np.column_stack([X, np.ones(30)]), Y[:, 0])[0]
    np.testing.assert_allclose([*model.coef_, model.intercept_], slow, rtol=1e-8)
    assert model.certificate_.kind == "Newton decrement"


@pytest.mark.parametrize(
    ("solver", "method"),
    [
        ("svd", "cholesky"), ("cholesky", "cholesky"), ("lsqr", "newton-cg"),
        ("sparse_cg", "newton-cg"), ("sag", "sag"), ("saga", "saga"),
    ],
)  # fmt: skip
def test_a_solver_stands_for_the_nearest_method(solver, method):
    X, Y = data(1)
    model = tw.Ridge(solver=solver).fit(X, Y[:, 0])
    assert model.method_ == method
    assert model.solver_ == solver
    exact = tw.Ridge(method="cholesky").fit(X, Y[:, 0])
    np.testing.assert_allclose(model.coef_, exact.coef_, rtol=1e-2)


def test_without_a_solver_its_name_is_that_of_the_method():
    X, Y = data(1)
    assert tw.Ridge(method="lbfgs").fit(X, Y[:, 0]).solver_ == "lbfgs"


def test_a_sparse_matrix_with_an_intercept_takes_every_solver():
    X, Y = data(1)
    sparse = tw.Ridge(solver="cholesky").fit(scipy.sparse.csr_array(X), Y[:, 0])
    np.testing.assert_allclose(sparse.coef_, tw.Ridge(solver="svd").fit(X, Y[:, 0]).coef_)


REFUSED = {
    "lbfgs": ({"solver": "lbfgs"}, "solver must not be 'lbfgs' here: it is for positive=True"),
    "both": (
        {"solver": "sag", "method": "lbfgs"},
        "method must be 'auto' where solver='sag' is given, got 'lbfgs': leave one",
    ),
    "alphas": ({"alpha": [1.0, 2.0, 3.0]}, "one for each of 2 targets, got 3"),
    "negative": ({"alpha": [1.0, -2.0]}, "alpha must not be negative"),
    "tol": ({"tol": 0.0}, "The 'tol' parameter of Ridge must be"),
}


@pytest.mark.parametrize(("options", "message"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_honoured_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        tw.Ridge(**options).fit(*data())
