"""positive, bounds and penalty_weight of estimators, beside scipy, scikit-learn and definitions."""

import itertools

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse
import sklearn.linear_model as theirs
from sklearn.base import clone

import thalweg as tw

POSITIVE = [
    tw.Lasso(alpha=0.05, positive=True, tol=1e-10),
    tw.ElasticNet(alpha=0.1, l1_ratio=0.3, positive=True, tol=1e-10),
    tw.Ridge(alpha=0.5, positive=True, tol=1e-10),
    tw.LinearRegression(positive=True, tol=1e-10),
]


def data(seed, n=60, p=8, offset=0.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) + offset
    y = (X - offset) @ (rng.standard_normal(p) * (rng.random(p) < 0.6)) + rng.standard_normal(n)
    return X, y, rng.integers(0, 3, n).astype(float)


@pytest.mark.parametrize("ours", POSITIVE, ids=repr)
@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_positive_coefficients_are_those_of_every_active_set(ours, offset, intercept, seed):
    """All supports are tried: the best that is optimal on its own, and non-negative, is it."""
    if offset and not intercept:
        return
    X, y, s = data(seed, p=5, offset=offset)
    model = ours.set_params(fit_intercept=intercept).fit(X, y, s)
    c = s / s.sum()
    Z, t = (X - c @ X, y - c @ y) if intercept else (X, y)
    alpha = getattr(model, "alpha", 0.0)
    ratio = {"Lasso": 1.0, "ElasticNet": 0.3}.get(type(model).__name__, 0.0)
    alpha = alpha / s.sum() if isinstance(model, tw.Ridge) else alpha
    H, q = (Z.T * c) @ Z + alpha * (1 - ratio) * np.eye(5), (Z.T * c) @ t - alpha * ratio
    best, least = np.zeros(5), 0.0
    for size in range(1, 6):
        for S in itertools.combinations(range(5), size):
            S = np.array(S)
            w = np.zeros(5)
            w[S] = np.linalg.solve(H[np.ix_(S, S)], q[S])
            value = 0.5 * w @ H @ w - q @ w
            if np.all(w >= 0.0) and value < least:
                best, least = w, value
    np.testing.assert_allclose(model.coef_, best, atol=1e-6)
    assert model.certificate_.holds
    assert model.certificate_.gap is not None


@pytest.mark.parametrize("ours", POSITIVE, ids=repr)
def test_positive_of_many_features_in_any_storage(ours):
    X, y, s = data(5, 30, 80)
    X *= np.random.default_rng(0).random(X.shape) < 0.4
    for dtype in (np.float32, np.float64):
        for stored in (np.asarray, scipy.sparse.csr_array):
            model = ours.set_params(tol=1e-5).fit(stored(X.astype(dtype)), y, s)
            assert model.coef_.dtype == dtype
            assert model.coef_.min() >= 0.0
            assert model.certificate_.holds


def test_ridge_takes_the_solvers_that_scikit_learn_does():
    X, y, _ = data(0)
    assert tw.Ridge(positive=True, solver="lbfgs").fit(X, y).coef_.min() >= 0.0
    with pytest.raises(tw.InputError, match="does not support positive fitting"):
        tw.Ridge(positive=True, solver="svd").fit(X, y)
    with pytest.raises(tw.InputError, match="must not be 'lbfgs' here: it is for positive=True"):
        tw.Ridge(solver="lbfgs").fit(X, y)


def test_several_targets_each_keep_their_bounds():
    X, y, s = data(0)
    Y = np.column_stack([y, -y])
    for ours in POSITIVE:
        model = ours.set_params(fit_intercept=True, tol=1e-10).fit(X, Y, s)
        for k, sign in enumerate((1.0, -1.0)):
            alone = clone(ours).fit(X, sign * y, s)
            np.testing.assert_allclose(model.coef_[k], alone.coef_, atol=1e-7)
        assert model.coef_.min() >= 0.0
    model = tw.Ridge(method="cholesky", bounds=(0, None))
    with pytest.raises(tw.InputError, match="cholesky knows no penalties or bounds by column"):
        model.fit(X, Y)


@pytest.mark.parametrize("seed", range(3))
def test_bounds_of_least_squares_are_scipys(seed):
    X, y, _ = data(seed, offset=100.0)
    low, high = -0.2 * np.arange(8) / 8, np.full(8, 0.3)
    model = tw.LinearRegression(bounds=(low, high), tol=1e-12).fit(X, y)
    best = scipy.optimize.lsq_linear(X - X.mean(0), y - y.mean(), (low, high), method="bvls")
    np.testing.assert_allclose(model.coef_, best.x, atol=1e-7)
    fixed = tw.LinearRegression(bounds=(0.25, 0.25)).fit(X, y)
    assert fixed.coef_.tolist() == [0.25] * 8


@pytest.mark.parametrize("ratio", [1.0, 0.4])
def test_weights_are_those_of_scaled_columns(ratio):
    """With π > 0 and l1 alone, π‖w‖ is the lasso of x/π; of l2 a longer X says what it is."""
    X, y, s = data(2)
    weight = np.array([0.5, 1.0, 2.0, 4.0, 0.25, 1.0, 3.0, 1.0])
    model = tw.ElasticNet(alpha=0.1, l1_ratio=ratio, penalty_weight=weight, tol=1e-10).fit(X, y, s)
    c = s / s.sum()
    l1, l2 = 0.1 * ratio * weight, 0.1 * (1 - ratio) * weight
    Z, t = X - c @ X, y - c @ y
    H, q = (Z.T * c) @ Z + np.diag(l2), (Z.T * c) @ t
    w = np.zeros(8)
    for _ in range(20_000):  # proximal gradient, long
        v = w - (H @ w - q) / np.linalg.eigvalsh(H)[-1]
        w = np.sign(v) * np.maximum(np.abs(v) - l1 / np.linalg.eigvalsh(H)[-1], 0.0)
        if np.abs(w - model.coef_).max() < 1e-9:
            break
    np.testing.assert_allclose(model.coef_, w, atol=1e-7)
    if ratio == 1.0:
        scaled = theirs.Lasso(alpha=0.1, tol=1e-12, max_iter=100_000).fit(X / weight, y, s)
        np.testing.assert_allclose(model.coef_, scaled.coef_ / weight, atol=1e-6)


def test_a_column_without_weight_is_out_of_the_penalty():
    """Its slope at the optimum is zero, as that of an intercept."""
    X, y, _ = data(3, 80, 6)
    weight = [0.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    strong = {"penalty_weight": weight, "tol": 1e-10}
    for model in (
        tw.Lasso(alpha=100.0, **strong), tw.Ridge(alpha=1e9, **strong),
        tw.ElasticNet(alpha=100.0, **strong),
    ):  # fmt: skip
        fit = model.fit(X, y)
        alone = tw.LinearRegression(tol=1e-12).fit(X[:, :1], y)
        np.testing.assert_allclose(fit.coef_[0], alone.coef_[0], atol=1e-5)
        assert np.abs(fit.coef_[1:]).max() < 1e-6
        assert fit.certificate_.holds
    counts = np.random.default_rng(0).poisson(np.exp(0.5 * X[:, 0]))
    fit = tw.PoissonRegressor(alpha=1e7, **strong).fit(X, counts)
    alone = tw.PoissonRegressor(alpha=0.0, tol=1e-12).fit(X[:, :1], counts)
    np.testing.assert_allclose(fit.coef_[0], alone.coef_[0], atol=1e-5)
    fit = tw.LogisticRegression(C=1e-9, **strong).fit(X, y > 0)
    alone = tw.LogisticRegression(C=np.inf, tol=1e-12).fit(X[:, :1], y > 0)
    np.testing.assert_allclose(fit.coef_[0, 0], alone.coef_[0, 0], atol=1e-5)


@pytest.mark.parametrize(
    "model",
    [
        tw.LogisticRegression(bounds=(-0.1, 0.3)),
        tw.LogisticRegression(C=0.1, l1_ratio=1.0, bounds=(0, None)),
        tw.PoissonRegressor(bounds=(-0.1, 0.3)),
        tw.GammaRegressor(alpha=0, bounds=(0, 0.2)),
        tw.TweedieRegressor(power=1.5, bounds=(None, 0)),
    ],
    ids=repr,
)
def test_other_losses_keep_their_bounds_and_are_optimal(model):
    X, y, s = data(4)
    labels = y > 0 if isinstance(model, tw.LogisticRegression) else np.exp(0.3 * y)
    fit = model.set_params(tol=1e-9).fit(X, labels, s)
    low, high = (np.inf * sign if end is None else end
                 for end, sign in zip(model.bounds, (-1, 1), strict=True))  # fmt: skip
    w = np.ravel(fit.coef_)
    assert fit.certificate_.holds
    assert np.all((w >= low) & (w <= high))
    assert np.any((w == low) | (w == high))
    free = type(model)(**{**model.get_params(), "bounds": (-1e6, 1e6)}).fit(X, labels, s)
    plain = type(model)(**{**model.get_params(), "bounds": None}).fit(X, labels, s)
    np.testing.assert_allclose(free.coef_, plain.coef_, atol=1e-4)


def test_classes_share_the_bounds_of_a_column():
    X, y, _ = data(4, 120)
    labels = np.digitize(y, [-1.0, 1.0])
    fit = tw.LogisticRegression(bounds=(-0.2, 0.2), penalty_weight=np.arange(1, 9)).fit(X, labels)
    assert fit.certificate_.holds
    assert np.abs(fit.coef_).max() == 0.2
    with pytest.raises(tw.InputError, match="it penalises the intercept as a column"):
        tw.LogisticRegression(solver="liblinear", bounds=(0, None)).fit(X, y > 0)


def test_a_warm_start_beyond_a_bound_begins_at_it():
    X, y, _ = data(0)
    model = tw.Lasso(alpha=0.01, warm_start=True).fit(X, y)
    assert model.coef_.min() < 0.0
    assert model.set_params(positive=True).fit(X, y).coef_.min() == 0.0
    np.testing.assert_allclose(
        model.coef_, tw.Lasso(alpha=0.01, positive=True).fit(X, y).coef_, atol=1e-4
    )


def test_what_says_nothing_changes_no_bit():
    X, y, s = data(0)
    for model in (tw.Lasso(alpha=0.05), tw.Ridge(), tw.ElasticNet(alpha=0.05)):
        plain = model.fit(X, y, s).coef_.copy()
        idle = model.set_params(bounds=(None, np.inf), penalty_weight=np.ones(8)).fit(X, y, s)
        assert idle.coef_.tolist() == plain.tolist()


def test_no_summary_within_bounds():
    X, y, _ = data(0)
    with pytest.raises(tw.InputError, match=r"without bounds, got positive=True: .*bootstrap"):
        tw.LinearRegression(positive=True).fit(X, y).summary(X, y)
    with pytest.raises(tw.InputError, match="without bounds, got bounds="):
        tw.PoissonRegressor(alpha=0, bounds=(0, 1)).fit(X, np.exp(y / 9)).summary(X, np.exp(y / 9))


def test_bounds_beside_positive():
    X, y, _ = data(0)
    assert tw.Lasso(alpha=0.01, positive=True, bounds=(-1, 0.2)).fit(X, y).coef_.max() == 0.2
    with pytest.raises(tw.InputError, match=r"bounds must reach zero beside positive=True"):
        tw.Lasso(positive=True, bounds=(-2, -1)).fit(X, y)
