import math

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import scipy.stats

import thalweg as tw

RNG = np.random.default_rng(0)
N = 120
X = RNG.standard_normal((N, 3)) * [1.0, 10.0, 0.1] + [0.0, 2000.0, 1.0]
Z = X @ [0.5, 0.02, 3.0] - 43.0
S, GROUPS = RNG.uniform(0.5, 2.0, N), RNG.integers(0, 12, N)
TARGETS = {
    "squared": Z + RNG.standard_normal(N),
    "logistic": np.where(RNG.random(N) < 1.0 / (1.0 + np.exp(-Z)), "yes", "no"),
    "classes": np.array(["a", "b", "c"])[np.digitize(Z + RNG.logistic(size=N), [-1.0, 1.0])],
    "counts": RNG.poisson(np.exp(0.5 * Z)).astype(float),
    "sizes": RNG.gamma(2.0, np.exp(0.5 * Z) / 2.0),
}
MODELS = {
    "squared": [tw.LinearRegression(tol=1e-13), tw.Ridge(alpha=0.0, tol=1e-13)],
    "logistic": [tw.LogisticRegression(C=np.inf, tol=1e-13)],
    "classes": [tw.LogisticRegression(C=np.inf, tol=1e-13)],
    "counts": [tw.PoissonRegressor(alpha=0.0, tol=1e-13)],
    "sizes": [
        tw.GammaRegressor(alpha=0.0, tol=1e-13),
        tw.TweedieRegressor(power=1.5, alpha=0.0, tol=1e-13),
    ],
}
EACH = [(model, TARGETS[kind]) for kind, models in MODELS.items() for model in models]


def test_least_squares_by_the_book():
    y = TARGETS["squared"]
    found = tw.LinearRegression(tol=1e-13).fit(X, y).summary(X, y)
    A = np.column_stack([X, np.ones(N)])
    beta = np.linalg.lstsq(A, y, rcond=None)[0]
    variance = np.sum((y - A @ beta) ** 2) / (N - 4)
    errors = np.sqrt(variance * np.diag(np.linalg.inv(A.T @ A)))
    np.testing.assert_allclose(found.coefficients[:, 0], beta, rtol=1e-8)
    np.testing.assert_allclose(found.standard_errors[:, 0], errors, rtol=1e-6)
    np.testing.assert_allclose(
        found.p_values[:, 0], 2 * scipy.stats.t(N - 4).sf(abs(beta / errors))
    )
    assert found.dispersion[0] == pytest.approx(variance)
    assert found.names == ("x0", "x1", "x2", "intercept")


@pytest.mark.parametrize(("model", "y"), EACH)
@pytest.mark.parametrize("covariance", ["classical", "HC0", "clustered"])
def test_what_rows_are_stored_as_and_a_row_without_weight_change_nothing(model, y, covariance):
    groups = GROUPS if covariance == "clustered" else None
    asked = {"covariance": covariance, "groups": groups}
    plain = model.fit(X, y, S).summary(X, y, S, **asked)
    sparse = scipy.sparse.csr_array(X)
    stored = model.fit(sparse, y, S).summary(sparse, y, S, **asked)
    np.testing.assert_allclose(stored.standard_errors, plain.standard_errors, rtol=1e-5)
    more = np.vstack([X, X[:5] + 1.0]), np.append(y, y[:5]), np.append(S, np.zeros(5))
    if groups is not None:
        asked["groups"] = np.append(groups, [99] * 5)
    longer = model.fit(*more).summary(*more, **asked)
    np.testing.assert_allclose(longer.standard_errors, plain.standard_errors, rtol=1e-5)
    assert longer.rows == N


@pytest.mark.parametrize(("model", "y"), EACH)
def test_a_weight_is_so_much_precision_and_not_so_many_rows(model, y):
    one, two = (model.fit(X, y, s * np.ones(N)).summary(X, y, s * np.ones(N)) for s in (1.0, 4.0))
    has_dispersion = one.dispersion is not None
    expected = one.standard_errors / (1.0 if has_dispersion else 2.0)
    np.testing.assert_allclose(two.standard_errors, expected, rtol=1e-5)
    robust = [model.summary(X, y, s * np.ones(N), covariance="HC0") for s in (1.0, 4.0)]
    np.testing.assert_allclose(*(each.standard_errors for each in robust), rtol=1e-6)


def test_an_offset_is_a_column_with_the_coefficient_one():
    y, exposure = TARGETS["counts"], RNG.uniform(0.5, 3.0, N)
    model = tw.PoissonRegressor(alpha=0.0, tol=1e-13)
    found = model.fit(X, y, offset=np.log(exposure)).summary(X, y, offset=np.log(exposure))
    rate = model.fit(X, y / exposure, exposure).summary(X, y / exposure, exposure)
    np.testing.assert_allclose(found.standard_errors, rate.standard_errors, rtol=1e-6)


def test_several_targets_are_told_one_by_one():
    y = TARGETS["squared"]
    Y = np.column_stack([y, Z**2])
    model = tw.LinearRegression(tol=1e-13).fit(X, Y)
    both, first = model.summary(X, Y), tw.LinearRegression(tol=1e-13).fit(X, y).summary(X, y)
    assert both.equations == ("target 0", "target 1")
    np.testing.assert_allclose(both.standard_errors[:, :1], first.standard_errors, rtol=1e-8)
    with pytest.raises(tw.InputError, match="predict needs a summary of one target"):
        both.predict(X)


def test_names_are_those_of_the_frame_and_classes_stand_beside_the_first():
    frame = pd.DataFrame(X, columns=["age", "year", "dose"])
    model = tw.LogisticRegression(C=np.inf, tol=1e-13).fit(frame, TARGETS["classes"])
    found = model.summary(frame, TARGETS["classes"])
    assert found.names == ("age", "year", "dose", "intercept")
    assert found.equations == ("b", "c")
    expected = model.coef_[1:] - model.coef_[0]
    np.testing.assert_allclose(found.coefficients[:3].T, expected)
    assert "c: dose" in str(found)


def test_intervals_cover_what_they_say():
    """Of 400 experiments with normal errors 95 % cover each coefficient, within 4 deviations."""
    rng, covered = np.random.default_rng(1), np.zeros(3)
    A, beta = rng.standard_normal((25, 2)), np.array([1.0, -2.0])
    for _ in range(400):
        y = A @ beta + 0.5 + rng.standard_normal(25)
        low, high = tw.LinearRegression().fit(A, y).summary(A, y).intervals[:, :, 0]
        covered += (low <= [1.0, -2.0, 0.5]) & (high >= [1.0, -2.0, 0.5])
    assert np.all(np.abs(covered - 380.0) <= 4.0 * math.sqrt(400 * 0.95 * 0.05))


def test_a_prediction_has_an_interval():
    y = TARGETS["squared"]
    model = tw.LinearRegression(tol=1e-13).fit(X, y)
    mean, (low, high) = model.summary(X, y).predict(X)
    _, (least, most) = model.summary(X, y).predict(X, observations=True)
    np.testing.assert_allclose(mean, model.predict(X), rtol=1e-9)
    assert np.all((least < low) & (low < mean) & (mean < high) & (high < most))
    held = np.mean((least <= y) & (y <= most))
    assert abs(held - 0.95) < 0.06
    rates = tw.PoissonRegressor(alpha=0.0, tol=1e-13).fit(X, TARGETS["counts"])
    mean, ends = rates.summary(X, TARGETS["counts"]).predict(X)
    np.testing.assert_allclose(mean, rates.predict(X), rtol=1e-8)
    assert ends.min() > 0.0


@pytest.mark.parametrize(
    ("model", "kind", "sentence"),
    [
        (tw.Ridge(alpha=1.0), "squared", r"got alpha=1.0: .*fit with alpha=0, or use \.bootstrap"),
        (tw.Lasso(alpha=0.1), "squared", r"got alpha=0.1: .*use \.bootstrap"),
        (tw.RidgeCV(), "squared", r"without a penalty, got alpha="),
        (tw.LogisticRegression(C=2.0), "logistic", r"got C=2.0: .*fit with C=np.inf"),
        (tw.PoissonRegressor(), "counts", "got alpha=1.0"),
        (tw.LinearSVC(), "logistic", r"the loss of LinearSVC is not of: use \.bootstrap"),
        (tw.RidgeClassifier(), "logistic", "the loss of RidgeClassifier"),
    ],
)
def test_what_has_no_standard_errors_is_a_sentence(model, kind, sentence):
    y = TARGETS[kind]
    with pytest.raises(tw.InputError, match=sentence):
        model.fit(X, y).summary(X, y)


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"covariance": "HC9"}, "covariance must be a known name, got 'HC9'"),
        ({"covariance": "clustered"}, "groups must be given with covariance='clustered'"),
        ({"groups": GROUPS}, "and with no other: got covariance='classical'"),
        ({"covariance": "clustered", "groups": GROUPS[:3]}, "groups must have 120 labels"),
        (
            {"covariance": "clustered", "groups": np.zeros(N)},
            "must be two clusters or more, got one",
        ),
        ({"level": 1.0}, "level must be"),
        ({"offset": np.zeros(N)}, "LinearRegression is fitted without one"),
    ],
)
def test_bad_questions_are_sentences(asked, sentence):
    y = TARGETS["squared"]
    with pytest.raises(tw.InputError, match=sentence):
        tw.LinearRegression().fit(X, y).summary(X, y, **asked)


def test_bad_data_are_sentences():
    y, labels = TARGETS["squared"], TARGETS["logistic"]
    model = tw.LinearRegression().fit(X, y)
    with pytest.raises(tw.InputError, match=r"got one that is up to .* standard errors away"):
        model.summary(X, y + X[:, 0])
    with pytest.raises(tw.InputError, match="more rows than coefficients, got 4 rows and 4"):
        tw.LinearRegression().fit(X[:4], y[:4]).summary(X[:4], y[:4])
    copies = np.column_stack([X, X[:, 0]])
    with pytest.raises(tw.InputError, match="independent of each other"):
        tw.LinearRegression().fit(copies, y).summary(copies, y)
    classes = tw.LogisticRegression(C=np.inf).fit(X, labels)
    with pytest.raises(tw.InputError, match="must hold the classes of the fit, got maybe besides"):
        classes.summary(X, np.append(labels[:-1], "maybe"))
    with pytest.raises(tw.InputError, match="covariance='HC3' needs a squared loss"):
        classes.summary(X, labels, covariance="HC3")


@pytest.mark.parametrize(
    ("model", "kind"),
    [
        (tw.LinearRegression(), "squared"), (tw.Lasso(alpha=0.05), "squared"),
        (tw.LogisticRegression(), "classes"), (tw.LinearSVC(), "logistic"),
    ],
)  # fmt: skip
def test_a_bootstrap_is_of_any_fit(model, kind):
    y, A = TARGETS[kind], (X - X.mean(axis=0)) / X.std(axis=0)
    found = model.fit(A, y).bootstrap(A, y, samples=40, seed=1)
    assert found.coefficients.shape == found.standard_errors.shape
    low, high = found.intervals
    assert np.all(low <= high)
    again = model.fit(A, y).bootstrap(A, y, samples=40, seed=1)
    assert np.array_equal(again.intervals, found.intervals)
    if isinstance(model, tw.LinearRegression):
        exact = model.summary(A, y, covariance="HC1").standard_errors
        np.testing.assert_allclose(found.standard_errors, exact, rtol=0.5)


def test_bad_bootstraps_are_sentences():
    y = TARGETS["squared"]
    model = tw.LinearRegression().fit(X, y)
    with pytest.raises(tw.InputError, match="samples must be"):
        model.bootstrap(X, y, samples=3)
    rare = np.where(np.arange(N) == 0, "c", TARGETS["logistic"])
    few = tw.LogisticRegression().fit(X[:, :1], rare)
    with pytest.raises(tw.InputError, match="must hold every class in each draw"):
        few.bootstrap(X[:, :1], rare, samples=20)
