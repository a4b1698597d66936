import numpy as np

from records import SGD, STUCK, facts_of
from thalweg.doctor.nets.symptoms.regularization import regularization

DECAYED = ({**SGD, "weight_decay": 0.3},)
SHRINKS = np.geomspace(5.0, 0.05, 5)[:, None]


def test_dropout_that_leaves_nothing():
    assert regularization(facts_of(**STUCK, dropped=0.8)) == []
    (finding,) = regularization(facts_of(**STUCK, dropped=0.9))
    assert "90%" in finding.claim


def test_weights_that_a_decay_shrank():
    (finding,) = regularization(facts_of(**STUCK, weight_norm=SHRINKS, optimizers=DECAYED))
    assert "weight decay 0.3" in finding.claim
    halved = np.geomspace(5.0, 2.0, 5)[:, None]
    assert regularization(facts_of(**STUCK, weight_norm=halved, optimizers=DECAYED))
    assert regularization(facts_of(**STUCK, weight_norm=halved)) == []
    assert regularization(facts_of(**STUCK, weight_norm=SHRINKS))  # a penalty in the loss


def test_weights_that_shrink_for_want_of_gradients():
    starved = {"gradient_norm": np.array([1e-8, 0, 1e-4, 1.0]), "weight_norm": SHRINKS}
    assert regularization(facts_of(**STUCK, **starved, optimizers=DECAYED)) == []


def test_a_penalty_that_is_most_of_the_loss():
    (finding,) = regularization(facts_of(**{**STUCK, "trained_loss": 0.11}))
    assert "90% of what is minimized" in finding.claim


def test_it_harms_nothing():
    assert regularization(facts_of(dropped=0.95)) == []
