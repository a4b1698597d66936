"""Cases drawn at random from the same ingredients: case k of seed s is the same on every machine.

Seeds 0 to 999 are for building: look at them, fit constants to them. Seeds from 1000 on are for
judging: a figure that is published comes from one that was not looked at before.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .case import CLASSIFIERS, MODELS, Case, Data, lay_out
from .columns import CONTINUOUS, KINDS, labels, response, table, text

ENTRIES = 3_000_000  # of X, and of X times classes or targets, at most


def draw(seed: int, count: int) -> list[Case]:
    """`count` cases."""
    return [_draw(seed, index) for index in range(count)]


def _draw(seed: int, index: int) -> Case:
    rng = np.random.default_rng([seed, index])
    model = str(rng.choice(MODELS))
    outputs = _outputs(rng, model)
    params = _params(rng, model)
    recipe = _recipe(rng, is_tame=np.isinf(params.get("C", 1.0)))
    n = int(10 ** rng.uniform(1.5, 4.6))
    words = int(rng.integers(500, 5_000)) if recipe == "text" else 0
    width = words or table(np.random.default_rng(0), 2, recipe).shape[1]
    n = max(min(n, ENTRIES // (width * outputs)), 30, 3 * outputs)
    if np.isinf(params.get("C", 1.0)):
        n = max(n, 40 * width * outputs)  # else the classes can be told apart, and F has no minimum
    layout = "csr" if words else str(rng.choice(["C", "F", "csr"], p=[0.6, 0.2, 0.2]))
    dtype = str(rng.choice(["float64", "float32"], p=[0.8, 0.2]))
    is_weighted = rng.random() < 0.2
    taste = _taste(rng, model, outputs)

    def make() -> Data:
        rng = np.random.default_rng([seed, index, 1])
        X = text(rng, n, words, 40) if words else table(rng, n, recipe)
        y = (labels if model in CLASSIFIERS else response)(rng, X, **taste)
        weights = rng.uniform(0.1, 3, n) if is_weighted else None
        return Data(X.astype(dtype) if words else lay_out(X, layout, dtype), y, weights)

    return Case(f"random/{seed}-{index}-{_short(model)}", model, params, make)


def _short(model: str) -> str:
    return {"LogisticRegression": "logistic", "LinearSVC": "svc", "ElasticNet": "net"}.get(
        model, model.lower()
    )


def _outputs(rng: np.random.Generator, model: str) -> int:
    """Classes or targets."""
    if model in CLASSIFIERS:
        return int(rng.choice([2, 3, 5, 10, 20], p=[0.55, 0.2, 0.1, 0.1, 0.05]))
    return int(rng.choice([1, 3, 20], p=[0.8, 0.1, 0.1]))


def _params(rng: np.random.Generator, model: str) -> dict[str, Any]:
    """The model's own, often at their defaults."""
    params: dict[str, Any] = {}
    is_default = rng.random() < 0.3
    if rng.random() < 0.15:
        params["fit_intercept"] = False
    if model in CLASSIFIERS:
        exponent = rng.uniform(-10, 10) if rng.random() < 0.2 else rng.uniform(-4, 4)
        C = float(10.0 ** np.round(exponent))
        if model == "LogisticRegression" and rng.random() < 0.15:
            C = np.inf
        return params if is_default else params | {"C": C}
    exponent = rng.uniform(-8, 3)
    if model != "Ridge":
        exponent = rng.uniform(-5, 0)  # of a response of spread 1, on standardised columns
    if model == "ElasticNet":
        params["l1_ratio"] = float(rng.choice([0.1, 0.5, 0.9]))
    return params if is_default and model == "Ridge" else params | {"alpha": float(10.0**exponent)}


def _recipe(rng: np.random.Generator, *, is_tame: bool) -> str:
    """Words for a table; tame: continuous columns only, each of them once."""
    if is_tame:
        return " ".join(rng.choice(CONTINUOUS, rng.integers(2, 7), replace=False))
    shape = rng.random()
    if shape < 0.1:
        return "text"
    if shape < 0.2:
        return f"normal*{rng.integers(100, 2_000)}"  # often more columns than rows
    kinds = list(rng.choice(list(KINDS), rng.integers(1, 9)))
    if rng.random() < 0.2:
        kinds.append("copy")
    if rng.random() < 0.5:
        kinds.append(f"normal*{rng.integers(1, 60)}")
    return " ".join(kinds)


def _taste(rng: np.random.Generator, model: str, outputs: int) -> Mapping[str, Any]:
    """Of the response: how noisy, in which unit; or of the labels: how clear, how balanced."""
    if model not in CLASSIFIERS:
        in_units = rng.random() < 0.3 and model == "Ridge"
        scale, offset = (1e5, 3e5) if in_units else (1.0, float(rng.choice([0.0, 10.0])))
        noise = float(rng.choice([0.01, 0.5, 3.0]))
        return {"targets": outputs, "noise": noise, "scale": scale, "offset": offset}
    names = tuple(f"class {k:02d}" for k in range(outputs)) if rng.random() < 0.2 else None
    balance = float(rng.choice([0.0, 1.0, 3.0], p=[0.6, 0.3, 0.1])) if outputs < 5 else 0.0
    strength = float(rng.choice([0.5, 2.0, 6.0]))
    return {"classes": outputs, "strength": strength, "balance": balance, "names": names}
