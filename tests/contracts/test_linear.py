"""What every method promises on linear problems: a certified gap, or a sentence naming another."""

import itertools

import numpy as np
import pytest
import scipy.sparse

import thalweg as tw

ALL = sorted(tw.METHODS)
LOSSES = ("squared", "logistic", "squared-hinge", "huber", "multinomial")
PENALTIES = {"l2": {"l2": 0.05}, "l1": {"l1": 0.02}, "elastic net": {"l1": 0.02, "l2": 0.05}}

# Steps of equal length circle the optimum, and so do steps along single samples: close, no more.
COARSE = ("rmsprop", "nadam", "sgd")
OPTIONS = {name: {"schedule": "1/sqrt(t)"} for name in COARSE}


def problem(loss="logistic", *, sparse=False, dtype=np.float64, **options):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 6)) * (rng.random((60, 6)) < 0.7)
    scores = X @ rng.standard_normal((6, 3)) + rng.standard_normal((60, 3))
    y = scores[:, 0] if loss in ("squared", "huber") else np.argmax(scores, axis=1)
    if loss in ("logistic", "squared-hinge"):
        y = scores[:, 0] > 0
    X = X.astype(dtype)
    return tw.LinearProblem(scipy.sparse.csr_array(X) if sparse else X, y, loss, **options)


def refuses(name, loss, penalty):
    method = tw.METHODS[name]
    return (
        ("l1" in penalty and not (method.takes_penalty or method.takes_linear_penalty))
        or (name == "cholesky" and loss != "squared")
        or (name == "sdca" and "l2" not in penalty)
        or (name == "cd" and loss == "multinomial")
    )


CASES = list(itertools.product(ALL, LOSSES, PENALTIES))


@pytest.mark.parametrize(
    ("name", "loss", "penalty"), [c for c in CASES if not refuses(c[0], c[1], PENALTIES[c[2]])]
)
def test_reaches_a_certified_gap(name, loss, penalty):
    method = tw.METHODS[name](**OPTIONS.get(name, {}))
    values = []
    for sparse, dtype in itertools.product((False, True), (np.float32, np.float64)):
        data = problem(loss, sparse=sparse, dtype=dtype, **PENALTIES[penalty])
        tol = 1e-4 if dtype == np.float32 else 1e-6
        if name in COARSE:
            tol = 1e-2
        run = tw.minimize(data, method, tol=tol, max_iter=20_000, progress=False)
        assert run.outcome is tw.Outcome.CONVERGED, run
        assert run.certificate.kind == "duality gap"
        assert run.certificate.gap <= run.certificate.limit
        assert run.w.dtype == dtype
        values.append(run.value - 1e-12 - run.certificate.gap)  # at most F*
    # Certified values of four storages of the same data: their lower bounds cannot cross any value.
    assert max(values) <= min(values) + 1e-3


@pytest.mark.parametrize(
    ("name", "loss", "penalty"), [c for c in CASES if refuses(c[0], c[1], PENALTIES[c[2]])]
)
def test_what_cannot_be_done_names_what_can(name, loss, penalty):
    with pytest.raises(tw.InputError, match="use method=") as caught:
        tw.minimize(problem(loss, **PENALTIES[penalty]), name)
    suggested = str(caught.value).split("use method='")[1].split("'")[0]
    run = tw.minimize(problem(loss, **PENALTIES[penalty]), suggested, max_iter=20_000)
    assert run.converged


@pytest.mark.parametrize("name", ALL)
def test_sparse_takes_the_steps_of_dense(name):
    loss = "squared" if name == "cholesky" else "logistic"
    runs = [
        tw.minimize(problem(loss, sparse=sparse, l2=0.05), name, max_iter=5, tol=1e-15)
        for sparse in (False, True)
    ]
    np.testing.assert_allclose(runs[0].w, runs[1].w, rtol=1e-6, atol=1e-9)


def parting(one, other):
    """Where two runs part, for whoever has to find out why."""
    differ = np.flatnonzero(one.trace["value"] != other.trace["value"])
    return f"they part at row {differ[:1]} of the trace, w differs by {one.w - other.w}"


@pytest.mark.parametrize("name", ALL)
def test_resumed_equals_uninterrupted_gaps_included(name, tmp_path):
    data = problem("squared" if name == "cholesky" else "logistic", l2=1e-3)

    def run(max_iter, file=None):
        return tw.minimize(data, name, tol=1e-9, max_iter=max_iter, checkpoint=file)

    whole = run(40)
    for stop in (1, 7, 23):
        file = tmp_path / f"{stop}.checkpoint"
        run(stop, file)
        resumed = run(40, file)
        if resumed.w.tobytes() != whole.w.tobytes():
            # Twice, on a machine busy compiling, fista's last bits were not those of an earlier run
            # of the same process. Where that run cannot be repeated, it is no measure of this one.
            again = run(40)
            assert again.w.tobytes() != whole.w.tobytes(), parting(resumed, whole)
            np.testing.assert_allclose(resumed.w, whole.w, rtol=1e-12)
            continue
        assert resumed.outcome is whole.outcome
        np.testing.assert_array_equal(resumed.trace["value"], whole.trace["value"])


@pytest.mark.parametrize("name", ALL)
def test_a_warm_start_at_the_optimum_needs_nothing(name):
    data = problem("squared" if name == "cholesky" else "logistic", l2=0.05)
    best = tw.minimize(data, "cholesky" if name == "cholesky" else "newton-cg", tol=1e-12)
    again = tw.minimize(data, name, best.w, tol=1e-6)
    assert (again.outcome, again.iterations) == (tw.Outcome.CONVERGED, 0)


@pytest.mark.parametrize("name", sorted(set(ALL) - {"cholesky", *COARSE}))
def test_methods_agree_on_the_solution(name):
    data = problem("logistic", l2=0.05, sample_weight=np.arange(60.0))
    reference = tw.minimize(data, "newton-cg", tol=1e-12)
    run = tw.minimize(data, tw.METHODS[name](**OPTIONS.get(name, {})), max_iter=20_000)
    assert -1e-12 <= run.value - reference.value <= run.certificate.gap + 1e-12
