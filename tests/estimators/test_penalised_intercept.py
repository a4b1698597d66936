"""A constant feature and its weight: scores stay what they are, in and out."""

import numpy as np
import pytest
import scipy.sparse

from thalweg.estimators.penalised_intercept import with_constant, without_constant


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_array, scipy.sparse.csr_matrix])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scores_with_the_constant_are_scores_with_the_intercept(kind, dtype):
    rng = np.random.default_rng(0)
    X, W = kind(rng.standard_normal((5, 3)).astype(dtype)), rng.standard_normal((2, 4))
    wider = with_constant(X, 2.5)
    assert wider.dtype == dtype
    assert wider.shape == (5, 4)
    coefficients, intercepts = without_constant(W, 2.5)
    np.testing.assert_allclose(wider @ W.T, X @ coefficients.T + intercepts, rtol=1e-5)
    if scipy.sparse.issparse(X):
        assert wider.format == "csr"


def test_the_column_holds_the_scaling():
    np.testing.assert_array_equal(with_constant(np.zeros((2, 1)), 3.0), [[0, 3], [0, 3]])
