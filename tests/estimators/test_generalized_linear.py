"""What the three regressors of means e^z share, against definitions by another tool."""

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse
import sklearn.linear_model
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import mean_tweedie_deviance

import thalweg as tw

N, P = 120, 4
KINDS = {
    "poisson": (tw.PoissonRegressor, sklearn.linear_model.PoissonRegressor, {}, 1.0),
    "gamma": (tw.GammaRegressor, sklearn.linear_model.GammaRegressor, {}, 2.0),
    "tweedie": (
        tw.TweedieRegressor, sklearn.linear_model.TweedieRegressor, {"power": 1.6}, 1.6,
    ),
    "least squares": (
        tw.TweedieRegressor, sklearn.linear_model.TweedieRegressor, {"power": 0.0}, 0.0,
    ),
}  # fmt: skip
every_kind = pytest.mark.parametrize("kind", KINDS)


def data(kind, seed=0):
    """X, y, weights and the exposures of each row."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, P)) * np.logspace(-0.5, 0.5, P)
    exposure = rng.uniform(0.2, 3.0, N)
    mean = exposure * np.exp(0.5 + 0.4 * X[:, 0] - 0.2 * X[:, 1])
    y = {
        "poisson": lambda: rng.poisson(mean),
        "gamma": lambda: rng.gamma(2.0, mean / 2.0),
        "tweedie": lambda: rng.poisson(mean) * rng.gamma(2.0, 1.0, N),
        "least squares": lambda: mean + rng.standard_normal(N),
    }[kind]()
    return X, y.astype(float), rng.uniform(0.0, 2.0, N), exposure


def objective(kind, model, X, y, s, offset=0.0):
    """The objective in the words of scikit-learn's documentation, at the fitted coefficients."""
    power = KINDS[kind][3]
    z = X @ model.coef_ + model.intercept_ + offset
    deviance = mean_tweedie_deviance(y, np.exp(z) if power else z, sample_weight=s, power=power)
    w, r = model.coef_, model.l1_ratio
    return deviance / 2 + model.alpha * (r * np.abs(w).sum() + (1 - r) * (w @ w) / 2)


@every_kind
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("alpha", [0.0, 0.01, 1.0])
def test_coefficients_are_scikit_learns(kind, fit_intercept, alpha):
    ours, theirs, options, _ = KINDS[kind]
    X, y, s, _ = data(kind)
    options = {**options, "alpha": alpha, "fit_intercept": fit_intercept}
    mine = ours(**options, tol=1e-12).fit(X, y, sample_weight=s)
    other = theirs(**options, tol=1e-9, max_iter=10_000).fit(X, y, sample_weight=s)
    np.testing.assert_allclose(mine.coef_, other.coef_, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(mine.intercept_, other.intercept_, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(mine.predict(X), other.predict(X), rtol=1e-4, atol=1e-5)
    assert mine.score(X, y, s) == pytest.approx(other.score(X, y, s), abs=1e-6)
    assert mine.certificate_.holds
    assert (mine.certificate_.gap is None) == (alpha == 0.0)


@every_kind
@pytest.mark.parametrize("l1_ratio", [0.0, 0.5, 1.0])
def test_the_gap_bounds_the_distance_to_the_optimum_of_the_documented_objective(kind, l1_ratio):
    ours, _, options, _ = KINDS[kind]
    X, y, s, exposure = data(kind)
    offset = np.log(exposure)
    options = {**options, "alpha": 0.05, "l1_ratio": l1_ratio}
    rough = ours(**options, tol=1e-2).fit(X, y, s, offset=offset)
    fine = ours(**options, tol=1e-12).fit(X, y, s, offset=offset)
    best, found = (objective(kind, model, X, y, s, offset) for model in (fine, rough))
    # The problem is stated per unit of the weights that the offset makes of the samples'.
    power = KINDS[kind][3]
    unit = s @ exposure ** (2.0 - power) / s.sum() if power else 1.0
    assert -1e-12 <= found - best <= unit * rough.certificate_.gap + 1e-12
    # And no point beside it is lower.
    rng = np.random.default_rng(1)
    kept = fine.coef_.copy()
    for _ in range(50):
        fine.coef_ = kept + 1e-3 * rng.standard_normal(P)
        assert objective(kind, fine, X, y, s, offset) >= best


@every_kind
@pytest.mark.parametrize("method", ["auto", "lbfgs", "newton"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_without_a_penalty_coefficients_that_the_data_leave_open_are_the_smallest(
    kind, fit_intercept, method
):
    ours, _, options, power = KINDS[kind]
    rng = np.random.default_rng(3)
    X, scores = rng.standard_normal((5, 9)), rng.uniform(-1.0, 1.0, 5)
    options = {**options, "alpha": 0.0, "fit_intercept": fit_intercept, "tol": 1e-14}
    model = ours(**options, method=method).fit(X, np.exp(scores) if power else scores)
    # Every target is met, by the pseudoinverse with the least ‖w‖; an intercept is not in it.
    Z = X - fit_intercept * X.mean(axis=0)
    smallest = np.linalg.pinv(Z) @ (scores - fit_intercept * scores.mean())
    np.testing.assert_allclose(model.coef_, smallest, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(X @ model.coef_ + model.intercept_, scores, atol=1e-5)


def test_with_l1_alone_nothing_is_left_open_and_nothing_warned_of():
    X, y, s, _ = data("poisson")
    X = np.column_stack([X, X[:, 0]])
    model = tw.PoissonRegressor(alpha=0.05, l1_ratio=1.0, tol=1e-10).fit(X, y, s)
    assert model.certificate_.holds
    assert model.certificate_.gap is not None


@every_kind
def test_an_offset_is_added_to_the_scores(kind):
    ours, _, options, power = KINDS[kind]
    X, y, s, exposure = data(kind)
    offset = np.log(exposure)
    model = ours(**options, alpha=0.1, tol=1e-12).fit(X, y, s, offset=offset)

    def slow(v):
        z = X @ v[:P] + v[P] + offset
        mean = np.exp(np.clip(z, -50, 50)) if power else z
        deviance = mean_tweedie_deviance(y, mean, sample_weight=s, power=power)
        return deviance / 2 + 0.05 * v[:P] @ v[:P]

    best = scipy.optimize.minimize(slow, np.zeros(P + 1), method="BFGS", options={"gtol": 1e-7}).x
    np.testing.assert_allclose(model.coef_, best[:P], atol=1e-4)
    assert model.intercept_ == pytest.approx(best[P], abs=1e-4)
    z = X @ model.coef_ + model.intercept_
    np.testing.assert_allclose(model.predict(X), np.exp(z) if power else z, rtol=1e-12)


@every_kind
def test_an_offset_that_all_have_moves_the_intercept_alone(kind):
    ours, _, options, _ = KINDS[kind]
    X, y, s, _ = data(kind)
    plain = ours(**options, alpha=0.1, tol=1e-12).fit(X, y, s)
    moved = ours(**options, alpha=0.1, tol=1e-12).fit(X, y, s, offset=np.full(N, 0.7))
    np.testing.assert_allclose(moved.coef_, plain.coef_, rtol=1e-5, atol=1e-7)
    assert moved.intercept_ == pytest.approx(plain.intercept_ - 0.7, abs=1e-6)


@every_kind
def test_a_weight_is_a_repetition(kind):
    ours, _, options, _ = KINDS[kind]
    X, y, _, exposure = data(kind)
    counts, offset = np.arange(N) % 3, np.log(exposure)
    model = ours(**options, alpha=0.1, tol=1e-12)
    weighted = model.fit(X, y, counts.astype(float), offset=offset).coef_
    repeated = [np.repeat(each, counts, axis=0) for each in (X, y, offset)]
    np.testing.assert_allclose(
        model.fit(*repeated[:2], offset=repeated[2]).coef_, weighted, rtol=1e-6, atol=1e-8
    )


@every_kind
def test_storages_and_dtypes_fit_alike(kind):
    ours, _, options, _ = KINDS[kind]
    X, y, s, _ = data(kind)
    X = np.where(np.abs(X) < 0.3, 0.0, X)
    dense = ours(**options, alpha=0.1).fit(X, y, s)
    sparse = ours(**options, alpha=0.1).fit(scipy.sparse.csc_array(X), y, s)
    single = ours(**options, alpha=0.1).fit(X.astype(np.float32), y.astype(np.float32), s)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(single.coef_, dense.coef_, rtol=1e-3, atol=1e-4)
    assert single.coef_.dtype == single.predict(X.astype(np.float32)).dtype == np.float32


@every_kind
def test_a_warm_start_begins_at_the_last_fit(kind):
    ours, _, options, _ = KINDS[kind]
    X, y, s, _ = data(kind)
    model = ours(**options, alpha=0.1, warm_start=True, method="lbfgs", tol=1e-8).fit(X, y, s)
    assert model.n_iter_ > 1
    assert model.fit(X, y, s).n_iter_ <= 1


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
@pytest.mark.parametrize("kind", ["poisson", "gamma", "tweedie"])
def test_targets_of_any_unit_are_reached_from_their_mean(kind, scale):
    ours, _, options, _ = KINDS[kind]
    X, y, s, _ = data(kind)
    plain = ours(**options, alpha=0.0, tol=1e-10).fit(X, y, s)
    model = ours(**options, alpha=0.0, tol=1e-10).fit(X, scale * y, s)
    np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-4, atol=1e-6)
    assert model.intercept_ == pytest.approx(plain.intercept_ + np.log(scale), abs=1e-4)


def test_score_is_the_share_of_the_deviance():
    X, y, s, _ = data("poisson")
    model = tw.PoissonRegressor(alpha=0.1).fit(X, y, s)

    def deviance(mean):
        return mean_tweedie_deviance(y, mean, sample_weight=s, power=1)

    at_mean = deviance(np.full(N, np.average(y, weights=s)))
    share = 1.0 - deviance(model.predict(X)) / at_mean
    assert model.score(X, y, s) == pytest.approx(share, rel=1e-12)


def test_solver_names_the_nearest_method():
    X, y, _, _ = data("poisson")
    assert tw.PoissonRegressor(solver="newton-cholesky").fit(X, y).method_ == "newton"
    with pytest.raises(tw.InputError, match="method must be 'auto' where solver='newton-cholesky'"):
        tw.PoissonRegressor(solver="newton-cholesky", method="lbfgs").fit(X, y)


@pytest.mark.parametrize(
    ("fit", "says"),
    [
        ({"y": -np.ones(N)}, "y must be at least 0 for the poisson loss, got -1.0 at position 0"),
        ({"y": np.zeros(N)}, "y must not be all zero for the poisson loss"),
        ({"offset": np.zeros(3)}, f"offset must have {N} entries, as X has rows, got shape"),
        ({"offset": np.full(N, 1e3)}, "offset must be a logarithm between −100 and 100, got one"),
        ({"offset": np.full(N, np.nan)}, "offset contains NaN"),
    ],
)
def test_what_cannot_be_is_refused(fit, says):
    X, y, _, _ = data("poisson")
    with pytest.raises(ValueError, match=says):
        tw.PoissonRegressor().fit(X, **{"y": y, **fit})


@pytest.mark.parametrize("method", ["sag", "sdca", "svrg", "saga", "iag", "sgd", "catalyst"])
def test_methods_that_step_by_a_bound_on_the_curvature_are_refused(method):
    X, y, _, _ = data("poisson")
    with pytest.raises(tw.InputError, match="a bound on ℓ″, which the poisson loss has not: use"):
        tw.PoissonRegressor(method=method).fit(X, y)


def test_a_fit_that_stops_early_says_so():
    X, y, _, _ = data("poisson")
    with pytest.warns(ConvergenceWarning, match="iteration limit"):
        tw.PoissonRegressor(max_iter=1, method="gd", tol=1e-12).fit(X, y)
