import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from thalweg.core.errors import InputError
from thalweg.kernels import threads
from thalweg.kernels.elementwise import plain_step_pass
from thalweg.kernels.threads import SERIAL_BELOW, available_threads, in_threads


def test_chunks_cover_the_buffer_once_on_several_threads():
    seen = []

    def record(w, lr):
        seen.append((threading.get_ident(), w.size, lr))
        w += lr

    w = np.zeros(SERIAL_BELOW)
    in_threads(record, [w], [1], threads=4)
    assert sorted(size for _, size, _ in seen) == [SERIAL_BELOW // 4] * 4
    assert len({thread for thread, _, _ in seen}) >= 2
    assert {type(lr) for _, _, lr in seen} == {float}
    assert (w == 1).all()


def test_small_buffer_stays_on_the_calling_thread():
    seen = []
    w = np.zeros(SERIAL_BELOW - 1)
    in_threads(lambda w: seen.append((threading.get_ident(), w.size)), [w], [], threads=4)
    assert seen == [(threading.get_ident(), w.size)]


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="needs sched_getaffinity")
def test_default_number_of_threads_is_what_the_process_may_use(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {2})
    assert available_threads() == 1
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(1000)))
    most = [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]
    assert available_threads() == min([1000, *most])


def test_a_blas_built_for_one_thread_does_not_bind(monkeypatch):
    class Library:
        def __init__(self, num_threads, threading_layer):
            self.num_threads, self.threading_layer = num_threads, threading_layer

    class Libraries:
        lib_controllers = (Library(1, "disabled"), Library(3, "pthreads"))

    monkeypatch.setattr(threads.os, "sched_getaffinity", lambda _: range(8), raising=False)
    monkeypatch.setattr(threads, "blas", Libraries)
    assert available_threads() == 3


def test_error_on_another_thread_reaches_the_caller():
    def fail_on_the_second(w):
        if w[0] == 1:
            raise ArithmeticError("on the second chunk")

    w = np.zeros(SERIAL_BELOW)
    w[SERIAL_BELOW // 2 :] = 1
    with pytest.raises(ArithmeticError, match="second chunk"):
        in_threads(fail_on_the_second, [w], [], threads=2)


@pytest.mark.parametrize(
    "buffers", [(np.zeros(3), np.zeros(4)), (np.zeros((2, 2)), np.zeros((2, 2)))]
)
def test_unequal_buffers_are_refused(buffers):
    with pytest.raises(InputError, match="buffers must be one-dimensional and equally long, got"):
        in_threads(plain_step_pass, buffers, (0.1,))


def test_threads_must_be_a_count():
    with pytest.raises(InputError, match="threads must be a whole number, at least 1, got 0"):
        in_threads(plain_step_pass, (np.zeros(3), np.zeros(3)), (0.1,), threads=0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_pool_works_in_a_forked_child():
    # The child's alarm ends it if it waits for threads that only its parent has.
    script = """
import os, signal
import numpy as np
from thalweg.kernels.elementwise import plain_step_pass
from thalweg.kernels.threads import SERIAL_BELOW, in_threads

def step():
    w = np.ones(SERIAL_BELOW)
    in_threads(plain_step_pass, (w, w.copy()), (0.25,), threads=2)
    return (w == 0.75).all()

assert step()
child = os.fork()
if child == 0:
    signal.alarm(30)
    os._exit(0 if step() else 1)
_, status = os.waitpid(child, 0)
assert status == 0, status
assert step()
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_limits_on_blas_hold_here_too():
    free = available_threads()
    assert free >= 1
    with threadpool_limits(1, user_api="blas"):
        assert available_threads() == 1
    assert available_threads() == free


def test_blas_has_so_many_threads_and_then_as_many_as_before():
    def counts():
        return [library.get_num_threads() for library in threads.blas().lib_controllers]

    before = counts()
    assert before
    with threads.blas_threads(1):
        assert counts() == [1] * len(before)
        with threads.blas_threads(2):
            assert counts() == [2] * len(before)
        assert counts() == [1] * len(before)
        with pytest.raises(ZeroDivisionError), threads.blas_threads(2):
            raise ZeroDivisionError
        assert counts() == [1] * len(before)
    assert counts() == before
    with threads.blas_threads(None):
        assert counts() == before


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="needs sched_setaffinity")
@pytest.mark.skipif(threads.current_core() < 0, reason="the system does not tell cores")
def test_a_thread_on_the_core_of_its_caller_leaves_it():
    allowed = os.sched_getaffinity(0)
    if len(allowed) < 2:
        pytest.skip("needs two cores")
    taken, caller, seen = min(allowed), threading.get_native_id(), []

    def worker():
        os.sched_setaffinity(0, {taken})
        seen.append(threads.current_core())
        seen.append(threads._elsewhere(caller, taken, threads.current_core, ()))
        seen.append(os.sched_getaffinity(0))

    thread = threading.Thread(target=worker)
    thread.start()
    thread.join()
    assert seen[0] == taken
    assert seen[1] in allowed - {taken}
    assert seen[2] == allowed - {taken}
    assert os.sched_getaffinity(0) == allowed  # the caller's own is untouched


@pytest.mark.parametrize("core", [-1, 0])
def test_work_is_done_where_cores_cannot_be_told_or_left(core, monkeypatch):
    def refuse(*_):
        raise PermissionError

    monkeypatch.setattr(threads, "current_core", lambda: core)
    monkeypatch.setattr(threads.os, "sched_setaffinity", refuse, raising=False)
    monkeypatch.setattr(threads.os, "sched_getaffinity", lambda _: {0, 1}, raising=False)
    assert threads.hand_over(divmod, 7, 2).result() == (3, 1)
