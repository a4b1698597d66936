"""The data of the benchmark problems, read from the folder that `THALWEG_DATA` names.

Without that variable it is `../shared/data`, beside the repository. Everything becomes float64,
sparse data CSR; `covtype` and `beijing-air` (its target too) are standardised, since no model here
has an intercept. All rows are used, those that the files call test rows too.
"""

from __future__ import annotations

import gzip
import os
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"


def is_at_hand() -> bool:
    """Whether there is such a folder."""
    return Path(os.environ.get("THALWEG_DATA", SHARED)).is_dir()


def folder() -> Path:
    """Where the data is."""
    path = Path(os.environ.get("THALWEG_DATA", SHARED))
    if not is_at_hand():
        raise SystemExit(f"THALWEG_DATA must name the folder of the data, got {str(path)!r}")
    return path


@lru_cache(maxsize=1)
def load(name: str) -> tuple[Any, np.ndarray]:
    """X, dense float64[n, p] or CSR, and y: ±1, class numbers or targets."""
    if name == "a9a":
        X, y = load_svmlight_file(str(folder() / "a9a"))
        return as_csr(X), y
    if name == "mnist":
        return images("train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz")
    with np.load(folder() / f"{name}.npz") as parts:
        y = parts["y"].astype(np.float64)
        if "indptr" in parts:
            triple = (parts["data"].astype(np.float64), parts["indices"], parts["indptr"])
            return as_csr(sparse.csr_matrix(triple, shape=tuple(parts["shape"]))), y
        X = parts["X"].astype(np.float64)
    if name == "covtype":
        return standardised(X), signs(y == 2)
    if name == "beijing-air":
        return standardised(X), standardised(y)
    return X, signs(y == y.max())


def images(pixels: str, labels: str) -> tuple[np.ndarray, np.ndarray]:
    """Grey values in [0, 1] and digits from two idx files."""
    where = folder() / "mnist"
    y = np.frombuffer(gzip.decompress((where / labels).read_bytes()), np.uint8, offset=8)
    X = np.frombuffer(gzip.decompress((where / pixels).read_bytes()), np.uint8, offset=16)
    return X.reshape(len(y), -1) / 255.0, y.astype(np.float64)


def as_csr(X: Any) -> Any:
    """CSR with sorted int32 indices, which every tool takes as it is."""
    X = sparse.csr_matrix(X)
    X.sort_indices()
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X


def standardised(values: np.ndarray) -> np.ndarray:
    """Mean 0 and variance 1 along the rows; a constant column becomes 0."""
    spread = values.std(axis=0)
    return (values - values.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def signs(is_positive: np.ndarray) -> np.ndarray:
    """+1 where the claim holds, −1 elsewhere."""
    return np.where(is_positive, 1.0, -1.0)
