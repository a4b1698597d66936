import json

import numpy as np
import pytest

from command import answer, sentence, thalweg
from linear_data import features
from thalweg.cli.diagnose import wrapped
from thalweg.cli.screen import Screen
from thalweg.core.finding import Finding, Severity


def run(*arguments):
    return thalweg("diagnose", *arguments)


@pytest.fixture
def table(tmp_path):
    """A linear target, one column in other units, one twice, one constant."""
    X = features(100, 3)
    X = np.column_stack([X * [1.0, 1e5, 1.0], X[:, 0], np.ones(100)])
    y = X @ [1.0, 1e-5, -1.0, 0.0, 0.0] + 0.1 * features(100, 1, seed=5)[:, 0]
    lines = ["length,width,depth,again,one,price"]
    lines += [",".join(map(str, row)) for row in np.column_stack([X, y])]
    file = tmp_path / "table.csv"
    file.write_text("\n".join(lines) + "\n")
    return file


def test_findings_worst_first_on_stdout_the_rest_on_stderr(table):
    done = run(table, "--target", "price")
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert " ".join(done.stdout.split()).startswith(
        f"{table}: squared on 100 × 5 dense, l2 = 0.01 "
    )
    assert ": converged after " in done.stdout
    place = lines.index("4 findings, worst first")
    assert lines[place + 1].startswith("ACT   unscaled inputs: 'width'")
    assert "'again' repeats 'length'" in " ".join(done.stdout.split())
    *notes, last = done.stderr.splitlines()
    assert last == "loss: squared, by what y holds; --loss takes another"
    notes = [line for line in notes if not line.startswith("Thalweg compiles its kernels")]
    assert notes
    assert all(line.startswith("note: ") for line in notes)
    assert max(map(len, lines[place:])) <= 100


def test_json(table):
    found = answer("diagnose", table, "--target", "price", "--loss", "squared")
    assert found["certified"] is True
    assert found["gap"] >= 0.0
    assert found["method"]
    first = found["findings"][0]
    assert first["severity"] == "ACT"
    assert set(first) == {
        "name", "severity", "claim", "measured", "limit", "cause", "advice", "rests_on", "evidence",
    }  # fmt: skip


def test_options_reach_the_problem(table):
    found = json.loads(
        run(
            table, "--target", "price", "--standardize", "--l2", "2/n", "--l1", "0.1", "--json"
        ).stdout
    )
    assert "l1 = 0.1, l2 = 0.02" in found["problem"]
    names = [finding["name"] for finding in found["findings"]]
    assert "unscaled inputs" not in names
    bare = json.loads(run(table, "--target", "price", "--no-intercept", "--json").stdout)
    assert "fit_intercept=True" in json.dumps(bare)
    assert json.loads(run("@wine", "-m", "lbfgs", "--json").stdout)["method"] == "lbfgs"


@pytest.mark.parametrize(
    ("name", "options", "worst", "code"),
    [
        ("@cancer", [], "ACT", 0),
        ("@cancer", ["--standardize"], "NOTE", 0),
        ("@cancer", ["--standardize", "--l2", "0"], "ACT", 3),  # separable: there is no minimum
        ("@diabetes", ["--l2", "100"], "ACT", 0),
        ("@diabetes", ["--l1", "1e3", "--l2", "0"], "ACT", 0),
        ("@iris", ["--standardize"], "NOTE", 0),
        ("@wine", ["--standardize"], "NOTE", 0),
    ],
)
def test_built_in_data(name, options, worst, code):
    done = run(name, *options, "--json")
    assert done.exit_code == code
    assert json.loads(done.stdout)["findings"][0]["severity"] == worst


def test_nothing_found(tmp_path):
    X = features(100, 2)
    np.savez(tmp_path / "a.npz", X=X, y=X.sum(axis=1) + features(100, 1, seed=3)[:, 0])
    done = run(tmp_path / "a.npz")
    assert done.stdout.endswith(
        "nothing wrong was found with targets, classes, scaling, penalty, columns or conditioning\n"
    )


def test_stopped_before_certified():
    done = run("@cancer", "-m", "gd", "--time-limit", "0.001s")
    assert done.exit_code == 3
    assert "tolerance not reached" in done.stdout


def test_diverged():
    done = run("@diabetes", "-m", "gd[step=100]")
    assert done.exit_code == 4
    assert "step above the stability limit" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Missing argument 'DATA|RUN'"),
        (["@moon"], "is no built-in data"),
        (["missing.csv"], "does not exist: check the path"),
        (["."], "is a folder without IDX files"),
        (["@iris", "--target", "y"], "is no column"),
        (["@iris", "--loss", "cubic"], "Invalid value for '--loss'"),
        (["@iris", "--loss", "logistic"], "use --loss multinomial"),
        (["@iris", "--l2", "-1"], "Invalid value for '--l2'"),
        (["@iris", "--l1", "1/m"], "Invalid value for '--l1'"),
        (["@iris", "--tol", "0"], "tol must be above 0"),
        (["@iris", "--tol", "x"], "Invalid value for '--tol'"),
        (["@iris", "--time-limit", "soon"], "a time above 0 such as 30s"),
        (["@iris", "-m", "newtn"], "did you mean 'newton'"),
        (["@iris", "--l1", "0.1", "-m", "lbfgs"], "needs a smooth objective"),
        (["@iris", "--standardise"], "No such option"),
        (["@iris", "@wine"], "unexpected extra argument"),
    ],
)
def test_bad_usage(arguments, message):
    done = run(*arguments)
    assert done.exit_code == 2
    assert message in done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("content", ["X", "one class", "nan"])
def test_bad_data(tmp_path, content):
    X, y = features(10, 2), np.arange(10) % 2
    if content == "X":
        X = X[:9]
    elif content == "one class":
        y = y[:0].tolist() + ["a"] * 10
    else:
        X[3, 1] = np.nan
    np.savez(tmp_path / "a.npz", X=X, y=y)
    done = run(tmp_path / "a.npz")
    assert done.exit_code == 2
    message = {
        "X": "rows",
        "one class": "must have two values at least",
        "nan": "must have no missing values",
    }
    assert message[content] in done.stderr


def test_long_lines_are_wrapped_under_their_beginning():
    finding = Finding("name", Severity.ACT, "word " * 30, 1.0, 0.0, cause="why " * 30)
    lines = wrapped(Screen(60, False, False, "utf-8"), finding).splitlines()
    assert max(map(len, lines)) <= 60
    assert lines[0].startswith("ACT   name: word")
    assert lines[1].startswith("      word")
    assert any(line.startswith("      cause     why") for line in lines)
    assert lines[-1].startswith("                why")


def test_missing_values_are_filled_on_request(tmp_path):
    X, y = features(40, 2), np.arange(40) % 2
    X[3, 1] = np.nan
    np.savez(tmp_path / "a.npz", X=X, y=y)
    assert run(tmp_path / "a.npz", "--impute", "median").exit_code == 0


def test_a_table_without_a_target(table):
    done = run(table)
    assert done.exit_code == 2
    assert "name the column to predict with --target" in done.stderr


def test_a_saved_run(made):
    found = answer("diagnose", made / "newton")
    assert found["certified"] is True
    assert {each["name"] for each in found["findings"]} >= {"nearly dependent columns"}
    stopped = run(made / "stopped")
    assert stopped.exit_code == 3
    assert "tolerance not reached" in stopped.stdout
    assert answer("diagnose", made / "race")["method"] in ("newton", "lbfgs")  # the best


def test_networks(made):
    of_run = answer("diagnose", made / "network")
    anew = answer("diagnose", "@iris", "--model", "mlp:4", "--epochs", "3")
    assert of_run["outcome"] == anew["outcome"] == "FINISHED"
    for found in (of_run, anew):
        assert "underfitting" in [each["name"] for each in found["findings"]]


def test_treatment(made, tmp_path):
    (tmp_path / "r.toml").write_text('layers = "mlp:4"\nepochs = 1\nlearning_rate = 30.0')
    asked = ("@iris", "--recipe", tmp_path / "r.toml", "--treat", "--budget", "1", "--seed", "5")
    found = answer("diagnose", *asked)["treatment"]
    assert found["budget"] == 1.0
    assert "seed = 5" in found["recipe"]
    done = run(*asked, "--out", tmp_path / "t.toml")
    assert done.exit_code == 0
    assert "of 1 trainings" in done.stdout
    assert 'layers = "mlp:4"' in (tmp_path / "t.toml").read_text()
    again = answer("diagnose", made / "network", "--treat", "--budget", "1")["treatment"]
    assert again["measure"].endswith("on 30 rows given for validation")
    assert "budget must be a number" in sentence("diagnose", *asked[:4], "--budget", "soon")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["@iris", "--budget", "2m"], "--budget is of a treatment: add --treat"),
        (["@iris", "--out", "a.toml"], "--out is of a treatment: add --treat"),
        (["@iris", "--treat"], "--treat is for networks, got a linear model: leave it out"),
        (["@iris", "--treat", "--model", "net.py:build"], "--treat changes a recipe, got code"),
        (["@iris", "-m", "gd", "-m", "sag"], "diagnose takes one method"),
    ],
)
def test_contradictions(arguments, message):
    assert message in sentence("diagnose", *arguments)


def test_a_run_has_its_own_data(made):
    message = sentence("diagnose", made / "newton", "--l2", "3")
    assert message.startswith("--l2 must be left out with ")
    assert "--treat is for networks" in sentence("diagnose", made / "newton", "--treat")


def test_a_network_is_told_what_was_looked_at_of_it(runs):
    text = " ".join(run(runs / "network").stdout.split())
    assert "iterations" not in text
    assert "cross-entropy of mlp:" in text
