"""Nesterov momentum: take the gradient where the momentum is about to lead.

    vₜ = β vₜ₋₁ − η ∇f(θₜ₋₁ + β vₜ₋₁)        the look-ahead form
    θₜ = θₜ₋₁ + vₜ

It needs the gradient at a point other than θ. Storing that point instead, w = θ + βv, and
m = −v/η for the velocity, gives the shifted form, with g the gradient at w itself:

    mₜ = β mₜ₋₁ + gₜ
    wₜ = θₜ + βvₜ = θₜ₋₁ + (1 + β)vₜ = wₜ₋₁ − βvₜ₋₁ + (1 + β)vₜ
       = wₜ₋₁ + ηβmₜ₋₁ − η(1 + β)mₜ = wₜ₋₁ − η (gₜ + β mₜ)

The last line is the rule, as in PyTorch. m starts at 0, β ∈ [0, 1) is the momentum, η the learning
rate. Both forms agree while η is constant (see `heavy_ball` for what happens once it changes), and
θ = w + ηβm gives the unshifted point back.

Lecture C names two look-ahead points. Its Matlab code has θ + αv, which is Nesterov's and the one
above (α = β); its text has θ + v, a whole previous step ahead. On a quadratic of curvature λ, with
h = ηλ, looking ahead by cv gives a two-term recurrence of determinant α − ch and trace
1 + α − (1 + c)h, so:

                     shrinks per step, when it oscillates    stable while
    c = 0  heavy ball            √α                          h < 2(1 + α)
    c = α  Nesterov              √(α(1 − h))                 h < 2(1 + α)/(1 + 2α)
    c = 1  the text              √(α − h)                    h < 2(1 + α)/3

The text's point damps more, allows a smaller step, and is not gradient descent at α = 0. As α → 1
the two become one.

Nesterov, Soviet Math. Dokl. 27 (1983); Sutskever et al., ICML 2013, Section 2.
"""


def nesterov(w, g, m, lr, beta):
    """One step for one weight, with `g` and `w` at the look-ahead point: the new `w` and `m`."""
    m = beta * m + g
    return w - lr * (g + beta * m), m
