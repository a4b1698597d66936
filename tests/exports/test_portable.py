"""The parts of a linear model belong to its columns."""

import numpy as np

import thalweg as tw
from thalweg.exports.portable import fill_of, portable
from thalweg.tables.column import Column


def test_each_column_has_its_coefficients(exported):
    place, _, _ = exported
    saved = tw.load(place / "several")
    model = portable(saved)
    assert model.scores == len(model.classes) == 3
    parts = {column.name: w for column, w in model.of_columns}
    assert parts["size"].shape == (1, 3)
    assert parts["heat"].shape == (2, 3)
    np.testing.assert_array_equal(np.concatenate(list(parts.values())), model.coefficients)


def test_what_stands_for_missing_values():
    assert fill_of(Column("a")) is None
    assert fill_of(Column("a", fill=2.5)) == 2.5
    assert fill_of(Column("a", "flag", fill=True)) == 1
    assert fill_of(Column("a", "text", ("x", "y"), "y")) == 1
