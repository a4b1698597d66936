import numpy as np
import pytest

from drawings import deep_record
from records import record_of
from thalweg.core.errors import InputError
from thalweg.figures.layers import MOST, gathered, heat, layers


def test_arrays_by_hand():
    figure = heat([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]], [1, 5, 9], ["first", "last"])
    (mark,) = figure.panels[0].marks
    assert mark.values.tolist() == [[1.0, 2.0, 3.0], [10.0, 20.0, 30.0]]  # layers downwards
    assert mark.scale == "log"
    assert figure.panels[0].y.categories == ("first", "last")
    assert figure.panels[0].x.categories == ("1", "5", "9")
    assert "first 3, last 30" in figure.summary


def test_a_record_and_its_other_columns():
    record = record_of(dead=np.array([np.nan, 0.1, np.nan, 0.2]))
    figure = layers(record, "dead")
    assert figure.panels[0].y.categories == ("relu", "last")  # the others have no number
    assert figure.panels[0].marks[0].scale == "linear"
    assert len(layers(record).panels[0].y.categories) == 4


def test_no_spike_is_lost_up_or_down_and_it_is_said():
    values = np.ones((1234, 2))
    values[777, 0], values[100, 1] = 1e6, 1e-6
    figure = heat(values, np.arange(1234), ["a", "b"])
    shown = figure.panels[0].marks[0].values
    assert shown.shape == (2, MOST)
    assert shown[0].max() == 1e6
    assert shown[1].min() == 1e-6
    assert "showing 100 of 1,234 looks" in figure.notes[0]


def test_nothing_is_averaged():
    rng = np.random.default_rng(0)
    values = np.exp(rng.standard_normal((500, 3)))
    table, steps = gathered(values, np.arange(500), "log")
    for row, step in zip(table, steps, strict=True):
        for k in range(3):
            assert row[k] in values[step : step + 5, k]


def test_missing_and_infinite_numbers():
    values = np.ones((300, 1))
    values[:, 0] = np.nan
    values[40, 0], values[200, 0] = 0.0, np.inf
    values[100:150, 0] = 2.0
    table, _ = gathered(values, np.arange(300), "log")
    assert 0.0 in table
    assert np.inf in table
    assert np.isnan(table).any()
    assert "An empty cell" in heat(values, np.arange(300), ["a"]).notes[1]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: layers(record_of(), "gradient"), "column must be one of layers, got 'gradient'"),
        (lambda: layers(record_of(), "loss"), "column must be one of layers, got 'loss'"),
        (lambda: heat(np.ones((2, 2)), [1], ["a"]), r"values must be float\[1, 1\]"),
        (lambda: heat(np.full((1, 1), np.nan), [1], ["a"]), "values must have a number"),
        (lambda: heat(np.empty((0, 1)), [], ["a"]), "values must have a number"),
    ],
)
def test_bad_input_is_one_sentence(call, sentence):
    with pytest.raises(InputError, match=sentence):
        call()


def test_fewer_cells_on_request():
    assert layers(deep_record(looks=60), most=10).panels[0].marks[0].values.shape[1] == 10
