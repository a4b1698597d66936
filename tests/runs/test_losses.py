import subprocess
import sys

from thalweg.objectives.linear import NAMES
from thalweg.runs.losses import LOSSES


def test_they_are_all_losses_but_the_one_with_a_parameter():
    assert set(NAMES) - set(LOSSES) == {"tweedie"}
    assert set(LOSSES) <= set(NAMES)


def test_to_list_them_takes_no_numpy():
    listed = "import sys, thalweg.cli.options; print('numpy' in sys.modules)"
    said = subprocess.run(
        [sys.executable, "-c", listed], capture_output=True, text=True, check=True
    )
    assert said.stdout.strip() == "False"
