"""Support vector regression against liblinear's objective, its optima and its intercept."""

import warnings

import numpy as np
import pytest
import scipy.sparse
import sklearn.svm

import thalweg as tw

LINES, SQUARES = "epsilon_insensitive", "squared_epsilon_insensitive"


def drawn(seed, n=80, p=6, offset=0.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) + offset
    return X, X @ rng.standard_normal(p) + rng.standard_t(2, n)


def objective(model, X, y, weights=1.0):
    """What liblinear minimises."""
    b = float(np.ravel(model.intercept_)[0])
    outside = np.maximum(np.abs(X @ model.coef_ + b - y) - model.epsilon, 0.0)
    loss = outside if model.loss == LINES else outside**2
    penalty = model.coef_ @ model.coef_ + (b / model.intercept_scaling) ** 2
    return model.C * np.sum(weights * loss) + 0.5 * penalty


def theirs(X, y, weights=None, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = sklearn.svm.LinearSVR(tol=1e-9, max_iter=50_000, random_state=0, **options)
        return model.fit(X, y, sample_weight=weights)


def test_by_hand():
    # Slope 5 would fit within ½ but for the penalty: C = 1 pulls it to the corner at 2.5.
    X, y = np.array([[-1.0], [0.0], [1.0]]), np.array([-3.0, 0.5, 3.0])
    model = tw.LinearSVR(epsilon=0.5, C=10.0).fit(X, y)
    np.testing.assert_allclose([model.coef_[0], model.intercept_[0]], [2.5, 0.0], atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("loss", [LINES, SQUARES])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_coefficients_are_scikit_learns(seed, loss, fit_intercept):
    X, y = drawn(seed)
    weights = np.random.default_rng(seed).integers(0, 3, len(y)).astype(float)
    options = {
        "C": 10.0 ** (seed - 3), "epsilon": 0.1 * (seed % 2), "loss": loss,
        "fit_intercept": fit_intercept, "intercept_scaling": 1.0 + seed,
    }  # fmt: skip
    for each in (None, weights):
        ours = tw.LinearSVR(**options).fit(X, y, sample_weight=each)
        liblinear = theirs(X, y, each, **options)
        seen = 1.0 if each is None else each
        assert ours.certificate_.holds
        assert objective(ours, X, y, seen) <= objective(liblinear, X, y, seen) * (1.0 + 1e-6)
        np.testing.assert_allclose(ours.coef_, liblinear.coef_, atol=2e-3)
        np.testing.assert_allclose(ours.intercept_, liblinear.intercept_, atol=2e-3)


@pytest.mark.parametrize("loss", [LINES, SQUARES])
@pytest.mark.parametrize("shape", [(30, 60), (80, 6)])
def test_all_methods_and_storages_end_alike(loss, shape):
    X, y = drawn(0, *shape)
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    options = {"loss": loss, "epsilon": 0.1, "C": 0.5, "tol": 1e-11, "max_iter": 20_000}
    first = tw.LinearSVR(**options).fit(X, y).coef_
    dual = tw.LinearSVR(**options, dual=True).fit(X, y)
    assert dual.method_ == "dual-ascent"
    np.testing.assert_allclose(dual.coef_, first, atol=1e-5)
    sparse = tw.LinearSVR(**options).fit(scipy.sparse.csr_array(X), y)
    np.testing.assert_allclose(sparse.coef_, first, atol=1e-7)


@pytest.mark.parametrize("loss", [LINES, SQUARES])
def test_degenerate_data_end_in_a_proof(loss):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 3, (40, 2)), np.full(40, 3.0)]).astype(float)
    for y in (np.full(40, 7.0), X @ [1.0, 2.0, 0.0], np.zeros(40)):
        for epsilon in (0.0, 0.1, 100.0):
            model = tw.LinearSVR(loss=loss, C=100.0, epsilon=epsilon).fit(X, y)
            assert np.all(np.isfinite(model.coef_))
            assert epsilon < 100.0 or not model.coef_.any()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"epsilon": -1.0}, "epsilon must not be -1.0 here"),
        ({"dual": False}, "dual must not be False here"),
        ({"dual": True, "method": "interior-point"}, "dual must not be True here"),
    ],
)
def test_what_cannot_be_honoured_is_refused(options, says):
    with pytest.raises(tw.InputError, match=says):
        tw.LinearSVR(**options).fit(*drawn(0))
