"""What a loss and a penalty of a user's own are promised: the same optimum, gap and runs."""

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse

import thalweg as tw
from terms import LOSSES, elastic, group_lasso, lasso, non_negative, quantile

METHODS = ("auto", "gd", "nesterov", "fista", "lbfgs", "bfgs", "newton", "newton-cg")
DATA = {
    "dense": {}, "sparse": {"sparse": True}, "float32": {"dtype": np.float32},
    "sparse float32": {"sparse": True, "dtype": np.float32}, "weights": {"weighted": True},
    "no intercept": {"fit_intercept": False}, "standardized": {"standardize": True},
    "far": {"offset": 1e4},
}  # fmt: skip


def problem(
    loss, *, sparse=False, dtype=np.float64, weighted=False, offset=0.0, n=60, p=6, **options
):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p)) * (rng.random((n, p)) < 0.7)
    y = X @ rng.standard_normal(p) + rng.standard_normal(n)
    X = (X + offset).astype(dtype)
    name = loss if isinstance(loss, str) else loss.name
    y = np.sign(y) if "logistic" in name else y
    weights = {"sample_weight": rng.random(n) * (np.arange(n) % 7 > 0)} if weighted else {}
    X = scipy.sparse.csr_array(X) if sparse else X
    return tw.LinearProblem(X, y, loss, delta=0.7, **weights, **options)


def run(given, method="auto", **options):
    return tw.minimize(given, method, **{"tol": 1e-9, "progress": False, **options})


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("name", LOSSES)
def test_a_restated_loss_has_the_same_optimum_and_the_same_gap(name, data):
    own, built_in = (problem(loss, l2=0.05, **DATA[data]) for loss in (LOSSES[name](), name))
    found, known = run(own, tol=1e-12), run(built_in, tol=1e-12)
    assert found.certificate.kind == "duality gap"
    assert found.certificate.holds or "float32" in data
    assert found.value == pytest.approx(known.value, rel=1e-8 if "float32" not in data else 1e-5)
    if "float32" not in data:
        np.testing.assert_allclose(found.w, known.w, atol=1e-6 * max(1, np.abs(known.w).max()))
    # At one point, from wherever: the gap of the one is that of the other.
    w = known.w + 0.01 * np.random.default_rng(1).standard_normal(known.w.size) * (
        0 if data == "far" else 1
    )
    gaps = [tw.certify(each, w.astype(np.float64)).gap for each in (own, built_in)]
    assert gaps[0] == pytest.approx(gaps[1], rel=1e-2, abs=1e-10)


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("method", METHODS)
def test_every_method_for_any_objective_brings_it_to_a_gap(method, data):
    made = run(problem(quantile(), l2=0.05, **DATA[data]), method, tol=1e-5)
    assert made.outcome is tw.Outcome.CONVERGED, made.reason
    assert made.certificate.kind == "duality gap"
    assert made.certificate.holds


def slow_minimum(given, value, dim):
    """The least value by scipy, of scores and a penalty written out here."""
    w = np.zeros(dim)
    for _ in range(5):
        found = scipy.optimize.minimize(value, w, method="BFGS", options={"gtol": 1e-10})
        w = found.x
    return found.fun


def test_a_quantile_loss_has_the_minimum_of_its_definition():
    given = problem(quantile(0.8, 0.2), l2=0.05)
    X, y = given.matrix.rows, given.y

    def value(w):
        r = y - X @ w[:-1] - w[-1]
        # The pinball loss, its kink rounded: the least of pinball(r − t) + t²/(2·width) over t.
        slope = np.clip(r / 0.2, -0.2, 0.8)
        return np.mean(slope * r - 0.1 * slope**2) + 0.025 * w[:-1] @ w[:-1]

    made = run(given, tol=1e-11)
    assert made.value == pytest.approx(slow_minimum(given, value, 7), abs=1e-10)
    below = np.mean(y <= given.scores(made.w) + 1e-12)
    assert below == pytest.approx(0.8, abs=0.1)


@pytest.mark.parametrize("l2", [0.0, 0.05])
@pytest.mark.parametrize("data", DATA)
def test_a_restated_lasso_has_the_same_optimum_and_the_same_gap(data, l2):
    own, built_in = (
        problem("squared", l2=l2, **DATA[data], **penalty)
        for penalty in ({"penalty": lasso(0.1)}, {"l1": 0.1})
    )
    tol = 1e-5 if "float32" in data else 1e-10
    found, known = run(own, tol=tol, max_iter=50_000), run(built_in, tol=tol)
    assert found.method == "fista"
    assert found.certificate.kind == "duality gap"
    assert found.certificate.holds, found.reason
    assert found.value == pytest.approx(known.value, rel=1e-5 if "float32" in data else 1e-8)
    w = known.w.astype(np.float64)
    w[:6] *= 1.01
    gaps = [tw.certify(each, w, tol=1.0).gap for each in (own, built_in)]
    assert gaps[0] == pytest.approx(gaps[1], rel=1e-2)


def test_what_float32_cannot_reach_is_said_to_be_rounding():
    # The gradient mapping is 0 to the last bit there.
    made = run(problem("squared", penalty=lasso(0.1), dtype=np.float32), tol=1e-11)
    assert made.outcome is tw.Outcome.STALLED
    assert "differences of f are at its rounding" in made.reason


@pytest.mark.parametrize("loss", ["squared", "logistic", "huber", "quantile"])
@pytest.mark.parametrize("make", [group_lasso, elastic, non_negative])
def test_other_penalties_end_with_a_gap_that_is_one(make, loss):
    penalty = {group_lasso: lambda: make(0.05), elastic: lambda: make(0.05, 0.1)}.get(make, make)()
    # Of a cone, no multiple of a dual point that is outside by rounding is inside.
    l2 = 0.01 if make is non_negative else 0.0
    given = problem(quantile() if loss == "quantile" else loss, penalty=penalty, l2=l2)
    coarse, fine = (run(given, tol=tol, max_iter=50_000) for tol in (1e-3, 1e-9))
    assert fine.outcome is tw.Outcome.CONVERGED, fine.reason
    assert fine.certificate.kind == "duality gap"
    for each in (coarse, fine):
        assert -1e-12 <= each.value - fine.value <= each.certificate.gap + 1e-12
        # Weak duality: no point is below what was proved.
        assert each.certificate.evidence["dual"] <= fine.value + 1e-12


def test_a_group_is_left_out_as_a_whole():
    given = problem("squared", penalty=group_lasso(0.6))
    lengths = np.linalg.norm(run(given).w[:6].reshape(3, 2), axis=1)
    assert 0 < np.count_nonzero(lengths) < 3


def test_constraints_are_kept():
    assert (run(problem("squared", penalty=non_negative())).w[:6] >= 0).all()


def test_a_penalty_of_several_classes_holds_rows_of_their_matrix():
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((80, 5)), np.arange(80) % 3
    given = tw.LinearProblem(X, y, "multinomial", penalty=group_lasso(0.02, size=3))
    made = run(given, max_iter=50_000)
    assert made.outcome is tw.Outcome.CONVERGED, made.reason
    assert made.certificate.kind == "duality gap"


SENTENCES = [
    ({"loss": quantile(conjugate=None), "l2": 0.05}, "Newton decrement",
     "how far F(w) is from F*: give the loss its conjugate, tw.Loss(..., conjugate=...)"),
    ({"loss": quantile()}, "Newton decrement",
     "how far F(w) is from F*: add an l2 or l1 penalty, however small"),
    ({"loss": quantile(conjugate=None), "l1": 0.05}, "stationarity",
     "how far F(w) is from F*: give the loss its conjugate, tw.Loss(..., conjugate=...)"),
    ({"loss": "squared", "penalty": group_lasso(0.05, dual=None)}, "stationarity",
     "how far F(w) is from F*: give the penalty its dual norm, tw.Penalty(..., dual=...), or add "
     "l2 > 0"),
]  # fmt: skip


@pytest.mark.parametrize(("terms", "kind", "says"), SENTENCES)
def test_what_cannot_be_proved_is_said(terms, kind, says):
    given = problem(**terms)
    made = run(given, tol=1e-7)
    assert made.outcome is tw.Outcome.CONVERGED, made.reason
    for certificate in (made.certificate, tw.certify(given, made.w, tol=1e-5)):
        assert certificate.holds, certificate.statement
        assert (certificate.kind, certificate.gap) == (kind, None)
        assert certificate.does_not_show == says


def test_with_l2_the_proximal_step_alone_gives_a_gap():
    with_dual, without = (
        run(problem("squared", l2=0.05, penalty=group_lasso(0.1, **options)))
        for options in ({}, {"dual": None})
    )
    assert with_dual.certificate.gap == without.certificate.gap
    assert without.certificate.holds


@pytest.mark.parametrize("method", ["newton", "fista"])
def test_l1_beside_a_loss_of_ones_own(method):
    own, built_in = (problem(loss, l1=0.05) for loss in (LOSSES["huber"](), "huber"))
    found = run(own, method, max_iter=50_000)
    assert found.certificate.holds, found.reason
    assert found.value == pytest.approx(run(built_in).value, rel=1e-8)
    without = run(problem(LOSSES["huber"](conjugate=None), l1=0.05), method, max_iter=50_000)
    assert without.outcome is tw.Outcome.CONVERGED, without.reason
    assert without.certificate.kind == "stationarity"


OWN = {
    "loss": lambda: problem(quantile(), l2=1e-3),
    "penalty": lambda: problem("logistic", penalty=group_lasso(0.02)),
    "both": lambda: problem(quantile(), penalty=group_lasso(0.02)),
    "both, nothing proved": lambda: problem(
        quantile(conjugate=None), penalty=group_lasso(0.02, dual=None)
    ),
}


@pytest.mark.parametrize("make", OWN.values(), ids=OWN)
def test_a_run_resumes_to_the_same_bits(make, tmp_path):
    method = "lbfgs" if make().is_smooth else "fista"
    whole = run(make(), method)
    file = tmp_path / "run.ckpt"
    first = run(make(), method, max_iter=4, checkpoint=file)
    assert first.outcome is tw.Outcome.ITERATION_LIMIT
    again = run(make(), method, checkpoint=file)
    assert again.iterations == whole.iterations > 4
    np.testing.assert_array_equal(again.w, whole.w)
    np.testing.assert_array_equal(again.trace["value"], whole.trace["value"])


def test_a_checkpoint_of_another_loss_is_refused(tmp_path):
    file = tmp_path / "run.ckpt"
    run(problem(quantile(0.8), l2=0.05), "lbfgs", max_iter=3, checkpoint=file)
    with pytest.raises(tw.InputError, match="belongs to another run"):
        run(problem(quantile(0.7), l2=0.05), "lbfgs", checkpoint=file)
    renamed = quantile(0.7, name="quantile 0.8")  # a name does not tell two functions apart
    with pytest.raises(tw.InputError, match="belongs to another run"):
        run(problem(renamed, l2=0.05), "lbfgs", checkpoint=file)


@pytest.mark.parametrize("make", OWN.values(), ids=OWN)
def test_a_run_is_saved_and_read_again(make, tmp_path):
    made = run(make())
    made.save(tmp_path / "run")
    again = tw.Run.load(tmp_path / "run")
    assert again.objective == made.objective == make().name
    np.testing.assert_array_equal(again.w, made.w)
    assert again.certificate == made.certificate


@pytest.mark.parametrize("make", OWN.values(), ids=OWN)
def test_a_warm_start_at_the_optimum_needs_nothing(make):
    given = make()
    end = run(given, tol=1e-9).w
    assert run(given, "fista", tol=1e-6, w0=end).iterations <= 1


@pytest.mark.parametrize("make", OWN.values(), ids=OWN)
def test_the_plan_says_who_cannot_take_it(make):
    given = make()
    made = tw.plan(given)
    assert made.rows[0].eligible
    assert run(given, made).outcome is tw.Outcome.CONVERGED
    refused = {row.method: row.remark for row in made.rows if not row.eligible}
    assert "of your own" in refused["saga"] or "built-in losses alone" in refused["saga"]
    assert "use method=" in refused["saga"]


@pytest.mark.parametrize("make", OWN.values(), ids=OWN)
def test_diagnosis_and_text_take_it(make):
    given = make()
    made = run(given, max_iter=3)
    assert given.name in str(made)
    for findings in (tw.diagnose(given), tw.diagnose(given, made)):
        assert all(finding.claim and finding.severity for finding in findings)


def test_a_path_takes_a_loss_of_ones_own_and_no_penalty():
    own, built_in = (problem(loss) for loss in (LOSSES["huber"](), "huber"))
    runs, known = (tw.path(each, points=4, ratio=0.1, progress=False) for each in (own, built_in))
    for mine, theirs in zip(runs, known, strict=True):
        assert mine.value == pytest.approx(theirs.value, rel=1e-5)
    with pytest.raises(tw.InputError, match="problem must have no penalty of its own, got 'group"):
        tw.path(problem("squared", penalty=group_lasso(0.1)))


def test_any_number_of_threads_gives_the_same_bits():
    bits = [
        run(problem(quantile(), l2=0.05, n=5_000, p=20, threads=threads), "lbfgs").w
        for threads in (1, 2)
    ]
    np.testing.assert_array_equal(*bits)
