"""Problems with penalties and bounds column by column, drawn by seed, and their slow definition."""

import numpy as np
import scipy.sparse

import thalweg as tw

HELD = {
    "positive": {"bounds": (0.0, None)},
    "negative": {"bounds": (None, 0.0)},
    "box": {"bounds": (-0.1, 0.2)},
    "beside zero": {"bounds": (0.05, 0.4)},
    "weights": {"weight": "drawn"},
    "weights and bounds": {"weight": "drawn", "bounds": (-0.15, None)},
}
SHAPES = ((60, 8), (20, 40))


def drawn(seed, n, p, loss, held, *, l1=0.0, l2=0.0, offset=0.0, sparse=False, **options):
    """Correlated columns, one constant and one twice; a third of the samples without weight."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) + 0.7 * rng.standard_normal((n, 1))
    if sparse:
        X *= rng.random((n, p)) < 0.4
    X[:, -1], X[:, -2] = X[:, 0], 3.0
    beta = rng.standard_normal(p) * (rng.random(p) < 0.5)
    z = 0.4 * X @ beta
    y = z + 0.3 * rng.standard_normal(n)
    if loss in ("logistic", "squared-hinge"):
        y = y > np.median(y)
    elif loss in ("poisson", "gamma"):
        y = rng.poisson(np.exp(np.clip(z, -2.0, 2.0))) + (loss == "gamma")
    said = dict(held)
    if isinstance(said.get("weight"), str):
        said["weight"] = np.arange(p) % 3
    X += offset
    return tw.LinearProblem(
        scipy.sparse.csr_array(X) if sparse else X,
        y,
        loss,
        l1=l1,
        l2=l2,
        penalty=tw.ByColumn(**said),
        sample_weight=rng.integers(0, 3, n),
        **options,
    )


def value(problem, w, l1, l2, weight):
    """F by its definition, within the bounds."""
    coefficients, b = problem.split(w)
    z = np.asarray(problem.matrix.rows @ coefficients) + b
    losses = {
        "squared": lambda: 0.5 * (z - problem.y) ** 2,
        "logistic": lambda: np.logaddexp(0.0, -problem.y * z),
        "poisson": lambda: np.exp(z) - problem.y * z,
    }[problem.loss]()
    held = weight * (l1 * np.abs(coefficients) + 0.5 * l2 * coefficients**2)
    return float(problem.weights @ losses + held.sum())
