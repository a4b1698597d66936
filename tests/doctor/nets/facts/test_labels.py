import numpy as np
import pytest

from thalweg.doctor.nets.facts.labels import labels
from thalweg.doctor.nets.facts.measured import Measured
from thalweg.doctor.nets.facts.task import Task


def test_classes():
    y = np.array([0, 0, 0, 0, 0, 2, 2, 2, 1, 0])
    facts = labels(Task(np.zeros((10, 1)), y, 3))
    assert facts == Measured(
        data_classes=3.0, data_largest_share=0.6, data_smallest_share=0.1, data_rarest=1.0
    )


def test_numbers():
    y = np.array([[-1.0], [0.0], [1.0], [2.0], [300.0]])
    facts = labels(Task(y, y, 0))
    assert facts.data_classes == 0.0
    assert facts.target_wildest == 299.0
    normal = np.random.default_rng(0).standard_normal((1000, 1))
    assert labels(Task(normal, normal, 0)).target_wildest == pytest.approx(5.0, abs=2.0)
    assert labels(Task(y, np.ones((5, 1)), 0)).target_wildest == 0.0
