import dataclasses

import pytest

import thalweg as tw
from thalweg.reports.subject import Subject


def test_runs_are_enough_and_what_is_told_stays():
    run = tw.minimize(tw.surfaces.Quadratic(), "gd")
    subject = Subject((run,))
    assert subject.runs == (run,)
    assert not any(
        getattr(subject, each.name) for each in dataclasses.fields(Subject) if each.name != "runs"
    )
    with pytest.raises(dataclasses.FrozenInstanceError):
        subject.runs = ()
