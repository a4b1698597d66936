import math

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits

import thalweg as tw
from thalweg.certificates.duality import Gap
from thalweg.methods import proof
from thalweg.methods.payment import GROWTH, SPACING, Payment

RICH = 10_000.0  # passes, after which nothing is too dear


def gap_of(gap, passes=2.5):
    return Gap(primal=1.0, dual=1.0 - gap, rounding=0.0, passes=passes)


def test_the_first_gap_is_paid_at_once():
    assert Payment().is_due(0, 1.0, 1.0, 1e-6)


def test_a_method_with_a_bound_of_its_own_says_when():
    assert not Payment().is_due(0, 1.0, 1.0, 0.1, floor=0.89)
    assert Payment().is_due(0, 1.0, 1.0, 0.1, floor=0.91)
    last = Payment(passes=RICH, norm=1.0, gap=1e-9, spent=0.25 * RICH)
    assert not last.is_due(3 * RICH, 1.0, 1.0, 0.1, floor=0.89)
    assert last.is_due(RICH + 1, 1.0, 1.0, 0.1, floor=0.91)
    assert not last._replace(spent=RICH).is_due(RICH + 1, 1.0, 1.0, 0.1, floor=0.91)


def test_at_the_same_point_it_is_paid_again_and_changes_nothing():
    last = Payment(passes=100, norm=1.0, gap=1.0, spent=1e6)
    assert last.is_due(100, 1.0, 1.0, 1e-6)
    assert last.after(100, 1.0, gap_of(0.5)) is last


def test_after_a_payment_by_hand():
    first = Payment().after(3, 0.5, gap_of(0.25))
    assert first == (3, 0.5, 0.25, 0.75, 2.5)
    second = first.after(20, 0.25, gap_of(0.5, passes=30.0))
    assert second == (20, 0.25, 0.5, 0.75, 32.5)  # the higher floor stays


def test_the_forecast_falls_like_the_square_of_the_norm():
    last = Payment(passes=RICH, norm=1.0, gap=1.0)
    # At a tenth of the norm the gap is about a hundredth.
    assert last.is_due(RICH + SPACING, 0.1, 1.0, 0.0101)
    assert not last.is_due(RICH + SPACING, 0.1, 1.0, 0.0099)


def test_a_value_near_the_floor_is_worth_a_gap_whatever_the_norm():
    last = Payment(passes=RICH, norm=1.0, gap=1.0, floor=2.0)
    assert last.is_due(RICH + SPACING, 1.0, 2.01, 0.0101)
    assert not last.is_due(RICH + SPACING, 1.0, 2.01, 0.0099)


def test_within_the_spacing_only_a_sure_thing_is_paid_for():
    last = Payment(passes=RICH, norm=1.0, gap=1.0)
    assert not last.is_due(RICH + 1, 0.1, 1.0, 0.0101)
    assert last.is_due(RICH + 1, 1e-5, 1.0, 1e-6)


def test_nothing_is_paid_for_beyond_a_fifth():
    last = Payment(passes=80, norm=1.0, gap=1.0, spent=25.0)
    assert not last.is_due(99, 0.1, 1.0, 1.0)
    assert last.is_due(100, 0.1, 1.0, 1.0)
    assert last.affords(120, 5.0)
    assert not last.affords(119, 5.0)


def test_without_hope_it_is_paid_for_as_passes_grow():
    last, passes, paid = Payment(), 0, 0
    while passes < 10_000:
        if last.is_due(passes, 1.0, math.inf, 1e-12):
            last, paid = last.after(passes, 1.0, gap_of(1.0)), paid + 1
        passes += 1
    # Geometric: about log(10⁴/40)/log(1/(1 − GROWTH)) after the first few.
    assert 15 <= paid <= 30
    assert GROWTH < 1


class Account:
    """Passes for steps, and for each gap."""

    def __init__(self):
        self.for_gaps, self.for_steps, self.inside = [], 0, False


class Counted(tw.LinearProblem):
    """A linear problem that counts its passes, those for gaps apart.

    Its smooth part and the view about the mean are copies: they count on the same account.
    """

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.account = Account()

    def count(self, passes):
        if self.account.inside:
            self.account.for_gaps[-1] += passes
        else:
            self.account.for_steps += passes

    def scores(self, w):
        self.count(1)
        return super().scores(w)

    def transpose(self, theta):
        self.count(1)
        return super().transpose(theta)

    def value_and_gradient(self, w):
        self.count(1)
        return super().value_and_gradient(w)

    def value_gradient_scores(self, w):
        self.count(1)
        return super().value_gradient_scores(w)

    def value(self, w):
        self.count(1)
        return super().value(w)

    def hessian_vector(self, w, v):
        self.count(1)
        return super().hessian_vector(w, v)


def standardized(load):
    X, y = load(return_X_y=True)
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0), y


@pytest.mark.parametrize(
    ("load", "loss", "method", "options"),
    [
        (load_breast_cancer, "logistic", "lbfgs", {"l2": 1e-4}),
        (load_breast_cancer, "logistic", "nesterov", {"l2": 1e-3}),
        (load_breast_cancer, "logistic", "gd", {"l2": 1e-2}),
        (load_breast_cancer, "logistic", "fista", {"l1": 4e-2}),
        (load_breast_cancer, "logistic", "fista", {"l1": 4e-3, "l2": 4e-4}),
        (load_diabetes, "squared", "fista", {"l1": 0.45}),
        (load_digits, "multinomial", "fista", {"l1": 1e-2}),
        (load_digits, "multinomial", "lbfgs", {"l2": 1e-4}),
    ],
)
def test_gaps_that_did_not_end_the_run_take_at_most_a_fifth_of_its_passes(
    load, loss, method, options, monkeypatch
):
    X, y = standardized(load)
    problem = Counted(X, y, loss, **options)
    real, account = proof._gap, problem.account

    def counted(*args, **kwargs):
        account.inside = True
        account.for_gaps.append(0)
        found = real(*args, **kwargs)
        account.inside = False
        return found

    monkeypatch.setattr(proof, "_gap", counted)
    run = tw.minimize(problem, method, tol=1e-6, max_iter=5000, progress=False)
    assert run.outcome is tw.Outcome.CONVERGED
    *failed, last = account.for_gaps
    assert len(failed) >= 2
    assert last >= 2
    assert sum(failed) <= 0.2 * (account.for_steps + sum(failed))
