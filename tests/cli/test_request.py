import click
import pytest

from command import sentence
from thalweg.cli.options import (
    everywhere,
    held_out,
    limits,
    methods,
    model,
    reading,
    seed,
    tolerance,
)
from thalweg.cli.request import job_of, refuse_beside
from thalweg.core.errors import InputError
from thalweg.runs.job import MANY, Job

GROUPS = (reading, model, methods, tolerance, limits, seed, held_out, everywhere)


def asked(*arguments):
    """The job that a verb with all options would do."""

    def verb(**options):
        return job_of(click.get_current_context(), "@cancer", options)

    for group in reversed(GROUPS):
        verb = group(verb)
    return click.command("verb")(verb).main(list(arguments), standalone_mode=False)


def test_without_options():
    assert asked() == Job("@cancer")


def test_every_option_reaches_the_job():
    found = asked(
        "--target", "y", "--drop", "a", "--drop", "b", "--impute", "median", "--task",
        "classification", "--max-categories", "7", "--sparse", "--loss", "huber", "--l2", "10/n",
        "--l1", "0.1", "--standardize", "--no-intercept", "-m", "sag", "-m", "gd", "--tol", "1e-3",
        "--max-iter", "9", "--time-limit", "2m", "--seed", "4", "--validation", "0.2",
        "--folds", "3",
    )  # fmt: skip
    assert found == Job(
        "@cancer",
        "y",
        {"drop": ["a", "b"], "impute": "median", "max_categories": 7, "task": "classification",
         "sparse": True},
        "huber", "0.1", "10/n", True, False,
        method="sag", tol=1e-3, max_iter=9, time_limit=120.0, seed=4, validation=0.2, folds=3,
    )  # fmt: skip
    assert asked("--dense").reading == {"sparse": False}
    assert asked(
        "--missing", "-", "--missing", "x", "--decimal", ",", "--thousands", ".", "--text", "zip",
        "--memory", "2GB", "--dates", "cyclic", "--date-format", "dmy", "--ids", "keep",
    ).reading == {
        "missing": ["-", "x"], "decimal": ",", "thousands": ".", "text": ["zip"], "memory": "2GB",
        "dates": "cyclic", "date_format": "dmy", "ids": "keep",
    }  # fmt: skip
    assert asked("--model", "linear") == Job("@cancer")
    assert asked().max_iter == MANY


def test_networks(tmp_path):
    found = asked("--model", "mlp:64", "--epochs", "3", "--batch-size", "32", "-m", "adam[lr=0.1]")
    assert found.recipe == {"layers": "mlp:64", "epochs": 3, "batch_size": 32}
    assert (found.builder, found.method, found.is_network) == ("", "adam[lr=0.1]", True)
    built = asked("--model", "net.py:build", "--standardize")
    assert (built.builder, built.recipe, built.standardize) == ("net.py:build", {}, True)
    file = tmp_path / "recipe.toml"
    file.write_text('layers = "mlp:8"\nepochs = 2\n')
    assert asked("--recipe", str(file)).recipe == {"layers": "mlp:8", "epochs": 2}
    assert asked("--recipe", str(file), "--epochs", "5").recipe["epochs"] == 5
    with pytest.raises(InputError, match=r"--model mlp:4 must be left out, as .* layers = 'mlp:8'"):
        asked("--recipe", str(file), "--model", "mlp:4")
    with pytest.raises(InputError, match="--recipe must be left out with --model linear"):
        asked("--recipe", str(file), "--model", "linear")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--sparse", "--dense"], "--sparse and --dense contradict each other"),
        (["--epochs", "3"], "--epochs is for a network, got a linear model"),
        (["--batch-size", "3", "--model", "linear"], "--batch-size is for a network"),
        (["--model", "mlp:4", "--loss", "squared"], "--loss is for a linear model, got a network"),
        (["--model", "mlp:4", "--l1", "0"], "--l1 is for a linear model"),
        (["--model", "mlp:4", "--l2", "1/n"], "--l2 is for a linear model"),
        (["--model", "mlp:4", "--no-intercept"], "--no-intercept is for a linear model"),
        (["--model", "mlp:4", "--tol", "1"], "--tol is for a linear model"),
        (["--model", "mlp:4", "--max-iter", "1"], "it is trained for --epochs"),
        (["--recipe", "no.toml"], "recipe must be a file in TOML, got 'no.toml'"),
    ],
)
def test_contradictions(arguments, message):
    with pytest.raises(InputError) as caught:
        asked(*arguments)
    assert message in str(caught.value)


def test_what_a_file_says_contradicts_as_well(tmp_path):
    (tmp_path / "a.toml").write_text('model = "mlp:4"\nl2 = "1/n"')
    assert "--l2 is for a linear model" in sentence(
        "plan", "@iris", "--config", tmp_path / "a.toml"
    )


def test_what_may_stand_beside_an_option():
    @click.command()
    @click.option("--a")
    @click.option("--b")
    @click.pass_context
    def verb(ctx, a, b):
        refuse_beside(ctx, "--a", {"a"}, "it is enough")

    verb.main(["--a", "1"], standalone_mode=False)
    with pytest.raises(InputError, match="--b must be left out with --a: it is enough"):
        verb.main(["--a", "1", "--b", "2"], standalone_mode=False)
