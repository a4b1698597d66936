import numpy as np
import pytest

from records import record_of
from thalweg.core.errors import InputError
from thalweg.figures.spec import Curve
from thalweg.figures.training import curvature, training


def curves(figure):
    return {mark.name: mark for mark in figure.panels[0].marks if isinstance(mark, Curve)}


def test_losses_by_hand():
    validation = np.array([np.nan, 2.5, np.nan])
    figure = training(record_of(loss=[3.0, 2.0, 2.4], validation_loss=validation))
    found = curves(figure)
    assert found["loss of a batch"].y.tolist() == [3.0, 2.0, 2.4]
    assert found["validation loss"].x.tolist() == [2.0]
    assert figure.panels[0].y.scale == "linear"
    assert "loss: 3 → 2.4, between 2 and 3." in figure.summary


def test_a_loss_that_falls_far_has_a_log_axis():
    assert training(record_of(loss=np.geomspace(1, 1e-4, 50))).panels[0].y.scale == "log"
    assert training(record_of(loss=np.linspace(1, -1, 50))).panels[0].y.scale == "linear"


def test_a_noisy_loss_is_not_smoothed():
    loss = np.ones(5000)
    loss[3210] = 9.0
    figure = training(record_of(loss=loss))
    assert curves(figure)["loss of a batch"].y.max() == 9.0
    assert "of 5,000 points" in figure.notes[0]


def test_curvature_stands_beside_its_limit():
    largest = np.where(np.arange(100) % 10 == 0, 40.0, np.nan)
    record = record_of(hessian_largest=largest, hessian_smallest=-largest / 10, rate=0.05)
    found = curves(curvature(record))
    assert found["λ_max"].y.tolist() == [40.0] * 10
    assert found["λ_min"].y.tolist() == [-4.0] * 10
    assert set(found["2/η"].y) == {40.0}


def test_a_limit_far_above_is_said_instead():
    record = record_of(hessian_largest=1.0, rate=1e-6)
    figure = curvature(record)
    assert "2/η" not in curves(figure)
    assert "2/η, 2e+06 at the end, lies above this figure" in figure.notes


def test_bad_input_is_one_sentence():
    with pytest.raises(InputError, match="record must have a loss"):
        training(record_of(loss=np.full(5, np.nan)))
    with pytest.raises(InputError, match="record must have a Hessian"):
        curvature(record_of())
