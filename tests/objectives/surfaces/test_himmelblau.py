import numpy as np

from thalweg.objectives.surfaces import Himmelblau

F = Himmelblau()


def test_by_hand():
    # p = −11, q = −7 at the origin; at (1, 1) p = −9, q = −5
    assert F.value([0.0, 0.0]) == 170.0
    np.testing.assert_array_equal(F.gradient([0.0, 0.0]), [-14.0, -22.0])
    np.testing.assert_array_equal(F.gradient([1.0, 1.0]), [-46.0, -38.0])


def test_four_minima():
    assert F.minimizers.shape == (4, 2)
    np.testing.assert_array_equal(F.minimizer, [3.0, 2.0])
    assert F.minimum == 0.0
    for w in F.minimizers:
        assert F.value(w) < 1e-27
        H = np.array([F.hessian_vector(w, e) for e in np.eye(2)])
        assert np.linalg.eigvalsh(H).min() > 0
    distances = np.linalg.norm(F.minimizers[:, None] - F.minimizers, axis=-1)
    assert distances[~np.eye(4, dtype=bool)].min() > 3


def test_the_start_decides():
    reached = set()
    for w in F.minimizers + np.array([0.4, -0.3]):
        for _ in range(300):
            w = w - 0.01 * F.gradient(w)
        reached.add(int(np.argmin(np.linalg.norm(F.minimizers - w, axis=1))))
    assert reached == {0, 1, 2, 3}
