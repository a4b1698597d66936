"""How sure a prediction is: the interval of a mean, and of a single target.

    z = aᵀβ      var z = aᵀCa      the interval of z, and μ of its ends, μ being monotone
    a target     z ± T⁻¹·√(aᵀCa + φ), of squared losses: errors are normal, with variance φ

C is the covariance of β where columns are taken about a centre, and the intercept is the score
there: of columns that are far from zero it has digits left. φ is that of a row of weight 1.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from thalweg.core.errors import InputError
from thalweg.inference.family import Family


class Fitted(NamedTuple):
    """A model of one score."""

    family: Family
    coefficients: (
        np.ndarray
    )  # in the units of X, the intercept the last if there is one, float64[q]
    centre: np.ndarray  # float64[p]
    covariance: np.ndarray  # C, float64[q, q]
    dispersion: float  # φ; 1 where nothing is estimated


def predicted(
    model: Fitted, X: Any, reach: float, *, observations: bool
) -> tuple[np.ndarray, np.ndarray]:
    """The mean of each row, float64[n], and its interval, float64[2, n]; `reach` is T⁻¹."""
    if observations and not model.family.has_exact_spread:
        raise InputError(
            "observations=True needs a squared loss, whose errors are normal, got one of "
            f"{model.family.name}: leave it out for the interval of the mean"
        )
    p = len(model.centre)
    A = X.toarray() if scipy.sparse.issparse(X) else np.asarray(X, dtype=np.float64)
    if A.ndim != 2 or A.shape[1] != p:
        raise InputError(
            f"X must be float[n, {p}], got {A.shape}: give the columns that the fit has seen"
        )
    z = A @ model.coefficients[:p]
    A = A - model.centre
    if len(model.coefficients) > p:
        z = z + model.coefficients[-1]
        A = np.column_stack([A, np.ones(len(A))])
    variance = np.einsum("ij,jk,ik->i", A, model.covariance, A)
    width = reach * np.sqrt(variance + (model.dispersion if observations else 0.0))
    return model.family.mean(z), model.family.mean(np.stack([z - width, z + width]))
