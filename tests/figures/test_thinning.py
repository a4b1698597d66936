import numpy as np
import pytest

from thalweg.figures.thinning import said, said_of_many, thin


def test_a_short_curve_is_kept_whole():
    assert thin(np.arange(500.0), np.zeros(500), log=False).tolist() == list(range(500))


def test_by_hand():
    # Six points in limit 4: one stretch, its lowest (2) and highest (3), and both ends.
    y = np.array([0.0, 1.0, -5.0, 9.0, 1.0, 0.0])
    assert thin(np.arange(6.0), y, limit=4, log=False).tolist() == [0, 2, 3, 5]


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_no_spike_is_lost_and_few_points_are_kept(log, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(501, 30_000))
    x, y = np.arange(1.0, n + 1), rng.standard_normal(n)
    spikes = rng.integers(n, size=3)
    y[spikes] = [1e6, -1e6, 1e5]
    kept = thin(x, y, log=log)
    assert len(kept) <= 500
    assert {0, n - 1, spikes[0], spikes[1]} <= set(kept.tolist())
    assert np.all(np.diff(kept) > 0)


@pytest.mark.parametrize("log", [False, True])
def test_each_stretch_keeps_its_extremes(log):
    x = np.arange(1.0, 5001.0)
    y = np.random.default_rng(1).standard_normal(5000)
    kept = thin(x, y, limit=102, log=log)
    place = np.log(x) if log else x
    stretch = np.minimum(((place - place[0]) / (place[-1] - place[0]) * 50).astype(int), 49)
    for k in np.unique(stretch):
        inside = y[kept[stretch[kept] == k]]
        assert inside.min() == y[stretch == k].min()
        assert inside.max() == y[stretch == k].max()


def test_a_path_keeps_the_extremes_of_both_coordinates():
    rng = np.random.default_rng(2)
    x, y = rng.standard_normal((2, 4000))
    kept = thin(np.arange(4000.0), x, y, log=False)
    assert len(kept) <= 500
    assert {x.argmin(), x.argmax(), y.argmin(), y.argmax()} <= set(kept.tolist())


def test_a_log_axis_spreads_points_by_ratio_and_takes_zero():
    x = np.arange(10_000.0)
    kept = thin(x, np.sin(x), log=True)
    assert kept[0] == 0
    assert np.sum(kept < 100) > np.sum(kept > 5000)


def test_positions_that_do_not_move():
    kept = thin(np.zeros(2000), np.arange(2000.0), log=False)
    assert {0, 1999} <= set(kept.tolist())


def test_what_is_left_out_is_said():
    sentence = "gd: showing 500 of 20,000 points, the extremes of each stretch"
    assert said("gd", 500, 20_000) == sentence
    assert said("gd", 5, 5) == ""


def test_of_three_curves_it_is_said_once():
    two = {"gd": (500, 20_000), "sag": (5, 5), "svrg": (400, 900)}
    assert said_of_many(two) == [said("gd", 500, 20_000), said("svrg", 400, 900)]
    assert said_of_many({**two, "adam": (450, 800)}) == [
        "showing at most 500 points of a curve, of up to 20,000: the extremes of each stretch"
    ]
