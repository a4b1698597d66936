import numpy as np
import pytest

from drawings import run_of
from thalweg.core.errors import InputError
from thalweg.figures.animation import moments, to_gif
from thalweg.objectives.surfaces import Rosenbrock
from thalweg.planner.race import Race


def race_of(*lengths):
    paths = tuple(np.linspace([-1.5, 2.0], [1.0, 1.0], length + 1) for length in lengths)
    return Race(Rosenbrock(), tuple(run_of("gd", seed=k) for k in range(len(lengths))), paths)


def test_moments_by_hand():
    assert moments(race_of(4, 16), 5) == [0, 1, 4, 9, 16]
    assert moments(race_of(3), 60) == [0, 1, 2, 3]


def test_the_animation_has_its_frames(tmp_path):
    pytest.importorskip("matplotlib", reason="the extra `plots` is not installed")
    from PIL import Image

    to_gif(race_of(4, 16), tmp_path / "a.gif", frames=5)
    with Image.open(tmp_path / "a.gif") as film:
        assert film.n_frames == 5
        first = np.asarray(film.convert("RGB"), dtype=int)
        film.seek(4)
        last = np.asarray(film.convert("RGB"), dtype=int)
    assert np.abs(first - last).max() > 50


def test_bad_input_is_one_sentence(tmp_path):
    pytest.importorskip("matplotlib", reason="the extra `plots` is not installed")
    with pytest.raises(InputError, match="frames must be a whole number, at least 2, got 1"):
        to_gif(race_of(3), tmp_path / "a.gif", frames=1)
