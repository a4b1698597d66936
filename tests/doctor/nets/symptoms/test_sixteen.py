import math

from records import facts_of
from thalweg.core.finding import Severity
from thalweg.doctor import causes
from thalweg.doctor.nets.symptoms.sixteen import sixteen


def found(**changes):
    return [(each.name, each.severity) for each in sixteen(facts_of(steps=0, **changes))]


def test_before_training():
    nothing = [(causes.UNDERFITTING, Severity.ACT)]
    assert found(small_fit=1.0, small_fit_standard=0.9) == nothing
    assert found(small_fit=math.nan, small_fit_standard=0.9) == nothing
    assert found(small_fit=0.1, small_fit_standard=0.9) == []
    assert found(small_fit=1.0, small_fit_standard=math.nan) == []  # nothing to compare it with
    assert found(small_fit=0.9, small_fit_standard=0.05) == [(causes.RATE_SMALL, Severity.WARN)]
    assert found() == []


def test_later_there_is_better_evidence():
    assert sixteen(facts_of(small_fit=1.0, small_fit_standard=1.0)) == []


def test_a_wild_target_among_them():
    assert found(small_fit=1.0, small_fit_standard=1.0, target_wildest=1e3) == []
