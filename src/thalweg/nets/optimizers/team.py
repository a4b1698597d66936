"""Run a job on PyTorch's own threads.

After every parallel operation PyTorch's threads look for more work for some milliseconds before
they sleep. A thread of ours beside them shares its core with one that does nothing: an Adam step
over 10⁷ weights took 16 ms right after another operation, 10 ms otherwise. So the job goes to them,
by the call that PyTorch itself was compiled to make, GNU OpenMP's `GOMP_parallel`, which also takes
a tenth of the time of waking a thread of Python's. Where PyTorch was built without it, threads of
our own do the work.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from pathlib import Path

import torch

from thalweg.kernels.jobs import Job
from thalweg.kernels.threads import hand_over

TOGETHER = 32_768  # elements below which one thread does all: PyTorch's own grain

Fork = Callable[[int, int, int, int], None]


def run(address: int, job: Job, threads: int) -> None:
    """Have the C function at `address` run by so many threads at once, and wait for all."""
    fork = fork_of_torch()
    if fork is not None and threads > 1:
        fork(address, job.place, threads, 0)
        return
    alone = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(address)
    others = [hand_over(alone, job.place) for _ in range(threads - 1)]
    alone(job.place)
    for other in others:
        other.result()


@functools.cache
def fork_of_torch() -> Fork | None:
    """`GOMP_parallel(function, data, threads, flags)` of the library that PyTorch uses, if any."""
    library = Path(torch.__file__).parent / "lib" / "libtorch_cpu.so"
    try:
        fork = ctypes.CDLL(str(library)).GOMP_parallel  # its own, or that of what it is linked to
    except (OSError, AttributeError):
        return None
    fork.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint]
    fork.restype = None
    return fork
