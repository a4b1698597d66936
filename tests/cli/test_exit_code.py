import pytest

from thalweg.cli.exit_code import code_of
from thalweg.core.verdict import WORDS, Verdict

CODES = {
    "CERTIFIED": 0, "CONVERGED": 0, "FINISHED": 0, "STOPPED": 3, "NOT CERTIFIED": 3, "SADDLE": 3,
    "DIVERGED": 4,
}  # fmt: skip


@pytest.mark.parametrize("word", WORDS)
def test_every_verdict_has_its_code(word):
    assert code_of(Verdict(word, "")) == CODES[word]
