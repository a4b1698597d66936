import gc
import itertools
import weakref

import numpy as np
import pytest
import scipy.sparse
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits

import thalweg as tw
from stepping import follow
from thalweg.certificates.duality import constant_value, duality_gap
from thalweg.kernels.losses import LOSSES, loss_slope
from thalweg.methods.problem import Problem

REGRESSIONS = ("squared", "huber")
LOADERS = {
    "squared": load_diabetes,
    "huber": load_diabetes,
    "logistic": load_breast_cancer,
    "squared-hinge": load_breast_cancer,
    "multinomial": load_digits,
}
RNG = np.random.default_rng(0)


def small(loss="logistic", n=30, p=4, seed=0, storage=np.asarray, **options):
    rng = np.random.default_rng(seed)
    X = (rng.standard_normal((n, p)) + 0.5) * (rng.random((n, p)) < 0.8)
    Z = X @ rng.standard_normal((p, 3)) + 0.5 * rng.standard_normal((n, 3))
    y = Z[:, 0] if loss in REGRESSIONS else np.argmax(Z, axis=1)
    y = Z[:, 0] > 0.3 if loss in ("logistic", "squared-hinge") else y
    return tw.LinearProblem(storage(X), y, loss, **{"l2": 0.05} | options)


def real(loss, rows=None, dtype=np.float64, **options):
    X, y = LOADERS[loss](return_X_y=True)
    X, y = X[:rows], y[:rows]
    X = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9)
    if loss in REGRESSIONS:
        y = (y - y.mean()) / y.std()
    return tw.LinearProblem(X.astype(dtype), y, loss, **options)


def model_rows(problem):
    """The matrix that the model sees, one score a row."""
    zero = np.zeros(problem.dim)
    units = np.eye(problem.p)
    columns = [
        problem.scores(np.concatenate([unit, zero[problem.p :]]))
        for unit in units
    ]  # fmt: skip
    return np.stack(columns, axis=1)


def duals(problem, state):
    if problem.outputs > 1:
        return state.memory - np.eye(problem.outputs)[problem.y]
    code = LOSSES[problem.loss]
    return np.array(
        [
            loss_slope(code, s, y, problem.delta)
            for s, y in zip(state.memory, problem.y, strict=True)
        ]
    )


def soft(v, t):
    return np.sign(v) * np.maximum(np.abs(v) - t, 0.0)


def test_one_pass_by_hand():
    # Weights ½, l2 = ½: q = ½·x²/½ = x². θ₁ = (0 − 1)/(1 + 1) = −½, w = ½·½·1/½ = ½; then
    # z = 2·½ = 1, θ₂ = (1 − 2)/(1 + 4) = −⅕, w = ½ + ½·⅕·2/½ = 0.9.
    problem = tw.LinearProblem([[1.0], [2.0]], [1.0, 2.0], l2=0.5, fit_intercept=False)
    _, state = follow(tw.SDCA(sampling="cyclic"), problem, [0.0], 1)
    np.testing.assert_allclose(duals(problem, state), [-0.5, -0.2], rtol=1e-14)
    assert state.w[0] == pytest.approx(0.9, rel=1e-14)
    assert state.value == pytest.approx(0.25 * 0.01 + 0.25 * 0.04 + 0.25 * 0.81, rel=1e-14)


def test_an_intercept_by_hand():
    # One sample x = 0: only b can fit y = 3. mean‖x‖² = 0, so κ = ¼ and q = 4: from b = 0
    # θ = −3/5, b = 4·3/5 = 2.4; then b starts at 2.4 + 2.4, z − y = 1.8:
    # θ = −0.6 + (1.8 + 0.6)/5 = −0.12, b = 2.4 + 4·0.12 = 2.88: the distance shrinks by ¼/(¼ + 1).
    problem = tw.LinearProblem([[0.0]], [3.0], l2=1.0)
    _, first, second = follow(tw.SDCA(), problem, [0.0, 0.0], 2)
    np.testing.assert_allclose(first.w, [0.0, 2.4], rtol=1e-14)
    np.testing.assert_allclose(second.w, [0.0, 2.88], rtol=1e-14)
    np.testing.assert_allclose(second.gradient[1], -0.12, rtol=1e-13)


@pytest.mark.parametrize("sampling", ["shuffled", "cyclic", "uniform"])
@pytest.mark.parametrize("block", [1, 4, 100])
def test_blocks_cover_the_rows_as_the_sampling_says(sampling, block):
    seen = tw.SDCA(sampling=sampling, block=block)._blocks(30, np.random.default_rng(1))
    count = -(-30 // block)
    assert seen.shape == (count,)
    if sampling == "uniform":
        assert set(seen) <= set(range(count))
    else:
        assert sorted(seen) == list(range(count))
        assert (seen == np.arange(count)).all() == (sampling == "cyclic" or count == 1)


@pytest.mark.parametrize("loss", LOADERS)
@pytest.mark.parametrize("l1", [0.0, 0.02])
@pytest.mark.parametrize("storage", [np.asarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("standardize", [False, True])
def test_w_is_always_what_the_duals_imply(loss, l1, storage, standardize):
    weights = np.arange(30.0)
    problem = small(
        loss, l1=l1, storage=storage, standardize=standardize, sample_weight=weights,
        fit_intercept=False,
    )  # fmt: skip
    w0 = RNG.standard_normal(problem.dim)
    X = model_rows(problem) if problem.outputs == 1 else None
    for state in follow(tw.SDCA(), problem, w0, 4)[1:]:
        theta = (problem.weights * duals(problem, state).T).T
        if X is None:
            v = problem.transpose(duals(problem, state)).ravel()
        else:
            v = X.T @ theta
        np.testing.assert_allclose(state.w, -soft(v, l1) / problem.l2, atol=1e-11)


@pytest.mark.parametrize("loss", LOADERS)
@pytest.mark.parametrize("l1", [0.0, 0.02])
@pytest.mark.parametrize("standardize", [False, True])
def test_sparse_and_several_passes_go_the_same_way(loss, l1, standardize):
    # Without an intercept; with one, a standardized sparse row keeps its mean, and so its own way.
    options = {"l1": l1, "standardize": standardize, "fit_intercept": False}
    dense = small(loss, **options)
    sparse = small(loss, storage=scipy.sparse.csr_array, **options)
    states = follow(tw.SDCA(block=4), dense, dense.start, 4)
    other = follow(tw.SDCA(block=4), sparse, sparse.start, 4)
    double = follow(tw.SDCA(block=4, passes=2), dense, dense.start, 2)
    np.testing.assert_allclose(other[4].w, states[4].w, atol=1e-12)
    np.testing.assert_allclose(double[2].w, states[4].w, atol=1e-15)


@pytest.mark.parametrize("loss", LOADERS)
@pytest.mark.parametrize("l1", [0.0, 0.02])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("storage", [np.asarray, scipy.sparse.csr_array])
def test_the_optimum_is_a_fixed_point(loss, l1, fit_intercept, storage):
    problem = small(loss, l1=l1, fit_intercept=fit_intercept, storage=storage, standardize=True)
    best = tw.minimize(problem, "fista", tol=1e-14, max_iter=3000).w
    states = follow(tw.SDCA(), problem, best, 3)
    np.testing.assert_allclose(states[3].w, best, atol=2e-5)
    assert states[3].value <= problem.value(best) + 1e-9
    assert np.max(np.abs(states[3].gradient)) < 1e-4


def test_the_gap_of_the_trace_is_the_duality_gap_and_so_a_bound():
    problem = small("logistic", l2=0.02, fit_intercept=False)
    best = tw.minimize(problem, "newton", tol=1e-13).value
    states = follow(tw.SDCA(), problem, problem.start, 30)
    gaps = [state.gradient @ state.gradient / (2 * problem.l2) for state in states[1:]]
    for gap, state in zip(gaps, states[1:], strict=True):
        theta = duals(problem, state)
        a = -problem.y * theta
        entropy = problem.weights @ (a * np.log(a) + (1 - a) * np.log1p(-a))
        dual = -entropy - 0.5 * problem.l2 * state.w @ state.w
        assert gap == pytest.approx(state.value - dual, rel=1e-9, abs=1e-15)
        assert state.floor == pytest.approx(dual, rel=1e-12)
        assert state.floor <= best + 1e-14
        assert gap >= state.value - best - 1e-14
    assert gaps[-1] < 1e-2 * gaps[0]
    assert np.all(np.diff([state.floor for state in states[1:]]) >= -1e-15)


@pytest.mark.parametrize("loss", LOADERS)
@pytest.mark.parametrize("l1", [0.0, 0.02])
def test_the_floor_is_below_the_optimum_and_reaches_it(loss, l1):
    problem = small(loss, l1=l1, fit_intercept=False, sample_weight=np.arange(30.0))
    best = tw.minimize(problem, "fista", tol=1e-12, max_iter=3000).value
    floors = [state.floor for state in follow(tw.SDCA(), problem, problem.start, 100)[1:]]
    assert np.all(np.diff(floors) >= -1e-14)
    assert max(floors) <= best + 1e-10
    assert max(floors) >= best - 1e-5
    free = small(loss, l1=l1, sample_weight=np.arange(30.0))
    best = tw.minimize(free, "fista", tol=1e-12, max_iter=3000).value
    assert follow(tw.SDCA(), free, free.start, 100)[-1].floor == pytest.approx(best, abs=1e-5)


@pytest.mark.parametrize("sampling", ["shuffled", "cyclic", "uniform"])
def test_every_sampling_converges(sampling):
    run = tw.minimize(small("logistic"), tw.SDCA(sampling=sampling, block=2), tol=1e-8)
    assert run.converged


@pytest.mark.parametrize("loss", LOADERS)
@pytest.mark.parametrize("l1", [0.0, 0.01])
def test_real_data_to_a_certified_gap(loss, l1):
    rows = 400 if loss == "multinomial" else None
    count = real(loss, rows).n
    for fit_intercept, weights, dtype in itertools.product(
        (False, True), (None, RNG.integers(0, 3, count)), (np.float64, np.float32)
    ):
        problem = real(
            loss, rows, dtype, l2=0.02, l1=l1, fit_intercept=fit_intercept, sample_weight=weights
        )
        tol = 1e-6 if dtype == np.float64 else 1e-4
        run = tw.minimize(problem, "sdca", tol=tol, max_iter=200)
        assert run.converged, run
        certificate = tw.certify(problem, run.w, dual=run.dual, tol=tol)
        assert certificate.holds


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("loss", LOADERS)
def test_a_run_keeps_the_dual_point_that_proves_it(loss, fit_intercept, tmp_path):
    problem = small(loss, l2=1e-3, fit_intercept=fit_intercept)
    run = tw.minimize(problem, "sdca", tol=1e-3, max_iter=3000)
    assert run.converged
    found = tw.certify(problem, run.w, dual=run.dual, tol=1e-3)
    assert found.gap == pytest.approx(run.certificate.gap, rel=1e-9)
    assert found.gap <= tw.certify(problem, run.w, tol=1e-15).gap or found.holds
    kept = tw.Run.load(run.save(tmp_path / "run"))
    np.testing.assert_array_equal(kept.dual, run.dual)


def test_far_from_the_optimum_the_dual_point_is_the_better_proof():
    problem = real("logistic", l2=1e-4, fit_intercept=False)
    run = tw.minimize(problem, "sdca", tol=1e-2, max_iter=500)
    assert run.converged
    z = problem.scores(run.w)
    assert duality_gap(problem, run.w, dual=run.dual).gap < 0.5 * duality_gap(problem, run.w).gap
    theta = duals(problem, follow(tw.SDCA(), problem, problem.start, run.iterations)[-1])
    np.testing.assert_allclose(run.dual, theta, rtol=1e-12)
    assert run.dual.shape == z.shape


def test_an_intercept_costs_few_passes():
    X = RNG.standard_normal((500, 8))
    z = X @ RNG.standard_normal(8) + RNG.standard_normal(500)
    cases = {
        "centred": (X, z > 0, 1e-2),
        "rare": (X, z > np.quantile(z, 0.98), 1e-2),
        "one-hot": (np.eye(8)[np.argmax(X, axis=1)], z > 0, 1e-3),
        "shifted": (X + 3.0, z > 0, 1e-1),
        "strong": (X, z > 1, 100.0),
        "tiny": (X * 1e-4, z > 1, 1e-9),
        "huge": (X * 1e4, z > 1, 1e6),
    }
    for name, (features, y, l2) in cases.items():
        passes = []
        for fit_intercept in (False, True):
            problem = tw.LinearProblem(features, y, "logistic", l2=l2, fit_intercept=fit_intercept)
            limit = 1e-6 * constant_value(problem)
            states = follow(tw.SDCA(), problem, problem.start, 60)
            gaps = [duality_gap(problem, state.w).gap for state in states]
            passes.append(next((t for t, gap in enumerate(gaps) if gap <= limit), 1000))
        most = 3.0 if name == "shifted" else 1.5  # the loop would have centred those
        assert passes[1] <= max(most * passes[0], 12), (name, passes)


def test_a_warm_start_goes_on_where_it_was():
    problem = small("logistic", n=200, l2=1e-3)
    run = tw.minimize(problem, "sdca", tol=1e-8, max_iter=1000)
    near = run.w + 1e-4 * RNG.standard_normal(problem.dim)
    again = tw.minimize(problem, "sdca", near, tol=1e-8, max_iter=1000)
    assert again.converged
    assert again.iterations < 0.8 * run.iterations


def test_a_start_whose_slopes_are_worse_than_none_is_left():
    problem = small("logistic", l2=1e-6)
    far = 50.0 * RNG.standard_normal(problem.dim)
    start, state = follow(tw.SDCA(), problem, far, 1)
    np.testing.assert_array_equal(start.w, far)
    cold = np.append(np.zeros(problem.p), far[-1:])
    np.testing.assert_array_equal(state.w, follow(tw.SDCA(), problem, cold, 1)[1].w)


def test_passes_are_counted():
    problem = small("logistic")
    counter = Problem(problem, problem.dim, problem.start.dtype)
    method = tw.SDCA(passes=3)
    state = method.init(counter, problem.start, np.random.default_rng(0))
    assert counter.counts == {"values": 1, "gradients": 1, "hessian_vectors": 0, "passes": 1}
    state = method.advance(counter, state)
    assert counter.counts == {"values": 2, "gradients": 4, "hessian_vectors": 0, "passes": 5}
    method.advance(counter, method.init(counter, state.w, state.rng))
    assert counter.counts["passes"] == 5 + 1 + 2 + 4  # two for the duals of a start that is not 0


def test_advance_leaves_the_state_it_was_given_alone():
    problem = small("multinomial")
    _, state = follow(tw.SDCA(), problem, problem.start, 1)
    kept = [np.copy(field) for field in state[:-1]]
    tw.SDCA().advance(Problem(problem, problem.dim, state.w.dtype), state)
    for field, before in zip(state[:-1], kept, strict=True):
        np.testing.assert_array_equal(field, before)


NASTY = {
    "duplicate rows": lambda X, y: (np.repeat(X, 3, axis=0), np.repeat(y, 3)),
    "zero rows": lambda X, y: (np.vstack([X, np.zeros((5, X.shape[1]))]), np.append(y, y[:5])),
    "constant column": lambda X, y: (np.column_stack([X, np.full(len(X), 2.0)]), y),
    "n < p": lambda X, y: (np.column_stack([X, RNG.standard_normal((len(X), 60))]), y),
    "one sample a class": lambda X, y: (X[[0, np.argmax(y != y[0])]], y[[0, np.argmax(y != y[0])]]),
    "one column": lambda X, y: (X[:, :1], y),
    "all zero": lambda X, y: (0.0 * X, y),
}


@pytest.mark.parametrize("name", NASTY)
@pytest.mark.parametrize("loss", ["logistic", "squared-hinge", "squared"])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_nasty_data(name, loss, fit_intercept):
    X = RNG.standard_normal((20, 3))
    X, y = NASTY[name](X, X @ [1.0, -1.0, 0.5] > 0.2)
    y = y * 1.0 if loss == "squared" else y
    problem = tw.LinearProblem(X, y, loss, l2=0.1, fit_intercept=fit_intercept)
    run = tw.minimize(problem, "sdca", tol=1e-9, max_iter=1000)
    assert run.converged, run


@pytest.mark.parametrize("scale", [1e-8, 1e-3, 1e3, 1e8])
@pytest.mark.parametrize("loss", ["logistic", "squared", "multinomial"])
def test_scales(scale, loss):
    # w/scale with l2·scale² is the same problem.
    X = RNG.standard_normal((40, 3))
    y = X @ [1.0, -1.0, 0.5] if loss == "squared" else np.digitize(X[:, 0], [-0.5, 0.5])
    y = X[:, 0] > 0.1 if loss == "logistic" else y
    problem = tw.LinearProblem(X * scale, y, loss, l2=0.1 * scale**2)
    run = tw.minimize(problem, "sdca", tol=1e-7, max_iter=500)
    assert run.converged, run
    same = tw.minimize(tw.LinearProblem(X, y, loss, l2=0.1), "lbfgs", tol=1e-12)
    assert run.value == pytest.approx(same.value, rel=1e-6)


def test_separable_data_with_a_tiny_penalty_stays_finite_and_improves():
    X = np.concatenate([RNG.standard_normal((20, 3)) + 4, RNG.standard_normal((20, 3)) - 4])
    problem = tw.LinearProblem(X, np.arange(40) < 20, "logistic", l2=1e-12)
    states = follow(tw.SDCA(), problem, problem.start, 50)
    assert all(np.isfinite(state.w).all() for state in states)
    assert states[50].value < 1e-6


def test_rows_without_weight_are_as_if_they_were_not_there():
    X, y = RNG.standard_normal((30, 3)), RNG.random(30) > 0.5
    y[:2] = [False, True]
    weights = (np.arange(30) < 20) * 1.0
    with_them = tw.LinearProblem(X, y, "logistic", l2=0.1, sample_weight=weights)
    without = tw.LinearProblem(X[:20], y[:20], "logistic", l2=0.1)
    a, b = (
        follow(tw.SDCA(sampling="cyclic"), problem, np.zeros(4), 5)[5]
        for problem in (with_them, without)
    )
    np.testing.assert_allclose(a.w, b.w, rtol=1e-12)


def test_rows_are_forgotten_with_their_problem():
    problem = small("logistic")
    follow(tw.SDCA(), problem, problem.start, 1)
    rows, alive = weakref.ref(problem.samples.squares), weakref.ref(problem)
    assert rows() is not None
    del problem
    gc.collect()
    assert (rows(), alive()) == (None, None)


@pytest.mark.parametrize(
    ("objective", "says"),
    [
        (tw.surfaces.Rosenbrock(), "sdca needs a LinearProblem.*use method='lbfgs'"),
        (
            tw.LinearProblem(np.eye(2), [0, 1], "logistic", l1=1.0),
            r"SDCA needs l2 > 0 \(got 0\): add an l2 penalty, or use method='saga'\.",
        ),
    ],
)
def test_what_it_refuses(objective, says):
    with pytest.raises(tw.InputError, match=says):
        tw.minimize(objective, "sdca")


@pytest.mark.parametrize("options", [{"passes": 0}, {"block": 0}, {"sampling": "lipschitz"}])
def test_options_are_checked(options):
    with pytest.raises(tw.InputError, match=next(iter(options))):
        tw.SDCA(**options)
