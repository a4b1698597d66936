import shlex

from thalweg.runs.command import command_of, script_of
from thalweg.runs.job import Job


def test_only_what_is_not_as_usual():
    assert command_of(Job("@cancer")) == "thalweg train @cancer"
    job = Job(
        "air quality.csv", "PM2.5", {"drop": ["No", "station"], "impute": "median", "sparse": True},
        l2="10/n", standardize=True, method="sag[sampling=lipschitz]", tol=1e-4, seed=3,
        validation=0.2, time_limit=90.0, intercept=False,
    )  # fmt: skip
    assert shlex.split(command_of(job)) == [
        "thalweg", "train", "air quality.csv", "--target", "PM2.5", "--drop", "No", "--drop",
        "station", "--impute", "median", "--sparse", "--l2", "10/n", "--standardize",
        "--no-intercept", "-m", "sag[sampling=lipschitz]", "--tol", "0.0001", "--seed", "3",
        "--time-limit", "90s", "--validation", "0.2",
    ]  # fmt: skip


def test_how_a_file_is_written():
    job = Job("t.csv", reading={"missing": ["-"], "decimal": ",", "text": ["a b"], "memory": "2GB"})
    assert command_of(job) == (
        "thalweg train t.csv --missing - --decimal , --text 'a b' --memory 2GB"
    )


def test_networks_and_races():
    job = Job("@digits", recipe={"layers": "mlp:8", "epochs": 3})
    assert command_of(job) == "thalweg train @digits --model mlp:8 --epochs 3"
    assert command_of(Job("@iris"), ["sag", "lbfgs"]).endswith("-m sag -m lbfgs")


def test_the_script_runs_and_finds_the_same(capsys):
    script = script_of(Job("@cancer", standardize=True), "logistic", 0.0, 0.01, "newton")
    exec(script, {})
    assert capsys.readouterr().out.startswith("CONVERGED  newton on logistic on 569 × 30 dense")
