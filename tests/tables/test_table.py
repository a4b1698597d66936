import numpy as np
import scipy.sparse

import thalweg as tw
from thalweg.tables.table import listed, size


def test_the_card_says_shape_types_target_missing_and_scaling():
    table = tw.read(
        {"age": [20.0, 40.0, None], "town": ["A", "B", "A"], "t": ["no", "yes", "no"]},
        "t", impute="mean", sparse=False,
    )  # fmt: skip
    card = table.describe()
    assert card == str(table) == repr(table)
    for part in (
        "TABLE  frame (frame): 3 rows × 3 features",
        "1 of numbers, 1 of text",
        "dense, float64",
        "t, 2 classes: no 2, yes 1",
        "missing  age 1",
        "(age)",
    ):
        assert part in card
    assert "3 rows × 3 features" in table._repr_html_()
    assert "<script" not in table._repr_html_()


def test_scaling_is_the_ratio_of_standard_deviations():
    table = tw.read(np.array([[0.0, 1.0, 3.0], [2.0, 1.0, 1003.0]]))
    assert "from 1 (x0) to 500 (x2), ratio 500" in table.describe()
    assert "every column is constant" in tw.read(np.ones((2, 2))).describe()


def test_memory_counts_all_arrays():
    dense = tw.read("@iris")
    assert dense.memory == 150 * 4 * 8 + 150 * 8
    sparse = tw.read(scipy.sparse.csr_array(np.eye(4)))
    assert sparse.memory == 4 * 8 + 4 * 4 + 5 * 4
    assert (sparse.rows, sparse.y, sparse.class_names) == (4, None, None)
    assert "25.00% stored" in sparse.describe()
    assert "target   none" in sparse.describe()


def test_regression_targets_show_their_range():
    assert "progression, from 25 to 346" in tw.read("@diabetes").describe()


def test_numbers_for_a_reader():
    assert listed({"a": 1000, "b": 2}, 1) == "a 1,000 and 1 more"
    assert (size(1500), size(2_500_000)) == ("1.5 kB", "2.5 MB")
