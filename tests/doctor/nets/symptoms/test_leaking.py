from records import facts_of
from thalweg.core.finding import Severity
from thalweg.doctor.nets.symptoms.leaking import leaking


def test_a_column_is_named():
    (finding,) = leaking(facts_of(data_copy=0.0))
    assert "column 0" in finding.claim
    assert leaking(facts_of(data_copy=-1.0)) == []


def test_rows_in_both_parts():
    assert leaking(facts_of(data_shared=0.05)) == []
    (some,) = leaking(facts_of(data_shared=0.1))
    assert some.severity is Severity.WARN
    (many,) = leaking(facts_of(data_shared=0.3))
    assert many.severity is Severity.ACT


def test_both_at_once():
    assert len(leaking(facts_of(data_shared=0.3, data_copy=2.0))) == 2
