"""Nadam: Adam with Nesterov's look-ahead in place of plain momentum.

    μₜ = β₁(1 − ½·0.96^(tψ))                   momentum, rising from about β₁/2 to β₁
    mₜ = β₁mₜ₋₁ + (1 − β₁)gₜ
    vₜ = β₂vₜ₋₁ + (1 − β₂)gₜ²                  v̂ₜ = vₜ / (1 − β₂ᵗ)
    m̄ₜ = μₜ₊₁mₜ / (1 − Π_{i≤t+1} μᵢ) + (1 − μₜ)gₜ / (1 − Π_{i≤t} μᵢ)
    wₜ = wₜ₋₁ − η m̄ₜ / (√v̂ₜ + ε)

m and v start at 0, t counts from 1, ψ (0.004 by custom) says how fast the momentum rises, η is the
learning rate, ε > 0. m̄ weighs the new gradient as if the next momentum step were already taken, as
`nesterov` does with g + βm. The schedule is the same for all weights, so the caller keeps Π μᵢ, one
number, and hands in μₜ, μₜ₊₁ and Π_{i≤t} μᵢ.

Dozat, ICLR workshop 2016. As in PyTorch, m decays by β₁; the paper's decays by μₜ.
"""

from thalweg.rules.root import sqrt


def nadam_momentum(t, beta1, decay):
    """μₜ, with `decay` the ψ of the schedule."""
    return beta1 * (1 - 0.5 * 0.96 ** (t * decay))


def nadam(w, g, m, v, t, mu, mu_next, mu_product, lr, beta1, beta2, eps):
    """One step for one weight; `mu_product` is Π μᵢ up to and including this step's `mu`."""
    ahead, now = mu_next / (1 - mu_product * mu_next), (1 - mu) / (1 - mu_product)
    new1, new2, bias2 = 1 - beta1, 1 - beta2, 1 - beta2**t
    return nadam_hoisted(w, g, m, v, ahead, now, lr, beta1, new1, beta2, new2, bias2, eps)


def nadam_hoisted(w, g, m, v, ahead, now, lr, beta1, new1, beta2, new2, bias2, eps):
    """The same given 1 − β as `new`, 1 − β₂ᵗ as `bias2`, and what m̄ weighs m and g with."""
    m = beta1 * m + new1 * g
    v = beta2 * v + new2 * g * g
    m_bar = ahead * m + now * g
    v_hat = v / bias2
    return w - lr * m_bar / (sqrt(v_hat) + eps), m, v
