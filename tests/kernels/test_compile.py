import os
import pickle
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numba
import numpy as np
import pytest
from numba import njit, types
from numba.core import event
from numba.core.ccallback import CFunc
from numba.core.errors import NumbaError

import thalweg
from thalweg.core.clock import Clock
from thalweg.kernels.compile import (
    FAST_DIVISION,
    _load_without_compiler,
    _stamp_with_all_sources,
    _stop_clocks,
    c_function,
    kernel,
)

STEP = """
import numpy as np
from thalweg.kernels.elementwise import plain_step_pass
w = np.array([1.0])
plain_step_pass(w, np.array([2.0]), 0.1)
stats = plain_step_pass.stats
print(w[0], sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))
"""
THEN_COMPILE = """
import sys
print("numba.np.arraymath" in sys.modules)
from numba import njit
@njit
def twice(w, g):
    plain_step_pass(w, g, 0.1)
    plain_step_pass(w, g, 0.1)
    return w.sum()
print(twice(np.array([1.0]), np.array([2.5])))
"""


@kernel
def ratio(x, y):
    return x / y


@kernel(fastmath=FAST_DIVISION)
def difference(x, y):
    return x - y


def test_both_spellings_compile():
    assert ratio(1.0, 4.0) == 0.25
    assert difference(1.0, 4.0) == -3.0
    assert ratio.targetoptions["nogil"]
    assert difference.targetoptions["fastmath"] == FAST_DIVISION


def test_division_by_zero_is_infinite():
    assert ratio(1.0, 0.0) == np.inf
    assert np.isnan(ratio(0.0, 0.0))


def test_fast_division_still_knows_infinity_and_nan():
    assert np.isnan(difference(np.inf, np.inf))
    assert np.isnan(difference(np.nan, 1.0))


def test_second_process_reads_the_cache_and_sees_an_edited_rule(tmp_path):
    package = tmp_path / "thalweg"
    shutil.copytree(
        Path(thalweg.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__")
    )

    def step_in_a_new_process():
        environment = {
            **os.environ,
            "PYTHONPATH": str(tmp_path),
            "PYTHONDONTWRITEBYTECODE": "1",
            "NUMBA_CACHE_DIR": str(tmp_path / "cache"),
        }
        run = subprocess.run(
            [sys.executable, "-c", STEP],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        w, hits, misses = run.stdout.split()
        return float(w), int(hits), int(misses)

    assert step_in_a_new_process() == (0.8, 0, 1)
    assert step_in_a_new_process() == (0.8, 1, 0)

    rule = package / "rules" / "plain_step.py"
    source = rule.read_text(encoding="utf-8")
    assert "return w - lr * g" in source
    rule.write_text(source.replace("return w - lr * g", "return w + 10 * lr * g"), encoding="utf-8")
    assert step_in_a_new_process() == (3.0, 0, 1)
    assert step_in_a_new_process() == (3.0, 1, 0)


def test_a_kernel_on_disk_is_read_without_the_compiler_which_still_works_after_it(tmp_path):
    def in_a_new_process(code):
        return subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()

    assert in_a_new_process(STEP) == ["0.8", "0", "1"]
    assert in_a_new_process(STEP + THEN_COMPILE) == ["0.8", "1", "0", "False", "0.5"]


@pytest.mark.parametrize("kind", ["nbi", "nbc"])
@pytest.mark.parametrize("damage", ["gone", "cut", "another type"])
def test_a_kernel_that_cannot_be_read_is_compiled(tmp_path, kind, damage):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", STEP]
    subprocess.run(command, env=environment, capture_output=True, check=True)
    files = list(tmp_path.rglob(f"*.{kind}"))
    assert files
    for file in files:
        if damage == "gone":
            file.unlink()
        elif damage == "cut":
            file.write_bytes(file.read_bytes()[:-20])
        else:  # of an older version, whose source had it
            version = pickle.dumps(numba.__version__) if kind == "nbi" else b""
            file.write_bytes(version + b"cthalweg.kernels.rows\nNoSuchType\n.")
    for hits, misses in ((0, 1), (1, 0)):
        again = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        assert again.stdout.split() == ["0.8", str(hits), str(misses)]


def test_a_file_of_other_source_or_types_is_not_taken_for_the_kernels_own(tmp_path):
    # What a kill between index and file leaves, or a second process that writes at once.
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    single = STEP.replace("0])", "0], dtype=np.float32)")

    def step(code):
        run = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True
        )
        assert run.returncode == 0, run.stderr
        return run.stdout.split()

    assert step(STEP) == ["0.8", "0", "1"]
    assert step(single)[1:] == ["0", "1"]
    first, second = (next(tmp_path.rglob(f"*.{k}.nbc")) for k in (1, 2))
    first.write_bytes(second.read_bytes())
    assert step(STEP) == ["0.8", "0", "1"]
    assert step(STEP) == ["0.8", "1", "0"]


def test_two_processes_with_an_empty_cache_at_once(tmp_path):
    single = STEP.replace("0])", "0], dtype=np.float32)")
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}

    def at_once(*codes):
        begun = [
            subprocess.Popen([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE)
            for code in codes
        ]
        return [float(each.communicate()[0].split()[0]) for each in begun]

    expected = [0.8, 0.8, pytest.approx(0.8, rel=1e-6), pytest.approx(0.8, rel=1e-6)]
    for _ in range(2):
        assert at_once(STEP, STEP, single, single) == expected


@pytest.mark.parametrize("name", ["_save_index", "_save_data"])
def test_a_full_disk_stops_no_kernel(tmp_path, name):
    full = f"""
import errno, os
from numba.core.caching import IndexDataCacheFile
def full(*_):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
IndexDataCacheFile.{name} = full
"""
    done = subprocess.run(
        [sys.executable, "-c", full + STEP],
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.stdout.split() == ["0.8", "0", "1"], done.stderr
    assert done.stderr.count("cannot keep its kernels on disk (No space left on device)") == 1
    again = subprocess.run(
        [sys.executable, "-c", STEP],
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert again.stdout.split() == ["0.8", "0", "1"], again.stderr


def test_without_a_stderr_nothing_of_compiling_is_said_elsewhere(tmp_path):
    done = subprocess.run(
        ["sh", "-c", f'exec "{sys.executable}" -c "$0" 2>&-', STEP],
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert done.stdout.split() == ["0.8", "0", "1"]


def test_source_without_a_file_compiles_without_a_cache():
    space = {}
    exec("def double(x):\n    return 2 * x", space)
    assert kernel(space["double"])(4.0) == 8.0


@pytest.mark.parametrize("stranger", [object(), lambda x: x])
def test_unknown_internals_are_left_alone(stranger):
    _stamp_with_all_sources(stranger)
    _load_without_compiler(stranger)
    assert not hasattr(stranger, "_cache")


def test_the_first_compilation_is_announced_once(tmp_path):
    def fit(folder):
        return subprocess.run(
            [sys.executable, "-c", STEP],
            env={**os.environ, "NUMBA_CACHE_DIR": str(folder)},
            capture_output=True,
            text=True,
            check=True,
        ).stderr

    first, second = fit(tmp_path), fit(tmp_path)
    assert first.count("\n") == 1
    assert "compiles its kernels" in first
    assert "once" in first
    assert second == ""


def test_kernels_of_others_are_not_announced(capfd):
    from numba import njit

    @njit
    def other(x):
        return x

    other.py_func.__module__ = "elsewhere"
    assert other(1) == 1
    assert capfd.readouterr().err == ""


class Slow(event.Listener):
    """A compiler that takes 100 seconds."""

    def __init__(self, wait):
        self.wait = wait

    def on_start(self, started):
        self.wait(100.0)

    def on_end(self, ended):
        """In no time."""


@pytest.fixture
def slow(wait):
    with event.install_listener("numba:compile", Slow(wait)):
        yield wait


def half(x):
    return x / 2.0


def test_clocks_stand_while_a_function_is_compiled(slow):
    timed, function = Clock(), njit(half)
    for _ in range(2):  # the second time it is there
        assert function(1.0) == 0.5
        assert timed.seconds == pytest.approx(0.0, abs=1e-9)
        assert timed.compiled == pytest.approx(100.0)


def test_kernels_of_a_pool_stop_the_clock_of_who_waits(slow):
    timed, function = Clock(), njit(half)
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(function, [1.0, 2.0, 4.0])) == [0.5, 1.0, 2.0]
    assert timed.seconds == pytest.approx(0.0, abs=1e-9)
    assert timed.compiled == pytest.approx(100.0)


def test_what_does_not_compile_lets_clocks_go_on(slow):
    timed, function = Clock(), njit(lambda x: x.nothing)
    with pytest.raises(NumbaError):
        function(1.0)
    slow(1.0)
    assert timed.seconds == pytest.approx(1.0, abs=1e-9)
    assert timed.compiled == pytest.approx(100.0)


def test_clocks_stand_while_a_kernel_is_read_or_written(slow):
    class Disk:
        def load_overload(self, *asked):
            slow(5.0)
            return asked

        save_overload = load_overload

    class Dispatcher:
        _cache = Disk()

    _stop_clocks(Dispatcher)
    timed = Clock()
    assert Dispatcher._cache.load_overload("signature", "context") == ("signature", "context")
    assert Dispatcher._cache.save_overload("signature", "result") == ("signature", "result")
    assert timed.seconds == pytest.approx(0.0, abs=1e-9)
    assert timed.compiled == pytest.approx(10.0)


def test_clocks_stand_while_a_function_for_c_is_compiled(slow, monkeypatch):
    def compile_slowly(made):
        slow(5.0)

    monkeypatch.setattr(CFunc, "compile", compile_slowly)
    timed = Clock()
    c_function(half, types.float64)
    assert timed.seconds == pytest.approx(0.0, abs=1e-9)
    assert timed.compiled == pytest.approx(5.0)
