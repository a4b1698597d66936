import math

import numpy as np

from command import answer, sentence, thalweg
from thalweg.certificates.critical_point import CriticalPoint
from thalweg.cli.certify import point_text, record
from thalweg.cli.screen import Screen


def test_a_certified_run(made):
    found = answer("certify", made / "newton")
    assert found["holds"] is True
    assert found["certificate"]["gap"] <= found["certificate"]["limit"]
    assert found["point"] is None
    assert thalweg("certify", made / "newton").stdout.startswith("CERTIFIED  duality gap ")


def test_one_that_was_stopped(made):
    found = answer("certify", made / "stopped", code=3)
    assert found["holds"] is False
    assert found["certificate"]["gap"] > found["certificate"]["limit"]
    assert "NOT CERTIFIED  duality gap " in thalweg("certify", made / "stopped").stdout


def test_the_best_of_a_race(made):
    assert answer("certify", made / "race")["run"] in {
        str(made / "race" / name) for name in ("newton", "lbfgs")
    }


def test_bad_input(tmp_path):
    assert "does not exist" in sentence("certify", tmp_path / "no")


def test_a_network(made):
    found = answer("certify", made / "network", code=3)
    assert found["certificate"] is None
    assert found["point"]["kind"] == "not stationary"
    assert found["point"]["gradient_norm"] > found["point"]["gradient_limit"]
    assert "must be left out" in sentence("certify", made / "network", "--model", "net.py:build")


def test_a_point_of_a_network():
    point = CriticalPoint(
        "saddle", "cross-entropy", 1e-6, 1e-5, -0.4, 18.0, 0.01, 0.999, 40, np.ones(2), 0.1,
        "It is.",
    )  # fmt: skip
    text = point_text(Screen(80, False, False, "utf-8"), point)
    assert text.startswith("SADDLE  cross-entropy\n")
    assert "λ_min = -0.4" in text
    assert record(point)["point"]["escape"] is True
    assert math.isclose(record(point)["point"]["smallest"], -0.4)
