import math
from dataclasses import replace

import numpy as np
import pytest

from thalweg.core import record as module
from thalweg.core.errors import InputError, StorageError
from thalweg.core.record import (
    LAYER_COLUMNS,
    LOOK_COLUMNS,
    STEP_COLUMNS,
    Layer,
    Record,
)


def small():
    layers = (
        Layer("0", "Linear", "linear", 2.0, (3, 2), 9, 9),
        Layer("1", "ReLU", "relu", math.nan, (), 0, 0),
    )
    columns = {name: np.arange(4.0) for name in STEP_COLUMNS}
    columns |= {name: np.array([1.0, math.nan]) for name in LOOK_COLUMNS}
    columns |= {name: np.array([[1.0, math.nan], [2.0, math.inf]]) for name in LAYER_COLUMNS}
    scalars = {"steps": 4, "bad_layer": "Schicht ü", "overhead": math.nan, "input_max": math.inf}
    return Record(
        layers, columns, scalars, ({"name": "SGD", "lr": 0.1, "betas": [0.9, 0.99]},), ("a",)
    )


def test_columns_by_name_and_by_layer():
    record = small()
    assert record["loss"].tolist() == [0, 1, 2, 3]
    assert record.of("0", "gradient_norm").tolist() == [1.0, 2.0]
    assert repr(record) == "Record(4 steps, 2 looks, 2 layers)"


def test_what_was_saved_is_read_back(tmp_path):
    record = small()
    file = tmp_path / "deep" / "record.npz"
    record.save(file)
    record.save(file)
    again = Record.load(file)
    assert again.layers[0] == record.layers[0]
    assert again.layers[1].shape == ()
    assert math.isnan(again.layers[1].fan_in)
    assert again.columns.keys() == record.columns.keys()
    for name, column in record.columns.items():
        assert again[name].dtype == np.float64
        assert np.array_equal(again[name], column, equal_nan=True)
    assert again.scalars["bad_layer"] == "Schicht ü"
    assert again.scalars["input_max"] == math.inf
    assert math.isnan(again.scalars["overhead"])
    assert again.optimizers == record.optimizers
    assert again.notes == ("a",)
    assert [path.name for path in file.parent.iterdir()] == ["record.npz"]


def test_every_column_is_explained():
    for name in (*STEP_COLUMNS, *LOOK_COLUMNS, *LAYER_COLUMNS):
        assert name in module.__doc__, name


def test_unknown_names_are_answered_with_the_nearest():
    with pytest.raises(InputError, match="no column 'los': did you mean 'loss'"):
        small()["los"]
    with pytest.raises(InputError, match="no layer '9'"):
        small().of("9", "mean")
    with pytest.raises(InputError, match="a layer has no column 'loss'"):
        small().of("0", "loss")


def test_other_files_are_refused(tmp_path):
    with pytest.raises(StorageError, match=r"missing.npz is not a record"):
        Record.load(tmp_path / "missing.npz")
    (tmp_path / "text.npz").write_text("no")
    with pytest.raises(StorageError, match=r"give a file that Record.save wrote"):
        Record.load(tmp_path / "text.npz")
    np.savez(tmp_path / "other.npz", x=np.ones(2))
    with pytest.raises(StorageError, match="is not a record"):
        Record.load(tmp_path / "other.npz")
    np.savez(tmp_path / "later.npz", **{module.ABOUT: np.frombuffer(b'{"format": 9}', np.uint8)})
    with pytest.raises(StorageError, match="has format 9, this version of Thalweg reads 1"):
        Record.load(tmp_path / "later.npz")


@pytest.mark.parametrize("name", ["step", "loss", "look", "gradient_cosine", "p15", "dead"])
@pytest.mark.parametrize("way", ["gone", "flat", "longer", "text"])
def test_columns_that_do_not_fit_are_refused(tmp_path, name, way):
    columns = dict(small().columns)
    column = columns.pop(name)
    if way != "gone":
        columns[name] = {
            "flat": column[None] if column.ndim == 1 else column.ravel(),
            "longer": np.concatenate([column, column]),
            "text": np.zeros(column.shape, "<U3"),
        }[way]
    replace(small(), columns=columns).save(tmp_path / "record.npz")
    with pytest.raises(StorageError, match=r"record\.npz .*column \w+ must be"):
        Record.load(tmp_path / "record.npz")
