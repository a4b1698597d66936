"""Dense factorisations in long doubles, which LAPACK does not have.

`householder` makes A = QR column by column, A ← A − v(2vᵀA)/vᵀv, and applies Qᵀ to a right-hand
side on the way. Rows are taken by decreasing size: weights over many decades are then as harmless
as they are with row exchanges (Cox & Higham, BIT 38, 1998). `cholesky` makes A = LLᵀ and says, by
None, that A is not positive definite to working precision. Cost: 2np² and p³/3.
"""

import numpy as np

from nasty.twofold import Long

DEPENDENT = (
    1e-16  # of its length: what is left of a column that depends on others, with digits to spare
)


def householder(A: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """R of A[n, p] and p entries of Qᵀq; Rⱼⱼ = ∞ where column j depends on those before it."""
    p = A.shape[1]
    sizes = np.sqrt(np.sum(A * A, axis=0))
    order = np.argsort(-np.max(np.abs(A), axis=1, initial=0.0), kind="stable")
    M = np.concatenate([A, q[:, None]], axis=1)[order].astype(Long)
    top = 0
    rows = np.zeros(p, dtype=int)  # where the row of each column of R is
    dependent = np.zeros(p, dtype=bool)
    for j in range(p):
        v = M[top:, j].copy()
        size = np.sqrt(np.sum(v * v))
        dependent[j] = not size > DEPENDENT * sizes[j]
        if dependent[j]:
            continue
        v[0] += size if v[0] >= 0 else -size
        M[top:, j:] -= np.multiply.outer(v * (2 / np.sum(v * v)), v @ M[top:, j:])
        rows[j] = top
        top += 1
    R, right = np.triu(M[rows, :p]), M[rows, p]
    R[dependent], right[dependent] = 0, 0
    R[dependent, dependent] = np.inf
    return R, right


def cholesky(A: np.ndarray) -> np.ndarray | None:
    """The lower factor L of A = LLᵀ, or None."""
    L = np.array(A, dtype=Long)
    for j in range(len(L)):
        column = L[j:, j] - L[j:, :j] @ L[j, :j]
        if not column[0] > 0:
            return None
        L[j:, j] = column / np.sqrt(column[0])
    return np.tril(L)


def lower_solve(L: np.ndarray, b: np.ndarray) -> np.ndarray:
    """L⁻¹b for a lower triangle."""
    x = np.array(b, dtype=Long)
    for j in range(len(x)):
        x[j] /= L[j, j]
        x[j + 1 :] -= L[j + 1 :, j] * x[j]
    return x


def upper_solve(R: np.ndarray, b: np.ndarray) -> np.ndarray:
    """R⁻¹b for an upper triangle."""
    x = np.array(b, dtype=Long)
    for j in range(len(x) - 1, -1, -1):
        x[j] /= R[j, j]
        x[:j] -= R[:j, j] * x[j]
    return x
