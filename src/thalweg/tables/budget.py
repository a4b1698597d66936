"""How much memory reading may take, asked before it is taken.

    budget   what `memory=` says, else 4/5 of what is free
    free     the least of what the machine, the control group and `ulimit -v` leave

Twenty bytes of svmlight may announce 33 million columns, 18 kB of bzip2 hold 3.6 GB, a header of
NPY any shape at all. So, unless `memory=` is given, a compressed file may also grow at most a
thousandfold (gzip cannot do more; tables grow tenfold), and a matrix has at most a hundred columns
for each number stored in it, each column being a name and a record besides its numbers.
"""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path
from typing import Any, NamedTuple

from thalweg.core.checks import check_number, describe
from thalweg.core.errors import InputError
from thalweg.tables.table import size

SHARE = 0.8  # of what is free
UNITS = ("", "K", "M", "G", "T")  # of powers of 1000, or of 1024 with an i
GROWTH, ALWAYS = 1000, 1 << 28  # times its size that a file may grow to; so many bytes always
WIDTH, COLUMNS = 100, 1 << 20  # columns for each number stored; so many always
COLUMN = 200  # bytes of a column's name and record, rounded up: 33 million took 3.3 GB
DAMAGED = 10**13  # bytes that no machine has
UNLIMITED = 1 << 62  # control groups and shells write no limit as some number above
_SIZE = re.compile(r"\s*([\d.]+)\s*([KMGT]?)(i?)B?\s*", re.IGNORECASE)


class Budget(NamedTuple):
    """So many bytes, and whether they were asked for."""

    limit: int
    is_given: bool = False

    def check(self, path: Any, needed: int, what: str) -> None:
        """Raise if `needed` bytes are more than may be used."""
        if needed > max(self.limit, DAMAGED):
            raise InputError(
                f"{path} announces what does not fit into memory, {what}: it is damaged, copy or "
                "download it again"
            )
        if needed > self.limit:
            raise InputError(
                f"{path} needs {size(needed)} of memory {what}, and {size(self.limit)} may be "
                f"used: take fewer rows or columns, or allow more, with memory={_typed(needed)!r}"
            )

    def grown(self, compressed: int) -> int:
        """How many bytes a file of `compressed` bytes may hold."""
        return self.limit if self.is_given else min(self.limit, max(ALWAYS, GROWTH * compressed))

    def check_shape(self, path: Any, shape: tuple[int, int], stored: int, known: int = 0) -> None:
        """Raise if a sparse matrix has more rows or columns than fit, or than its numbers fill.

        `known` columns are there already.
        """
        rows, columns = shape
        if columns > max(COLUMNS, WIDTH * stored, known) and not self.is_given:
            raise InputError(
                f"{path} must number its columns without such gaps, got {columns:,} of them and "
                f"{stored:,} numbers: every number up to the highest is a column, so give those "
                "that occur the numbers 1, 2, …, or allow it, with "
                f"memory={_typed(COLUMN * columns)!r}"
            )
        self.check(path, 16 * rows + COLUMN * columns, f"for {rows:,} rows × {columns:,} columns")


def budget_of(memory: str | float | None = None) -> Budget:
    """What `memory` says, bytes or a text such as "2GB"; else a share of what is free."""
    if memory is None:
        return Budget(int(SHARE * free()))
    if isinstance(memory, str):
        found = _SIZE.fullmatch(memory)
        with contextlib.suppress(ValueError, OverflowError):
            if found and float(found[1]) > 0:
                base = 1024 if found[3] else 1000
                return Budget(int(float(found[1]) * base ** UNITS.index(found[2].upper())), True)
        raise InputError(f"memory must be a size such as '2GB', got {describe(memory)}")
    check_number("memory", memory, above=0.0)
    return Budget(int(memory), True)


def free() -> int:
    """Bytes that can be had."""
    return max(0, min(_of_machine(), _of_group(), _of_process()))


def _of_machine() -> int:
    found = re.search(r"MemAvailable:\s*(\d+) kB", _content("/proc/meminfo"))
    if found:
        return 1024 * int(found[1])
    with contextlib.suppress(ValueError, OSError, AttributeError):  # not Linux: half of what it has
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    return 1 << 32


def _of_group() -> int:
    """What a container has left; pages of files in its cache are given up when asked for."""
    for limit, used, cached in (
        ("memory.max", "memory.current", "inactive_file"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "total_inactive_file"),
    ):
        most, now = _content(f"/sys/fs/cgroup/{limit}"), _content(f"/sys/fs/cgroup/{used}")
        if most.strip().isdigit() and now.strip().isdigit() and int(most) < UNLIMITED:
            place = Path("/sys/fs/cgroup") / limit
            cache = re.search(rf"^{cached} (\d+)", _content(place.parent / "memory.stat"), re.M)
            return int(most) - int(now) + (int(cache[1]) if cache else 0)
    return UNLIMITED


def _of_process() -> int:
    """What `ulimit -v` leaves."""
    try:
        import resource
    except ImportError:  # Windows has none
        return UNLIMITED
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    if most in (-1, resource.RLIM_INFINITY):
        return UNLIMITED
    pages = _content("/proc/self/statm").split()
    return most - (int(pages[0]) * resource.getpagesize() if pages else 0)


def _content(path: str | Path) -> str:
    with contextlib.suppress(OSError):
        return Path(path).read_text("ascii", errors="replace")
    return ""


def _typed(count: int) -> str:
    """A round size that is no less."""
    power = 3 if count >= 10**9 else 2
    return f"{-(-count // 1000**power)}{UNITS[power]}B"
