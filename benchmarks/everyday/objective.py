"""What each model minimises, evaluated in extended precision on centred data.

    F(w, b) = c Σᵢ sᵢ ℓ(xᵢᵀw + b, yᵢ) + l1‖w‖₁ + (l2/2)‖w‖²  [ + l1|b| + (l2/2)b² ]

s are the weights of the samples. The bracket is LinearSVC's, whose intercept is penalised.

    Ridge                ℓ = ½(z − y)²          c = 2      l2 = 2 alpha
    Lasso, ElasticNet    ℓ = ½(z − y)²          c = 1/Σs   l1 = alpha·ratio, l2 = alpha(1 − ratio)
    LogisticRegression   ℓ = log(1 + e^(−yz))   c = C      l1 = ratio, l2 = 1 − ratio
                         or −log softmax(z)_y   c = 1      l1 = l2 = 0 for C = ∞
    LinearSVC            ℓ = max(0, 1 − yz)²    c = C      l2 = 1, or l1 = 1 for penalty="l1"

with ratio = `l1_ratio`. With m the columns' means and σ their spreads, the scores are z = Aσw +
(b + mᵀw) for A = (X − m)/σ: in A nothing is lost to an offset or to a unit. A and the scores are
`longdouble` (64 bits of fraction on x86), and so is the sum. Several targets, or one class
against the rest, are a problem each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from .case import CLASSIFIERS, Data

LONG = np.longdouble
DENSE_ENTRIES = 10_000_000  # a sparse matrix of at most so many is judged as a dense one


class Terms(NamedTuple):
    """F by its constants."""

    loss: str  # "squared", "logistic", "multinomial" or "squared hinge"
    c: float
    l1: float
    l2: float
    intercept: str  # "none", "free" or "penalised"


def terms(model: str, params: Mapping[str, Any], weight: float, classes: int) -> Terms:
    """F of a scikit-learn model; `weight` is Σs."""
    intercept = "free" if params.get("fit_intercept", True) else "none"
    if model == "Ridge":
        return Terms("squared", 2.0, 0.0, 2.0 * params.get("alpha", 1.0), intercept)
    if model in ("Lasso", "ElasticNet"):
        alpha = params.get("alpha", 1.0)
        ratio = 1.0 if model == "Lasso" else params.get("l1_ratio", 0.5)
        return Terms("squared", 1 / weight, alpha * ratio, alpha * (1 - ratio), intercept)
    C = params.get("C", 1.0)
    if model == "LinearSVC":
        l1 = float(params.get("penalty", "l2") == "l1")
        how = "penalised" if intercept == "free" else "none"
        return Terms("squared hinge", C, l1, 1 - l1, how)
    loss = "logistic" if classes == 2 else "multinomial"
    if np.isinf(C):
        return Terms(loss, 1.0, 0.0, 0.0, intercept)
    ratio = params.get("l1_ratio", 0.0)
    return Terms(loss, C, ratio, 1 - ratio, intercept)


class Dense:
    """A = (X − m)/σ, held."""

    def __init__(self, X: np.ndarray, mean: np.ndarray, unit: np.ndarray) -> None:
        self.A = (X.astype(LONG) - mean) / unit
        self.A64 = self.A.astype(np.float64)
        self.shape = X.shape

    def times(self, u: np.ndarray) -> np.ndarray:
        """A u."""
        return (self.A64 if u.dtype == np.float64 else self.A) @ u

    def pull(self, r: np.ndarray) -> np.ndarray:
        """Aᵀr."""
        return (self.A64 if r.dtype == np.float64 else self.A).T @ r

    def columns(self, which: np.ndarray, dtype: type = np.float64) -> np.ndarray:
        """Some columns of A."""
        A = self.A64 if dtype == np.float64 else self.A
        return A if which.all() else A[:, which]


class Sparse:
    """A = (X − m)/σ of a sparse X, which stays sparse."""

    def __init__(self, X: Any, mean: np.ndarray, unit: np.ndarray) -> None:
        self.X64, self.shape = scipy.sparse.csr_array(X).astype(np.float64), X.shape
        self.X = self.X64.astype(LONG)
        self.by_column = self.X64.tocsc()
        self.mean, self.unit = mean, unit

    def times(self, u: np.ndarray) -> np.ndarray:
        """A u."""
        X = self.X64 if u.dtype == np.float64 else self.X
        w = u / self.unit.astype(u.dtype).reshape(-1, *[1] * (u.ndim - 1))
        return X @ w - self.mean.astype(u.dtype) @ w

    def pull(self, r: np.ndarray) -> np.ndarray:
        """Aᵀr."""
        X = self.X64 if r.dtype == np.float64 else self.X
        shape = (-1, *[1] * (r.ndim - 1))
        mean, unit = (a.astype(r.dtype).reshape(shape) for a in (self.mean, self.unit))
        return (X.T @ r - mean * r.sum(axis=0)) / unit

    def columns(self, which: np.ndarray, dtype: type = np.float64) -> np.ndarray:
        """Some columns of A, dense."""
        picked = self.by_column[:, np.flatnonzero(which)].toarray().astype(dtype)
        return (picked - self.mean[which].astype(dtype)) / self.unit[which].astype(dtype)


class Features(NamedTuple):
    """X as F sees it."""

    A: Dense | Sparse
    mean: np.ndarray  # m, longdouble[p]; 0 without an intercept
    spread: np.ndarray  # σ about m, longdouble[p]; 0 where a column is constant
    unit: np.ndarray  # the same with 1 in the place of 0


def features(X: Any, share: np.ndarray, is_centred: bool) -> Features:
    """Measure the columns, with the samples' shares of all weight, and divide by what was found."""
    if scipy.sparse.issparse(X) and X.shape[0] * X.shape[1] <= DENSE_ENTRIES:
        X = X.toarray()
    is_sparse = scipy.sparse.issparse(X)
    long = (scipy.sparse.csr_array(X) if is_sparse else X).astype(LONG)
    mean = share @ long if is_centred else np.zeros(X.shape[1], dtype=LONG)
    if is_sparse:
        spread = np.sqrt(np.maximum(share @ long.multiply(long) - mean**2, 0))
        largest = abs(X).max(axis=0).toarray().ravel()
    else:
        spread, largest = np.sqrt(share @ (long - mean) ** 2), np.abs(X).max(axis=0)
    spread[spread <= 1e-15 * largest] = 0
    unit = np.where(spread > 0, spread, LONG(1))
    return Features((Sparse if is_sparse else Dense)(X, mean, unit), mean, spread, unit)


class Problem:
    """F of one problem, as a function of u = σw and of the intercept of centred data β = b + mᵀw.

    `Y` is float[n], ±1 for classes, or one-hot float[n, K] with the multinomial loss. Points are
    (u, β) of shape [p, K] and [K], with K = 1 for all other losses.
    """

    def __init__(self, X: Features, Y: np.ndarray, weights: np.ndarray, terms: Terms) -> None:
        self.A, self.mean, self.spread, self.unit = X
        self.n, self.p = self.A.shape
        self.Y = np.asarray(Y, dtype=LONG).reshape(self.n, -1)
        self.s = weights.astype(LONG)[:, None]
        self.has_column_of_ones = _needs_column(terms)
        self.terms = terms._replace(intercept="none") if self.has_column_of_ones else terms

    @property
    def K(self) -> int:
        """How many scores a row has."""
        return self.Y.shape[1] if self.terms.loss == "multinomial" else 1

    @property
    def is_free(self) -> bool:
        """Whether β is a variable."""
        return self.terms.intercept != "none"

    def enter(self, coef: np.ndarray, intercept: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(u, β) of coefficients [K, p] and intercepts [K], as an estimator holds them."""
        w, b = coef.T.astype(LONG), intercept.astype(LONG)
        if self.has_column_of_ones:
            w, b = np.vstack([w, b]), np.zeros_like(b)
        return w * self.unit[:, None], b + self.mean @ w

    def leave(self, u: np.ndarray, beta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """w [p, K] and b [K] of a point."""
        w = u / self.unit[:, None]
        return w, beta - self.mean @ w

    def scores(self, u: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """Z, [n, K]."""
        return self.A.times(u) + beta

    def value(self, u: np.ndarray, beta: np.ndarray, Z: np.ndarray | None = None) -> Any:
        """F, given the scores if they are known."""
        Z = self.scores(u, beta) if Z is None else Z
        w, b = self.leave(u, beta)
        _, c, l1, l2, intercept = self.terms
        penalty = l1 * np.abs(w).sum() + LONG(l2) / 2 * (w**2).sum()
        if intercept == "penalised":
            penalty += LONG(l2) / 2 * (b**2).sum()
        return LONG(c) * (self.s[:, 0] * self.losses(Z)).sum() + penalty

    def losses(self, Z: np.ndarray) -> np.ndarray:
        """ℓ by row."""
        Y, loss = self.Y, self.terms.loss
        if loss == "multinomial":
            top = Z.max(axis=1)
            return top + np.log(np.exp(Z - top[:, None]).sum(axis=1)) - (Z * Y).sum(axis=1)
        Y, Z = Y[:, 0], Z[:, 0]
        if loss == "squared":
            return (Z - Y) ** 2 / 2
        if loss == "logistic":
            return np.log1p(np.exp(-np.abs(Z))) + np.maximum(-Y * Z, 0)
        return np.maximum(1 - Y * Z, 0) ** 2

    def slopes(self, Z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """c·s·ℓ′ [n, K], and c·s·ℓ″ [n, 1] or, with several classes, the softmax [n, K]."""
        Y, loss, cs = self.Y, self.terms.loss, LONG(self.terms.c) * self.s
        if loss == "squared":
            return cs * (Z - Y), np.broadcast_to(cs, Z.shape)
        if loss == "multinomial":
            P = np.exp(Z - Z.max(axis=1, keepdims=True))
            P /= P.sum(axis=1, keepdims=True)
            return cs * (P - Y), P
        if loss == "logistic":
            e = np.exp(-np.abs(Z))
            q = np.where(Y * Z > 0, e, LONG(1)) / (1 + e)  # 1/(1 + e^(yz))
            return -cs * Y * q, cs * e / (1 + e) ** 2
        short = np.maximum(1 - Y * Z, 0)
        return -2 * cs * Y * short, 2 * cs * (short > 0)

    def gradient(self, u: np.ndarray, beta: np.ndarray, R: np.ndarray) -> tuple[Any, Any]:
        """∇F without its l1 term, by u and by β, given R = c·s·ℓ′."""
        l2 = LONG(self.terms.l2)
        w, b = self.leave(u, beta)
        by_w, by_beta = l2 * w, R.sum(axis=0)
        if self.terms.intercept == "penalised":
            by_w = by_w - l2 * np.outer(self.mean, b)
            by_beta = by_beta + l2 * b
        return self.A.pull(R) + by_w / self.unit[:, None], by_beta

    def null(self) -> Any:
        """F of a constant prediction, the best one for all losses but the squared hinge.

        Where a penalty holds the intercept, as any coefficient, that of w = 0.
        """
        share = self.s / self.s.sum()
        if not self.is_free or self.terms.intercept == "penalised":
            Z = np.zeros((self.n, self.K), dtype=LONG)
        elif self.terms.loss == "multinomial":
            Z = np.broadcast_to(
                np.log(np.maximum((share * self.Y).sum(axis=0), 1e-300)), self.Y.shape
            )
        else:
            mean = (share * self.Y).sum()
            if self.terms.loss == "logistic":
                mean = np.log1p(mean) - np.log1p(-mean)
            Z = np.full((self.n, 1), mean)
        return LONG(self.terms.c) * (self.s[:, 0] * self.losses(Z)).sum()


def _needs_column(terms: Terms) -> bool:
    """Whether b is the coefficient of a column of ones: |b| in F is not a sum over (u, β)."""
    return terms.l1 > 0 and terms.intercept == "penalised"


def problems(model: str, params: Mapping[str, Any], data: Data) -> Iterator[Problem]:
    """The problems that a fit solves, in the order of the rows of `coef_`."""
    X, y, weights = data
    n = X.shape[0]
    s = np.ones(n) if weights is None else weights
    classes = np.unique(y) if model in CLASSIFIERS else np.empty(0)
    what = terms(model, params, float(s.sum()), len(classes))
    if _needs_column(what):
        X = np.column_stack([X, np.ones(n)])
    is_centred = what.intercept != "none" and not _needs_column(what)
    seen = features(X, (s / s.sum()).astype(LONG), is_centred)
    if model not in CLASSIFIERS:
        outputs = list(np.asarray(y, dtype=float).reshape(n, -1).T)
    elif what.loss == "multinomial":
        outputs = [y[:, None] == classes]
    else:
        positives = classes[1:] if len(classes) == 2 else classes
        outputs = [np.where(y == positive, 1.0, -1.0) for positive in positives]
    for Y in outputs:
        yield Problem(seen, Y, s, what)
