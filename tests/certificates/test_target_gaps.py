import numpy as np
import pytest
import scipy.sparse

import thalweg as tw
from thalweg.certificates.duality import duality_gap
from thalweg.certificates.target_gaps import target_gaps


@pytest.mark.parametrize("storage", [np.asarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_each_is_the_gap_of_that_target_alone(storage, fit_intercept, offset):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 4)) + offset * fit_intercept
    Y = X @ rng.standard_normal((4, 3)) + rng.standard_normal((50, 3))
    weights = rng.random(50)
    problem = tw.LinearProblem(
        storage(X), Y[:, 0], l2=0.1, fit_intercept=fit_intercept, sample_weight=weights
    )
    about = problem.with_features(problem.features.centred)
    R = Y - about.weights @ Y if fit_intercept else Y
    Z = X - X.mean(axis=0) if fit_intercept else X
    W = np.linalg.lstsq(Z, R, rcond=None)[0] + 0.01 * rng.standard_normal((4, 3))
    for k, found in enumerate(target_gaps(about, W, R)):
        alone = about.with_target(R[:, k])
        b = R[:, k] @ alone.weights if fit_intercept else 0.0
        best = alone.features.join(W[:, k], 0.0)
        if fit_intercept:  # the intercept that is best for this w
            best[-1] = b - alone.weights @ alone.scores(best)
        right = duality_gap(alone, best)
        assert found.primal == pytest.approx(right.primal, rel=1e-10)
        assert found.dual == pytest.approx(right.dual, rel=1e-8)
        assert 0.0 < found.rounding < 1e-10 * found.primal
