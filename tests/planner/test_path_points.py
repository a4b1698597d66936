"""Points of a path as arrays: those of the path itself, and proved as they are."""

import numpy as np
import pytest

import thalweg as tw
from thalweg.planner.path_points import path_points

L1S = np.geomspace(1.0, 1e-2, 6)


@pytest.mark.parametrize("shape", [(80, 6), (20, 90)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_points_are_those_of_the_path(shape, dtype):
    rng = np.random.default_rng(0)
    X = rng.standard_normal(shape).astype(dtype)
    y = X[:, :3] @ [1.0, -2.0, 3.0] + rng.standard_normal(shape[0])
    tol = 1e-10 if dtype == np.float64 else 1e-4
    found = path_points(tw.LinearProblem(X, y), L1S, 0.5 * L1S, tol=tol)
    runs = tw.path(tw.LinearProblem(X, y), L1S, l2s=0.5 * L1S, tol=tol, progress=False)
    assert found.is_done.all()
    assert np.all(found.gaps <= tol * found.scale)
    np.testing.assert_array_equal(found.W, [run.w for run in runs])
    assert found.scale == pytest.approx(runs[0].certificate.evidence["scale"])


def test_a_point_that_the_sums_do_not_prove_is_minimised_on_its_own(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 3))
    y = X @ [1.0, 2.0, 3.0]  # almost nothing is left beside s: the digits of the sums end there
    asked = []

    def noted(problem, *args, **options):
        asked.append((problem.l1, problem.l2))
        return tw.minimize(problem, *args, **options)

    monkeypatch.setattr("thalweg.planner.path_points.minimize", noted)
    l1s, l2s = np.array([1.0, 1e-9]), np.array([0.5, 0.0])
    found = path_points(tw.LinearProblem(X, y), l1s, l2s, tol=1e-14)
    assert (1e-9, 0.0) in asked
    np.testing.assert_allclose(found.W[1, :3], [1.0, 2.0, 3.0], rtol=1e-6)


def test_without_l1_there_are_points_too_and_without_a_penalty_no_gap():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 3)), rng.standard_normal(40)
    found = path_points(tw.LinearProblem(X, y), np.zeros(2), np.array([0.1, 0.0]), tol=1e-9)
    assert np.isfinite(found.gaps[0])
    assert np.isnan(found.gaps[1])
