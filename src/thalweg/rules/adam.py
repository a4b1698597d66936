"""Adam: divide a smoothed gradient by its smoothed root mean square.

    mₜ = β₁mₜ₋₁ + (1 − β₁)gₜ          m̂ₜ = mₜ / (1 − β₁ᵗ)
    vₜ = β₂vₜ₋₁ + (1 − β₂)gₜ²         v̂ₜ = vₜ / (1 − β₂ᵗ)
    wₜ = wₜ₋₁ − η m̂ₜ / (√v̂ₜ + ε)

m and v start at 0, t counts from 1, β₁, β₂ ∈ [0, 1) are their memories, η is the learning rate and
ε > 0. After t steps of a constant gradient m is (1 − β₁ᵗ)g; dividing by 1 − β₁ᵗ undoes that bias.

The lectures mention the correction but print the update with m and v in place of m̂ and v̂. That
is `adam_uncorrected`: its first step is (1 − β₁)/√(1 − β₂) times as long, 3.2 for β₁ = 0.9 and
β₂ = 0.999, and the two become one as t grows.

Kingma & Ba, ICLR 2015, Algorithm 1. ε is outside the root, as there and in PyTorch.
"""

from thalweg.rules.root import sqrt


def adam(w, g, m, v, t, lr, beta1, beta2, eps):
    """One step for one weight; `m` and `v` are its running moments, `t` counts from 1."""
    new1, new2 = 1 - beta1, 1 - beta2
    bias1, bias2 = 1 - beta1**t, 1 - beta2**t
    return adam_hoisted(w, g, m, v, lr, beta1, new1, beta2, new2, bias1, bias2, eps)


def adam_hoisted(w, g, m, v, lr, beta1, new1, beta2, new2, bias1, bias2, eps):
    """The same given 1 − β as `new` and 1 − βᵗ as `bias`, which are the same for all weights."""
    m = beta1 * m + new1 * g
    v = beta2 * v + new2 * g * g
    m_hat = m / bias1
    v_hat = v / bias2
    return w - lr * m_hat / (sqrt(v_hat) + eps), m, v


def adam_uncorrected(w, g, m, v, lr, beta1, beta2, eps):
    """One step for one weight as the slides print it, without bias correction."""
    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * g * g
    return w - lr * m / (sqrt(v) + eps), m, v
