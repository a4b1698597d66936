"""A case as the peers are told it.

    F(w, b) = Σᵢ cᵢ ℓ(x̂ᵢᵀw + b, yᵢ) + penalties        x̂ = (x − m)/d where standardized, else x

m and d are prepared for the peers, outside of any clock; Thalweg is given the features as they are.
Sparse features are divided by d and not centred, which with an intercept is the same problem.
Two classes are ±1.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse
from peers.problems import Problem, Raw, standardized

from wild.cases import Case
from wild.penalties import scaled_moments


def told(case: Case) -> Problem:
    """The problem of a case."""
    X, raw = case.X, None
    if case.standardize:
        means, scales, _ = scaled_moments(case)
        raw = Raw(X, 0.0 * means if scipy.sparse.issparse(X) else means, scales)
        X = standardized(*raw).astype(X.dtype)
    return Problem(
        name=case.description,
        X=X,
        y=target(case),
        loss=case.loss,
        l1=case.l1,
        l2=case.l2,
        fit_intercept=case.fit_intercept,
        sample_weight=case.sample_weight,
        delta=case.delta,
        raw=raw,
    )


def target(case: Case) -> np.ndarray:
    """Numbers as they are, two classes as ±1, more as they are."""
    if case.loss in ("logistic", "squared-hinge"):
        return np.where(case.y == np.max(case.y), 1.0, -1.0)
    return case.y.astype(np.float64)
