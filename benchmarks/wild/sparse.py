"""Sparse features: words in documents, and tables of categories, a column for each level.

A word or level of rank r is drawn in proportion to (r + 3)^−a, so that a few columns are long and
most are short, as in text and among customers.
"""

import numpy as np
import scipy.sparse

from wild.sizes import Size, power, whole
from wild.units import as_table

EXPONENTS = (0.5, 1.5)
MOST_LEVELS = 12  # categories, one row has that many entries
DENSE_ENTRIES = 2_000_000  # above, nobody stores a table of categories by all its zeros


def ranked(rng: np.random.Generator, levels: int, count: int, exponent: float) -> np.ndarray:
    """So many levels, drawn by a power law, in no order."""
    share = np.cumsum((np.arange(levels) + 3.0) ** -exponent)
    drawn = np.searchsorted(share, rng.random(count) * share[-1])
    return rng.permutation(levels)[np.minimum(drawn, levels - 1)]


def text(rng: np.random.Generator, size: Size) -> tuple[scipy.sparse.csr_matrix, str]:
    """CSR with columns by a power law: counts, tf-idf, zeros and ones, or any numbers."""
    n, p, _, per_row = size
    exponent = rng.uniform(*EXPONENTS)
    lengths = np.maximum(1, rng.poisson(per_row * rng.gamma(4, 0.25, size=n)))
    rows = np.repeat(np.arange(n), lengths)
    columns = ranked(rng, p, len(rows), exponent)
    X = scipy.sparse.coo_matrix((np.ones(len(rows)), (rows, columns)), (n, p)).tocsr()
    words = ["hashed"] if rng.random() < 0.3 else []
    if not words:
        X = X[:, np.diff(X.tocsc().indptr) > 0]  # what never occurred has no column
    kind = str(rng.choice(["tf-idf", "counts", "zeros and ones", "numbers"]))
    if kind == "tf-idf":
        documents = np.bincount(X.indices, minlength=X.shape[1])
        X.data *= (1 + np.log((1 + n) / (1 + documents)))[X.indices]
        X.data /= np.repeat(np.sqrt(X.multiply(X).sum(axis=1).A1), np.diff(X.indptr))
    elif kind == "zeros and ones":
        X.data[:] = 1.0
    elif kind == "numbers":
        X.data = np.exp(rng.standard_normal(X.nnz)) * power(rng, 1e-2, 1e2)
    if rng.random() < 0.3:
        X = X.astype(np.float32)
    words += [kind, f"{X.nnz / n:.0f} a row", f"columns r^-{exponent:.1f}"]
    return X, f"CSR {X.dtype.name}, " + ", ".join(words)


def categories(rng: np.random.Generator, size: Size) -> tuple[scipy.sparse.csr_matrix, str]:
    """A column for each level of several categories, and some columns of numbers beside them."""
    n = size.n
    count = int(np.clip(size.per_row, 1, MOST_LEVELS))
    # One category has most of the levels, such as the customer's number, and the others have few.
    levels = [max(2, size.p // 2)] + [
        whole(rng, 2, max(2, size.p // count)) for _ in range(1, count)
    ]
    parts, exponent = [], rng.uniform(*EXPONENTS)
    for of in levels:
        code = np.unique(ranked(rng, of, n, exponent), return_inverse=True)[1]
        shape = (n, int(code.max()) + 1)
        parts.append(scipy.sparse.csr_matrix((np.ones(n), code, np.arange(n + 1)), shape))
    words = [f"{count} categories one-hot"]
    if rng.random() < 0.5:
        Z = rng.standard_normal((n, int(rng.integers(1, 7))))
        words.append(as_table(rng, Z))
        parts.append(scipy.sparse.csr_matrix(Z))
    X = scipy.sparse.hstack(parts, format="csr")
    if rng.random() < 0.25:
        X = X.astype(np.float32)
    if X.shape[0] * X.shape[1] <= DENSE_ENTRIES and rng.random() < 0.3:
        return X.toarray(), f"dense {X.dtype.name}, " + ", ".join(words)
    return X, f"CSR {X.dtype.name}, " + ", ".join(words)
