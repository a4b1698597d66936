import click

from thalweg.cli.config import NOT_IN_FILES
from thalweg.cli.options import DATE_FORMATS, DATES, IDS, IMPUTES, LOSSES, TASKS
from thalweg.cli.program import VERBS
from thalweg.runs import job
from thalweg.tables import column, dates, ids, target


def options():
    return [
        (verb, each) for verb in VERBS for each in verb.params if isinstance(each, click.Option)
    ]


def test_words_are_those_of_the_library():
    assert LOSSES == job.LOSSES
    assert IMPUTES == column.IMPUTES
    assert TASKS == target.TASKS
    assert (DATES, IDS) == (dates.WAYS, ids.WAYS)
    assert tuple(dates.ORDERS) == DATE_FORMATS


def test_every_verb_answers_in_json_quietly_and_from_a_file():
    for verb in VERBS:
        names = {name for option in verb.params for name in option.opts}
        assert {"--json", "--quiet", "-q", "--config"} <= names, verb.name


def test_an_option_takes_a_value_in_every_verb_or_in_none():
    """Else options before the verb could not be told from their values."""
    kinds = {}
    for verb, option in options():
        for name in option.opts:
            assert kinds.setdefault(name, option.is_flag) == option.is_flag, (verb.name, name)


def test_every_option_says_what_it_does():
    for verb, option in options():
        assert option.help, (verb.name, option.name)
        assert option.name in NOT_IN_FILES or option.help.endswith((".", "…")), option.name
