"""polars, which reads CSV, TSV and Parquet, imported when one is met, and how it fails."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from thalweg.core.errors import InputError


def polars(what: Any) -> Any:
    """The module, imported when it is needed; a sentence where an installation has lost it."""
    try:
        return import_module("polars")
    except ImportError as problem:
        raise InputError(
            f"{what} needs polars, which belongs to thalweg and is not here: pip install polars, "
            "or give the data as NPZ"
        ) from problem


def failures() -> tuple[type[BaseException], ...]:
    """What polars raises on files that it cannot read; damaged ones may make it panic."""
    from polars.exceptions import PanicException, PolarsError

    return PolarsError, PanicException, OSError


@contextlib.contextmanager
def without_panic_text() -> Iterator[None]:
    """Keep what Rust prints on a panic, pages of it, off the screen: the exception says enough.

    It is printed past `sys.stderr`, so the file descriptor itself looks away.
    """
    sys.stderr.flush()
    try:
        kept = os.dup(2)
    except OSError:  # closed already
        yield
        return
    try:
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
