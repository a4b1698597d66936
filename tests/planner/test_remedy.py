import re

import pytest
from sklearn.datasets import load_breast_cancer

import thalweg as tw
from thalweg.planner.remedy import _digits, _rounded_up

X, Y = load_breast_cancer(return_X_y=True)
RAW = tw.LinearProblem(X, Y, "logistic", l2=1.0 / len(Y))


@pytest.mark.parametrize("method", ["auto", "newton", "lbfgs", "gd", "sdca"])
def test_an_impossible_budget_is_told_distance_cause_and_cure(method):
    run = tw.minimize(RAW, method, max_iter=5, progress=False)
    assert not run.converged
    assert (
        f"duality gap = {run.certificate.measured:.3g} > {run.certificate.limit:.3g}" in run.reason
    )
    spread = X.std(axis=0).max() / X.std(axis=0).min()  # about the mean, as methods see it
    assert "κ = " in run.reason
    assert f"{spread:.2g} times the smallest" in run.reason
    assert re.search(
        r"predicted to need \d+ iterations from the start, [\d.]+ (s|ms|µs)", run.reason
    )


@pytest.mark.parametrize("method", ["auto", "lbfgs", "gd"])
def test_the_cure_cures(method):
    reason = tw.minimize(RAW, method, max_iter=5, progress=False).reason
    enough = int(re.search(r"max_iter=(\d+)", reason)[1])
    named = re.search(r"method='([\w-]+)'", reason)
    again = tw.minimize(RAW, named[1] if named else method, max_iter=enough, progress=False)
    assert again.converged


def test_a_time_limit_is_answered_by_a_longer_one():
    run = tw.minimize(RAW, "gd", time_limit=1e-6, progress=False)
    named = re.search(r"Try method='([\w-]+)' and time_limit=([\d.]+):", run.reason)
    assert float(named[2]) > 1e-6


def test_estimators_warn_with_it():
    with pytest.warns(UserWarning, match=r"Cause: κ = .* times the smallest. Try max_iter="):
        tw.LogisticRegression(max_iter=5).fit(X, Y)


def test_without_a_penalty_there_is_no_target_to_plan_for():
    run = tw.minimize(tw.LinearProblem(X, Y, "logistic"), "gd", max_iter=5, progress=False)
    assert "predicted" not in run.reason


def test_numbers_are_rounded_up():
    assert [_rounded_up(count) for count in (0.5, 9.2, 21.0, 30.0, 1234.0)] == [1, 10, 30, 30, 2000]
    assert [_digits(seconds) for seconds in (0.0123, 1.21, 12.0)] == ["0.013", "1.3", "12"]
