import numpy as np
import pytest

import thalweg as tw
from linear_data import features, regression
from thalweg.core.finding import Severity
from thalweg.doctor.linear.facts.linear_facts import linear_facts
from thalweg.doctor.linear.symptoms.targets import targets

X = features(1000, 2)


def judged(y, loss="squared", **options):
    return targets(linear_facts(tw.LinearProblem(X, y, loss, **options)))


@pytest.mark.parametrize(
    ("count", "severity"), [(500, None), (120, None), (80, Severity.NOTE), (5, Severity.WARN)]
)
def test_a_rare_class(count, severity):
    y = np.where(np.arange(1000) < count, "yes", "no")
    found = judged(y, "logistic", l2=0.1)
    assert [finding.severity for finding in found] == ([severity] if severity else [])
    if severity:
        assert found[0].measured == pytest.approx(count / 1000)
        assert "Class 'yes'" in found[0].claim
        assert "'no' is right" in found[0].claim


def test_weights_count():
    y = np.arange(1000) < 50
    assert judged(y, "logistic", l2=0.1) != []
    assert judged(y, "logistic", l2=0.1, sample_weight=np.where(y, 19.0, 1.0)) == []


def test_of_three_classes():
    y = np.where(np.arange(1000) < 40, 2, np.arange(1000) % 2)
    (found,) = judged(y, "multinomial", l2=0.1)
    assert found.evidence["shares"] == pytest.approx([0.48, 0.48, 0.04])


def test_a_target_that_does_not_vary():
    (found,) = judged(np.full(1000, 0.1))
    assert found.severity is Severity.ACT
    assert "0.1 in all samples" in found.claim


def test_a_mean_out_of_reach():
    y = 10.0 + features(1000, 1)[:, 0]
    centred = tw.LinearProblem(X - X.mean(axis=0), y, fit_intercept=False)
    (found,) = targets(linear_facts(centred))
    assert found.name == "missing intercept"
    run = tw.minimize(centred, progress=False)
    assert run.value >= 0.5 * y.mean() ** 2 * 0.98
    assert judged(y) == []
    shifted = tw.LinearProblem(X + 5.0, y, fit_intercept=False)  # these can reach it
    assert targets(linear_facts(shifted)) == []
    assert targets(linear_facts(regression(X, fit_intercept=False))) == []
