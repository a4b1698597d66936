import numpy as np
import pytest
import scipy.sparse

from thalweg.inference.estimate import Seen, centre_of, of_classes, of_one
from thalweg.inference.family import SQUARED, of_power

RNG = np.random.default_rng(0)
X = RNG.standard_normal((30, 2)) + np.array([0.0, 100.0])
S = RNG.uniform(0.5, 2.0, 30)
OFFSET = RNG.standard_normal(30)
BETA = np.array([0.5, -0.2, 20.0])


def seen(y, storage=np.asarray):
    return Seen(storage(X), y, S, OFFSET, None)


def test_the_centre_is_the_mean_of_the_rows_by_weight():
    for storage in (np.asarray, scipy.sparse.csr_array):
        np.testing.assert_allclose(centre_of(seen(np.zeros(30), storage)), S @ X / S.sum())


@pytest.mark.parametrize("family", [SQUARED, of_power(1.5)])
def test_the_dispersion_is_pearsons(family):
    y = RNG.gamma(2.0, 1.0, 30)
    z = X @ BETA[:2] + BETA[2] + OFFSET
    mean = z if family == SQUARED else np.exp(z)
    variance = np.ones(30) if family == SQUARED else mean**1.5
    data = seen(y[:, None])
    _, scale = of_one(data, 0, BETA, family, centre_of(data), True, "classical")
    assert scale == pytest.approx(S @ ((y - mean) ** 2 / variance) / 27.0)


def test_classes_beside_the_first_have_the_curvature_of_their_likelihood():
    labels, beta = RNG.integers(0, 3, 30), RNG.standard_normal((3, 2)) * [[1.0], [0.01], [1.0]]
    A = np.column_stack([X, np.ones(30)])

    def likelihood(flat):
        z = np.column_stack([np.zeros(30), A @ flat.reshape(2, 3).T])
        return S @ (np.log(np.exp(z).sum(axis=1)) - z[np.arange(30), labels])

    h, flat, dim = np.tile([1e-3, 1e-5, 1e-3], 2), beta.T.ravel(), 6
    H, E = np.empty((dim, dim)), np.diag(h)
    for j in range(dim):
        for k in range(dim):
            corners = [
                likelihood(flat + a * E[j] + b * E[k]) * a * b for a in (1, -1) for b in (1, -1)
            ]
            H[j, k] = sum(corners) / (4 * h[j] * h[k])
    data = seen(labels)
    found = of_classes(data._replace(offset=np.zeros(30)), beta, centre_of(data), True, "classical")
    d = np.sqrt(np.diag(H))
    product = (found.covariance * np.outer(d, d)) @ (H / np.outer(d, d))
    np.testing.assert_allclose(product, np.eye(dim), atol=1e-2)
