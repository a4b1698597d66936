"""For tests of losses and penalties of a user's own: built-in ones restated, and new ones."""

import numpy as np
import scipy.special

import thalweg as tw


def squared(**options):
    """½(z − y)²."""
    return tw.Loss(
        lambda z, y: 0.5 * (z - y) ** 2,
        lambda z, y: z - y,
        bound=1.0,
        **{
            "curvature": lambda z, y: np.ones_like(z),
            "conjugate": lambda theta, y: theta * y + 0.5 * theta**2,
            "name": "own squared",
            **options,
        },
    )


def logistic(**options):
    """log(1 + e^(−yz)), y = ±1."""

    def conjugate(theta, y):
        q = -y * theta
        inside = (q >= 0) & (q <= 1)
        q = np.clip(q, 0, 1)
        entropy = scipy.special.xlogy(q, q) + scipy.special.xlog1py(1 - q, -q)
        return np.where(inside, entropy, np.inf)

    return tw.Loss(
        lambda z, y: np.logaddexp(0, -y * z),
        lambda z, y: -y * scipy.special.expit(-y * z),
        bound=0.25,
        **{
            "curvature": lambda z, y: scipy.special.expit(y * z) * scipy.special.expit(-y * z),
            "conjugate": conjugate,
            "name": "own logistic",
            **options,
        },
    )


def huber(delta=0.7, **options):
    """½r² up to δ, a line beyond."""

    def slope(z, y):
        return np.clip(z - y, -delta, delta)

    return tw.Loss(
        lambda z, y: slope(z, y) * (z - y - 0.5 * slope(z, y)),
        slope,
        bound=1.0,
        **{
            "curvature": lambda z, y: (np.abs(z - y) <= delta).astype(float),
            "conjugate": lambda theta, y: np.where(
                np.abs(theta) <= delta, theta * y + 0.5 * theta**2, np.inf
            ),
            "name": "own huber",
            **options,
        },
    )


def quantile(share=0.8, width=0.2, **options):
    """The pinball loss, its kink rounded by a parabola."""

    def slope(z, y):
        return np.clip((z - y) / width, -share, 1 - share)

    return tw.Loss(
        lambda z, y: slope(z, y) * (z - y) - 0.5 * width * slope(z, y) ** 2,
        slope,
        bound=1 / width,
        **{
            "conjugate": lambda theta, y: np.where(
                (theta >= -share) & (theta <= 1 - share), theta * y + 0.5 * width * theta**2, np.inf
            ),
            "name": f"quantile {share:g}",
            **options,
        },
    )


LOSSES = {"squared": squared, "logistic": logistic, "huber": huber}  # built-in ones, restated


def lasso(strength, **options):
    """λ‖w‖₁."""
    return tw.Penalty(
        lambda w: strength * np.abs(w).sum(),
        lambda v, step: np.sign(v) * np.maximum(np.abs(v) - step * strength, 0),
        **{"dual": lambda u: np.abs(u).max() / strength, "name": "own lasso", **options},
    )


def group_lasso(strength, size=2, **options):
    """λ times the sum of the lengths of `size` coefficients after each other."""

    def lengths(w):
        return np.linalg.norm(w.reshape(-1, size), axis=1)

    def prox(v, step):
        long = lengths(v)
        kept = np.maximum(1 - step * strength / np.where(long > 0, long, 1), 0)
        return v * np.repeat(kept, size).reshape(v.shape)

    return tw.Penalty(
        lambda w: strength * lengths(w).sum(),
        prox,
        **{"dual": lambda u: lengths(u).max() / strength, "name": "group lasso", **options},
    )


def elastic(l1, l2, **options):
    """λ₁‖w‖₁ + (λ₂/2)‖w‖², which has no dual norm, but a conjugate."""
    return tw.Penalty(
        lambda w: l1 * np.abs(w).sum() + 0.5 * l2 * (w**2).sum(),
        lambda v, step: np.sign(v) * np.maximum(np.abs(v) - step * l1, 0) / (1 + step * l2),
        **{
            "conjugate": lambda u: (np.maximum(np.abs(u) - l1, 0) ** 2).sum() / (2 * l2),
            "name": "own elastic net",
            **options,
        },
    )


def non_negative(**options):
    """0 where no coefficient is negative, infinite elsewhere."""
    return tw.Penalty(
        lambda w: 0.0 if (w >= 0).all() else np.inf,
        lambda v, step: np.maximum(v, 0),
        **{
            "conjugate": lambda u: 0.0 if (u <= 0).all() else np.inf,
            "name": "non-negative",
            **options,
        },
    )
