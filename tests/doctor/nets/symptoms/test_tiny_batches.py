import math

from records import facts_of
from thalweg.core.finding import Severity
from thalweg.doctor.nets.symptoms.tiny_batches import tiny_batches


def severity(rows, norms=1.0):
    found = tiny_batches(facts_of(input_rows=rows, mode_norm=norms))
    return found[0].severity if found else None


def test_by_rows():
    assert severity(2.0) is Severity.ACT
    assert severity(4.0) is Severity.ACT
    assert severity(8.0) is Severity.WARN
    assert severity(9.0) is None
    assert severity(2.0, norms=0.0) is None
    assert severity(math.nan) is None


def test_the_error_of_two_rows_is_that_of_the_formula():
    (finding,) = tiny_batches(facts_of(input_rows=2.0, mode_norm=1.0))
    assert "141%" in finding.claim
