"""What every estimator promises: scikit-learn's contract, all of it, and Thalweg's beside it."""

import inspect
import pickle
import warnings

import joblib
import numpy as np
import pandas
import polars
import pytest
import scipy.sparse
import sklearn
import sklearn.linear_model
import sklearn.svm
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils._testing import SkipTest
from sklearn.utils.estimator_checks import parametrize_with_checks

import thalweg as tw
from thalweg.estimators.generalized_linear import GeneralizedLinearRegressor

THEIRS = {
    tw.LogisticRegression: sklearn.linear_model.LogisticRegression,
    tw.Ridge: sklearn.linear_model.Ridge,
    tw.Lasso: sklearn.linear_model.Lasso,
    tw.ElasticNet: sklearn.linear_model.ElasticNet,
    tw.LinearSVC: sklearn.svm.LinearSVC,
    tw.LinearRegression: sklearn.linear_model.LinearRegression,
    tw.RidgeClassifier: sklearn.linear_model.RidgeClassifier,
    tw.PoissonRegressor: sklearn.linear_model.PoissonRegressor,
    tw.GammaRegressor: sklearn.linear_model.GammaRegressor,
    tw.TweedieRegressor: sklearn.linear_model.TweedieRegressor,
    tw.QuantileRegressor: sklearn.linear_model.QuantileRegressor,
    tw.LinearSVR: sklearn.svm.LinearSVR,
    tw.HuberRegressor: sklearn.linear_model.HuberRegressor,
}
# What ours take besides, of the estimator and of its fit.
BY_COLUMN = ["bounds", "penalty_weight"]
MORE = {
    **{
        ours: (["l1_ratio", *BY_COLUMN], ["offset"])
        for ours in (tw.PoissonRegressor, tw.GammaRegressor, tw.TweedieRegressor)
    },
    **dict.fromkeys((tw.LogisticRegression, tw.Ridge, tw.Lasso, tw.ElasticNet), (BY_COLUMN, [])),
    tw.LinearRegression: (["bounds"], []),
    tw.QuantileRegressor: (["tol", "max_iter"], []),
}
OURS = [
    tw.LogisticRegression(C=0.5),
    tw.LogisticRegression(C=0.5, l1_ratio=0.5, max_iter=2000),
    tw.Ridge(),
    tw.Lasso(alpha=0.05),
    tw.ElasticNet(alpha=0.05),
    tw.LinearSVC(),
    tw.LinearRegression(),
    tw.RidgeClassifier(),
    tw.PoissonRegressor(alpha=0.05),
    tw.GammaRegressor(alpha=0.05, l1_ratio=0.5),
    tw.TweedieRegressor(power=1.5, alpha=0.05),
    tw.QuantileRegressor(alpha=0.02),
    tw.LinearSVR(),
    tw.HuberRegressor(),
]
# Losses without a slope everywhere, or whose scale is learned: they have methods of their own.
CORNERED = (tw.LinearSVR,)  # its usual loss has no slope everywhere, and methods of its own
ON_THEIR_OWN = (tw.QuantileRegressor, tw.LinearSVR, tw.HuberRegressor)
# Coefficients in double for any X, as scikit-learn has them.
ALWAYS_DOUBLE = (tw.LinearSVC, *ON_THEIR_OWN)
all_of_them = pytest.mark.parametrize("estimator", OURS, ids=repr)


def data(estimator):
    """Iris, standardized: its three classes, or for a regression its last feature.

    That as it is, where targets have to be positive.
    """
    raw, y = load_iris(return_X_y=True)
    X = StandardScaler().fit_transform(raw)
    if isinstance(estimator, GeneralizedLinearRegressor):
        return X[:, :3], raw[:, 3]
    return (X, y) if hasattr(estimator, "decision_function") else (X[:, :3], X[:, 3])


def told(estimator, **options):
    """A copy with those of the options that it has."""
    return clone(estimator).set_params(
        **{name: value for name, value in options.items() if name in estimator.get_params()}
    )


def weights():
    return np.random.default_rng(0).integers(0, 4, 150).astype(float)


@pytest.fixture
def dispatch(monkeypatch):
    """Without it scikit-learn skips its check of array API input."""
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")


# Some checks give four iterations, or a constant target.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.usefixtures("dispatch")
@parametrize_with_checks(
    [
        tw.LogisticRegression(),
        tw.LogisticRegression(l1_ratio=0.5),
        tw.LogisticRegression(solver="liblinear"),
        tw.Ridge(),
        tw.Lasso(),
        tw.ElasticNet(),
        tw.LinearSVC(),
        tw.LinearRegression(),
        tw.RidgeClassifier(),
        tw.LinearRegression(positive=True),
        tw.Ridge(positive=True),
        tw.Lasso(positive=True, alpha=0.1),
        tw.LogisticRegression(bounds=(-1, 1)),
        tw.PoissonRegressor(),
        tw.PoissonRegressor(l1_ratio=0.5),
        tw.GammaRegressor(),
        tw.TweedieRegressor(),
        tw.TweedieRegressor(power=1.5),
        tw.QuantileRegressor(),
        tw.QuantileRegressor(alpha=0.02, quantile=0.3),
        tw.LinearSVR(),
        tw.LinearSVR(loss="squared_epsilon_insensitive"),
        tw.HuberRegressor(),
    ]
)
def test_scikit_learns_checks_pass_and_none_is_skipped(estimator, check):
    try:
        check(estimator)
    except SkipTest as skipped:
        # Least squares on labels has no probabilities, there as here, and nothing else is skipped.
        if str(skipped) != "RidgeClassifier does not have a predict_proba method.":
            pytest.fail(f"skipped: {skipped}")


@pytest.mark.parametrize("ours", THEIRS, ids=lambda ours: ours.__name__)
def test_parameters_are_scikit_learns_by_name_order_and_default(ours):
    theirs = inspect.signature(THEIRS[ours]).parameters
    mine = inspect.signature(ours).parameters
    more, more_of_fit = MORE.get(ours, ([], []))
    assert [*theirs, *more, "method"] == list(mine)
    for name, parameter in theirs.items():
        assert mine[name].kind == parameter.kind
        if name != "tol":
            assert mine[name].default == parameter.default, name
    assert mine["tol"].default == 1e-6
    assert "Thalweg's" in ours.__doc__
    fit = inspect.signature(THEIRS[ours].fit).parameters
    assert [*fit, *more_of_fit] == list(inspect.signature(ours.fit).parameters)


@pytest.mark.parametrize("ours", THEIRS, ids=lambda ours: ours.__name__)
def test_attributes_are_at_least_scikit_learns(ours):
    X, y = data(ours())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # liblinear draws, and does not always arrive
        theirs = {name for name in vars(THEIRS[ours]().fit(X, y)) if name.endswith("_")}
    assert theirs <= set(vars(ours().fit(X, y)))


@all_of_them
def test_a_fit_tells_its_method_proof_and_history(estimator):
    X, y = data(estimator)
    fitted = clone(estimator).fit(X, y)
    runs = fitted.runs_
    several = len(runs) > 1
    for name, of_run in {
        "method_": lambda run: run.method,
        "plan_": lambda run: getattr(run, "plan", None),
        "certificate_": lambda run: run.certificate,
        "history_": lambda run: run.trace,
    }.items():
        views = [of_run(run) for run in runs]
        assert getattr(fitted, name) == (views if several else views[0])
    assert all(run.certificate.holds for run in runs)
    proof = "∇F" if isinstance(estimator, tw.LinearRegression) else "duality gap"
    assert fitted.report().count(proof) >= len(runs)
    assert fitted.report().startswith(type(estimator).__name__)


@all_of_them
def test_nothing_is_told_before_the_fit(estimator):
    for name in ("method_", "plan_", "certificate_", "history_"):
        assert not hasattr(estimator, name)
    with pytest.raises(sklearn.exceptions.NotFittedError):
        estimator.report()


@all_of_them
def test_frames_give_names_and_the_same_fit(estimator):
    X, y = data(estimator)
    names = [f"feature {j}" for j in range(X.shape[1])]
    plain = clone(estimator).fit(X, y)
    for frame in (pandas.DataFrame(X, columns=names), polars.DataFrame(X, schema=names)):
        fitted = clone(estimator).fit(frame, y)
        assert fitted.feature_names_in_.tolist() == names
        # Frames hold their columns one by one: sums are rounded in another order.
        np.testing.assert_allclose(fitted.coef_, plain.coef_, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(fitted.predict(frame), plain.predict(X), rtol=1e-7)
        with pytest.raises(ValueError, match="feature names"):
            fitted.predict(frame[names[::-1]])


@all_of_them
def test_sparse_matrices_of_every_kind_fit_as_dense_ones(estimator):
    X, y = data(estimator)
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    tight = told(estimator, tol=1e-10, max_iter=20_000)
    dense = tight.fit(X, y).coef_
    doubled = scipy.sparse.csr_array(X)
    twice = scipy.sparse.csr_array(
        (
            np.repeat(doubled.data / 2, 2),
            np.repeat(doubled.indices, 2),
            2 * doubled.indptr,
        ),
        shape=X.shape,
    )
    kept = twice.nnz
    for sparse in (doubled, scipy.sparse.csc_matrix(X), scipy.sparse.coo_array(X), twice):
        np.testing.assert_allclose(clone(tight).fit(sparse, y).coef_, dense, rtol=1e-3, atol=1e-5)
    assert twice.nnz == kept  # what was passed is not changed


@all_of_them
def test_single_precision_stays_single_but_where_scikit_learns_does_not(estimator):
    X, y = data(estimator)
    fitted = clone(estimator).fit(X.astype(np.float32), y)
    wanted = np.float64 if isinstance(estimator, ALWAYS_DOUBLE) else np.float32
    assert fitted.coef_.dtype == wanted
    assert fitted.intercept_.dtype == np.float64  # which makes good what the others are rounded by


@all_of_them
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_row_is_told_the_same_alone_and_in_any_batch_order_and_storage(estimator, dtype, classes):
    X, y = data(estimator)
    X = np.where(np.abs(X) < 0.5, 0.0, X).astype(dtype)
    if hasattr(estimator, "decision_function"):
        y = np.minimum(y, classes - 1)
    elif classes == 3 and estimator.__sklearn_tags__().target_tags.multi_output:
        y = np.column_stack([y, X[:, 0] ** 2, -y])  # or targets
    fitted = clone(estimator).fit(X, y)
    names = ("predict", "decision_function", "predict_proba", "predict_log_proba")
    for ask in (getattr(fitted, name) for name in names if hasattr(fitted, name)):
        among = ask(X)
        for rows in (X, np.asfortranarray(X), scipy.sparse.csr_array(X)):
            assert ask(rows).tobytes() == among.tobytes()
            for some in ([7], [149], [3, 120, 64], list(range(149, -1, -4))):
                assert ask(rows[some]).tobytes() == among[some].tobytes()
                assert ask(rows[some[0] : some[0] + 1]).tobytes() == among[some[:1]].tobytes()


@all_of_them
def test_a_fitted_estimator_survives_pickling(estimator, tmp_path):
    X, y = data(estimator)
    fitted = clone(estimator).fit(X, y)
    joblib.dump(fitted, tmp_path / "fitted.joblib")
    for again in (pickle.loads(pickle.dumps(fitted)), joblib.load(tmp_path / "fitted.joblib")):
        np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
        assert again.report() == fitted.report()


@all_of_them
def test_clone_copies_parameters_and_no_fit(estimator):
    X, y = data(estimator)
    is_free = not isinstance(estimator, ON_THEIR_OWN)
    options = {"method": tw.FISTA(), "max_iter": 5_000} if is_free else {}
    fitted = told(estimator, **options).fit(X, y)
    fresh = clone(fitted)
    assert fresh.get_params() == fitted.get_params()
    assert not hasattr(fresh, "coef_")
    assert fitted.runs_[0].method == "fista" or not is_free


@all_of_them
def test_pipelines_and_grid_search(estimator):
    X, y = data(estimator)
    name = type(estimator).__name__.lower()
    strength = next(each for each in ("C", "alpha", "tol") if each in estimator.get_params())
    search = GridSearchCV(
        make_pipeline(StandardScaler(), clone(estimator)),
        {f"{name}__{strength}": [1e-4, 0.1]},
        cv=3,
    ).fit(X, y)
    # Iris is a line for regressions, and no mean e^z; for labels of ±1 a penalty helps.
    if strength != "tol" and not isinstance(
        estimator, GeneralizedLinearRegressor | tw.RidgeClassifier
    ):
        assert search.best_params_[f"{name}__{strength}"] == (0.1 if strength == "C" else 1e-4)
    assert search.score(X, y) > 0.8


@all_of_them
def test_weights_are_routed_through_a_search(estimator):
    X, y = data(estimator)
    direct = clone(estimator).fit(X, y, sample_weight=weights())
    unweighted = clone(estimator).fit(X, y)
    with sklearn.config_context(enable_metadata_routing=True):
        asked = clone(estimator).set_fit_request(sample_weight=True)
        asked = asked.set_score_request(sample_weight=False)
        search = GridSearchCV(asked, {"tol": [1e-6]}, cv=3)
        search.fit(X, y, sample_weight=weights())
    np.testing.assert_array_equal(search.best_estimator_.coef_, direct.coef_)
    assert not np.allclose(unweighted.coef_, direct.coef_, rtol=1e-3)


def test_processes_of_joblib_fit_as_this_one_does():
    X, y = load_iris(return_X_y=True)
    alone, together = (
        cross_val_predict(tw.LogisticRegression(), X, y, method="predict_proba", cv=4, n_jobs=jobs)
        for jobs in (1, 2)
    )
    np.testing.assert_allclose(alone, together, atol=1e-8)


@pytest.mark.parametrize(
    "estimator", [each for each in OURS if "max_iter" in each.get_params()], ids=repr
)
def test_a_fit_that_stops_early_warns_with_the_reason(estimator):
    X, y = data(estimator)
    short = clone(estimator).set_params(max_iter=1, tol=1e-9)
    if not isinstance(estimator, ON_THEIR_OWN):
        short.set_params(method=tw.FISTA())
    with pytest.warns(ConvergenceWarning, match="iteration limit.*duality gap = .* after 1 iter"):
        short.fit(X, y)
    assert not short.runs_[-1].converged
    assert "ITERATION LIMIT" in short.report()


@pytest.mark.parametrize("ours", THEIRS, ids=lambda ours: ours.__name__)
def test_a_target_that_a_constant_fits_is_no_cause_for_a_warning(ours):
    X, _ = data(ours())
    if hasattr(ours, "decision_function"):
        with pytest.raises(tw.InputError, match="at least two classes, got one class"):
            ours().fit(X, np.ones(len(X)))
        return
    fitted = ours().fit(X, np.full(len(X), 0.1))
    np.testing.assert_allclose(fitted.coef_, 0.0, atol=1e-8)
    np.testing.assert_allclose(fitted.predict(X), 0.1)


@pytest.mark.parametrize(
    "estimator",
    [each for each in OURS if "random_state" in each.get_params() and type(each) not in CORNERED],
    ids=repr,
)
def test_seeds_of_every_kind_are_taken(estimator):
    X, y = data(estimator)
    method = "saga" if hasattr(estimator, "decision_function") else "sag"
    fits = [
        clone(estimator)
        .set_params(method=method, max_iter=2_000, random_state=random_state)
        .fit(X, y)
        .coef_
        for random_state in (None, 0, 0, np.random.RandomState(3), np.random.RandomState(3))
    ]
    np.testing.assert_array_equal(fits[0], fits[1])
    np.testing.assert_array_equal(fits[1], fits[2])
    np.testing.assert_array_equal(fits[3], fits[4])
    assert np.any(fits[2] != fits[3])


@all_of_them
def test_an_unknown_method_is_refused_with_the_nearest(estimator):
    X, y = data(estimator)
    with pytest.raises(tw.InputError, match="did you mean 'newton'"):
        clone(estimator).set_params(method="newtonn").fit(X, y)


def test_all_zero_weights_are_refused():
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.raises(ValueError, match="weights"):
        tw.Ridge().fit(X, y, sample_weight=np.zeros(len(y)))
