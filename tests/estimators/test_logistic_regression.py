"""Logistic regression: optimality of its definition, free intercepts, solvers, penalties."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression as Theirs
from sklearn.preprocessing import StandardScaler

import thalweg as tw


def two_classes():
    return make_classification(120, 6, flip_y=0.2, random_state=0)


def test_two_points_by_hand():
    # x = ∓1, no intercept: 2C·log(1 + e^(−w)) + w²/2 is least where w = 2C/(1 + e^w).
    w = 1.0
    for _ in range(200):
        w -= 0.5 * (w - 3.0 / (1.0 + np.exp(w)))
    model = tw.LogisticRegression(C=1.5, fit_intercept=False, tol=1e-13)
    model.fit([[-1.0], [1.0]], ["no", "yes"])
    np.testing.assert_allclose(model.coef_, [[w]], rtol=1e-6)
    np.testing.assert_allclose(model.predict_proba([[1.0]])[0, 1], expit(w), rtol=1e-6)


@pytest.mark.parametrize("ratio", [0.0, 0.4, 1.0])
def test_subgradients_of_the_definition_vanish(ratio):
    X, y = two_classes()
    s = np.random.default_rng(0).random(len(y))
    C = 0.3
    method = "newton" if ratio == 0 else "cd"
    model = tw.LogisticRegression(C=C, l1_ratio=ratio, tol=1e-13, method=method)
    model.fit(X, y, sample_weight=s)
    w = model.coef_[0]
    residual = s * (expit(X @ w + model.intercept_) - y)
    slope = C * X.T @ residual + (1 - ratio) * w
    active = w != 0
    assert residual.sum() == pytest.approx(0.0, abs=1e-6)
    np.testing.assert_allclose(slope[active], -ratio * np.sign(w[active]), atol=1e-5)
    assert np.all(np.abs(slope[~active]) <= ratio + 1e-9)
    assert (~active).any() == (ratio > 0)


def test_class_weights_multiply_those_of_samples():
    X, y = load_iris(return_X_y=True)
    s = np.random.default_rng(0).random(len(y))
    weight = {0: 2.0, 1: 0.5, 2: 1.0}
    by_class = tw.LogisticRegression(class_weight=weight).fit(X, y, sample_weight=s)
    by_hand = tw.LogisticRegression().fit(X, y, s * np.array([2.0, 0.5, 1.0])[y])
    np.testing.assert_allclose(by_class.coef_, by_hand.coef_, rtol=1e-10)


def test_shifts_that_nothing_decides_are_zero():
    X, y = load_iris(return_X_y=True)
    held = tw.LogisticRegression().fit(X, y)
    assert held.intercept_.sum() == pytest.approx(0.0, abs=1e-12)
    X = np.random.default_rng(0).standard_normal((60, 4))
    labels = np.arange(60) % 3  # nothing to learn: a finite optimum without a penalty
    free = tw.LogisticRegression(C=np.inf, max_iter=1000).fit(X, labels)
    np.testing.assert_allclose(free.coef_.sum(axis=0), 0.0, atol=1e-12)
    theirs = Theirs(C=np.inf, tol=1e-8, max_iter=1000).fit(X, labels)
    np.testing.assert_allclose(free.coef_, theirs.coef_, atol=1e-3)
    assert free.certificate_.kind == "Newton decrement"
    free.coef_ = free.coef_ + np.arange(4.0)  # the same probabilities
    free.set_params(warm_start=True).fit(X, labels)
    np.testing.assert_allclose(free.coef_.sum(axis=0), 0.0, atol=1e-12)


@pytest.mark.parametrize(
    ("options", "method"),
    [
        ({"solver": "lbfgs", "method": "newton"}, "newton"),  # the default: `method` decides
        ({"solver": "newton-cg"}, "newton-cg"),
        ({"solver": "newton-cholesky"}, "newton"),
        ({"solver": "sag"}, "sag"),
        ({"solver": "saga", "l1_ratio": 0.5}, "saga"),
        ({"solver": "liblinear"}, "newton-cg"),
        ({"solver": "liblinear", "dual": True}, "sdca"),
        ({"solver": "liblinear", "l1_ratio": 1.0}, "cd"),
    ],
)
def test_a_solver_stands_for_the_nearest_method(options, method):
    model = tw.LogisticRegression(max_iter=1000, **options).fit(*two_classes())
    assert model.method_ == method
    assert model.certificate_.holds


@pytest.mark.parametrize("ratio", [0.0, 1.0])
@pytest.mark.parametrize("scaling", [1, 5])
def test_liblinear_penalises_the_intercept_as_scikit_learns_does(ratio, scaling):
    X, y = two_classes()
    shared = {"C": 0.1, "l1_ratio": ratio, "solver": "liblinear", "intercept_scaling": scaling}
    ours = tw.LogisticRegression(tol=1e-12, **shared).fit(X + 2, y)
    theirs = Theirs(tol=1e-10, max_iter=10_000, random_state=0, **shared).fit(X + 2, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4)


def test_liblinear_gives_double_precision_as_scikit_learns_does():
    X, y = two_classes()
    single = X.astype(np.float32)
    for solver, dtype in [("liblinear", np.float64), ("newton-cg", np.float32)]:
        model = tw.LogisticRegression(solver=solver).fit(single, y)
        assert model.coef_.dtype == dtype


@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize("ratio", [0.5, 1.0])
def test_l1_of_two_classes_and_of_three_is_scikit_learns(labels, ratio):
    X, y = load_iris(return_X_y=True)
    X, y = StandardScaler().fit_transform(X), np.minimum(y, labels - 1)
    shared = {"C": 0.2, "l1_ratio": ratio, "max_iter": 20_000}
    ours = tw.LogisticRegression(tol=1e-10, **shared).fit(X, y)
    theirs = Theirs(tol=1e-9, solver="saga", random_state=0, **shared).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-4)


@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize(
    "options", [{}, {"fit_intercept": False}, {"solver": "liblinear", "intercept_scaling": 3.0}]
)
def test_a_warm_start_begins_where_the_last_fit_ended(labels, options):
    X, y = load_iris(return_X_y=True)
    if labels == 2 or options.get("solver") == "liblinear":
        y = y > 0
    model = tw.LogisticRegression(warm_start=True, **options).fit(X, y)
    last = model.runs_[0].w
    model.sparsify().fit(X, y)
    if labels == 2 or options:
        np.testing.assert_allclose(model.runs_[0].w0, last, rtol=1e-12)
    assert model.n_iter_[0] == 0
    assert isinstance(model.coef_, np.ndarray)


@pytest.mark.parametrize(
    ("penalty", "options", "same"),
    [
        ("l2", {"C": 0.3}, {"C": 0.3}),
        ("l1", {"C": 0.3, "l1_ratio": 1.0}, {"C": 0.3, "l1_ratio": 1.0}),
        ("elasticnet", {"C": 0.3, "l1_ratio": 0.5}, {"C": 0.3, "l1_ratio": 0.5}),
        (None, {}, {"C": np.inf}),
    ],
)
def test_the_old_way_to_name_a_penalty_is_read_and_warned_of(penalty, options, same):
    X, y = two_classes()
    with pytest.warns(FutureWarning, match="leave penalty out and write that"):
        old = tw.LogisticRegression(penalty, max_iter=1000, **options).fit(X, y)
    new = tw.LogisticRegression(max_iter=1000, **same).fit(X, y)
    np.testing.assert_array_equal(old.coef_, new.coef_)


@pytest.mark.filterwarnings("ignore:penalty=.* is scikit-learn's old way:FutureWarning")
@pytest.mark.parametrize(
    ("penalty", "options", "same", "message"),
    [
        ("l1", {"l1_ratio": 0.0}, {"l1_ratio": 1.0}, "^l1_ratio=0 has no effect beside penalty"),
        ("l2", {"l1_ratio": 0.5}, {}, "^l1_ratio=0.5 has no effect beside penalty='l2', which is"),
        (None, {"C": 4.0}, {"C": np.inf}, "^C=4 has no effect beside penalty=None"),
        (
            None, {"C": 4.0, "l1_ratio": 0.5}, {"C": np.inf},
            "^C=4 and l1_ratio=0.5 have no effect beside penalty=None",
        ),
    ],
)  # fmt: skip
def test_what_the_old_way_overrides_is_warned_of(penalty, options, same, message):
    X, y = two_classes()
    with pytest.warns(UserWarning, match=message):
        old = tw.LogisticRegression(penalty, max_iter=1000, **options).fit(X, y)
    new = tw.LogisticRegression(max_iter=1000, **same).fit(X, y)
    np.testing.assert_array_equal(old.coef_, new.coef_)


def test_l1_ratio_none_is_read_as_zero_and_warned_of():
    X, y = two_classes()
    with pytest.warns(FutureWarning, match="l1_ratio=None is read as 0"):
        old = tw.LogisticRegression(l1_ratio=None).fit(X, y)
    np.testing.assert_array_equal(old.coef_, tw.LogisticRegression().fit(X, y).coef_)


def test_threads_are_those_of_n_jobs(monkeypatch):
    import thalweg.estimators.logistic_regression as module

    seen = []

    class Spy(module.LinearProblem):
        def __init__(self, *args, **options):
            seen.append(options["threads"])
            super().__init__(*args, **options)

    monkeypatch.setattr(module, "LinearProblem", Spy)
    for n_jobs in (None, 1, 2):
        tw.LogisticRegression(n_jobs=n_jobs).fit(*two_classes())
    assert seen == [None, 1, 2]


def test_an_impossible_budget_names_the_distance_the_cause_and_the_cure():
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.warns(ConvergenceWarning) as caught:
        model = tw.LogisticRegression(max_iter=5).fit(X, y)
    text = str(caught[0].message)
    assert text == model.runs_[0].reason
    for part in ("iteration limit", "duality gap =", "after 5 iterations", "Cause: κ = "):
        assert part in text, part


@pytest.mark.parametrize("labels", [2, 3])
def test_a_class_without_weight_is_never_predicted(labels):
    X, y = load_iris(return_X_y=True)
    y = np.minimum(y, labels - 1)
    model = tw.LogisticRegression().fit(X, y, sample_weight=(y > 0).astype(float))
    assert model.classes_.tolist() == list(range(labels))
    assert 0 not in model.predict(X)


REFUSED = {
    "dual": ({"dual": True}, "dual must not be True here: it is for solver='liblinear'"),
    "dual l1": (
        {"dual": True, "solver": "liblinear", "l1_ratio": 1.0},
        "dual must not be True here",
    ),
    "no penalty": ({"C": np.inf, "solver": "liblinear"}, "'liblinear' here: it needs a finite C"),
    "both": ({"solver": "sag", "method": "saga"}, "method must be 'auto' where solver='sag'"),
    "newton l1": ({"l1_ratio": 0.5, "solver": "newton-cg"}, "newton-cg needs a smooth objective"),
    "no ratio": (
        {"penalty": "elasticnet", "l1_ratio": None},
        "l1_ratio must be given for penalty='elasticnet'",
    ),
}


@pytest.mark.parametrize(("options", "message"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_honoured_is_refused(options, message):
    with pytest.raises(tw.InputError, match=message):
        tw.LogisticRegression(**options).fit(*two_classes())


def test_liblinear_with_three_classes_is_refused():
    with pytest.raises(tw.InputError, match="Only binary classification is supported by solver="):
        tw.LogisticRegression(solver="liblinear").fit(*load_iris(return_X_y=True))


def test_a_warm_start_with_other_features_is_refused():
    X, y = two_classes()
    model = tw.LogisticRegression(warm_start=True).fit(X, y)
    with pytest.raises(tw.InputError, match="as the last fit, which had 7 coefficients, not 6"):
        model.fit(X[:, :5], y)
