import pytest

from thalweg.cli.ending import code_of
from thalweg.core.outcome import Outcome

CODES = {
    "CONVERGED": 0, "FINISHED": 0, "EARLY_STOPPED": 0, "ITERATION_LIMIT": 3, "TIME_LIMIT": 3,
    "NO_MINIMUM": 3, "STALLED": 3, "INTERRUPTED": 3, "DIVERGED": 4,
}  # fmt: skip


@pytest.mark.parametrize("outcome", list(Outcome))
def test_every_outcome_has_its_code(outcome):
    assert code_of(outcome) == CODES[outcome.name]
