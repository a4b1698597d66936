import numpy as np
import pytest

import thalweg as tw
from thalweg.running import checkpoint

ROSENBROCK = tw.surfaces.Rosenbrock()


def run(file, method="adam", **options):
    given = {"max_iter": 30, "tol": 1e-9, "seed": 1, "checkpoint": file, **options}
    return tw.minimize(ROSENBROCK, method, **given)


def test_a_finished_run_can_be_extended(tmp_path):
    file = tmp_path / "a.checkpoint"
    short = run(file, max_iter=10)
    longer = run(file, max_iter=30)
    whole = run(None, max_iter=30)
    assert (short.iterations, longer.iterations) == (10, 30)
    assert longer.w.tobytes() == whole.w.tobytes()
    np.testing.assert_array_equal(longer.trace["value"], whole.trace["value"])
    assert longer.counts == whole.counts


def test_a_finished_run_is_not_run_again(tmp_path):
    file = tmp_path / "a.checkpoint"
    first = run(file, "lbfgs", max_iter=1000)
    calls = []
    again = run(file, "lbfgs", max_iter=1000, callback=calls.append)
    assert first.converged
    assert again.converged
    assert calls == []
    assert again.counts == first.counts


def test_time_goes_on_from_where_it_was(tmp_path):
    file = tmp_path / "a.checkpoint"
    first = run(file, max_iter=10)
    assert run(file, max_iter=20).seconds > first.seconds


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"method": "gd"}, "method"),
        ({"method": tw.Adam(lr=0.2)}, "options"),
        ({"seed": 2}, "seed"),
        ({"w0": [0.0, 0.0]}, None),
        ({"w0": np.array([-1.5, 2.0], dtype=np.float32)}, "dtype"),
    ],
)
def test_another_runs_checkpoint_is_refused_and_kept(tmp_path, change, key):
    file = tmp_path / "a.checkpoint"
    run(file, max_iter=10)
    before = file.read_bytes()
    says = f"its {key} is" if key else "it began at another w0"
    with pytest.raises(tw.InputError, match=f"belongs to another run: {says}"):
        run(file, **change)
    assert file.read_bytes() == before


def test_another_objectives_checkpoint_is_refused(tmp_path):
    file = tmp_path / "a.checkpoint"
    run(file)
    with pytest.raises(tw.InputError, match=r"its objective is 'Rosenbrock\(a=1, b=100\)'"):
        tw.minimize(tw.surfaces.Beale(), "adam", [-1.5, 2.0], seed=1, checkpoint=file)


@pytest.mark.parametrize("content", [b"", b"garbage", b"PK\x03\x04half a zip"])
def test_a_file_that_is_no_checkpoint_is_a_sentence(tmp_path, content):
    file = tmp_path / "a.checkpoint"
    file.write_bytes(content)
    with pytest.raises(tw.StorageError, match="is not a checkpoint"):
        run(file)
    assert file.read_bytes() == content


def test_a_checkpoint_with_pickles_is_refused(tmp_path):
    file = tmp_path / "a.npz"
    np.savez(file, header=np.array([{}], dtype=object))
    with pytest.raises(tw.StorageError, match="is not a checkpoint"):
        run(file)


def test_arrays_of_another_program_are_no_checkpoint(tmp_path):
    file = tmp_path / "a.npz"
    np.savez(file, x=np.ones(3))
    with pytest.raises(tw.StorageError, match="is not a checkpoint"):
        run(file)


@pytest.mark.parametrize("change", ["other", "longer", "gone", "text"])
def test_a_checkpoint_that_was_changed_is_refused(tmp_path, change):
    file = tmp_path / "a.npz"
    run(file)
    with np.load(file) as stored:
        arrays = dict(stored)
    w = arrays.pop("state.w")
    if change != "gone":
        arrays["state.w"] = {
            "other": np.nextafter(w, 9.0), "longer": np.append(w, w), "text": w.astype("<U32"),
        }[change]  # fmt: skip
    np.savez(file, **arrays)
    with pytest.raises(tw.StorageError, match="is not what was written: move it away"):
        run(file)


def test_how_often(tmp_path):
    by_count = tw.Checkpoint(tmp_path / "a", every=5)
    assert [i for i in range(1, 12) if by_count.is_due(i, 1e9)] == [5, 10]
    by_time = tw.Checkpoint(tmp_path / "a", seconds=2.0)
    assert not by_time.is_due(5, 1.9)
    assert by_time.is_due(5, 2.0)


@pytest.mark.parametrize("bad", [{"every": 0}, {"every": 1.5}, {"seconds": -1}])
def test_bad_intervals(tmp_path, bad):
    with pytest.raises(tw.InputError):
        tw.Checkpoint(tmp_path / "a", **bad)


def test_a_file_name_stands_for_a_checkpoint_there(tmp_path):
    kept = tw.Checkpoint(tmp_path / "file", every=3)
    assert tw.Checkpoint.of(None) is None
    assert tw.Checkpoint.of(kept) is kept
    assert tw.Checkpoint.of(str(tmp_path / "file")) == tw.Checkpoint(str(tmp_path / "file"))
    with pytest.raises(tw.InputError, match="checkpoint must be a file name or a Checkpoint"):
        tw.Checkpoint.of(3)


def test_a_folder_is_no_place_for_a_checkpoint(tmp_path):
    with pytest.raises(tw.InputError, match="checkpoint must be a file, got the folder"):
        run(tmp_path)


def test_an_unwritable_place_is_a_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(tw.StorageError, match="cannot be written"):
        run(tmp_path / "file" / "a.checkpoint")


def test_a_disk_that_fills_up_does_not_cost_the_run(tmp_path, monkeypatch):
    file = tmp_path / "a.checkpoint"
    write, calls = checkpoint.write_file, []

    def full_from_the_third(path, content):
        calls.append(path)
        if len(calls) >= 3:
            raise tw.StorageError("No space left on device")
        write(path, content)

    monkeypatch.setattr(checkpoint, "write_file", full_from_the_third)
    finished = run(tw.Checkpoint(file, every=5))
    assert finished.iterations == 30
    assert [finding.name for finding in finished.findings][-1] == "checkpoint not written"
    assert "No space left" in repr(finished)
    monkeypatch.undo()
    assert run(file).w.tobytes() == finished.w.tobytes()


def test_the_interrupted_run_says_how_to_go_on(tmp_path):
    file = tmp_path / "a.checkpoint"
    stopped = run(file, callback=lambda step: step.iteration == 3)
    assert f"checkpoint={str(file)!r}" in stopped.reason
    assert "w0=run.w" in run(None, callback=lambda step: True).reason


def test_another_function_of_the_same_name_is_noticed(tmp_path):
    def bowl(scale):
        return tw.Objective(lambda w: scale * w @ w, lambda w: 2 * scale * w)

    options = {"max_iter": 5, "checkpoint": tmp_path / "a.checkpoint"}
    tw.minimize(bowl(1.0), tw.GD(step=0.01), [1.0, 1.0], **options)
    with pytest.raises(tw.InputError, match=r"belongs to another run: at its best point the value"):
        tw.minimize(bowl(2.0), tw.GD(step=0.01), [1.0, 1.0], **options)


@pytest.mark.parametrize("file", [5, b"name", None])
def test_a_file_must_be_a_name(file):
    with pytest.raises(tw.InputError, match="checkpoint must be a file name, got"):
        tw.Checkpoint(file)


@pytest.mark.parametrize(
    ("header", "sentence"), [(b'{"format": 1}', "it lacks identity"), (b"[1]", "has format None")]
)
def test_a_header_without_its_parts_is_a_sentence(tmp_path, header, sentence):
    file = tmp_path / "a.npz"
    np.savez(file, header=np.frombuffer(header, dtype=np.uint8))
    with pytest.raises(tw.StorageError, match=sentence):
        run(file)


@pytest.mark.parametrize("k", [1, 500, 1000])
def test_a_stall_comes_at_the_same_iteration_after_a_resume(tmp_path, k):
    # Jumps from ½ to −½ and back: nothing improves after the first step.
    asked = (tw.surfaces.Quadratic([1.0]), tw.RMSProp(lr=1.0, beta=0.0), [0.5])
    whole = tw.minimize(*asked)
    assert (whole.outcome, whole.iterations) == (tw.Outcome.STALLED, 1001)
    file = tmp_path / "a.checkpoint"
    tw.minimize(*asked, checkpoint=file, callback=lambda step: step.iteration == k)
    resumed = tw.minimize(*asked, checkpoint=file)
    assert (resumed.outcome, resumed.iterations) == (tw.Outcome.STALLED, 1001)
