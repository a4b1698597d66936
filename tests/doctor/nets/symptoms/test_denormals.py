from records import facts_of
from thalweg.doctor.nets.symptoms.denormals import denormals


def test_one_in_a_hundred():
    assert denormals(facts_of(data_denormal=0.01)) == []
    (finding,) = denormals(facts_of(data_denormal=0.02))
    assert "2%" in finding.claim
    assert "set_flush_denormal" in finding.advice
