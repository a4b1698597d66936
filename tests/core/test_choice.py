"""The choice of a penalty: the best mean, or the strongest within one standard error of it."""

import numpy as np
import pytest

import thalweg as tw
from thalweg.core.choice import choose

STRENGTHS = np.array([0.1, 1.0, 10.0, 100.0])
PENALTIES = [{"alpha": strength} for strength in STRENGTHS.tolist()]


def chosen(scores, rule="best", strengths=STRENGTHS):
    return choose(np.asarray(scores, dtype=float), strengths, PENALTIES, "score of 2 folds,", rule)


def test_both_rules_by_hand():
    # Means 4, 5, 4.5, 2; the best has the scores 4 and 6: its error is √2/√2 = 1.
    scores = [[3, 4, 4, 2], [5, 6, 5, 2]]
    best, simple = chosen(scores), chosen(scores, "one-standard-error")
    assert (best.penalty, best.score, best.error) == ({"alpha": 1.0}, 5.0, 1.0)
    assert (simple.penalty, simple.score, simple.error) == ({"alpha": 10.0}, 4.5, 0.5)
    assert simple.best_penalty == {"alpha": 1.0}
    assert str(best) == "alpha = 1: score of 2 folds, 5 ± 1, the best of the grid"
    assert "within one standard error of the best: alpha = 1 has 5 ± 1" in str(simple)


def test_the_order_of_the_grid_does_not_matter():
    scores = np.array([[3, 4, 4, 2], [5, 6, 5, 2]])[:, ::-1]
    assert choose(
        scores, STRENGTHS[::-1], PENALTIES[::-1], "score", "one-standard-error"
    ).penalty == {"alpha": 10.0}


def test_the_first_of_equals_is_the_best_and_a_nan_never():
    assert chosen([[1, 3, 3, np.nan]]).index == 1
    assert chosen([[np.nan, 1, 3, 3]]).index == 2


def test_of_equally_strong_penalties_the_better_one_is_chosen():
    scores = [[5, 4.9, 4.8, 1], [7, 6.9, 7.1, 1]]
    assert chosen(scores, "one-standard-error", np.array([1.0, 2.0, 2.0, 2.0])).index == 2


def test_one_fold_has_no_error():
    assert np.isnan(chosen([[1, 2, 3, 4]]).error)
    with pytest.raises(tw.InputError, match="two folds or more, got 1"):
        chosen([[1, 2, 3, 4]], "one-standard-error")
