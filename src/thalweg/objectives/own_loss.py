"""A loss of a user's own: ℓ(z, y) of scores and targets, with what is known of it.

    value      ℓ(z, y) ≥ 0, convex in z, float64[n] of z and y, float64[n] each
    slope      ℓ′(z, y), its derivative in z
    bound      γ, the largest ℓ″: what steps are made of
    curvature  ℓ″(z, y), between 0 and γ; from differences of the slope if left out
    conjugate  ℓ*(θ, y) = sup over z of θz − ℓ(z, y), infinite outside its domain: what a duality
               gap is made of; there is none if it is left out

No loss is negative here: a constant of y added to one changes no minimizer, and F(w = 0, best b),
which tolerances are measured by, then says how much there was to explain. A loss whose ℓ″ has no
bound, as e^z, is no loss for a linear problem: `Objective` takes any function.

The functions receive copies, and what they return is copied, as those of `Objective`; they are
given many samples at once. That they fit together is checked when a problem is made
(`objectives.loss_check`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from thalweg.core.checks import check_callable, check_number, describe
from thalweg.core.errors import InputError
from thalweg.kernels.losses import LOSSES
from thalweg.objectives.differences import EPS, STEP

Function = Callable[[np.ndarray, np.ndarray], Any]
SIGNATURE = "of arrays (z, y) that returns an array as long"


class Loss:
    """ℓ given as `value(z, y)` and `slope(z, y)`, for `LinearProblem(X, y, loss)`.

    Targets are numbers, as they are given; for two classes, give −1 and +1. `name` is how runs,
    plans and checkpoints call it; that of the function `value` if left out. `check=False` trusts
    the functions.

    >>> squared = Loss(lambda z, y: (z - y) ** 2 / 2, lambda z, y: z - y, bound=1.0, name="half")
    >>> squared.values(np.array([3.0]), np.array([1.0])).tolist()
    [2.0]
    """

    has_corners: ClassVar[bool] = False  # no slope in places, where the optimum lies
    is_of_differences: ClassVar[bool] = False  # whether ℓ knows z and y by z − y
    steepest: float = math.inf  # the largest |ℓ′|, where it is known

    def __init__(
        self,
        value: Function,
        slope: Function,
        *,
        bound: float,
        curvature: Function | None = None,
        conjugate: Function | None = None,
        name: str | None = None,
        check: bool = True,
    ) -> None:
        check_callable("value", value, signature=SIGNATURE)
        check_callable("slope", slope, signature=SIGNATURE)
        for role, function in (("curvature", curvature), ("conjugate", conjugate)):
            if function is not None:
                check_callable(role, function, signature=SIGNATURE)
        self._value, self._slope, self._curvature = value, slope, curvature
        self._conjugate = conjugate
        self.bound = check_number("bound", bound, above=0.0)
        self.check = check
        self.name = check_name("loss", name, value)
        if self.name in LOSSES:
            raise InputError(
                f"name must not be that of a built-in loss, got {self.name!r}: give another one"
            )

    @property
    def has_curvature(self) -> bool:
        """Whether ℓ″ was given."""
        return self._curvature is not None

    @property
    def has_conjugate(self) -> bool:
        """Whether ℓ* was given, and a duality gap can be made of it."""
        return self._conjugate is not None

    def values(self, z: np.ndarray, y: np.ndarray) -> np.ndarray:
        """ℓ(zᵢ, yᵢ), float64[n]."""
        return self._called("value", self._value, z, y)

    def slopes(self, z: np.ndarray, y: np.ndarray) -> np.ndarray:
        """ℓ′(zᵢ, yᵢ), float64[n]."""
        return self._called("slope", self._slope, z, y)

    def curvatures(self, z: np.ndarray, y: np.ndarray, unit: float = 1.0) -> np.ndarray:
        """ℓ″(zᵢ, yᵢ), float64[n], between 0 and γ; differences are taken in this unit."""
        if self._curvature is not None:
            return np.clip(self._called("curvature", self._curvature, z, y), 0.0, self.bound)
        down, up = around(z, unit)
        rise = self.slopes(up, y) - self.slopes(down, y)
        return np.clip(rise / (up - down), 0.0, self.bound)

    def conjugates(self, theta: np.ndarray, y: np.ndarray) -> np.ndarray:
        """ℓ*(θᵢ, yᵢ), float64[n], infinite outside its domain."""
        assert self._conjugate is not None
        return self._called("conjugate", self._conjugate, theta, y)

    def _called(self, role: str, function: Function, z: np.ndarray, y: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):  # what is no number is judged by who asked
            found = np.asarray(function(z.copy(), y.copy()))
        if found.shape != z.shape or found.dtype.kind not in "iuf":
            raise InputError(
                f"{role} of the loss {self.name!r} must return one real number a sample, in shape "
                f"{z.shape}, got {describe(found if found.ndim else found.item())}: work entry by "
                "entry, as np.where does"
            )
        return np.array(found, dtype=np.float64)

    def __repr__(self) -> str:
        return f"Loss({self.name})"


def unit_of(y: np.ndarray) -> float:
    """What scores are measured in: by how much targets vary, or their size where they do not."""
    spread = float(np.std(y))
    return spread if spread > 0.0 else max(1.0, float(np.abs(y[0])))


def around(z: np.ndarray, unit: float) -> tuple[np.ndarray, np.ndarray]:
    """Scores a little below and above, for differences."""
    # Beside targets of 10⁹ a step must not be lost, nor be longer than what a loss has to tell.
    h = STEP * unit + 1e3 * EPS * np.abs(z)
    return z - h, z + h


def check_name(what: str, name: Any, function: Any) -> str:
    """The name of a term of a user's own: as it is given, or that of its function."""
    found = getattr(function, "__name__", type(function).__name__) if name is None else name
    if isinstance(found, str) and found.strip() and found != "<lambda>":
        return found
    raise InputError(
        f"name must be given to a {what} of your own, got {describe(name)}: runs and checkpoints "
        "know it by its name"
    )
