"""What a training needs is made once: penalties, statistics of columns, problems, fingerprints."""

import pytest

from command import thalweg
from thalweg.cli import penalty as typed
from thalweg.jobs import linear, network_training, opening, race, train
from thalweg.jobs.race import train_race
from thalweg.runs import folder, job
from thalweg.runs.job import Job
from thalweg.runs.saved import load
from thalweg.runs.strength import Strength
from thalweg.tables import table

QUIET = {"progress": False, "report": False}
METHODS = ["newton", "lbfgs", "gd"]


@pytest.fixture
def counted(monkeypatch):
    """Counts what is asked of a name that a module uses."""

    def begin(module, name, notes=lambda *_, **__: True):
        calls, real = [], getattr(module, name)

        def counting(*args, **options):
            if notes(*args, **options):
                calls.append(args)
            return real(*args, **options)

        monkeypatch.setattr(module, name, counting)
        return calls

    return begin


def test_a_penalty_is_read_once(counted, tmp_path):
    def is_text(name, value):
        return not isinstance(value, Strength)

    read = [counted(module, "strength_of", is_text) for module in (typed, job)]
    done = thalweg("train", "@cancer", "--standardize", "--l2", "2/n", "--out", tmp_path / "a")
    assert done.exit_code == 0
    assert [len(calls) for calls in read] == [2, 0]  # l1 and l2, by the command line alone
    asked = load(tmp_path / "a").job  # from the file, where it is text
    assert [len(calls) for calls in read] == [2, 2]
    assert (str(asked.l2), asked.penalties(8)) == ("2/n", (0.0, 0.25))


@pytest.mark.parametrize("methods", [METHODS[:1], METHODS])
def test_of_a_race_data_are_opened_once_and_every_problem_is_built_once(counted, tmp_path, methods):
    moments = counted(table, "mean_and_spread")
    read, known = counted(opening, "table_of"), counted(opening, "fingerprint")
    built = counted(linear, "LinearProblem")
    raced = train_race(Job("@cancer", standardize=True), methods, tmp_path / "r", **QUIET)
    assert len(raced.members) == len(built) == len(methods)
    assert len(moments) == len(read) == len(known) == 1


def test_the_encoding_at_hand_is_not_read_again(monkeypatch, tmp_path):
    data = opening.opened(Job("@cancer", standardize=True))
    monkeypatch.setattr(folder, "encoding_of", None)
    saved = train.train(Job("@cancer", standardize=True), tmp_path / "a", table=data.table, **QUIET)
    assert saved.encoding is data.encoding
    monkeypatch.undo()
    assert load(tmp_path / "a").encoding == saved.encoding


def test_of_networks_the_first_is_trained_as_it_was_checked(counted, monkeypatch, tmp_path):
    pytest.importorskip("torch")
    built = counted(network_training, "build_network")
    made = Job("@iris", recipe={"layers": "linear", "epochs": 1})
    monkeypatch.setattr(race, "write_report", None)  # no page
    raced = train_race(made, ["adam", "sgd[lr=0.1]"], tmp_path / "r", **QUIET)
    assert len(raced.members) == len(built) == 2
