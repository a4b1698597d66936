import numpy as np
import pytest

from thalweg.certificates.small_gap import LIMITS
from thalweg.kernels.losses import HUBER, LOGISTIC, SQUARED, SQUARED_HINGE, curvature_bound
from thalweg.kernels.small_gap import gap_pass

CODES = (SQUARED, LOGISTIC, SQUARED_HINGE, HUBER)


def gap(code, A, y, w, *, c=None, l1=0.0, l2=0.0, p=None):
    n, q = A.shape
    c = np.full(n, 1.0 / n) if c is None else c
    p = q if p is None else p
    bend = curvature_bound(code)
    return gap_pass(code, A, y, c, 1.0, bend, l1, l2, p, np.asarray(w, dtype=float), LIMITS)


def test_at_the_minimum_by_hand():
    # ½(w − 2)² + ½w² is least at 1, where it is 1; θ = −1 and D = −(−2 + ½) − ½ = 1.
    primal, rounding, dual, error = gap(SQUARED, np.ones((1, 1)), np.array([2.0]), [1.0], l2=1.0)
    assert (primal, dual) == (1.0, 1.0)
    assert 0.0 < rounding + error < 1e-13


def test_slopes_are_scaled_into_l1_by_hand():
    # ½(w − 2)² + |w| is least at 1, where it is 3/2; at 0, θ = −2 is halved: −(−2 + ½) = 3/2.
    primal, _, dual, _ = gap(SQUARED, np.ones((1, 1)), np.array([2.0]), [0.0], l1=1.0)
    assert primal == 2.0
    assert dual == pytest.approx(1.5, rel=1e-14)
    assert dual <= 1.5


def test_the_best_intercept_is_looked_for_by_hand():
    # Without a slope worth having, the best constant is the mean, 2, and F* = ½·1 = D.
    A, y = np.column_stack([[1.0, -1.0, 0.0, 0.0], np.ones(4)]), np.array([3.0, 3.0, 1.0, 1.0])
    primal, _, dual, _ = gap(SQUARED, A, y, [0.0, 0.0], l2=1.0, p=1)
    assert primal == 2.5
    assert dual == pytest.approx(0.5, rel=1e-14)


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize(("l1", "l2"), [(0.0, 0.1), (0.1, 0.0), (0.05, 0.1)])
def test_no_bound_is_above_a_value(code, l1, l2):
    rng = np.random.default_rng(code)
    A = np.column_stack([rng.standard_normal((30, 3)), np.ones(30)])
    y = A[:, 0] + rng.standard_normal(30)
    y = np.sign(y) if code in (LOGISTIC, SQUARED_HINGE) else y
    points = [scale * rng.standard_normal(4) for scale in (0.0, 0.1, 1.0, 10.0) for _ in range(5)]
    found = [gap(code, A, y, w, l1=l1, l2=l2, p=3) for w in points]
    lowest = min(primal - rounding for primal, rounding, _, _ in found)
    assert all(0.0 <= dual - error <= lowest + 2e-14 for _, _, dual, error in found)


def test_a_row_without_weight_has_no_say():
    rng = np.random.default_rng(0)
    A, y = rng.standard_normal((6, 2)), np.sign(rng.standard_normal(6))
    c = np.array([0.0, 0.2, 0.2, 0.2, 0.2, 0.2])
    for w in ([0.3, -0.2], [3.0, 1.0]):
        whole = gap(LOGISTIC, A, y, w, c=c, l2=0.1)
        part = gap(LOGISTIC, A[1:], y[1:], w, c=c[1:], l2=0.1)
        assert whole[:3:2] == pytest.approx(part[:3:2], rel=1e-14)
