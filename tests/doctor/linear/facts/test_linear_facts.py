import numpy as np
import pytest
import scipy.sparse

import thalweg as tw
from linear_data import features, labels, regression, solved
from thalweg.doctor.linear.facts import curvature
from thalweg.doctor.linear.facts import linear_facts as facts
from thalweg.doctor.linear.facts.linear_facts import linear_facts


def test_standardized_kappa_is_that_of_the_standardized_problem():
    X = features() * [1.0, 10.0, 100.0, 1e3, 1e4] + [0.0, 1.0, 2.0, 3.0, 4.0]
    X[:, 1] += 5.0 * X[:, 0]
    for l2 in (0.0, 0.3):
        for intercept in (False, True):
            options = {"l2": l2, "fit_intercept": intercept}
            plain = linear_facts(regression(X, **options))
            scaled = linear_facts(regression(X, standardize=True, **options))
            np.testing.assert_allclose(plain.standardized_kappa, scaled.curvature.kappa, rtol=1e-8)
            np.testing.assert_allclose(scaled.standardized_kappa, scaled.curvature.kappa, rtol=1e-8)
            assert plain.curvature.kappa > 100.0 * plain.standardized_kappa


@pytest.mark.parametrize("loss", ["squared", "logistic", "multinomial"])
@pytest.mark.parametrize("standardize", [False, True])
def test_sparse_is_as_dense(loss, standardize):
    X = features() * (features(seed=4) > 0)
    X = np.column_stack([X, X[:, 0] + X[:, 1], 2.0 * X[:, 2], np.zeros(200)])
    y = {"squared": X.sum(axis=1), "logistic": labels(X), "multinomial": np.arange(200) % 3}[loss]
    one, two = (
        linear_facts(tw.LinearProblem(convert(X), y, loss, l2=0.1, standardize=standardize))
        for convert in (np.asarray, scipy.sparse.csr_array)
    )
    assert one.repeats.tolist() == two.repeats.tolist() == [[2, 6]]
    assert len(one.dependence.combinations) == len(two.dependence.combinations) == 1
    np.testing.assert_allclose(one.curvature, two.curvature, rtol=1e-6)
    np.testing.assert_allclose(one.standardized_kappa, two.standardized_kappa, rtol=1e-6)
    np.testing.assert_allclose(one.effect, two.effect, rtol=1e-8)


def test_weights_count_as_repetitions():
    X = features(50)
    y = X.sum(axis=1)
    s = 1 + np.arange(50) % 3
    weighted = linear_facts(tw.LinearProblem(X, y, l2=0.1, sample_weight=s))
    repeated = linear_facts(tw.LinearProblem(np.repeat(X, s, axis=0), np.repeat(y, s), l2=0.1))
    np.testing.assert_allclose(weighted.curvature, repeated.curvature)
    np.testing.assert_allclose(weighted.effect, repeated.effect)
    # By feature: which of two alike comes first is a matter of rounding.
    assert weighted.dependence.inflation == pytest.approx(repeated.dependence.inflation, rel=1e-7)


def test_what_is_too_dear_is_named(monkeypatch):
    monkeypatch.setattr(curvature, "DENSE", 3)
    facts = linear_facts(regression(features()))
    assert facts.dependence is None
    assert "three or more" in facts.unchecked
    assert np.isnan(facts.standardized_kappa)
    monkeypatch.undo()
    monkeypatch.setattr(curvature, "MOST_WORK", 1.0)
    assert "200 × 5" in linear_facts(regression(features())).unchecked


def test_a_run_that_did_not_end_is_no_solution():
    problem, run = solved(regression(features(), l2=0.1), method="gd", max_iter=1)
    assert not run.converged
    facts = linear_facts(problem, run)
    assert not facts.curvature.at_solution
    assert facts.effect.zeros == -1


def test_nothing_that_was_passed_changes():
    X = scipy.sparse.csr_array(features() * (features(seed=4) > 0))
    problem, run = solved(tw.LinearProblem(X, labels(X.toarray()), "logistic", l2=0.1))
    before = X.copy(), run.w.copy(), problem.l2, problem.loss, problem.features
    linear_facts(problem, run)
    assert (abs(X - before[0])).nnz == 0
    assert np.array_equal(run.w, before[1])
    assert (problem.l2, problem.loss, problem.features) == before[2:]


def test_shares_and_names():
    X = features(8)
    facts = linear_facts(tw.LinearProblem(X, list("aabbbbbb"), "logistic"), names=list("vwxyz"))
    np.testing.assert_allclose(facts.shares, [0.25, 0.75])
    assert [facts.label(k) for k in range(2)] == ["'a'", "'b'"]
    objects = tw.LinearProblem(X, np.array(list("aabbbbbb"), dtype=object), "logistic")
    assert linear_facts(objects).label(1) == "'b'"
    assert facts.listed([0, 4]) == "'v', 'z'"
    assert facts.listed(range(5), most=2) == "'v', 'w' and 3 more"
    plain = linear_facts(tw.LinearProblem(X, np.arange(8) % 3, "multinomial"))
    np.testing.assert_allclose(plain.shares, [3 / 8, 3 / 8, 2 / 8])
    assert plain.listed([3]) == "column 3"
    assert linear_facts(regression(X)).shares.size == 0


def test_of_very_many_rows_some_are_looked_at_for_the_curvature(monkeypatch):
    X = features(2_000, 4) * [1.0, 30.0, 1.0, 1.0]
    problem, run = solved(regression(X, l2=1e-3))
    whole = linear_facts(problem, run)
    monkeypatch.setattr(facts, "ENOUGH", 2_000)
    part = linear_facts(problem, run)
    assert part.curvature.rows == 500
    assert not part.curvature.is_exact
    assert part.curvature.largest == whole.curvature.largest
    assert part.curvature.kappa == pytest.approx(whole.curvature.kappa, rel=0.3)
    assert part.effect.move == pytest.approx(whole.effect.move, rel=0.3)
    assert part.effect.share == whole.effect.share
