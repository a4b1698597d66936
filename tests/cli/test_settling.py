import shlex
import shutil
import subprocess

import pytest

from thalweg.cli.settling import settling, typeable
from thalweg.tables.problem import Problem, Unsettled

OPTIONS = {"--drop", "--missing", "--impute", "--max-categories", "--dates", "--date-format"}


def problem(remedy, **asked):
    return Unsettled([Problem("a", "it is odd", remedy)], remedy, asked)


@pytest.mark.parametrize(
    ("typed", "remedy", "asked", "command"),
    [
        ("train a.csv", {"impute": "median"}, {}, "train a.csv --impute median"),
        ("train a.csv --drop x", {"drop": ["y z"]}, {"drop": ["x"]},
         "train a.csv --drop x --drop 'y z'"),
        ("train a.csv --config c.toml", {"drop": ["y"]}, {"drop": ["x"]},
         "train a.csv --config c.toml --drop x --drop y"),  # what is typed comes before the file
        ("plan a.csv --max-categories 20 -q", {"max_categories": 80}, {"max_categories": 20},
         "plan a.csv -q --max-categories 80"),
        ("train --max-categories=20 a.csv", {"max_categories": 80}, {},
         "train a.csv --max-categories 80"),
        ("train -- -a.csv", {"missing": ["-", "n.a."]}, {},
         "train --missing - --missing n.a. -- -a.csv"),
        ("train a.csv", {"date_format": "dmy", "dates": "expand"}, {},
         "train a.csv --date-format dmy --dates expand"),
    ],
)  # fmt: skip
def test_by_hand(typed, remedy, asked, command):
    assert settling(problem(remedy, **asked), shlex.split(typed), OPTIONS) == f"thalweg {command}"


def test_verbs_that_cannot_be_told_print_none():
    assert settling(problem({}), ["train", "a.csv"], OPTIONS) == ""
    assert settling(problem({"text": ["a"]}), ["train", "a.csv"], OPTIONS) == ""
    assert settling(problem({"impute": "mean"}), ["certify", "runs/a"], {"--json"}) == ""


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash is here")
@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
@pytest.mark.parametrize(
    "word",
    ["", "a b", "it's", '"', "$HOME", "`id`", "a\tb", "a\nb", "\x1b[31m", "Köln", "日本", "\\",
     "'\x07\\0", "!!", "*", "~", "#", "--", "-", "\u202e"],
)  # fmt: skip
def test_a_shell_reads_the_word_that_was_meant(word, encoding):
    spelled = typeable(word, encoding)
    spelled.encode(encoding)
    assert "\n" not in spelled
    done = subprocess.run(
        ["bash", "-c", f"printf '%s.' {spelled}"], capture_output=True, check=True
    )
    assert done.stdout.decode() == f"{word}."
