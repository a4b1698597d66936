"""A file as a stream of bytes: decompressed where it is compressed, and a sentence where it is bad.

What is decompressed is counted: a small file can hold more than there is memory for (`budget`).

Compression is seen by the first bytes, whatever the name says: gzip, xz and bzip2 by Python's own
modules. Zstandard is left to polars, which reads tables of text alone.
"""

from __future__ import annotations

import bz2
import contextlib
import difflib
import gzip
import io
import lzma
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from thalweg.core.errors import InputError
from thalweg.core.text import one_line
from thalweg.tables.budget import Budget, budget_of
from thalweg.tables.table import size

GZIP, XZ, BZIP2, ZSTD = b"\x1f\x8b", b"\xfd7zXZ\x00", b"BZh", b"\x28\xb5\x2f\xfd"
SUFFIXES = (".gz", ".xz", ".bz2", ".zst")  # taken off a name before it tells the format
HEAD = 1 << 18  # bytes looked at to recognise what a file is, and of what types
BLOCK = 1 << 20  # bytes decompressed at a time
LINES, LONGEST = 10, 1 << 24  # and these many lines at least, of at most so many bytes


def locate(source: str | Path) -> Path:
    """`source` as the path of a file or folder that is there."""
    if not str(source):
        raise InputError("source must be the path of a file or folder, got an empty one")
    try:
        path = Path(source).expanduser()
    except RuntimeError as problem:
        raise InputError(f"{source} does not exist: there is no such user") from problem
    with reading(path):
        if path.is_file() or path.is_dir():
            return path
        if path.exists():
            raise InputError(
                f"{path} must be a file or folder, got a pipe or a device: it is read more than "
                "once, save what it gives to a file first"
            )
        if path.is_symlink():
            raise InputError(
                f"{path} is a link to {path.readlink()}, which does not exist: correct the link"
            )
        near = _nearest(path)
    raise InputError(f"{path} does not exist: {near or 'check the path'}")


def compression(path: Path) -> bytes:
    """The first bytes that tell how a file is compressed, empty where it is not."""
    with reading(path), path.open("rb") as stream:
        start = stream.read(6)
    return next((magic for magic in (GZIP, XZ, BZIP2, ZSTD) if start.startswith(magic)), b"")


class Counted(io.RawIOBase):
    """A decompressed stream that ends in a sentence once it has given more than it may."""

    def __init__(self, path: Path, stream: BinaryIO, most: int) -> None:
        self._path, self._stream, self._left, self._most = path, stream, most, most

    def readable(self) -> bool:
        """Yes."""
        return True

    def readinto(self, into: Any) -> int:
        """The next bytes; a decompressor makes no more of them than are asked for."""
        block = self._stream.read(len(into))
        into[: len(block)] = block
        self._left -= len(block)
        if self._left < 0:
            raise InputError(
                f"{self._path} is {size(self._path.stat().st_size)} and holds more than "
                f"{size(self._most)}, as files do that are made to fill memory: if it is right, "
                f"allow more, with memory='{2 * self._most // 10**9 + 1}GB'"
            )
        return len(block)

    def readall(self) -> bytes:
        """The rest, in larger blocks than the 8 kB that it is read by otherwise."""
        return b"".join(iter(lambda: self.read(BLOCK) or b"", b""))


@contextlib.contextmanager
def opened(path: Path, budget: Budget | None = None) -> Iterator[BinaryIO]:
    """The bytes of `path`, decompressed; damage met while they are read is one sentence."""
    how = compression(path)
    if how == ZSTD:
        raise InputError(
            f"{path} is compressed by zstd, which is read for CSV and TSV alone: "
            f"decompress it first, with zstd -d {path.name}"
        )
    openers: dict[bytes, Any] = {GZIP: gzip.open, XZ: lzma.open, BZIP2: bz2.open}
    with reading(path), openers.get(how, open)(path, "rb") as stream:
        if not how:
            yield stream
            return
        most = (budget or budget_of()).grown(path.stat().st_size)
        yield io.BufferedReader(Counted(path, stream, most), BLOCK)


def head(path: Path, budget: Budget | None = None) -> bytes:
    """The first bytes of the content, decompressed; none for zstd, which polars opens."""
    if compression(path) == ZSTD:
        return b""
    with opened(path, budget) as stream:
        start = stream.read(HEAD)
        # Text is known by whole lines, of which a wide table has few in so many bytes.
        more = range(LINES - start.count(b"\n"))
        return start + b"".join(stream.readline(LONGEST) for _ in more)


@contextlib.contextmanager
def reading(path: Path) -> Iterator[None]:
    """Say in one sentence why `path` cannot be read."""
    try:
        yield
    except IsADirectoryError as problem:
        raise InputError(
            f"{path} is a folder, not a file: name a file in it, or a folder of IDX files"
        ) from problem
    except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile) as problem:
        raise _damaged(path, problem) from problem
    except PermissionError as problem:
        raise InputError(
            f"{path} may not be read (permission denied): ask its owner, or chmod u+r {path.name}"
        ) from problem
    except OSError as problem:
        if problem.errno is None:  # so bzip2 reports damage
            raise _damaged(path, problem) from problem
        raise InputError(
            f"{path} cannot be read ({problem.strerror}): check the path and the disk"
        ) from problem


def _damaged(path: Path, problem: Exception) -> InputError:
    return InputError(
        f"{path} is cut off or damaged ({one_line(problem)}): copy or download it again"
    )


def _nearest(path: Path) -> str:
    if not path.parent.is_dir():
        return f"there is no folder {path.parent} either"
    names = [entry.name for entry in path.parent.iterdir()]
    close = difflib.get_close_matches(path.name, names, n=1, cutoff=0.6)
    return f"did you mean {close[0]!r}?" if close else ""
