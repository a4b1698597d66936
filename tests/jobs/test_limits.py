import json

import pytest

from thalweg.core.errors import StorageError
from thalweg.jobs.limits import (
    LIMITS,
    forget_limits,
    given_to,
    limited,
    note_limits,
    was_cut_off,
)
from thalweg.runs.job import Job

JOB = Job("@iris", max_iter=40, time_limit=9.0)


def ended(outcome, iterations=40, seconds=2.0):
    return {"outcome": outcome, "iterations": iterations, "seconds": seconds}


@pytest.mark.parametrize(
    ("before", "more", "max_iter", "time_limit"),
    [
        (None, {}, 40, 9.0),  # killed: what is left of its limits
        (ended("INTERRUPTED", 7), {}, 40, 9.0),
        (ended("ITERATION_LIMIT"), {}, 80, 9.0),  # that limit again
        (ended("TIME_LIMIT", 30, 9.0), {}, 40, 18.0),
        (ended("ITERATION_LIMIT"), {"max_iter": 5}, 45, 9.0),
        (ended("ITERATION_LIMIT"), {"time_limit": 3.0}, 80, 5.0),
        (None, {"max_iter": 5}, 5, 9.0),
    ],
)
def test_by_hand(tmp_path, before, more, max_iter, time_limit):
    job = limited(JOB, tmp_path, before, **more)
    assert (job.max_iter, job.time_limit) == (max_iter, time_limit)


@pytest.mark.parametrize("before", [None, ended("ITERATION_LIMIT")])
def test_a_resume_that_was_cut_off_has_the_same_limits_again(tmp_path, before):
    first = limited(JOB, tmp_path, before, max_iter=5)
    note_limits(tmp_path, before, first)
    assert limited(JOB, tmp_path, before) == first
    assert was_cut_off(tmp_path, before)
    more = limited(JOB, tmp_path, before, max_iter=6)  # who asks anew is given that
    assert more.max_iter == first.max_iter + 1
    forget_limits(tmp_path)
    assert not (tmp_path / LIMITS).exists()
    assert was_cut_off(tmp_path, before) == (before is None)


def test_limits_beside_another_result_say_nothing(tmp_path):
    before, after = ended("ITERATION_LIMIT", 40), ended("ITERATION_LIMIT", 45)
    note_limits(tmp_path, before, limited(JOB, tmp_path, before, max_iter=5))
    assert given_to(tmp_path, after) == {}
    assert not was_cut_off(tmp_path, after)
    assert limited(JOB, tmp_path, after).max_iter == 85


@pytest.mark.parametrize("content", ["[]", "{", '{"since": "a", "time_limit": 1, "max_iter": 1}'])
def test_a_file_that_is_damaged_is_a_sentence(tmp_path, content):
    (tmp_path / LIMITS).write_text(content)
    with pytest.raises(StorageError, match=r"limits\.json"):
        given_to(tmp_path, None)


def test_the_file_is_plain(tmp_path):
    note_limits(tmp_path, None, JOB)
    content = json.loads((tmp_path / LIMITS).read_text())
    assert content == {"since": None, "time_limit": 9.0, "max_iter": 40}
