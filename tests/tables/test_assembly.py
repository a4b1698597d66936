import numpy as np
import polars as pl
import pytest

from thalweg.core.errors import InputError
from thalweg.tables import assembly
from thalweg.tables.assembly import assemble, is_mostly_zeros
from thalweg.tables.column import Column

COLUMNS = [Column("n"), Column("w", "text", ("a", "b", "c")), Column("f", "flag", fill=True)]
SERIES = [
    pl.Series("n", [1.5, 0.0, -2.0, 4.0]),
    pl.Series("w", ["b", "a", "z", "c"]),
    pl.Series("f", [True, False, None, False]),
]
BY_HAND = [[1.5, 0, 1, 0, 1], [0, 1, 0, 0, 0], [-2, 0, 0, 0, 1], [4, 0, 0, 1, 0]]


@pytest.mark.parametrize("block", [1, 7, 1 << 18])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_one_hot_by_hand_in_blocks_of_any_size(monkeypatch, block, dtype):
    monkeypatch.setattr(assembly, "BLOCK", block)
    dense, notes = assemble(COLUMNS, SERIES, dtype=dtype, sparse=False)
    assert dense.tolist() == BY_HAND
    sparse, again = assemble(COLUMNS, SERIES, dtype=dtype, sparse=True)
    assert sparse.toarray().tolist() == BY_HAND
    assert sparse.nnz == np.count_nonzero(BY_HAND)
    assert sparse.has_canonical_format
    assert sparse.indices.dtype == sparse.indptr.dtype == np.int32
    assert dense.dtype == sparse.dtype == dtype
    assert notes == again
    assert notes == [
        "'w' has categories that were not there at first ('z') in 1 row: all their features are 0 "
        "there"
    ]


def test_unseen_as_an_error():
    with pytest.raises(InputError, match=r"'w' must hold categories that were there.*'z' in 1 row"):
        assemble(COLUMNS, SERIES, dtype="float64", sparse=False, unseen_is_error=True)


def test_mostly_zeros_is_three_quarters_or_more():
    assert not is_mostly_zeros(COLUMNS)  # 3 entries of 5
    assert not is_mostly_zeros([Column("n"), Column("w", "text", tuple("abcdef"))])  # 2 of 7
    assert is_mostly_zeros([Column("n"), Column("w", "text", tuple("abcdefg"))])  # 2 of 8


@pytest.mark.parametrize("block", [1, 7, 1 << 18])
@pytest.mark.parametrize("is_sparse", [False, True])
def test_rows_that_are_not_there_are_left_out_of_every_column(monkeypatch, block, is_sparse):
    monkeypatch.setattr(assembly, "BLOCK", block)
    there = np.array([False, True, False, True])
    X, notes = assemble(COLUMNS, SERIES, dtype="float64", sparse=is_sparse, there=there)
    assert (X.toarray() if is_sparse else X).tolist() == [BY_HAND[1], BY_HAND[3]]
    assert notes == []
