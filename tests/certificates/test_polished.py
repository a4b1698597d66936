from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse

import thalweg as tw
from linear_data import BOUNDED
from thalweg.certificates import polished as module
from thalweg.certificates.duality import duality_gap
from thalweg.certificates.pair import Pair
from thalweg.certificates.polished import affordable, polished


def solve(A, b):
    """Ax = b in fractions or decimals, by elimination."""
    A = [[*row, right] for row, right in zip(A, b, strict=True)]
    for k in range(len(A)):
        pivot = next(i for i in range(k, len(A)) if A[i][k] != 0)
        A[k], A[pivot] = A[pivot], A[k]
        for i in range(k + 1, len(A)):
            factor = A[i][k] / A[k][k]
            A[i] = [a - factor * b for a, b in zip(A[i], A[k], strict=True)]
    x = [0] * len(A)
    for k in reversed(range(len(A))):
        x[k] = (A[k][-1] - sum(A[k][j] * x[j] for j in range(k + 1, len(A)))) / A[k][k]
    return x


def ridge_value(X, y, l2, w):
    """F of ridge regression without an intercept, exactly."""
    total = Fraction(0)
    for row, target in zip(X, y, strict=True):
        z = sum(Fraction(float(x)) * v for x, v in zip(row, w, strict=True))
        total += (z - Fraction(float(target))) ** 2
    return total / (2 * len(y)) + Fraction(l2) / 2 * sum(v * v for v in w)


def ridge_optimum(X, y, l2):
    rows = [[Fraction(float(x)) for x in row] for row in X]
    p, n = len(rows[0]), len(rows)
    G = [[sum(r[i] * r[j] for r in rows) / n for j in range(p)] for i in range(p)]
    for j in range(p):
        G[j][j] += Fraction(l2)
    q = [sum(r[j] * Fraction(float(t)) for r, t in zip(rows, y, strict=True)) / n for j in range(p)]
    return solve(G, q)


def targets(loss, z, borders):
    if loss in ("squared", "huber"):
        return z
    return np.digitize(z, borders) if loss == "multinomial" else z > borders[0]


def far_apart(seed=0):
    """Columns of 10⁹ that are nearly alike, and a penalty that is tiny beside them."""
    rng = np.random.default_rng(seed)
    t = 1.5e9 + 1e6 * rng.standard_normal(40)
    X = np.column_stack([t, t + 60.0 * rng.standard_normal(40), rng.standard_normal(40)])
    return X, X[:, 2] + 0.3 * rng.standard_normal(40), 1e-9


@pytest.mark.parametrize("seed", range(3))
def test_what_is_optimal_is_certified_where_slopes_show_nothing(seed):
    X, y, l2 = far_apart(seed)
    problem = tw.LinearProblem(X, y, l2=l2, fit_intercept=False)
    best = ridge_optimum(X, y, l2)
    w = np.array([float(v) for v in best])
    least = ridge_value(X, y, l2, best)
    distance = float(ridge_value(X, y, l2, [Fraction(v) for v in w]) - least)
    scale = 0.5 * float(np.mean(y**2))
    assert duality_gap(problem, w).gap > 1e-3 * scale  # by the slopes of w itself
    found = polished(problem, w, 0.0)
    gap = found.primal - found.dual + found.rounding
    assert distance <= gap <= 1e-9 * scale
    assert found.dual - found.rounding <= float(least) * (1 + 1e-15)
    assert tw.certify(problem, w).holds


class Classes:
    """A problem of K classes without an intercept in decimals; the logistic one where K = 1."""

    def __init__(self, problem):
        self.K, self.n, self.p = problem.outputs, problem.n, problem.p
        self.X = [[Decimal(float(x)) for x in row] for row in problem.matrix.rows]
        self.labels = [max(int(y), 0) for y in problem.y]
        self.l2 = Decimal(problem.l2)

    def probabilities(self, w):
        """Of each sample and class; scores are 0 and z where K = 1."""
        for x in self.X:
            z = [sum(x[j] * w[j * self.K + k] for j in range(self.p)) for k in range(self.K)]
            powers = [(v - max(*z, 0)).exp() for v in ([Decimal(0), *z] if self.K == 1 else z)]
            yield x, [e / sum(powers) for e in powers]

    def value(self, w):
        rows = zip(self.probabilities(w), self.labels, strict=True)
        losses = -sum(q[label].ln() for (_, q), label in rows)
        return losses / self.n + self.l2 / 2 * sum(v * v for v in w)

    def newton(self, w):
        m, first = self.p * self.K, int(self.K == 1)
        g = [self.l2 * v for v in w]
        H = [[self.l2 * (i == j) for i in range(m)] for j in range(m)]
        for (x, q), label in zip(self.probabilities(w), self.labels, strict=True):
            for i in range(m):
                j, k = divmod(i, self.K)
                k += first
                g[i] += x[j] * (q[k] - (k == label)) / self.n
                for other in range(m):
                    a, b = divmod(other, self.K)
                    b += first
                    H[i][other] += x[j] * x[a] * q[k] * ((k == b) - q[b]) / self.n
        return [v - e for v, e in zip(w, solve(H, g), strict=True)]

    def least(self, w):
        w = [Decimal(float(v)) for v in w]
        for _ in range(6):
            w = self.newton(w)
        return w


@pytest.mark.parametrize("loss", ["logistic", "multinomial"])
def test_classes_are_certified_where_slopes_show_nothing(loss):
    """Columns of 10⁹ that are nearly alike; a slope must be right to more than an ulp."""
    X, _, l2 = far_apart()
    y = np.arange(16) % (3 if loss == "multinomial" else 2)
    problem = tw.LinearProblem(X[:16], y, loss, l2=l2, fit_intercept=False)
    start = polished(problem, np.zeros(problem.dim), 0.0).w
    with localcontext(prec=90):
        classes = Classes(problem)
        best = classes.least(start)
        w = np.array([float(v) for v in best])
        least = classes.value(best)
        distance = float(classes.value([Decimal(v) for v in w]) - least)
    assert duality_gap(problem, w).gap > 1e-3  # by the slopes of w itself
    found = polished(problem, w, 0.0)
    gap = found.primal - found.dual + found.rounding
    assert distance <= gap <= distance + 1e-13
    assert found.dual - found.rounding <= float(least)
    assert tw.certify(problem, w).holds
    np.testing.assert_allclose(found.w, w, rtol=1e-6)


@pytest.mark.parametrize("loss", BOUNDED)
@pytest.mark.parametrize("penalty", [(0.0, 1e-3), (1e-3, 0.0), (1e-3, 1e-3)])
@pytest.mark.parametrize("storage", [np.asarray, scipy.sparse.csr_array])
def test_from_near_the_optimum_the_gap_is_the_distance(loss, penalty, storage):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 5))
    z = X[:, 0] - X[:, 1] + rng.standard_normal(60)
    y = targets(loss, z, [0.0, 1.0])
    problem = tw.LinearProblem(storage(X), y, loss, l1=penalty[0], l2=penalty[1])
    run = tw.minimize(problem, "newton", tol=1e-12, progress=False)
    centred = problem.centred
    w = problem.enter(run.w, centred)
    w = w + 1e-4 * rng.standard_normal(w.size) * (w != 0)
    found = polished(centred, w, 0.0)
    distance = centred.value(w) - run.value
    assert found.primal == pytest.approx(centred.value(w), rel=1e-12)
    gap = found.primal - found.dual + found.rounding
    assert distance * (1 - 1e-3) <= gap <= distance * (1 + 1e-3) + 1e-13
    best = centred.settled(problem.enter(run.w, centred))
    np.testing.assert_allclose(found.w, best, atol=1e-6)


def test_the_bound_is_below_the_optimum_wherever_it_begins():
    X, y, l2 = far_apart()
    least = float(ridge_value(X, y, l2, ridge_optimum(X, y, l2)))
    problem = tw.LinearProblem(X, y, l2=l2, fit_intercept=False)
    for w in (np.zeros(3), np.ones(3), np.array([1e-9, -1e-9, 2.0])):
        with np.errstate(all="ignore"):
            found = polished(problem, w, 0.0)
        assert found.dual - found.rounding <= least * (1 + 1e-14)


@pytest.mark.parametrize("loss", BOUNDED)
@pytest.mark.parametrize("penalty", [(0.0, 1e3), (1e3, 0.0), (1.0, 1.0), (1e-3, 1e-3)])
def test_slopes_that_do_not_cancel_prove_nothing(loss, penalty):
    """With an intercept, at one that is far from the best."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((40, 3))
    z = 2.0 + X[:, 0] + 0.3 * rng.standard_normal(40)
    y = targets(loss, z, [1.0, 2.0])
    problem = tw.LinearProblem(X, y, loss, l1=penalty[0], l2=penalty[1]).centred
    best = tw.minimize(problem, "newton", tol=1e-12, progress=False).value
    for row in ([0.0] * 4, [0.0, 0.0, 0.0, 1e-300], [1.0, 0.0, 0.0, -3.0]):
        w = np.outer(row, np.arange(problem.outputs) - 3.0 * (problem.outputs == 1)).ravel()
        found = polished(problem, w, np.inf)  # as soon as there is a bound, it is taken
        assert found.primal - found.dual + found.rounding >= problem.value(w) - best


def test_large_problems_and_no_penalty_are_left_alone(monkeypatch):
    X, y = np.eye(6), np.arange(6) % 3
    assert affordable(tw.LinearProblem(X, y, l2=1.0))
    assert not affordable(tw.LinearProblem(X, y))
    assert affordable(tw.LinearProblem(X, y, "multinomial", l2=1.0))
    monkeypatch.setattr(module, "MOST_ENTRIES", 36)
    assert affordable(tw.LinearProblem(X, y, l2=1.0))
    assert not affordable(tw.LinearProblem(X, y, "multinomial", l2=1.0))
    monkeypatch.setattr(module, "MOST_ENTRIES", 35)
    assert not affordable(tw.LinearProblem(X, y, l2=1.0))


def test_what_all_classes_share_is_taken_off():
    """Nothing bends along it, and a tiny l2 alone would not tell where it is to be."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 3))
    problem = tw.LinearProblem(X, np.arange(30) % 3, "multinomial", l2=1e-12).centred
    run = tw.minimize(problem, "newton", tol=1e-12, progress=False)
    W, b = problem.split(run.w)
    shifted = np.append((W + 1e-3 * rng.standard_normal((3, 1))).ravel(), b + 5.0)
    found = polished(problem, shifted, 0.0)
    gap = found.primal - found.dual + found.rounding
    assert 0.0 <= gap <= (problem.value(shifted) - run.value) + 1e-13
    np.testing.assert_allclose(found.w, problem.settled(run.w), atol=1e-6)


def test_a_support_that_is_wrong_is_put_right():
    """All coefficients at work where the best has few, and none where it has some."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 8))
    X[:, 1] = X[:, 0] + 1e-7 * rng.standard_normal(60)
    y = X[:, 0] + 0.3 * rng.standard_normal(60) > 0
    problem = tw.LinearProblem(X, y, "logistic", l1=0.05).centred
    best = tw.minimize(problem, "newton", tol=1e-12, progress=False)
    assert 0 < np.count_nonzero(best.w[:-1]) < 8
    for w in (np.zeros(9), 0.1 * np.ones(9), rng.standard_normal(9)):
        found = polished(problem, w, 0.0)
        gap = found.primal - found.dual + found.rounding
        assert gap == pytest.approx(problem.value(w) - best.value, rel=1e-9)
        assert np.count_nonzero(found.w) <= np.count_nonzero(best.w)


def test_steps_that_creep_are_given_up(monkeypatch):
    """As those of a loss that is flat nearly everywhere: rounding is not what they suffer from."""
    penalties = {"l1": 0.01, "l2": 0.1, "fit_intercept": False}
    data = tw.LinearProblem(np.eye(4), np.arange(4.0), "huber", delta=0.1, **penalties)
    asked = []

    def creeping(polish, at, is_exact):
        asked.append(is_exact)
        w = Pair(at.w.high * (1.0 + 1e-9), at.w.low)
        return at._replace(w=w, value=at.value * (1.0 - 1e-9))

    monkeypatch.setattr("thalweg.certificates.polished._Polish.stepped", creeping)
    polished(data, np.full(4, 0.3), 1e-12)
    assert len(asked) <= 10
    assert asked[-1]
