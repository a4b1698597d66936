"""Little address space (`ulimit -v`): one thread, and a sentence where a library would end us.

Libraries of linear algebra and threads take tens of megabytes of addresses a thread, and where they
get none they do not raise: OpenBLAS leaves the process, torch and polars abort. So, where addresses
are limited, each of them has one thread, and before one is imported it is asked whether the rest
suffices, for what it and the command then take. Without a limit nothing is done.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType

from thalweg.core.errors import InputError

LITTLE = 8 << 30  # bytes, from which on there is enough for the threads of 32 cores
# Megabytes from the import on to the end of a small command, by one thread, measured, and half of
# it besides: kernels that are compiled, another version, data of some size.
NEEDS = {"numpy": 560, "polars": 340, "torch": 1080}
THREADS = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS",
    "POLARS_MAX_THREADS",
)  # fmt: skip
M_ARENA_MAX = -8  # of the C library: else every thread reserves 64 MB


def keep_within() -> None:
    """Prepare this process, before it has imported anything large."""
    limit = limit_of_addresses()
    if limit is None or limit >= LITTLE or any(isinstance(each, Gate) for each in sys.meta_path):
        return
    for name in THREADS:
        os.environ.setdefault(name, "1")
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, 1)
    sys.meta_path.insert(0, Gate(limit))


class Gate:
    """Stands before modules that are large, when they are imported and not when looked for."""

    def __init__(self, limit: int) -> None:
        self.limit = limit

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """As usual, with a question before the module is made."""
        found = PathFinder.find_spec(name, path) if name in NEEDS else None
        if found is None or found.loader is None:
            return None
        make = found.loader.create_module

        def create_module(spec: ModuleSpec) -> ModuleType | None:
            self.check(name)
            return make(spec)

        found.loader.create_module = create_module  # type: ignore[method-assign]
        return found

    def check(self, name: str) -> None:
        """Raise where the module would not fit."""
        needed = used() + (NEEDS[name] << 20)
        if needed > self.limit:
            raise InputError(
                f"this needs some {needed / 1e9:.1f} GB of addresses, for {name} among others, and "
                f"ulimit -v allows {self.limit / 1e9:.1f} GB: allow more, with "
                f"ulimit -v {-(-needed // 102_400_000) * 100_000}"
            )


def limit_of_addresses() -> int | None:
    """Bytes, or None where there is no limit, or none that can be asked for."""
    try:
        import resource
    except ImportError:
        return None
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if soft == resource.RLIM_INFINITY else soft


def used() -> int:
    """Bytes of addresses that the process has; 0 where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")
