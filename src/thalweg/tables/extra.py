"""polars, which reads CSV, TSV and Parquet, imported when one is met."""

from __future__ import annotations

from typing import Any

from thalweg.core.errors import InputError


def polars(what: Any) -> Any:
    """The module, or a sentence that says how to get it and that `what` needs it."""
    try:
        import polars
    except ImportError as problem:
        raise InputError(
            f"{what} needs polars, which is not installed: pip install 'thalweg[files]', "
            "or give the data as NPZ"
        ) from problem
    return polars


def failures() -> tuple[type[BaseException], ...]:
    """What polars raises on files that it cannot read; damaged ones may make it panic."""
    from polars.exceptions import PanicException, PolarsError

    return PolarsError, PanicException, OSError
