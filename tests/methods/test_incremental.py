"""What sag, iag, saga and svrg have in common."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.datasets import load_breast_cancer, load_diabetes

import thalweg as tw
from stepping import follow
from thalweg.methods.incremental import batch_smoothness, lag_block
from thalweg.methods.problem import Problem
from thalweg.objectives.finite_sum import enter, sample_smoothness
from thalweg.theory.stability import remembered_limit
from visiting import NAMES, optimum, passes_to, problem, rows

LOSSES = ("squared", "logistic", "multinomial")


def seen(data):
    return Problem(data, data.dim, np.dtype(np.float64))


def test_steps_by_hand():
    # Lᵢ = 1, 4 and l2 = 0.5: mean 2.5; npᵢ = ½ + (Lᵢ + l2)/6 = 0.75, 1.25, so L_eff = 4/1.25.
    two = tw.LinearProblem([[1.0], [2.0]], [1.0, 1.0], l2=0.5, fit_intercept=False)
    problem = seen(two)
    assert tw.SAG().fixed_step(problem, 0.5) == pytest.approx(0.5 / (3.2 + 0.5))
    assert tw.SAG(step="theory").fixed_step(problem, 0.5) == pytest.approx(1 / 16 / (3.2 + 0.5))
    problem = seen(two)
    assert tw.SAGA(sampling="uniform").fixed_step(problem, 0.5) == pytest.approx(0.5 / 4.5)
    problem = seen(two)
    # A batch of all samples sees the mean: L_b = L_mean.
    assert batch_smoothness(tw.SAGA(batch=2), problem) == pytest.approx(2.5)
    # In turn: half of π²/(2nL), L = mean Lᵢ + l2 here, since all rows are of one direction.
    problem = seen(two)
    limit = remembered_limit(3.0, samples=2, order="cyclic")
    assert tw.IAG().fixed_step(problem, 0.5) == pytest.approx(min(0.5 / 4.5, 0.5 * limit))
    assert tw.SAG(step=0.3).fixed_step(problem, 0.5) == 0.3


def test_a_penalty_bounds_the_step():
    data = problem("squared", l2=1e6)
    assert tw.SVRG().fixed_step(seen(data), 1e6) <= 0.5 / 1e6
    with pytest.raises(tw.InputError, match=r"step must be below 1/l2 = 1e-06, got 1e-06"):
        tw.minimize(data, tw.SAG(step=1e-6))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("storage", ["dense", "csr"])
def test_the_sum_is_that_of_the_slopes_and_the_value_that_of_the_point(name, loss, storage):
    data = problem(loss, storage=storage, l1=0.01, l2=0.05, weighted=True)
    X = np.column_stack([rows(data), np.ones(data.n)])
    for passes in range(5):
        state = follow(tw.METHODS[name](), data, data.start, passes)[
            -1
        ]  # earlier ones share slopes
        slopes = np.nan_to_num(state.slopes).reshape(data.n, data.outputs)
        np.testing.assert_allclose(state.g, (X.T @ slopes).ravel(), rtol=1e-9, atol=1e-12)
        assert state.value == pytest.approx(data.value(state.w), rel=1e-13)


@pytest.mark.parametrize("name", NAMES)
def test_the_direction_tends_to_the_gradient(name):
    data = problem("logistic", storage="csr", l2=0.1, standardize=True)
    state = follow(tw.METHODS[name](), data, data.start, 600)[-1]
    np.testing.assert_allclose(state.gradient, data.gradient(state.w), atol=1e-10)
    assert np.max(np.abs(data.gradient(state.w))) < 1e-8


@pytest.mark.parametrize("step", [None, "search"])
@pytest.mark.parametrize("name", NAMES)
def test_a_seed_replays(name, step):
    data = problem("logistic", l1=0.01)
    method = tw.METHODS[name](step=step)
    runs = [tw.minimize(data, method, max_iter=8, seed=seed, tol=1e-15) for seed in (4, 4, 5)]
    assert runs[0].w.tobytes() == runs[1].w.tobytes()
    if name != "iag":
        assert runs[0].w.tobytes() != runs[2].w.tobytes()


@pytest.mark.parametrize("step", [None, "theory", "search"])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("options", [{}, {"storage": "csr", "standardize": True}])
def test_the_optimum_is_a_fixed_point(name, step, options):
    data = problem("logistic", l2=0.1, **options)
    best, value = optimum(data)
    for state in follow(tw.METHODS[name](step=step, start="full"), data, best, 3):
        np.testing.assert_allclose(state.w, best, atol=1e-9)
        assert state.value == pytest.approx(value, rel=1e-13)


@pytest.mark.parametrize("name", NAMES)
def test_a_start_near_the_optimum_is_not_lost(name):
    data = problem("logistic", l2=0.1)
    best, value = optimum(data)
    near = best + 1e-3 * np.random.default_rng(0).standard_normal(data.dim)
    gap = data.value(near) - value
    for state in follow(tw.METHODS[name](), data, near, 10):
        assert state.value - value <= 2 * gap


def test_an_empty_memory_would_lose_it():
    data = problem("logistic", l2=0.1)
    best, value = optimum(data)
    state = follow(tw.SAG(start="seen"), data, best, 1)[-1]
    assert state.value - value > 1e-5


@pytest.mark.parametrize("name", ["sag", "saga", "svrg"])
def test_convergence_is_linear_where_the_penalty_is_1_over_n(name):
    rng = np.random.default_rng(0)
    n = 300
    X = rng.standard_normal((n, 10))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    y = 3 * X[:, 0] + rng.standard_normal(n) > 0
    data = tw.LinearProblem(X, y, "logistic", l2=1 / n, fit_intercept=False)
    best = optimum(data)[1]
    run = tw.minimize(
        data, name, tol=1e-15, max_iter=400, progress=False,
        callback=lambda step: step.value - best < 1e-10,
    )  # fmt: skip
    gaps = run.trace["value"] - best
    assert gaps[-1] < 1e-10
    passes = np.arange(gaps.size - 1)
    logs = np.log(np.maximum(gaps[1:], 1e-13))
    slope = np.polyfit(passes, logs, 1)[0]
    assert np.exp(slope) < 0.9
    # A straight line: what 1/t would leave is a curve, flat at its end.
    assert np.corrcoef(passes, logs)[0, 1] < -0.97
    late = np.polyfit(passes[passes.size // 2 :], logs[passes.size // 2 :], 1)[0]
    assert late < 0.4 * slope


def scaled_rows(loss, span):
    """Ill conditioned, so that the step decides, with row norms that span a factor."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((300, 10)) * np.arange(1, 11) ** -2.0
    X *= span ** rng.uniform(0, 1, (300, 1)) / np.linalg.norm(X, axis=1, keepdims=True)
    X /= np.sqrt(np.mean(np.sum(X * X, axis=1)))
    scores = 3 * X @ rng.standard_normal(10) + 0.3 * rng.standard_normal(300)
    y = scores if loss == "squared" else scores > 0
    return tw.LinearProblem(X, y, loss, l2=1e-4, fit_intercept=False)


@pytest.mark.parametrize("name", ["sag", "saga", "svrg"])
@pytest.mark.parametrize("loss", ["logistic", "squared"])
@pytest.mark.parametrize(("span", "at_most"), [(100.0, 0.5), (1.0, 1.2)])
def test_lipschitz_sampling_halves_the_passes_where_rows_differ(name, loss, span, at_most):
    data = scaled_rows(loss, span)
    level = optimum(data)[1] + 1e-6 * data.value(data.start)
    method, seeds = tw.METHODS[name], 2 if span > 1 else 8
    lipschitz, uniform = (
        np.mean([passes_to(data, method(sampling=s), level, seed=k) for k in range(seeds)])
        for s in ("lipschitz", "uniform")
    )
    assert lipschitz <= at_most * uniform


def real(name):
    load, loss = {
        "breast cancer": (load_breast_cancer, "logistic"),
        "diabetes": (load_diabetes, "squared"),
    }[name]
    X, y = load(return_X_y=True)
    y = y if loss == "logistic" else (y - y.mean()) / y.std()
    return tw.LinearProblem((X - X.mean(axis=0)) / X.std(axis=0), y, loss, l2=0.1)


@pytest.mark.parametrize("name", ["breast cancer", "diabetes"])
def test_random_order_needs_fewest_passes_and_the_rows_order_most(name):
    data = real(name)
    level = optimum(data)[1] + 1e-6 * data.value(data.start)

    def passes(step):
        methods = (tw.SAG(step), tw.SAG(step, "shuffled"), tw.IAG(step))
        return [passes_to(data, method, level) for method in methods]

    sag, shuffled, iag = passes(None)
    assert 2 * sag <= shuffled <= iag
    # With a step that all bear with ease they do the same; close to IAG's limit it begins to rock.
    limit = remembered_limit(data.smoothness, samples=data.n, order="cyclic")
    easy = passes(0.5 * limit)
    assert max(easy) <= 1.1 * min(easy)
    if name == "diabetes":  # squared: the curvature is its bound
        sag, shuffled, iag = passes(0.9 * limit)
        assert sag <= shuffled <= 0.8 * iag


def nasty(rng):
    """Duplicated, zero and heavy-tailed rows, features of all scales, losses and penalties."""
    n, p = int(rng.integers(1, 40)), int(rng.integers(1, 12))
    X = rng.standard_normal((n, p))
    shape = rng.integers(6)
    if shape == 1:
        X = X[rng.integers(n, size=n)]
    elif shape == 2:
        X[rng.random(n) < 0.5] = 0.0
    elif shape == 3:
        X *= np.abs(rng.standard_cauchy((n, 1)))
    elif shape == 4:
        X *= 10.0 ** rng.uniform(-4, 4, (n, 1))
    elif shape == 5:
        X *= 10.0 ** rng.uniform(-2, 2, (1, p))
    loss = ("squared", "huber", "logistic", "squared-hinge", "multinomial")[rng.integers(5)]
    scores = X @ rng.standard_normal(p) + rng.standard_normal(n)
    unit = 10.0 ** rng.integers(-8, 9) if loss in ("squared", "huber") else 1.0
    if loss in ("squared", "huber"):
        y = unit * scores
    else:
        y = np.argsort(np.argsort(scores)) * (3 if loss == "multinomial" else 2) // n
        if np.unique(y).size < (3 if loss == "multinomial" else 2):
            return nasty(rng)
    X = X * 10.0 ** rng.integers(-8, 9)
    square = float(np.mean(np.sum(X * X, axis=1))) or 1.0
    penalties = {}
    if rng.random() < 0.6:
        penalties["l2"] = square * 10.0 ** rng.uniform(-4, 0)
    if not penalties or rng.random() < 0.5:
        penalties["l1"] = unit * square**0.5 * 10.0 ** rng.uniform(-4, -1)
    return tw.LinearProblem(
        scipy.sparse.csr_array(X) if rng.random() < 0.5 else X, y, loss, delta=unit, **penalties,
        fit_intercept=bool(rng.integers(2)), standardize=bool(rng.random() < 0.3),
    )  # fmt: skip


@pytest.mark.parametrize("step", [None, "search"])
@pytest.mark.parametrize("name", NAMES)
def test_no_step_diverges_on_nasty_problems(name, step):
    rng = np.random.default_rng(7)
    for _ in range(60):
        data = nasty(rng)
        samplings = ("cyclic",) if name == "iag" else ("lipschitz", "uniform")
        for sampling in samplings:
            method = tw.METHODS[name](step=step, sampling=sampling)
            run = tw.minimize(data, method, max_iter=40, progress=False)
            assert run.outcome is not tw.Outcome.DIVERGED, (data, method)
            assert run.value <= run.trace["value"][0] * (1 + 1e-6), (data, method)


@pytest.mark.parametrize("step", [None, "search"])
@pytest.mark.parametrize("name", NAMES)
def test_rows_of_zeros_alone(name, step):
    data = tw.LinearProblem(np.zeros((4, 2)), [1.0, 2.0, 3.0, 4.0], l1=0.1, fit_intercept=False)
    run = tw.minimize(data, tw.METHODS[name](step=step), [1.0, -1.0], max_iter=300)
    assert run.converged
    np.testing.assert_array_equal(run.w, [0.0, 0.0])


@pytest.mark.parametrize("name", ["sag", "saga", "svrg"])
def test_a_search_finds_larger_steps_than_the_bound_allows(name):
    # Margins far from zero, where the logistic loss curves much less than 1/4.
    rng = np.random.default_rng(0)
    X = 3 * rng.standard_normal((400, 8))
    data = tw.LinearProblem(X, X[:, 0] > 0, "logistic", l2=1e-4, fit_intercept=False)
    level = optimum(data)[1] + 1e-6
    found, fixed = (passes_to(data, tw.METHODS[name](step=s), level) for s in ("search", None))
    assert found < 0.7 * fixed


def test_estimates_stay_below_the_bounds_and_the_tree_adds_up():
    data = problem("logistic", l2=0.01)
    state = follow(tw.SAGA(step="search"), data, data.start, 20)[-1]
    size = state.tree.size // 2
    leaves = state.tree[size : size + data.n]
    assert np.all(leaves <= sample_smoothness(data) * (1 + 1e-12))
    assert leaves.sum() < sample_smoothness(data).sum()
    assert state.tree[1] == pytest.approx(leaves.sum())


def test_columns_of_a_sparse_matrix_are_centred_by_the_intercept():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((60, 5)) < 0.5, 0.0, 5 + rng.standard_normal((60, 5)))
    y = X[:, 0] > 3
    values = [
        tw.minimize(
            tw.LinearProblem(form(X), y, "logistic", l2=0.05, standardize=True),
            "saga", tol=1e-9,
        ).value
        for form in (np.asarray, scipy.sparse.csr_array)
    ]  # fmt: skip
    assert values[0] == pytest.approx(values[1], abs=1e-8)


def test_the_lag_is_between_bounds():
    wide = tw.LinearProblem(scipy.sparse.eye_array(3, 10**6, format="csr"), np.zeros(3), l2=1.0)
    assert lag_block(wide) == 16_384
    assert lag_block(problem("logistic", storage="csr")) == 64


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"step": 0.0}, r"step must be above 0, got 0.*: leave it out to have it chosen"),
        ({"step": "fast"}, r"step must be .*got 'fast': Known: search, theory"),
        ({"batch": 0}, r"batch must be .*got 0"),
        ({"batch": 1.5}, r"batch must be .*got 1.5"),
        ({"start": "warm"}, r"start must be .*got 'warm'"),
        ({"sampling": "random"}, r"sampling must be .*got 'random'"),
    ],
)
def test_options_are_checked(name, options, says):
    with pytest.raises(tw.InputError, match=says):
        tw.METHODS[name](**options)


@pytest.mark.parametrize("name", [*NAMES, "catalyst"])
def test_what_the_problem_must_be(name):
    with pytest.raises(tw.InputError, match=f"{name} needs a LinearProblem.*use method='gd'"):
        tw.minimize(tw.surfaces.Rosenbrock(), name)
    with pytest.raises(tw.InputError, match="batch must be at most 23, the number of samples"):
        tw.minimize(problem(l2=1.0), tw.METHODS[name](batch=24))
    with pytest.raises(tw.InputError, match=r"step must be below 1/l2 = 2, got 2"):
        tw.minimize(problem(l2=0.5), tw.METHODS[name](step=2.0))


def wide_and_tall(n, p, entries=20):
    """A CSR matrix with 64-bit indices, `entries` a row."""
    rng = np.random.default_rng(0)
    block = p // entries
    indices = (rng.integers(0, block, (n, entries)) + block * np.arange(entries)).ravel()
    indptr = np.arange(0, n * entries + 1, entries)
    X = scipy.sparse.csr_array((rng.standard_normal(n * entries), indices, indptr), shape=(n, p))
    assert X.indices.dtype == np.int64
    return X, rng.random(n) > 0.5


@pytest.mark.parametrize("name", [*NAMES, "catalyst"])
def test_int64_indices_are_used_in_place(name):
    X, y = wide_and_tall(200, 100)
    data = tw.LinearProblem(X, y, "logistic", l2=0.1)
    assert tw.minimize(data, name, max_iter=3000).converged
    for ours, given in ((data.matrix.rows.data, X.data), (data.matrix.rows.indices, X.indices)):
        assert np.shares_memory(ours, given)
    assert data.samples.X.indices.dtype == np.int64


@pytest.mark.parametrize("name", NAMES)
def test_the_state_begins_at_the_start_given(name):
    data = problem("logistic", storage="csr", l2=0.1, standardize=True)
    w0 = np.arange(data.dim, dtype=float)
    state = follow(tw.METHODS[name](), data, w0, 0)[0]
    np.testing.assert_allclose(state.w, w0, rtol=1e-12)
    np.testing.assert_allclose(state.v, enter(data, w0))
    assert state.value == pytest.approx(data.value(w0), rel=1e-13)
    np.testing.assert_allclose(state.gradient, data.gradient(w0), rtol=1e-9, atol=1e-12)
