import numpy as np
import pytest
import scipy.sparse

from thalweg.core.errors import InputError
from thalweg.inference.family import LOGISTIC, SQUARED
from thalweg.inference.prediction import Fitted, predicted

CENTRE, BETA = np.array([2.0, -1.0]), np.array([1.0, 0.5, 3.0])
C = np.array([[0.5, 0.1, 0.0], [0.1, 0.3, 0.0], [0.0, 0.0, 0.2]])


def test_a_row_by_hand():
    model = Fitted(SQUARED, BETA, CENTRE, C, 0.7)
    mean, (low, high) = predicted(model, [[3.0, 1.0]], 2.0, observations=False)
    # z = 3 + 0.5 + 3; about the centre (1, 2, 1): variance 0.5 + 2·0.1·2 + 0.3·4 + 0.2
    assert mean == pytest.approx([6.5])
    assert high - mean == pytest.approx([2.0 * np.sqrt(2.3)])
    assert mean - low == pytest.approx(high - mean)
    _, (low, high) = predicted(model, [[3.0, 1.0]], 2.0, observations=True)
    assert high - mean == pytest.approx([2.0 * np.sqrt(2.3 + 0.7)])


def test_the_interval_of_a_mean_is_that_of_its_score():
    X = np.random.default_rng(0).standard_normal((5, 2))
    z, ends = predicted(Fitted(SQUARED, BETA, CENTRE, C, 1.0), X, 1.5, observations=False)
    mean, inner = predicted(
        Fitted(LOGISTIC, BETA, CENTRE, C, 1.0), scipy.sparse.csr_array(X), 1.5, observations=False
    )
    np.testing.assert_allclose(mean, 1.0 / (1.0 + np.exp(-z)))
    np.testing.assert_allclose(inner, 1.0 / (1.0 + np.exp(-ends)))


def test_without_an_intercept():
    model = Fitted(SQUARED, BETA[:2], np.zeros(2), C[:2, :2], 1.0)
    mean, (_, high) = predicted(model, [[1.0, 1.0]], 1.0, observations=False)
    assert mean == pytest.approx([1.5])
    assert high - mean == pytest.approx([1.0])  # 0.5 + 0.2 + 0.3


def test_sentences():
    with pytest.raises(InputError, match="observations=True needs a squared loss"):
        predicted(Fitted(LOGISTIC, BETA, CENTRE, C, 1.0), [[1.0, 2.0]], 1.0, observations=True)
    with pytest.raises(InputError, match=r"X must be float\[n, 2\], got \(1, 3\)"):
        predicted(Fitted(SQUARED, BETA, CENTRE, C, 1.0), [[1.0, 2.0, 3.0]], 1.0, observations=False)
