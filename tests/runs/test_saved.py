import contextlib
import json
import shutil

import numpy as np
import pytest

import thalweg as tw
from thalweg.core.errors import InputError, StorageError
from thalweg.jobs.train import train
from thalweg.runs.job import Job
from thalweg.runs.listing import listing
from thalweg.runs.saved import load

ROWS = [(k / 4, "red" if k % 3 else "blue", k % 7, 0.5 * k + (k % 3)) for k in range(40)]


def table(rows, heads=("x", "colour", "z", "y")):
    lines = [",".join(heads)] + [",".join(str(dict(zip("xczy", row, strict=True))[h[0]])
             for h in heads) for row in rows]  # fmt: skip
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    place = tmp_path_factory.mktemp("saved")
    (place / "t.csv").write_text(table(ROWS))
    train(Job(str(place / "t.csv"), "y"), place / "run", progress=False, report=False)
    return place


def test_columns_are_matched_by_name(place):
    saved = load(place / "run")
    straight = saved.predict(place / "t.csv")
    (place / "turned.csv").write_text(table(ROWS, ("z", "y", "colour", "x")))
    turned = saved.predict(place / "turned.csv")
    assert turned.values.tolist() == straight.values.tolist()
    assert turned.target == "y"
    assert straight.scores["R²"] > 0.99


def test_without_the_truth_there_are_no_scores(place):
    (place / "bare.csv").write_text(table(ROWS[:3], ("x", "colour", "z")))
    told = load(place / "run").predict(place / "bare.csv")
    assert told.scores == {}
    assert len(told.values) == 3


def test_what_differs_is_told_or_refused(place):
    saved = load(place / "run")
    (place / "new.csv").write_text("x,colour,z\n1,green,2\n")
    told = saved.predict(place / "new.csv")
    assert any("green" in note for note in told.notes)
    (place / "more.csv").write_text("x,colour,z,more\n1,red,2,9\n")
    assert any("more" in note for note in saved.predict(place / "more.csv").notes)
    (place / "less.csv").write_text("x,z\n1,2\n")
    with pytest.raises(InputError, match="colour"):
        saved.predict(place / "less.csv")


def test_an_estimator_of_the_same_predictions(place):
    saved = load(place / "run")
    assert saved.encoding.is_sparse is False
    X, fitted = saved.encoding.frame(place / "t.csv"), saved.estimator()
    assert fitted.feature_names_in_.tolist() == saved.encoding.feature_names == X.columns
    assert fitted.predict(X) == pytest.approx(saved.predict(place / "t.csv").values)
    with pytest.raises(InputError, match="must be a network"):
        saved.module()


def test_what_is_loaded_is_what_was_trained(place):
    saved = load(place / "run")
    assert saved.best is saved
    assert saved.members == (saved,)
    value, rounding = ridge_by_definition(*_xy(place), saved.run.w, l2=1 / 40)
    assert abs(saved.run.value - value) <= 2 * rounding
    assert repr(saved).endswith("CERTIFIED")


def ridge_by_definition(X, y, w, l2):
    """(1/2n) Σᵢ (xᵢᵀw + b − yᵢ)² + (l2/2)‖w‖², and what rounding can make of it in any order."""
    (n, p), eps = X.shape, np.finfo(float).eps
    r = X @ w[:p] + w[p] - y
    value = r @ r / (2 * n) + l2 / 2 * w[:p] @ w[:p]
    of_r = (p + 2) * eps * (np.abs(X) @ np.abs(w[:p]) + abs(w[p]) + np.abs(y))
    return value, np.abs(r) @ of_r / n + (n + p + 3) * eps * value


def _xy(place):
    table = tw.read(place / "t.csv", "y")
    return table.X, table.y


def test_subject(place):
    subject = load(place / "run").subject()
    assert subject.runs[0].converged
    assert subject.command.startswith("thalweg train")
    assert "tw.LinearProblem" in subject.script
    assert {name for name, _, _ in subject.scaling} == {"x", "colour=blue", "colour=red", "z"}
    assert subject.scores["training"]["R²"] > 0.99


@pytest.mark.parametrize("name", ["run.json", "model.npz", "job.json", "encoding.json"])
def test_a_damaged_folder_is_a_sentence(place, tmp_path, name):
    train(Job("@iris"), tmp_path / "a", progress=False, report=False)
    content = (tmp_path / "a" / name).read_bytes()
    (tmp_path / "a" / name).write_bytes(content[: len(content) // 2])
    with pytest.raises(StorageError):
        used(tmp_path / "a")
    (tmp_path / "a" / name).unlink()
    with pytest.raises(StorageError):
        used(tmp_path / "a")


def used(folder):
    saved = load(folder)
    return saved.predict("@iris"), saved.run


def test_probabilities_sum_to_one(tmp_path):
    saved = train(Job("@iris"), tmp_path / "a", progress=False, report=False)
    told = saved.predict("@iris")
    assert told.probabilities.sum(axis=1) == pytest.approx(np.ones(150))
    assert set(told.names) == {"setosa", "versicolor", "virginica"}


@pytest.fixture(scope="module")
def iris(tmp_path_factory):
    place = tmp_path_factory.mktemp("iris")
    train(Job("@iris"), place / "a", progress=False, report=False)
    train(Job("@iris", l2=0.5), place / "b", progress=False, report=False)
    return place


def test_the_model_of_another_run_is_refused(iris, tmp_path):
    shutil.copytree(iris / "a", tmp_path / "a")
    shutil.copy(iris / "b" / "model.npz", tmp_path / "a")
    with pytest.raises(StorageError, match=r"model\.npz is not the model that this run ended with"):
        load(tmp_path / "a").predict("@iris")


def test_the_network_of_another_run_is_refused(tmp_path):
    for name, seed in (("a", 0), ("b", 1)):
        job = Job("@iris", recipe={"layers": "mlp:3", "epochs": 1}, seed=seed)
        train(job, tmp_path / name, progress=False, report=False)
    load(tmp_path / "a").predict("@iris")
    shutil.copy(tmp_path / "b" / "model.safetensors", tmp_path / "a")
    with pytest.raises(StorageError, match="is not the model that this run ended with"):
        load(tmp_path / "a").predict("@iris")


@pytest.mark.parametrize(
    ("file", "change", "place"),
    [
        ("run.json", {"outcome": "WON"}, "outcome is"),
        ("run.json", {"value": "low"}, "value is"),
        ("run.json", {"certificate": {}}, "certificate.kind is"),
        ("run.json", {"findings": [{"name": 1}]}, r"findings\[0\].name is"),
        ("run.json", {"plan": {"rows": []}}, "plan.problem is"),
        ("result.json", {"seconds": 1e9}, "it tells of"),
        ("result.json", {"method": "gd"}, "it tells of"),
        ("result.json", {"scores": {"training": {"accuracy": "1"}}}, "scores.training.accuracy is"),
        ("result.json", {"rows": -1}, "rows is"),
        ("encoding.json", {"missing": 7}, "missing is"),
        ("encoding.json", {"columns": 10**400}, "columns is"),
        ("job.json", {"environment": {"python": 3}}, "environment.python is"),
    ],
)
def test_all_is_checked_before_anything_is_used(iris, tmp_path, file, change, place):
    """`load` itself refuses, and the folder is listed as damaged, for the same reason."""
    shutil.copytree(iris / "a", tmp_path / "a")
    record = json.loads((tmp_path / "a" / file).read_text())
    (tmp_path / "a" / file).write_text(json.dumps({**record, **change}))
    with pytest.raises(StorageError, match=f"is damaged .*{place}") as refused:
        load(tmp_path / "a")
    (listed,) = listing(tmp_path)
    assert (listed.state, listed.problem) == ("DAMAGED", str(refused.value))


@pytest.mark.parametrize("file", ["run.json", "trace.csv", "weights.npz", "model.npz", "job.json"])
@pytest.mark.parametrize("way", ["gone", "cut", "empty"])
def test_a_file_that_is_gone_or_cut_is_told(iris, tmp_path, file, way):
    shutil.copytree(iris / "a", tmp_path / "a")
    path, content = tmp_path / "a" / file, (iris / "a" / file).read_bytes()
    path.unlink()
    if way != "gone":
        path.write_bytes(content[: len(content) // 2 if way == "cut" else 0])
    with pytest.raises(StorageError, match=file.replace(".", r"\.")):
        load(tmp_path / "a")
    assert [each.state for each in listing(tmp_path)] == ["DAMAGED"]


@pytest.mark.parametrize("name", ["coefficients", "intercepts"])
@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_weights_that_are_not_finite_predict_nothing(iris, tmp_path, name, number):
    changed_model(iris, tmp_path, {name: lambda x: np.full_like(x, number)})
    with pytest.raises(StorageError, match=f"has {name} that are not finite"):
        load(tmp_path / "a").predict("@iris")


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("coefficients", lambda x: x[:-1]),
        ("coefficients", lambda x: x[None]),
        ("intercepts", lambda x: x[:-1]),
        ("classes", lambda x: x + 1),
        ("classes", lambda x: x.astype(float)),
        ("classes", lambda x: x.astype(str)),
    ],
)
def test_a_model_of_a_wrong_shape_is_a_sentence(iris, tmp_path, name, change):
    changed_model(iris, tmp_path, {name: change})
    with pytest.raises(StorageError, match=r"model\.npz is damaged"):
        load(tmp_path / "a").predict("@iris")


def changed_model(iris, tmp_path, changes):
    """A copy of the run with another model, and a result that does not know its file."""
    folder = shutil.copytree(iris / "a", tmp_path / "a")
    arrays = dict(np.load(folder / "model.npz"))
    np.savez(folder / "model.npz", **{k: changes.get(k, np.copy)(x) for k, x in arrays.items()})
    result = json.loads((folder / "result.json").read_text())
    result.pop("model")
    (folder / "result.json").write_text(json.dumps(result))


WRONG = ([1], {"number": [1]}, {"number": "x"}, "x", -1, None, {})


@pytest.mark.parametrize("name", ["job.json", "result.json", "run.json", "encoding.json"])
def test_a_wrong_value_anywhere_in_a_folder_is_used_or_a_sentence(iris, tmp_path, name):
    folder = shutil.copytree(iris / "a", tmp_path / "a")
    content = json.loads((folder / name).read_text())
    for key in content:
        for wrong in WRONG:
            (folder / name).write_text(json.dumps({**content, key: wrong}))
            with contextlib.suppress(StorageError, InputError):
                used(folder)
            assert len(listing(tmp_path)) == 1
    (folder / name).write_bytes(b"[" * 100_000)
    with pytest.raises(StorageError, match="nested too deep"):
        used(folder)


def test_weights_of_a_wrong_shape_are_a_sentence(iris, tmp_path):
    folder = shutil.copytree(iris / "a", tmp_path / "a")
    arrays = dict(np.load(folder / "weights.npz"))
    for wrong in (arrays["w"][:-1], arrays["w"][None], arrays["w"].astype(str)):
        np.savez(folder / "weights.npz", **{**arrays, "w": wrong})
        with pytest.raises(StorageError, match="is damaged"):
            load(folder).run  # noqa: B018
