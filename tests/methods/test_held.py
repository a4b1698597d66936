"""What holds coefficients: subgradients by their definition, and where coordinate descent ends."""

import numpy as np
import pytest
import scipy.optimize

import thalweg as tw
from column_problems import HELD, SHAPES, drawn
from thalweg.methods.held import held, leaning, penalties, rise, shortest_subgradient
from thalweg.objectives.linear import LinearProblem


def slow_subgradient(problem, w, v):
    """The element nearest to zero of an interval, one column at a time."""
    found = np.empty(problem.p)
    for j, (l1, l2, low, high) in enumerate(zip(*held(problem), strict=True)):
        slope = v[j] + l2 * w[j]
        least, most = slope + l1 * np.sign(w[j]), slope + l1 * np.sign(w[j])
        if w[j] == 0.0:
            least, most = slope - l1, slope + l1
        least = -np.inf if w[j] <= low else least
        most = np.inf if w[j] >= high else most
        found[j] = 0.0 if least <= 0.0 <= most else least if least > 0.0 else most
    return found


@pytest.mark.parametrize("name", HELD)
def test_shortest_subgradient(name):
    problem = drawn(0, 60, 8, "squared", HELD[name], l1=0.1, l2=0.2)
    rng = np.random.default_rng(0)
    for _ in range(20):
        w = problem.by_column.nearest(rng.choice([-1.0, 0.0, 0.1, 1.0], 8))
        v = rng.standard_normal(8)
        found = shortest_subgradient(problem, w, v, np.zeros(8, dtype=bool))
        np.testing.assert_allclose(found, slow_subgradient(problem, w, v), atol=1e-15)
        out = shortest_subgradient(problem, w, v, np.ones(8, dtype=bool))
        assert np.all(out[w == 0.0] == 0.0)


def test_penalties_and_their_rise_are_those_of_the_problem():
    problem = drawn(0, 60, 8, "squared", HELD["weights"], l1=0.1, l2=0.2)
    old, new = np.random.default_rng(0).standard_normal((2, 8))
    for w in (old, new):
        F = problem.penalty(np.append(w, 0.0)) + problem.ridge(w)
        assert penalties(problem, w) == pytest.approx(F)
    slope = (penalties(problem, old + 1e-7 * (new - old)) - penalties(problem, old)) / 1e-7
    assert rise(problem, old, new) >= slope - 1e-6, "a convex part is at most its whole change"


def test_how_far_a_column_leans():
    problem = drawn(0, 60, 3, "squared", {"bounds": ([0.0, -1.0, -1.0], None)}, l1=0.5)
    w = np.array([0.0, 0.0, 0.3])
    assert leaning(problem, w, np.array([2.0, 2.0, 0.0])).tolist() == [-2.5, 1.5, np.inf]
    assert leaning(problem, w, np.array([-2.0, -2.0, 0.0])).tolist() == [1.5, 1.5, np.inf]


@pytest.mark.parametrize("name", HELD)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(("l1", "l2"), [(0.0, 0.0), (0.02, 0.0), (0.0, 0.05)])
def test_cd_and_newton_certify_and_agree(name, shape, sparse, l1, l2):
    for offset in (0.0,) if sparse else (0.0, 1e6):
        problem = drawn(
            7, *shape, "squared", HELD[name], l1=l1, l2=l2, sparse=sparse, offset=offset
        )
        values = []
        for method in (
            ("cd", "newton", "fista") if l2 and "weights" not in name else ("cd", "newton")
        ):
            run = tw.minimize(problem, method, tol=1e-6, progress=False)
            assert run.certificate.holds, run.reason
            assert run.certificate.gap is not None
            assert problem.by_column.value(run.w[:-1]) < np.inf
            values.append(run.value)
        assert np.ptp(values) <= run.certificate.limit


@pytest.mark.parametrize("loss", ["logistic", "squared-hinge", "huber", "poisson", "gamma"])
@pytest.mark.parametrize("name", ["positive", "box", "weights"])
@pytest.mark.parametrize("seed", [1, 2])
def test_other_losses_certify(loss, name, seed):
    problem = drawn(seed, 80, 8, loss, HELD[name], l1=0.01, l2=0.01)
    runs = [tw.minimize(problem, method, progress=False) for method in ("cd", "newton")]
    assert all(run.certificate.holds for run in runs)
    assert abs(runs[0].value - runs[1].value) <= runs[0].certificate.limit


@pytest.mark.parametrize("seed", range(4))
def test_least_squares_with_bounds_is_scipys(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((30, 6)), rng.standard_normal(30)
    for bounds in ((0.0, np.inf), (-0.1, 0.05)):
        problem = LinearProblem(X, y, penalty=tw.ByColumn(bounds), fit_intercept=False)
        theirs = scipy.optimize.lsq_linear(X, y, bounds, tol=1e-14, method="bvls")
        for method in ("cd", "newton"):
            run = tw.minimize(problem, method, tol=1e-12, progress=False)
            np.testing.assert_allclose(run.w, theirs.x, atol=1e-6)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_float32_stays_within_its_bounds(loss):
    problem = drawn(0, 60, 8, loss, {"bounds": (-0.1, 0.3)}, l1=0.01)
    single = LinearProblem(
        problem.matrix.rows.astype(np.float32), problem.y, loss, l1=0.01,
        penalty=tw.ByColumn((-0.1, 0.3)),
    )  # fmt: skip
    for method in ("cd", "newton", "fista"):
        run = tw.minimize(single, method, tol=1e-4, progress=False)
        assert run.w.dtype == np.float32
        assert run.certificate.holds
        assert run.w[:-1].min() >= np.float32(-0.1)
        assert run.w[:-1].max() <= np.float32(0.3)
