"""One small matrix in every storage that kernels read, and what it stands for."""

import numpy as np
import scipy.sparse

from thalweg.kernels.rows import CSR, Centred, ScaledCSR, Standardized


def matrix(dtype):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((7, 5)) * (rng.random((7, 5)) < 0.5)
    X[:, 3] = rng.standard_normal(7) + 4.0  # every row has it
    return X.astype(dtype)


def standards():
    rng = np.random.default_rng(3)
    return rng.standard_normal(5), 0.5 + rng.random(5)


def storages(dtype):
    X, (means, scales) = matrix(dtype), standards()
    sparse = scipy.sparse.csr_array(X)
    narrow = sparse.data, sparse.indices.astype(np.int32), sparse.indptr.astype(np.int32)
    return {
        "C": X,
        "F": np.asfortranarray(X),
        "csr32": CSR(*narrow),
        "csr64": CSR(sparse.data, sparse.indices.astype(np.int64), sparse.indptr.astype(np.int64)),
        "centred": Centred(X, means),
        "centred F": Centred(np.asfortranarray(X), means),
        "standardized": Standardized(X, means, scales),
        "scaled": ScaledCSR(*narrow, scales),
    }


def seen(storage, dtype):
    """The matrix that the storage stands for, float64[n, p]."""
    X, (means, scales) = matrix(dtype).astype(np.float64), standards()
    if storage == "standardized":
        return (X - means) * scales
    if storage.startswith("centred"):
        return X - means
    return X * scales if storage == "scaled" else X
