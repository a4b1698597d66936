import json
from dataclasses import replace

import numpy as np
import pytest

import thalweg as tw
from thalweg.core.chosen import Chosen
from thalweg.jobs import choosing
from thalweg.jobs.choosing import CHOICE, chosen_of, grid_of
from thalweg.jobs.linear import problem_of
from thalweg.jobs.opening import opened
from thalweg.jobs.rows import splits_of
from thalweg.runs.job import Job


def found(job, folder):
    data = opened(job)
    return chosen_of(job, data.rows, data.encoding, folder, progress=False), data


@pytest.mark.parametrize(
    ("source", "loss", "options"),
    [
        ("@diabetes", "squared", {"l2": "1/n,0.1,10/n"}),
        ("@diabetes", "squared", {"l1": "0.5,2,8", "l2": "0,0.01", "standardize": True}),
        ("@cancer", "logistic", {"l2": "1/n,1", "standardize": True, "intercept": False}),
        ("@iris", "multinomial", {"l1": "0.001,0.1", "l2": "0.01"}),
    ],
)
def test_means_are_those_of_models_that_never_saw_the_rows(tmp_path, source, loss, options):
    job = Job(source, folds=3, **options)
    told, data = found(job, tmp_path)
    X, y = np.asarray(data.rows.X), data.rows.y
    for point in told.points:
        losses = []
        for kept, left_out in splits_of(job, y, data.encoding):
            plain = job.settled(point.l1, point.l2)
            part = problem_of(plain, data.rows._replace(X=X[kept], y=y[kept]), data.encoding)
            W, b = part.coefficients(tw.minimize(part, tol=1e-9, progress=False).w)
            z, t = X[left_out] @ W + b, y[left_out]
            if loss == "squared":
                losses.append(np.mean((z - t) ** 2) / 2)
            elif loss == "logistic":
                losses.append(np.mean(np.logaddexp(0.0, np.where(t == 1, -z, z))))
            else:
                losses.append(np.mean(np.logaddexp.reduce(z, axis=1) - z[range(len(t)), t]))
        assert point.mean == pytest.approx(np.mean(losses), rel=1e-3)
        assert point.error == pytest.approx(np.std(losses, ddof=1) / 3**0.5, rel=1e-2)
    assert told.index == told.best == int(np.argmin([point.mean for point in told.points]))


def test_one_standard_error_takes_the_strongest_that_is_as_good(tmp_path):
    job = Job("@diabetes", l2="auto", standardize=True, one_standard_error=True)
    told, _ = found(job, tmp_path)
    limit = told.points[told.best].mean + told.points[told.best].error
    as_good = [point for point in told.points if point.mean <= limit]
    assert told.point == max(as_good, key=lambda point: point.sizes)
    assert told.point.sizes[1] > told.points[told.best].sizes[1]
    assert told.folds == choosing.FOLDS


def test_a_grid_of_the_data_goes_from_nothing_left_to_nothing_held(tmp_path):
    job = Job("@diabetes", l1="auto", l2="auto", standardize=True)
    data = opened(job)
    problem = problem_of(job.settled("0", "0"), data.rows, data.encoding)
    l1s, l2s = ({pair[k].amount for pair in grid_of(job, problem)} for k in (0, 1))
    assert (len(l1s), len(l2s)) == (choosing.L1_POINTS, choosing.L2_POINTS)
    w = tw.minimize(problem.replaced(l1=1.01 * max(l1s)), progress=False).w
    assert not np.any(w[:-1])
    free = tw.minimize(problem, progress=False).w
    held = tw.minimize(problem.replaced(l2=max(l2s)), progress=False).w
    assert np.abs(held[:-1]).max() < 0.05 * np.abs(free[:-1]).max()
    loose = tw.minimize(problem.replaced(l2=min(l2s)), progress=False).w
    assert loose[:-1] == pytest.approx(free[:-1], rel=1e-2)


def test_a_choice_is_made_once(tmp_path):
    job = Job("@diabetes", l2="0.1,1", folds=2)
    told, data = found(job, tmp_path)
    content = json.loads((tmp_path / CHOICE).read_text())
    content["index"] = 1 - told.index
    (tmp_path / CHOICE).write_text(json.dumps(content))
    again = chosen_of(job, data.rows, data.encoding, tmp_path)
    assert again == replace(told, index=1 - told.index)


@pytest.mark.parametrize(
    "damage", ['{"points": []}', "[]", '{"measure": 1}', '{"index": 7}', '{"rule": "any"}']
)
def test_a_damaged_choice_is_one_sentence(tmp_path, damage):
    job = Job("@diabetes", l2="0.1,1", folds=2)
    told, data = found(job, tmp_path)
    change = json.loads(damage)
    content = {**told.to_dict(), **change} if isinstance(change, dict) else change
    (tmp_path / CHOICE).write_text(json.dumps(content))
    with pytest.raises(tw.StorageError, match=r"choice\.json"):
        chosen_of(job, data.rows, data.encoding, tmp_path)


def test_held_out_rows_have_no_part_in_it(tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr(
        choosing, "splits_of",
        lambda job, y, encoding: seen.append(len(y)) or splits_of(job, y, encoding),
    )  # fmt: skip
    found(Job("@diabetes", l2="0.1,1", folds=2, validation=0.25), tmp_path)
    assert seen == [442 - round(0.25 * 442)]


def test_text_says_which_and_how_sure():
    points = [
        {"l1": "0", "l2": l2, "sizes": [0.0, float(l2)], "mean": mean, "error": 0.01}
        for l2, mean in [("1", 0.25), ("0.1", 0.245)]
    ]
    record = {"measure": "log loss", "folds": 5, "rule": "best", "index": 1, "best": 1}
    chosen = Chosen.from_dict({**record, "points": points})
    assert str(chosen).startswith("l2 = 0.1: log loss 0.245 ± 0.01 on rows left out, of 5 folds")
    assert chosen.is_at_an_end == "weakest l2"
    sure = replace(chosen, rule="one-standard-error", index=0)
    assert "the strongest of 2 within one standard error of the least, 0.245 ± 0.01" in str(sure)
