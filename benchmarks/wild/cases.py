"""Linear problems by seed: `problem(seed)` draws one, and says in a line what it is.

In this order: a loss, a way to store the features and with it a size (`sizes`), the features
(`dense`, `sparse`), a target (`targets`), weights, whether there is an intercept and whether
features are standardized, and a penalty (`penalties`). The same seed gives the same bits.
"""

from typing import Any, NamedTuple

import numpy as np

from wild import dense, sparse
from wild.penalties import penalty
from wild.sizes import MOST, size
from wild.targets import huber_delta, many_classes, numbers, two_classes, weights

LOSSES = ("squared", "logistic", "multinomial", "squared-hinge", "huber")
LOSS_SHARES = (0.3, 0.3, 0.16, 0.12, 0.12)
DESIGNS = ("dense", "text", "categories")
DESIGN_SHARES = (0.6, 0.2, 0.2)


class Case(NamedTuple):
    """The arguments of a linear problem, and what it is."""

    X: Any  # float64[n, p] or float32[n, p], in either order, or CSR
    y: np.ndarray  # float64[n], or whole numbers that are labels
    loss: str
    l1: float
    l2: float
    fit_intercept: bool
    sample_weight: np.ndarray | None  # float64[n]
    delta: float
    standardize: bool
    description: str

    @property
    def penalty(self) -> str:
        """Which penalties there are, in a word or two."""
        return {(0, 0): "none", (0, 1): "l2", (1, 0): "l1", (1, 1): "elastic net"}[
            (int(self.l1 > 0), int(self.l2 > 0))
        ]

    @property
    def arguments(self) -> dict[str, Any]:
        """By name, all that defines the problem beside X and y."""
        names = ("loss", "l1", "l2", "fit_intercept", "sample_weight", "delta", "standardize")
        return {name: getattr(self, name) for name in names}


def problem(seed: int, most: int = MOST) -> Case:
    """The case of a seed, of at most so many stored entries: fewer give another, smaller case."""
    rng = np.random.default_rng([seed, 1744])
    loss = str(rng.choice(LOSSES, p=LOSS_SHARES))
    design = str(rng.choice(DESIGNS, p=DESIGN_SHARES))
    drawn = size(rng, design != "dense", loss == "multinomial", most)
    draw = {"dense": dense.table, "text": sparse.text, "categories": sparse.categories}[design]
    X, features = draw(rng, drawn)
    y, delta, target = targets(rng, loss, X, drawn.K)
    s, weighting = weights(rng, y, loss not in ("squared", "huber"))
    has_intercept, is_standardized = bool(rng.random() < 0.85), bool(rng.random() < 0.2)
    case = Case(X, y, loss, 0.0, 0.0, has_intercept, s, delta, is_standardized, "")
    l1, l2, strength = penalty(rng, case)
    words = [f"{loss} {X.shape[0]:,}×{X.shape[1]:,}", features, target, weighting]
    words += ["" if has_intercept else "no intercept", "standardized" if is_standardized else ""]
    return case._replace(l1=l1, l2=l2, description="; ".join(filter(None, (*words, strength))))


def targets(rng: np.random.Generator, loss: str, X: Any, K: int) -> tuple[np.ndarray, float, str]:
    """y, Huber's δ, and what they are."""
    if loss == "multinomial":
        y, words = many_classes(rng, X, K)
        return y, 1.0, words
    if loss in ("logistic", "squared-hinge"):
        y, words = two_classes(rng, X)
        return y, 1.0, words
    y, noise, words = numbers(rng, X)
    if loss == "squared":
        return y, 1.0, words
    delta, kind = huber_delta(rng, y, noise)
    return y, delta, f"{words}, {kind}"
