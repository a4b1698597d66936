import numpy as np
import pytest

from drawings import deep_record
from records import record_of
from thalweg.core.errors import InputError
from thalweg.figures.percentiles import percentiles


def test_a_layer_by_hand():
    middle = np.arange(5.0)[:, None] * np.ones(4)
    figure = percentiles(record_of(p15=middle - 1, p50=middle, p85=middle + 2), ["middle"])
    (panel,) = figure.panels
    band, median = panel.marks
    assert panel.title == "middle"
    assert median.y.tolist() == [0, 1, 2, 3, 4]
    assert band.low.tolist() == [-1, 0, 1, 2, 3]
    assert band.high.tolist() == [2, 3, 4, 5, 6]
    assert figure.summary == "middle: median 0 → 4."


def test_panels_share_their_y_axis():
    offsets = np.array([0.0, 10.0, 20.0, 30.0])
    record = record_of(p15=offsets - 1, p50=offsets + 0, p85=offsets + 1)
    ends = {(panel.y.low, panel.y.high) for panel in percentiles(record).panels}
    ((low, high),) = ends
    assert low < -1
    assert high > 31


def test_many_layers_are_spread_out_and_counted():
    figure = percentiles(deep_record(14))
    titles = [panel.title for panel in figure.panels]
    assert len(titles) == 6
    assert "blocks.0." in titles[0]
    assert "blocks.13." in titles[-1]
    assert "showing 6 of 14 layers" in figure.notes


def test_long_trainings_are_thinned_with_their_extremes():
    record = deep_record(1, 4000)
    record.columns["p85"][1234] = 99.0
    figure = percentiles(record)
    band = figure.panels[0].marks[0]
    assert band.high.max() == 99.0
    assert len(band.x) <= 500
    assert "of 4,000 points" in figure.notes[0]


def test_bad_input_is_one_sentence():
    with pytest.raises(InputError, match="names must be layers with percentiles, got 'lost'"):
        percentiles(record_of(), ["lost"])
    with pytest.raises(InputError, match="record must have percentiles"):
        percentiles(record_of(p50=np.nan))


def test_fewer_points_on_request():
    panel = percentiles(deep_record(), limit=50).panels[0]
    assert max(len(mark.x) for mark in panel.marks) <= 50
