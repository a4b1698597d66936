"""Heavy ball: accumulate past gradients, and move along the sum.

    mₜ = β mₜ₋₁ + gₜ              the sum form (lecture A, PyTorch)
    wₜ = wₜ₋₁ − η mₜ

    vₜ = α vₜ₋₁ − ε gₜ            the velocity form (lecture C)
    wₜ = wₜ₋₁ + vₜ

g is the gradient at wₜ₋₁, β = α ∈ [0, 1) the momentum, η = ε the learning rate; m and v start at
0. Along a constant gradient m grows to g/(1 − β): the effective learning rate is η/(1 − β).

While η is constant v = −ηm, and both give the same weights. Once η changes they part: the sum
form multiplies the whole memory by the new η, so all past gradients count at the new rate at
once; in the velocity form each gradient keeps the rate at which it came, and a smaller ε slows
the ball only as the old velocity decays by α per step.

Polyak, USSR Comput. Math. Math. Phys. 4 (1964); Sutskever et al., ICML 2013.
"""


def heavy_ball(w, g, m, lr, beta):
    """One step for one weight, sum form: the new `w` and its momentum `m`."""
    m = beta * m + g
    return w - lr * m, m


def heavy_ball_velocity(w, g, v, lr, alpha):
    """One step for one weight, velocity form: the new `w` and its velocity `v`."""
    v = alpha * v - lr * g
    return w + v, v
