"""On a machine that has compiled nothing yet, no time that is told holds a compiler's.

A process of its own, with an empty cache of kernels, in which time passes while something is
compiled and at no other moment: all seconds that a plan, a run, its trace and a result tell must be
zero, however long the machine takes.
"""

import json
import os
import subprocess
import sys

RACE = """
import json, sys
from numba.core import event
import thalweg as tw
import thalweg.kernels.compile  # its listener stops the clocks before the one below moves them
from thalweg.core import clock
from thalweg.jobs.race import train_race

class Slow(event.Listener):
    moment = 0.0
    def on_start(self, started):
        Slow.moment += 3600.0
    def on_end(self, ended):
        pass

clock.perf_counter = lambda: Slow.moment
event.register("numba:compile", Slow())
job = tw.Job("@diabetes", standardize=True, time_limit=60.0)
race = train_race(job, ["auto", "lbfgs"], sys.argv[1], progress=False)
runs = [member.run for member in race.members]
plan = runs[0].plan
print(json.dumps({
    "seconds": [
        plan.seconds, *(run.trace["seconds"].max() for run in runs),
        *(row.actual_seconds for row in race.plan.rows if row.actual_seconds is not None),
        *(member.result["seconds"] for member in race.members),
    ],
    "outcomes": [run.outcome.name for run in runs],
    "planning": plan.compiled, "running": [run.compiled for run in runs],
    "results": [member.result["compiled"] for member in race.members],
    "passed": Slow.moment,
}))
"""


def test_the_first_training_of_a_machine_takes_as_long_as_any_other(tmp_path):
    folder = tmp_path / "race"
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", RACE, str(folder)],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    told = json.loads(done.stdout)
    assert told["seconds"] == [0.0] * 7
    assert told["outcomes"] == ["CONVERGED"] * 2
    assert told["results"] == told["running"]
    compiled = sum(told["running"])
    assert 0.0 < told["planning"] + compiled <= told["passed"]
    assert compiled > 0.0
    page = (folder / "report.html").read_text()
    assert f"Compiling took {compiled:,.0f} s, once; it is in none of these times." in page
    assert f"compiled {told['planning']:,.0f} s, once." in page
