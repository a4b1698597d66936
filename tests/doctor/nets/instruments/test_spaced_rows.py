import numpy as np
import pytest

from thalweg.core.errors import InputError
from thalweg.doctor.nets.instruments.spaced_rows import SpacedRows


def test_rows_in_order_until_the_table_is_full():
    table = SpacedRows((2,), limit=4)
    assert [table.offer((k, 10.0 * k)) for k in range(4)] == [True] * 4
    assert table.rows.tolist() == [[0, 0], [1, 10], [2, 20], [3, 30]]
    assert table.offer((4, 40.0))
    assert table.rows[:, 0].tolist() == [0, 2, 4]
    assert table.stride == 2
    assert not table.offer((5, 50.0))


@pytest.mark.parametrize("count", [1, 5, 64, 65, 1000, 1023])
def test_what_is_kept_is_every_stride_th(count):
    table = SpacedRows((1,), limit=16)
    for k in range(count):
        table.offer((k,))
    assert table.rows[:, 0].tolist() == list(range(0, count, table.stride))
    assert len(table) <= 16
    assert table.came == count
    assert count <= 16 or len(table) >= 8


@pytest.mark.parametrize("number", [0, 1, 3, 6, 37, 63])
def test_a_number_of_a_sparse_column_outlives_its_row(number):
    table = SpacedRows((2,), limit=4, sparse=[1])
    for k in range(64):
        table.offer((k, 7.0 if k == number else np.nan))
    assert np.nansum(table.rows[:, 1]) == 7.0
    (row,) = np.flatnonzero(~np.isnan(table.rows[:, 1]))
    assert table.rows[row, 0] <= number < table.rows[row, 0] + table.stride


def test_rows_may_be_tables_themselves():
    table = SpacedRows((3, 2), limit=2)
    table.offer(np.arange(6.0).reshape(3, 2))
    assert table.rows.shape == (1, 3, 2)


@pytest.mark.parametrize("limit", [0, 1, 7])
def test_a_limit_that_cannot_be_halved_is_refused(limit):
    with pytest.raises(InputError, match=f"limit must be an even number, at least 2, got {limit}"):
        SpacedRows((1,), limit)
