"""What every cross-validated estimator promises: scikit-learn's contract, and its choice proved."""

import inspect
import pickle

import numpy as np
import pandas
import pytest
import scipy.sparse
import sklearn
import sklearn.linear_model
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.model_selection import GroupKFold, KFold, RepeatedKFold, TimeSeriesSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils._testing import SkipTest
from sklearn.utils.estimator_checks import parametrize_with_checks

import thalweg as tw

THEIRS = {
    tw.RidgeCV: sklearn.linear_model.RidgeCV,
    tw.LassoCV: sklearn.linear_model.LassoCV,
    tw.ElasticNetCV: sklearn.linear_model.ElasticNetCV,
}
OURS = [tw.RidgeCV(cv=5), tw.LassoCV(alphas=20), tw.ElasticNetCV(alphas=20, l1_ratio=[0.5, 1.0])]
all_of_them = pytest.mark.parametrize("estimator", OURS, ids=repr)
every_class = pytest.mark.parametrize("ours", THEIRS, ids=lambda ours: ours.__name__)


def data():
    X, y = load_diabetes(return_X_y=True)
    return 20.0 * X[:150], y[:150]


@pytest.fixture
def dispatch(monkeypatch):
    """Without it scikit-learn skips its check of array API input."""
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.usefixtures("dispatch")
@parametrize_with_checks([tw.RidgeCV(), *OURS, tw.LogisticRegressionCV(Cs=3, cv=3)])
def test_scikit_learns_checks_pass_and_none_is_skipped(estimator, check):
    try:
        check(estimator)
    except SkipTest as skipped:
        pytest.fail(f"skipped: {skipped}")


@every_class
def test_parameters_are_scikit_learns_by_name_order_and_default(ours):
    theirs = inspect.signature(THEIRS[ours]).parameters
    mine = inspect.signature(ours).parameters
    assert [name for name in mine if name in theirs] == list(theirs)
    assert set(mine) - set(theirs) <= {"rule", "method", "tol"}
    for name, parameter in theirs.items():
        assert mine[name].kind == parameter.kind
        if name != "tol":
            assert mine[name].default == parameter.default, name
    assert mine["tol"].default == 1e-6
    assert mine["rule"].default == "best"
    fit = inspect.signature(THEIRS[ours].fit).parameters
    assert list(fit) == list(inspect.signature(ours.fit).parameters)


def test_those_of_the_classifier_do_not_warn_of_their_defaults():
    theirs = inspect.signature(sklearn.linear_model.LogisticRegressionCV).parameters
    mine = inspect.signature(tw.LogisticRegressionCV).parameters
    assert [name for name in mine if name in theirs] == list(theirs)
    assert set(mine) - set(theirs) == {"rule", "method"}
    read = {"l1_ratios": None, "scoring": None, "use_legacy_attributes": True, "tol": 1e-6}
    for name, parameter in theirs.items():
        assert mine[name].kind == parameter.kind
        assert mine[name].default == read.get(name, parameter.default), name
        assert name not in read or name == "tol" or parameter.default == "warn"


def test_groups_of_the_classifier_are_routed_and_a_fitted_one_survives_pickling():
    X, y = data()
    labels, groups = y > np.median(y), np.arange(len(y)) % 3
    by_hand = [(np.flatnonzero(groups != g), np.flatnonzero(groups == g)) for g in range(3)]
    expected = tw.LogisticRegressionCV(Cs=5, cv=by_hand).fit(X.astype(np.float32), labels)
    assert expected.coef_.dtype == np.float32
    with sklearn.config_context(enable_metadata_routing=True):
        model = tw.LogisticRegressionCV(Cs=5, cv=GroupKFold(3))
        model.fit(X.astype(np.float32), labels, groups=groups)
    found, by_hand = (np.sort(each.scores_[True], axis=0) for each in (model, expected))
    np.testing.assert_array_equal(found, by_hand)  # GroupKFold has an order of its own
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


@every_class
def test_attributes_are_at_least_scikit_learns(ours):
    theirs = {name for name in vars(THEIRS[ours]().fit(*data())) if name.endswith("_")}
    assert theirs <= set(vars(ours().fit(*data())))


@all_of_them
def test_the_choice_and_the_model_are_scikit_learns(estimator):
    X, y = data()
    ours = clone(estimator).set_params(tol=1e-10).fit(X, y)
    names = inspect.signature(THEIRS[type(estimator)]).parameters
    given = {name: value for name, value in estimator.get_params().items() if name in names}
    theirs = THEIRS[type(estimator)](**given)
    if "tol" in names:
        theirs.set_params(tol=1e-10, max_iter=100_000)
    theirs.fit(X, y)
    assert ours.alpha_ == pytest.approx(theirs.alpha_, rel=1e-8)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-3, atol=1e-3)


@all_of_them
def test_every_fit_is_proved_and_the_choice_tells_its_error(estimator):
    X, y = data()
    fitted = clone(estimator).fit(X, y)
    assert fitted.certificate_.holds
    assert np.isfinite(fitted.gaps_).all()
    # Every fold's scale is about half the variance of y.
    assert fitted.gaps_.max() <= 1e-6 * y.var()
    assert fitted.choice_.penalty["alpha"] == fitted.alpha_
    assert fitted.choice_.error > 0.0
    assert f"± {fitted.choice_.error:.2g}" in str(fitted.choice_)


@all_of_them
def test_one_standard_error_is_a_stronger_penalty_as_good_within_it(estimator):
    X, y = data()
    best = clone(estimator).set_params(alphas=np.geomspace(1e-3, 1e3, 25)).fit(X, y)
    simple = clone(best).set_params(rule="one-standard-error").fit(X, y)
    assert simple.alpha_ > best.alpha_
    assert simple.choice_.best_penalty["alpha"] == best.alpha_
    assert simple.choice_.score >= best.choice_.score - best.choice_.error


@all_of_them
@pytest.mark.parametrize(
    "cv",
    [
        KFold(3, shuffle=True, random_state=0),
        TimeSeriesSplit(4),
        RepeatedKFold(n_splits=3, n_repeats=2, random_state=0),
        [(np.r_[:100, :50], np.r_[100:150])],
    ],
    ids=["shuffled", "series", "repeated", "rows twice"],
)
def test_out_of_fold_predictions_are_those_of_fits_without_the_fold(estimator, cv):
    X, y = data()
    fitted = clone(estimator).set_params(cv=cv, tol=1e-12).fit(X, y)
    folds = list(cv.split(X)) if hasattr(cv, "split") else cv
    total, count = np.zeros(len(y)), np.zeros(len(y))
    for train, test in folds:
        if isinstance(estimator, tw.RidgeCV):
            one = tw.Ridge(fitted.alpha_, tol=1e-12, method="cholesky")
        else:
            ratio = fitted.choice_.penalty.get("l1_ratio", 1.0)
            one = tw.ElasticNet(fitted.alpha_, l1_ratio=ratio, tol=1e-12)
        total[test] += one.fit(X[train], y[train]).predict(X[test])
        count[test] += 1
    slow = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    np.testing.assert_allclose(fitted.out_of_fold_, slow, rtol=1e-4)


@all_of_them
def test_sparse_equals_dense_and_frames_give_names(estimator):
    X, y = data()
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    tight = clone(estimator).set_params(tol=1e-10)
    dense = clone(tight).fit(X, y)
    for storage in (scipy.sparse.csr_array, scipy.sparse.csc_matrix):
        sparse = clone(tight).fit(storage(X), y)
        assert sparse.alpha_ == pytest.approx(dense.alpha_)
        np.testing.assert_allclose(sparse.coef_, dense.coef_, rtol=1e-3, atol=1e-4)
    frame = pandas.DataFrame(X, columns=[f"feature {j}" for j in range(X.shape[1])])
    named = clone(tight).fit(frame, y)
    assert named.feature_names_in_.tolist() == list(frame.columns)
    np.testing.assert_allclose(named.coef_, dense.coef_, rtol=1e-6, atol=1e-8)


@all_of_them
def test_weights_that_are_whole_numbers_are_repeated_rows(estimator):
    X, y = data()
    s = np.random.default_rng(0).integers(1, 3, len(y))
    groups = np.arange(len(y)) % 4
    each = [(np.flatnonzero(groups != g), np.flatnonzero(groups == g)) for g in range(4)]
    again = np.repeat(np.arange(len(y)), s)
    more = [(np.flatnonzero(groups[again] != g), np.flatnonzero(groups[again] == g))
            for g in range(4)]  # fmt: skip
    weighted = clone(estimator).set_params(cv=each, tol=1e-11).fit(X, y, s.astype(float))
    repeated = clone(estimator).set_params(cv=more, tol=1e-11).fit(X[again], y[again])
    assert weighted.alpha_ == pytest.approx(repeated.alpha_)
    assert weighted.choice_.score == pytest.approx(repeated.choice_.score, rel=1e-6)
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-4, atol=1e-4)


@all_of_them
def test_groups_are_routed_to_the_splitter(estimator):
    X, y = data()
    groups = np.arange(len(y)) % 3
    by_hand = [(np.flatnonzero(groups != g), np.flatnonzero(groups == g)) for g in range(3)]
    expected = clone(estimator).set_params(cv=by_hand).fit(X, y)
    with sklearn.config_context(enable_metadata_routing=True):
        model = make_pipeline(StandardScaler(with_mean=False, with_std=False),
                              clone(estimator).set_params(cv=GroupKFold(3)))  # fmt: skip
        model.fit(X, y, groups=groups)
    assert model[-1].alpha_ == expected.alpha_
    assert model[-1].choice_.error == pytest.approx(expected.choice_.error, rel=1e-6)


@all_of_them
def test_single_precision_stays_and_a_fitted_one_survives_pickling(estimator):
    X, y = data()
    fitted = clone(estimator).set_params(tol=1e-4).fit(X.astype(np.float32), y)
    assert fitted.coef_.dtype == np.float32
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
    assert str(again.choice_) == str(fitted.choice_)
    assert clone(fitted).get_params() == fitted.get_params()
