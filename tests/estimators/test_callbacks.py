"""What scikit-learn's callbacks hear of a fit, and that they can end it."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.callback import ScoringMonitor
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

import thalweg as tw


class Listener:
    """Writes down what it hears, and stops a run after `patience` iterations."""

    def __init__(self, patience=None):
        self.patience = patience
        self.heard = []  # (hook, names and ids of the tasks from the fit down)
        self.given = []  # what came with the end of an iteration

    def setup(self, estimator, context):
        self.heard.append(("setup", path(context)))

    def teardown(self, estimator, context):
        self.heard.append(("teardown", path(context)))

    def on_fit_task_begin(self, estimator, context, *, fitted_estimator=None):
        self.heard.append(("begin", path(context)))

    def on_fit_task_end(
        self, estimator, context, *, X=None, y=None, metadata=None, fitted_estimator=None
    ):
        self.heard.append(("end", path(context)))
        if context.task_name == "iteration":
            self.given.append((X, y, metadata, fitted_estimator))
        return self.patience is not None and context.task_id + 1 >= self.patience


class Everywhere(Listener):
    """One that a search hands on to what it searches."""

    max_propagation_depth = None


def path(context):
    above = () if context.parent is None else path(context.parent)
    return (*above, (context.task_name, context.task_id))


def data(estimator, targets=1):
    X, y = load_iris(return_X_y=True)
    if hasattr(estimator, "decision_function"):
        return X, y
    return X[:, :2], X[:, 2] if targets == 1 else X[:, 2:]


ONE_RUN = [
    tw.LogisticRegression(method="newton"),
    tw.LogisticRegression(method="newton", fit_intercept=False),
    tw.Ridge(method="lbfgs"),
    tw.Lasso(alpha=0.01, method="fista"),
    tw.ElasticNet(alpha=0.01, method="fista", fit_intercept=False),
    tw.QuantileRegressor(alpha=0.01),
]
SEVERAL_RUNS = [tw.Ridge(method="lbfgs"), tw.LinearSVC(method="newton")]


@pytest.mark.parametrize("estimator", ONE_RUN, ids=repr)
def test_a_fit_of_one_run_is_a_task_with_its_iterations(estimator):
    listener = Listener()
    fitted = clone(estimator).set_callbacks(listener).fit(*data(estimator))
    root = (("fit", 0),)
    iterations = [(*root, ("iteration", i)) for i in range(int(np.max(fitted.n_iter_)) + 1)]
    told = [(hook, at) for at in iterations for hook in ("begin", "end")]
    assert listener.heard == [
        ("setup", root), ("begin", root), *told, ("end", root), ("teardown", root)
    ]  # fmt: skip
    assert len(iterations) > 2


@pytest.mark.parametrize("estimator", ONE_RUN, ids=repr)
def test_the_estimator_given_is_that_of_a_fit_of_so_many_iterations(estimator):
    X, y = data(estimator)
    listener = Listener()
    clone(estimator).set_callbacks(listener).fit(X, y)
    *ran, (*nothing, empty) = listener.given
    assert nothing == [None, None, None]
    assert empty is None
    for i, (_, _, _, given) in enumerate(ran[:5]):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # few iterations are not enough
            short = clone(estimator).set_params(max_iter=i + 1).fit(X, y)
        np.testing.assert_allclose(given.coef_, short.coef_, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(given.intercept_, short.intercept_, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(given.predict(X), short.predict(X))
        assert given.runs_ == []


@pytest.mark.parametrize("estimator", SEVERAL_RUNS, ids=repr)
def test_each_of_several_runs_is_a_task_with_its_iterations(estimator):
    X, y = data(estimator, targets=2)
    listener = Listener()
    fitted = clone(estimator).set_callbacks(listener).fit(X, y)
    for k, run in enumerate(fitted.runs_):
        of_run = [at for hook, at in listener.heard if hook == "end" and ("run", k) in at]
        assert len(of_run) == run.iterations + 1 + 1  # an empty one, and the run itself
        assert of_run[-1] == (("fit", 0), ("run", k))
    first = listener.given[0][-1]
    assert first.coef_.shape == fitted.coef_.shape
    np.testing.assert_array_equal(first.coef_[1:], 0.0)  # not begun
    last = listener.given[-2][-1]
    np.testing.assert_array_equal(last.coef_[:-1], fitted.coef_[:-1])  # done


@pytest.mark.parametrize("estimator", [*ONE_RUN, tw.LinearSVC(method="newton")], ids=repr)
def test_data_come_as_they_were_checked_and_weights_as_metadata(estimator):
    X, y = data(estimator)
    weights = np.arange(150.0)
    listener = Listener()
    clone(estimator).set_callbacks(listener).fit(X.tolist(), y.tolist(), sample_weight=weights)
    given, labels, metadata, _ = listener.given[0]
    np.testing.assert_array_equal(given, X)
    np.testing.assert_array_equal(labels, y)
    assert list(metadata) == ["sample_weight"]
    np.testing.assert_array_equal(metadata["sample_weight"], weights)


@pytest.mark.parametrize("estimator", [*ONE_RUN, *SEVERAL_RUNS], ids=repr)
def test_a_hook_ends_the_runs_and_nobody_warns(estimator):
    X, y = data(estimator, targets=2 if estimator in SEVERAL_RUNS else 1)
    fitted = clone(estimator).set_callbacks(Listener(patience=2)).fit(X, y)
    assert [run.iterations for run in fitted.runs_] == [2] * len(fitted.runs_)
    assert {run.outcome for run in fitted.runs_} == {tw.Outcome.INTERRUPTED}


def test_callbacks_change_no_bit_of_a_fit():
    X, y = load_iris(return_X_y=True)
    plain = tw.LogisticRegression(method="newton").fit(X, y)
    heard = tw.LogisticRegression(method="newton").set_callbacks(Listener()).fit(X, y)
    np.testing.assert_array_equal(plain.coef_, heard.coef_)
    assert plain.n_iter_ == heard.n_iter_


def test_without_callbacks_nothing_watches_the_run(monkeypatch):
    import thalweg.estimators.certified as module

    seen = []

    def spy(*args, callback, **options):
        seen.append(callback)
        return tw.minimize(*args, callback=callback, **options)

    monkeypatch.setattr(module, "minimize", spy)
    tw.Ridge().fit(*data(tw.Ridge()))
    tw.Ridge().set_callbacks(Listener()).set_callbacks().fit(*data(tw.Ridge()))
    assert seen == [None, None]


def test_a_scikit_learn_without_callbacks_fits_all_the_same(monkeypatch):
    import thalweg.estimators.callbacks as module

    X, y = data(tw.Ridge())
    heard = tw.Ridge(method="lbfgs").fit(X, y)
    monkeypatch.setattr(module, "CallbackSupportMixin", object)
    monkeypatch.setattr(tw.Ridge, "_init_callback_context", None)
    np.testing.assert_array_equal(tw.Ridge(method="lbfgs").fit(X, y).coef_, heard.coef_)


def test_a_failing_hook_fails_the_fit_and_is_torn_down():
    class Failing(Listener):
        def on_fit_task_end(self, estimator, context):
            raise ZeroDivisionError("of the hook")

    listener = Failing()
    model = tw.Ridge(method="lbfgs").set_callbacks(listener)
    with pytest.raises(ZeroDivisionError, match="of the hook"):
        model.fit(*data(model))
    assert listener.heard[-1][0] == "teardown"
    with pytest.raises(NotFittedError):
        model.report()


def test_scikit_learns_monitor_scores_the_iterations():
    X, y = load_iris(return_X_y=True)
    monitor = ScoringMonitor(scoring="neg_log_loss")
    model = tw.LogisticRegression(method="newton").set_callbacks(monitor).fit(X, y)
    rows = monitor.get_logs().data
    scores = [row["neg_log_loss"] for row in rows if row["task_name"] == "iteration"]
    assert len(scores) == model.n_iter_[0]
    assert scores == sorted(scores)
    assert scores[0] > -np.log(3)  # of the constant prediction


def test_a_search_hands_its_callbacks_on():
    X, y = load_iris(return_X_y=True)
    listener = Everywhere()
    search = GridSearchCV(tw.LogisticRegression(method="newton"), {"C": [0.1, 1.0]}, cv=2)
    search.set_callbacks(listener).fit(X, y)
    fits = {at[:-1] for hook, at in listener.heard if hook == "end" and at[-1][0] == "iteration"}
    assert len(fits) == 2 * 2 + 1  # of the grid on each fold, and the best again on all
    assert [hook for hook, _ in listener.heard].count("setup") == 1
