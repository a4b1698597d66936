"""The five losses in long doubles, each by the one number in which it loses no digits.

    loss            argument a                value                       slope dℓ/dz         conjugate ℓ*(u)
    squared         z − y                     ½a²                         a                   ½u² + uy
    huber           z − y                     ½a², or δ(|a| − ½δ)         clip(a, −δ, δ)      ½u² + uy, |u| ≤ δ
    logistic        yz                        log(1 + e⁻ᵃ)                −y/(1 + eᵃ)         q log q + (1−q) log(1−q), q = −yu
    squared-hinge   1 − yz                    ½ max(0, a)²                −y max(0, a)        ½q² − q, q = −yu ≥ 0
    multinomial     aₖ = zₖ − z_y             log Σₖ exp aₖ               softmax(a) − e_y    Σₖ qₖ log qₖ, q = u + e_y

The argument is formed from pairs and then rounded once: a residual of 10⁻⁷ at a target of 10⁹ has all
of its digits, and a loss of 10⁻³⁰ as well. What rounding may do to a value is |ℓ′||a|·ε and a few ε·ℓ.
"""  # noqa: E501

import numpy as np

from nasty.twofold import Long, Twofold, add, negative, twofold

REGRESSION = ("squared", "huber")


def arguments(loss: str, z: Twofold, y) -> np.ndarray:
    """The numbers a[n, K] from scores z[n, K]; `y` as in `reference.Canonical`."""
    if loss in REGRESSION:
        return add(z, Twofold(-y.high[:, None], -y.low[:, None])).rounded
    if loss == "multinomial":
        rows = np.arange(len(y))
        own = Twofold(z.high[rows, y][:, None], z.low[rows, y][:, None])
        return add(z, negative(own)).rounded
    m = Twofold(y[:, None] * z.high, y[:, None] * z.low)
    return m.rounded if loss == "logistic" else add(twofold(Long(1)), negative(m)).rounded


def values(loss: str, a: np.ndarray, delta: float) -> np.ndarray:
    """The loss of every sample."""
    if loss == "multinomial":
        return log_sum_exp(a)
    a = a[:, 0]
    if loss == "squared":
        return a * a / 2
    if loss == "huber":
        size, delta = np.abs(a), Long(delta)
        return np.where(size <= delta, a * a / 2, delta * (size - delta / 2))
    if loss == "logistic":
        return np.maximum(-a, 0) + np.log1p(np.exp(-np.abs(a)))
    return np.maximum(a, 0) ** 2 / 2


def log_sum_exp(a: np.ndarray) -> np.ndarray:
    """log Σₖ exp aₖ by rows, with the relative accuracy of log1p where the sum is near 1."""
    top = np.argmax(a, axis=1)
    rows = np.arange(len(a))
    largest = a[rows, top]
    shares = np.exp(a - largest[:, None])
    shares[rows, top] = 0.0
    return largest + np.log1p(np.sum(shares, axis=1))


def slopes(loss: str, a: np.ndarray, y, delta: float) -> np.ndarray:
    """dℓ/dz, [n, K]."""
    if loss == "multinomial":
        p = softmax(a)
        rows = np.arange(len(y))
        p[rows, y] = 0.0
        p[rows, y] = -np.sum(p, axis=1)
        return p
    if loss == "squared":
        return a
    if loss == "huber":
        return np.clip(a, -Long(delta), Long(delta))
    if loss == "logistic":
        return -y[:, None] * sigmoid(-a)
    return -y[:, None] * np.maximum(a, 0)


def curvatures(loss: str, a: np.ndarray, delta: float) -> np.ndarray:
    """d²ℓ/dz² of a loss with one score, [n]."""
    a = a[:, 0]
    if loss == "squared":
        return np.ones_like(a)
    if loss == "huber":
        return (np.abs(a) <= Long(delta)).astype(Long)
    if loss == "logistic":
        return sigmoid(a) * sigmoid(-a)
    return (a > 0).astype(Long)


def conjugates(loss: str, u: np.ndarray, y) -> np.ndarray:
    """ℓ*(u) of every sample, for u[n, K] in its domain."""
    if loss == "multinomial":
        rows = np.arange(len(y))
        others = np.maximum(u, 0)
        others[rows, y] = 0.0
        # Near 1 the share of the own class is 1 less the others, with all their digits.
        return np.sum(entropy(others), axis=1) + entropy_below_one(-u[rows, y])
    u = u[:, 0]
    if loss in REGRESSION:
        return u * (u / 2 + y.rounded)
    q = np.maximum(-y * u, 0)
    if loss == "logistic":
        return entropy(np.minimum(q, 1)) + entropy_below_one(q)
    return q * (q / 2 - 1)


def entropy(q: np.ndarray) -> np.ndarray:
    """The numbers q log q, 0 at 0."""
    return q * np.log(np.where(q > 0, q, 1))


def entropy_below_one(e: np.ndarray) -> np.ndarray:
    """The numbers q log q for q = 1 − e, 0 where e is not below 1."""
    return np.where(e < 1, (1 - e) * np.log1p(-np.where(e < 1, e, 0)), 0)


def sigmoid(a: np.ndarray) -> np.ndarray:
    """1/(1 + e⁻ᵃ), accurate on both sides."""
    e = np.exp(-np.abs(a))
    return np.where(a >= 0, 1, e) / (1 + e)


def softmax(a: np.ndarray) -> np.ndarray:
    """exp aₖ / Σ exp a, by rows."""
    e = np.exp(a - np.max(a, axis=1, keepdims=True))
    return e / np.sum(e, axis=1, keepdims=True)
