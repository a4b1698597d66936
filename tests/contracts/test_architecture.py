"""ARCHITECTURE.md: packages as import-linter keeps them, and the ways that data really go."""

import re
import sys
import tomllib
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest

import thalweg as tw

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "ARCHITECTURE.md").read_text()

# The function by which each room is entered, as module and qualified name.
LINEAR = {
    "tables": "tables.read read",
    "objectives": "objectives.linear LinearProblem.__init__",
    "planner": "planner.plan plan",
    "methods": "methods.loop drive",
    "certificates": "certificates.duality duality_gap",
    "doctor": "doctor.diagnosis diagnose",
    "core.verdict": "core.verdict verdict_of",
    "runs": "runs.saved Saved.report",
    "reports": "reports.page page",
}
BATCH = {
    "batches": "nets.training.batches Batches.epoch",
    "augmentation": "nets.augmentation.compose Augmentation.transform",
    "inputs": "nets.training.inputs Inputs.run",
    "losses": "nets.training.losses CrossEntropy.__call__",
    "regularizers": "nets.regularizers.l2 L2.penalty",
    "optimizers": "nets.optimizers.optimizer RuleOptimizer.step",
    "rules, kernels": "kernels.jobs Job.begin",
    "running": "running.checkpoint Checkpoint.is_due",
    "Run": "nets.training.run run_of",
}


def way(first):
    """The rooms of the line of ARCHITECTURE.md that begins so."""
    line = next(line for line in PAGE.splitlines() if line.strip().startswith(f"{first} ─►"))
    return [room.strip() for room in line.split("─►")]


def entered(doors, action):
    """The rooms that `action` enters, in order, each time that one of the doors is opened.

    What a room further on opens is its own affair: the doctor solves problems to judge by them.
    """
    names = {f"thalweg.{door}": room for room, door in doors.items()}
    order = list(doors)
    seen = []

    def room_of(frame):
        return names.get(f"{frame.f_globals.get('__name__')} {frame.f_code.co_qualname}")

    def note(frame, event, _):
        room = room_of(frame) if event == "call" else None
        callers = []
        while room and (frame := frame.f_back):
            callers.append(room_of(frame))
        if room and not set(callers) & set(order[order.index(room) + 1 :]):
            seen.append(room)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        action(seen)
    finally:
        sys.setprofile(before)
    return seen


def test_packages_stand_in_the_order_that_import_linter_keeps():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    layers = contracts["contracts"][0]["layers"]
    told = re.findall(r"^\| (`[^|]+) \|", PAGE, re.M)
    assert ["__main__", *(row.replace("`", "").replace(", ", " | ") for row in told)] == layers


@pytest.mark.parametrize("first", ["tables", "batches"])
def test_no_room_is_entered_twice(first):
    rooms = way(first)
    assert len(rooms) == len(set(rooms)) > 8


def test_a_csv_goes_its_way_to_the_report(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = X @ [1.0, -1.0, 0.5] + rng.normal(size=300) > 0.0
    np.savetxt(
        tmp_path / "t.csv", np.column_stack([X, y]), delimiter=",", header="a,b,c,t", comments=""
    )
    job = tw.Job(str(tmp_path / "t.csv"), target="t")
    seen = entered(LINEAR, lambda _: tw.train(job, tmp_path / "run", progress=False))
    assert list(dict.fromkeys(seen)) == way("tables")
    # What is proved of a run, and the word for it, may be asked for again; all else is done once.
    once = [room for room in seen if room not in ("certificates", "core.verdict")]
    assert len(once) == len(set(once))


def test_a_batch_goes_its_way_through_a_training(tmp_path):
    torch = pytest.importorskip("torch")

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.last = torch.nn.Linear(16, 3)

        def forward(self, x):
            seen.append("model")
            return self.last(x.flatten(1))

    def train(found):
        nonlocal seen
        seen = found
        tw.nets.fit(
            Net(), (torch.randn(8, 1, 4, 4), torch.arange(8) % 3), "adam", "cross-entropy", 1,
            batch_size=4, regularizers=[tw.nets.L2(0.1)],
            augmentation=tw.nets.Augmentation(tw.nets.HorizontalFlip()),
            probes=[lambda moment: found.append("probes")],
            checkpoint=tmp_path / "kept", progress=False,
        )  # fmt: skip

    seen = []
    rooms = [room for room, _ in groupby(entered(BATCH, train))]
    *passed, end = way("batches")
    # The model is run once before, to see that it takes the data; the epoch is asked for a third.
    begun = rooms.index("augmentation") - 1
    assert rooms[begun:] == [*passed, *passed, "batches", end]
