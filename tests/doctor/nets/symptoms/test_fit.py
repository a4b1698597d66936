import numpy as np

from records import STUCK, facts_of
from thalweg.doctor.nets.symptoms.fit import overfitting, underfitting


def test_the_gap():
    assert overfitting(facts_of(trained_score=0.99, validated_score=0.88)) == []
    (finding,) = overfitting(facts_of(trained_score=0.99, validated_score=0.8))
    assert "0.99 on training rows and 0.80 on validation rows" in finding.claim


def test_a_validation_loss_that_turned():
    losses = np.full(100, np.nan)
    losses[[20, 50, 99]] = 0.5, 0.4, 1.2
    record = facts_of(trained_score=1.0, validated_score=0.7, validation_loss=losses)
    assert "3.0 times its best" in overfitting(record)[0].claim


def test_why_it_underfits():
    (stuck,) = underfitting(facts_of(**STUCK, data_reference=float("nan")))
    assert "learnt 0%" in stuck.claim
    assert "cannot say" in stuck.cause
    (frozen,) = underfitting(facts_of(**STUCK, frozen=700.0, parameters=300.0))
    assert "70%" in frozen.cause
    falling = {**STUCK, "loss": np.geomspace(1.6, 1.0, 100)}
    assert "still falling" in underfitting(facts_of(**falling))[0].cause


def test_a_simple_model_is_better():
    (finding,) = underfitting(facts_of(validated_skill=0.5))
    assert "0.50, a simple model's 0.90" in finding.claim


def test_a_training_that_diverged_is_others_business():
    assert underfitting(facts_of(loss=np.geomspace(1.0, 1e3, 50))) == []
