"""What is timed is the real kernel on real rows, and time grows with the rows."""

import numpy as np
import pytest

import thalweg as tw
from thalweg.planner import cost as module
from thalweg.planner.cost import Cost

KINDS = ("gradient", "hessian", "factorisation", "blocks", "dual", "visits")


def problem(n=300, p=5):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p))
    return tw.LinearProblem(X, X[:, 0] > 0, "logistic", l2=0.1)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kernel_has_a_price(kind):
    assert getattr(Cost(problem()), kind) > 0.0


def test_a_slice_is_scaled_to_all_rows(monkeypatch):
    # A clock that moves on by what a pass would take: 1 a row, and 100 to begin.
    seen = []
    monkeypatch.setattr(module, "_seconds", lambda job: 100.0 + job())
    monkeypatch.setattr(module, "ENTRIES", 5 * 1_000)
    cost = Cost(problem(n=10_000))

    def rows(part):
        seen.append(part.n)
        return float(part.n)

    assert cost._scaled(rows) == pytest.approx(100.0 + 10_000)
    assert seen == [module.FEW, module.FEW, 1_000], "compiled, set-up, slice"


def test_a_problem_with_an_l1_penalty_is_timed_without_it():
    data = tw.LinearProblem(np.eye(5), np.arange(5.0), l1=0.1, l2=0.1)
    assert Cost(data).gradient > 0.0
