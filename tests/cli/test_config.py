import json

import click
import pytest
from click.testing import CliRunner

from command import sentence, thalweg
from thalweg.cli.config import kind_of
from thalweg.cli.options import everywhere, linear, methods, reading, tolerance
from thalweg.cli.program import Program


@click.group(cls=Program)
def program():
    """Two verbs that print what they are asked."""


def verb(name, *groups):
    def print_asked(**asked):
        click.echo(json.dumps({key: str(value) for key, value in asked.items()}))

    for group in reversed(groups):
        print_asked = group(print_asked)
    program.add_command(click.command(name)(print_asked))


verb("show", reading, linear, methods, everywhere)
verb("other", tolerance, everywhere)


@pytest.fixture
def asked(tmp_path):
    """What `show` is asked, with a file of this text."""
    file = tmp_path / "a.toml"

    def ask(text, *arguments, of="show"):
        file.write_text(text)
        done = CliRunner().invoke(program, [of, *arguments, "--config", str(file)])
        return json.loads(done.stdout) if done.exit_code == 0 else done.stderr

    return ask


def test_keys_are_options(asked):
    found = asked(
        'l2 = "10/n"\nl1 = 0.5\nstandardize = true\nmethod = ["sag", "lbfgs"]\ndrop = "a"'
    )
    assert (found["l2"], found["l1"]) == ("10/n", "0.5")
    assert found["standardize"] == "True"
    assert found["method"] == "('sag', 'lbfgs')"
    assert found["drop"] == "('a',)"


def test_the_command_line_wins(asked):
    found = asked('loss = "huber"\nmethod = ["sag"]', "--loss", "squared", "-m", "gd")
    assert (found["loss"], found["method"]) == ("squared", "('gd',)")


def test_a_table_for_a_verb_comes_before_the_rest(asked):
    text = 'loss = "huber"\ntask = "regression"\n[show]\nloss = "logistic"\n[other]\ntol = 1e-3'
    found = asked(text)
    assert (found["loss"], found["task"]) == ("logistic", "regression")
    assert asked(text, of="other")["tol"] == "0.001"


def test_a_verb_takes_what_it_has_of_the_rest(asked):
    assert "loss" not in asked('loss = "huber"', of="other")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("standardise = true", "unknown option, standardise: did you mean 'standardize'?"),
        ("max_categories = 3", "did you mean 'max-categories'?"),
        ("[show]\ntol = 1", "unknown option, [show] tol"),
        ("[shew]\nl2 = 1", "has a table for no verb, [shew]: did you mean 'show'?"),
        ("standardize = 1", "standardize must be true or false, got 1"),
        ('standardize = "yes"', "standardize must be true or false, got 'yes'"),
        ("loss = 3", "loss must be text, got 3"),
        ("loss = true", "loss must be text, got True"),
        ('loss = "cubic"', "loss 'cubic' is not one of"),
        ("l2 = true", "l2 must be text or a number, got True"),
        ('l2 = "x"', "l2 l2 must be a number at least 0"),
        ("l2 = [1, 2]", "l2 must be text or a number, got [1, 2]"),
        ("max-categories = 2.5", "max-categories must be whole number, got 2.5"),
        ("max-categories = 0", "max-categories 0 is not in the range"),
        ('method = ["sag", 3]', "method must be text or a list of such, got 3"),
        ('config = "b.toml"', "unknown option, config"),
        ("l2 = ", "config must be a file in TOML"),
        ("l2 = 1\nl2 = 2", "config must be a file in TOML"),
    ],
)
def test_bad_files(asked, text, message):
    assert message in asked(text)


def test_a_file_that_is_not_there():
    assert "config must be a file in TOML, got 'no.toml'" in sentence(
        "plan", "@iris", "--config", "no.toml"
    )


def test_before_the_verb(tmp_path):
    (tmp_path / "a.toml").write_text('task = "odd"')
    done = thalweg("--config", tmp_path / "a.toml", "plan", "@iris")
    assert "task 'odd' is not one of" in done.stderr


def test_numbers_of_the_right_kind():
    options = {option.name: option for option in program.commands["other"].params}
    assert kind_of(options["tol"]) == "number"
    assert kind_of(options["quiet"]) == "true or false"
