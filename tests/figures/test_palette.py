import numpy as np

from thalweg.figures.palette import COUNT, SHADES, shades


def test_shades_grow_lighter_all_the_way():
    light = [0.2126 * int(s[1:3], 16) + 0.7152 * int(s[3:5], 16) + 0.0722 * int(s[5:], 16)
             for s in SHADES]  # fmt: skip
    assert len(SHADES) == COUNT
    assert np.all(np.diff(light) > 0)


def test_values_by_hand():
    found = shades(np.array([0.0, 0.5, 1.0, np.nan, 5.0, -5.0, np.inf]), (0.0, 1.0), "linear")
    assert found.tolist() == [0, COUNT // 2, COUNT - 1, -1, COUNT - 1, 0, COUNT - 1]


def test_a_log_scale_and_what_it_cannot_show():
    found = shades(np.array([1e-4, 1.0, 1e4, 0.0, np.inf]), (1e-4, 1e4), "log")
    assert found.tolist() == [0, COUNT // 2, COUNT - 1, 0, COUNT - 1]
