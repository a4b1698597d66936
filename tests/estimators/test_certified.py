"""What fits keep of their runs; how a solver, a seed and an exact fit are read."""

import numpy as np
import pytest

import thalweg as tw
from thalweg.estimators.certified import _seed, chosen_method, refuse


@pytest.mark.parametrize(
    ("method", "solver", "chosen"),
    [("auto", "any", "auto"), ("cd", "any", "cd"), ("auto", "svd", "cholesky")],
)
def test_a_solver_decides_only_where_it_is_not_the_default(method, solver, chosen):
    assert chosen_method(method, solver, "any", {"svd": "cholesky"}) == chosen


def test_a_solver_and_a_method_are_one_too_many():
    with pytest.raises(tw.InputError, match="leave one of the two out"):
        chosen_method(tw.CD(), "svd", "any", {"svd": "cholesky"})


def test_a_refusal_names_parameter_value_and_way_out():
    with pytest.raises(tw.InputError, match=r"^loss must not be 'hinge' here: use another$"):
        refuse("loss", "hinge", "use another")


def test_seeds():
    assert _seed(None) == 0
    assert _seed(np.int64(7)) == 7
    assert _seed(np.random.RandomState(1)) == _seed(np.random.RandomState(1)) > 0


def test_progress_is_shown_for_verbose_estimators_alone(monkeypatch):
    import thalweg.estimators.certified as module

    seen = []

    def spied(run):
        def spy(*args, progress, **options):
            seen.append(progress)
            return run(*args, progress=False, **options)

        return spy

    for name in ("minimize", "minimize_targets"):
        monkeypatch.setattr(module, name, spied(getattr(module, name)))
    X, y = np.eye(4), [0, 1, 0, 1]
    for model in (tw.Ridge(), tw.LinearSVC(), tw.LogisticRegression(verbose=1)):
        model.fit(X, y)
    assert seen == [False, False, True]


def test_single_precision_data_reach_tolerances_beyond_single_precision():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 5)).astype(np.float32)
    model = tw.Ridge(tol=1e-11, method="lbfgs").fit(X, X @ rng.standard_normal(5) + 1)
    assert model.runs_[0].converged
    assert model.coef_.dtype == np.float32


def test_a_nan_is_refused_with_its_place():
    X = np.ones((3, 2))
    X[1, 0] = np.nan
    with pytest.raises(tw.InputError, match="got nan in row 1, column 0: impute or drop NaN"):
        tw.Ridge().fit(X, [0.0, 1.0, 2.0])


@pytest.mark.parametrize("estimator", [tw.Ridge, tw.Lasso, tw.LogisticRegression, tw.LinearSVC])
def test_an_x_whose_squares_overflow_is_refused(estimator):
    X = np.ones((4, 2))
    X[:, 1] = 1e200 * np.arange(4)
    message = r"X must have squares below 1.8e\+308, got larger ones in column 1: divide it by its"
    with pytest.raises(tw.InputError, match=message):
        estimator().fit(X, [0, 1, 0, 1])


def test_an_x_whose_squares_overflow_is_refused_for_several_targets():
    with pytest.raises(tw.InputError, match="got larger ones in column 0"):
        tw.Ridge().fit(1e200 * np.eye(3), np.eye(3))


def small_data(labels=False):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 3))
    return X, (X[:, 0] > 0).astype(int) if labels else X[:, 0] + 0.1 * rng.standard_normal(30)


def test_parameters_that_are_equal_but_of_another_kind_are_checked_again():
    X, y = small_data()
    tw.Ridge(fit_intercept=True).fit(X, y)
    with pytest.raises(ValueError, match="fit_intercept"):
        tw.Ridge(fit_intercept=1).fit(X, y)
    for _ in range(2):
        with pytest.raises(ValueError, match="alpha"):
            tw.Ridge(alpha=-1.0).fit(X, y)


def test_plain_arrays_are_noted_as_frames_are():
    pandas = pytest.importorskip("pandas")
    X, y = small_data()
    model = tw.Ridge().fit(pandas.DataFrame(X, columns=["a", "b", "c"]), y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    model.fit(X[:, :2].copy(), y)
    assert model.n_features_in_ == 2
    assert not hasattr(model, "feature_names_in_")


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda X, y: (X, y[:-1]), "inconsistent numbers of samples"),
        (lambda X, y: (X, np.append(y[:-1], np.nan)), "NaN"),
        (lambda X, y: (X, np.column_stack([y, np.append(y[:-1], np.nan)])), "NaN"),
        (lambda X, y: (X, np.column_stack([y, y])[:-1]), "inconsistent numbers of samples"),
        (lambda X, y: (X, y[:, None, None]), "dim 3"),
        (lambda X, y: (np.where(X > 1.5, np.nan, X), y), "finite"),
        (lambda X, y: (X[:, 0], y), "2D array"),
        (lambda X, y: (X[:0], y[:0]), "0 sample"),
        (lambda X, y: (X[:, :0], y), "0 feature"),
    ],
)
def test_bad_arrays_are_told_as_by_scikit_learn(spoil, says):
    X, y = spoil(*small_data())
    with pytest.raises(ValueError, match=says):
        tw.Ridge().fit(X, y)


@pytest.mark.parametrize("model", [tw.LogisticRegression(), tw.LinearSVC()])
def test_labels_are_told_from_targets(model):
    X, y = small_data()
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        model.fit(X, y)
    with pytest.warns(UserWarning, match="unique classes is greater than 50%"):
        model.fit(X, np.arange(30) % 20)
    model.fit(X, (np.arange(30) % 3).astype(np.uint8))
    assert model.classes_.tolist() == [0, 1, 2]
