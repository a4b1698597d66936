"""R* column by column against its definition, a supremum; and gaps that bound what they say."""

import numpy as np
import pytest
import scipy.optimize

import thalweg as tw
from column_problems import HELD, SHAPES, drawn
from thalweg.certificates.column_dual import ColumnDual, column_dual

L1 = np.array([0.3, 0.0, 0.5, 0.2, 0.0])
L2 = np.array([0.0, 0.4, 0.7, 0.0, 0.0])
LOW = np.array([0.0, -np.inf, -0.2, -1.0, 0.0])
HIGH = np.array([np.inf, np.inf, 0.4, 2.0, np.inf])
DUAL = ColumnDual(L1, L2, LOW, HIGH, np.zeros(5))


def slow(u, j):
    """The supremum of one column."""
    best = scipy.optimize.minimize_scalar(
        lambda t: L1[j] * abs(t) + 0.5 * L2[j] * t * t - u * t,
        bounds=(max(LOW[j], -50.0), min(HIGH[j], 50.0)),
        method="bounded",
        options={"xatol": 1e-12},
    )
    return -best.fun


@pytest.mark.parametrize("seed", range(5))
def test_it_is_the_supremum_where_it_is_finite(seed):
    v = np.random.default_rng(seed).standard_normal(5)
    v[4] = abs(v[4])  # −v ≤ 0 is asked for: one bound, and nothing else
    s = min(1.0, DUAL.largest(v))
    expected = sum(slow(-s * v[j], j) for j in range(5))
    assert DUAL.value(v, s) == pytest.approx(expected, abs=1e-6)


def test_how_far_one_may_go():
    v = np.array([-0.6, 9.0, 9.0, 9.0, 0.0])
    assert DUAL.largest(v) == pytest.approx(0.5)  # u = 0.6s ≤ l1 = 0.3 beside w ≥ 0
    assert DUAL.largest(-v) == np.inf  # on the other side nothing is asked for
    assert DUAL.largest(np.array([0.0, 0.0, 0.0, 0.0, -1e-9])) == 0.0


def test_rounding_covers_what_an_error_of_v_may_do():
    v = np.array([0.1, 1.0, -0.9, 0.21, 0.3])
    error = np.full(5, 1e-3)
    penalty, off = DUAL.with_rounding(v, 1.0, error, 0.0)
    for signs in np.random.default_rng(0).choice([-1.0, 1.0], (50, 5)):
        assert DUAL.value(v + signs * error, 1.0) <= penalty + off + 1e-15
    assert off < 1e-2
    beyond = v.copy()
    beyond[4] = 1e-4  # may be beyond an end at zero: nothing is known
    assert DUAL.with_rounding(beyond, 1.0, error, 0.0)[0] == np.inf


@pytest.mark.parametrize("held", HELD.values(), ids=HELD)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("l1", "l2"), [(0.0, 0.0), (0.02, 0.0), (0.02, 0.05), (0.0, 0.05)])
def test_no_bound_is_above_what_another_method_reaches(held, shape, l1, l2):
    problem = drawn(3, *shape, "squared", held, l1=l1, l2=l2)
    best = tw.minimize(problem, "cd", tol=1e-9, progress=False)
    assert best.certificate.holds
    rng = np.random.default_rng(0)
    for size in (0.0, 1e-4, 1e-1):
        w = best.w.copy()
        w[:-1] = problem.by_column.nearest(w[:-1] + size * rng.standard_normal(problem.p))
        found = tw.certify(problem, w)
        if found.gap is not None:
            assert found.evidence["dual"] - found.evidence["rounding"] <= best.value + 1e-14
            assert problem.value(w) - best.value <= found.gap + 1e-14


def test_a_bound_that_is_far_away_costs_nothing():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 8)), rng.standard_normal(60)
    for low in (0.0, None):
        said = tw.ByColumn((low, 1e12))
        run = tw.minimize(tw.LinearProblem(X, y, penalty=said), "newton", tol=1e-9, progress=False)
        assert run.certificate.holds


def test_a_point_beyond_a_bound_has_no_finite_value():
    problem = drawn(0, 60, 8, "squared", {"bounds": (0.0, None)}, l2=0.1)
    w = np.full(9, -1.0)
    assert problem.value(w) == np.inf
    assert not tw.certify(problem, w).holds


def test_a_constant_column_asks_for_nothing():
    problem = drawn(0, 60, 8, "squared", {"bounds": (0.0, None)}, offset=1e6)
    dual = column_dual(problem.centred)
    assert (dual.low[-2], dual.high[-2]) == (0.0, 0.0)
