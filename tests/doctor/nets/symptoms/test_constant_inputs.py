import math

from records import facts_of
from thalweg.core.finding import Severity
from thalweg.doctor.nets.symptoms.constant_inputs import constant_inputs


def test_all_some_and_none():
    (all_of_them,) = constant_inputs(facts_of(data_constant=1.0))
    assert all_of_them.severity is Severity.ACT
    (most,) = constant_inputs(facts_of(data_constant=0.7))
    assert most.severity is Severity.WARN
    assert "70%" in most.claim
    assert constant_inputs(facts_of(data_constant=0.5)) == []


def test_without_data_the_first_batch_is_asked():
    (finding,) = constant_inputs(facts_of(data_constant=math.nan, input_constant=10.0))
    assert finding.measured == 1.0
    assert constant_inputs(facts_of(data_constant=math.nan, input_constant=math.nan)) == []
