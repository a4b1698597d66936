"""A penalty of a user's own: h(w) of the coefficients, with its proximal step.

    value      h(w) ≥ 0, convex, a number; np.inf outside a constraint
    prox       prox(v, η) = argmin over u of h(u) + ‖u − v‖²/(2η), for η > 0
    dual       sup over w of uᵀw/h(w), the dual norm, of an h with h(tw) = t·h(w) for t ≥ 0
    conjugate  h*(u) = sup over w of uᵀw − h(w), of any other h; infinite outside its domain

w is what the penalty holds: coefficients, float64[p], or float64[p, K] for several classes, without
intercepts; strengths such as λ are part of the functions. What a duality gap needs of h is

    R*(u) = sup over w of uᵀw − (l2/2)‖w‖² − h(w)

With l2 > 0 that is known from the proximal step: the best w is prox(u/l2, 1/l2). Without, it is h*,
which is 0 where dual(u) ≤ 1 and infinite elsewhere, or `conjugate`; with neither there is no gap.

The functions receive copies, and what they return is copied. That they fit together is checked when
a problem is made (`objectives.penalty_check`).
"""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any

import numpy as np

from thalweg.core.checks import check_callable, describe
from thalweg.core.errors import InputError
from thalweg.objectives.own_loss import check_name

NEAREST = 1e-9  # η of a proximal step that only leads into the domain of h


class Penalty:
    """h given as `value(w)` and `prox(v, step)`, for `LinearProblem(..., penalty=...)`.

    `dual` or `conjugate`, where one is known, gives a duality gap without l2. `name` is how runs,
    plans and checkpoints call it; that of the function `value` if left out. `check=False` trusts
    the functions.

    >>> ridge = Penalty(lambda w: 0.5 * w @ w, lambda v, step: v / (1 + step), name="half a ridge")
    >>> ridge.value(np.array([3.0, 4.0])), ridge.prox(np.array([2.0]), 1.0).tolist()
    (12.5, [1.0])
    """

    def __init__(
        self,
        value: Callable[[np.ndarray], Any],
        prox: Callable[[np.ndarray, float], Any],
        *,
        dual: Callable[[np.ndarray], Any] | None = None,
        conjugate: Callable[[np.ndarray], Any] | None = None,
        name: str | None = None,
        check: bool = True,
    ) -> None:
        check_callable("value", value, signature="of the coefficients that returns a number")
        check_callable("prox", prox, signature="of coefficients and a step that returns as many")
        for role, function in (("dual", dual), ("conjugate", conjugate)):
            if function is not None:
                check_callable(role, function, signature="of an array u that returns a number")
        if dual is not None and conjugate is not None:
            raise InputError(
                "dual must be left out where conjugate is given, got both: the dual norm already "
                "says that h* is 0 up to 1 and infinite beyond"
            )
        self._value, self._prox, self._dual, self._conjugate = value, prox, dual, conjugate
        self.check = check
        self.name = check_name("penalty", name, value)

    @property
    def has_dual(self) -> bool:
        """Whether the dual norm was given."""
        return self._dual is not None

    @property
    def has_conjugate(self) -> bool:
        """Whether h* was given."""
        return self._conjugate is not None

    def value(self, w: np.ndarray) -> float:
        """h(w)."""
        return self._number("value", self._value, w)

    def prox(self, v: np.ndarray, step: float) -> np.ndarray:
        """prox(v, η), a fresh float64 array shaped as `v`; for η = 0 the nearest w with a value."""
        v = v.astype(np.float64)
        if step == 0.0 and np.isfinite(self.value(v)):
            return v
        with np.errstate(all="ignore"):
            found = np.asarray(self._prox(v.copy(), float(step) or NEAREST))
        if found.shape != v.shape or found.dtype.kind not in "iuf":
            raise InputError(
                f"prox of the penalty {self.name!r} must return real numbers in shape {v.shape}, "
                f"as the coefficients have, got {describe(found if found.ndim else found.item())}"
            )
        return np.array(found, dtype=np.float64)

    def dual(self, u: np.ndarray) -> float:
        """The dual norm of u."""
        assert self._dual is not None
        return self._number("dual", self._dual, u)

    def conjugate(self, u: np.ndarray) -> float:
        """h*(u)."""
        assert self._conjugate is not None
        return self._number("conjugate", self._conjugate, u)

    def _number(self, role: str, function: Callable[[np.ndarray], Any], w: np.ndarray) -> float:
        with np.errstate(all="ignore"):
            found = function(w.astype(np.float64))
        if isinstance(found, np.ndarray) and found.ndim == 0:
            found = found.item()
        if isinstance(found, bool) or not isinstance(found, numbers.Real):
            raise InputError(
                f"{role} of the penalty {self.name!r} must return one real number, got "
                f"{describe(found)}: for instance the sum of an array"
            )
        return float(found)

    def __repr__(self) -> str:
        return f"Penalty({self.name})"
