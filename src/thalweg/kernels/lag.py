"""Lagged updates: let a coefficient that no sample touches wait, and then catch up at once.

Over the steps k = 1, 2, … of a block, a coefficient whose slope sum g does not change moves by

    w ← S(ρₖw − ηₖg/mₖ, ηₖ·l1)          ρₖ = 1 − ηₖ·l2,  S the soft threshold

Scaled by Rₖ = ρ₁⋯ρₖ, v = w/R, the shrinking is gone:

    v ← S(v − g·ηₖ/(mₖRₖ), l1·ηₖ/Rₖ)

and with the sums Aₖ = Σ ηᵢ/(mᵢRᵢ) and Eₖ = Σ ηᵢ/Rᵢ, as long as its sign σ stays the same,

    vₖ = v_s − g(Aₖ − A_s) − σ·l1(Eₖ − E_s)

so that any number of steps costs as much as one. Since mᵢ, the number of samples seen, only grows,
the terms of σvₖ may first rise and then fall, never fall and then rise: the steps before the first
that leaves the sign σ are a prefix, and bisection finds its end. That one step is then taken as
written above. At zero, a coefficient stays for good if |g|/mₖ ≤ l1 at the next step.

A coefficient is a cell of four numbers, one half of a cache line: v, g, A_s and E_s; the last two
say when it last moved. Where l1 = 0 nothing asks for E_s, and a cell has three.

Cost: O(1) to catch up, O(log steps) where the sign changes. Without l1 this is the lag of Schmidt,
Le Roux & Bach, Math. Program. 162 (2017).
"""

import numpy as np

from thalweg.kernels.compile import kernel
from thalweg.kernels.rows import FAST_SUM
from thalweg.rules.soft_threshold import soft_threshold as _soft_threshold

SMALLEST = 1e-100  # of R: the block ends before 1/R overflows

V, G, A_S, E_S = range(4)  # the columns of a cell

soft_threshold = kernel(_soft_threshold)


def cells_of(w, g, l1):
    """The cells of coefficients that are up to date, float64[size, 3 or 4], as a block begins."""
    cells = np.zeros((w.size, 4 if l1 else 3))
    cells[:, V] = w
    cells[:, G] = g
    return cells


@kernel(fastmath=FAST_SUM, inline=True)
def caught_up(cells, j, A, E, now, l1):
    """Bring cell j up to step `now` of the block whose sums are `A` and `E`, in place; its v."""
    v, g, a = cells[j, V], cells[j, G], A[now] - cells[j, A_S]
    if l1 == 0.0:
        v -= g * a
        cells[j, V], cells[j, A_S] = v, A[now]
        return v
    e = E[now] - cells[j, E_S]
    if v > 0.0 and v - g * a > l1 * e:
        v -= g * a + l1 * e
    elif v < 0.0 and v - g * a < -l1 * e:
        v -= g * a - l1 * e
    # A[1]/E[1] is 1/m of the first step, the largest of the block: most zeros are settled by it.
    elif e > 0.0 and not (v == 0.0 and abs(g) * A[1] <= l1 * E[1]):
        v = _crossed(v, g, cells[j, E_S], A, E, now, l1)
    cells[j, V], cells[j, A_S], cells[j, E_S] = v, A[now], E[now]
    return v


@kernel(fastmath=FAST_SUM)
def _crossed(v, g, E_s, A, E, now, l1):
    """The scaled coefficient after step `now`, where it may change its sign on the way."""
    s = np.searchsorted(E[: now + 1], E_s)
    while s < now:
        if v == 0.0:
            if abs(g) * (A[s + 1] - A[s]) <= l1 * (E[s + 1] - E[s]):
                return 0.0
        else:
            sign = 1.0 if v > 0.0 else -1.0
            low, high = s, now + 1  # the sign holds at `low`, not at `high`
            while high - low > 1:
                middle = (low + high) // 2
                moved = v - g * (A[middle] - A[s]) - sign * l1 * (E[middle] - E[s])
                if moved * sign > 0.0:
                    low = middle
                else:
                    high = middle
            v = v - g * (A[low] - A[s]) - sign * l1 * (E[low] - E[s])
            s = low
            if s == now:
                return v
        s += 1
        v = soft_threshold(v - g * (A[s] - A[s - 1]), l1 * (E[s] - E[s - 1]))
    return v


@kernel
def end_block(cells, R, A, E, now, l1):
    """Bring all cells up to step `now`, unscale them, and begin the next block, in place."""
    for j in range(cells.shape[0]):
        cells[j, V] = R * caught_up(cells, j, A, E, now, l1)
        cells[j, A_S:] = 0.0
