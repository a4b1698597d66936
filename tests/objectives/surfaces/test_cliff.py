import numpy as np
import pytest

from thalweg.core.errors import InputError
from thalweg.objectives.surfaces import Cliff
from thalweg.rules.clip import clip_by_norm


def test_by_hand():
    # At the wall, x = 0: softplus(0) = log 2, σ(0) = ½
    f = Cliff(gentle=0.5, steep=8.0, width=0.25)
    assert f.value([0.0, 2.0]) == pytest.approx(8 * 0.25 * np.log(2) + 2)
    np.testing.assert_allclose(f.gradient([0.0, 2.0]), [3.5, 2.0])
    np.testing.assert_allclose(f.hessian_vector([0.0, 2.0], [1.0, 1.0]), [8.0, 1.0])


def test_gentle_before_the_wall_and_steep_behind_it():
    f = Cliff()
    assert f.gradient([-1.0, 0.0])[0] == pytest.approx(-0.1)
    assert f.gradient([1.0, 0.0])[0] == pytest.approx(99.9)


def test_foot_of_the_wall():
    f = Cliff(gentle=1.0, steep=4.0, width=0.1)
    np.testing.assert_allclose(f.minimizer, [0.1 * np.log(1 / 3), 0.0])
    np.testing.assert_allclose(f.gradient(f.minimizer), 0.0, atol=1e-15)


def test_smoothness_is_reached_at_the_wall():
    f = Cliff()
    assert f.hessian_vector([0.0, 0.0], [1.0, 0.0])[0] == pytest.approx(f.smoothness)


@pytest.mark.parametrize("limit", [0.2, 1.0])
def test_clipping_saves_what_the_wall_throws_away(limit):
    f = Cliff()
    free = clipped = f.start
    furthest = nearest = 0.0
    for _ in range(300):
        free = free - f.gradient(free)
        clipped = clipped - clip_by_norm(f.gradient(clipped), limit)
        furthest = max(furthest, np.linalg.norm(free - f.start))
        nearest = max(nearest, np.linalg.norm(clipped - f.start))
    assert furthest > 20
    assert nearest < 3
    assert f.value(clipped) - f.minimum < 0.15


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"gentle": 0.0}, "gentle must be above 0"),
        ({"gentle": 1.0, "steep": 1.5}, "the wall must outdo the gentle slope"),
        ({"width": 0.0}, "width must be above 0"),
    ],
)
def test_refusals(arguments, message):
    with pytest.raises(InputError, match=message):
        Cliff(**arguments)
