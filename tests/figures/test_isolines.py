import numpy as np
import pytest

from thalweg.figures.isolines import chained, isolines

X = Y = np.linspace(-1.0, 1.0, 41)
GRID = np.meshgrid(X, Y)


def test_one_cell_by_hand():
    # f = x on the unit square: the level ¼ is the upright line at x = ¼.
    square = np.array([0.0, 1.0])
    (segment,) = isolines(square, square, np.array([[0.0, 1.0], [0.0, 1.0]]), 0.25)
    assert sorted(segment.tolist()) == [[0.25, 0.0], [0.25, 1.0]]


@pytest.mark.parametrize("centre", [0.3, 0.7])
def test_a_saddle_is_joined_by_its_middle(centre):
    # Opposite corners 1 and `low`: above the mean the high corners are cut off, below the low ones.
    square = np.array([0.0, 1.0])
    values = np.array([[1.0, 0.0], [0.0, 1.0]])
    segments = isolines(square, square, values, centre)
    assert len(segments) == 2
    middles = segments.mean(1)
    high = np.array([[0.0, 0.0], [1.0, 1.0]])
    near = [np.linalg.norm(middle - high, axis=1).min() for middle in middles]
    assert all(distance < 0.4 for distance in near) == (centre > 0.5)


def test_a_circle_is_where_it_is():
    x, y = GRID
    segments = isolines(X, Y, x * x + y * y, 0.5)
    radii = np.linalg.norm(segments, axis=-1)
    assert np.abs(radii - np.sqrt(0.5)).max() < 1e-3
    length = np.linalg.norm(segments[:, 0] - segments[:, 1], axis=1).sum()
    assert length == pytest.approx(2 * np.pi * np.sqrt(0.5), rel=1e-3)


def test_chains_are_the_same_lines():
    x, y = GRID
    segments = isolines(X, Y, x * x + y * y, 0.47)
    (ring,) = chained(segments)
    assert ring[0] == pytest.approx(ring[-1])
    assert len(ring) == len(segments) + 1
    two = chained(isolines(X, Y, np.abs(x), 0.51))
    assert len(two) == 2
    assert chained(np.empty((0, 2, 2))) == []


def test_nothing_where_there_is_no_crossing_or_no_number():
    x, y = GRID
    assert len(isolines(X, Y, x + y, 9.0)) == 0
    assert len(isolines(X, Y, np.full_like(x, 1.0), 1.0)) == 0
    holed = np.where(x > 0, np.nan, y)
    segments = isolines(X, Y, holed, 0.01)
    assert segments[..., 0].max() <= 0.0
    assert len(isolines(X, Y, np.where(y > 0, np.inf, 0.0), 1.0)) == 0
