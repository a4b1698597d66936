import numpy as np
import pytest

from thalweg.planner.plane import plane_of


def test_ways_in_a_plane_are_seen_as_they_are():
    rng = np.random.default_rng(3)
    axes, _ = np.linalg.qr(rng.standard_normal((30, 2)))
    flat = rng.standard_normal((50, 2))
    origin = rng.standard_normal(30)
    ways = [origin + flat[:20] @ axes.T, origin + flat[20:] @ axes.T]
    plane = plane_of(ways, ways[0][-1])
    assert plane.share == pytest.approx(1.0)
    np.testing.assert_allclose(plane.axes @ plane.axes.T, np.eye(2), atol=1e-12)
    for way in ways:
        seen = plane.seen(way)
        np.testing.assert_allclose(plane.point(seen), way, atol=1e-12)  # nothing is lost
    between = np.linalg.norm(ways[0][0] - ways[1][0])
    assert np.linalg.norm(plane.seen(ways[0])[0] - plane.seen(ways[1])[0]) == pytest.approx(between)


def test_its_axes_are_the_principal_ones_about_the_lowest_point():
    rng = np.random.default_rng(4)
    way = rng.standard_normal((40, 6)) * [5.0, 3.0, 1.0, 0.5, 0.1, 0.1]
    plane = plane_of([way], way[-1])
    _, sigma, V = np.linalg.svd(way - way[-1])
    np.testing.assert_allclose(np.abs(np.sum(plane.axes * V[:2], axis=1)), 1.0, atol=1e-10)
    assert plane.share == pytest.approx((sigma[:2] ** 2).sum() / (sigma**2).sum())
    assert plane.seen(way[-1]).tolist() == [0.0, 0.0]
    assert np.all(plane.seen(way)[0] >= 0.0)


@pytest.mark.parametrize(
    "way", [np.zeros((1, 3)), np.ones((5, 3)), np.outer(np.arange(4), [0, 1, 0])]
)
def test_ways_that_span_no_plane_have_one_all_the_same(way):
    way = way.astype(float)
    plane = plane_of([way], way[-1])
    np.testing.assert_allclose(plane.axes @ plane.axes.T, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(plane.point(plane.seen(way)), way, atol=1e-12)
    assert plane.share == pytest.approx(1.0)


def test_what_ran_away_has_no_part_in_it():
    way = np.array([[1.0, 2.0, 3.0], [1e200, 0.0, 0.0], [np.nan, 0.0, 0.0], [0.0, 0.0, 0.0]])
    plane = plane_of([way], way[-1])
    assert np.all(np.isfinite(plane.axes))
    assert plane.axes[0].tolist() == [1.0, 0.0, 0.0]
