"""Soft threshold: move each weight towards zero by τ, and stop there.

    S(w) = (w − τ)₊ − (−w − τ)₊        x₊ = (x + |x|)/2

It is the proximal step of an l1 penalty, argmin over u of λ‖u‖₁ + ‖u − w‖²/(2η), with τ = ηλ ≥ 0.

x + |x| is exactly 0 for x ≤ 0, so |w| ≤ τ gives an exact zero without a branch. NaN stays NaN and
an infinite weight becomes NaN.

Daubechies, Defrise & De Mol, Comm. Pure Appl. Math. 57 (2004).
"""


def soft_threshold(w, threshold):
    """The weight after the proximal step, exactly 0 where |w| ≤ `threshold`."""
    above = w - threshold
    below = -w - threshold
    return 0.5 * (above + abs(above)) - 0.5 * (below + abs(below))
