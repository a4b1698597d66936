import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

import thalweg as tw
from thalweg.methods.journey import Relay
from thalweg.methods.loop import Limits, drive


def test_the_callback_sees_every_iteration_and_can_stop():
    seen = []

    def stop_at_seven(step):
        seen.append(step)
        return step.iteration == 7

    run = tw.minimize(tw.surfaces.Rosenbrock(), "gd", callback=stop_at_seven)
    assert [step.iteration for step in seen] == list(range(1, 8))
    assert run.outcome is tw.Outcome.INTERRUPTED
    np.testing.assert_array_equal([step.value for step in seen], run.trace["value"][1:])
    with pytest.raises(ValueError, match="read-only"):
        seen[0].w[0] = 0.0


def test_with_noise_the_trace_claims_no_gap_from_a_noisy_gradient():
    bowl = tw.Objective(lambda w: w @ w, lambda w: 2 * w, smoothness=2.0, strong_convexity=2.0)
    noisy = tw.minimize(tw.Noisy(bowl, 1.0), tw.GD(step=0.1), [1.0, 1.0], max_iter=50)
    assert np.isnan(noisy.trace["gap"]).all()
    assert noisy.value <= noisy.certificate.gap
    exact = tw.minimize(bowl, tw.GD(step=0.1), [1.0, 1.0], max_iter=50)
    assert (exact.trace["value"] <= exact.trace["gap"] * (1 + 1e-12)).all()


@pytest.mark.parametrize("method", [tw.CD(), tw.FISTA()], ids=["keeps features", "begins anew"])
def test_a_relay_hands_the_last_state_to_the_next_run(method):
    X, y = load_breast_cancer(return_X_y=True)
    problem = tw.LinearProblem(X, y, "logistic", standardize=True)
    limits = Limits(1e-8, 10_000)
    relay = Relay()
    first = drive(problem.replaced(l1=0.1), method, problem.start, limits, seed=0, relay=relay)
    assert relay.method == method
    np.testing.assert_allclose(problem.centred.enter(relay.state.w, problem), first.w)
    here = problem.replaced(l1=0.05)
    second = drive(here, method, first.w, limits, seed=0, relay=relay)
    alone = drive(here, method, first.w, limits, seed=0)
    assert second.certificate.holds
    assert second.counts["passes"] <= alone.counts["passes"]
    np.testing.assert_allclose(second.w, alone.w, atol=1e-3)
    drive(problem.replaced(l1=0.01), method, first.w, Limits(1e-8, 0), seed=0, relay=relay)
    assert relay.state is None  # a run that did not arrive leaves nothing behind


def test_another_method_begins_at_the_lowest_point_so_far():
    """A dual method's w may lie far above the start: of noise classes under next to no penalty."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 60)) * np.logspace(-3, 3, 60)
    data = tw.LinearProblem(X, rng.random(30) < 0.5, "logistic", l2=1e-8)
    begun = []

    class Change:
        def __call__(self, journey):
            if journey.iteration != 2:
                return None
            begun.extend([journey.state.value, journey.best.value])
            return tw.LBFGS()

        def after_stall(self, journey):
            return None

    run = drive(data, tw.SDCA(), data.start, Limits(1e-6, 3), seed=0, overseer=Change())
    assert begun[0] > 10.0 * begun[1] == pytest.approx(10.0 * run.trace["value"][0])
    assert run.method == "lbfgs"
    assert run.trace["value"][3] <= begun[1]
