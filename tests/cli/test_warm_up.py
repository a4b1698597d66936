import itertools
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse

from command import answer, thalweg
from thalweg.cli import warm_up
from thalweg.core.errors import InputError
from thalweg.core.outcome import Outcome
from thalweg.doctor import diagnosis
from thalweg.kernels import scores
from thalweg.methods.registry import METHODS
from thalweg.planner import minimize, plan


def test_every_kind_of_problem():
    found = [
        (problem.matrix.is_sparse, problem.loss, problem.l1 > 0.0)
        for _, problem in warm_up.small_problems()
    ]
    assert found == list(
        itertools.product((False, True), ("squared", "logistic", "multinomial"), (False, True))
    )


def test_each_is_planned_solved_by_all_and_diagnosed(monkeypatch):
    asked = []

    def minimized(problem, method="auto", **_):
        asked.append(method)
        if method == "cholesky":
            raise InputError("it does not take this")
        return SimpleNamespace(outcome=Outcome.CONVERGED)

    monkeypatch.setattr(plan, "plan", lambda problem: asked.append("plan"))
    monkeypatch.setattr(minimize, "minimize", minimized)
    monkeypatch.setattr(diagnosis, "diagnose", lambda problem, run: asked.append("diagnose"))
    warm_up.solve_by_all("problem")
    assert asked == ["plan", "auto", "diagnose", *METHODS]


def test_ctrl_c_in_a_run_ends_them_all(monkeypatch):
    interrupted = SimpleNamespace(outcome=Outcome.INTERRUPTED)
    monkeypatch.setattr(plan, "plan", lambda problem: None)
    monkeypatch.setattr(minimize, "minimize", lambda *_, **__: interrupted)
    monkeypatch.setattr(diagnosis, "diagnose", lambda problem, run: None)
    with pytest.raises(KeyboardInterrupt):
        warm_up.solve_by_all("problem")


def test_predictions_compile_nothing_more():
    warm_up.score_rows()
    kernels = (
        scores.dense_scores, scores.dense_class_scores, scores.sparse_scores,
        scores.sparse_class_scores,
    )  # fmt: skip
    before = [kernel.signatures for kernel in kernels]
    assert all(before)
    X = np.asfortranarray(np.random.default_rng(0).random((9, 5)), dtype=np.float32)
    for rows in (X, scipy.sparse.csr_array(X)):
        scores.scores(rows, np.ones(5), 1.0)
        scores.scores(rows, np.ones((5, 4)), np.ones(4))
    assert [kernel.signatures for kernel in kernels] == before


def test_it_says_how_long_it_took(monkeypatch):
    solved = []
    monkeypatch.setattr(warm_up, "small_problems", lambda: iter([("dense", 1), ("sparse", 2)]))
    monkeypatch.setattr(warm_up, "solve_by_all", solved.append)
    assert answer("warm-up")["problems"] == 2
    assert solved == [1, 2]
    done = thalweg("warm-up")
    assert done.stdout.startswith("kernels are compiled and kept on disk: ")
    assert "warm-up: sparse after " in done.stderr
    assert thalweg("warm-up", "-q").stderr == ""
