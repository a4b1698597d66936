"""`positive`, `bounds` and `penalty_weight` of estimators, as the `ByColumn` of their problem.

    lowⱼ ≤ wⱼ ≤ highⱼ        l1ⱼ = πⱼ·l1,  l2ⱼ = πⱼ·l2        positive: low = 0, or what is above

Coefficients that are kept from where the data lead have no standard errors in a closed form, nor
have such that a penalty holds.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from thalweg.core.errors import InputError
from thalweg.estimators.certified import CertifiedMixin
from thalweg.objectives.column_penalty import ByColumn

BOUNDS: dict[str, list[Any]] = {"bounds": [tuple, list, None]}
HELD: dict[str, list[Any]] = {**BOUNDS, "penalty_weight": ["array-like", None]}


class HeldColumnsMixin(CertifiedMixin):
    """What an estimator is told of single columns."""

    positive: bool = False
    bounds: Any = None
    penalty_weight: Any = None
    by_column: ClassVar[tuple[str, ...]] = ("positive", "bounds", "penalty_weight")

    def _by_column(self) -> ByColumn | None:
        """What `LinearProblem` is told; None where that is nothing."""
        if not self.positive and self.bounds is None and self.penalty_weight is None:
            return None
        said = ByColumn(self.bounds, self.penalty_weight)
        if self.positive:
            said.low = np.maximum(said.low, 0.0)
            if np.any(said.high < 0.0):
                raise InputError(
                    f"bounds must reach zero beside positive=True, got an upper one of "
                    f"{float(np.min(said.high)):g}: leave one of the two out"
                )
        return None if said.is_plain else said

    def _refuse_held(self) -> None:
        """Raise for a summary of coefficients that are kept within bounds."""
        if self.positive or self.bounds is not None:
            name = "positive" if self.positive else "bounds"
            raise InputError(
                f"summary needs a fit without bounds, got {name}={getattr(self, name)!r}: standard "
                "errors do not tell of them; use .bootstrap(X, y)"
            )
