import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.linear_model import ElasticNet, Lasso, LogisticRegression

import thalweg as tw
from l1_problems import STORAGES, begun, data, shortest_subgradient
from linear_data import BOUNDED
from thalweg.methods import cd
from thalweg.methods.cd import CD
from thalweg.methods.problem import Problem
from thalweg.methods.working_set import grown, scores_of

ONE_SCORE = sorted(set(BOUNDED) - {"multinomial"})

REAL_DESCEND = CD._descend


def test_one_feature_by_hand():
    # ½·½[(w − 3)² + (w − 1)²] + ½|w| + ½·½w²: w − 2 + ½ + ½w = 0, w = 1.
    problem = tw.LinearProblem([[1.0], [1.0]], [3.0, 1.0], l1=0.5, l2=0.5, fit_intercept=False)
    seen, method, state = begun(problem)
    assert (state.value, state.gradient.tolist()) == (2.5, [-1.5])
    after = method.advance(seen, state)
    assert after.w.tolist() == pytest.approx([1.0], rel=1e-15)
    assert after.value == pytest.approx(0.5 * (0.5 * 4 + 0) + 0.5 + 0.25)
    assert abs(after.gradient[0]) < 1e-15


def test_one_feature_and_intercept_by_hand():
    # x = (0, 2), y = (0, 2): about the means ½·½[(w − 1)² + (w − 1)²] + ½|w|: w = ½, b = 1 − ½.
    problem = tw.LinearProblem([[0.0], [2.0]], [0.0, 2.0], l1=0.5)
    seen, method, state = begun(problem)
    assert state.w.tolist() == [0.0, 1.0]  # the best b for w = 0
    np.testing.assert_allclose(method.advance(seen, state).w, [0.5, 0.5], rtol=1e-14)


@pytest.mark.parametrize("loss", ONE_SCORE)
@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("options", [{}, {"fit_intercept": False}, {"standardize": True}])
def test_a_state_tells_the_truth_about_its_point(loss, storage, options):
    weights = np.arange(40.0) % 3  # zeros among them
    problem = data(loss=loss, storage=storage, l1=0.02, l2=0.01, sample_weight=weights, **options)
    rng = np.random.default_rng(1)
    w0 = rng.standard_normal(problem.dim) * (rng.random(problem.dim) < 0.3)
    seen, method, state = begun(problem, w0=w0)
    for _ in range(4):
        assert state.value == pytest.approx(problem.value(state.w), rel=1e-12)
        expected = shortest_subgradient(problem, state.w)
        np.testing.assert_allclose(state.gradient, expected, rtol=1e-8, atol=1e-11)
        is_seen = problem.weights > 0
        np.testing.assert_allclose(state.z[is_seen], problem.scores(state.w)[is_seen], atol=1e-10)
        following = method.advance(seen, state)
        z = scores_of(problem, following, following.w)
        np.testing.assert_allclose(z[is_seen], problem.scores(following.w)[is_seen], atol=1e-10)
        assert following.value <= state.value
        state = following


@pytest.mark.parametrize("loss", ONE_SCORE)
def test_descent_minimises_the_model(loss):
    """The proximal Newton point by its slow definition, to a tenth of the violation or better."""
    problem = data(30, 5, loss, l1=0.02, l2=0.1, fit_intercept=False)
    w = 0.1 * np.ones(5)
    seen, method, state = begun(problem, w0=w)
    found = method._descend(seen, *grown(seen, state, method.working_set))
    # Curvatures below ν times the largest, for Huber's loss times δ/|r|, are raised to it.
    least = 1e-3 * problem.curvature_bound
    if loss == "huber":
        least = least / np.maximum(np.abs(problem.scores(w) - problem.y), 1.0)
    h = np.maximum(_curvatures(problem, w), least) / 30
    X = problem.matrix.rows
    H, g, v = (X.T * h) @ X + 0.1 * np.eye(5), problem.gradient(w), w.copy()
    for _ in range(2000):
        for j in range(5):
            pull = H[j, j] * v[j] - g[j] - H[j] @ (v - w)
            v[j] = np.sign(pull) * max(abs(pull) - 0.02, 0.0) / H[j, j]
    worst = np.max(np.abs(state.gradient))
    slopes = g + H @ (found - w)
    off = np.where(found == 0, np.abs(slopes) - 0.02, np.abs(slopes + 0.02 * np.sign(found)))
    assert np.max(off) <= 0.1 * worst
    np.testing.assert_allclose(found, v, atol=0.1 * worst * np.abs(np.linalg.inv(H)).sum(1).max())


@pytest.fixture
def always_gram(monkeypatch):
    """The Gram matrix for every sparse X, however small."""
    monkeypatch.setattr(cd, "GRAM_FROM", 0)
    monkeypatch.setattr(cd, "MOST_PAIRS", np.inf)
    monkeypatch.setattr(CD, "_descend", None)  # the other way is not taken


def wide(loss, **options):
    return data(200, 60, loss, storage="csr", **options)


@pytest.mark.parametrize("loss", ONE_SCORE)
@pytest.mark.parametrize("options", [{}, {"fit_intercept": False}, {"standardize": True}])
def test_by_the_gram_matrix_a_state_tells_the_truth_too(loss, options, always_gram):
    weights = np.arange(200.0) % 3
    problem = wide(loss, l1=0.05, l2=0.01, sample_weight=weights, **options)
    seen, method, state = begun(problem, CD(working_set=4))
    for _ in range(5):
        state, before = method.advance(seen, state), state
        assert state.value < before.value
        assert state.value == pytest.approx(problem.value(state.w), rel=1e-12)
        expected = shortest_subgradient(problem, state.w)
        np.testing.assert_allclose(state.gradient, expected, rtol=1e-8, atol=1e-11)
        assert state.lower <= problem.value(state.w)
        assert set(np.flatnonzero(state.w[:60])) <= set(state.chosen)


@pytest.mark.parametrize("loss", ONE_SCORE)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("options", [{}, {"fit_intercept": False}, {"standardize": True}])
def test_the_gram_matrix_changes_the_way_and_not_the_end(loss, dtype, options, always_gram):
    tol = 1e-10 if dtype == np.float64 else 1e-5
    dense = data(200, 60, loss, dtype=dtype, l1=0.02, **options)
    sparse = wide(loss, dtype=dtype, l1=0.02, **options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CD, "_descend", REAL_DESCEND)
        reference = tw.minimize(dense, "cd", tol=tol)
    run = tw.minimize(sparse, "cd", tol=tol)
    assert run.converged
    assert run.iterations <= 30
    assert run.w.dtype == dtype
    np.testing.assert_allclose(run.w, reference.w, atol=1e-5 if dtype == np.float64 else 5e-3)


def test_the_gram_matrix_serves_again_while_it_holds(always_gram):
    problem = wide("logistic", l1=0.01)
    seen, method, state = begun(problem, CD(working_set=60))
    first = method.advance(seen, state)
    assert first.chosen.size == 60
    near = first._replace(bends=1.05 * method._bends(problem, first), before=np.inf)
    assert method._with_gram(seen, near) is near
    slow = near._replace(before=4.0 * np.max(np.abs(first.gradient)))
    assert method._with_gram(seen, slow) is not slow
    off = near._replace(bends=1.2 * method._bends(problem, first))
    again = method._with_gram(seen, off)
    np.testing.assert_array_equal(again.bends, method._bends(problem, first))
    support = np.flatnonzero(near.w[:60])
    lacking = near._replace(chosen=support[1:], H=near.H[np.ix_(support[1:], support[1:])])
    assert support[0] in method._with_gram(seen, lacking).chosen


def test_dense_rows_are_left_to_sweeps(monkeypatch):
    problem = wide("logistic", l1=0.01)
    seen, method, state = begun(problem, CD(working_set=60))
    assert method._with_gram(seen, state) is None  # a small X
    monkeypatch.setattr(cd, "GRAM_FROM", 0)
    assert method._with_gram(seen, state) is not None
    monkeypatch.setattr(cd, "MOST_PAIRS", 10)
    assert method._with_gram(seen, state) is None


def _curvatures(problem, w):
    z, y = problem.scores(w), problem.y
    if problem.loss == "logistic":
        s = 1 / (1 + np.exp(-z))
        return s * (1 - s)
    if problem.loss == "squared":
        return np.ones(z.size)
    if problem.loss == "squared-hinge":
        return (y * z < 1) * 1.0
    return (np.abs(z - y) <= problem.delta) * 1.0


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("share", [1.0, 0.5])
def test_equals_scikit_learn(storage, fit_intercept, share):
    X, y = load_diabetes(return_X_y=True)
    alpha = 0.1
    model = Lasso if share == 1.0 else ElasticNet
    options = {} if share == 1.0 else {"l1_ratio": share}
    peer = model(alpha=alpha, fit_intercept=fit_intercept, tol=1e-10, max_iter=100_000, **options)
    peer.fit(X, y)
    problem = tw.LinearProblem(
        STORAGES[storage](X), y, l1=alpha * share, l2=alpha * (1 - share),
        fit_intercept=fit_intercept,
    )  # fmt: skip
    run = tw.minimize(problem, "cd", tol=1e-12)
    assert run.converged
    assert run.iterations <= 15
    coefficients, intercept = problem.coefficients(run.w)
    np.testing.assert_allclose(coefficients, peer.coef_, rtol=1e-4, atol=1e-3)
    assert float(intercept) == pytest.approx(float(peer.intercept_), rel=1e-6, abs=1e-6)
    w = np.append(peer.coef_, peer.intercept_) if fit_intercept else peer.coef_
    assert run.value <= problem.value(w) * (1 + 1e-14)


@pytest.mark.parametrize("storage", ["C", "csr"])
def test_logistic_equals_liblinear(storage):
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    l1 = 0.01
    peer = LogisticRegression(
        l1_ratio=1.0, C=1 / (l1 * len(y)), solver="liblinear", fit_intercept=False, tol=1e-10,
        max_iter=10_000,
    ).fit(X, y)  # fmt: skip
    problem = tw.LinearProblem(STORAGES[storage](X), y, "logistic", l1=l1, fit_intercept=False)
    run = tw.minimize(problem, "cd", tol=1e-9)
    assert run.converged
    assert run.iterations <= 15
    np.testing.assert_allclose(run.w, peer.coef_[0], atol=1e-4)
    assert run.value <= problem.value(peer.coef_[0]) + 1e-10


@pytest.mark.parametrize("loss", ONE_SCORE)
@pytest.mark.parametrize("options", [{}, {"fit_intercept": False}, {"standardize": True}])
def test_storages_agree(loss, options):
    runs = {
        (storage, dtype): tw.minimize(
            data(loss=loss, storage=storage, dtype=dtype, l1=0.03, **options), "cd",
            tol=1e-9 if dtype == np.float64 else 1e-5,
        )
        for storage in STORAGES
        for dtype in (np.float64, np.float32)
    }  # fmt: skip
    reference = runs["C", np.float64]
    for (_, dtype), run in runs.items():
        assert run.converged
        assert run.w.dtype == dtype
        atol = 1e-5 if dtype == np.float64 else 5e-3
        np.testing.assert_allclose(run.w, reference.w, atol=atol)


@pytest.mark.parametrize("loss", ONE_SCORE)
def test_options_change_the_way_and_not_the_end(loss):
    problem = data(loss=loss, l1=0.03, l2=0.001)
    runs = [
        tw.minimize(problem, CD(**options), tol=1e-11)
        for options in (
            {}, {"anderson": False}, {"screening": False}, {"working_set": 1}, {"working_set": 60},
        )
    ]  # fmt: skip
    for run in runs:
        assert run.converged
        assert run.iterations <= 30
        np.testing.assert_allclose(run.w, runs[0].w, atol=1e-6)


def test_what_is_screened_never_comes_back():
    problem = data(100, 200, l1=0.2)
    seen, method, state = begun(problem)
    for _ in range(8):
        before, state = state, method.advance(seen, state)
        assert np.all(state.is_out[before.is_out])
        was_out = before.is_out & (problem.split(before.w)[0] == 0.0)
        assert not np.any(problem.split(state.w)[0][was_out])
        if state is before:
            break
    assert np.count_nonzero(state.is_out) > 100
    assert not begun(problem, CD(screening=False))[2].is_out.any()


def test_a_penalty_too_large_leaves_the_intercept():
    for storage in ("C", "csr"):
        problem = data(storage=storage, l1=1e3)
        run = tw.minimize(problem, "cd")
        assert run.converged
        assert run.iterations == 0
        np.testing.assert_array_equal(run.w[:-1], 0.0)
        assert run.w[-1] == pytest.approx(problem.y.mean())
        again = tw.minimize(problem, "cd", np.ones(problem.dim))
        assert again.converged
        np.testing.assert_array_equal(again.w[:-1], 0.0)


@pytest.mark.parametrize("storage", ["C", "csr"])
@pytest.mark.parametrize("loss", ONE_SCORE)
@pytest.mark.parametrize("standardize", [True, False])
def test_nasty_columns(storage, loss, standardize):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((25, 40)) * (rng.random((25, 40)) < 0.6)
    X[7] = 0.0
    X[:, 1] = X[:, 0]  # twice
    X[:, 2], X[:, 3] = 0.0, 5.0  # zero, constant
    X[:, 4] += 1e4  # a mean far from zero
    X[:, 5] *= 1e-6
    weights = np.ones(25)
    weights[:5] = 0.0
    scores = X[:, 0] - X[:, 6] + 0.1 * rng.standard_normal(25)
    y = scores if loss in ("squared", "huber") else scores > np.median(scores)
    problem = tw.LinearProblem(
        STORAGES[storage](X), y, loss, l1=0.02, sample_weight=weights, standardize=standardize
    )
    run = tw.minimize(problem, "cd", tol=1e-8)
    assert run.converged
    assert run.iterations <= 40
    assert run.w[2] == 0.0
    assert run.w[3] == 0.0


def test_constant_features_without_any_penalty_stay_where_they_are():
    X = np.array([[1.0, 0.1], [2.0, 0.1], [4.0, 0.1]])
    for storage in ("C", "csr"):
        problem = tw.LinearProblem(STORAGES[storage](X), [1.0, 2.0, 4.0])
        run = tw.minimize(problem, "cd", tol=1e-12)
        assert run.converged
        np.testing.assert_allclose(run.w, [1.0, 0.0, 0.0], atol=1e-8)


@pytest.mark.parametrize("loss", ["squared-hinge", "huber"])
def test_kinks_shorten_steps_and_descend_all_the_same(loss):
    """Curvatures that vanish: Newton's step alone may not descend."""
    problem = data(30, 8, loss, l1=1e-3, delta=0.05, fit_intercept=False)
    w0 = 20.0 * np.random.default_rng(0).standard_normal(8)
    run = tw.minimize(problem, "cd", w0, tol=1e-9)
    assert run.converged
    assert np.all(np.diff(run.trace["value"]) <= 1e-14)


def test_floors_follow_the_line_search():
    problem = data(loss="huber", l1=1e-3, delta=0.01)
    seen, method, state = begun(problem, w0=10.0 * np.ones(61))
    for _ in range(10):
        floor, state = state.floor, method.advance(seen, state)
        assert state.floor in (pytest.approx(floor / 10), pytest.approx(floor * 10), 1e-8, 1.0)


@pytest.mark.parametrize("storage", ["C", "csr"])
def test_resumes_to_the_same_bits(storage, tmp_path):
    problem = data(80, 300, "logistic", storage=storage, l1=0.005)

    def run(max_iter, file=None):
        return tw.minimize(problem, "cd", tol=1e-12, max_iter=max_iter, checkpoint=file)

    whole = run(30)
    assert whole.iterations > 5
    for stop in (1, 3, 5):
        file = tmp_path / f"{stop}.checkpoint"
        run(stop, file)
        resumed = run(30, file)
        assert resumed.w.tobytes() == whole.w.tobytes()
        assert resumed.counts == whole.counts
        np.testing.assert_array_equal(resumed.trace["gap"], whole.trace["gap"])


def test_advance_leaves_the_state_it_was_given_alone():
    seen, method, state = begun(data(loss="logistic", l1=0.01))
    for _ in range(4):
        kept = [np.copy(field) for field in state]
        following = method.advance(seen, state)
        for field, copy in zip(state, kept, strict=True):
            np.testing.assert_array_equal(field, copy)
        state = following


def test_passes_are_counted():
    problem = data(50, 500, l1=0.3)
    seen, method, state = begun(problem)
    assert (seen.passes, seen.gradients) == (3, 1)  # squares, means, slopes
    state = method.advance(seen, state)
    assert (seen.passes, seen.gradients) == (5, 2)  # gathering and slopes; a sweep is 2 % of one
    narrow = data(500, 4, l2=1e-3)
    seen, method, state = begun(narrow)
    method.advance(seen, state)
    assert seen.passes > 5  # here every sweep is one


def test_a_second_fit_compiles_nothing():
    from thalweg.kernels import cd, gather

    kernels = [cd.descend, cd.sweep, cd.add_scores, cd.best_shift, cd.curvatures]
    kernels += [gather.gather_dense, gather.count_entries, gather.gather_sparse]

    def fit(scale):
        for loss in ONE_SCORE:
            for storage in ("C", "csr"):
                for dtype in (np.float32, np.float64):
                    options = {"storage": storage, "dtype": dtype, "l1": scale * 0.1}
                    tw.minimize(data(loss=loss, **options), "cd", max_iter=3)

    fit(1.0)
    before = [len(kernel.signatures) for kernel in kernels]
    fit(0.1)
    assert [len(kernel.signatures) for kernel in kernels] == before
    assert len(cd.descend.signatures) <= 2  # dense, sparse: gathered features are float64


@pytest.mark.parametrize(
    ("objective", "says"),
    [
        (tw.surfaces.Rosenbrock(), "cd needs a LinearProblem, got .*: use method='fista'"),
        (
            tw.LinearProblem(np.eye(3), [0, 1, 2], "multinomial", l1=0.1),
            "cd needs a loss of one score a sample, got multinomial: use method='newton'",
        ),
        (
            tw.LinearProblem(np.eye(3), [0, 1, 2], "multinomial", l2=0.1),
            "cd needs a loss of one score a sample, got multinomial: use method='newton-cg'",
        ),
    ],
)
def test_what_it_refuses(objective, says):
    with pytest.raises(tw.InputError, match=says):
        tw.minimize(objective, "cd")


def test_options_are_checked():
    with pytest.raises(tw.InputError, match="working_set"):
        CD(working_set=0)
    with pytest.raises(tw.InputError, match="anderson must be True or False"):
        CD(anderson=1)


@pytest.mark.parametrize("loss", ONE_SCORE)
@pytest.mark.parametrize("storage", ["C", "csr"])
def test_other_penalties_find_the_features_gathered(loss, storage):
    problem = data(loss=loss, storage=storage, l1=0.05)
    method, rng = CD(), np.random.default_rng(0)
    seen = Problem(problem, problem.dim, problem.start.dtype)
    state = method.init(seen, problem.start, rng)
    for _ in range(3):
        state = method.advance(seen, state)
    weaker = problem.replaced(l1=0.02, l2=0.01)
    there = Problem(weaker, weaker.dim, weaker.start.dtype)
    moved, anew = method.moved(there, state, rng), method.init(there, state.w, rng)
    np.testing.assert_array_equal(moved.members, state.members)
    assert moved.value == pytest.approx(anew.value, rel=1e-12)
    np.testing.assert_allclose(moved.gradient, anew.gradient, atol=1e-10)
    np.testing.assert_allclose(moved.v, anew.v, atol=1e-12)
    assert moved.lower == pytest.approx(anew.lower, rel=1e-9)
    assert not moved.bends.size  # H has another l2 in it
