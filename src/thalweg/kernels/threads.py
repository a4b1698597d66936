"""The threads that kernels share, how many there may be, and a pass over flat buffers cut for them.

BLAS has threads of its own, and the same limits hold for both.

A thread that wakes is put where the system thinks best, and in a virtual machine that is often the
core of the one that woke it: a core that rests there counts as taken, until some tens of
milliseconds of work have shown otherwise. After every pause a fit then ran on one core to its end.
So a thread that finds itself on the core of its caller leaves it to the caller from then on.
"""

import ctypes
import functools
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

from thalweg.core.checks import check_count
from thalweg.core.errors import InputError

# Elements. Waking a second thread costs about 100 µs: on two cores an Adam pass gains from 2·10⁵
# elements on, a plain step, which does less for each, from 10⁶.
SERIAL_BELOW = 262_144
CHUNK_MULTIPLE = 64  # elements: whole cache lines, so that no two threads write to the same one


def available_threads() -> int:
    """How many cores this process may use: those it is bound to, and no more than BLAS may.

    So `threadpoolctl.threadpool_limits`, joblib's limits on its workers and OPENBLAS_NUM_THREADS
    hold for the passes here as they do for a matrix product. Another package may have brought a
    BLAS that was built for one thread: that says nothing of what this process may use.
    """
    bound = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    libraries = [lib for lib in blas().lib_controllers if lib.threading_layer != "disabled"]
    return min([bound or 1, *(library.num_threads for library in libraries)])


@functools.cache
def blas() -> ThreadpoolController:
    """What BLAS is loaded, with handles to its number of threads."""
    return ThreadpoolController().select(user_api="blas")


@contextmanager
def blas_threads(count: int | None) -> Iterator[None]:
    """BLAS on so many threads, and as before afterwards; None leaves it as it is.

    Nothing is set where nothing changes: a small fit comes by here a dozen times, and setting costs
    more than its products.
    """
    libraries = [] if count is None else blas().lib_controllers
    before = [(library, library.get_num_threads()) for library in libraries]
    others = [(library, threads) for library, threads in before if threads != count]
    for library, _ in others:
        library.set_num_threads(count)
    try:
        yield
    finally:
        for library, threads in others:
            library.set_num_threads(threads)


def in_threads(
    pass_: Callable[..., object],
    buffers: Sequence[np.ndarray],
    scalars: Sequence[float],
    threads: int | None = None,
) -> None:
    """Run `pass_(*buffers, *scalars)`, changing the buffers in place, in chunks on several threads.

    `pass_` must release the GIL and treat every element by itself, as all of `elementwise` do: the
    result is then bitwise the same for any number of threads. By default `threads` is the number
    of available cores; buffers of fewer than 262,144 elements stay on the calling thread.
    """
    shapes = [buffer.shape for buffer in buffers]
    if len(set(shapes)) != 1 or len(shapes[0]) != 1:
        raise InputError(
            f"buffers must be one-dimensional and equally long, got shapes {shapes}: "
            "flatten them with .reshape(-1)"
        )
    size = shapes[0][0]
    # One signature for all callers: an int among the scalars would compile the pass again.
    numbers = [float(scalar) for scalar in scalars]
    threads = available_threads() if threads is None else check_count("threads", threads)
    if threads == 1 or size < SERIAL_BELOW:
        pass_(*buffers, *numbers)
        return
    share = -(-size // threads)
    length = -(-share // CHUNK_MULTIPLE) * CHUNK_MULTIPLE
    chunks = [[buffer[i : i + length] for buffer in buffers] for i in range(0, size, length)]
    others = [hand_over(pass_, *chunk, *numbers) for chunk in chunks[1:]]
    pass_(*chunks[0], *numbers)
    for other in others:
        other.result()


def hand_over(work: Callable[..., Any], *args: Any) -> "Future[Any]":
    """`work(*args)` on another thread, and on another core than this one's where there is one."""
    caller = threading.get_native_id()
    return _pool(os.getpid()).submit(_elsewhere, caller, current_core(), work, args)


def _elsewhere(caller: int, core: int, work: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    if core >= 0 and core == current_core():
        _leave(core, caller)
    return work(*args)


def _leave(core: int, caller: int) -> None:
    """Keep this thread on the cores that its caller may use but for the caller's own."""
    try:
        others = os.sched_getaffinity(caller) - {core}
        if others:
            os.sched_setaffinity(0, others)
    except OSError:
        pass  # the caller has ended, or a sandbox forbids it: it is only slower


def current_core() -> int:
    """The core that this thread runs on, or −1 where the system does not say."""
    ask = _core_of_system()
    return -1 if ask is None else ask()


@functools.cache
def _core_of_system() -> Callable[[], int] | None:
    """`sched_getcpu` of the C library, where threads can be told to leave a core as well."""
    if not hasattr(os, "sched_setaffinity"):
        return None
    return getattr(ctypes.PyDLL(None), "sched_getcpu", None)


@functools.cache
def _pool(process: int) -> ThreadPoolExecutor:
    """The threads of one process: a forked child inherits the pool, but not its threads."""
    return ThreadPoolExecutor(available_threads(), thread_name_prefix="thalweg")
