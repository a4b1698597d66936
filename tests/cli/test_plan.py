import pytest

import thalweg as tw
from command import answer, sentence, thalweg


def test_the_answer_is_the_plan_of_the_problem():
    found = answer("plan", "@cancer", "--standardize", "--tol", "1e-4")
    X, y = (lambda table: (table.X, table.y))(tw.read("@cancer"))
    made = tw.plan(tw.LinearProblem(X, y, "logistic", l2=1 / 569, standardize=True), 1e-4)
    assert found["kind"] == "linear"
    assert found["problem"] == made.problem
    assert found["target"] == pytest.approx(made.target)
    assert found["geometry"]["L"] == [pytest.approx(made.geometry["L"].value), "exact"]
    assert {row["method"] for row in found["rows"]} == {row.method for row in made.rows}
    assert found["command"] == f"thalweg train @cancer --standardize -m {made.best} --tol 0.0001"


def test_what_a_person_reads():
    done = thalweg("plan", "@cancer", "--loss", "logistic")
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert lines[0] == "Problem    logistic on 569 × 30 dense, l2 = 0.00175747"
    assert "Advice     badly scaled" in done.stdout
    assert "--standardize" in done.stdout
    assert [line.split()[1] for line in lines if line.startswith("▸ ")] == ["newton"]
    assert lines[-1] == "next: thalweg train @cancer --loss logistic -m newton"
    assert max(map(len, lines)) <= 100


def test_some_methods_alone():
    found = answer("plan", "@cancer", "-m", "gd", "-m", "adam[lr=0.1]", "-m", "cd")
    assert {row["method"]: row["eligible"] for row in found["rows"]} == {
        "gd": True, "cd": False, "adam": False,
    }  # fmt: skip
    assert found["command"].endswith("-m gd -m 'adam[lr=0.1]' -m cd")
    text = thalweg("plan", "@cancer", "-m", "adam").stdout
    assert "adam: nothing is known of how long it takes" in text


@pytest.mark.parametrize("columns", [40, 60, 200])
def test_as_wide_as_the_screen(columns, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = thalweg("plan", "@cancer", "--standardize").stdout.splitlines()
    assert max(map(len, lines)) <= min(columns, 100)
    (head,) = [line for line in lines if line.startswith("  method")]
    # How wide a column is depends on the times that are in it, and so does what there is room for.
    assert {"method", "predicted", "time"} <= set(head.split())
    whole = ["method", "bound", "predicted", "per", "it", "time", "memory", "remark"]
    assert (head.split() == whole) == (columns >= 100)


def test_numbers_that_are_not_finite():
    geometry = answer("plan", "@cancer", "--l2", "0")["geometry"]
    assert geometry["κ"] == [{"number": "inf"}, "exact"]


def test_a_network(monkeypatch):
    asked = ("@iris", "--model", "mlp:4", "--epochs", "2", "-m", "sgd")
    found = answer("plan", *asked)
    assert (found["kind"], [row["method"] for row in found["rows"]]) == ("network", ["sgd"])
    assert found["command"] == "thalweg train @iris --model mlp:4 --epochs 2 -m sgd"
    monkeypatch.setenv("COLUMNS", "40")
    lines = thalweg("plan", *asked).stdout.splitlines()
    assert lines[0].startswith("Problem    mlp:4, ")
    assert "▸ sgd" in {line[:5] for line in lines}
    assert max(map(len, lines)) <= 40


def test_bad_input():
    assert "did you mean 'newton'?" in sentence("plan", "@iris", "-m", "newtn")
    assert "tol must be above 0" in sentence("plan", "@iris", "--tol", "0")


@pytest.mark.parametrize("verb", ["plan", "diagnose"])
def test_a_penalty_that_is_to_be_chosen_is_chosen_by_training(verb):
    assert "l2 must be one penalty here, got auto: thalweg train chooses one" in sentence(
        verb, "@iris", "--l2", "auto"
    )
