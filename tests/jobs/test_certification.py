import io
import json

import numpy as np
import pytest

from thalweg.core.errors import InputError, StorageError
from thalweg.jobs.certification import certified, here, rows_again
from thalweg.jobs.train import train
from thalweg.runs.job import Job
from thalweg.runs.saved import load


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("certify") / "run"
    return train(Job("@cancer", standardize=True), folder, progress=False, report=False)


def test_the_gap_is_that_of_the_run(saved):
    found = certified(saved)
    assert found.holds
    assert found.kind == "duality gap"
    assert found.gap <= saved.run.certificate.limit


def test_without_a_penalty_the_decrement_is_measured(tmp_path):
    job = Job("@diabetes", l2="0", method="newton")
    found = certified(train(job, tmp_path / "run", progress=False, report=False))
    assert found.kind == "Newton decrement"
    assert found.holds


def test_weights_that_are_not_at_the_optimum(tmp_path):
    job = Job("@cancer", standardize=True, method="gd", max_iter=2)
    found = certified(train(job, tmp_path / "run", progress=False, report=False))
    assert not found.holds
    assert found.gap > found.limit


def test_a_model_that_is_not_that_of_the_weights(tmp_path):
    train(Job("@diabetes"), tmp_path / "run", progress=False, report=False)
    file = tmp_path / "run" / "model.npz"
    with np.load(io.BytesIO(file.read_bytes())) as arrays:
        changed = {**arrays, "coefficients": arrays["coefficients"] + 1.0}
    np.savez(file, **changed)
    with pytest.raises(StorageError, match="not the model that this run ended with"):
        certified(load(tmp_path / "run"))
    result = tmp_path / "run" / "result.json"  # of a version that kept no hash of it
    result.write_text(json.dumps(json.loads(result.read_text()) | {"model": None}))
    with pytest.raises(InputError, match="must hold one model"):
        certified(load(tmp_path / "run"))


def test_data_that_have_changed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 2)), rng.standard_normal(40)
    np.savez("a.npz", X=X, y=y)
    saved = train(Job("a.npz", validation=0.5), "run", progress=False, report=False)
    monkeypatch.chdir("/")
    saved = load(tmp_path / "run")
    assert len(rows_again(saved).y) == 20
    np.savez(tmp_path / "a.npz", X=X, y=2 * y)
    with pytest.raises(InputError, match="has changed since"):
        certified(saved)


def test_files_are_found_from_elsewhere():
    found = here(Job("a.csv", validation="b.csv"), "/data")
    assert (found.source, found.validation) == ("/data/a.csv", "/data/b.csv")
    assert here(Job("@iris", validation=0.2), "/data") == Job("@iris", validation=0.2)
