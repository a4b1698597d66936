"""RidgeCV: every row left out by hand, folds as fits of their own, the choice and its error."""

import warnings

import numpy as np
import pytest
import scipy.sparse
import sklearn
import sklearn.linear_model
from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit

import thalweg as tw

ALPHAS = [0.05, 1.0, 30.0]


def data(targets=1, n=25, p=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) + 2.0
    Y = X @ rng.standard_normal((p, targets)) + 2.0 * rng.standard_normal((n, targets))
    return X, Y[:, 0] if targets == 1 else Y


@pytest.mark.parametrize("shape", [(25, 6), (12, 30)])
@pytest.mark.parametrize("targets", [1, 2])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_errors_are_those_of_fits_without_the_row(shape, targets, fit_intercept):
    X, y = data(targets, *shape)
    s = np.random.default_rng(1).random(len(y)) + 0.5
    model = tw.RidgeCV(ALPHAS, store_cv_results=True, fit_intercept=fit_intercept).fit(X, y, s)
    slow = np.empty((*y.shape, len(ALPHAS)))
    for k, alpha in enumerate(ALPHAS):
        for i in range(len(y)):
            rest = np.arange(len(y)) != i
            one = tw.Ridge(alpha, fit_intercept=fit_intercept, method="cholesky", tol=1e-13)
            one.fit(X[rest], y[rest], s[rest])
            slow[i, ..., k] = s[i] * (y[i] - one.predict(X[[i]])[0]) ** 2
    np.testing.assert_allclose(model.cv_results_, slow, rtol=1e-6, atol=1e-9)
    means = slow.reshape(-1, len(ALPHAS)).mean(axis=0)
    assert model.alpha_ == ALPHAS[np.argmin(means)]
    assert model.best_score_ == pytest.approx(-means.min())
    whole = tw.Ridge(model.alpha_, fit_intercept=fit_intercept, method="cholesky").fit(X, y, s)
    np.testing.assert_allclose(model.coef_, whole.coef_, rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(model.intercept_, whole.intercept_, rtol=1e-7)
    assert model.gaps_.shape == (3, targets)


def test_the_error_of_the_choice_is_that_of_a_mean():
    X, y = data()
    model = tw.RidgeCV(ALPHAS, store_cv_results=True).fit(X, y)
    kept = model.cv_results_[:, ALPHAS.index(model.alpha_)]
    assert model.choice_.error == pytest.approx(kept.std(ddof=1) / len(y) ** 0.5)
    simple = tw.RidgeCV(ALPHAS, rule="one-standard-error").fit(X, y)
    means = -model.cv_results_.mean(axis=0)
    as_good = means >= model.choice_.score - model.choice_.error
    assert simple.alpha_ == max(np.array(ALPHAS)[as_good])
    assert str(simple.choice_).startswith(f"alpha = {simple.alpha_:g}: minus the mean squared")


def test_every_target_may_have_its_own_alpha():
    X, Y = data(3)
    Y[:, 1] = np.random.default_rng(5).standard_normal(len(Y))  # which no feature explains
    together = tw.RidgeCV(ALPHAS, alpha_per_target=True).fit(X, Y)
    for k in range(3):
        alone = tw.RidgeCV(ALPHAS).fit(X, Y[:, k])
        assert together.alpha_[k] == alone.alpha_
        assert together.best_score_[k] == pytest.approx(alone.best_score_)
        np.testing.assert_allclose(together.coef_[k], alone.coef_, rtol=1e-9)
        np.testing.assert_allclose(together.out_of_fold_[:, k], alone.out_of_fold_, rtol=1e-9)
    assert len(set(together.alpha_)) > 1


@pytest.mark.parametrize("storage", [np.asarray, scipy.sparse.csr_array])
def test_folds_are_fits_of_their_own(storage):
    X, y = data(2, n=40)
    cv = KFold(4, shuffle=True, random_state=0)
    model = tw.RidgeCV([0.0, *ALPHAS], cv=cv).fit(storage(X), y)
    scores, left = np.empty((4, 4)), np.empty_like(y)
    for f, (train, test) in enumerate(cv.split(X)):
        for k, alpha in enumerate([0.0, *ALPHAS]):
            one = tw.Ridge(alpha, method="cholesky", tol=1e-12).fit(X[train], y[train])
            scores[f, k] = one.score(X[test], y[test])
            if alpha == model.alpha_:
                left[test] = one.predict(X[test])
    means = scores.mean(axis=0)
    assert model.alpha_ == [0.0, *ALPHAS][np.argmax(means)]
    assert model.best_score_ == pytest.approx(means.max(), rel=1e-7)
    error = scores[:, np.argmax(means)].std(ddof=1) / 2.0
    assert model.choice_.error == pytest.approx(error, rel=1e-5)
    np.testing.assert_allclose(model.out_of_fold_, left, rtol=1e-6)
    assert model.gaps_.shape == (4, 4, 2)
    assert np.isnan(model.gaps_[:, 0]).all()
    assert np.nanmax(model.gaps_) < 1e-8


def test_rows_that_no_fold_tested_have_no_prediction():
    X, y = data()
    cv = ShuffleSplit(2, test_size=5, random_state=0)
    model = tw.RidgeCV(ALPHAS, cv=cv).fit(X, y)
    tested = np.unique(np.concatenate([test for _, test in cv.split(X)]))
    assert np.isfinite(model.out_of_fold_).nonzero()[0].tolist() == tested.tolist()


def test_groups_and_weights_are_routed():
    X, y = data(n=30)
    groups, s = np.arange(30) % 3, np.random.default_rng(0).random(30)
    with sklearn.config_context(enable_metadata_routing=True):
        model = tw.RidgeCV(ALPHAS, cv=GroupKFold(3)).set_fit_request(sample_weight=True)
        model.fit(X, y, sample_weight=s, groups=groups)
    by_hand = tw.RidgeCV(ALPHAS, cv=[(np.flatnonzero(groups != g), np.flatnonzero(groups == g))
                                     for g in range(3)]).fit(X, y, s)  # fmt: skip
    assert model.alpha_ == by_hand.alpha_
    np.testing.assert_allclose(model.best_score_, by_hand.best_score_, rtol=1e-12)


def test_a_scorer_is_asked_about_all_rows_left_out():
    X, y = data()
    model = tw.RidgeCV(ALPHAS, scoring="neg_mean_absolute_error").fit(X, y)
    assert model.best_score_ == pytest.approx(-np.abs(y - model.out_of_fold_).mean())
    with pytest.raises(tw.InputError, match="is one of all rows: give cv=5"):
        model.set_params(rule="one-standard-error").fit(X, y)


def test_single_precision_is_kept_and_computed_in_double():
    X, y = data()
    model = tw.RidgeCV(ALPHAS, store_cv_results=True).fit(X.astype(np.float32), y)
    assert model.coef_.dtype == model.cv_results_.dtype == np.float32
    exact = tw.RidgeCV(ALPHAS).fit(X.astype(np.float32).astype(np.float64), y)
    np.testing.assert_allclose(model.coef_, exact.coef_, rtol=1e-6)


def test_a_fit_that_the_digits_do_not_reach_is_told():
    X, y = load_diabetes(return_X_y=True)
    X = np.column_stack([X, X[:, 0]]) * 1e3
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        tw.RidgeCV([1e-12], tol=1e-15).fit(X, y)
    assert {warning.category for warning in told} == {ConvergenceWarning}
    assert "1 of 1 fits along the grid were not shown" in str(told[0].message)


def test_what_is_incompatible_is_refused():
    X, y = data()
    for name in ("store_cv_results", "alpha_per_target"):
        with pytest.raises(ValueError, match=f"cv!=None and {name}=True are incompatible"):
            tw.RidgeCV(cv=3, **{name: True}).fit(X, y)
    with pytest.raises(ValueError, match=r"alphas\[1\] == 0, must be > 0"):
        tw.RidgeCV([1, 0]).fit(X, y)
