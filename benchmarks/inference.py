"""Standard errors, tests and intervals beside statsmodels', and how often intervals cover.

    python benchmarks/inference.py            the table, and exit code 1 above 1e-6
    python benchmarks/inference.py --fits 2000    of the coverage

Ten sets of rows, with and without weights, by every covariance that both have (HC1 has its factor
in statsmodels for least squares alone, MNLogit has no weights there). A number is the largest
difference over all coefficients: of estimates and standard errors in standard errors, of p as it
is, of ends of intervals in standard errors. Fits of both end at 1e-14.

Coverage is the share of experiments, drawn from known coefficients, whose 95 % interval holds them.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import statsmodels.api as sm
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine

import thalweg as tw

ALLOWED = 1e-6
TIGHT = 1e-14
LOG = sm.families.links.Log()


class Rows(NamedTuple):
    """One set of rows, and what is fitted to it."""

    name: str
    X: np.ndarray
    y: np.ndarray
    model: Any
    family: Any  # statsmodels', "ols" or "mnlogit"


def sets() -> Iterator[Rows]:
    """Ten of them: six with real columns, four drawn."""
    rng = np.random.default_rng(0)
    X, y = load_diabetes(return_X_y=True)
    ols, poisson = tw.LinearRegression(tol=TIGHT), tw.PoissonRegressor(alpha=0, tol=TIGHT)
    logit = tw.LogisticRegression(C=np.inf, tol=TIGHT)
    gamma = tw.GammaRegressor(alpha=0, tol=TIGHT)
    yield Rows("diabetes", X, y, ols, "ols")
    yield Rows("diabetes, high or low", X, (y > np.median(y)).astype(int), logit, "logit")
    thirds = np.digitize(y, np.quantile(y, [1 / 3, 2 / 3]))
    yield Rows("diabetes, thirds", X[:, :6], thirds, logit, "mnlogit")
    yield Rows("diabetes, gamma", X, y, gamma, sm.families.Gamma(LOG))
    A, b = load_breast_cancer(return_X_y=True)
    yield Rows("cancer, 4 columns", A[:, [1, 4, 8, 9]], b, logit, "logit")
    A, b = load_wine(return_X_y=True)
    yield Rows("wine, alcohol by the rest", A[:, 1:], A[:, 0], ols, "ols")
    A, b = load_iris(return_X_y=True)
    yield Rows("iris, petals by sepals", A[:, :2], A[:, 2], gamma, sm.families.Gamma(LOG))
    Z = rng.standard_normal((600, 4)) * [1.0, 10.0, 0.1, 1.0] + [0.0, 2000.0, 5.0, 0.0]
    z = 0.3 * (Z - Z.mean(axis=0)) @ [1.0, 0.1, 10.0, 0.0]
    yield Rows("counts by years", Z, rng.poisson(np.exp(z)), poisson, sm.families.Poisson(LOG))
    yield Rows("errors that grow", Z, z + np.exp(z) * rng.standard_normal(600), ols, "ols")
    claims = np.where(rng.random(600) < 0.3, 0.0, rng.gamma(2.0, np.exp(z)))
    tweedie = tw.TweedieRegressor(power=1.5, alpha=0, tol=TIGHT)
    family = sm.families.Tweedie(LOG, var_power=1.5)
    yield Rows("claims, many of them none", Z, claims, tweedie, family)


def theirs(rows: Rows, weights: np.ndarray, covariance: str, groups: np.ndarray) -> Any:
    """statsmodels' results."""
    asked: dict[str, Any] = {"cov_type": covariance}
    if covariance == "classical":
        asked = {}
    elif covariance == "clustered":
        asked = {"cov_type": "cluster", "cov_kwds": {"groups": groups}}
    A = sm.add_constant(rows.X, prepend=False)
    if rows.family == "ols":
        return sm.WLS(rows.y, A, weights=weights).fit(**asked)
    if rows.family == "mnlogit":
        return sm.MNLogit(rows.y, A).fit(disp=0, method="newton", maxiter=100, tol=TIGHT, **asked)
    family = sm.families.Binomial() if rows.family == "logit" else rows.family
    model = sm.GLM(rows.y, A, family=family, var_weights=weights)
    return model.fit(tol=TIGHT, maxiter=200, **asked)


def covariances(rows: Rows) -> list[str]:
    """Those that both have."""
    more = ["HC1", "HC2", "HC3"] if rows.family == "ols" else []
    return ["classical", "HC0", *more, "clustered"]


def differences(rows: Rows, weights: np.ndarray, covariance: str) -> list[float]:
    """Of estimates, standard errors, p and intervals."""
    groups = np.arange(len(rows.y)) % 23
    ours = rows.model.fit(rows.X, rows.y, weights).summary(
        rows.X, rows.y, weights, covariance=covariance,
        groups=groups if covariance == "clustered" else None,
    )  # fmt: skip
    other = theirs(rows, weights, covariance, groups)
    shape = ours.coefficients.shape
    estimate, error, p = (
        np.asarray(each).reshape(shape) for each in (other.params, other.bse, other.pvalues)
    )
    ends = np.asarray(other.conf_int()).reshape(shape[1], shape[0], 2).transpose(2, 1, 0)
    return [
        float(np.max(np.abs(each)))
        for each in (
            (ours.coefficients - estimate) / error, ours.standard_errors / error - 1.0,
            ours.p_values - p, (ours.intervals - ends) / error,
        )
    ]  # fmt: skip


def coverage(fits: int) -> Iterator[tuple[str, float]]:
    """The share of intervals that hold the truth, by loss and covariance."""
    rng, w, n = np.random.default_rng(7), np.array([0.5, -0.3, 0.2]), 400
    plain = {"squared": tw.LinearRegression(), "poisson": tw.PoissonRegressor(alpha=0)}
    plain["logistic"] = tw.LogisticRegression(C=np.inf)
    X = rng.standard_normal((n, 2))
    z = X @ w[:2] + w[2]
    groups = np.arange(n) // 8
    cases = {
        "squared": "classical", "logistic": "classical", "poisson": "classical",
        "squared, errors that grow": "HC3", "squared, groups alike": "clustered",
    }  # fmt: skip
    for name, covariance in cases.items():
        loss, held = name.partition(",")[0], 0
        for _ in range(fits):
            if loss == "logistic":
                y = (rng.random(n) < 1.0 / (1.0 + np.exp(-z))).astype(int)
            elif loss == "poisson":
                y = rng.poisson(np.exp(z)).astype(float)
            else:
                spread = np.exp(X[:, 0]) if "grow" in name else 1.0
                shared = rng.standard_normal(n // 8).repeat(8) if "groups" in name else 0.0
                y = z + spread * rng.standard_normal(n) + shared
            asked = {"groups": groups} if covariance == "clustered" else {}
            summary = plain[loss].fit(X, y).summary(X, y, covariance=covariance, **asked)
            low, high = summary.intervals[:, :, 0]
            held += int(np.sum((low <= w) & (w <= high)))
        yield f"{name}, {covariance}", held / (3 * fits)


def main() -> int:
    """Print both tables."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--fits", type=int, default=1000, help="of each coverage")
    asked = options.parse_args()
    warnings.simplefilter("ignore")
    worst = 0.0
    print(f"{'rows':<28} {'covariance':<10} {'weights':<8} estimate    error        p     ends")
    for rows in sets():
        drawn = np.random.default_rng(1).uniform(0.5, 2.0, len(rows.y))
        for name, weights in (("", np.ones(len(rows.y))), ("yes", drawn)):
            if name and rows.family == "mnlogit":
                continue
            for covariance in covariances(rows):
                found = differences(rows, weights, covariance)
                worst = max(worst, *found)
                numbers = " ".join(f"{each:8.1e}" for each in found)
                print(f"{rows.name:<28} {covariance:<10} {name:<8} {numbers}")
    print(f"largest difference: {worst:.1e}\n")
    for name, share in coverage(asked.fits):
        print(f"{name:<40} {100 * share:.1f} % of 95 % intervals hold the truth")
    return int(worst > ALLOWED)


if __name__ == "__main__":
    sys.exit(main())
