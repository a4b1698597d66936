"""The gradient step: move against the gradient.

    wₜ = wₜ₋₁ − η gₜ

g is the gradient at wₜ₋₁, or an estimate of it (stochastic gradient descent), and η the learning
rate. For f of smoothness L, η ≤ 1/L guarantees descent with the exact gradient.

Cauchy, Comptes Rendus 25 (1847); Robbins & Monro, Ann. Math. Stat. 22 (1951).
"""


def plain_step(w, g, lr):
    """One step for one weight: the new `w`."""
    return w - lr * g
