"""Clipping by norm: shorten a gradient that is too long, and keep its direction.

    g ← g·u/‖g‖   if ‖g‖ > u
      = g·min(1, u/‖g‖) = g/(1 + (‖g‖/u − 1)₊)        x₊ = (x + |x|)/2

u ≥ 0 is the limit and ‖·‖ the Euclidean norm of the whole array, whatever its shape.

`clip_factor` is the last form, without a branch, for who has the norm already: of parts that lie
apart, or of many vectors at once. x + |x| is exactly 0 for x ≤ 0: what is short enough is
multiplied by exactly 1.

`clip_by_norm` takes the norm itself, of g/max|gᵢ|, so that no square that matters over- or
underflows: entries of 10²⁰⁰, or 10³⁰ in float32, are clipped as they should be. The result is as
long as u to rounding.

A gradient with a NaN or an infinite entry has no direction to keep. It comes back unchanged, so
that whoever checks for finite numbers still finds it; scaling would turn finite entries into zeros.

Pascanu, Mikolov & Bengio, ICML 2013.
"""

import math


def clip_factor(norm, limit):
    """What vectors of these norms are multiplied by; `norm` is finite, `limit` above 0."""
    over = norm / limit - 1.0
    # Not u/max(u, ‖g‖): PyTorch multiplies u by a reciprocal, and u·(1/u) need not be 1.
    return 1.0 / (1.0 + 0.5 * (over + abs(over)))


def clip_by_norm(g, limit):
    """`g` scaled to the norm `limit` if longer, else `g` itself.

    `g` is a NumPy array or torch tensor, float32 or float64, and is not changed.
    """
    if math.prod(g.shape) == 0:
        return g
    largest = abs(g).max().item()
    if largest == 0 or not math.isfinite(largest):
        return g
    scaled = g / largest
    # ‖g‖ = largest · norm, a product that may overflow and is never formed.
    norm = math.sqrt((scaled * scaled).sum().item())
    if norm <= limit / largest:
        return g
    return scaled * (limit / norm)
