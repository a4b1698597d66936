"""Acts of this process on the disk, counted, and failed or died at from a given one on.

An act is to open a file for writing, to write to it, to flush it, to make, move or remove. `Shim`
stands in front of the functions of `os` and of `open`, through which Python's own files, pathlib,
shutil, NumPy and Numba write. What passes it by all the same is told by the interpreter's audit
events and kept in `missed`, so that "every act" can be checked.

    KILL      the process is gone before the act                            power, kill -9
    EIO       the act fails once, whatever it is                            a bad sector
    ENOSPC    what needs room fails from there on; of a write, half is done a full disk
    EACCES    what changes a folder fails from there on                     a place made read-only
"""

from __future__ import annotations

import builtins
import errno
import io
import os
import shutil
import signal
import sys
from typing import Any

KILL, REMOVED = "KILL", "REMOVED"
CALLS = (
    "fsync",
    "rename",
    "replace",
    "unlink",
    "remove",
    "rmdir",
    "mkdir",
    "truncate",
    "ftruncate",
)
NEEDS_ROOM = {"open", "write", "fsync", "mkdir"}
CHANGES_FOLDER = {"open", "rename", "replace", "unlink", "remove", "rmdir", "mkdir"}
AUDITED = {"os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.truncate"}
TO_WRITE = os.O_WRONLY | os.O_RDWR | os.O_CREAT


class Shim:
    """Counts the acts from `arm` on; the `moment`-th, if that is not 0, ends as `fault` says."""

    def __init__(self, fault: str = KILL, moment: int = 0, folder: str = "") -> None:
        self.fault, self.moment, self.folder = fault, moment, folder
        self.count = 0
        self.failed: list[str] = []
        self.missed: list[str] = []
        self._is_within = False  # of an act that was counted, or past all of them

    def arm(self) -> None:
        """Stand in front, for the rest of the process."""
        for name in CALLS:
            setattr(os, name, self._before(name, getattr(os, name)))
        shutil._USE_CP_SENDFILE = False  # which would copy past the files' own writes
        self._low_open, self._open = os.open, builtins.open
        os.open = self._opened_low
        builtins.open = io.open = self._opened
        sys.addaudithook(self._audit)

    def disarm(self) -> None:
        """Count and fail nothing more."""
        self._is_within = True

    def act(self, name: str, on: Any) -> None:
        """Count, and raise or die where it is time to."""
        if self._is_within:
            return
        self.count += 1
        if not self._is_due(name):
            return
        self.failed.append(f"{name} {on}")
        if self.fault == KILL:
            os.kill(os.getpid(), signal.SIGKILL)
        elif self.fault == REMOVED:
            self._through(shutil.rmtree, self.folder, ignore_errors=True)
        else:
            code = getattr(errno, self.fault)
            named = isinstance(on, str) and name not in ("write", "fsync")  # as the system does
            raise OSError(code, os.strerror(code), on if named else None)

    def _is_due(self, name: str) -> bool:
        if not self.moment or self.count < self.moment:
            return False
        if self.fault == "ENOSPC":
            return name in NEEDS_ROOM
        if self.fault == "EACCES":
            return name in CHANGES_FOLDER
        return self.count == self.moment

    def _through(self, do: Any, *given: Any, **named: Any) -> Any:
        """Do what was counted already."""
        before, self._is_within = self._is_within, True
        try:
            return do(*given, **named)
        finally:
            self._is_within = before

    def _before(self, name: str, do: Any) -> Any:
        def act(*given: Any, **named: Any) -> Any:
            self.act(name, given[0] if isinstance(given[0], int) else os.fspath(given[0]))
            return self._through(do, *given, **named)

        return act

    def _opened_low(self, path: Any, flags: int, *given: Any, **named: Any) -> int:
        if flags & TO_WRITE and not _is_device(path):
            self.act("open", os.fspath(path))
        return self._through(self._low_open, path, flags, *given, **named)

    def _opened(self, file: Any, mode: str = "r", buffering: int = -1, *given: Any, **named: Any):
        if isinstance(file, int) or not set(mode) & set("wax+") or _is_device(file):
            return self._through(self._open, file, mode, buffering, *given, **named)
        self.act("open", os.fspath(file))
        raw = self._through(_Written, file, mode.replace("b", "").replace("t", ""))
        raw.shim = self
        if buffering == 0:
            return raw
        buffered = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
        return buffered if "b" in mode else io.TextIOWrapper(buffered, *given, **named)

    def _audit(self, event: str, details: tuple[Any, ...]) -> None:
        if self._is_within:
            return
        if event == "open":
            path, _, flags = details
            if isinstance(path, int) or not flags & TO_WRITE or _is_device(path):
                return
        elif event not in AUDITED:
            return
        self.missed.append(f"{event} {details[0]}")


class _Written(io.FileIO):
    """A file whose writes are acts."""

    shim: Shim

    def write(self, content: Any) -> int:
        try:
            self.shim.act("write", self.name)
        except OSError as problem:
            if problem.errno == errno.ENOSPC:
                super().write(bytes(content)[: len(content) // 2])
            raise
        return super().write(content)


def _is_device(path: Any) -> bool:
    return os.fsdecode(path).startswith("/dev/")
