import dataclasses
import json

import numpy as np
import pytest

import thalweg as tw
from thalweg.core.errors import StorageError
from thalweg.core.outcome import Outcome
from thalweg.core.run import Run


@pytest.fixture
def run():
    return tw.minimize(tw.surfaces.Rosenbrock(), "lbfgs", [-1.5, 2.0], tol=1e-10)


@pytest.fixture
def diverged():
    return tw.minimize(tw.surfaces.Quadratic((1.0, 10.0)), tw.GD(step=0.3), [1.0, 1.0])


def test_what_is_saved_is_what_is_loaded(run, tmp_path):
    again = Run.load(run.save(tmp_path / "run"))
    np.testing.assert_array_equal(again.w, run.w)
    np.testing.assert_array_equal(again.w0, run.w0)
    np.testing.assert_array_equal(again.trace.rows, run.trace.rows)
    for field in dataclasses.fields(Run):
        if field.name not in ("w", "w0", "trace"):
            assert getattr(again, field.name) == getattr(run, field.name), field.name
    assert repr(again) == repr(run)


def test_what_compiling_took_is_told_where_it_was_noticed(run, tmp_path):
    long = dataclasses.replace(run, compiled=2.0)
    assert f"{run.seconds:.3g} s; compiled 2 s, once" in repr(long)
    assert Run.load(long.save(tmp_path / "long")).compiled == 2.0
    assert "compiled" not in repr(dataclasses.replace(run, compiled=0.1))


def test_a_run_of_before_compiling_was_told(run, tmp_path):
    file = run.save(tmp_path / "run") / "run.json"
    record = json.loads(file.read_text())
    del record["compiled"]
    file.write_text(json.dumps(record))
    assert Run.load(tmp_path / "run").compiled == 0.0


def test_findings_and_a_diverged_value_survive(diverged, tmp_path):
    again = Run.load(diverged.save(tmp_path / "run"))
    assert again.outcome is Outcome.DIVERGED
    assert again.findings == diverged.findings
    assert again.findings[0].severity is tw.Severity.ACT


def test_float32_weights_stay_float32(tmp_path):
    run = tw.minimize(tw.surfaces.Quadratic(), "gd", np.ones(2, dtype=np.float32), tol=1e-3)
    assert Run.load(run.save(tmp_path / "run")).w.dtype == np.float32


def test_the_files_are_plain(run, tmp_path):
    run.save(tmp_path / "run")
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == [
        "run.json", "trace.csv", "weights.npz",
    ]  # fmt: skip
    assert json.loads((tmp_path / "run" / "run.json").read_text())["outcome"] == "CONVERGED"
    with np.load(tmp_path / "run" / "weights.npz", allow_pickle=False) as arrays:
        assert set(arrays.files) == {"w", "w0"}


def test_saving_twice_replaces(run, diverged, tmp_path):
    run.save(tmp_path / "run")
    diverged.save(tmp_path / "run")
    assert Run.load(tmp_path / "run").method == "gd"


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("run.json", b"{}", "has format None"),
        ("run.json", b'{"format": 99}', "has format 99"),
        ("run.json", b'{"format": 1}', "is damaged"),
        ("run.json", b"\xff\xfe", "not valid JSON"),
        ("weights.npz", b"garbage", "is damaged"),
        ("trace.csv", b"a,b\n", "is damaged"),
    ],
)
def test_damage_is_a_sentence(run, tmp_path, name, content, says):
    run.save(tmp_path / "run")
    (tmp_path / "run" / name).write_bytes(content)
    with pytest.raises(StorageError, match=says):
        Run.load(tmp_path / "run")


def test_pickled_weights_are_refused(run, tmp_path):
    run.save(tmp_path / "run")
    np.savez(tmp_path / "run" / "weights.npz", w=np.array([{}], dtype=object), w0=run.w0)
    with pytest.raises(StorageError, match="is damaged"):
        Run.load(tmp_path / "run")


def test_text_begins_with_the_verdict(run, diverged):
    assert repr(run).startswith("CONVERGED  lbfgs on Rosenbrock(a=1, b=100), 2 variables\n")
    assert repr(diverged).startswith("DIVERGED  gd on Quadratic")
    assert "does not show: \n" not in repr(run)


def test_notebook_card_is_static(run, diverged):
    for page in (run._repr_html_(), diverged._repr_html_()):
        assert "<script" not in page
        assert "http" not in page
    assert "CONVERGED" in run._repr_html_()
    assert "step above the stability limit" in diverged._repr_html_()


def test_numbers_at_hand(run):
    assert run.converged
    assert run.iterations == run.trace.last["iteration"]
    assert run.evaluations == run.trace.last["evaluations"] == run.counts["gradients"]
    assert run.gradient_norm == run.certificate.measured
    assert run.seconds > 0


@pytest.mark.parametrize("name", ["run.json", "trace.csv", "weights.npz"])
@pytest.mark.parametrize("kept", [0.0, 0.5])
def test_a_file_cut_short_is_a_sentence(run, tmp_path, name, kept):
    file = run.save(tmp_path / "run") / name
    content = file.read_bytes()
    file.write_bytes(content[: int(kept * len(content))])
    with pytest.raises(StorageError, match=r"is damaged|is not valid JSON"):
        Run.load(tmp_path / "run")


def test_the_present_folder_can_hold_a_run(run, tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    run.save(".")
    assert Run.load(tmp_path / "here").w.tobytes() == run.w.tobytes()
