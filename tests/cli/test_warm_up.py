import itertools

from command import answer, thalweg
from thalweg.cli import warm_up
from thalweg.methods import table


def test_every_kind_of_problem():
    found = [
        (problem.matrix.is_sparse, problem.loss, problem.l1 > 0.0)
        for _, problem in warm_up.small_problems()
    ]
    assert found == list(
        itertools.product((False, True), ("squared", "logistic", "multinomial"), (False, True))
    )


def test_it_says_how_long_it_took(monkeypatch):
    _, problem = list(warm_up.small_problems())[2]
    monkeypatch.setattr(warm_up, "small_problems", lambda: iter([("dense logistic", problem)]))
    few = {name: table.METHODS[name] for name in ("gd", "newton", "cholesky")}
    monkeypatch.setattr(table, "METHODS", few)
    assert answer("warm-up")["problems"] == 1
    done = thalweg("warm-up")
    assert done.stdout.startswith("kernels are compiled and kept on disk: ")
    assert "warm-up: dense logistic after " in done.stderr
    assert thalweg("warm-up", "-q").stderr == ""
