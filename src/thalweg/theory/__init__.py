"""The lectures' rates and bounds as pure functions: floats in, floats out.

    gradient_descent   descent lemma, ‖w₀ − w*‖²/2ηT, contraction by any step
    accelerated        Nesterov's two rates, and the limit for all first-order methods
    heavy_ball         optimal step and momentum on a quadratic, η/(1 − β)
    stability          the largest stable step on curvature λ
    sgd                Theorem 14.8, Lemma 14.1, the strongly convex rate
    sag, svrg          linear rates of methods that look inside the sum
    complexity         the tables of orders: evaluations to ε, cost of an iteration
    rate               what a rate γ is worth: bound and iterations
    assumptions        checks of L, μ and T

Each function states its theorem, what it assumes and where it is from. Where the number of
iterations T is an argument, an array of them gives an array of bounds.
"""

from thalweg.theory import (
    accelerated,
    assumptions,
    complexity,
    gradient_descent,
    heavy_ball,
    rate,
    sag,
    sgd,
    stability,
    svrg,
)

__all__ = [
    "accelerated",
    "assumptions",
    "complexity",
    "gradient_descent",
    "heavy_ball",
    "rate",
    "sag",
    "sgd",
    "stability",
    "svrg",
]
