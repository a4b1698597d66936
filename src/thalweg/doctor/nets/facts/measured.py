"""Every number of a training that is no column: what was measured, and None for what was not.

A record keeps them as scalars of the same names (`thalweg.core.record`), NaN or nothing where they
are not known. Files of this folder return those that they measured; symptoms read attributes, so
that a name that nobody writes is an error of types and not a healthy network.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import Any, TypeGuard

from thalweg.core.record import Record


@dataclass(frozen=True)
class Measured:
    """Numbers of one training; those of one part of it are joined to others by `|`."""

    # Seen by the watch itself.
    steps: float | None = None
    parameters: float | None = None
    frozen: float | None = None
    bad_step: float | None = None  # the first that was not finite; 0 where all were
    bad_where: str | None = None
    bad_layer: str | None = None
    evaluations: float | None = None
    evaluations_in_training_mode: float | None = None
    # Of the first batch, and of targets at looks: `instruments.first_batch`, `instruments.targets`.
    input_rows: float | None = None
    input_columns: float | None = None
    input_not_finite: float | None = None
    input_constant: float | None = None
    target_std: float | None = None
    target_mixing: float | None = None
    # `inputs`
    data_rows: float | None = None
    data_columns: float | None = None
    data_not_finite: float | None = None
    data_size: float | None = None
    data_offset: float | None = None
    data_spread: float | None = None
    data_constant: float | None = None
    data_distinct: float | None = None
    data_denormal: float | None = None
    # `labels`
    data_classes: float | None = None  # 0 where labels are numbers
    data_largest_share: float | None = None
    data_smallest_share: float | None = None
    data_rarest: float | None = None
    target_wildest: float | None = None
    # `leaks`
    data_copy: float | None = None  # a column; −1 where none is the label
    data_shared: float | None = None
    # `references`
    data_signal: float | None = None
    data_signal_error: float | None = None
    data_signal_validation: float | None = None
    data_reference: float | None = None
    # `batches`
    batch_known: float | None = None
    batch_moved: float | None = None
    batch_skill: float | None = None
    data_neighbours: float | None = None
    # `loss`
    first_loss: float | None = None
    constant_loss: float | None = None
    reachable_loss: float | None = None
    output_columns: float | None = None
    output_size: float | None = None
    # `small_fit`
    small_fit: float | None = None
    small_fit_standard: float | None = None
    # `modes`
    mode_dropout: float | None = None
    mode_norm: float | None = None
    dropped: float | None = None
    # `outcome`
    trained_loss: float | None = None
    trained_score: float | None = None
    trained_skill: float | None = None
    trained_recall: float | None = None
    validated_loss: float | None = None
    validated_score: float | None = None
    validated_skill: float | None = None
    validated_recall: float | None = None

    def __or__(self, other: Measured) -> Measured:
        return replace(self, **other.scalars())

    def scalars(self) -> dict[str, Any]:
        """Those that are known, as a record keeps them."""
        named = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: value for name, value in named.items() if value is not None}


def measured(record: Record) -> Measured:
    """What a record knows."""
    known = {each.name: record.scalars.get(each.name) for each in fields(Measured)}
    return Measured(**{name: value for name, value in known.items() if not _is_nan(value)})


def above(value: float | None, limit: float) -> TypeGuard[float]:
    """Whether it is known, and larger."""
    return value is not None and value > limit


def below(value: float | None, limit: float) -> TypeGuard[float]:
    """Whether it is known, and smaller."""
    return value is not None and value < limit


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)
