"""The command `thalweg` as tests call it, in this process."""

import json
from importlib.resources import files

import jsonschema
from click.testing import CliRunner

from thalweg.cli import main
from thalweg.cli.failure import SETTLES

SCHEMAS = files("thalweg.cli") / "schemas"


def thalweg(*arguments, **options):
    """What the command printed, and its exit code."""
    return CliRunner().invoke(main, [str(each) for each in arguments], **options)


def schema_of(verb):
    return json.loads((SCHEMAS / f"{verb}.json").read_text("utf-8"))


def answer(verb, *arguments, code=0):
    """The answer in JSON, which its schema describes."""
    done = thalweg(verb, *arguments, "--json")
    assert done.exit_code == code, done.stderr
    found = json.loads(done.stdout)
    jsonschema.Draft202012Validator(schema_of(verb)).validate(found)
    return found


def sentence(*arguments, code=2):
    """What is said of a command that cannot be done: one line, and nothing on stdout.

    A command that settles it may stand below.
    """
    done = thalweg(*arguments)
    assert done.exit_code == code, done.output
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    error = done.stderr.partition(f"{SETTLES}\n")[0].splitlines()[-1]
    assert error.startswith("Error: "), done.stderr
    return error.removeprefix("Error: ")
