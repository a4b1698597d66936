"""The judge of nasty problems, judged: by fractions, by many decimals, and by lies to be found."""

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse
from nasty import cases, judge, polish, reference
from nasty.dense import cholesky, householder, lower_solve, upper_solve
from nasty.twofold import Long, Twofold, matvec, two_product, two_sum

SEEDS = range(400)
LOSSES = ("squared", "logistic", "multinomial", "squared-hinge", "huber")


def fraction(number) -> Fraction:
    """A long double, or a pair's parts added up, without rounding."""
    high = float(number)
    rest = Long(number) - Long(high)
    return Fraction(high) + Fraction(float(rest))


def some(count, **wanted):
    """The first seeds whose cases have a minimum and are as wanted, of few rows and columns."""
    found = []
    for seed in SEEDS:
        case = cases.problem(seed)
        fits = all(getattr(case, name) == value for name, value in wanted.items())
        if fits and case.expect == "minimum" and case.X.shape[0] * case.X.shape[1] < 400:
            found.append(seed)
    return found[:count]


def dense(case):
    return case.X.toarray() if scipy.sparse.issparse(case.X) else case.X


def test_sums_and_products_keep_what_rounding_drops():
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(50).astype(Long) * 10 ** rng.uniform(-9, 9, 50) for _ in range(2))
    for pair, exact in ((two_sum(a, b), "__add__"), (two_product(a, b), "__mul__")):
        for i in range(50):
            wanted = getattr(fraction(a[i]), exact)(fraction(b[i]))
            assert fraction(pair.high[i]) + fraction(pair.low[i]) == wanted


def test_a_product_of_huge_terms_that_cancel_has_its_digits():
    A = np.array([[1e9 + 1e-7, 1e9]], dtype=Long)
    x = np.array([1e15, -1e15], dtype=Long)
    z = matvec(Twofold(A, np.zeros_like(A)), x)
    exact = (Fraction(1e9 + 1e-7) - Fraction(1e9)) * Fraction(1e15)
    assert abs(fraction(z.high[0]) + fraction(z.low[0]) - exact) <= abs(exact) * Fraction(1, 10**15)


def test_factorisations_solve():
    rng = np.random.default_rng(1)
    A = rng.standard_normal((9, 5)).astype(Long)
    b = rng.standard_normal(9).astype(Long)
    R, right = householder(A, b)
    x = upper_solve(R, right)
    assert np.max(np.abs(A.T @ (A @ x - b))) < 1e-17
    L = cholesky(A.T @ A)
    assert np.max(np.abs(upper_solve(L.T, lower_solve(L, A.T @ b)) - x)) < 1e-17
    assert cholesky(-np.eye(2)) is None


def test_a_repeated_column_is_dependent_and_gets_nothing():
    rng = np.random.default_rng(2)
    A = rng.standard_normal((6, 2)).astype(Long)[:, [0, 1, 0]]
    R, right = householder(A, np.ones(6, dtype=Long))
    assert upper_solve(R, right)[2] == 0.0


def decimal_value(case, w) -> Decimal:
    """F by its definition; means and scales as `reference` states them."""
    X, y = dense(case).astype(float), np.asarray(case.y)
    s = np.ones(len(X)) if case.sample_weight is None else case.sample_weight
    m, scale = reference.standardization(case) if case.standardize else (0 * X[0], 0 * X[0] + 1)
    classes, code = np.unique(y, return_inverse=True)
    K = len(classes) if case.loss == "multinomial" else 1
    p = X.shape[1]
    exact = np.vectorize(lambda number: Decimal(float(number)), otypes=[object])
    W, b = exact(w[: p * K].reshape(p, K)), exact(w[p * K :]) if case.fit_intercept else [0] * K
    Z = (exact(X) - exact(m)) * exact(scale)
    total = Decimal(0)
    for i in range(len(X)):
        z = [sum(Z[i] * W[:, k], Decimal(0)) + b[k] for k in range(K)]
        total += Decimal(float(s[i])) * decimal_loss(case, z, y[i], code[i])
    total /= sum(exact(s))
    penalty = sum((exact(w[: p * K]) ** 2) * Decimal(case.l2) / 2, Decimal(0))
    return total + penalty + sum(abs(exact(w[: p * K])) * Decimal(case.l1), Decimal(0))


def decimal_loss(case, z, y, code) -> Decimal:
    if case.loss == "multinomial":
        top = max(z)
        return sum((score - top).exp() for score in z).ln() + top - z[code]
    if case.loss in ("logistic", "squared-hinge"):
        margin = z[0] * (2 * int(code) - 1)
        if case.loss == "squared-hinge":
            return max(Decimal(0), 1 - margin) ** 2 / 2
        return (1 + (-abs(margin)).exp()).ln() + max(-margin, Decimal(0))
    r = abs(z[0] - Decimal(float(y)))
    delta = Decimal(float(case.delta))
    return r * r / 2 if case.loss == "squared" or r <= delta else delta * r - delta * delta / 2


@pytest.mark.parametrize("loss", LOSSES)
def test_values_agree_with_many_decimals_within_their_bound(loss):
    seeds = some(12, loss=loss)
    assert len(seeds) == 12
    for seed in seeds:
        case = cases.problem(seed)
        canon = reference.canonical(case)
        rng = np.random.default_rng(seed)
        dim = (case.X.shape[1] + case.fit_intercept) * canon.outputs
        w = rng.standard_normal(dim)
        found = reference.value(canon, reference.point(canon, w))
        with localcontext() as context:
            context.prec = 120
            wanted = Fraction(decimal_value(case, w))
        assert abs(fraction(found.F) - wanted) <= fraction(found.error), case.description
        assert found.error <= 1e-16 * found.F


def ridge(case) -> Fraction:
    """F* of squared loss with l2 in rational numbers: eliminate on [XᵀSX + λI, XᵀS1; …]."""
    X = [[Fraction(float(v)) for v in row] for row in dense(case)]
    s = np.ones(len(X)) if case.sample_weight is None else case.sample_weight
    s = [Fraction(float(v)) for v in s]
    omega = [v / sum(s) for v in s]
    y = [Fraction(float(v)) for v in case.y]
    p = len(X[0])
    E = [row + [Fraction(1)] * case.fit_intercept for row in X]
    dim, l2 = len(E[0]), Fraction(float(case.l2))
    rows = [
        [sum(o * e[i] * e[j] for o, e in zip(omega, E, strict=True)) for j in range(dim)]
        + [sum(o * e[i] * t for o, e, t in zip(omega, E, y, strict=True))]
        for i in range(dim)
    ]
    for j in range(p):
        rows[j][j] += l2
    for k in range(dim):
        for i in range(dim):
            if i != k:
                factor = rows[i][k] / rows[k][k]
                rows[i] = [a - factor * c for a, c in zip(rows[i], rows[k], strict=True)]
    w = [rows[k][dim] / rows[k][k] for k in range(dim)]
    residuals = [
        sum(a * c for a, c in zip(e, w, strict=True)) - t for e, t in zip(E, y, strict=True)
    ]
    loss = sum(o * r * r for o, r in zip(omega, residuals, strict=True)) / 2
    return loss + l2 * sum(v * v for v in w[:p]) / 2


def test_ridge_regression_is_solved_as_in_fractions():
    seeds = some(40, loss="squared", penalty="l2", standardize=False)
    seeds = [seed for seed in seeds if cases.problem(seed).X.shape[1] < 8]
    assert len(seeds) >= 8
    for seed in seeds[:12]:
        case = cases.problem(seed)
        canon = reference.canonical(case)
        found = polish.polished(canon, polish.start(canon))
        wanted = ridge(case)
        assert fraction(found.value.F) - wanted >= -fraction(found.value.error), case.description
        assert fraction(found.value.F) - wanted <= wanted / 10**15 + fraction(found.value.error)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("penalty", ["l2", "l1", "elastic net"])
def test_the_judge_knows_the_minimum(loss, penalty):
    """Value and dual value meet: neither is wrong, and the optimality conditions hold."""
    seeds = some(8, loss=loss, penalty=penalty)
    assert len(seeds) >= 4
    widths = []
    for seed in seeds:
        canon = reference.canonical(cases.problem(seed))
        found = polish.polished(canon, polish.start(canon))
        F, error = found.value
        assert found.bound <= F + error + 1e-15 * F
        widths.append(float((F - found.bound) / F) if F > 0 else 0.0)
    assert np.median(widths) < 1e-15
    assert np.mean(np.array(widths) < 1e-9) >= 0.8


def claims(seed):
    """A case, a poor point of it, and the verdict on a gap there."""
    case = cases.problem(seed)
    canon = reference.canonical(case)
    best = polish.polished(canon, polish.start(canon))
    here = reference.value(canon, polish.best_constant(canon))
    return (
        here,
        best,
        lambda gap: judge.verdict(gap, here, best.value, best.bound, here.F)["verdict"],
    )


@pytest.mark.parametrize("loss", LOSSES)
def test_a_gap_that_claims_too_much_is_found_and_a_true_one_is_not(loss):
    tried = 0
    for seed in some(8, loss=loss, penalty="elastic net") + some(8, loss=loss, penalty="l2"):
        here, best, verdict = claims(seed)
        true = float(here.F - best.value.F)
        if true > 1e-5 * here.F and here.F - best.bound < 1.0001 * true:
            tried += 1
            assert verdict(true * 0.999) == "wrong"
            assert verdict(0.0) == "wrong"
            assert verdict(-1.0) == "wrong"
            assert verdict(float("nan")) == "wrong"
            assert verdict(true * (1 - 1e-12)) == "rounding"
            assert verdict(true * 1.001) == "right"
            assert verdict(float("inf")) == "right"
            assert verdict(None) == "no gap"
    assert tried >= 4


def test_a_seed_is_a_case():
    for seed in range(50):
        one, other = cases.problem(seed), cases.problem(seed)
        assert np.array_equal(dense(one), dense(other), equal_nan=True)
        assert np.array_equal(one.y, other.y)
        assert one.description == other.description
        assert (one.l1, one.l2, one.expect) == (other.l1, other.l2, other.expect)


def test_separable_classes_are_known():
    x = np.array([[1.0], [2.0], [3.0], [4.0]])
    base = cases.problem(1)._replace(X=x, sample_weight=None, l1=0.0, l2=0.0, fit_intercept=True)
    base = base._replace(loss="logistic", standardize=False)
    apart = base._replace(y=np.array([-1, -1, 1, 1]))
    assert cases.expectation(apart) == "no minimum"
    assert cases.expectation(apart._replace(y=np.array([-1, 1, -1, 1]))) == "minimum"
    assert cases.expectation(apart._replace(l2=1e-9)) == "minimum"
    assert cases.expectation(apart._replace(fit_intercept=False)) == "minimum"
    assert cases.expectation(apart._replace(X=x * [[1], [1], [0], [1]])) == "minimum"
    unweighted = apart._replace(l2=1.0, sample_weight=np.array([1.0, 1.0, 0.0, 0.0]))
    assert cases.expectation(unweighted) == "no minimum"
    many = base._replace(loss="multinomial", y=np.array([0, 1, 1, 2]))
    assert cases.expectation(many) == "no minimum"
    assert cases.expectation(many._replace(y=np.array([0, 1, 0, 1]))) == "minimum"


@pytest.mark.parametrize("seed", [248, 366, 1_000_523, 1_000_711, 1_000_759])
def test_gaps_that_were_below_the_truth_once(seed):
    """Slopes that do not cancel, intercepts that are rounded from one origin to another."""
    facts = judge.record(seed, 1e-6, True)
    assert {name: found["verdict"] for name, found in facts["truth"].items()} == dict.fromkeys(
        ("run", "certify", "beside", "zero"), "right"
    )
