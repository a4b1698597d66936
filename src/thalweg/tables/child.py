"""Files read by polars in a process of its own, which may break and is then one sentence here.

A damaged Parquet can end in SIGABRT, and one of a few bytes announce more rows than there is memory
for: neither can be caught in the process that it happens in. So a child reads the file, under a
limit of memory, and writes what it found to a file of Arrow's, which is mapped into this process
and not copied. A child costs 0.3 s, polars' import; a file is decoded once.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOM = 1 << 30  # bytes of Python and polars themselves, besides the budget
# -P: the folder that the command was typed in may hold a polars.py, which is not ours to run.
START = "import sys; sys.path[:] = {path!r}; from thalweg.tables.child import main; main()"


class ChildError(Exception):
    """What the child said before it ended."""


def read_apart(reader: str, path: Path, options: Mapping[str, Any], limit: int) -> Any:
    """The frame that `polars.<reader>` makes of `path`; it may take `limit` bytes."""
    import polars as pl

    with tempfile.TemporaryDirectory(prefix="thalweg-", ignore_cleanup_errors=True) as folder:
        out = Path(folder) / "frame.arrow"
        asked = {
            "reader": reader, "path": str(path.absolute()), "options": dict(options),
            "out": str(out), "limit": limit + ROOM,
        }  # fmt: skip
        done = subprocess.run(
            [sys.executable, "-P", "-c", START.format(path=sys.path)],
            input=json.dumps(asked).encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # where Rust prints pages of a panic
            check=False,
        )
        if done.returncode == 0:
            with out.open("rb") as stream:
                return pl.read_ipc(stream, memory_map=True)
    said = done.stdout.decode("utf-8", errors="replace").strip()
    raise ChildError(said or f"reading it broke off, {_cause(done.returncode)}")


def main() -> None:
    """In the child: read what is asked for on stdin, write the frame, or say why not."""
    asked = json.load(sys.stdin)
    import polars as pl

    _limit(asked["limit"])
    try:
        frame = getattr(pl, asked["reader"])(asked["path"], **asked["options"])
        # Neither Arrow's files nor NumPy have whole numbers of 128 bits.
        wide = [name for name, kind in frame.schema.items() if str(kind).endswith("Int128")]
        frame.with_columns(pl.col(wide).cast(pl.Float64)).write_ipc(asked["out"])
    except BaseException as problem:
        sys.stdout.buffer.write(str(problem).partition("\n")[0].encode("utf-8", "replace"))
        sys.stdout.flush()
        os._exit(1)


def _limit(count: int) -> None:
    """Take at most `count` bytes from here on."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        most = count if hard == resource.RLIM_INFINITY else min(count, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (most, hard))


def _cause(code: int) -> str:
    with contextlib.suppress(ValueError):
        return f"by {signal.Signals(-code).name}: damaged, or more than may be held in memory"
    return f"with code {code}"
