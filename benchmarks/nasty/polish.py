"""Find a point with a lower objective, by a method of its own and in long doubles.

    F(x) = Σᵢ ωᵢ ℓ(zᵢ) + Σⱼ (l2ⱼ/2) xⱼ² + Σⱼ λⱼ|xⱼ|,    z = Ex,   E = [B, 1],   x = (v, β)

Proximal Newton: the loss is replaced by its quadratic model at x₀, H = EᵀDE, damped a little,

    minimise over x   ½(x − x₀)ᵀ(H + μM)(x − x₀) + gᵀ(x − x₀) + Σ (l2/2)x² + Σ λ|x|

and x moves towards the solution as far as F falls. F is convex along that line, so its derivative
has one change of sign, which is bisected: no difference of nearly equal values is ever taken.

The model is solved by an active set ("feature-sign search", Lee, Battle, Raina & Ng, NIPS 2006): on
the coefficients that are not zero, with their signs θ fixed, it is one linear system

    Q x = −(c + λθ),    Q = H + μM + l2,    c = g − (H + μM)x₀;

a coefficient that would change its sign stops the step at zero, if that is best, and a zero whose
slope exceeds λ joins. Each step lowers the model, no set comes back, so it ends. Two phases:
`rough` forms Q; `fine` stays on the support, takes scores from pairs and solves by QR of
[√D E; √l2], whose condition number is that of the features and not its square.

Where Huber's δ is far below the residuals, the way goes through larger δ.
"""

from typing import NamedTuple

import numpy as np

from nasty.dense import cholesky, householder, lower_solve, upper_solve
from nasty.losses import arguments, curvatures, slopes, softmax, values
from nasty.reference import Canonical, Point, Value, dual_value, scores, value
from nasty.twofold import EPS, Long, twofold

LEAST_DAMPING = 1e-17
MOST_DAMPING = 1e3
ROUNDS = 3
SETTLED = 1e-16  # of F: a bracket that needs no more work
ENOUGH = 1e-18  # of F: a decrease that no evaluation shows


class Look(NamedTuple):
    """What Newton's method needs of F at x."""

    F: Long
    a: np.ndarray  # arguments of the losses, longdouble[n, K]
    u: np.ndarray  # their slopes, longdouble[n, K]
    gradient: np.ndarray  # of the losses alone, longdouble[dim]


class Bracket(NamedTuple):
    """Where F* is: not above the value at a point, not below a dual value."""

    point: Point
    value: Value
    bound: Long


def split(problem: Canonical, x: np.ndarray) -> Point:
    """The variables x = (v row by row, β) as a point."""
    p, K = len(problem.unit), problem.outputs
    beta = x[p * K :] if problem.intercept else np.zeros(K, dtype=Long)
    return Point(x[: p * K].reshape(p, K), twofold(beta))


def joined(problem: Canonical, at: Point) -> np.ndarray:
    """A point as variables x."""
    beta = at.beta.rounded if problem.intercept else np.zeros(0, dtype=Long)
    return np.concatenate([at.v.ravel(), beta])


def extended(problem: Canonical) -> np.ndarray:
    """E = [B, 1]."""
    B = problem.B.high
    return np.concatenate([B, np.ones((len(B), int(problem.intercept)), dtype=Long)], axis=1)


def penalties(problem: Canonical) -> tuple[np.ndarray, np.ndarray]:
    """λ and l2 of every variable, 0 for intercepts."""
    free = np.zeros(problem.outputs * problem.intercept, dtype=Long)
    K = problem.outputs
    return tuple(np.concatenate([np.repeat(r, K), free]) for r in (problem.l1, problem.l2))


def look(problem: Canonical, E: np.ndarray, x: np.ndarray, exactly: bool) -> Look:
    """Value, slopes and gradient at x, with scores from pairs if `exactly`."""
    K = problem.outputs
    z = scores(problem, split(problem, x)) if exactly else twofold(E @ x.reshape(-1, K))
    a = arguments(problem.loss, z, problem.y)
    u = slopes(problem.loss, a, problem.y, problem.delta)
    l1, l2 = penalties(problem)
    F = np.sum(problem.omega * values(problem.loss, a, problem.delta))
    F = F + np.sum(l2 * x * x) / 2 + np.sum(l1 * np.abs(x))
    return Look(F, a, u, (E.T @ (problem.omega[:, None] * u)).ravel())


def hessian(problem: Canonical, E: np.ndarray, a: np.ndarray) -> np.ndarray:
    """H of the losses, [dim, dim]."""
    if problem.outputs == 1:
        d = problem.omega * curvatures(problem.loss, a, problem.delta)
        return E.T @ (d[:, None] * E)
    K, m = problem.outputs, E.shape[1]
    q = softmax(a)
    H = np.empty((m, K, m, K), dtype=Long)
    for k in range(K):
        for j in range(k + 1):
            d = problem.omega * q[:, k] * ((j == k) - q[:, j])
            H[:, k, :, j] = E.T @ (d[:, None] * E)
            H[:, j, :, k] = H[:, k, :, j]
    return H.reshape(m * K, m * K)


def sweep(Q: np.ndarray, c: np.ndarray, lam: np.ndarray, x: np.ndarray, times: int) -> np.ndarray:
    """Coordinate descent on ½xᵀQx + cᵀx + λᵀ|x|: a support to begin with."""
    x, slope = x.copy(), Q @ x + c
    diagonal = np.diag(Q)
    for j in list(range(len(x))) * times:
        wanted = x[j] - slope[j] / diagonal[j]
        new = np.sign(wanted) * max(abs(wanted) - lam[j] / diagonal[j], Long(0))
        if new != x[j]:
            slope += Q[:, j] * (new - x[j])
            x[j] = new
    return x


def feature_sign(Q, c, lam, x, limit=200) -> np.ndarray:
    """The minimiser of ½xᵀQx + cᵀx + λᵀ|x| for positive definite Q, from x."""
    free = lam == 0
    for _ in range(limit):
        slope = Q @ x + c
        noise = 64 * EPS * (np.abs(Q) @ np.abs(x) + np.abs(c) + lam)
        active, theta = free | (x != 0), np.sign(x)
        if np.all((np.abs(slope + lam * theta) <= noise)[active]):
            excess = np.where(active, -np.inf, np.abs(slope) - lam - noise)
            j = int(np.argmax(excess))
            if not excess[j] > 0:
                break
            active[j], theta[j] = True, -np.sign(slope[j])
        which = np.flatnonzero(active)
        L = cholesky(Q[np.ix_(which, which)])
        if L is None:
            break
        new = upper_solve(L.T, lower_solve(L, -(c + lam * theta)[which]))
        moved = best_before(Q[np.ix_(which, which)], slope[which], lam[which], x[which], new)
        if np.array_equal(moved, x[which]):
            break
        x = x.copy()
        x[which] = moved
    return x


def best_before(Q, slope, lam, x, new) -> np.ndarray:
    """The best of `new` and the points on the way from x where a coefficient becomes zero."""
    d = new - x
    crossing = (x != 0) & (np.sign(new) != np.sign(x)) & (lam > 0) & (d != 0)
    times = np.append(-x[crossing] / d[crossing], Long(1))
    curvature, fall = d @ Q @ d, slope @ d
    sizes = np.abs(x[None, :] + times[:, None] * d[None, :]) @ lam - np.abs(x) @ lam
    k = int(np.argmin(times * (fall + times * curvature / 2) + sizes))
    if k == len(times) - 1:
        return new
    moved = x + times[k] * d
    moved[np.flatnonzero(crossing)[times[:-1] == times[k]]] = 0.0
    return moved


def turned(problem: Canonical, dz: np.ndarray) -> np.ndarray:
    """The change of the arguments a that a change of the scores makes."""
    if problem.loss == "multinomial":
        return dz - dz[np.arange(len(dz)), problem.y][:, None]
    if problem.loss == "logistic":
        return problem.y[:, None] * dz
    return -problem.y[:, None] * dz if problem.loss == "squared-hinge" else dz


def line_search(problem: Canonical, x, new, dz, at: Look) -> Long:
    """How far to go from x towards `new` and beyond: where the derivative of F changes its sign.

    `dz` is E(new − x).
    """
    d, turn = new - x, turned(problem, dz)
    l1, l2 = penalties(problem)

    def derivative(t):
        u = slopes(problem.loss, at.a + t * turn, problem.y, problem.delta)
        here = x + t * d
        kinks = np.where(here != 0, np.sign(here) * d, np.abs(d))
        return np.sum(problem.omega[:, None] * u * dz) + np.sum(l2 * here * d + l1 * kinks)

    begin = derivative(Long(0))
    if not begin < 0:
        return Long(0)
    low, high = Long(0), Long(1)
    end = derivative(high)
    # φ′(½) ≤ φ′(0)/10 and φ′(1) ≤ −φ′(0)/10 make φ(1) ≤ φ(0), as φ is convex.
    if abs(end) <= -begin / 10 and derivative(high / 2) <= begin / 10:
        return high
    while end < 0 and high < 2.0**40:
        low, high = high, 4 * high
        end = derivative(high)
    for _ in range(40):
        middle = (low + high) / 2
        if derivative(middle) < 0:
            low = middle
        else:
            high = middle
    return low if low > 0 else high


def rough(problem: Canonical, x: np.ndarray, steps: int) -> np.ndarray:
    """Proximal Newton steps from x by Gram matrices."""
    E = extended(problem)
    l1, l2 = penalties(problem)
    metric = np.repeat(
        np.maximum(problem.omega @ (E * E), np.finfo(np.float64).tiny), problem.outputs
    )
    at, damping = look(problem, E, x, exactly=False), Long(1e-12)
    for _ in range(steps):
        H = hessian(problem, E, at.a)
        H[np.diag_indices_from(H)] += damping * metric
        c = at.gradient - H @ x
        Q = H + np.diag(l2)
        begin = sweep(Q, c, l1, x, 3) if np.any(l1 > 0) else x
        new = feature_sign(Q, c, l1, begin)
        t = line_search(problem, x, new, E @ (new - x).reshape(-1, problem.outputs), at)
        moved = new if t == 1 else x + t * (new - x)
        then = look(problem, E, moved, exactly=False)
        damping = min(damping * 100, MOST_DAMPING) if t < 0.1 else max(damping / 10, LEAST_DAMPING)
        still = not then.F < at.F - ENOUGH * at.F
        if then.F <= at.F * (1 + 8 * EPS):
            x, at = moved, then
        if still and (damping == LEAST_DAMPING or t == 0):
            break
    return x


def fine(problem: Canonical, x: np.ndarray, steps: int) -> tuple[np.ndarray, Long]:
    """Newton steps from x on its support, with scores from pairs: the last x, the best dual value.

    Steps that leave F as it is to its last digit are taken too: they still lower the gradient. The
    dual point is that of the whole step, which may be too short for x to show it.
    """
    E = extended(problem)
    l1, l2 = penalties(problem)
    at = look(problem, E, x, exactly=True)
    bound = dual_value(problem, at.a)
    solve = qr_step if problem.outputs == 1 else gram_step
    for _ in range(steps):
        if at.F - bound <= SETTLED * at.F:
            break
        support = np.flatnonzero((x != 0) | (l1 == 0))
        whole = np.zeros_like(x)
        whole[support] = solve(problem, E, at, x, l1 * np.sign(x), l2, support)
        new = x + whole
        dz = scores(problem, split(problem, whole)).rounded
        bound = max(bound, dual_value(problem, at.a + turned(problem, dz)))
        t = line_search(problem, x, new, dz, at)
        moved = at_kink(x, whole, t, l1 > 0)
        then = look(problem, E, moved, exactly=True)
        if t == 0 or not then.F <= at.F * (1 + 8 * EPS):
            break
        x, at = moved, then
        bound = max(bound, dual_value(problem, at.a))
    return x, bound


def at_kink(x, d, t, kinked) -> np.ndarray:
    """x + t·d, or next to where a coefficient changes its sign, the point where it does."""
    crossing = np.flatnonzero(kinked & (x * d < 0))
    times = -x[crossing] / d[crossing]
    near = np.abs(times - t) <= 1e-9 * t
    if not np.any(near):
        return x + t * d
    k = np.argmin(np.abs(times - t))
    moved = x + times[k] * d
    moved[crossing[k]] = 0.0
    return moved


def gram_step(problem: Canonical, E, at: Look, x, pull, l2, support) -> np.ndarray:
    """−(H + l2)⁻¹(g + l2·x + pull) on the support, with a little damping."""
    H = hessian(problem, E, at.a)[np.ix_(support, support)]
    least = LEAST_DAMPING * np.max(np.diag(H), initial=np.finfo(np.float64).tiny)
    L = cholesky(H + np.diag(l2[support] + least))
    if L is None:
        return np.zeros(len(support), dtype=Long)
    return -upper_solve(L.T, lower_solve(L, (at.gradient + l2 * x + pull)[support]))


def qr_step(problem: Canonical, E, at: Look, x, pull, l2, support) -> np.ndarray:
    """−(EᵀDE + l2)⁻¹(Eᵀωu + l2·x + pull) on the support, without forming the matrix."""
    E, x, pull, l2 = E[:, support], x[support], pull[support], l2[support]
    d = problem.omega * curvatures(problem.loss, at.a, problem.delta)
    force = problem.omega * at.u[:, 0]
    # Samples in a straight part of their loss pull, but have no row to be written in.
    curved = d > 1e-12 * np.abs(force)
    root = np.sqrt(d[curved])
    A = np.concatenate([root[:, None] * E[curved], np.diag(np.sqrt(l2))])
    q = np.concatenate([force[curved] / root, np.sqrt(l2) * x])
    R, right = householder(A, q)
    rest = pull + E[~curved].T @ force[~curved]
    return -upper_solve(R, right + lower_solve(R.T, rest))


def start(problem: Canonical) -> np.ndarray:
    """x = 0, or for Huber's loss what larger δ lead to."""
    K, p = problem.outputs, len(problem.unit)
    x = np.zeros(p * K + K * problem.intercept, dtype=Long)
    if problem.loss != "huber":
        return x
    delta = 2 * np.max(np.abs(problem.y.high))
    while delta > problem.delta and delta > 0:
        x = rough(problem._replace(delta=delta), x, 6)
        delta = delta * Long(0.2)
    return x


def polished(problem: Canonical, x: np.ndarray, steps: int = 50) -> Bracket:
    """The best point on the way down from x, and what no point is below."""
    points, bound = [split(problem, x)], Long(0)
    for _ in range(ROUNDS):
        roughly = rough(problem, x, steps)
        x, dual = fine(problem, roughly, 12)
        bound = max(bound, dual)
        points += [split(problem, roughly), split(problem, x)]
        before, _, after = (value(problem, point).F for point in points[-3:])
        if not after < before * (1 - 1e-12) or after - bound <= SETTLED * after:
            break
    best = min(points, key=lambda point: value(problem, point).F)
    return Bracket(best, value(problem, best), bound)


def best_constant(problem: Canonical) -> Point:
    """v = 0 and the best β."""
    K, p = problem.outputs, len(problem.unit)
    nothing = twofold(np.zeros((len(problem.omega), 0)))
    none = np.zeros(0, dtype=Long)
    bare = problem._replace(B=nothing, l1=none, l2=none, unit=none, centre=none)
    beta = polished(bare, start(bare)).point.beta if problem.intercept else twofold(np.zeros(K))
    return Point(np.zeros((p, K), dtype=Long), beta)
