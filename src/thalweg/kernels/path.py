"""Least squares along a path of penalties, from sums alone: coordinate descent, point after point.

    minimise  ½(xᵀHx − 2qᵀx + s) + Σⱼ λdⱼ|xⱼ| + ½μdⱼ²xⱼ²        for (λ, μ) = (λ₁, μ₁), (λ₂, μ₂), …

or the same for x ≥ `low` = 0, which is −∞ without that,
in variables x = w/d in which H has ones on its diagonal (0 for a constant feature). With the slopes
g = Hx − q kept up to date, a step in one coordinate is exact and costs a row of H:

    xⱼ ← S(Hⱼⱼxⱼ − gⱼ, λdⱼ)/(Hⱼⱼ + μdⱼ²)          S the soft threshold

Sweeps over all coordinates alternate with sweeps over those that are not zero, until the duality
gap is small. With A = xᵀ(g − q) + s, twice the loss, the residuals times t are a dual point
(`certificates.least_squares`), of the value

    D(t) = −½t²A − t(xᵀg − A) − Σⱼ max(0, t|gⱼ| − λdⱼ)²/(2μdⱼ²)

for t ≤ t̂ = min λdⱼ/|gⱼ|, where the last term is 0, or, where μ > 0, for t = 1. For x ≥ 0 slopes
that are positive ask for nothing: max(0, −gⱼ) stands for |gⱼ|, and a step ends at 0.

Each point begins at the solution of the one before. A point that takes more work than a linear
system over its support is left to one (`methods.l1_quadratic`).
"""

import math

from thalweg.kernels.compile import kernel
from thalweg.kernels.rows import FAST_SUM

SETTLED = 0.3  # of the largest move of a sweep over all: the support is swept until it is below
MOST_TURNS = 10  # over the support, between two sweeps over all
SYSTEM = 100_000.0  # multiplications that take as long as a call of one from outside
CUBES = 0.25  # of a support's number, cubed: as long as its factor, in multiplications of sweeps


@kernel(fastmath=FAST_SUM)
def quadratic_gap(q, s, d, l1, l2, low, x, g):
    """The value at x and its duality gap, both up to rounding."""
    A, along, penalty, beyond, steepest = s, 0.0, 0.0, 0.0, 0.0
    for j in range(x.size):
        A += x[j] * (g[j] - q[j])
        along += x[j] * g[j]
        bound, ridge = l1 * d[j], l2 * d[j] * d[j]
        penalty += bound * abs(x[j]) + 0.5 * ridge * x[j] * x[j]
        size = max(-g[j], 0.0) if low == 0.0 else abs(g[j])
        steepest = max(steepest, size / bound)
        over = size - bound
        if over > 0.0 and ridge > 0.0:
            beyond += 0.5 * over * over / ridge
    t = 1.0 / steepest if steepest > 1.0 else 1.0
    if A > 0.0 and l2 == 0.0:
        t = max(min((A - along) / A, 1.0 / steepest if steepest > 0.0 else math.inf), 0.0)
    dual = -0.5 * t * t * A - t * (along - A)
    if l2 > 0.0:
        dual = max(dual, 0.5 * A - along - beyond)
    value = 0.5 * A + penalty
    return value, value - max(dual, 0.0)


@kernel(fastmath=FAST_SUM)
def _sweep(H, d, l1, l2, low, only_support, x, g):
    """One sweep, in place; the largest move, in units of the slope, and the number of moves."""
    worst, moves = 0.0, 0
    for j in range(x.size):
        old, bend = x[j], H[j, j]
        if bend <= 0.0 or (only_support and old == 0.0):
            continue
        pull, bound = bend * old - g[j], l1 * d[j]
        new = max((pull - min(max(pull, -bound), bound)) / (bend + l2 * d[j] * d[j]), low)
        if new != old:
            move = new - old
            worst = max(worst, abs(move) * bend)
            moves += 1
            x[j] = new
            for k in range(x.size):
                g[k] += move * H[j, k]
    return worst, moves


@kernel
def slopes_at(H, q, x, g):
    """Write Hx − q into `g`, in place: many small changes have added up their rounding."""
    g[:] = -q
    for j in range(x.size):
        if x[j] != 0.0:
            for k in range(x.size):
                g[k] += x[j] * H[j, k]


@kernel
def descend_along(H, q, s, d, l1s, l2s, low, goal, first, last, x, g, X, starts):
    """Minimise for the penalties from `first` to `last` in turn, in place; where it came to.

    `x` and its `g` go along, and are left in row k of `X` where the gap is at most `goal`; row k of
    `starts` has the value and the gap where point k began. Returns the point that takes longer than
    a system, `last` if there is none.
    """
    p = x.size
    for k in range(first, last):
        l1, l2, work = l1s[k], l2s[k], 0.0
        slopes_at(H, q, x, g)
        value, gap = quadratic_gap(q, s, d, l1, l2, low, x, g)
        if starts[k, 0] != starts[k, 0]:  # it begins here: NaN before that
            starts[k, 0], starts[k, 1] = value, gap
        support = 0
        while gap > goal:
            if work > SYSTEM + CUBES * support**3:
                return k
            worst, moves = _sweep(H, d, l1, l2, low, False, x, g)
            work += p * (1.0 + moves)
            support = 0
            for j in range(p):
                support += x[j] != 0.0
            for _ in range(MOST_TURNS):
                met, moves = _sweep(H, d, l1, l2, low, True, x, g)
                work += p * (1.0 + moves)
                if met <= SETTLED * worst:
                    break
            value, gap = quadratic_gap(q, s, d, l1, l2, low, x, g)
            if gap != gap:  # overflow: others look closer
                return k
        X[k] = x
    return last
