"""Clipping by norm: shorten a gradient that is too long, and keep its direction.

    g ← g·u/‖g‖   if ‖g‖ > u

u ≥ 0 is the limit and ‖·‖ the Euclidean norm of the whole array, whatever its shape. The norm is
taken of g/max|gᵢ|, so that no square that matters over- or underflows: entries of 10²⁰⁰, or 10³⁰ in
float32, are clipped as they should be. The result is as long as u to rounding.

A gradient with a NaN or an infinite entry has no direction to keep. It comes back unchanged, so
that whoever checks for finite numbers still finds it; scaling would turn finite entries into zeros.

Pascanu, Mikolov & Bengio, ICML 2013.
"""

import math


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
