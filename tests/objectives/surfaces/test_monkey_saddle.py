import numpy as np

from thalweg.objectives.surfaces import MonkeySaddle

F = MonkeySaddle()


def test_by_hand():
    assert F.value([2.0, 1.0]) == 2.0  # 8 − 6
    np.testing.assert_array_equal(F.gradient([2.0, 1.0]), [9.0, -12.0])
    np.testing.assert_array_equal(F.hessian_vector([2.0, 1.0], [1.0, 0.0]), [12.0, -6.0])


def test_origin_is_degenerate():
    zero = np.zeros(2)
    np.testing.assert_array_equal(F.gradient(zero), 0.0)
    np.testing.assert_array_equal([F.hessian_vector(zero, e) for e in np.eye(2)], np.zeros((2, 2)))


def test_three_ways_down():
    # x³ − 3xy² is the real part of (x + iy)³: cos 3φ on the unit circle, six changes of sign.
    angle = np.linspace(0, 2 * np.pi, 721)
    values = F.value(np.stack([np.cos(angle), np.sin(angle)], axis=-1))
    np.testing.assert_allclose(values, np.cos(3 * angle), atol=1e-12)


def test_eigenvalues_elsewhere():
    w = np.array([0.6, -0.8])
    H = np.array([F.hessian_vector(w, e) for e in np.eye(2)])
    np.testing.assert_allclose(np.linalg.eigvalsh(H), [-6.0, 6.0])
