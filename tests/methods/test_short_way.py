import numpy as np
import pytest
import scipy.sparse

import thalweg as tw
from thalweg.kernels.threads import blas, blas_threads
from thalweg.methods import short_way as module
from thalweg.methods.short_way import short_way

RNG = np.random.default_rng(0)
X = RNG.standard_normal((80, 5)) * [1.0, 100.0, 0.01, 1.0, 1.0] + [0.0, 1000.0, 0.0, 3.0, 0.0]
SCORES = X @ [1.0, 0.01, 50.0, 0.0, -1.0] + RNG.standard_normal(80)
TARGETS = {
    "squared": SCORES,
    "huber": SCORES,
    "logistic": np.median(SCORES) < SCORES,
    "squared-hinge": np.median(SCORES) < SCORES,
    "multinomial": np.digitize(SCORES, np.quantile(SCORES, [0.3, 0.6])),
}
CASES = [
    *[(loss, {"l2": l2}) for loss in TARGETS for l2 in (1e-3, 1.0)],
    ("squared", {"l1": 0.1}),
    ("squared", {"l1": 0.1, "l2": 0.3}),
]


def asked(loss, storage=np.asarray, **options):
    return tw.LinearProblem(storage(X), TARGETS[loss], loss, delta=50.0, **options)


def run_of(problem, tol=1e-6, max_iter=100, w0=None, method=None):
    """The short way that `minimize` would take."""
    made = tw.minimize(problem, progress=False).plan
    by = tw.METHODS[made.best]() if method is None else method
    start = np.zeros(problem.dim) if w0 is None else w0
    return short_way(problem, by, start, tol=tol, max_iter=max_iter, seed=0)


@pytest.mark.parametrize(("loss", "penalties"), CASES)
def test_it_ends_where_the_loop_ends(loss, penalties):
    problem = asked(loss, **penalties)
    run = run_of(problem)
    slow = tw.minimize(problem, run.method, tol=1e-12, progress=False)
    assert run.converged
    assert run.value == pytest.approx(slow.value, rel=1e-12)
    np.testing.assert_allclose(problem.scores(run.w), problem.scores(slow.w), atol=1e-5)
    assert tw.certify(problem, run.w).holds
    assert run.certificate.gap >= run.value - slow.value


@pytest.mark.parametrize(("loss", "penalties"), CASES)
def test_its_record_is_that_of_a_run(loss, penalties):
    problem = asked(loss, **penalties)
    w0 = np.zeros(problem.dim)
    run, slow = run_of(problem), tw.minimize(problem, run_of(problem).method, progress=False)
    trace = run.trace
    assert trace["iteration"].tolist() == list(range(run.iterations + 1))
    assert trace["value"][0] == pytest.approx(problem.value(w0), rel=1e-12)
    assert run.value == pytest.approx(problem.value(run.w), rel=1e-12)
    assert trace["gap"][-1] == run.certificate.gap
    assert trace["gradient_norm"][0] == pytest.approx(slow.trace["gradient_norm"][0], rel=1e-9)
    assert (np.diff(trace["seconds"]) >= 0.0).all()
    assert run.evaluations == run.counts["gradients"] + run.counts["hessian_vectors"]
    assert trace["passes"][-1] == run.counts["passes"]
    assert run.reason == slow.outcome.value + run.reason[len(slow.outcome.value) :]
    assert f"after {run.iterations} iteration" in run.reason
    assert set(run.counts) == set(slow.counts)
    assert set(run.environment) == set(slow.environment)
    assert run.options == slow.options
    assert run.objective == slow.objective


@pytest.mark.parametrize(("loss", "penalties"), CASES)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_storage_and_threads_change_nothing(loss, penalties, fit_intercept):
    runs = [
        [
            run_of(asked(loss, storage, fit_intercept=fit_intercept, threads=threads, **penalties))
            for threads in (1, 3)
        ]
        for storage in (np.asarray, np.asfortranarray, scipy.sparse.csr_array)
    ]
    for one, three in runs:
        assert np.array_equal(one.w, three.w)
        # Means are summed in another order: not the same bits, but the same minimum.
        np.testing.assert_allclose(one.w, runs[0][0].w, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("loss", TARGETS)
def test_a_start_within_the_tolerance_is_the_end(loss):
    problem = asked(loss, l2=0.1)
    first = run_of(problem)
    again = run_of(problem, w0=first.w)
    assert again.iterations == 0
    assert again.certificate.holds
    assert again.w is not first.w
    assert np.array_equal(again.w0, first.w)


@pytest.mark.parametrize("loss", TARGETS)
def test_any_start_leads_there(loss):
    problem = asked(loss, l2=0.1)
    first, other = run_of(problem), run_of(problem, w0=np.full(problem.dim, 0.01))
    assert other.value == pytest.approx(first.value, rel=1e-10)


def test_newton_takes_one_step_more_than_newton_cg_asks_for():
    # Larger than what newton-cg takes that step on as well.
    X = np.random.default_rng(0).normal(size=(1500, 25))
    y = np.digitize(X[:, :3].sum(axis=1) + X[:, 3] ** 2, [0.0, 1.5])
    problem = tw.LinearProblem(X, y, "multinomial", l2=1e-3)
    exact = run_of(problem, method=tw.Newton())
    enough = run_of(problem, method=tw.NewtonCG())
    assert exact.iterations == enough.iterations + 1
    assert exact.certificate.gap < 1e-3 * enough.certificate.gap
    assert enough.certificate.holds


@pytest.mark.parametrize(
    ("problem", "method"),
    [
        (asked("logistic"), tw.Newton()),  # no penalty, no gap
        (asked("logistic", l1=0.1), tw.Newton()),
        (asked("logistic", l2=0.1), tw.LBFGS()),
        (asked("logistic", l2=0.1), tw.NewtonCG()),
        (asked("logistic", l2=0.1, centre=False), tw.Newton()),
    ],
)
def test_all_else_is_left_to_the_loop(problem, method):
    assert short_way(problem, method, problem.start, tol=1e-6, max_iter=100, seed=0) is None


def test_what_is_too_large_is_left_to_the_loop(monkeypatch):
    problem, method = asked("squared", l2=0.1), tw.Cholesky()
    monkeypatch.setattr(module, "MOST_ENTRIES", 10)
    assert short_way(problem, method, problem.start, tol=1e-6, max_iter=9, seed=0) is None


def test_a_point_in_float32_stays_one_and_is_proved_as_it_is():
    problem, method = asked("squared", l2=0.1), tw.Cholesky()
    start = np.zeros(problem.dim, dtype=np.float32)
    run = short_way(problem, method, start, tol=1e-6, max_iter=9, seed=0)
    assert run.w.dtype == np.float32
    at = tw.certify(problem, run.w, tol=1e-6)
    assert at.holds
    assert at.gap == pytest.approx(run.certificate.gap, rel=0.5)


def test_columns_that_are_nearly_alike_are_left_to_the_loop():
    near = np.column_stack([X[:, 0], X[:, 0] * (1.0 + 1e-12)])
    problem = tw.LinearProblem(near, SCORES, l2=1e-14)
    assert run_of(problem) is None
    assert tw.minimize(problem, progress=False).converged


@pytest.mark.parametrize("loss", ["logistic", "multinomial"])
def test_too_few_iterations_are_left_to_the_loop(loss):
    problem = asked(loss, l2=1e-3)
    assert run_of(problem, max_iter=2) is None
    run = tw.minimize(problem, max_iter=2, progress=False)
    assert run.outcome.name == "ITERATION_LIMIT"
    assert run.plan.row(run.method).actual_iterations == 2


@pytest.mark.parametrize("listens", ["callback", "time_limit", "checkpoint"])
def test_whoever_listens_hears_the_loop(listens, monkeypatch, tmp_path):
    def never(*_, **__):
        raise AssertionError

    monkeypatch.setattr("thalweg.planner.minimize.short_way", never)
    options = {
        "callback": lambda step: False,
        "time_limit": 0.5,
        "checkpoint": tmp_path / "run",
    }
    run = tw.minimize(asked("logistic", l2=0.1), progress=False, **{listens: options[listens]})
    assert run.converged


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_rows_are_those_of_the_model(standardize, fit_intercept):
    problem = asked("squared", l2=0.1, standardize=standardize, fit_intercept=fit_intercept).centred
    w = np.random.default_rng(1).standard_normal(problem.dim)
    np.testing.assert_allclose(problem.features.dense @ w, problem.scores(w), rtol=1e-9, atol=1e-9)


def test_the_systems_of_l1_wake_no_other_thread(monkeypatch):
    # A system of 160 variables took 200 ms with two threads of BLAS, and 2 ms with one.
    seen, solve = [], module.minimise_quadratic

    def solved(*args):
        seen.extend(library.get_num_threads() for library in blas().lib_controllers)
        return solve(*args)

    monkeypatch.setattr(module, "minimise_quadratic", solved)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 5))
    with blas_threads(2):
        run = tw.minimize(tw.LinearProblem(X, X[:, 0], l1=0.01), progress=False)
    assert run.converged
    assert seen
    assert set(seen) == {1}
