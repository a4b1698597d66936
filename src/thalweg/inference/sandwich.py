"""The covariance of coefficients at an optimum: what they would vary by, were targets drawn anew.

    minimise  Σᵢ sᵢ ℓ(aᵢᵀβ, yᵢ)        aᵢ the features of a row, and 1 with an intercept

    classical          φH⁻¹                      H = Σ sᵢvᵢaᵢaᵢᵀ: targets vary as the loss says
    HC0                H⁻¹ (Σ uᵢuᵢᵀ) H⁻¹         uᵢ = sᵢℓ′ᵢaᵢ: each by as much as it was off, and ℓ″
                                                 for v, which is its mean if they vary as ℓ says
    HC1                n/(n − q) times that
    HC2, HC3           with ℓ′ᵢ/√(1 − hᵢ), ℓ′ᵢ/(1 − hᵢ), hᵢ = sᵢaᵢᵀH⁻¹aᵢ; of squared losses
    clustered          G/(G − 1)·(n − 1)/(n − q) · H⁻¹ (Σ_g U_gU_gᵀ) H⁻¹,  U_g = Σ_{i ∈ g} uᵢ

Weights s are of precision: a row of weight 2 has half the variance, and is one row. Of K classes
β has K − 1 columns, against the first class, and aᵢ stands in each: H and the sums have blocks.

Columns are taken about their means and in units of their information while H is inverted, so that
years and prices lose no digits, and given back in their own. Rows are looked at a block at a time.

Cost: two passes, three with leverages, of O(nq²K²); memory O(q²K²).
MacKinnon & White, J. Econometrics 29 (1985); Cameron & Miller, J. Human Resources 50 (2015).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse

from thalweg.core.errors import InputError

CLASSICAL, CLUSTERED = "classical", "clustered"
ROBUST = ("HC0", "HC1", "HC2", "HC3")
LEVERAGED = {"HC2": 0.5, "HC3": 1.0}  # the power of 1 − h that ℓ′ is divided by
KINDS = (CLASSICAL, *ROBUST, CLUSTERED)
BLOCK = 1_000_000  # entries of a block of rows
SINGULAR = 1e-12  # of the largest curvature, in units of the diagonal: no digits are left
ARRIVED = 0.01  # standard errors: what a coefficient may be off by


class Rows(NamedTuple):
    """What is known of the rows at the optimum."""

    X: Any  # float[n, p], or a sparse matrix
    has_intercept: bool
    slopes: np.ndarray  # sᵢℓ′ᵢ, float64[n, K]
    information: np.ndarray  # sᵢvᵢ, float64[n, K, K]
    centre: np.ndarray  # float64[p], about which columns are taken; 0 without an intercept

    @property
    def width(self) -> int:
        """Coefficients of a column of β, the intercept the last."""
        return self.X.shape[1] + self.has_intercept

    def blocks(self) -> Iterator[tuple[slice, np.ndarray]]:
        """Ranges of rows, and their a about the centre."""
        n, p = self.X.shape
        step = max(1, BLOCK // max(p, 1))
        for start in range(0, n, step):
            part = self.X[start : start + step]
            part = part.toarray() if scipy.sparse.issparse(part) else np.asarray(part)
            a = part.astype(np.float64) - self.centre
            if self.has_intercept:
                a = np.column_stack([a, np.ones(len(a))])
            yield slice(start, start + len(a)), a


class Spread(NamedTuple):
    """The covariance, and what it was made with."""

    covariance: np.ndarray  # of β column after column, float64[qK, qK]; in the units of X
    about: np.ndarray  # the same where columns are taken about the centre
    off: float  # √(gᵀH⁻¹g/φ): no coefficient is further from the optimum, in standard errors


def spread(rows: Rows, kind: str, scale: float, groups: np.ndarray | None = None) -> Spread:
    """The covariance of this kind; `scale` is φ, `groups` numbers the clusters, int[n]."""
    H, g = _sums(rows)
    inverse = _inverse(H, rows)
    off = float(np.sqrt(max(g @ inverse @ g, 0.0) / scale))
    if kind == CLASSICAL:
        about = scale * inverse
    else:
        middle, factor = _middle(rows, kind, inverse, groups)
        about = factor * inverse @ middle @ inverse
    return Spread(_in_units_of_X(about, rows), about, off)


def _sums(rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """H, and the gradient."""
    K, q = rows.slopes.shape[1], rows.width
    H, g = np.zeros((K, q, K, q)), np.zeros((K, q))
    for part, a in rows.blocks():
        g += rows.slopes[part].T @ a
        for k in range(K):
            for m in range(k + 1):
                H[k, :, m] += (a.T * rows.information[part, k, m]) @ a
    for k in range(K):
        for m in range(k):
            H[m, :, k] = H[k, :, m].T
    return H.reshape(K * q, K * q), g.ravel()


def _inverse(H: np.ndarray, rows: Rows) -> np.ndarray:
    """H⁻¹; refuses an H that has none."""
    d = np.sqrt(np.diag(H))
    if np.all(d > 0.0):
        curvatures, Q = scipy.linalg.eigh(H / np.outer(d, d))
        if curvatures[0] > SINGULAR * curvatures[-1]:
            return (Q / curvatures) @ Q.T / np.outer(d, d)
    raise InputError(
        f"X must have columns that are independent of each other, got {rows.X.shape[1]} of which "
        "some are sums of others, or constant: leave those out, or give none of their intervals"
    )


def _middle(
    rows: Rows, kind: str, inverse: np.ndarray, groups: np.ndarray | None
) -> tuple[np.ndarray, float]:
    """Σuuᵀ over rows or clusters, and the factor before it."""
    n, K = rows.slopes.shape
    dim = K * rows.width
    if kind == CLUSTERED:
        assert groups is not None
        count = int(groups.max()) + 1
        sums = np.zeros((count, dim))
        for part, u in _terms(rows, rows.slopes):
            np.add.at(sums, groups[part], u)
        return sums.T @ sums, count / (count - 1) * (n - 1) / (n - dim)
    slopes = rows.slopes
    if kind in LEVERAGED:
        left = 1.0 - _leverages(rows, inverse)
        # A row that decides a coefficient alone has no residual, whatever its target is.
        slopes = slopes / np.maximum(left, np.finfo(float).eps)[:, None] ** LEVERAGED[kind]
    middle = np.zeros((dim, dim))
    for _, u in _terms(rows, slopes):
        middle += u.T @ u
    return middle, n / (n - dim) if kind == "HC1" else 1.0


def _terms(rows: Rows, slopes: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
    """Ranges of rows, and their u, float64[m, Kq]."""
    for part, a in rows.blocks():
        yield part, (slopes[part][:, :, None] * a[:, None, :]).reshape(len(a), -1)


def _leverages(rows: Rows, inverse: np.ndarray) -> np.ndarray:
    """hᵢ, float64[n], of one score."""
    found = np.empty(len(rows.slopes))
    for part, a in rows.blocks():
        found[part] = rows.information[part, 0, 0] * np.einsum("ij,jk,ik->i", a, inverse, a)
    return found


def _in_units_of_X(covariance: np.ndarray, rows: Rows) -> np.ndarray:
    """That of intercepts of the columns as they came: b − x̄ᵀw in place of b."""
    if not rows.has_intercept:
        return covariance
    K, q = rows.slopes.shape[1], rows.width
    T = np.eye(q)
    T[-1, :-1] = -rows.centre
    whole = np.kron(np.eye(K), T)
    return whole @ covariance @ whole.T
