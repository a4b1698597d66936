import numpy as np

import thalweg as tw
from linear_data import features, regression, solved
from thalweg.core.finding import Severity
from thalweg.doctor.linear.facts.linear_facts import linear_facts
from thalweg.doctor.linear.symptoms.unfinished import unfinished


def judged(problem, run):
    return unfinished(linear_facts(problem, run))


def test_a_run_that_ended_as_it_should():
    problem, run = solved(regression(features(), l2=0.1))
    assert judged(problem, run) == []
    assert judged(problem, None) == []


def test_a_run_that_was_cut():
    problem, run = solved(regression(features(), l2=0.1), method="gd", max_iter=1)
    (found,) = judged(problem, run)
    assert found.severity is Severity.WARN
    assert found.claim == run.reason
    assert found.measured == run.certificate.gap > found.limit


def test_a_run_that_diverged():
    problem, run = solved(regression(features(), l2=0.1), method="gd[step=100]")
    assert run.outcome is tw.Outcome.DIVERGED
    (found,) = judged(problem, run)
    assert found.severity is Severity.ACT
    assert np.isfinite(found.limit)
