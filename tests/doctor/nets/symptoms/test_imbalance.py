from records import facts_of
from thalweg.core.finding import Severity
from thalweg.doctor.nets.symptoms.imbalance import imbalance

RARE = {"data_largest_share": 0.9, "data_smallest_share": 0.03, "data_rarest": 20.0}


def test_a_rare_class_that_is_not_told():
    (finding,) = imbalance(facts_of(**RARE, validated_recall=0.2))
    assert finding.severity is Severity.ACT
    assert "20 rows, one for 30" in finding.claim
    assert "20% are told right" in finding.claim


def test_a_rare_class_that_is():
    (finding,) = imbalance(facts_of(**RARE))
    assert finding.severity is Severity.NOTE


def test_ten_to_one_is_fine():
    assert imbalance(facts_of(data_largest_share=0.8, data_smallest_share=0.08)) == []
