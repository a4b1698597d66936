"""Coordinate descent on a quadratic with an l1 penalty, from its matrix alone.

    minimise over d   gᵀd + ½dᵀHd + Σⱼ λⱼ|wⱼ + dⱼ|        lowⱼ ≤ wⱼ + dⱼ ≤ highⱼ

One coordinate at a time, the others as they are, has the closed form

    wⱼ + dⱼ ← S(wⱼ + dⱼ − sⱼ/Hⱼⱼ, λⱼ/Hⱼⱼ)        sⱼ = gⱼ + (Hd)ⱼ,  S the soft threshold

moved to the nearer bound where that is beyond one,
and costs one row of H, to keep Hd up to date, or nothing where it does not move. Sweeps over all
coordinates alternate with sweeps over those that are not zero.
"""

from thalweg.kernels.compile import kernel
from thalweg.kernels.rows import FAST_SUM


@kernel(fastmath=FAST_SUM)
def descend_quadratic(H, s, thresholds, low, high, w, tight, most):
    """Change `w` to about w + d and `s`, which is g, to g + Hd, in place; returns the sweeps.

    It ends when no coordinate was further than `tight` from optimality as it was met, or after
    `most` sweeps over all of them.
    """
    for sweeps in range(1, most + 1):
        if _sweep(H, s, thresholds, low, high, w, False) <= tight:
            return sweeps
        for _ in range(10):
            if _sweep(H, s, thresholds, low, high, w, True) <= 0.5 * tight:
                break
    return most


@kernel(fastmath=FAST_SUM)
def _sweep(H, s, thresholds, low, high, w, only_support):
    """One sweep, in place; the largest distance from optimality that was met."""
    worst = 0.0
    for j in range(w.size):
        old, bend, threshold = w[j], H[j, j], thresholds[j]
        if bend <= 0.0 or (only_support and old == 0.0):
            continue
        pull = bend * old - s[j]
        new = (pull - min(max(pull, -threshold), threshold)) / bend
        new = min(max(new, low[j]), high[j])
        if new != old:
            move = new - old
            worst = max(worst, abs(move) * bend)
            w[j] = new
            for k in range(w.size):
                s[k] += move * H[j, k]
    return worst
