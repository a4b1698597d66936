"""Report, result.json, terminal and list say one word of a run, and name one winner of several."""

import itertools
import json
import re
from dataclasses import replace
from types import SimpleNamespace

import jsonschema
import pytest

from command import schema_of
from thalweg.cli import result as shown
from thalweg.cli.exit_code import code_of
from thalweg.cli.runs import record as listed
from thalweg.cli.screen import Screen
from thalweg.core.certificate import Certificate
from thalweg.core.outcome import Outcome
from thalweg.core.storage import to_json
from thalweg.core.verdict import WORDS, verdict_of
from thalweg.jobs import train as module
from thalweg.jobs.trainer import trainer_of
from thalweg.reports.heading import header
from thalweg.runs.job import Job
from thalweg.runs.listing import listing
from thalweg.runs.saved import load
from thalweg.runs.saved_race import SavedRace

WIDE = Screen(100, False, False, "utf-8")
CODES = {"CERTIFIED": 0, "CONVERGED": 0, "FINISHED": 0, "DIVERGED": 4}  # of others 3
GAP = Certificate("duality gap", True, 0.0, 1e-5, "a gap", "near", gap=1e-6)
FLAT = Certificate("stationarity", True, 0.0, 1e-5, "flat", "stationary")
OPEN = Certificate("duality gap", False, 1.0, 1e-5, "a gap", "little", gap=1.0)
LINEAR = {"gap": GAP, "flat": FLAT, "open": OPEN}
NETWORK = ("minimum", "saddle", "not stationary", "none")


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A folder for every outcome and model, written by the one function that writes them."""
    pytest.importorskip("torch")
    root = tmp_path_factory.mktemp("verdicts")
    with pytest.MonkeyPatch.context() as patch:
        write(root, patch, "linear", LINEAR, Job("@iris", standardize=True))
        network = Job("@iris", recipe={"layers": "linear", "epochs": 2}, validation=0.4)
        write(root, patch, "network", NETWORK, network)
    return {folder.name: load(folder) for folder in sorted(root.iterdir())}


def write(root, patch, kind, variants, job):
    """Train once, and save it with every end."""
    trainer = trainer_of(job)
    done = []
    for number, (outcome, what) in enumerate(itertools.product(Outcome, variants)):
        name = f"{kind}-{outcome.name}-{what}".replace(" ", "-").replace("_", "-")

        def train(*args, end=(name, outcome, what, number), **options):
            if not done:
                done.append(trainer.train(*args, **options))
            return variant(done[0], *end)

        patch.setattr(module, "trainer_of", lambda job, train=train: trainer._replace(train=train))
        module.train(job, root / name, progress=False, report=False)


def variant(trained, name, outcome, what, number):
    """The same training with another end; the later, the lower its value."""
    run = replace(trained.run, method=name, outcome=outcome, value=1.0 - 0.01 * number)
    if what in LINEAR:
        return trained._replace(run=replace(run, certificate=LINEAR[what]))
    point = None if what == "none" else replace(trained.point, kind=what)
    return trained._replace(run=run, point=point)


def word_of(page):
    """The word at the top of a page."""
    (word,) = re.findall(r'<p class="word">.*?</span> ([A-Z ]+)</p>', page)
    return word


def test_every_combination_is_there(saved):
    assert len(saved) == len(Outcome) * (len(LINEAR) + len(NETWORK))
    assert {each.result["verdict"] for each in saved.values()} == set(WORDS)


def test_one_word_of_a_run(saved):
    lists = {each.folder.name: each for each in listing(next(iter(saved.values())).folder.parent)}
    for name, each in saved.items():
        point = SimpleNamespace(kind="saddle", explanation="") if "saddle" in name else None
        word = verdict_of(each.run, point).word
        assert json.loads((each.folder / "result.json").read_text())["verdict"] == word, name
        assert word_of(header(each.subject())) == word, name
        assert f"\n{word}  " in shown.text(WIDE, each), name
        assert shown.record(each)["runs"][0]["verdict"] == word, name
        assert lists[name].state == word, name
        assert repr(each).endswith(f": {word}"), name
        assert repr(each.report()).startswith(f"{word}  "), name
        assert code_of(each.contender.verdict) == CODES.get(word, 3), name


def test_a_network_at_a_saddle_is_one_everywhere(saved):
    for name in ("network-FINISHED-saddle", "network-TIME-LIMIT-saddle"):
        assert saved[name].result["verdict"] == "SADDLE"
        assert "SADDLE: " not in shown.text(WIDE, saved[name])
        assert "<title>Saddle: " in saved[name].report().html


@pytest.mark.parametrize("kind", ["linear", "network"])
def test_one_winner_of_two(saved, kind):
    members = [each for name, each in saved.items() if name.startswith(kind)]
    for pair in itertools.permutations(members, 2):
        race = SavedRace(pair[0].folder.parent, "", tuple(m.run.method for m in pair), pair)
        best = race.best
        word = best.contender.verdict.word
        page = header(race.subject())
        assert word_of(page) == word
        assert page.index(f">{best.run.method}<") == min(
            page.index(f">{each.run.method}<") for each in pair
        )
        assert f"\n{word}  {best.run.method}:" in shown.text(WIDE, race)
        assert shown.record(race)["best"] == best.folder.name


def test_a_winner_does_not_depend_on_the_order(saved):
    for kind in ("linear", "network"):
        members = tuple(each for name, each in saved.items() if name.startswith(kind))
        for some in (members, members[::-1]):
            race = SavedRace(some[0].folder.parent, "", tuple(m.run.method for m in some), some)
            assert race.best.contender.verdict.word in (
                "CERTIFIED",
                "FINISHED",
                "STOPPED",
                "SADDLE",
            )
            assert race.ranked[-1].run.outcome is Outcome.DIVERGED


def test_the_schemas_know_every_word(saved):
    known = schema_of("train")["$defs"]["run"]["properties"]["verdict"]["enum"]
    assert known == list(WORDS)
    assert schema_of("runs")["$defs"]["run"]["properties"]["state"]["enum"][: len(WORDS)] == known
    root = next(iter(saved.values())).folder.parent
    answers = [("train", shown.record(each)) for each in saved.values()]
    answers.append(("runs", {"root": str(root), "runs": list(map(listed, listing(root)))}))
    for verb, answer in answers:
        jsonschema.validate(json.loads(to_json(answer)), schema_of(verb))
