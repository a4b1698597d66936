"""The sixteen problems, and their objective in float64 outside of every tool.

    F(w) = (1/n) Σᵢ ℓ(xᵢᵀw, yᵢ) + (l2/2)‖w‖² + l1‖w‖₁,   no intercept

ℓ is squared ½(z − y)², logistic or multinomial. l2 is given in units of 1/n, l1 as a share of
λ_max = ‖∇ of the loss at 0‖∞, above which w = 0 is optimal. The elastic net has l2 = l1, which is
l1_ratio = ½ in scikit-learn's words. How good a w is: (F(w) − F*) / (F(0) − F*).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import logsumexp

from peers.data import load, signs


@dataclass(frozen=True)
class Spec:
    """A problem before its data is read."""

    name: str
    data: str
    loss: str
    l2_times_n: float = 0.0
    l1_share: float = 0.0  # of λ_max
    l2_per_l1: float = 0.0


SPECS = (
    Spec("logistic-a9a", "a9a", "logistic", l2_times_n=1.0),
    Spec("logistic-a9a-weak", "a9a", "logistic", l2_times_n=0.01),
    Spec("logistic-a9a-l1", "a9a", "logistic", l1_share=0.01),
    Spec("logistic-covtype", "covtype", "logistic", l2_times_n=1.0),
    Spec("logistic-covtype-weak", "covtype", "logistic", l2_times_n=0.01),
    Spec("logistic-covtype-l1", "covtype", "logistic", l1_share=0.01),
    Spec("logistic-imdb", "imdb", "logistic", l2_times_n=1.0),
    Spec("logistic-imdb-weak", "imdb", "logistic", l2_times_n=0.01),
    Spec("logistic-imdb-l1", "imdb", "logistic", l1_share=0.01),
    Spec("logistic-mnist-odd", "mnist", "logistic", l2_times_n=1.0),
    Spec("multinomial-mnist", "mnist", "multinomial", l2_times_n=1.0),
    Spec("multinomial-20news", "20news", "multinomial", l2_times_n=1.0),
    Spec("ridge-beijing", "beijing-air", "squared", l2_times_n=1.0),
    Spec("lasso-beijing", "beijing-air", "squared", l1_share=0.01),
    Spec("lasso-arcene", "arcene", "squared", l1_share=0.1),
    Spec("elastic-net-ALLAML", "ALLAML", "squared", l1_share=0.1, l2_per_l1=1.0),
)


@dataclass(frozen=True, eq=False)
class Problem:
    """One problem with its data."""

    name: str
    X: Any  # float64[n, p], C-ordered or CSR
    y: np.ndarray  # ±1, targets, or 0 … K−1
    loss: str
    l1: float
    l2: float

    @property
    def n(self) -> int:
        """Number of samples."""
        return int(self.X.shape[0])

    @property
    def p(self) -> int:
        """Number of features."""
        return int(self.X.shape[1])

    @property
    def is_sparse(self) -> bool:
        """Whether X is CSR."""
        return not isinstance(self.X, np.ndarray)

    def value(self, w: np.ndarray) -> float:
        """F(w), w of shape [p] or [p, K]."""
        w = np.asarray(w, dtype=np.float64)
        if self.loss == "multinomial":
            scores = self.X @ w.reshape(self.p, -1)
            own = scores[np.arange(self.n), self.y.astype(np.intp)]
            loss = float(np.mean(logsumexp(scores, axis=1) - own))
        elif self.loss == "logistic":
            loss = float(np.mean(np.logaddexp(0.0, -self.y * (self.X @ w.ravel()))))
        else:
            residual = self.X @ w.ravel() - self.y
            loss = 0.5 * float(residual @ residual) / self.n
        w = w.ravel()
        return loss + 0.5 * self.l2 * float(w @ w) + self.l1 * float(np.abs(w).sum())

    @cached_property
    def at_zero(self) -> float:
        """F(0)."""
        outputs = len(np.unique(self.y)) if self.loss == "multinomial" else 1
        return self.value(np.zeros((self.p, outputs)))

    def slice(self, rows: int = 300) -> Problem:
        """About so many rows spread over the data, to warm compiled code on."""
        take = slice(None, None, max(1, self.n // rows))
        return Problem(self.name, self.X[take], self.y[take], self.loss, self.l1, self.l2)

    def __str__(self) -> str:
        storage = f"sparse, {self.X.nnz:,} entries" if self.is_sparse else "dense"
        penalties = ", ".join(
            f"{name} = {value:.3g}" for name, value in (("l1", self.l1), ("l2", self.l2)) if value
        )
        return f"{self.name}: {self.n:,} × {self.p:,} {storage}, {penalties}"


def largest_l1(X: Any, y: np.ndarray, loss: str) -> float:
    """λ_max: the smallest l1 at which w = 0 is optimal, for two classes or targets."""
    slope = 0.5 if loss == "logistic" else 1.0
    return slope * float(np.abs(X.T @ y).max()) / X.shape[0]


def build(spec: Spec) -> Problem:
    """Read the data of a problem and set its penalties."""
    X, y = load(spec.data)
    if spec.data == "mnist" and spec.loss == "logistic":
        y = signs(y % 2 == 1)
    l1 = spec.l1_share * largest_l1(X, y, spec.loss) if spec.l1_share else 0.0
    l2 = spec.l2_times_n / X.shape[0] + spec.l2_per_l1 * l1
    return Problem(spec.name, X, y, spec.loss, l1, l2)
