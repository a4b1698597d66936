"""polars, which reads CSV, TSV and Parquet, imported when one is met, and how it fails."""

from __future__ import annotations

from typing import Any

from thalweg.core.extra import optional


def polars(what: Any) -> Any:
    """The module, or a sentence that says how to get it and that `what` needs it."""
    return optional("polars", what, extra="files", instead="give the data as NPZ")


def failures() -> tuple[type[BaseException], ...]:
    """What polars raises on files that it cannot read; damaged ones may make it panic."""
    from polars.exceptions import PanicException, PolarsError

    return PolarsError, PanicException, OSError
