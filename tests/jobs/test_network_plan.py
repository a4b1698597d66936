import json
import math

import numpy as np
import pytest
import torch

import thalweg as tw
from thalweg.core import clock
from thalweg.core.errors import InputError
from thalweg.jobs import network_plan
from thalweg.jobs.network_plan import plan_network
from thalweg.jobs.network_training import ready
from thalweg.jobs.rows import rows_of
from thalweg.runs.job import Job


def material(source="@iris", **more):
    job = Job(source, **{"recipe": {"layers": "linear"}, "standardize": True, **more})
    table = tw.read(source)
    return job, rows_of(job, table), table.encoding


@pytest.fixture
def no_doctor(monkeypatch):
    monkeypatch.setattr(network_plan, "check", lambda *_, **__: [])


@pytest.fixture(scope="module")
def plan():
    job, rows, encoding = material(validation=0.2, recipe={"layers": "mlp:6", "epochs": 2})
    return plan_network(job, rows, encoding)


def test_one_screen(plan):
    text = repr(plan)
    lines = text.splitlines()
    assert lines[0] == "Problem    mlp:6, 51 parameters, cross-entropy of 3 classes"
    assert lines[1].strip() == "120 rows × 4, batches of 64, 2 steps an epoch, 2 epochs"
    assert len(lines) < 25
    assert max(map(len, lines)) <= 120
    assert "▸ adam" in text
    assert "<table>" in plan._repr_html_()
    assert json.loads(plan.to_json())["rows"][0]["method"] == "adam"


def test_geometry_by_hand(no_doctor):
    # A linear map with squares: the Hessian is that of least squares, the constant is the mean.
    job, rows, encoding = material("@diabetes")
    made = ready(job, rows, encoding)
    state = {name: tensor.clone() for name, tensor in made.model.state_dict().items()}
    plan = plan_network(job, rows, encoding, ["sgd[lr=0.01]"])
    assert plan.geometry["best constant's"].value == pytest.approx(0.5 * rows.y.var(), rel=1e-6)
    X = np.column_stack([(rows.X - rows.X.mean(0)) / rows.X.std(0), np.ones(len(rows.y))])
    exact = np.linalg.eigvalsh(X.T @ X / len(X))[-1]
    assert plan.geometry["λ_max"].value == pytest.approx(exact, rel=0.2)  # of 256 rows of 442
    assert plan.geometry["2/λ_max"].value == pytest.approx(2 / plan.geometry["λ_max"].value)
    out = made.model(made.data[0]).detach().numpy()[:, 0]
    first = 0.5 * np.mean((out - rows.y) ** 2)
    assert plan.geometry["first loss"].value == pytest.approx(first, rel=1e-4)
    again = ready(job, rows, encoding).model.state_dict()
    assert all(torch.equal(again[name], tensor) for name, tensor in state.items())


def test_the_constant_of_classes_is_their_entropy(plan):
    assert plan.geometry["best constant's"].value == pytest.approx(math.log(3), rel=1e-3)


def test_optimizers_and_their_memory(plan):
    assert [row.method for row in plan.rows] == ["adam", "sgd", "nesterov"]
    adam, sgd, nesterov = plan.rows
    assert nesterov.memory - sgd.memory == 4 * 51
    assert 2 * 4 * 51 <= adam.memory - sgd.memory <= 2 * 4 * 51 + 8 * 4
    for row in plan.rows:
        assert 0.0 < 4 * row.seconds_per_step < row.predicted_seconds
    assert plan.row("sgd") is sgd


def test_the_jobs_own_optimizer_comes_first_and_none_twice(no_doctor):
    job, rows, encoding = material(method="sgd[lr=0.1]")
    methods = ["sgd[lr=0.1]", "sgd[lr=0.2]", "adam"]
    plan = plan_network(job, rows, encoding, methods)
    assert [row.method for row in plan.rows] == ["sgd[lr=0.1]", "sgd[lr=0.2]", "adam"]
    assert [row.learning_rate for row in plan.rows] == [0.1, 0.2, 0.001]


def test_a_rate_above_the_limit_is_remarked(no_doctor):
    job, rows, encoding = material()
    methods = ["sgd[lr=9]", "sgd[lr=1e-4]", "nesterov[lr=9]", "adam[lr=9]"]
    plan = plan_network(job, rows, encoding, methods)
    own, high, low, nesterov, adam = plan.rows
    largest = plan.geometry["λ_max"].value
    assert f"rate above its stability limit, {2 / largest:.2g}" in high.remark
    assert f"limit, {2 * 1.9 / 2.8 / largest:.2g}" in nesterov.remark
    assert own.remark == low.remark == adam.remark == ""


def test_what_the_doctor_says_beforehand():
    job, rows, encoding = material("@cancer", standardize=False)
    plan = plan_network(job, rows, encoding, ["sgd"])
    assert "unscaled inputs" in [finding.name for finding in plan.findings]
    assert "Doctor     " in repr(plan)
    assert "unscaled inputs: " in repr(plan)


def test_a_large_batch_is_timed_by_part_of_it(monkeypatch, no_doctor):
    monkeypatch.setattr(network_plan, "LARGEST", 15)
    ticks = iter(range(10_000))
    monkeypatch.setattr(clock, "perf_counter", lambda: float(next(ticks)))
    job, rows, encoding = material(recipe={"layers": "linear", "batch_size": 0})
    row = plan_network(job, rows, encoding, ["adam"]).rows[0]
    assert row.seconds_per_step == 10.0  # a tick for 15 rows of 150


def test_bad_input():
    with pytest.raises(InputError, match="method must be an optimizer, got 'saga'"):
        plan_network(*material(), ["saga"])
