"""An intercept that the penalty holds too, as liblinear has it: the weight of a constant feature.

    z = xᵀw + s·v,    b = s·v            s = `intercept_scaling`, v penalised as any coefficient

The larger s, the smaller v for the same b, and the less the penalty matters to b.
Cost: one copy of X. Fan et al., JMLR 9 (2008).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse


def with_constant(X: Any, scaling: float) -> Any:
    """X with one more column, constant at `scaling`; a fresh matrix of the same kind."""
    column = np.full((X.shape[0], 1), scaling, dtype=X.dtype)
    if scipy.sparse.issparse(X):
        return scipy.sparse.hstack([X, scipy.sparse.csr_array(column)], format="csr")
    return np.hstack([X, column])


def without_constant(W: np.ndarray, scaling: float) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients float[K, p] and intercepts float[K], from weights float[K, p + 1]."""
    return W[:, :-1], scaling * W[:, -1]
