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
