import math

import pytest

from records import STUCK, facts_of
from thalweg.doctor.nets.symptoms.wrong_loss import over_scaled, wrong_loss


def claim(**changes):
    found = wrong_loss(facts_of(**changes))
    return found[0].claim if found else None


def test_a_flipped_sign():
    assert "far below zero" in claim(constant_loss=-20.0, reachable_loss=-400.0)


def test_classes_on_a_line():
    assert claim(output_columns=1.0) == "3 classes are asked of one output"
    assert claim(output_columns=1.0, data_classes=2.0) is None


@pytest.mark.parametrize("classes", [2, 3, 10, 1000])
def test_softmax_before_cross_entropy_at_any_number_of_classes(classes):
    """It cannot fall below log(K − 1 + e) − 1, which is above 0.4·log K from K = 2 on."""
    least = math.log(classes - 1 + math.e) - 1
    changes = {"data_classes": float(classes), "output_columns": float(classes)}
    assert "no output" in claim(**changes, constant_loss=math.log(classes), reachable_loss=least)


@pytest.mark.parametrize("classes", [2, 3, 10, 1000])
def test_smoothed_labels_are_no_fault(classes):
    right, wrong = 0.9 + 0.1 / classes, 0.1 / classes
    least = -right * math.log(right) - (classes - 1) * wrong * math.log(wrong)
    changes = {"data_classes": float(classes), "output_columns": float(classes)}
    assert claim(**changes, constant_loss=math.log(classes), reachable_loss=least) is None


def test_a_tenth_of_the_variance():
    numbers = {"data_classes": 0.0, "output_columns": 1.0, "constant_loss": 0.5}
    assert claim(**numbers, reachable_loss=0.04) is None
    assert "no output" in claim(**numbers, reachable_loss=0.06)


def test_targets_in_small_units():
    numbers = {"data_classes": 0.0, "output_columns": 1.0, "reachable_loss": 0.0}
    assert "targets vary by 1e+04" in claim(**numbers, target_std=1e4)
    assert claim(**numbers, target_std=1e4, target_wildest=1e4) is None  # a few of them
    assert claim(**numbers, target_std=3.0) is None


def test_scores_that_are_scaled_up():
    assert over_scaled(facts_of(**STUCK, first_loss=50.0))
    assert over_scaled(facts_of(**STUCK, first_loss=4.0)) == []
    assert over_scaled(facts_of(first_loss=50.0)) == []
