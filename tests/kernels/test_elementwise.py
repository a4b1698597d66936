import inspect
import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from thalweg import rules
from thalweg.core.errors import InputError
from thalweg.kernels import elementwise
from thalweg.kernels.elementwise import (
    PASSES,
    SERIAL_BELOW,
    adagrad_pass,
    adam_pass,
    available_threads,
    in_threads,
    plain_step_pass,
)

SCALARS = {
    "t": 3,
    "lr": 0.01,
    "beta": 0.9,
    "alpha": 0.9,
    "beta1": 0.9,
    "beta2": 0.999,
    "eps": 1e-8,
    "mu": 0.46,
    "mu_next": 0.47,
    "mu_product": 0.1,
    "decay": 0.1,
    "threshold": 0.2,
}


def arguments(name, size, dtype):
    """Random buffers and the scalars of a rule; the running squares are positive."""
    rng = np.random.default_rng(5)
    pool = {buffer: rng.standard_normal(size).astype(dtype) for buffer in "wgmvs"}
    if name != "heavy_ball_velocity":
        pool["v"] = pool["v"] ** 2
    pool["s"] = pool["s"] ** 2
    names = inspect.signature(getattr(rules, name)).parameters
    buffers = [pool[buffer] for buffer in names if buffer in pool]
    return buffers, [SCALARS[scalar] for scalar in names if scalar not in pool]


def slow_pass(name, buffers, scalars):
    """The definition: the rule on Python floats, element by element, then one rounding."""
    rule = getattr(rules, name)
    rows = [rule(*row, *scalars) for row in zip(*(b.tolist() for b in buffers), strict=True)]
    columns = zip(*(row if isinstance(row, tuple) else (row,) for row in rows), strict=True)
    w, *memory = (np.array(column).astype(buffers[0].dtype) for column in columns)
    return [w, *buffers[1:2], *memory]


def test_every_rule_has_its_pass():
    not_elementwise = {"clip_by_norm", "clip_factor", "nadam_momentum", "project_ball", "sqrt"}
    hoisted = {"adam_hoisted", "nadam_hoisted", "rmsprop_hoisted"}  # what other rules end in
    assert set(PASSES) == set(rules.__all__) - not_elementwise - hoisted
    for name, pass_ in PASSES.items():
        names = inspect.signature(getattr(rules, name)).parameters
        assert pass_.__name__ == f"{name}_pass"
        assert list(inspect.signature(pass_.py_func).parameters) == list(names)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", PASSES)
def test_pass_is_the_rule_on_floats_rounded_once(name, dtype):
    buffers, scalars = arguments(name, 257, dtype)
    expected = slow_pass(name, buffers, scalars)
    PASSES[name](*buffers, *scalars)
    for got, reference in zip(buffers, expected, strict=True):
        assert got.dtype == dtype
        if dtype == np.float32:
            # Reciprocals and fused products move the float64 result by 10⁻¹⁶, across a tie at most.
            np.testing.assert_array_max_ulp(got, reference, maxulp=1)
        else:
            np.testing.assert_allclose(got, reference, rtol=1e-14, atol=1e-15)


def test_square_of_a_float32_gradient_does_not_overflow():
    w, g, s = (np.array([x], np.float32) for x in (1.0, 1e25, 0.0))
    adagrad_pass(w, g, s, 0.5, 0.0)
    assert w[0] == 0.5


@pytest.mark.parametrize("name", PASSES)
def test_empty_buffer_is_fine(name):
    buffers, scalars = arguments(name, 0, np.float64)
    PASSES[name](*buffers, *scalars)
    in_threads(PASSES[name], buffers, scalars, threads=2)


@pytest.mark.parametrize("name", PASSES)
@pytest.mark.parametrize("threads", [None, 2, 3, 7])
def test_threads_change_nothing(name, threads):
    size = SERIAL_BELOW + 5
    alone, scalars = arguments(name, size, np.float32)
    shared, _ = arguments(name, size, np.float32)
    in_threads(PASSES[name], alone, scalars, threads=1)
    in_threads(PASSES[name], shared, scalars, threads=threads)
    for one, other in zip(alone, shared, strict=True):
        np.testing.assert_array_equal(one, other)


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


def test_second_call_does_not_compile():
    (w, g, m, v), _ = arguments("adam", SERIAL_BELOW, np.float64)
    in_threads(adam_pass, (w, g, m, v), (1, 0.1, 0.9, 0.999, 1e-8))
    signatures = list(adam_pass.signatures)
    in_threads(adam_pass, (w, g, m, v), (2.0, 1, 0, 0.999, 1e-8))
    assert adam_pass.signatures == signatures


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

    monkeypatch.setattr(elementwise.os, "sched_getaffinity", lambda _: range(8), raising=False)
    monkeypatch.setattr(elementwise, "blas", Libraries)
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
from thalweg.kernels.elementwise import SERIAL_BELOW, in_threads, plain_step_pass

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
        return [library.get_num_threads() for library in elementwise.blas().lib_controllers]

    before = counts()
    assert before
    with elementwise.blas_threads(1):
        assert counts() == [1] * len(before)
        with elementwise.blas_threads(2):
            assert counts() == [2] * len(before)
        assert counts() == [1] * len(before)
        with pytest.raises(ZeroDivisionError), elementwise.blas_threads(2):
            raise ZeroDivisionError
        assert counts() == [1] * len(before)
    assert counts() == before
    with elementwise.blas_threads(None):
        assert counts() == before
