"""A coefficient as a person reads it: of which column, how much, and against what.

    z = b + Σⱼ wⱼxⱼ

per unit         wⱼ: how z changes where xⱼ is one larger, in the units of the data
per deviation    wⱼσⱼ, with σⱼ the standard deviation of xⱼ in the training rows: what compares
                 columns of different units, and what coefficients are sorted by
of a category    w_c − w_r: what it is to be in category c and not in the reference r, the most
                 frequent one; σ is that of the column of 0 and 1 that says c

z is the answer of a regression, the log odds of the class `output` of two, one score a class of
several; a penalty makes all of them smaller than they would be without.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from thalweg.core.text import cell, shown

HEADS = ("feature", "class", "against", "per unit", "per deviation", "standard error")


class Coefficient(NamedTuple):
    """One number of a linear model."""

    feature: str  # "age", "town=Bern"
    output: str  # the class whose score it adds to; "" of a regression
    reference: str  # the category that it is measured against; "" of a number
    per_unit: float
    per_deviation: float | None  # None where spreads are not known, in runs of first versions
    error: float | None = None  # standard error of `per_unit`, where one is valid

    @property
    def size(self) -> float:
        """What it is sorted by."""
        return abs(self.per_unit if self.per_deviation is None else self.per_deviation)

    @property
    def name(self) -> str:
        """Feature, and what it is measured against."""
        against = f" against {self.reference}" if self.reference else ""
        return shown(f"{self.feature}{against}")


def coefficients_csv(found: Iterable[Coefficient], *, raw: bool = False) -> str:
    """One line a coefficient; names are written so that no spreadsheet computes them."""
    lines = [",".join(HEADS)]
    for each in found:
        names = [cell(name, raw=raw) for name in (each.feature, each.output, each.reference)]
        numbers = (each.per_unit, each.per_deviation, each.error)
        lines.append(",".join([*names, *("" if x is None else repr(x) for x in numbers)]))
    return "".join(line + "\n" for line in lines)
