"""The systems of an interior point, against the matrix written out."""

import numpy as np
import pytest
import scipy.sparse

import thalweg as tw
from thalweg.methods import hinge_system
from thalweg.methods.hinge_system import HingeSystem
from thalweg.objectives.tube import Tube


def problem(n, p, storage="dense", **options):
    rng = np.random.default_rng(n + p)
    X = rng.standard_normal((n, p)) * 10.0 ** rng.uniform(-2, 2, p) + 5.0
    if storage == "sparse":
        X = scipy.sparse.csr_array(np.where(rng.random((n, p)) < 0.3, X, 0.0))
    y = rng.standard_normal(n)
    return tw.LinearProblem(X, y, Tube(0.5, 0.5), l1=0.1, **options).centred


@pytest.mark.parametrize("storage", ["dense", "sparse"])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(("n", "p"), [(60, 5), (8, 30)])
@pytest.mark.parametrize("spread", [0.0, 6.0])
def test_both_systems_solve_the_same_equations(n, p, fit_intercept, storage, spread, monkeypatch):
    data = problem(n, p, storage, fit_intercept=fit_intercept, l2=0.01)
    rng = np.random.default_rng(0)
    h, extra = 10.0 ** rng.uniform(-spread, spread, n), 10.0 ** rng.uniform(-spread, spread, p)
    A = data.features.dense
    M = A.T @ (h[:, None] * A)
    M[np.arange(p), np.arange(p)] += extra + data.l2
    wanted = rng.standard_normal(data.dim) / np.sqrt(np.diag(M))
    right = M @ wanted
    for fewest in (0, 10_000):
        monkeypatch.setattr(hinge_system, "FEW", fewest)
        system = HingeSystem(data, h, extra)
        assert system.is_of_samples == (fewest == 0 and n < p)
        left = (right - M @ system.solve(right)) / np.sqrt(np.diag(M))
        assert np.abs(left).max() < 1e-6


def test_columns_that_are_the_same_share_what_one_would_have():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.standard_normal((20, 1)), 2, axis=1)
    data = tw.LinearProblem(X, rng.standard_normal(20), Tube(0.5, 0.5), fit_intercept=False)
    right = np.ones(2)
    found = HingeSystem(data, np.ones(20), np.empty(0)).solve(right)
    np.testing.assert_allclose(X.T @ (X @ found), right, rtol=1e-6)
