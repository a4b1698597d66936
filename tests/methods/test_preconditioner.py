"""M against its definition, and what conjugate gradients gain by it."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse

import thalweg as tw
from stepping import follow, linear
from thalweg.methods import preconditioner as module
from thalweg.methods.preconditioner import DAMPING, Blocks, pays, preconditioner
from thalweg.methods.problem import Problem

LOSSES = ("squared", "logistic", "squared-hinge", "huber", "multinomial")


@pytest.fixture
def any_size(monkeypatch):
    """Samples pay on small data too."""
    monkeypatch.setattr(module, "LARGE", 1)


def at(data, w, seed=0):
    """M⁻¹ and ∇²f where the variables are `w`."""
    problem = Problem(data, data.dim, np.dtype(np.float64))
    hessian = problem.hessian_at(problem.point(w))
    return preconditioner(problem, hessian, np.random.default_rng(seed)), data.hessian(w)


def somewhere(data):
    return 0.3 * np.random.default_rng(3).standard_normal(data.dim)


def matrix_of(M, dim):
    return np.column_stack([M(unit) for unit in np.eye(dim)])


def test_one_feature_by_hand(any_size):
    # h = ¼ at w = 0 and c = ½: Σhx² = (4 + 16)/8, and DAMPING times ½ of it is added.
    data = tw.LinearProblem([[2.0], [4.0]], [0, 1], "logistic", l2=0.5, fit_intercept=False)
    M, _ = at(data, np.zeros(1))
    assert M(np.array([6.0])) == pytest.approx(6.0 / (2.5 * (1.0 + DAMPING / 2) + 0.5), rel=1e-6)


def slow_inverse(data, w):
    """PB⁻¹P + Q/l2 from the rows themselves, all of them."""
    p, K = data.p + data.fit_intercept, data.outputs
    x = (data.matrix.rows - data.features.place) * data.features.units
    x = np.column_stack([x, np.ones(data.n)]) if data.fit_intercept else x
    l2 = np.append(np.full(data.p, data.l2), np.zeros(p - data.p))
    h = data.hessian_at(data.scores(w)).curvatures.reshape(data.n, K)
    inverse = np.zeros((p, K, p, K))
    for k in range(K):
        G = x.T @ (h[:, [k]] * x)
        B = G + np.diag(DAMPING * p / data.n * np.diag(G) + l2)
        inverse[:, k, :, k] = np.linalg.inv(B)
    inverse = inverse.reshape(p * K, p * K)
    if K == 1:
        return inverse
    Q = np.kron(np.eye(p), np.full((K, K), 1.0 / K))
    P = np.eye(p * K) - Q
    of_coefficients = np.kron(np.diag(l2 > 0.0), np.eye(K))
    return P @ inverse @ P + Q @ of_coefficients / data.l2


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("options", [{}, {"fit_intercept": False}, {"standardize": True}])
def test_equals_the_slow_definition_where_all_rows_are_taken(loss, options, any_size):
    data = linear(loss, n=25, l2=0.02, **options)
    M, _ = at(data, somewhere(data))
    expected = slow_inverse(data, somewhere(data))
    np.testing.assert_allclose(
        matrix_of(M, data.dim), expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max()
    )


@pytest.mark.parametrize("loss", LOSSES)
def test_is_symmetric_and_definite(loss, any_size):
    data = linear(loss, n=400, l2=1e-3)
    M, _ = at(data, somewhere(data))
    assert isinstance(M, Blocks)
    A = matrix_of(M, data.dim)
    np.testing.assert_allclose(A, A.T, atol=1e-5 * np.abs(A).max())
    # Nothing is known, and nothing is to be found, where all intercepts move together.
    flat = int(loss == "multinomial")
    assert np.linalg.eigvalsh(A)[flat] > 0.0


def test_is_exact_where_all_classes_move_together(any_size):
    data = linear("multinomial", n=400, l2=1e-3, fit_intercept=False)
    M, H = at(data, somewhere(data))
    together = np.repeat(np.arange(1.0, 6.0), 3)
    np.testing.assert_allclose(M(H @ together), together, rtol=1e-9)


def hard(loss, n=3_000, p=12, storage=np.asarray, **options):
    """Features so correlated that their Gram matrix has a condition number of 10⁵."""
    rng = np.random.default_rng(5)
    turn = scipy.linalg.qr(rng.standard_normal((p, p)))[0]
    X = 3.0 * rng.standard_normal((n, p)) * 10.0 ** np.linspace(0.0, -2.5, p) @ turn
    scores = X @ rng.standard_normal((p, 4)) + rng.standard_normal((n, 4))
    y = np.argmax(scores, axis=1) if loss == "multinomial" else scores[:, 0] > 0
    return tw.LinearProblem(storage(X), y, loss, l2=1e-7, **options)


@pytest.mark.parametrize("loss", ["logistic", "multinomial"])
@pytest.mark.parametrize("storage", [np.asarray, np.asfortranarray, scipy.sparse.csr_array])
def test_correlated_features_become_round(loss, storage, any_size):
    data = hard(loss, storage=storage)
    M, H = at(data, 0.1 * somewhere(data))
    spread = np.sort(np.linalg.eigvals(matrix_of(M, data.dim) @ H).real)
    spread = spread[spread > 1e-9]  # without the intercepts together
    assert spread[-1] < 25.0 * spread[0]
    D = np.sqrt(np.diag(H))
    scaled = np.linalg.eigvalsh(H / np.outer(D, D))
    assert scaled[-1] > 5e3 * scaled[scaled > 1e-9][0]  # as the diagonal leaves it


def test_units_of_features_do_not_matter(any_size):
    units = 2.0 ** np.array([0, 60, -50, 3, -4])
    plain, scaled = (
        at(linear(n=400, units=u, fit_intercept=False), np.zeros(5))[0] for u in (1.0, units)
    )
    other = matrix_of(scaled, 5) * np.outer(units, units)
    np.testing.assert_allclose(other, matrix_of(plain, 5), rtol=1e-5)


def test_a_feature_that_the_rows_missed_is_as_curved_as_the_average_sample(any_size):
    X = np.random.default_rng(0).standard_normal((2_000, 3))
    X[:, 1], X[:, 2] = 0.0, 0.0
    X[17] = 60.0, 0.5, 0.0  # alone in the second feature, and so certain of its class: never drawn
    data = tw.LinearProblem(X, X[:, 0] > 0, "logistic", fit_intercept=False)
    w = np.array([1.0, 0.0, 0.0])
    M, _ = at(data, w)
    h = data.hessian_at(data.scores(w)).curvatures
    assert M(np.eye(3)[1])[1] == pytest.approx(1.0 / (h.sum() * 0.25 / 2_000))
    assert np.isfinite(M(np.ones(3))).all()  # the third has no curvature, and no penalty


def test_no_curvature_at_all_is_no_obstacle(any_size):
    data = tw.LinearProblem(np.eye(3), [50.0, 60.0, 70.0], "huber", fit_intercept=False)
    states = follow(tw.NewtonCG(), data, np.zeros(3), 60)
    assert states[-1].value < 1e-3


def slow_about_mean(data, w):
    """D + Σh·m̃m̃ᵀ from the rows themselves."""
    x = (dense(data.matrix.rows) - data.features.place) * data.features.units
    h = data.hessian_at(data.scores(w)).curvatures
    mean = h @ x / h.sum()
    M = np.diag(h @ (x - mean) ** 2 + data.l2)
    if data.fit_intercept:
        M, mean = np.pad(M, (0, 1)), np.append(mean, 1.0)
    return M + h.sum() * np.outer(mean, mean)


def dense(rows):
    if not hasattr(rows, "indptr"):
        return rows
    return scipy.sparse.csr_array((rows.data, rows.indices, rows.indptr)).toarray()


@pytest.mark.parametrize("loss", ["squared", "logistic", "squared-hinge", "huber"])
@pytest.mark.parametrize("storage", [np.asarray, np.asfortranarray, scipy.sparse.csr_array])
@pytest.mark.parametrize(
    "options",
    [{}, {"fit_intercept": False}, {"standardize": True}],
)
def test_others_are_as_if_features_did_not_vary_together(loss, storage, options):
    data = linear(loss, n=60, l2=1e-2, storage=storage, **options)
    M, _ = at(data, somewhere(data))
    expected = slow_about_mean(data, somewhere(data))
    np.testing.assert_allclose(matrix_of(M, data.dim) @ expected, np.eye(data.dim), atol=1e-7)


@pytest.mark.parametrize("storage", [np.asarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("loss", ["squared", "logistic", "squared-hinge"])
def test_means_far_from_zero_cost_no_products(storage, loss):
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((200, 60)), rng.choice([-1.0, 1.0], 200)
    X[:, -1] = 1.0  # an intercept that is penalised

    def products(shift):
        problem = tw.LinearProblem(
            storage(X + shift),
            y > 0 if loss == "logistic" else y,
            loss,
            l2=0.05,
            fit_intercept=False,
        )
        run = tw.minimize(problem, "newton-cg", tol=1e-8)
        assert run.converged
        return run.counts["passes"]

    assert products(100.0) <= 1.5 * products(0.0)  # about 0 it was fifteen times as many


def test_no_mean_and_no_variance_is_no_obstacle():
    X = np.zeros((30, 3))
    X[:, 1], X[:, 2] = 5.0, np.arange(30) / 30.0  # nothing, a constant, and a feature
    for loss in ("squared", "logistic", "squared-hinge"):
        data = tw.LinearProblem(X, np.arange(30) % 2, loss, fit_intercept=False)
        M, _ = at(data, np.zeros(3))
        assert np.isfinite(M(np.ones(3))).all()
        assert tw.minimize(data, "newton-cg", tol=1e-9).converged


def test_other_problems_keep_their_diagonal():
    data = linear("multinomial", l2=1e-2)
    M, H = at(data, somewhere(data))
    np.testing.assert_allclose(M(np.diag(H)), 1.0)
    surface = Problem(tw.surfaces.Quadratic(), 2, np.dtype(np.float64))
    hessian = surface.hessian_at(surface.point(np.ones(2)))
    r = np.array([1.0, 2.0])
    assert preconditioner(surface, hessian, np.random.default_rng(0))(r) is r
    assert surface.counts["passes"] == 1


def test_pays_where_rows_are_many(monkeypatch):
    monkeypatch.setattr(module, "LARGE", 4_000)

    def problem(n, p, classes=2, density=1.0):
        X = np.ones((n, p))
        X = X if density == 1.0 else scipy.sparse.random_array((n, p), density=density, rng=0)
        loss = "multinomial" if classes > 2 else "logistic"
        return tw.LinearProblem(X, np.arange(n) % classes, loss, fit_intercept=False)

    assert pays(problem(1_000, 4))
    assert not pays(problem(900, 4))  # small
    assert not pays(problem(100, 200))  # more features than rows
    assert pays(problem(300, 20, classes=15))
    assert not pays(problem(299, 20, classes=15))  # the blocks would be larger than X
    assert pays(problem(20_000, 40, density=0.01))
    assert not pays(problem(20_000, 40, density=0.006))  # a pass is cheap, a block is not


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("options", [{}, {"standardize": True, "fit_intercept": False}])
def test_reaches_the_same_minimum(loss, options, any_size, monkeypatch):
    data = linear(loss, n=400, l2=1e-4, sample_weight=np.arange(400.0), **options)
    sampled = tw.minimize(data, "newton-cg", tol=1e-10)
    monkeypatch.setattr(module, "pays", lambda data: False)
    plain = tw.minimize(data, "newton-cg", tol=1e-10)
    assert sampled.converged
    assert sampled.value == pytest.approx(plain.value, abs=1e-9)


@pytest.mark.parametrize("loss", ["logistic", "multinomial"])
def test_saves_most_products(loss, any_size, monkeypatch):
    sampled = tw.minimize(hard(loss), "newton-cg", tol=1e-8)
    monkeypatch.setattr(module, "pays", lambda data: False)
    plain = tw.minimize(hard(loss), "newton-cg", tol=1e-8)
    assert sampled.converged
    assert plain.converged
    assert sampled.counts["passes"] < plain.counts["passes"] / 2


def test_works_without_a_penalty_from_anywhere_and_in_single_precision(any_size):
    data = linear("multinomial", n=400, dtype=np.float32)
    run = tw.minimize(data, "newton-cg", np.full(data.dim, 3.0, dtype=np.float32), tol=1e-4)
    reference = tw.minimize(linear("multinomial", n=400), "lbfgs", tol=1e-8)
    assert run.converged
    assert run.w.dtype == np.float32
    assert run.value == pytest.approx(reference.value, rel=1e-4)


def test_weights_that_all_classes_share_are_forgotten(any_size):
    # Only l2 pulls them back, which no block knows of.
    data = linear("multinomial", n=400, l2=1e-6, fit_intercept=False)
    w0 = np.repeat(np.arange(5.0), 3)
    run = tw.minimize(data, "newton-cg", w0, tol=1e-10)
    assert run.converged
    assert run.iterations < 20
    np.testing.assert_allclose(run.w.reshape(5, 3).mean(axis=1), 0.0, atol=1e-3)


def test_resumed_equals_uninterrupted(any_size, tmp_path):
    data = hard("multinomial")

    def run(max_iter, file=None):
        return tw.minimize(data, "newton-cg", tol=1e-9, max_iter=max_iter, checkpoint=file)

    whole = run(30)
    run(3, tmp_path / "checkpoint")
    resumed = run(30, tmp_path / "checkpoint")
    assert resumed.outcome is whole.outcome
    for column in ("value", "passes", "gap"):
        np.testing.assert_array_equal(resumed.trace[column], whole.trace[column])
    assert resumed.w.tobytes() == whole.w.tobytes()
