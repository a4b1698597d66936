import numpy as np

from thalweg.inference.bootstrap import resampled


def test_rows_are_drawn_with_their_weights():
    seen = []

    def fit(weights):
        seen.append(weights)
        return np.array([[weights.sum()]])

    weights = np.array([1.0, 2.0, 0.0, 4.0])
    found = resampled(fit, weights, 50, seed=3)
    assert found.shape == (50, 1, 1)
    counts = np.array(seen) / np.where(weights > 0.0, weights, 1.0)
    assert np.array_equal(counts, counts.round())
    assert (np.array(seen)[:, 2] == 0.0).all()
    assert np.array_equal(found, resampled(fit, weights, 50, seed=3))
    assert not np.array_equal(found, resampled(fit, weights, 50, seed=4))


def test_the_spread_of_a_mean_is_its_standard_error():
    rng = np.random.default_rng(0)
    y = rng.standard_normal(400)
    means = resampled(lambda s: np.array([[s @ y / s.sum()]]), np.ones(400), 2000, seed=0)
    expected = y.std() / 20.0
    assert abs(means.std() / expected - 1.0) < 4.0 / np.sqrt(2 * 2000)
