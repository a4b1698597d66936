"""Small files of large cost: refused by a sentence before the memory is taken."""

import bz2
import resource
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse

import thalweg as tw
from thalweg.core.errors import InputError
from thalweg.tables import budget
from thalweg.tables.budget import Budget, budget_of, free


@pytest.mark.parametrize(
    ("memory", "bytes_"),
    [("2GB", 2 * 10**9), ("2 GiB", 2 << 30), ("1.5MB", 1_500_000), ("500", 500), (10**6, 10**6)],
)
def test_sizes_as_people_write_them(memory, bytes_):
    assert budget_of(memory) == Budget(bytes_, True)


@pytest.mark.parametrize("memory", ["", "much", "GB", "-1GB", "0", 0, -5, "1.2.3GB", True, []])
def test_what_is_no_size_is_one_sentence(memory):
    with pytest.raises(InputError, match="memory must be"):
        budget_of(memory)


def test_the_share_of_what_is_free():
    assert 0 < free() < 1 << 50
    assert budget_of().limit == pytest.approx(0.8 * free(), rel=0.2)
    assert not budget_of().is_given


def test_a_limit_of_the_shell_counts():
    code = "from thalweg.tables.budget import free; print(free())"
    found = subprocess.run(
        [sys.executable, "-c", code],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30)),
        capture_output=True,
        text=True,
        check=True,
    )
    assert 0 < int(found.stdout) < 4 << 30


def test_a_container_s_limit_counts(monkeypatch):
    files = {
        "/sys/fs/cgroup/memory.max": "1000\n",
        "/sys/fs/cgroup/memory.current": "700\n",
        "/sys/fs/cgroup/memory.stat": "anon 5\ninactive_file 200\n",
    }
    monkeypatch.setattr(budget, "_content", lambda path: files.get(str(path), ""))
    assert free() == 500


def svmlight(path):
    path.write_text("1 33554431:1\n")


def sparse_archive(path):
    np.savez(
        path, data=np.ones(3), indices=[0, 1, 2], indptr=[0, 1, 2, 3], shape=np.array([3, 2**40])
    )


def sparse_columns(path):
    held = scipy.sparse.csc_array((np.ones(2), [0, 1], [0, 1, 2]), shape=(2, 2))
    scipy.sparse.save_npz(path, held)
    arrays = dict(np.load(path)) | {"shape": np.array([2**40, 2])}
    np.savez(path, **arrays)


def bomb(path):
    path.write_bytes(bz2.compress(b"a\n" + b"0\n" * (2 << 20)))


def zeros(path):
    path.write_text(",".join(["0"] * 500_000) + "\n")


SMALL = {
    "svmlight": ("t.svm", svmlight, {}, "without such gaps, got 33,554,43. of them and 1 numbers"),
    "CSR": ("t.npz", sparse_archive, {}, "without such gaps, got 1,099,511,627,776"),
    "CSC": ("t.npz", sparse_columns, {}, "does not fit into memory|of memory for 1,099,5"),
    "bzip2": ("t.csv.bz2", bomb, {}, r"and holds more than 1.0 MB.*memory='1GB'"),
    "wide": ("t.csv", zeros, {}, "needs 5000.0 MB of memory for 500,000 columns.*memory='5GB'"),
    "wide beyond": ("t.csv", zeros, {"memory": "2GB"}, "needs 5000.0 MB of memory for 500,000"),
    "dense": ("t.svm", lambda p: p.write_text("1 900000:1\n" * 9999 + "0 1:1\n"),
              {"sparse": False, "memory": "1GB"}, "needs 72.0 GB of memory for 10,000 × 900,000"),
}  # fmt: skip


@pytest.mark.parametrize("case", SMALL)
def test_small_files_of_large_cost_are_one_sentence(tmp_path, monkeypatch, case):
    monkeypatch.setattr(budget, "ALWAYS", 1 << 20)
    name, write, options, sentence = SMALL[case]
    write(tmp_path / name)
    with pytest.raises(InputError, match=sentence) as caught:
        tw.read(tmp_path / name, **options)
    assert "\n" not in str(caught.value)


def test_what_is_asked_for_is_had(tmp_path):
    (tmp_path / "t.svm").write_text("1 2000000:1\n0 1:1\n")
    with pytest.raises(InputError, match="without such gaps"):
        tw.read(tmp_path / "t.svm")
    assert tw.read(tmp_path / "t.svm", memory="1GB").X.shape == (2, 2_000_000)
