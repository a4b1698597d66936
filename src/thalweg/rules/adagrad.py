"""AdaGrad: divide each weight's step by the root of its sum of squared gradients.

    sₜ = sₜ₋₁ + gₜ²
    wₜ = wₜ₋₁ − η gₜ / (√sₜ + ε)        ε outside the root (lecture C, PyTorch)
    wₜ = wₜ₋₁ − η gₜ / √(sₜ + ε)        ε inside the root (lecture A)

s starts at 0, η is the learning rate, ε > 0 keeps a weight that never saw a gradient finite. Inside
the root, ε acts like √ε outside: the same number there is a far larger damping.

Duchi, Hazan & Singer, JMLR 12 (2011).
"""

from thalweg.rules.root import sqrt


def adagrad(w, g, s, lr, eps):
    """One step for one weight, ε outside the root: the new `w` and its sum of squares `s`."""
    s = s + g * g
    return w - lr * g / (sqrt(s) + eps), s


def adagrad_inside(w, g, s, lr, eps):
    """One step for one weight, ε inside the root: the new `w` and its sum of squares `s`."""
    s = s + g * g
    return w - lr * g / sqrt(s + eps), s
