"""Linear problems that go wrong, each from a seed.

`problem(seed)` draws, in this order: a loss, a size, columns (`columns`), how they are stored,
weights, a target that depends on the columns or not, and a penalty. Penalties are of two sorts.
Most make sense for the data:

    l1 = |gⱼ| · 10^U(−6, ½)       g, h: slope and curvature of the weighted mean loss at w = 0
    l2 = hⱼ · 10^U(−9, 1)         in a column j, centred or standardized, that is drawn

so that from none to all of the coefficients are at work; the rest are absolute, 10^U(−8, 8) and
10^U(−12, 8), and mostly do not. Seeds 0 to 999,999 are for building, 1,000,000 and up for judging.

What is to be expected of a case is part of it:

    "minimum"      there is one
    "no minimum"   F falls for ever: without a penalty, some plane has every sample on its right
                   side or upon it, by a linear programme (Albert & Anderson, Biometrika 71, 1984);
                   or a class has no weight, and its intercept, which nothing holds, runs away
    "refusal"      the input is not a problem, and a sentence should say so
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from scipy.optimize import linprog

from nasty.columns import features, power

LOSSES = ("squared", "logistic", "multinomial", "squared-hinge", "huber")
SHARES = (0.25, 0.25, 0.15, 0.15, 0.2)
CURVATURE = {
    "squared": 1.0,
    "huber": 1.0,
    "squared-hinge": 1.0,
    "logistic": 0.25,
    "multinomial": 0.25,
}
MOST_VARIABLES = 180  # of a multinomial problem: the judge factorises matrices of that order


class Case(NamedTuple):
    """The arguments of a linear problem, and what is known about it."""

    X: Any  # float64[n, p], float32[n, p] or CSR
    y: np.ndarray
    loss: str
    l1: float
    l2: float
    fit_intercept: bool
    sample_weight: np.ndarray | None
    delta: float
    standardize: bool
    description: str
    expect: str

    @property
    def penalty(self) -> str:
        """Which penalties there are, in a word or two."""
        return {(0, 0): "none", (0, 1): "l2", (1, 0): "l1", (1, 1): "elastic net"}[
            (int(self.l1 > 0), int(self.l2 > 0))
        ]

    @property
    def arguments(self) -> dict:
        """By name, all that defines the problem."""
        names = ("loss", "l1", "l2", "fit_intercept", "sample_weight", "delta", "standardize")
        return {name: getattr(self, name) for name in names}


def problem(seed: int) -> Case:
    """The case of a seed."""
    rng = np.random.default_rng([seed, 1906])
    loss = str(rng.choice(LOSSES, p=SHARES))
    n, p, K = size(rng, loss)
    X, kinds = features(rng, n, p)
    X, storage = stored(rng, X)
    s, weighting = weights(rng, n)
    dense = X.toarray() if scipy.sparse.issparse(X) else X
    y, delta, target = targets(rng, loss, dense.astype(float), s, K)
    case = Case(X, y, loss, 0.0, 0.0, rng.random() < 0.75, s, delta, rng.random() < 0.25, "", "")
    l1, l2, strength = penalty(rng, case)
    words = [f"{loss} {n}×{p}", storage, kinds, target, weighting, strength]
    words.append("intercept" if case.fit_intercept else "no intercept")
    words.append("standardized" if case.standardize else "")
    case = case._replace(l1=l1, l2=l2, description="; ".join(filter(None, words)))
    if rng.random() < 0.015:
        return spoiled(rng, case)
    return case._replace(expect=expectation(case))


def size(rng, loss: str) -> tuple[int, int, int]:
    """Samples, features and classes."""
    sort = rng.random()
    if sort < 0.1:
        n, p = int(rng.integers(1, 4)), int(rng.integers(1, 12))
    elif sort < 0.98:
        n, p = round(power(rng, 0.6, 2.48)), round(power(rng, 0, rng.choice([1.0, 1.5, 2.0])))
    else:
        n, p = int(rng.integers(300, 1000)), int(rng.integers(20, 120))
    K = int(rng.choice([2, rng.integers(3, 7), rng.integers(7, 21)], p=[0.2, 0.6, 0.2]))
    if loss == "multinomial":
        n = max(n, K)
        p = min(p, max(1, MOST_VARIABLES // K - 1))
    elif loss in ("logistic", "squared-hinge"):
        n = max(n, 2)
    return n, p, K


def stored(rng, X: np.ndarray) -> tuple[Any, str]:
    """X as it might come: in either order, in single precision, or as CSR, tidy or not."""
    sort = rng.random()
    if sort < 0.45:
        return X, ""
    if sort < 0.55:
        return np.asfortranarray(X), "Fortran order"
    if sort < 0.7:
        return X.astype(np.float32), "float32"
    return sparse(rng, X)


def sparse(rng, X: np.ndarray) -> tuple[scipy.sparse.csr_matrix, str]:
    """CSR with some columns thinned out and others full, explicit zeros, empty rows and columns."""
    n, p = X.shape
    thinned = X * np.where(rng.random(p) < 0.6, rng.random((n, p)) < power(rng, -2, 0), True)
    kept = thinned != 0
    words = ["CSR"]
    if rng.random() < 0.3:
        kept |= rng.random((n, p)) < 0.1
        words.append("explicit zeros")
    if rng.random() < 0.2:
        empty = rng.random(n) < 0.2
        thinned[empty], kept[empty] = 0.0, False
        words.append("empty rows")
    rows, columns = np.nonzero(kept)
    dtype = rng.choice([np.float64, np.float64, np.float32])
    if dtype is np.float32:
        words.append("float32")
    starts = np.concatenate([[0], np.cumsum(np.sum(kept, axis=1))])
    matrix = scipy.sparse.csr_matrix(
        (thinned[rows, columns].astype(dtype), columns, starts), shape=(n, p)
    )
    return matrix, " ".join(words)


def weights(rng, n: int) -> tuple[np.ndarray | None, str]:
    """Weights of samples, some of them none."""
    sort = rng.random()
    if sort < 0.6:
        return None, ""
    if sort < 0.7:
        return rng.uniform(0.1, 2, size=n), "weights"
    if sort < 0.8:
        s = rng.uniform(0, 1, size=n) * (rng.random(n) < 0.7)
        s[rng.integers(n)] = 1.0
        return s, "weights with zeros"
    if sort < 0.9:
        return 10 ** rng.uniform(-4, 4, size=n), "weights over 8 decades"
    if sort < 0.95:
        return rng.integers(1, 50, size=n).astype(float), "counts as weights"
    return np.full(n, power(rng, -8, 8)), "equal weights"


def signal(rng, X: np.ndarray, outputs: int) -> np.ndarray:
    """Scores of unit size from some of the columns, float64[n, K]."""
    spread = np.std(X, axis=0)
    Z = (X - np.mean(X, axis=0)) / np.where(
        spread > 1e-13 * np.max(np.abs(X), axis=0), spread, np.inf
    )
    W = rng.standard_normal((X.shape[1], outputs)) * (
        rng.random((X.shape[1], 1)) < rng.choice([0.1, 0.5, 1])
    )
    z = Z @ W
    return z / (np.std(z) or 1.0)


def targets(rng, loss: str, X: np.ndarray, s, K: int) -> tuple[np.ndarray, float, str]:
    """y, Huber's δ, and what they are."""
    if loss == "multinomial":
        y, words = classes(rng, X, K)
        return y, 1.0, f"{len(np.unique(y))} classes, {words}"
    if loss in ("logistic", "squared-hinge"):
        y, words = classes(rng, X, 2)
        coding = [(-1, 1), (-1, 1), (0, 1)][rng.integers(3)]
        return np.where(y == 1, coding[1], coding[0]), 1.0, words
    y, words = numbers(rng, X)
    if loss == "squared":
        return y, 1.0, words
    spread = np.std(y) or 1.0
    sort = rng.random()
    if sort < 0.4:
        return y, spread * power(rng, -1, 0.5), f"{words}, δ like residuals"
    if sort < 0.6:
        return y, spread * power(rng, -8, -3), f"{words}, δ tiny"
    if sort < 0.8:
        return y, spread * power(rng, 2, 6), f"{words}, δ huge"
    return y, 1.0, f"{words}, δ = 1"


def numbers(rng, X: np.ndarray) -> tuple[np.ndarray, str]:
    """A target of regression."""
    n = len(X)
    z = signal(rng, X, 1)[:, 0]
    noise = rng.standard_t(rng.choice([1.5, 30]), size=n) * rng.choice([0.0, 1e-6, 0.1, 1.0, 10.0])
    sort = rng.random()
    if sort < 0.4:
        return z + noise, "plain target"
    if sort < 0.5:
        return 1e9 + power(rng, -3, 3) * (z + noise), "target at 1e9"
    if sort < 0.6:
        return 1e-9 * (z + noise), "target of 1e-9"
    if sort < 0.7:
        return 1e9 * (z + noise), "target of 1e9"
    if sort < 0.78:
        return np.full(n, rng.choice([0.0, 1.0, 0.1, 1e9, -1e-9])), "constant target"
    if sort < 0.9:
        return np.round(100 * np.exp(np.clip(z + noise / 4, -10, 10) + 3)), "prices as target"
    return rng.standard_normal(n), "target of noise"


def classes(rng, X: np.ndarray, K: int) -> tuple[np.ndarray, str]:
    """A target of classification, all of K classes in it where there are samples for them."""
    n = len(X)
    z = signal(rng, X, K)
    sort = rng.random()
    if sort < 0.35:
        y, words = np.argmax(2 * z + rng.gumbel(size=(n, K)), axis=1), "overlapping classes"
    elif sort < 0.55:
        y, words = np.argmax(z, axis=1), "separable classes"
    elif sort < 0.75:
        y, words = np.zeros(n, dtype=int), "rare classes"
    elif sort < 0.85:
        y, words = np.argmax(10 * z + rng.gumbel(size=(n, K)), axis=1), "nearly separable classes"
    else:
        y, words = rng.integers(K, size=n), "classes of noise"
    # Every class once at least; of rare classes, exactly once but for the first.
    y[rng.permutation(n)[: min(K, n)]] = np.arange(min(K, n))
    return y, words


def gradient_and_curvature(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """|g| and h of each column at w = 0 and a good constant, in the units of its coefficient."""
    X = (case.X.toarray() if scipy.sparse.issparse(case.X) else case.X).astype(float)
    s = np.ones(len(X)) if case.sample_weight is None else case.sample_weight
    s = s / np.sum(s)
    if case.fit_intercept:
        X = X - X[0]
        X = X - s @ X
    h = s @ X**2
    u = slope_at_constant(case, s)
    g = np.max(np.abs(X.T @ (s[:, None] * u)), axis=1)
    if case.standardize:
        centred = X - s @ X
        spread = np.sqrt(s @ centred**2)
        spread = np.where(spread > 0, spread, 1)
        g, h = g / spread, h / spread**2
    return g, CURVATURE[case.loss] * h


def slope_at_constant(case: Case, s: np.ndarray) -> np.ndarray:
    """Slopes of the losses near the best constant, [n, K]."""
    if case.loss in ("squared", "huber"):
        r = (s @ case.y if case.fit_intercept else 0.0) - case.y
        return np.clip(r, -case.delta, case.delta)[:, None] if case.loss == "huber" else r[:, None]
    own = np.eye(len(np.unique(case.y)))[np.unique(case.y, return_inverse=True)[1]]
    return (s @ own if case.fit_intercept else 0.5) - own


def penalty(rng, case: Case) -> tuple[float, float, str]:
    """l1, l2 and what they are."""
    sort = rng.random()
    g, h = gradient_and_curvature(case)
    top, curvature = (float(rng.choice(r[r > 0])) if np.any(r > 0) else 1.0 for r in (g, h))
    if sort < 0.7:
        l1, l2 = top * power(rng, -6, 0.5), curvature * power(rng, -9, 1)
        words = "sensible penalty"
    else:
        l1, l2 = power(rng, -8, 8), power(rng, -12, 8)
        words = "absolute penalty"
    which = rng.choice(["l2", "l1", "both", "none"], p=[0.42, 0.27, 0.27, 0.04])
    if (
        which == "none"
        and case.loss == "multinomial"
        and len(case.y) * len(np.unique(case.y)) > 500
    ):
        which = "l2"  # the linear programme that says whether there is a minimum takes minutes
    if which == "none":
        return 0.0, 0.0, "no penalty"
    l1, l2 = l1 * (which != "l2"), l2 * (which != "l1")
    return l1, l2, f"{words} l1={l1:.3g} l2={l2:.3g}"


def expectation(case: Case) -> str:
    """Whether a case has a minimum."""
    if case.loss not in ("logistic", "multinomial"):
        return "minimum"
    s = np.ones(len(case.y)) if case.sample_weight is None else case.sample_weight
    if len(np.unique(case.y)) == 1:
        return "refusal"
    if case.fit_intercept and len(np.unique(case.y[s > 0])) < len(np.unique(case.y)):
        return "no minimum"
    if case.l1 == 0 and case.l2 == 0 and separable(case, s > 0):
        return "no minimum"
    return "minimum"


def separable(case: Case, keep: np.ndarray) -> bool:
    """Whether a plane has each sample on its side or upon it, and some not upon it.

    Maximise Σ mᵢ over 0 ≤ m ≤ 1, where mᵢ is the margin of sample i, z_y − zₖ for every other k.
    Columns are centred (if there is an intercept) and scaled first, or the programme is lost in
    its tolerance.
    """
    X = (case.X.toarray() if scipy.sparse.issparse(case.X) else case.X).astype(float)[keep]
    y = np.unique(case.y, return_inverse=True)[1][keep]
    if case.fit_intercept:
        X = X - X[0]
        X = np.column_stack([X - np.mean(X, axis=0), np.ones(len(X))])
    X = X / np.where(np.max(np.abs(X), axis=0) > 0, np.max(np.abs(X), axis=0), 1)
    K = max(int(np.max(y)) + 1, 2)
    if case.loss == "logistic":
        margins = np.where(y == 1, 1, -1)[:, None] * X
    else:
        margins = np.concatenate(
            [
                np.kron(np.eye(K)[y[i]] - np.eye(K)[k], X[i])[None]
                for i in range(len(y))
                for k in range(K)
                if k != y[i]
            ]
        )
    found = linprog(
        -np.sum(margins, axis=0),
        A_ub=np.concatenate([-margins, margins]),
        b_ub=np.concatenate([np.zeros(len(margins)), np.ones(len(margins))]),
        bounds=(-1e9, 1e9),
    )
    return bool(found.status == 0 and -found.fun > 1e-6)


def spoiled(rng, case: Case) -> Case:
    """A case that is not a problem."""
    n = len(case.y)
    sort = rng.choice(
        ["nan", "infinity", "negative weight", "no weight", "one class", "short y", "δ = 0"]
    )
    if sort == "δ = 0" and case.loss == "huber":
        case = case._replace(delta=0.0)
    elif sort == "one class" and case.loss not in ("squared", "huber"):
        case = case._replace(y=np.full(n, case.y[0]))
    elif sort == "short y":
        case = case._replace(y=np.append(case.y, case.y[0]))
    elif sort == "negative weight":
        case = case._replace(sample_weight=np.append(np.ones(n - 1), -1.0))
    elif sort == "no weight":
        case = case._replace(sample_weight=np.zeros(n))
    else:
        sort = sort if sort == "infinity" else "nan"
        X = np.array(case.X.toarray() if scipy.sparse.issparse(case.X) else case.X)
        X[rng.integers(n), rng.integers(X.shape[1])] = np.nan if sort == "nan" else np.inf
        case = case._replace(X=scipy.sparse.csr_matrix(X) if scipy.sparse.issparse(case.X) else X)
    return case._replace(expect="refusal", description=f"{sort}; {case.description}")
