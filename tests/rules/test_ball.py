import numpy as np
import pytest

from thalweg.rules import project_ball


def test_outside_and_inside_by_hand():
    # ‖(3, 4)‖ = 5: on the ball of radius 2 the nearest point is (1.2, 1.6).
    w = np.array([3.0, 4.0])
    np.testing.assert_allclose(project_ball(w, 2.0), [1.2, 1.6], rtol=1e-15)
    assert project_ball(w, 5.0) is w


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", ["numpy", "torch"])
def test_projection_lies_in_the_ball_and_stays(kind, dtype):
    w = np.random.default_rng(1).standard_normal(50).astype(dtype)
    if kind == "torch":
        w = pytest.importorskip("torch").tensor(w)
    projected = project_ball(w, 0.7)
    tolerance = 1e-6 if dtype == "float32" else 1e-15
    assert projected.dtype == w.dtype
    assert np.linalg.norm(projected.tolist()) == pytest.approx(0.7, rel=tolerance)
    again = project_ball(projected, 0.7)
    np.testing.assert_allclose(again.tolist(), projected.tolist(), rtol=tolerance)


def test_no_point_of_the_ball_is_nearer():
    # The projection p of w is the only point with (w − p)ᵀ(u − p) ≤ 0 for all u in the ball.
    rng = np.random.default_rng(2)
    for _ in range(20):
        w = 3 * rng.standard_normal(4)
        p = project_ball(w, 1.5)
        u = rng.standard_normal((200, 4))
        u *= 1.5 * rng.random((200, 1)) / np.linalg.norm(u, axis=1, keepdims=True)
        assert ((u - p) @ (w - p)).max() <= 1e-12


def test_squares_do_not_overflow():
    np.testing.assert_allclose(project_ball(np.array([3e200, 4e200]), 10.0), [6.0, 8.0], rtol=1e-14)


def test_centre_stays():
    w = np.zeros(3)
    assert project_ball(w, 1.0) is w


def test_what_is_not_finite_comes_back_unchanged():
    w = np.array([1.0, np.nan])
    assert project_ball(w, 0.5) is w
