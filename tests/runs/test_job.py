import json

import pytest

from thalweg.core.errors import InputError
from thalweg.core.storage import from_json, to_json
from thalweg.runs.job import Job


def test_json_and_back():
    job = Job("a.csv", "price", {"drop": ["id"]}, l2="0.1", tol=1e-4, validation=0.25)
    assert Job.from_dict(from_json(to_json(job.to_dict()), source="")) == job
    assert json.loads(to_json(job.to_dict()))["l2"] == "0.1"


def test_a_network_is_told_by_its_recipe_or_its_code():
    assert not Job("@cancer").is_network
    assert Job("@cancer", recipe={"layers": "mlp:8"}).is_network
    assert Job("@cancer", builder="net.py:build").is_network


@pytest.mark.parametrize(
    ("bad", "sentence"),
    [
        ({"source": ""}, "source must be a file or a built-in name"),
        ({"reading": {"imput": "mean"}}, "did you mean 'impute'"),
        ({"loss": "hinge"}, "loss"),
        ({"l2": "-1"}, "l2 must be a number at least 0"),
        ({"recipe": {}, "loss": "squared"}, "its recipe has its own"),
        ({"tol": 0.0}, "tol must be above 0"),
        ({"max_iter": -1}, "max_iter"),
        ({"seed": -1}, "seed"),
        ({"time_limit": 0.0}, "time_limit must be above 0"),
        ({"folds": 1}, "folds must be a whole number, at least 2"),
        ({"validation": 1.0}, r"validation must be in \(0, 1\)"),
        ({"validation": []}, "validation must be a share of the rows or a file"),
    ],
)
def test_bad_input(bad, sentence):
    with pytest.raises(InputError, match=sentence):
        Job(**{"source": "@cancer", **bad})


def test_an_unknown_field_is_named():
    with pytest.raises(InputError, match="a job has no field 'sed': did you mean 'seed'"):
        Job.from_dict({"source": "@cancer", "sed": 1})


def test_penalties_are_read_where_the_job_is_made():
    job = Job("@cancer", l1=0.5, l2="3/n")
    assert job.penalties(6) == (0.5, 0.5)
    assert job == Job.from_dict(job.to_dict()) == job.changed(seed=0)
    assert Job("@cancer").penalties(4) == (0.0, 0.25)
