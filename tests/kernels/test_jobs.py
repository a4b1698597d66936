import ctypes
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from thalweg.kernels import tensors
from thalweg.kernels.jobs import NEXT, TAKE, Job, address_of

PLAIN = np.array([[1.0, 0.0, 0.0, 0.0, np.inf, 0.5]])  # one gradient step, η = ½


def pieces_of(w, g, size):
    """A table of pieces of `size` elements."""
    begins = np.arange(0, w.size, size)
    rows = [
        [min(size, w.size - b), 0, 0, 0, 0, 0, w[b:].ctypes.data, g[b:].ctypes.data] for b in begins
    ]
    return np.array(rows, dtype=np.int64)


def run(kernel, dtype, job, settings, threads):
    """All threads at once, as C runs them."""
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(address_of(kernel, dtype))
    job.begin(settings, threads)
    with ThreadPoolExecutor(threads) as pool:
        for done in [pool.submit(function, job.place) for _ in range(threads)]:
            done.result()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("count", [1, 9, 2_000])
def test_every_piece_is_taken_once(dtype, threads, count):
    w, g = np.zeros(3 * count - 1, dtype), np.arange(3 * count - 1, dtype=dtype)
    job = Job(pieces_of(w, g, 3))
    for times, settings in ((1, PLAIN), (2, PLAIN), (3, PLAIN.copy())):
        run(tensors.plain_step_tensors, dtype, job, settings, threads)
        np.testing.assert_array_equal(w, -0.5 * times * g)
    assert job.fields[NEXT] >= count
    assert job.fields[TAKE] >= 1


def test_sums_of_pieces_do_not_depend_on_the_threads():
    g = np.random.default_rng(0).standard_normal(10_000).astype(np.float32)
    table, found = pieces_of(g, g, 100), []
    for threads in (1, 3):
        sums = np.empty((len(table), 1))
        run(tensors.squares_tensors, np.float32, Job(table), sums, threads)
        found.append(sums.ravel())
    np.testing.assert_array_equal(*found)
    wanted = np.square(g.astype(np.float64)).reshape(-1, 100).sum(axis=1)
    np.testing.assert_allclose(found[0], wanted, rtol=1e-14)


def test_it_is_compiled_once_in_a_machine(tmp_path):
    code = (
        "import numpy as np\n"
        "from thalweg.kernels import jobs, tensors\n"
        "seen = []\n"
        "make = jobs.c_function\n"
        "jobs.c_function = lambda *given: seen.append(make(*given)) or seen[-1]\n"
        "for kernel in (tensors.plain_step_tensors, tensors.squares_tensors):\n"
        "    jobs.address_of(kernel, np.float32)\n"
        "print([made.cache_hits for made in seen], len({made.address for made in seen}))\n"
    )

    def hits():
        return subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()

    assert hits() == "[0, 0] 2"
    assert hits() == "[1, 1] 2"
