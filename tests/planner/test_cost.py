"""What is timed is the real kernel on real rows, and time grows with the rows."""

import numpy as np
import pytest
import scipy.sparse

import thalweg as tw
from thalweg.core.clock import COMPILING
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


@pytest.mark.parametrize(("tick", "times"), [(1.0, 1), (1e-7, 2)])
def test_a_slice_is_scaled_to_all_rows(tick, times, monkeypatch):
    # A clock that moves on by what a pass would take: a tick a row, and 100 to begin.
    seen = []
    monkeypatch.setattr(module, "_seconds", lambda job: tick * (100.0 + job()))
    monkeypatch.setattr(module, "ENTRIES", 5 * 1_000)
    cost = Cost(problem(n=10_000))

    def rows(part):
        seen.append(part.n)
        return float(part.n)

    assert cost._scaled(rows) == pytest.approx(tick * (100.0 + 10_000))
    few = module.FEW
    assert seen == [few, few] + times * [1_000], "compiled, set-up, and the slice twice if short"


def test_wide_rows_are_few():
    seen = []
    Cost(problem(n=100, p=30_000))._scaled(lambda part: seen.append(part.n))
    assert set(seen) == {1, 2}


@pytest.mark.parametrize(("outputs", "entries"), [(1, 1_000_000), (4, 250_000), (100, 60_000)])
def test_a_gradient_is_timed_on_a_longer_slice(outputs, entries, monkeypatch):
    seen = []
    y = np.arange(200) % outputs if outputs > 1 else np.arange(200) % 2
    loss = "multinomial" if outputs > 1 else "logistic"
    cost = Cost(tw.LinearProblem(np.ones((200, 3)), y, loss, l2=0.1))
    monkeypatch.setattr(cost, "_scaled", lambda job, entries: seen.append(entries) or 1.0)
    assert cost.gradient == 1.0
    assert seen == [entries]


@pytest.mark.parametrize("storage", [np.asarray, np.asfortranarray, scipy.sparse.csr_array])
def test_rows_are_gathered_from_all_over(storage, monkeypatch):
    X = np.arange(1.0, 1 + 40 * 20).reshape(40, 20)
    gathered = []
    monkeypatch.setattr(module, "_seconds", lambda job: len(gathered.append(job()) or []) - 0.5)
    data = tw.LinearProblem(storage(X), X[:, 0] > 30, "logistic")
    assert Cost(data).misses == 0.0  # by this clock the second look is as long as the first
    first, second = gathered
    np.testing.assert_array_equal(first, second)
    # One number of each line of 8, of 40 rows that may repeat.
    assert first.size == 40 * 3
    assert set(first.tolist()) <= set(X[:, ::8].ravel().tolist())


def test_a_problem_with_an_l1_penalty_is_timed_without_it():
    data = tw.LinearProblem(np.eye(5), np.arange(5.0), l1=0.1, l2=0.1)
    assert Cost(data).gradient > 0.0


def test_compiling_is_no_cost(wait):
    def compile_and_work():
        with COMPILING:
            wait(100.0)
        wait(1.0)

    assert module._seconds(compile_and_work) == 1.0
