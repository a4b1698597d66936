from records import STUCK, facts_of
from thalweg.core.finding import Severity
from thalweg.doctor import causes
from thalweg.doctor.nets.symptoms.unscaled import unscaled


def names(**changes):
    return [finding.name for finding in unscaled(facts_of(**STUCK, **changes))]


def test_sizes():
    assert names(data_size=10.0) == names(data_size=0.05) == []
    assert names(data_size=11.0) == names(data_size=0.04) == [causes.UNSCALED]
    assert names(data_size=0.0) == []  # nothing varies: another's business


def test_far_from_zero_and_unequal():
    assert names(data_offset=6.0) == [causes.UNSCALED]
    assert names(data_spread=101.0) == [causes.CONDITIONING]
    assert names(data_size=100.0, data_spread=1e3) == [causes.UNSCALED, causes.CONDITIONING]


def test_the_bound_of_the_condition_number_is_told():
    (finding,) = unscaled(facts_of(**STUCK, data_offset=30.0))
    assert "κ ≥ 900" in finding.claim


def test_a_note_where_it_harms_nothing():
    (finding,) = unscaled(facts_of(data_size=100.0))
    assert finding.severity is Severity.NOTE
