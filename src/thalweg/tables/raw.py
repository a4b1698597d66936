"""What a file holds before it is encoded: named columns, or a matrix with labels beside it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from thalweg.tables.problem import Problem, Unsettled


@dataclass
class Raw:
    """One file's content. `X` is a polars frame, or numbers: float[n, p] or CSR."""

    X: Any
    format: str
    y: Any = None  # labels that the file keeps apart from X, an array of any kind
    names: list[str] | None = None  # of the columns of a matrix, where it has any
    class_names: list[str] | None = None  # of the labels 0, 1, …, where they have any
    target: str = "y"  # what the labels are called
    sample_shape: tuple[int, ...] = ()  # of one row before it was flattened, (28, 28) of an image
    are_pixels: bool = False  # whether X holds bytes, 0 to 255, of images
    first_index: int = 1  # what an svmlight file calls its first feature
    notes: list[str] = field(default_factory=list)
    doubts: dict[str, Problem] = field(default_factory=dict)  # of columns that cannot be used
    decimal: str | None = None  # what its numbers show, where they are not plain

    def check_doubts(self, names: Iterable[str]) -> None:
        """Raise if any of these columns is in doubt."""
        found = [self.doubts[name] for name in names if name in self.doubts]
        if found:
            raise Unsettled(found)

    @property
    def is_frame(self) -> bool:
        """Whether X has named columns of their own types."""
        return hasattr(self.X, "get_column")
