"""svmlight, also called libsvm: a line is "label index:value index:value …", what is left out is 0.

Indices begin at 1, or at 0 in some files: a file in which a 0 occurs begins there. Which it was is
remembered, because a later file may happen to leave that feature out.
"""

from __future__ import annotations

from pathlib import Path

import scipy.sparse

from thalweg.core.errors import InputError
from thalweg.core.text import one_line
from thalweg.tables.budget import Budget, budget_of
from thalweg.tables.file import opened
from thalweg.tables.format import SVMLIGHT
from thalweg.tables.raw import Raw


def read_svmlight(
    path: Path, *, first_index: int | None = None, width: int = 0, budget: Budget | None = None
) -> Raw:
    """Sparse features and labels of `path`; `first_index` is 0, 1, or found.

    `width` features are known from earlier data.
    """
    from sklearn.datasets import load_svmlight_file

    budget = budget or budget_of()
    with opened(path, budget) as stream:
        try:
            X, y = load_svmlight_file(stream, zero_based=True)
        except (ValueError, OverflowError) as problem:
            raise InputError(
                f"{path} cannot be read as svmlight ({one_line(problem)}): every line must be one "
                "number, then index:value pairs with rising indices"
            ) from problem
    if X.shape[0] == 0:
        raise InputError(f"{path} holds no rows: every line must be label index:value …")
    if X.nnz == 0:
        raise InputError(f"{path} holds labels and not one feature: add index:value pairs")
    budget.check_shape(path, X.shape, X.nnz, width)
    lowest = int(X.indices.min())
    if first_index is None:
        first_index = min(lowest, 1)
    if lowest < first_index:
        raise InputError(
            f"{path} must number its features from {first_index}, as the first data did, got "
            f"{lowest}: add 1 to every index"
        )
    X = scipy.sparse.csr_array(
        (X.data, X.indices - first_index, X.indptr), shape=(X.shape[0], X.shape[1] - first_index)
    )
    return Raw(X, SVMLIGHT, y=y, first_index=first_index)
