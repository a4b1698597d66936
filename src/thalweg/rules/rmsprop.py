"""RMSProp: divide each weight's step by a running root mean square of its gradients.

    sₜ = β sₜ₋₁ + (1 − β) gₜ²
    wₜ = wₜ₋₁ − η gₜ / (√sₜ + ε)        ε outside the root (lecture C, PyTorch)
    wₜ = wₜ₋₁ − η gₜ / √(sₜ + ε)        ε inside the root

s starts at 0, β ∈ [0, 1) is its memory, η the learning rate, ε > 0. Unlike AdaGrad's sum, s
forgets, so the step does not shrink towards 0.

Lecture A writes s with the gradient before: the step for gₜ is divided by a mean that does not
contain gₜ, and ε stands inside the root:

    wₜ = wₜ₋₁ − η gₜ / √(sₜ₋₁ + ε)
    sₜ = β sₜ₋₁ + (1 − β) gₜ²

That is `rmsprop_lagged`. Nothing bounds its step: the first one, with s = 0, is ηg/√ε, 10⁴ times
the gradient step for ε = 10⁻⁸, where the other two move by at most η/√(1 − β).

Tieleman & Hinton, Coursera: Neural Networks for Machine Learning, lecture 6.5 (2012).
"""

from thalweg.rules.root import sqrt


def rmsprop(w, g, s, lr, beta, eps):
    """One step for one weight, ε outside the root: the new `w` and its mean square `s`."""
    return rmsprop_hoisted(w, g, s, lr, beta, 1 - beta, eps)


def rmsprop_hoisted(w, g, s, lr, beta, new, eps):
    """The same given 1 − β as `new`."""
    s = beta * s + new * g * g
    return w - lr * g / (sqrt(s) + eps), s


def rmsprop_inside(w, g, s, lr, beta, eps):
    """One step for one weight, ε inside the root: the new `w` and its mean square `s`."""
    s = beta * s + (1 - beta) * g * g
    return w - lr * g / sqrt(s + eps), s


def rmsprop_lagged(w, g, s, lr, beta, eps):
    """One step for one weight, divided by the `s` of earlier gradients: the new `w` and `s`."""
    return w - lr * g / sqrt(s + eps), beta * s + (1 - beta) * g * g
