"""Which columns are combinations of others, and how nearly so are the rest?

R is the matrix of correlations of the columns (of cosines without an intercept), 1 on its diagonal.
Cholesky's factorisation with pivoting takes the column that the ones before explain least, again
and again, until the share 1 − R²ⱼ that is left of every other one is rounding: those are dependent,

    xⱼ/σⱼ = Σₖ βₖ xₖ/σₖ,     β = R₁₁⁻¹R₁ⱼ        over the columns k that were taken

Of those that were taken, the variance inflation VIFⱼ = (R₁₁⁻¹)ⱼⱼ = 1/(1 − R²ⱼ) says how nearly
the others explain them: the variance of an unpenalised coefficient is that many times what it would
be alone. As a diagonal entry of R⁻¹ it is at most 1/λ_min(R), so that

    κ(R) ≥ max VIF        no scaling of the columns goes around that.

Cost: O(p³), and the Gram matrix before it, O(np²) and p² numbers.
Marquardt, Technometrics 12 (1970), for the VIF.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_solve
from scipy.linalg.lapack import dpstrf

DEPENDENT = 1e-11  # 1 − R² that is rounding
TOLD = 1e-6  # of the largest: a smaller β is rounding


class Combination(NamedTuple):
    """A column that others add up to, up to a constant where there is an intercept."""

    column: int
    parts: dict[int, float]  # βₖσⱼ/σₖ by column: in the units of X


class Dependence(NamedTuple):
    """What was found among some columns."""

    combinations: tuple[Combination, ...]
    inflation: dict[int, float]  # VIF by column, of those that no others add up to


def dependence(R: np.ndarray, columns: np.ndarray, lengths: np.ndarray) -> Dependence:
    """Judge R, float64[k, k], of the `columns`, int64[k], whose σ are `lengths`, float64[k]."""
    if not columns.size:
        return Dependence((), {})
    factor, pivots, rank, _ = dpstrf(R, tol=DEPENDENT, lower=1)
    taken, left = pivots[:rank] - 1, pivots[rank:] - 1
    factored = np.tril(factor[:rank, :rank]), True
    beta = cho_solve(factored, R[np.ix_(taken, left)])
    combinations = []
    for j, b in zip(left, beta.T, strict=True):
        told = np.flatnonzero(np.abs(b) > TOLD * np.abs(b).max(initial=0.0))
        parts = {
            int(columns[k]): float(b[i] * lengths[j] / lengths[k])
            for i, k in sorted(((i, taken[i]) for i in told), key=lambda pair: pair[1])
        }
        combinations.append(Combination(int(columns[j]), parts))
    vif = np.diag(cho_solve(factored, np.eye(rank)))
    inflation = {int(columns[j]): float(v) for j, v in zip(taken, vif, strict=True)}
    return Dependence(tuple(sorted(combinations)), inflation)
