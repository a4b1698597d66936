import itertools

import numpy as np
import pytest
import scipy.sparse
import sklearn.datasets
import sklearn.linear_model

import thalweg as tw
from far_columns import OFFSETS, STORAGES, exact, fractions, within
from far_columns import matrix as far_matrix
from linear_data import BOUNDED
from thalweg.kernels.leaves import LEAF
from thalweg.kernels.losses import SQUARED_HINGE
from thalweg.objectives.linear import CLASSIFIERS, LinearProblem
from thalweg.objectives.one_score import OneScore

N, P, K, DELTA = 12, 4, 3, 0.7
L1, L2 = 0.03, 0.2
BINARY = ("logistic", "squared-hinge")


def data(loss, seed=0, n=N, p=P):
    """A sparse-ish matrix whose columns differ in mean and scale, and targets for the loss."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) * np.logspace(-1, 1, p) + np.linspace(0, 2, p)
    X *= rng.random((n, p)) < 0.7
    if loss in BINARY:
        return X, np.where(np.arange(n) % 3 == 0, "no", "yes")
    if loss == "multinomial":
        return X, np.arange(n) % K
    return X, 2 * rng.standard_normal(n)


def stored(X, storage):
    makers = {"C": np.ascontiguousarray, "F": np.asfortranarray, "csr": scipy.sparse.csr_array}
    return makers[storage](X)


def sample_weights(n=N):
    return np.arange(n, dtype=float) % 4


def slow_standards(X, c, centred):
    mean = c @ X
    deviation = np.sqrt(c @ (X - mean) ** 2)
    deviation[deviation < 1e-9 * (1 + np.abs(mean))] = 1.0
    return (mean if centred else 0 * mean), deviation


def slow_losses(loss, Z, y, delta=DELTA):
    """ℓ of every sample at the scores `Z`."""
    if loss == "multinomial":
        codes = np.unique(y, return_inverse=True)[1]
        shift = Z.max(axis=1)
        return shift + np.log(np.exp(Z - shift[:, None]).sum(axis=1)) - Z[np.arange(len(Z)), codes]
    if loss in BINARY:
        margin = np.where(y == np.unique(y)[1], 1.0, -1.0) * Z
        if loss == "logistic":
            return np.logaddexp(0, -margin)
        return np.maximum(0, 1 - margin) ** 2 / 2
    r = Z - y
    if loss == "huber":
        return np.where(np.abs(r) <= delta, r**2 / 2, delta * np.abs(r) - delta**2 / 2)
    return r**2 / 2


def slow_value(X, y, loss, w, *, l1, l2, fit_intercept, s=None, standardize=False, delta=DELTA):
    """F from its definition: features made explicitly, no pass, no flat tricks."""
    X = np.asarray(X, dtype=float)
    c = np.full(len(X), 1 / len(X)) if s is None else s / s.sum()
    if standardize:
        mean, deviation = slow_standards(X, c, fit_intercept)
        X = (X - mean) / deviation
    outputs = len(np.unique(y)) if loss == "multinomial" else 1
    W = w[: X.shape[1] * outputs].reshape(X.shape[1], outputs)
    b = w[X.shape[1] * outputs :] if fit_intercept else np.zeros(outputs)
    Z = X @ W + b
    losses = slow_losses(loss, Z if loss == "multinomial" else Z[:, 0], y, delta)
    return c @ losses + l2 / 2 * np.sum(W**2) + l1 * np.sum(np.abs(W))


def differences(f, w, h=1e-5):
    """Central differences of a function with values of any shape, one row a variable."""
    return np.array([(f(w + h * e) - f(w - h * e)) / (2 * h) for e in np.eye(len(w))])


# By hand: X, w, b give the scores 2·1 − 1·1 + ½ = 3/2, 0 + 2 + ½ = ½ − 2 = −3/2 and ½ (no feature).
HAND_X = np.array([[1.0, 1.0], [0.0, 2.0], [0.0, 0.0]])
HAND_W = np.array([2.0, -1.0, 0.5])
HAND = {
    # Targets 1, −1, 2: residuals ½, −½, −3/2, losses ⅛, ⅛, 9/8.
    "squared": ([1.0, -1.0, 2.0], 11 / 24),
    # δ = 1: the last is 1·3/2 − ½ = 1.
    "huber": ([1.0, -1.0, 2.0], 5 / 12),
    # Margins 3/2, 3/2, −½: only the last is short of 1, by 3/2.
    "squared-hinge": ([1, -1, -1], 3 / 8),
    # log(1 + e^−1.5) twice and log(1 + e^0.5) = 0.201413278, 0.201413278, 0.974076984.
    "logistic": ([1, -1, -1], 0.45896784671520385),
}


@pytest.mark.parametrize("loss", HAND)
def test_value_by_hand(loss):
    y, data_term = HAND[loss]
    plain = LinearProblem(HAND_X, y, loss)
    assert plain.value(HAND_W) == pytest.approx(data_term, rel=1e-14)
    both = LinearProblem(HAND_X, y, loss, l1=0.5, l2=0.2)
    # (0.2/2)·(4 + 1) + 0.5·(2 + 1) = 2; the intercept is free.
    assert both.value(HAND_W) == pytest.approx(data_term + 2.0, rel=1e-14)
    assert both.value_and_gradient(HAND_W)[0] == pytest.approx(data_term + 0.5, rel=1e-14)


def test_multinomial_value_by_hand():
    # W = 0 and b = (0, log 2, log 5): probabilities 1/8, 2/8, 5/8 for every sample.
    problem = LinearProblem(HAND_X, ["a", "b", "c"], "multinomial", l2=0.2)
    w = np.array([0, 0, 0, 0, 0, 0, 0, np.log(2), np.log(5)])
    expected = -(np.log(1 / 8) + np.log(2 / 8) + np.log(5 / 8)) / 3
    assert problem.value(w) == pytest.approx(expected, rel=1e-14)
    # The first row with x = (1, 1): scores −, and slopes p − e; so G₀ = (1/8 − 1, 2/8, 5/8)/3.
    gradient = problem.gradient(w)
    np.testing.assert_allclose(gradient[:3], [-7 / 24, 2 / 24, 5 / 24], rtol=1e-13)


def test_squared_gradient_by_hand():
    # Residuals ½, −½, −3/2: Xᵀr/3 = (½, ½ − 1)/3, plus 0.2·(2, −1); Σr/3 = −½.
    problem = LinearProblem(HAND_X, HAND["squared"][0], l2=0.2, l1=7.0)
    expected = [1 / 6 + 0.4, -1 / 6 - 0.2, -0.5]
    np.testing.assert_allclose(problem.gradient(HAND_W), expected, rtol=1e-14)


@pytest.mark.parametrize("storage", ["C", "F", "csr"])
@pytest.mark.parametrize("loss", BOUNDED)
def test_value_and_gradient_equal_a_slow_definition(loss, storage):
    X, y = data(loss)
    penalties = [(0.0, 0.0), (0.0, L2), (L1, 0.0), (L1, L2)]
    choices = itertools.product(penalties, (False, True), (False, True), (None, sample_weights()))
    rng = np.random.default_rng(1)
    for (l1, l2), fit_intercept, standardize, s in choices:
        problem = LinearProblem(
            stored(X, storage), y, loss, l1=l1, l2=l2, fit_intercept=fit_intercept,
            sample_weight=s, delta=DELTA, standardize=standardize,
        )  # fmt: skip
        w = rng.standard_normal(problem.dim)
        options = {"l2": l2, "fit_intercept": fit_intercept, "s": s, "standardize": standardize}

        def smooth(w, options=options):
            return slow_value(X, y, loss, w, l1=0.0, **options)

        case = f"{options}, l1={l1}"
        assert problem.value(w) == pytest.approx(
            slow_value(X, y, loss, w, l1=l1, **options), rel=1e-12
        ), case
        value, gradient = problem.value_and_gradient(w)
        assert value == pytest.approx(smooth(w), rel=1e-12), case
        np.testing.assert_allclose(
            gradient, differences(smooth, w), rtol=1e-6, atol=1e-7, err_msg=case
        )
        np.testing.assert_array_equal(problem.gradient(w), gradient)


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("storage", ["C", "csr"])
@pytest.mark.parametrize("loss", BOUNDED)
def test_hessian_vector_equals_differences_of_the_gradient(loss, storage, standardize):
    X, y = data(loss)
    for fit_intercept in (False, True):
        problem = LinearProblem(
            stored(X, storage), y, loss, l1=L1, l2=L2, fit_intercept=fit_intercept,
            sample_weight=sample_weights(), standardize=standardize,
        )  # fmt: skip
        rng = np.random.default_rng(2)
        w, v = rng.standard_normal(problem.dim), rng.standard_normal(problem.dim)
        rows = differences(problem.gradient, w, h=1e-6)
        np.testing.assert_allclose(problem.hessian_vector(w, v), rows.T @ v, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("storage", ["C", "csr"])
@pytest.mark.parametrize("loss", BOUNDED)
def test_coefficients_in_the_units_of_x_predict_the_same_scores(loss, storage):
    X, y = data(loss)
    problem = LinearProblem(stored(X, storage), y, loss, l2=L2, standardize=True)
    w = np.random.default_rng(3).standard_normal(problem.dim)
    mean, deviation = slow_standards(X, np.full(N, 1 / N), True)
    W, b = problem.split(w)
    expected = ((X - mean) / deviation) @ W + b
    coefficients, intercepts = problem.coefficients(w)
    np.testing.assert_allclose(X @ coefficients + intercepts, expected, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(problem.scores(w), expected, rtol=1e-11, atol=1e-12)


def test_standardizing_a_sparse_matrix_leaves_it_sparse():
    # Dense, this one would take 80 GB.
    X = scipy.sparse.random_array((100_000, 100_000), density=1e-6, rng=np.random.default_rng(0))
    problem = LinearProblem(X.tocsr(), np.ones(100_000), l2=1.0, standardize=True)
    assert problem.matrix.entries == X.nnz
    value, gradient = problem.value_and_gradient(problem.start)
    assert value == pytest.approx(0.5, rel=1e-11)
    np.testing.assert_allclose(gradient[:-1], 0.0, atol=1e-12)  # centred columns against ones
    assert gradient[-1] == pytest.approx(-1.0)


@pytest.mark.parametrize("storage", ["C", "csr"])
def test_a_large_mean_does_not_spoil_the_scale(storage):
    rng = np.random.default_rng(4)
    X = 1e3 + rng.standard_normal((50, 1))
    problem = LinearProblem(stored(X, storage), np.arange(50.0), standardize=True)
    coefficients, _ = problem.coefficients(np.array([1.0, 0.0]))
    assert coefficients[0] == pytest.approx(1 / X.std(), rel=1e-8)


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("storage", ["C", "csr"])
@pytest.mark.parametrize("constant", [0.0, 0.1, -3e6])
def test_a_constant_column_is_left_without_a_scale(constant, storage, fit_intercept):
    X, y = data("squared")
    X[:, 1] = constant
    problem = LinearProblem(
        stored(X, storage), y, l2=L2, standardize=True, fit_intercept=fit_intercept
    )
    w = np.ones(problem.dim)
    coefficients, _ = problem.coefficients(w)
    assert coefficients[1] == 1.0
    assert np.isfinite(coefficients).all()
    gradient = problem.gradient(w)
    slopes = problem.scores(w) - y
    expected = 0.0 if fit_intercept else constant * slopes.mean()
    assert gradient[1] == pytest.approx(expected + L2, rel=1e-8, abs=1e-8)


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("loss", BOUNDED)
def test_a_weight_of_zero_equals_leaving_the_sample_out(loss, standardize):
    X, y = data(loss)
    s = np.where(np.arange(N) < 9, 1.0 + np.arange(N), 0.0)
    kept = s > 0
    options = {"l1": L1, "l2": L2, "standardize": standardize}
    whole = LinearProblem(X, y, loss, sample_weight=s, **options)
    part = LinearProblem(X[kept], y[kept], loss, sample_weight=s[kept], **options)
    w = np.random.default_rng(4).standard_normal(whole.dim)
    assert whole.value(w) == pytest.approx(part.value(w), rel=1e-13)
    np.testing.assert_allclose(whole.gradient(w), part.gradient(w), rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(
        whole.hessian_vector(w, w), part.hessian_vector(w, w), rtol=1e-11, atol=1e-13
    )
    assert whole.smoothness == pytest.approx(part.smoothness, rel=1e-10)


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("loss", BOUNDED)
def test_whole_weights_equal_repeated_rows(loss, standardize):
    X, y = data(loss)
    s = 1 + np.arange(N) % 3
    options = {"l1": L1, "l2": L2, "standardize": standardize}
    weighted = LinearProblem(X, y, loss, sample_weight=s, **options)
    repeated = LinearProblem(np.repeat(X, s, axis=0), np.repeat(y, s), loss, **options)
    w = np.random.default_rng(5).standard_normal(weighted.dim)
    assert weighted.value(w) == pytest.approx(repeated.value(w), rel=1e-13)
    np.testing.assert_allclose(weighted.gradient(w), repeated.gradient(w), rtol=1e-11, atol=1e-13)


def test_multinomial_of_two_classes_with_one_at_zero_is_logistic():
    X, y = data("logistic")
    binary = LinearProblem(X, y, "logistic")
    classes = LinearProblem(X, y, "multinomial")
    w = np.random.default_rng(6).standard_normal(P + 1)
    W = np.column_stack([np.zeros(P + 1), w]).ravel()
    assert classes.dim == 2 * (P + 1)
    assert classes.value(W) == pytest.approx(binary.value(w), rel=1e-13)
    gradient = classes.gradient(W).reshape(P + 1, 2)
    np.testing.assert_allclose(gradient[:, 1], binary.gradient(w), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(gradient[:, 0], -binary.gradient(w), rtol=1e-12, atol=1e-15)


def test_huber_with_a_large_delta_is_squared():
    X, y = data("huber")
    huber, squared = LinearProblem(X, y, "huber", delta=1e9), LinearProblem(X, y)
    w = np.random.default_rng(7).standard_normal(P + 1)
    assert huber.value(w) == pytest.approx(squared.value(w), rel=1e-14)
    np.testing.assert_allclose(huber.gradient(w), squared.gradient(w), rtol=1e-13)


def slow_features(X, c, fit_intercept, standardize):
    """x̃ᵢ as rows."""
    if standardize:
        mean, deviation = slow_standards(X, c, fit_intercept)
        X = (X - mean) / deviation
    return np.column_stack([X, np.ones(len(X))]) if fit_intercept else X


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("loss", BOUNDED)
def test_the_constants_by_definition(loss, fit_intercept, standardize):
    X, y = data(loss)
    s = sample_weights()
    c = s / s.sum()
    gamma = {"logistic": 0.25, "multinomial": 0.5}.get(loss, 1.0)
    features = slow_features(X, c, fit_intercept, standardize)
    expected = gamma * np.linalg.eigvalsh(features.T @ (c[:, None] * features))[-1] + L2
    for storage in ("C", "csr"):
        problem = LinearProblem(
            stored(X, storage), y, loss, l2=L2, sample_weight=s,
            fit_intercept=fit_intercept, standardize=standardize,
        )  # fmt: skip
        assert problem.smoothness >= expected * (1 - 1e-14)
        assert problem.smoothness == pytest.approx(expected, rel=1e-4)
        np.testing.assert_allclose(
            problem.row_smoothness, N * c * gamma * (features**2).sum(axis=1) + L2, rtol=1e-10
        )
        seen = features[:, :P]
        np.testing.assert_allclose(problem.column_squares, c @ seen**2, rtol=1e-12)
        np.testing.assert_allclose(problem.rows.squares_about(None), c @ X**2, rtol=1e-12)
        assert problem.strong_convexity == (0.0 if fit_intercept else L2)
        rng = np.random.default_rng(8)
        for scale in (0.0, 0.1, 1.0):
            w = scale * rng.standard_normal(problem.dim)
            H = np.array([problem.hessian_vector(w, e) for e in np.eye(problem.dim)])
            np.testing.assert_allclose(H, H.T, atol=1e-12)
            eigenvalues = np.linalg.eigvalsh(H)
            assert eigenvalues[-1] <= problem.smoothness * (1 + 1e-12)
            assert eigenvalues[0] >= problem.strong_convexity - 1e-12


def test_smoothness_of_many_features_is_an_upper_bound_and_close():
    # More features than Lanczos steps, so that its error bound is at work.
    rng = np.random.default_rng(9)
    X = rng.standard_normal((150, 200))
    problem = LinearProblem(X, rng.standard_normal(150), fit_intercept=False, l2=0.5)
    exact = np.linalg.norm(X, 2) ** 2 / 150 + 0.5
    assert exact <= problem.smoothness <= 1.1 * exact


def test_squared_loss_has_a_constant_hessian_that_attains_l():
    X, y = data("squared")
    problem = LinearProblem(X, y, l2=L2)
    H = np.array([problem.hessian_vector(np.zeros(P + 1), e) for e in np.eye(P + 1)])
    assert problem.smoothness == pytest.approx(np.linalg.eigvalsh(H)[-1], rel=1e-4)


@pytest.mark.parametrize("loss", ["squared", "multinomial"])
def test_prox_minimises_what_it_says(loss):
    X, y = data(loss)
    problem = LinearProblem(X, y, loss, l1=0.5, l2=L2)
    count = P * problem.outputs
    w = np.random.default_rng(10).standard_normal(problem.dim)
    before = w.copy()
    out = problem.prox(w, 0.8)
    np.testing.assert_array_equal(w, before)
    shrunk = np.sign(w) * np.maximum(np.abs(w) - 0.4, 0)
    np.testing.assert_allclose(out[:count], shrunk[:count], rtol=1e-14)
    np.testing.assert_array_equal(out[count:], w[count:])

    def around(u):
        return problem.penalty(u) + np.sum((u - w) ** 2) / 1.6

    for e in np.eye(problem.dim):
        assert around(out) < min(around(out + 1e-3 * e), around(out - 1e-3 * e))


def test_penalty_is_that_of_the_coefficients_alone():
    X, y = data("squared")
    problem = LinearProblem(X, y, l1=0.5, l2=L2)
    assert problem.penalty(np.array([1.0, -2.0, 0.0, 3.0, 100.0])) == 3.0
    assert LinearProblem(X, y, l2=L2).penalty(np.ones(5)) == 0.0


def test_smooth_is_the_same_without_l1():
    X, y = data("logistic")
    problem = LinearProblem(X, y, "logistic", l1=L1, l2=L2)
    smooth = problem.smooth
    w = np.random.default_rng(11).standard_normal(problem.dim)
    assert smooth.l1 == 0.0
    assert problem.l1 == L1
    assert smooth.smooth is None
    assert smooth.value(w) + problem.penalty(w) == pytest.approx(problem.value(w), rel=1e-14)
    np.testing.assert_array_equal(smooth.gradient(w), problem.gradient(w))
    assert LinearProblem(X, y, "logistic", l2=L2).smooth is None


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("loss", BOUNDED)
def test_shapes(loss, fit_intercept):
    X, y = data(loss)
    problem = LinearProblem(X, y, loss, fit_intercept=fit_intercept)
    several = loss == "multinomial"
    assert problem.dim == (K if several else 1) * (P + fit_intercept)
    assert problem.start.tolist() == [0.0] * problem.dim
    w = np.arange(1.0, problem.dim + 1)
    for coefficients, intercepts in (problem.split(w), problem.coefficients(w)):
        assert coefficients.shape == ((P, K) if several else (P,))
        assert np.shape(intercepts) == ((K,) if several else ())
        np.testing.assert_array_equal(coefficients.ravel(), w[: coefficients.size])
        free = w[coefficients.size :] if fit_intercept else np.zeros(np.size(intercepts))
        np.testing.assert_array_equal(np.ravel(intercepts), free)
    assert np.shares_memory(problem.split(w)[0], w)
    assert (problem.classes is not None) == (loss in CLASSIFIERS)


def test_the_transpose_is_that_of_the_scores():
    # ⟨Xw, c∘θ⟩ = ⟨w, Σcᵢθᵢxᵢ⟩ for the features that the model sees.
    for loss, standardize in itertools.product(("squared", "multinomial"), (False, True)):
        X, y = data(loss)
        problem = LinearProblem(X, y, loss, sample_weight=sample_weights(), standardize=standardize)
        rng = np.random.default_rng(12)
        w = rng.standard_normal(problem.dim)
        W, b = problem.split(w)
        scores = problem.scores(w)
        theta = rng.standard_normal(scores.shape)
        weighted = (problem.weights * theta.T).T
        expected = np.sum((scores - b) * weighted)
        assert np.sum(problem.transpose(theta) * W) == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("loss", ["logistic", "multinomial"])
def test_float32_data_keep_float32_gradients_of_float64_quality(loss, standardize):
    X, y = data(loss)
    X = X.astype(np.float32)
    problem = LinearProblem(X, y, loss, l2=L2, standardize=standardize)
    wide = LinearProblem(X.astype(np.float64), y, loss, l2=L2, standardize=standardize)
    assert problem.start.dtype == np.float32
    w = np.random.default_rng(13).standard_normal(problem.dim).astype(np.float32)
    value, gradient = problem.value_and_gradient(w)
    assert isinstance(value, float)
    assert gradient.dtype == problem.hessian_vector(w, w).dtype == problem.prox(w, 1.0).dtype
    assert gradient.dtype == np.float32
    assert value == pytest.approx(wide.value(w.astype(np.float64)), rel=1e-6)
    expected = wide.gradient(w.astype(np.float64))
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-6)
    assert problem.gradient(w.astype(np.float64)).dtype == np.float64


def looks(problem, w):
    """All that a problem says of its data at `w`."""
    value, gradient, scores = problem.value_gradient_scores(w)
    return {
        "value": problem.value(w),
        "value with gradient": value,
        "gradient": gradient,
        "scores": scores,
        "scores alone": problem.scores(w),
        "product": problem.hessian_vector(w, w),
        "Hessian": problem.hessian(w),
        "transpose": problem.transpose(np.cos(scores)),
        "row squares": problem.row_squares,
        "column squares": problem.column_squares,
        "smoothness": problem.smoothness,
    }


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("offset", [0.0, 1e4])
@pytest.mark.parametrize("storage", ["C", "F", "csr"])
@pytest.mark.parametrize("loss", ["logistic", "multinomial"])
def test_any_number_of_threads_gives_the_same_bits(loss, storage, offset, standardize):
    rng = np.random.default_rng(14)
    n = 4 * LEAF // 10
    X = rng.standard_normal((n, 10)) + offset * np.eye(10)[3]
    y = rng.integers(0, K if loss == "multinomial" else 2, n)

    def problem(threads):
        return LinearProblem(
            stored(X, storage), y, loss, l2=L2, standardize=standardize, threads=threads
        )

    w = rng.standard_normal(problem(1).dim) / (1.0 + offset)
    one = looks(problem(1), w)
    for threads in (2, 3, 8):
        for name, found in looks(problem(threads), w).items():
            np.testing.assert_array_equal(found, one[name], err_msg=f"{name}, {threads} threads")


def test_nothing_that_was_passed_is_modified():
    for loss in BOUNDED:
        X, y = data(loss)
        s = sample_weights()
        before = X.copy(), y.copy(), s.copy()
        problem = LinearProblem(X, y, loss, l1=L1, l2=L2, sample_weight=s, standardize=True)
        w = np.ones(problem.dim)
        problem.value_and_gradient(w)
        problem.hessian_vector(w, w)
        problem.coefficients(w)
        problem.prox(w, 1.0)
        assert w.tolist() == [1.0] * problem.dim
        for given, kept in zip((X, y, s), before, strict=True):
            np.testing.assert_array_equal(given, kept)


BAD_ARGUMENTS = [
    ({"loss": "logistik"}, r"loss must be a known name, got 'logistik': did you mean 'logistic'\?"),
    ({"loss": None}, "loss must be a known name, got None"),
    ({"l1": -0.1}, "l1 must be at least 0, got -0.1"),
    ({"l2": -1.0}, "l2 must be at least 0, got -1.0"),
    ({"l2": np.nan}, "l2 must be at least 0, got nan"),
    ({"loss": "huber", "delta": 0.0}, "delta must be above 0, got 0.0"),
    ({"loss": "huber", "delta": -1.0}, "delta must be above 0, got -1.0"),
    ({"fit_intercept": "yes"}, "fit_intercept must be True or False, got 'yes'"),
    ({"standardize": 1}, "standardize must be True or False, got 1"),
    ({"sample_weight": [1.0]}, "sample_weight must have 12 entries, as X has rows, got 1"),
    ({"threads": 0}, "threads must be a whole number, at least 1, got 0"),
]


@pytest.mark.parametrize(("arguments", "says"), BAD_ARGUMENTS)
def test_bad_arguments_are_refused_with_a_sentence(arguments, says):
    X, y = data("squared")
    with pytest.raises(tw.InputError, match=says):
        LinearProblem(X, y, **arguments)


@pytest.mark.parametrize("bad", [np.zeros(4), np.zeros(6), np.zeros((1, 5)), 0.0])
@pytest.mark.parametrize("method", ["value", "gradient", "scores", "coefficients"])
def test_a_bad_w_is_refused_with_a_sentence(method, bad):
    X, y = data("squared")
    problem = LinearProblem(X, y, l2=L2)
    says = r"w must have 5 entries \(4 features × 1 outputs, intercepts last\), got shape"
    with pytest.raises(tw.InputError, match=says):
        getattr(problem, method)(bad)
    with pytest.raises(tw.InputError, match=says):
        problem.hessian_vector(np.zeros(5), bad)


def test_its_name_says_what_it_is():
    X, y = data("logistic")
    problem = LinearProblem(scipy.sparse.csr_array(X), y, "logistic", l1=0.5, l2=1e-3)
    assert problem.name == "logistic on 12 × 4 sparse, l1 = 0.5, l2 = 0.001"
    assert repr(LinearProblem(X, y, "logistic")) == "LinearProblem(logistic on 12 × 4 dense)"


def flat(coefficients, intercepts):
    """The vector of variables from the shapes of scikit-learn."""
    return np.append(np.asarray(coefficients).T.ravel(), intercepts)


def peer(name):
    """A problem, and scikit-learn's solution of it as a vector of variables."""
    if name == "breast cancer":
        X, y = sklearn.datasets.load_breast_cancer(return_X_y=True)
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        l2 = 1e-2
        model = sklearn.linear_model.LogisticRegression(
            C=1 / (len(y) * l2), tol=1e-12, max_iter=1000, solver="newton-cholesky"
        ).fit(X, y)
        return LinearProblem(X, y, "logistic", l2=l2), flat(model.coef_, model.intercept_)
    if name == "digits":
        X, y = sklearn.datasets.load_digits(return_X_y=True)
        X, y, l2 = X[:300] / 16, y[:300], 1e-2
        model = sklearn.linear_model.LogisticRegression(
            C=1 / (len(y) * l2), tol=1e-10, max_iter=1000, solver="newton-cg"
        ).fit(X, y)
        return LinearProblem(X, y, "multinomial", l2=l2), flat(model.coef_, model.intercept_)
    X, y = sklearn.datasets.load_diabetes(return_X_y=True)
    l2 = 1e-3
    model = sklearn.linear_model.Ridge(alpha=len(y) * l2, solver="cholesky").fit(X, y)
    return LinearProblem(X, y, "squared", l2=l2), flat(model.coef_, model.intercept_)


@pytest.mark.parametrize("name", ["breast cancer", "digits", "diabetes"])
def test_lbfgs_reaches_the_solution_of_scikit_learn(name):
    problem, theirs = peer(name)
    run = tw.minimize(problem, "lbfgs", tol=1e-9, progress=False)
    assert run.value == pytest.approx(problem.value(theirs), rel=1e-8)
    np.testing.assert_allclose(problem.scores(run.w), problem.scores(theirs), rtol=1e-3, atol=1e-3)


def test_fista_reaches_the_lasso_of_scikit_learn():
    X, y = sklearn.datasets.load_diabetes(return_X_y=True)
    problem = LinearProblem(X, y, l1=0.1)
    model = sklearn.linear_model.Lasso(alpha=0.1, tol=1e-12, max_iter=100_000).fit(X, y)
    run = tw.minimize(problem, "fista", tol=1e-9, progress=False)
    assert run.value == pytest.approx(problem.value(flat(model.coef_, model.intercept_)), rel=1e-8)
    np.testing.assert_array_equal(run.w[:-1] != 0, model.coef_ != 0)


def test_standardized_ridge_reaches_ridge_on_standardized_data():
    X, y = sklearn.datasets.load_diabetes(return_X_y=True, scaled=False)
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    problem = LinearProblem(X, y, l2=0.1, standardize=True)
    model = sklearn.linear_model.Ridge(alpha=0.1 * len(y)).fit(scaled, y)
    run = tw.minimize(problem, "lbfgs", tol=1e-10, progress=False)
    coefficients, intercept = problem.coefficients(run.w)
    np.testing.assert_allclose(X @ coefficients + intercept, model.predict(scaled), rtol=1e-4)


@pytest.mark.parametrize("loss", BOUNDED)
@pytest.mark.parametrize("storage", [np.asarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("standardize", [True, False])
def test_the_hessian_is_made_of_its_products(loss, storage, fit_intercept, standardize):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((40, 5)) + 2.0
    y = rng.standard_normal(40) if loss in ("squared", "huber") else rng.integers(0, 2, 40)
    y = rng.integers(0, 3, 40) if loss == "multinomial" else y
    problem = LinearProblem(
        storage(X), y, loss, l2=0.1, fit_intercept=fit_intercept, standardize=standardize,
        sample_weight=np.arange(40.0),
    )  # fmt: skip
    w = rng.standard_normal(problem.dim)
    products = np.stack([problem.hessian_vector(w, unit) for unit in np.eye(problem.dim)])
    np.testing.assert_allclose(problem.hessian(w), products, rtol=1e-10, atol=1e-12)


def seen(X, problem):
    """X as the model sees it, dense, with a column for the intercept."""
    if problem.standardize:
        mean, deviation = slow_standards(X, problem.weights, problem.fit_intercept)
        X = (X - mean) / deviation
    return np.column_stack([X, np.ones(len(X))]) if problem.fit_intercept else X


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("loss", BOUNDED)
def test_the_diagonal_of_curvature_is_a_bound_and_that_of_the_gram(
    loss, fit_intercept, standardize
):
    X, y = data(loss)
    problem = LinearProblem(
        X, y, loss, l2=L2, fit_intercept=fit_intercept, standardize=standardize,
        sample_weight=sample_weights(),
    )  # fmt: skip
    features = seen(X, problem)
    bound = problem.curvature_diagonal.reshape(features.shape[1], problem.outputs)
    expected = problem.curvature_bound * (problem.weights @ features**2)
    expected[:P] += L2
    np.testing.assert_allclose(bound, np.repeat(expected[:, None], problem.outputs, 1), rtol=1e-10)
    for seed in range(3):
        w = np.random.default_rng(seed).standard_normal(problem.dim)
        assert np.all(np.diag(problem.hessian(w)) <= bound.ravel() * (1 + 1e-12))


def test_a_feature_without_curvature_is_left_in_its_units():
    problem = LinearProblem(np.array([[1.0, 0.0], [2.0, 0.0]]), [0.0, 1.0], fit_intercept=False)
    np.testing.assert_allclose(problem.curvature_diagonal, [2.5, 1.0])


@pytest.mark.parametrize("loss", BOUNDED)
@pytest.mark.parametrize("storage", ["C", "F", "csr"])
def test_the_scores_come_with_value_and_gradient(loss, storage):
    X, y = data(loss)
    for fit_intercept, standardize in itertools.product((False, True), repeat=2):
        for dtype in (np.float32, np.float64):
            problem = LinearProblem(
                stored(X.astype(dtype), storage), y, loss, l2=L2, delta=DELTA,
                fit_intercept=fit_intercept, standardize=standardize,
                sample_weight=sample_weights(),
            )  # fmt: skip
            w = np.random.default_rng(1).standard_normal(problem.dim).astype(dtype)
            value, gradient, scores = problem.value_gradient_scores(w)
            expected = problem.value_and_gradient(w)
            assert value == pytest.approx(expected[0], rel=1e-14)
            assert (gradient.dtype, scores.dtype) == (dtype, np.float64)
            rtol = 1e-13 if dtype == np.float64 else 1e-5
            np.testing.assert_allclose(gradient, expected[1], rtol=rtol, atol=rtol)
            np.testing.assert_allclose(scores, problem.scores(w), rtol=rtol, atol=rtol)


@pytest.mark.parametrize("storage", ["C", "F", "csr"])
def test_a_sample_is_the_problem_on_its_rows(storage):
    for loss, standardize in itertools.product(("logistic", "multinomial"), (False, True)):
        X, y = data(loss)
        s, rows = sample_weights(), np.array([1, 2, 5, 6, 10])
        whole = LinearProblem(
            stored(X, storage), y, loss, l2=L2, sample_weight=s, standardize=standardize
        )
        assert whole.row_squares.size == whole.n  # a cache that the sample must not inherit
        part, w = whole.sample(rows), np.random.default_rng(3).standard_normal(whole.dim)
        scores = whole.scores(w)
        np.testing.assert_allclose(part.scores(w), scores[rows], rtol=1e-12, atol=1e-14)
        c = s[rows] / s[rows].sum()
        penalty = L2 / 2 * np.sum(whole.split(w)[0] ** 2)
        losses = slow_losses(loss, scores, y)[rows]
        assert part.value(w) == pytest.approx(c @ losses + penalty, rel=1e-12)
        np.testing.assert_allclose(part.row_squares, whole.row_squares[rows], rtol=1e-12)
        assert (part.n, whole.n, part.dim) == (5, N, whole.dim)


@pytest.mark.parametrize("mean", [1e3, 1e6, 1e9])
def test_a_large_mean_costs_dense_scales_no_digits(mean):
    spread = np.random.default_rng(0).integers(-8, 9, (200, 1)) / 8.0  # exact beside 1e9
    near, far = (
        LinearProblem(spread + m, spread[:, 0], standardize=True).features for m in (0.0, mean)
    )
    np.testing.assert_allclose(far.units, near.units, rtol=1e-9)


@pytest.mark.parametrize("bad", [["a", "b"], [1j, 2j]])
def test_variables_that_are_no_real_numbers(bad):
    with pytest.raises(tw.InputError, match="w must hold real numbers"):
        LinearProblem([[1.0], [2.0]], [0.0, 1.0]).value(bad)


@pytest.mark.parametrize("storage", [np.asarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scales_keep_their_digits_where_means_are_large_and_rows_are_many(storage, dtype):
    rng = np.random.default_rng(0)
    n = 300_000
    year = rng.integers(2013, 2018, size=n)
    X = np.column_stack([year, np.full(n, 0.1), rng.random(n) < 0.01]).astype(dtype)
    problem = LinearProblem(storage(X), rng.normal(size=n), standardize=True)
    exact = X.astype(np.longdouble)
    assert problem.rows.means == pytest.approx(exact.mean(axis=0).astype(float), rel=1e-14)
    deviations = exact.std(axis=0).astype(float)
    assert problem.features.units[[0, 2]] == pytest.approx(1.0 / deviations[[0, 2]], rel=1e-12)
    assert problem.features.units[1] == 1.0  # constant


FAR_N = 40


def far_problem(loss, storage, offset, **options):
    """Features far from zero, and targets as far where the loss has some."""
    rng = np.random.default_rng(1)
    y = rng.standard_normal(FAR_N) + offset
    if loss in CLASSIFIERS:
        y = np.arange(FAR_N) % (K if loss == "multinomial" else 2)
    options = {"l2": L2, "sample_weight": sample_weights(FAR_N), "delta": DELTA, **options}
    return LinearProblem(far_matrix(storage, offset), y, loss, **options)


def rounding_of_targets(loss, offset):
    """What a difference of a score and a target loses where both are far from zero."""
    return 0.0 if loss in CLASSIFIERS else 1e-15 * offset


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("loss", BOUNDED)
def test_about_the_mean_it_is_the_same_function(loss, storage, offset, standardize):
    problem = far_problem(loss, storage, offset, l1=L1, standardize=standardize)
    centred = problem.centred
    # Small enough for losses of about one, wherever the features are.
    v = np.random.default_rng(2).standard_normal(problem.dim) / (1.0 + offset / 1e6)
    w = centred.enter(v, problem)
    v = problem.enter(w, centred)  # about the mean of the same point, whose intercept is rounded
    count = P * problem.outputs
    np.testing.assert_array_equal(w[:count], v[:count])
    lost = rounding_of_targets(loss, offset)
    assert problem.value(w) == pytest.approx(centred.value(v), rel=1e-13 + lost)
    scores = centred.scores(v) + centred.term.origin
    np.testing.assert_allclose(problem.scores(w), scores, rtol=1e-13, atol=1e-13)
    # Coefficients at a fixed intercept here move that one by the mean of the features.
    W, b = centred.split(centred.gradient(v))
    shift = problem.features.units * (centred.features.place - problem.features.place)
    W = W + np.multiply.outer(shift, b)
    sizes = np.abs(W) + np.multiply.outer(np.abs(shift) + 10.0, np.abs(b) + 1.0)
    found, found_b = problem.split(problem.gradient(w))
    assert np.all(np.abs(found - W) <= (1e-14 + lost) * sizes)
    np.testing.assert_allclose(found_b, b, rtol=1e-12, atol=1e-12 + lost)
    for mine, its in zip(problem.coefficients(w), centred.coefficients(v), strict=True):
        origin = centred.term.origin if np.ndim(its) < np.ndim(W) else 0.0
        np.testing.assert_allclose(mine, its + origin, rtol=1e-13, atol=1e-13)
    assert problem.penalty(w) == centred.penalty(v)
    assert centred.name == problem.name
    assert centred.dim == problem.dim


@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("loss", BOUNDED)
def test_variables_that_enter_another_view_come_back(loss, storage, offset):
    problem = far_problem(loss, storage, offset)
    centred = problem.centred
    count = P * problem.outputs
    for dtype in (np.float32, np.float64):
        v = np.random.default_rng(3).standard_normal(problem.dim).astype(dtype)
        w = centred.enter(v, problem)
        back = problem.enter(w, centred)
        assert w.dtype == back.dtype == dtype
        np.testing.assert_array_equal(back[:count], v[:count])
        eps = np.finfo(dtype).eps
        assert np.all(np.abs(back - v) <= eps * (np.abs(w) + np.abs(v)))
        assert problem.enter(w, problem) is w


@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("storage", STORAGES)
def test_scores_keep_their_digits_in_the_variables_of_users(storage, offset):
    problem = far_problem("squared", storage, offset)
    W = np.random.default_rng(4).standard_normal(P)
    w = np.append(W, -(problem.rows.means @ W))  # what is far from zero cancels
    x = fractions(exact(far_matrix(storage, offset)))
    expected = (x @ fractions(W) + fractions(w[-1])).astype(np.longdouble)
    about = np.abs(exact(far_matrix(storage, offset)) - problem.rows.means)
    room = np.abs(problem.rows.means) if problem.rows.shift is None else 0.0
    within(problem.scores(w), expected, (about + room) @ np.abs(W) + 1.0)
    within(problem.value_gradient_scores(w)[2], expected, (about + room) @ np.abs(W) + 1.0)


@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("loss", ["squared", "huber"])
def test_gradients_about_the_mean_keep_theirs(loss, storage, offset):
    problem = far_problem(loss, storage, offset).centred
    X, c = exact(far_matrix(storage, offset)), problem.weights
    x = X - problem.features.place
    w = np.random.default_rng(5).standard_normal(P + 1) / np.abs(x).max()
    y = np.random.default_rng(1).standard_normal(FAR_N) + offset
    y = y.astype(np.longdouble) - problem.term.origin
    residual = x @ w[:P] + w[P] - y
    slopes = residual if loss == "squared" else np.clip(residual, -DELTA, DELTA)
    bend = np.ones(FAR_N) if loss == "squared" else (np.abs(residual) <= DELTA) * 1.0
    # Means that are not so large that rows are seen about them cost what they exceed deviations by.
    wide = np.abs(x) + (np.abs(problem.features.place) if problem.rows.shift is None else 0.0)
    off = wide @ np.abs(w[:P]) + abs(w[P]) + np.abs(y)
    gradient = problem.gradient(w)
    within(gradient[:P], x.T @ (c * slopes) + L2 * w[:P], wide.T @ (c * off) + L2 * np.abs(w[:P]))
    within(gradient[P], c @ slopes, c @ off)
    v = np.random.default_rng(6).standard_normal(P + 1)
    d = c * bend * (x @ v[:P] + v[P])
    size = c * (wide @ np.abs(v[:P]) + abs(v[P]))
    for product in (problem.hessian_vector(w, v), problem.hessian_at(problem.scores(w)).vector(v)):
        within(product[:P], x.T @ d + L2 * v[:P], wide.T @ size + np.abs(v[:P]))
        within(product[P], d.sum(), size.sum())
    H = problem.hessian(w)
    seen = np.column_stack([x, np.ones(FAR_N)])
    expected = (seen.T * (c * bend)) @ seen + L2 * np.diag(np.append(np.ones(P), 0.0))
    terms = np.column_stack([wide, np.ones(FAR_N)])
    within(H, expected, (terms.T * c) @ terms + L2)
    within(np.diag(H), problem.hessian_at(problem.scores(w)).diagonal(), (c @ terms**2) + L2)


def test_what_is_about_the_mean_already_is_itself():
    X, y = data("squared")
    bare = LinearProblem(X, y, fit_intercept=False)
    asked = LinearProblem(X, y, centre=False)
    standardized = LinearProblem(X, y, standardize=True)
    for problem in (bare, asked, standardized):
        assert problem.centred is problem
    plain = LinearProblem(X, y)
    centred = plain.centred
    assert centred is not plain
    assert centred.centred is centred


def test_centring_can_be_switched_off():
    X, y = data("logistic")
    with pytest.raises(tw.InputError, match="centre must be True or False, got 'no'"):
        LinearProblem(X, y, "logistic", centre="no")
    plain, asked = (LinearProblem(X + 5.0, y, "logistic", l2=L2, centre=on) for on in (True, False))
    runs = [tw.minimize(each, "gd", max_iter=1, progress=False) for each in (plain, asked)]
    # One step from zero, in the variables as they are: along the gradient there.
    step = -runs[1].w / asked.gradient(asked.start)
    np.testing.assert_allclose(step, step[0], rtol=1e-10)
    other = -runs[0].w / plain.gradient(plain.start)
    assert other.max() > 1.01 * other.min()


@pytest.mark.parametrize("loss", BOUNDED)
def test_a_run_ends_in_the_variables_that_were_asked_for(loss):
    for storage, offset in itertools.product(("C", "csr"), (0.0, 1e3, 1e6)):
        problem = far_problem(loss, storage, offset)
        seen = []

        def note(step, seen=seen):
            seen.append(step.w)

        run = tw.minimize(problem, "lbfgs", tol=1e-9, progress=False, callback=note)
        assert run.converged
        lost = rounding_of_targets(loss, offset)
        assert problem.value(run.w) == pytest.approx(run.value, rel=1e-12 + lost)
        np.testing.assert_array_equal(seen[-1], run.w)
        # The same optimum as that of data that were centred beforehand.
        near = exact(far_matrix(storage, offset)) - problem.rows.means
        y = np.random.default_rng(1).standard_normal(FAR_N)
        y = problem.y if loss in CLASSIFIERS else y
        same = LinearProblem(
            near.astype(np.float64), y, loss, l2=L2, delta=DELTA,
            sample_weight=sample_weights(FAR_N),
        )  # fmt: skip
        best = tw.minimize(same, "newton", tol=1e-12, progress=False)
        assert run.value == pytest.approx(best.value, rel=1e-8)
        assert tw.certify(problem, run.w, tol=1e-8).holds


def test_other_penalties_share_everything_else():
    X, y = data("logistic")
    problem = LinearProblem(X, y, "logistic", l1=L1, l2=L2)
    other = problem.replaced(l2=3.0)
    assert (other.l1, other.l2, problem.l2) == (L1, 3.0, L2)
    assert problem.replaced(l1=0.0).l1 == 0.0
    assert other.features is problem.features
    w = np.random.default_rng(7).standard_normal(P + 1)
    more = (3.0 - L2) / 2 * np.sum(w[:P] ** 2)
    assert other.value(w) == pytest.approx(problem.value(w) + more, rel=1e-14)


def test_another_term_on_the_same_features():
    X, y = data("multinomial")
    problem = LinearProblem(X, y, "multinomial", l2=L2, standardize=True)
    target = np.where(y == 1, 1.0, -1.0)
    other = problem.with_term("squared-hinge", OneScore(SQUARED_HINGE, target, 1.0))
    expected = LinearProblem(X, target, "squared-hinge", l2=L2, standardize=True)
    assert (other.loss, other.dim, other.outputs) == ("squared-hinge", P + 1, 1)
    w = np.random.default_rng(8).standard_normal(P + 1)
    assert other.value(w) == pytest.approx(expected.value(w), rel=1e-14)
    np.testing.assert_allclose(other.gradient(w), expected.gradient(w), rtol=1e-12)
    assert problem.dim == K * (P + 1)


def test_other_features_of_the_same_samples():
    X, y = data("logistic")
    problem = LinearProblem(X, y, "logistic", l2=L2)
    scales = np.array([2.0, 0.5, 1.0, 3.0])
    other = problem.with_features(problem.features.about(problem.rows.means, scales))
    explicit = LinearProblem((X - X.mean(axis=0)) * scales, y, "logistic", l2=L2)
    w = np.random.default_rng(9).standard_normal(P + 1)
    assert other.value(w) == pytest.approx(explicit.value(w), rel=1e-13)
    np.testing.assert_allclose(other.gradient(w), explicit.gradient(w), rtol=1e-11, atol=1e-13)
    assert other.smoothness == pytest.approx(explicit.smoothness, rel=1e-6)


@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("loss", BOUNDED)
def test_parts_add_up_to_the_whole_in_every_view(loss, storage, offset):
    problem = far_problem(loss, storage, offset, l2=0.0)
    for view in (problem, problem.centred):
        w = np.random.default_rng(10).standard_normal(view.dim) / (1.0 + offset)
        edges = (0, 13, 14, FAR_N)
        parts = [view.part(start, stop) for start, stop in itertools.pairwise(edges)]
        shares = [view.weights[start:stop].sum() for start, stop in itertools.pairwise(edges)]
        total = sum(share * part.value(w) for share, part in zip(shares, parts, strict=True))
        assert total == pytest.approx(view.value(w), rel=1e-12)
        gradient = sum(s * part.gradient(w) for s, part in zip(shares, parts, strict=True))
        sizes = 1e-12 * (np.abs(gradient) + offset + 1.0)
        assert np.all(np.abs(gradient - view.gradient(w)) <= sizes)
        rows = np.array([31, 2, 2, 17])
        sample = view.sample(rows)
        np.testing.assert_allclose(sample.scores(w), view.scores(w)[rows], rtol=1e-13, atol=1e-13)
        assert sample.term.origin == view.term.origin
        assert sample.row_squares == pytest.approx(view.row_squares[rows], rel=1e-12)


def test_rows_of_weight_zero_alone_are_no_part_to_divide_by():
    problem = far_problem("squared", "C", 1e3)
    part = problem.part(0, 1)  # of weight 0
    assert not part.weights.any()
    assert part.value(np.ones(P + 1)) == pytest.approx(L2 / 2 * P)


@pytest.mark.parametrize("storage", ["C", "F", "csr"])
@pytest.mark.parametrize("loss", BOUNDED)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_is_refused_with_its_place(loss, storage, bad):
    X, y = data(loss)
    X[5, 2] = bad
    for standardize, fit_intercept in itertools.product((False, True), repeat=2):
        says = f"X must be finite, got {bad} in row 5, column 2: impute or drop"
        with pytest.raises(tw.InputError, match=says):
            LinearProblem(
                stored(X, storage), y, loss, standardize=standardize, fit_intercept=fit_intercept
            )


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_a_penalty_that_is_rounding_decides_nothing(scale):
    X = scale * np.random.default_rng(0).standard_normal((20, 3))

    def is_loose(**penalties):
        return tw.LinearProblem(X, X[:, 0], **penalties).is_loose

    assert is_loose()
    assert is_loose(l2=1e-17 * scale**2)
    assert not is_loose(l2=1e-14 * scale**2)
    assert not is_loose(l1=1e-300)
