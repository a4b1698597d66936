import math

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits

import thalweg as tw
from thalweg.methods.problem import Problem
from thalweg.methods.sampling import SAMPLINGS, sampler
from thalweg.methods.sgd import HOLD, gradient_bound, solution_bound
from thalweg.theory import sgd as theory

RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 5)) * RNG.uniform(0.5, 3.0, 40)[:, None]
SCORES = X @ [1.0, -2.0, 0.5, 0.0, 1.0] + RNG.standard_normal(40)
WEIGHTS = RNG.uniform(0.5, 2.0, 40)
TARGETS = {
    "squared": SCORES, "huber": SCORES, "logistic": SCORES > 0, "squared-hinge": SCORES > 0,
    "multinomial": np.digitize(SCORES, [-2.0, 2.0]),
}  # fmt: skip


def problem(loss="logistic", **options):
    return tw.LinearProblem(X, TARGETS[loss], loss, **{"l2": 0.1, **options})


def states(objective, method, passes, seed=0, w0=None):
    """The states of a run, the first one included."""
    start = np.zeros(objective.dim) if w0 is None else w0
    counted = Problem(objective, objective.dim, start.dtype)
    rng = np.random.Generator(np.random.PCG64(seed))
    state = method.init(counted, start, rng)
    for _ in range(passes):
        yield state._replace(iterate=state.iterate.copy())  # which the next pass changes in place
        state = method.advance(counted, state)
    yield state


def sample_gradient(objective, i, w):
    """That of aᵢℓ(x̃ᵢᵀw, yᵢ) + (l2/2)‖w‖², by differences of the problem that sample i is alone."""
    weight = np.zeros(objective.n)
    weight[i] = 1.0
    alone = tw.LinearProblem(
        X, TARGETS[objective.loss], objective.loss, sample_weight=weight, delta=objective.delta,
        fit_intercept=objective.fit_intercept,
    )  # fmt: skip
    penalty = np.append(w[: 5 * objective.outputs], np.zeros(objective.dim - 5 * objective.outputs))
    return 40 * objective.weights[i] * alone.gradient(w) + objective.l2 * penalty


def test_one_pass_by_hand():
    # One sample, ½(2w − 4)² + ¼w²: from 0 steps of 0.1 lead to 0.8, then 0.8 − 0.1(−4.8 + 0.4).
    single = tw.LinearProblem([[2.0]], [4.0], l2=0.5, fit_intercept=False)
    method = tw.SGD(step=0.1, schedule="constant", average="all")
    _, one, two = states(single, method, 2)
    assert one.iterate[0] == pytest.approx(0.8)
    assert one.w[0] == 0.0  # the mean of the only iterate before the step
    assert two.iterate[0] == pytest.approx(0.8 + 0.44)
    assert two.w[0] == pytest.approx(0.4)


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("batch", [1, 7])
def test_equals_the_definition(sampling, batch):
    """Draws, weights, odds, schedule and average, all written out."""
    objective = problem(l1=0.01, sample_weight=WEIGHTS)
    method = tw.SGD(sampling=sampling, batch=batch, step=0.05, schedule="1/t", average="all")
    found = list(states(objective, method, 3, seed=1))
    rng = np.random.Generator(np.random.PCG64(1))
    draws = sampler(sampling, objective.row_smoothness)
    w, iterates = np.zeros(6), []
    for _ in range(3):
        order = draws.order(40, rng)
        for first in range(0, 40, batch):
            rows = order[first : first + batch]
            eta = 0.05 / (1 + 0.05 * 0.1 * len(iterates))
            iterates.append(w)
            # The penalty's gradient is not divided by the odds: it belongs to every step.
            ridge = 0.1 * np.append(w[:5], 0.0)
            v = ridge + np.mean(
                [(sample_gradient(objective, i, w) - ridge) / draws.odds[i] for i in rows], axis=0
            )
            w = w - eta * v
            w[:5] = np.sign(w[:5]) * np.maximum(np.abs(w[:5]) - eta * 0.01, 0)
    np.testing.assert_allclose(found[-1].iterate, w, rtol=1e-9)
    np.testing.assert_allclose(found[-1].w, np.mean(iterates, axis=0), rtol=1e-9)
    assert found[-1].value == pytest.approx(objective.value(found[-1].w), rel=1e-12)


@pytest.mark.parametrize("sampling", ["uniform", "lipschitz"])
def test_a_step_is_right_on_average(sampling):
    objective = problem(sample_weight=WEIGHTS)
    w = RNG.standard_normal(6)
    draws = sampler(sampling, objective.row_smoothness)
    ridge = 0.1 * np.append(w[:5], 0.0)
    v = [(sample_gradient(objective, i, w) - ridge) / draws.odds[i] + ridge for i in range(40)]
    mean = np.average(v, axis=0, weights=draws.odds)
    np.testing.assert_allclose(mean, objective.gradient(w), rtol=1e-10, atol=1e-12)


def test_schedules():
    objective, L = problem(), problem().row_smoothness

    def steps(schedule, objective=objective):
        method = tw.SGD(step=0.1, schedule=schedule)
        return method._steps(next(states(objective, method, 0))._replace(t=40), 2)

    assert steps("constant").tolist() == [0.1, 0.1]
    np.testing.assert_allclose(steps("1/t"), 0.1 / (1 + 0.1 * 0.1 * np.array([40, 41])))
    shrunk = 0.1 / np.sqrt(1 + np.array([40, 41]) / (HOLD * L.max() / L.mean()))
    np.testing.assert_allclose(steps("1/sqrt(t)"), shrunk)
    np.testing.assert_allclose(steps("1/√t"), shrunk)
    classes = steps("1/sqrt(t)", problem("multinomial", l2=0.0, l1=0.1))  # three of them
    L = problem("multinomial", l2=0.0).row_smoothness
    np.testing.assert_allclose(classes[0], 0.1 / np.sqrt(1 + 40 / (3 * HOLD * L.max() / L.mean())))


def test_the_tail_is_the_last_half_at_least_and_three_quarters_at_most():
    objective = problem()
    options = {"step": 0.02, "schedule": "constant", "batch": 40, "sampling": "cyclic"}
    iterates = [s.iterate for s in states(objective, tw.SGD(**options, average="none"), 20)]
    for passes, state in enumerate(states(objective, tw.SGD(**options, average="tail"), 20)):
        if passes:
            begin = passes - state.averaged
            assert passes <= 2 or passes / 4 <= begin <= passes / 2
            expected = np.mean(iterates[begin:passes], axis=0)
            np.testing.assert_allclose(state.w, expected, rtol=1e-12, atol=1e-15)


def test_without_an_average_the_last_iterate_is_the_result():
    *_, last = states(problem(), tw.SGD(average="none"), 3)
    np.testing.assert_array_equal(last.w, last.iterate)


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_default_steps_are_below_the_stability_limit(sampling):
    objective = problem("squared", l2=0.0)
    L = objective.row_smoothness
    state = next(states(objective, tw.SGD(sampling=sampling), 0))
    assert state.smoothness == pytest.approx(np.max(L / sampler(sampling, L).odds))
    assert 1.0 / state.smoothness <= state.step < 2.0 / state.smoothness
    one_length = tw.LinearProblem(np.eye(4), np.ones(4), fit_intercept=False)
    assert next(states(one_length, tw.SGD(), 0)).step == pytest.approx(1.0)
    whole = next(states(objective, tw.SGD(batch=10**9), 0))
    assert whole.step == pytest.approx(1.0 / objective.smoothness, rel=1e-6)


def test_where_every_sample_is_satisfied_nothing_moves():
    w = np.array([1.0, -2.0, 0.5, 0.0, 1.0, 3.0])
    objective = tw.LinearProblem(X, X @ w[:5] + w[5])
    *_, last = states(objective, tw.SGD(average="none"), 2, w0=w)
    np.testing.assert_allclose(last.w, w, atol=1e-13)


def test_counts_are_one_pass_of_steps_and_one_look_at_the_average():
    run = tw.minimize(problem(), "sgd", tol=1e-15, max_iter=4)
    assert run.counts == {"values": 5, "gradients": 9, "hessian_vectors": 0, "passes": 9}


# The theorem


@pytest.mark.parametrize("loss", TARGETS)
@pytest.mark.parametrize("sampling", ["uniform", "lipschitz"])
def test_no_gradient_on_the_ball_is_longer_than_the_bound(loss, sampling):
    objective = problem(loss, sample_weight=WEIGHTS, delta=2.0)
    data, radius = objective.samples, 2.0
    draws = sampler(sampling, objective.row_smoothness)
    rho = gradient_bound(objective, data, draws, radius)
    rng, longest = np.random.default_rng(1), 0.0
    for i in range(40):
        row = np.append(X[i], 1.0)
        for sign in (1.0, -1.0):
            # The scores that are furthest from the target, for one class or for one of several.
            w = np.outer(row, np.eye(objective.outputs)[int(rng.integers(objective.outputs))])
            w *= sign * radius / np.linalg.norm(w)
            w = np.append(w[:5].ravel(), w[5])
            ridge = objective.l2 * np.append(w[: -objective.outputs], np.zeros(objective.outputs))
            v = (sample_gradient(objective, i, w) - ridge) / draws.odds[i] + ridge
            longest = max(longest, np.linalg.norm(v))
    assert 0.7 * rho <= longest <= rho * (1 + 1e-12)


@pytest.mark.parametrize("penalty", [{"l2": 0.1}, {"l2": 0.0, "l1": 0.05}, {"l2": 0.1, "l1": 0.05}])
@pytest.mark.parametrize("loss", ["logistic", "squared", "multinomial"])
def test_the_solution_is_within_its_bound(loss, penalty):
    objective = problem(loss, fit_intercept=False, **penalty)
    best = tw.minimize(objective, "fista", tol=1e-8)
    assert np.linalg.norm(best.w) <= solution_bound(objective)
    nothing = tw.LinearProblem(X, np.zeros(40), l2=0.1, fit_intercept=False)
    assert tw.minimize(nothing, tw.SGD(schedule="theorem")).iterations == 0


def least_squares_in_ball(radius):
    """min F over ‖w‖ ≤ B for the squared loss: the multiplier that makes ‖w‖ = B, by bisection."""
    H, g = X.T @ X / 40 + 0.1 * np.eye(5), X.T @ SCORES / 40

    def excess(multiplier):
        return np.linalg.norm(np.linalg.solve(H + multiplier * np.eye(5), g)) - radius

    multiplier = scipy.optimize.brentq(excess, 0.0, 1e6, xtol=1e-14)
    return np.linalg.solve(H + multiplier * np.eye(5), g)


# Nearly fair coins, nearly absolute deviations: the bound leaves little room here.
COINS = tw.LinearProblem(
    np.ones((40, 1)), np.repeat([1.0, -1.0], [22, 18]), "huber", delta=1e-3, fit_intercept=False
)
CASES = {
    "logistic": (problem(fit_intercept=False), None, "uniform"),
    "logistic, by length": (problem(fit_intercept=False), None, "lipschitz"),
    "logistic, l1": (problem(fit_intercept=False, l2=0.0, l1=0.05), None, "uniform"),
    "squared, in the ball": (problem("squared", fit_intercept=False), 1.0, "uniform"),
    "coins": (COINS, 1.0, "uniform"),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("passes", [1, 10, 100])
def test_theorem_14_8_holds_in_the_mean_over_50_seeds(case, passes):
    objective, radius, sampling = CASES[case]
    if objective is COINS:
        lowest = objective.value(np.ones(1))
    elif radius:
        lowest = objective.value(least_squares_in_ball(radius))
    else:
        solver = "fista" if objective.l1 else "newton-cg"
        lowest = tw.minimize(objective, solver, tol=1e-12).value
    method = tw.SGD(schedule="theorem", radius=radius, sampling=sampling, horizon=passes)
    gaps = []
    for seed in range(50):
        *_, last = states(objective, method, passes, seed)
        gaps.append(last.value - lowest)
    bound = theory.value_bound(last.radius, last.gradient_bound, last.t)
    assert last.t == 40 * passes
    assert min(gaps) >= -1e-9
    assert np.mean(gaps) <= bound
    if objective is COINS:
        assert np.mean(gaps) >= 0.4 * bound


def test_the_guarantee_stands_beside_the_gap_and_is_kept(tmp_path):
    objective = problem(fit_intercept=False)
    run = tw.minimize(objective, tw.SGD(schedule="theorem", horizon=20), tol=1e-6, max_iter=20)
    B = math.sqrt(2 * math.log(2) / 0.1)
    data = objective.samples
    rho = gradient_bound(objective, data, sampler("uniform", np.ones(40)), B)
    bound = B * rho / math.sqrt(800)
    assert run.certificate.in_expectation == (
        f"E F(w̄) − F* ≤ {bound:.3g} over the draws of the samples, F* the minimum where ‖w‖ ≤ B "
        f"(Theorem 14.8 with B = {B:.4g}, ρ = {rho:.4g}, T = 800 steps of {B / rho / 800**0.5:.3g})"
    )
    assert run.certificate.kind == "duality gap"
    assert run.certificate.gap < bound
    assert "in expectation: E F(w̄)" in str(run.certificate)
    assert "in expectation: E F(w̄)" in repr(run)
    assert tw.Run.load(run.save(tmp_path / "run")).certificate == run.certificate


@pytest.mark.parametrize(
    ("options", "w0"),
    [
        ({"schedule": "constant", "average": "all", "radius": 2.0}, None),  # re-shuffled
        ({"schedule": "constant", "sampling": "uniform", "radius": 2.0}, None),  # half of them
        ({"schedule": "constant", "average": "all", "sampling": "uniform"}, None),  # no ball
        ({"schedule": "theorem"}, np.ones(5)),  # from elsewhere
        ({}, None),
    ],
)
def test_no_guarantee_where_the_theorem_does_not_apply(options, w0):
    run = tw.minimize(problem(fit_intercept=False), tw.SGD(**options), w0, max_iter=3)
    assert run.certificate.in_expectation == ""


def test_any_constant_step_in_a_ball_has_its_guarantee():
    method = tw.SGD(schedule="constant", step=0.01, average="all", sampling="uniform", radius=2.0)
    run = tw.minimize(problem(), method, max_iter=3)
    *_, last = states(problem(), method, 3)
    bound = 2.0**2 / (2 * 0.01 * 120) + 0.005 * last.gradient_bound**2
    assert f"≤ {bound:.3g} over the draws" in run.certificate.in_expectation


def test_the_average_of_a_ball_stays_in_it():
    run = tw.minimize(problem("squared"), tw.SGD(radius=0.5), np.full(6, 9.0), max_iter=5)
    assert np.linalg.norm(run.w) <= 0.5 + 1e-12


# What it is worth


def rates_problem():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((300, 8))
    y = A @ rng.standard_normal(8) + 2 * rng.standard_normal(300) > 0
    return tw.LinearProblem(A, y, "logistic", l2=1 / 300, fit_intercept=False)


def gaps_at(objective, method, passes):
    lowest = tw.minimize(objective, "newton-cg", tol=1e-13).value
    values = [state.value for state in states(objective, method, max(passes))]
    return np.array([values[k] - lowest for k in passes])


@pytest.mark.parametrize("sampling", ["uniform", "shuffled"])
def test_a_constant_step_stops_at_a_floor(sampling):
    objective = rates_problem()
    gaps = gaps_at(objective, tw.SGD(schedule="constant", sampling=sampling), (16, 64, 256))
    assert gaps[2] > 0.5 * gaps[0]
    assert gaps[2] > 1e-3
    # A tenth of the step, a fraction of the floor.
    step = 0.1 * next(states(objective, tw.SGD(), 0)).step
    lower = gaps_at(objective, tw.SGD(schedule="constant", sampling=sampling, step=step), (256,))
    assert lower[0] < 0.2 * gaps[2]


@pytest.mark.parametrize(("sampling", "power"), [("uniform", 1.0), ("shuffled", 2.0)])
def test_shrinking_steps_converge_like_a_power_not_linearly(sampling, power):
    """μ = 1/n: four times the passes divide the gap by about 4ᵖ; a linear rate would by e^(cT)."""
    passes = (32, 128, 512)
    gaps = gaps_at(rates_problem(), tw.SGD(schedule="1/t", sampling=sampling), passes)
    first, second = np.log(gaps[:-1] / gaps[1:]) / np.log(4.0)
    assert 0.6 * power <= second <= 1.6 * power
    assert second < 2.0 * first  # at a linear rate it would be 4 times as large


def real(name, loss, dtype=np.float64, storage=np.asarray, **penalty):
    load = {"cancer": load_breast_cancer, "digits": load_digits, "diabetes": load_diabetes}[name]
    A, y = load(return_X_y=True)
    A = ((A - A.mean(axis=0)) / np.maximum(A.std(axis=0), 1e-12)).astype(dtype)
    if name == "diabetes":
        y = (y - y.mean()) / y.std()
    return tw.LinearProblem(storage(A), y, loss, **penalty)


@pytest.mark.parametrize(
    ("name", "loss"),
    [
        ("cancer", "logistic"),
        ("cancer", "squared-hinge"),
        ("diabetes", "squared"),
        ("diabetes", "huber"),
        ("digits", "multinomial"),
    ],
)
@pytest.mark.parametrize("penalty", [{"l2": 0.05}, {"l1": 0.02}, {"l1": 0.02, "l2": 0.05}])
def test_reaches_a_hundredth_on_real_data(name, loss, penalty):
    storages = [(np.float64, np.asarray)]
    if name != "digits":
        storages.append((np.float32, scipy.sparse.csr_array))
    for dtype, storage in storages:
        objective = real(name, loss, dtype, storage, **penalty)
        run = tw.minimize(objective, "sgd", tol=1e-2, max_iter=300)
        assert run.converged, run
        assert run.iterations <= (300 if name == "digits" else 100)


def test_a_long_run_that_gains_little_is_no_stall():
    """The lowest average may be a lucky early one: that says nothing of the run."""
    run = tw.minimize(problem("squared"), "sgd", tol=1e-13, max_iter=2500)
    assert run.outcome is tw.Outcome.ITERATION_LIMIT
    best_at = run.trace["iteration"][np.argmin(run.trace["value"])]
    assert "a constant step stops at the noise's level" in run.reason
    assert run.value == run.trace["value"].min(), best_at


@pytest.mark.parametrize("storage", [np.asarray, scipy.sparse.csr_array])
def test_a_step_too_long_diverges_and_says_so(storage):
    objective = tw.LinearProblem(storage(X), SCORES, l2=0.1)
    L = objective.row_smoothness.max()
    run = tw.minimize(objective, tw.SGD(step=8.0 / L, schedule="constant"), max_iter=100)
    assert run.outcome is tw.Outcome.DIVERGED
    assert f"above the stability limit 2/L = {2 / L:.4g}" in run.reason
    assert "that of single samples" in run.reason


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"schedule": "1/y"}, "schedule must be a known name"),
        ({"step": -1.0}, "step must be above 0"),
        ({"step": 0.1, "schedule": "theorem"}, "step must be left out with schedule='theorem'"),
        ({"batch": 0}, "batch must be a whole number, at least 1"),
        ({"sampling": "odd"}, "sampling must be a known name"),
        ({"average": "half"}, "average must be a known name"),
        ({"radius": 0.0}, "radius must be above 0"),
        ({"horizon": 0}, "horizon must be a whole number"),
        ({"lr": 0.1}, "it is called 'step' here"),
    ],
)
def test_options_are_checked(options, says):
    with pytest.raises(tw.InputError, match=says):
        tw.SGD(**options)


@pytest.mark.parametrize(
    ("objective", "options", "says"),
    [
        (tw.surfaces.Rosenbrock(), {}, "needs a LinearProblem.*use method='adam'"),
        (
            tw.Regularized(tw.surfaces.Quadratic(), l1=0.1),
            {},
            "needs a LinearProblem.*use method='fista'",
        ),
        (problem(l2=0.0, l1=0.1), {"schedule": "1/t"}, "needs l2 > 0 .got 0.*'1/sqrt.t.'"),
        (problem(l2=5.0), {"step": 0.3}, "step must be below 1/l2 = 0.2"),
        (problem(), {"schedule": "theorem"}, "no penalty holds the intercept.*radius="),
        (
            problem(l2=0.0, fit_intercept=False),
            {"schedule": "theorem"},
            "no penalty holds the coefficients.*radius=",
        ),
    ],
)
def test_what_it_refuses(objective, options, says):
    with pytest.raises(tw.InputError, match=says):
        tw.minimize(objective, tw.SGD(**options))
