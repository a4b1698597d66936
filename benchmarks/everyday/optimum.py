"""The optimum of F to more digits than any estimator is asked for: Newton in extended precision.

    H d = −∇F,    (u, β) ← (u, β) + t d

∇F and F are evaluated in `longdouble`, and H, scaled to a diagonal of ones, is factorised in
float64 (in `longdouble` where it is small and ill-conditioned): an error of H only slows the last
steps, so the iterates end at the zero of the exact gradient. Variants:

    l1 > 0           feature-sign search: Newton on the signed support, the lowest point among the
                     full step and the places where a sign would change; then what violates
                     optimality enters. It begins at the end of a long coordinate descent.
    p > n, l1 = 0    w is sought in the span of the rows, w = Tv with TᵀT ≈ 1, which has it exactly.
    p > 2,000        H d = −∇F by conjugate gradients.

An optimum comes with its slack, half the Newton decrement over F*, and with `identified`: whether
changing the coefficients by their own size, in the worst direction, changes F by at least 1e-10 F*.
Lee, Battle, Raina & Ng, Efficient sparse coding algorithms, NIPS 2006.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import threadpoolctl
from sklearn.linear_model import ElasticNet

from .objective import LONG, Dense, Problem

ROWS_FOR_SPAN = 400  # beyond, products in extended precision take too long
LARGE = 2_000  # variables, from which on H is not formed
SMALL_WORK = 3e8  # multiplications of a Gram matrix in extended precision


class Optimum(NamedTuple):
    """Where F is smallest."""

    u: np.ndarray  # σw, longdouble[p, K]
    beta: np.ndarray  # b + mᵀw, longdouble[K]
    value: Any  # F*
    slack: float  # what is left to gain, by F*
    identified: bool


def optimum(problem: Problem) -> Optimum:
    """Minimise F, on one thread: those of BLAS would go on spinning beside the next fit."""
    with threadpoolctl.threadpool_limits(1):
        if problem.terms.l1 > 0:
            return _FeatureSign(problem).run()
        if problem.n + 1 < problem.p and problem.n <= ROWS_FOR_SPAN and problem.terms.l2 > 0:
            return _in_span(problem)
        return _newton(problem)


def _newton(problem: Problem, limit: int = 200) -> Optimum:
    """Damped Newton on a smooth F."""
    u = np.zeros((problem.p, problem.K), dtype=LONG)
    beta = np.zeros(problem.K, dtype=LONG)
    Z = problem.scores(u, beta)
    value, best, waited = problem.value(u, beta, Z), np.inf, 0
    for _ in range(limit):
        R, D = problem.slopes(Z)
        G, g = problem.gradient(u, beta, R)
        du, db = _direction(problem, D, G, g)
        decrement = -float((G * du).sum() + (g * db).sum())
        waited = 0 if decrement < 0.5 * best else waited + 1
        best = min(best, decrement)
        if decrement <= 1e-26 * float(value) or (waited > 5 and decrement < 1e-12 * float(value)):
            break
        dZ = problem.scores(du, db)
        t = LONG(1)
        while t > 1e-12:
            trial = problem.value(u + t * du, beta + t * db, Z + t * dZ)
            if trial <= value - 1e-4 * t * decrement + 1e-17 * value:
                break
            t /= 2
        else:
            break
        u, beta = u + t * du, beta + t * db
        Z, value = problem.scores(u, beta), trial
    identified = _is_identified(problem, _least_curvature(problem, D), u, value)
    return Optimum(u, beta, value, _ratio(decrement / 2, value), identified)


def _direction(problem: Problem, D: np.ndarray, G: np.ndarray, g: np.ndarray) -> tuple[Any, Any]:
    """Newton's, by u and by β."""
    size = problem.p * problem.K
    if size > LARGE:
        return _by_conjugate_gradients(problem, D, G, g)
    every = np.ones(problem.p, dtype=bool)
    H = hessian(problem, D, every)
    step = _solve(H, -_stack(G, g, problem.is_free))
    if step is None and problem.n * size**2 <= SMALL_WORK:
        H = hessian(problem, D, every, LONG)
        step = _solve_long(H, -_stack(G, g, problem.is_free))
    if step is None:
        step = _solve(H, -_stack(G, g, problem.is_free), shift=1e-14)
    step = step.astype(LONG)
    if not problem.is_free:
        return step.reshape(problem.K, -1).T, np.zeros(problem.K, dtype=LONG)
    step = step.reshape(problem.K, -1).T
    return step[:-1], step[-1]


def _stack(G: np.ndarray, g: np.ndarray, is_free: bool) -> np.ndarray:
    """One vector, class after class, the intercept last in each."""
    return (np.vstack([G, g]) if is_free else G).T.ravel()


def hessian(
    problem: Problem, D: np.ndarray, which: np.ndarray, dtype: type = np.float64
) -> np.ndarray:
    """∇²F by the columns `which` and β, of each class in turn."""
    A = problem.A.columns(which, dtype)
    if problem.is_free:
        A = np.column_stack([A, np.ones(problem.n, dtype=dtype)])
    size, K = A.shape[1], problem.K
    cs = (LONG(problem.terms.c) * problem.s[:, 0]).astype(dtype)
    D = D.astype(dtype)
    H = np.empty((K, size, K, size), dtype=dtype)
    for k in range(K):
        for j in range(k + 1):
            row = D[:, 0] if K == 1 else cs * D[:, k] * (float(j == k) - D[:, j])
            block = A.T @ (row[:, None] * A)
            H[k, :, j, :], H[j, :, k, :] = block, block.T
    penalty = _penalty(problem, which, dtype)
    for k in range(K):
        H[k, :, k, :] += penalty
    if K > 1:
        # Adding the same to every class changes nothing of the scores' softmax: any curvature
        # there will do, and none would make H singular.
        gauge = np.zeros(size, dtype=dtype)
        gauge[-1 if problem.terms.l2 > 0 else slice(None)] = cs.sum() / K**2
        if problem.terms.l2 == 0 or problem.is_free:
            H += np.diag(gauge)[None, :, None, :]
    return H.reshape(K * size, K * size)


def _penalty(problem: Problem, which: np.ndarray, dtype: type) -> np.ndarray:
    """The penalty's part of ∇²F."""
    l2, unit = problem.terms.l2, problem.unit[which].astype(dtype)
    P = np.zeros((len(unit) + problem.is_free,) * 2, dtype=dtype)
    inside = slice(None, len(unit))
    P[inside, inside] = np.diag(l2 / unit**2)
    if problem.terms.intercept == "penalised":
        bend = np.append(-problem.mean[which].astype(dtype) / unit, dtype(1))
        P += l2 * np.outer(bend, bend)
    return P


def _solve(H: np.ndarray, right: np.ndarray, shift: float = 0.0) -> np.ndarray | None:
    """H⁻¹ right in float64; None if H is too near singular for that, unless it may be shifted."""
    H = H.astype(np.float64)
    scale = 1 / np.sqrt(np.maximum(np.diag(H), 1e-300))
    unit = H * scale[:, None] * scale
    right = (right * scale).astype(np.float64)
    while True:
        try:
            factor = scipy.linalg.cho_factor(unit + shift * np.eye(len(unit)), lower=True)
        except np.linalg.LinAlgError:
            if shift == 0:
                return None
            shift *= 10
            continue
        if shift == 0 and np.diag(factor[0]).min() < 1e-6:  # κ above 1e12 or so
            return None
        return scipy.linalg.cho_solve(factor, right) * scale


def _solve_long(H: np.ndarray, right: np.ndarray) -> np.ndarray | None:
    """The same in extended precision, None where that fails too."""
    scale = 1 / np.sqrt(np.maximum(np.diag(H), LONG(1e-300)))
    L, right = H * scale[:, None] * scale, right * scale
    for k in range(len(L)):
        if L[k, k] < 1e-16:
            return None
        L[k:, k] /= np.sqrt(L[k, k])
        L[k + 1 :, k + 1 :] -= np.outer(L[k + 1 :, k], L[k + 1 :, k])
    x = right.copy()
    for k in range(len(L)):
        x[k] = (x[k] - L[k, :k] @ x[:k]) / L[k, k]
    for k in reversed(range(len(L))):
        x[k] = (x[k] - L[k + 1 :, k] @ x[k + 1 :]) / L[k, k]
    return x * scale


def _by_conjugate_gradients(problem: Problem, D: Any, G: Any, g: Any) -> tuple[Any, Any]:
    """Newton's direction to 1e-6 without H, preconditioned by H's diagonal."""
    l2, K = problem.terms.l2, problem.K
    unit, mean = problem.unit.astype(float), problem.mean.astype(float)
    D64, cs = D.astype(float), (LONG(problem.terms.c) * problem.s).astype(float)
    is_penalised = problem.terms.intercept == "penalised"

    def product(v: np.ndarray) -> np.ndarray:
        du, db = v[:-1], v[-1]
        Z = problem.A.times(du) + db
        R = D64 * Z if K == 1 else cs * D64 * (Z - (D64 * Z).sum(axis=1, keepdims=True))
        w = du / unit[:, None]
        by_w, by_beta = l2 * w, R.sum(axis=0) * problem.is_free
        if is_penalised:
            b = db - mean @ w
            by_w, by_beta = by_w - l2 * np.outer(mean, b), by_beta + l2 * b
        return np.vstack([problem.A.pull(R) + by_w / unit[:, None], by_beta])

    weight = D64 if K == 1 else cs * D64 * (1 - D64)
    total = weight.sum(axis=0)
    diagonal = np.vstack([np.tile(total, (problem.p, 1)) + l2 / unit[:, None] ** 2, total + l2])
    right = -np.vstack([G, g * problem.is_free]).astype(float)
    x, r = np.zeros_like(right), right
    z = r / diagonal
    d, rz = z, (r * z).sum()
    target = 1e-12 * rz
    for _ in range(3_000):
        if rz <= target:
            break
        Hd = product(d)
        step = rz / (d * Hd).sum()
        x, r = x + step * d, r - step * Hd
        z = r / diagonal
        rz, before = (r * z).sum(), rz
        d = z + rz / before * d
    return x[:-1].astype(LONG), x[-1].astype(LONG)


def _least_curvature(problem: Problem, D: np.ndarray, which: np.ndarray | None = None) -> float:
    """The least curvature of F by u on some columns, or a bound from below."""
    below = float(problem.terms.l2 / problem.unit.max() ** 2)
    every = np.ones(problem.p, dtype=bool) if which is None else which
    if not every.any():
        return np.inf
    if every.sum() * problem.K > LARGE:
        return below
    H = hessian(problem, D, every)
    values = np.linalg.eigvalsh(H)
    return max(below, float(values[0]) if values[0] > 1e-13 * values[-1] else 0.0)


def _is_identified(problem: Problem, curvature: float, u: np.ndarray, value: Any) -> bool:
    """Whether the coefficients can be told from others by F."""
    if np.isinf(curvature):
        return True
    return curvature * float(np.abs(u).max()) ** 2 / 2 >= 1e-10 * float(value)


def _ratio(part: float, whole: Any) -> float:
    return abs(part) / max(float(whole), 1e-300)


class _Span(Problem):
    """F as a function of v, w = Tv: a problem of n variables or so in the place of one of p."""

    def __init__(self, problem: Problem) -> None:
        self.__dict__.update(problem.__dict__)
        Xc = problem.A.A * problem.unit
        is_penalised = problem.terms.intercept == "penalised"
        self.T = _orthonormal(np.vstack([Xc, problem.mean]) if is_penalised else Xc)
        self.p, self.unit = self.T.shape[1], np.ones(self.T.shape[1], dtype=LONG)
        self.mean = problem.mean @ self.T
        self.A = Dense(Xc @ self.T, LONG(0), LONG(1))


def _orthonormal(rows: np.ndarray) -> np.ndarray:
    """A basis of the rows' span, [p, rank], by Gram and Schmidt, the longest remainder first."""
    rest = rows.copy()
    before = np.sqrt((rest**2).sum(axis=1))
    basis: list[np.ndarray] = []
    while True:
        norms = np.sqrt((rest**2).sum(axis=1))
        norms[norms <= 1e-16 * before] = 0
        k = int(np.argmax(norms))
        if norms[k] == 0 or len(basis) == min(rows.shape):
            return np.array(basis).T
        q = rest[k] / norms[k]
        if basis:
            q = q - (np.array(basis) @ q) @ np.array(basis)
            q = q / np.sqrt((q**2).sum())
        basis.append(q)
        rest = rest - np.outer(rest @ q, q)
        rest[k] = 0


def _in_span(problem: Problem) -> Optimum:
    """The optimum by way of T."""
    span = _Span(problem)
    found = _newton(span)
    u = (span.T @ found.u) * problem.unit[:, None]
    value = problem.value(u, found.beta)
    curvature = float(problem.terms.l2 / problem.unit.max() ** 2)
    identified = _is_identified(problem, curvature, u, value)
    return Optimum(u, found.beta, value, found.slack, identified)


class _FeatureSign:
    """Newton on the support and its signs, for one score."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.tau = problem.terms.l1 / problem.unit  # of |u|, [p]
        self.u = _start(problem)
        self.beta = np.zeros(1, dtype=LONG)
        self.signs = np.sign(self.u[:, 0])  # of the support, 0 outside
        self.refused = np.zeros(problem.p, dtype=bool)  # rounding lets them in, and out again

    def run(self, limit: int = 3_000) -> Optimum:
        """Until nothing violates optimality."""
        problem = self.problem
        Z = problem.scores(self.u, self.beta)
        value, best, waited = problem.value(self.u, self.beta, Z), np.inf, 0
        for _ in range(limit):
            R, D = problem.slopes(Z)
            G, g = problem.gradient(self.u, self.beta, R)
            G = G[:, 0]
            du, db = self._direction(D, G, g)
            inside = self.signs != 0
            decrement = -float((G + self.tau * self.signs)[inside] @ du[inside, 0] + (g * db).sum())
            waited = 0 if decrement < 0.5 * best else waited + 1
            best = min(best, decrement)
            done = decrement <= 1e-26 * float(value)
            stalled = waited > 5 and decrement < 1e-12 * float(value)
            moved = None if done or stalled else self._move(Z, du, db, value)
            if moved is not None:
                Z, value = moved
            elif not self._enter(G, 1e-17 * np.abs(R).sum()):
                break
            else:
                best, waited = np.inf, 0
        edge = np.abs(G) >= self.tau * (1 - 1e-8)
        edge |= self.u[:, 0] != 0
        curvature = _least_curvature(problem, D, edge & (problem.spread > 0))
        identified = _is_identified(problem, curvature, self.u, value)
        return Optimum(self.u, self.beta, value, _ratio(decrement / 2, value), identified)

    def _direction(self, D: np.ndarray, G: np.ndarray, g: np.ndarray) -> tuple[Any, Any]:
        """Newton's on the support; what entered and moves against its sign is put back."""
        problem, du = self.problem, np.zeros_like(self.u)
        while True:
            inside = self.signs != 0
            right = -(G + self.tau * self.signs)[inside]
            if problem.is_free:
                right = np.append(right, -g)
            if not len(right):
                return du, np.zeros(1, dtype=LONG)
            H = hessian(problem, D, inside)
            step = _solve(H, right)
            if step is None:
                step = _solve(H, right, shift=1e-14)
            db = step[-1:].astype(LONG) if problem.is_free else np.zeros(1, dtype=LONG)
            du[:] = 0
            du[inside, 0] = step[: inside.sum()]
            entered = inside & (self.u[:, 0] == 0)
            wrong = entered & (du[:, 0] * self.signs < 0)
            if not wrong.any():
                return du, db
            if entered.sum() == 1:
                self.refused |= wrong
            else:
                keep = np.argmax(np.where(entered, np.abs(G) - self.tau, -np.inf))
                wrong[keep] = False
                if not wrong.any():
                    wrong = entered & (np.arange(len(entered)) != keep)
            self.signs[wrong] = 0

    def _move(self, Z: np.ndarray, du: np.ndarray, db: np.ndarray, value: Any) -> Any:
        """The lowest of the full step and the crossings of zero, or of ever shorter steps."""
        problem, u = self.problem, self.u[:, 0]
        dZ = problem.scores(du, db)
        crosses = (u * du[:, 0] < 0) & (np.abs(du[:, 0]) >= np.abs(u))
        times = np.full(len(u), np.inf, dtype=LONG)
        times[crosses] = -u[crosses] / du[crosses, 0]
        trials = [*np.sort(times[crosses])[:12], LONG(1)]
        values = [self._at(t, du, db, Z + t * dZ, times)[0] for t in trials]
        best = int(np.argmin(values))
        t = trials[best]
        slack = 1e-17 * value
        while values[best] >= value + slack:
            t /= 2
            if t < 1e-12:
                return None
            values[best] = self._at(t, du, db, Z + t * dZ, times)[0]
        _, self.u, self.beta = self._at(t, du, db, Z + t * dZ, times)
        self.signs = np.sign(self.u[:, 0])
        Z = problem.scores(self.u, self.beta)
        return Z, problem.value(self.u, self.beta, Z)

    def _at(self, t: Any, du: Any, db: Any, Z: Any, times: np.ndarray) -> tuple[Any, Any, Any]:
        u = self.u + t * du
        u[times == t] = 0
        beta = self.beta + t * db
        return self.problem.value(u, beta, Z), u, beta

    def _enter(self, G: np.ndarray, noise: Any, most: int = 8) -> bool:
        """Let in what violates optimality most; False if nothing does by more than rounding."""
        outside = (self.signs == 0) & ~self.refused
        excess = np.where(outside, np.abs(G) - self.tau, -np.inf)
        worst = np.argsort(excess)[::-1][:most]
        worst = worst[excess[worst] > 1e-13 * self.tau[worst] + noise]
        self.signs[worst] = -np.sign(G[worst])
        return len(worst) > 0


def _start(problem: Problem) -> np.ndarray:
    """u of a long coordinate descent for the squared loss, else zero."""
    u = np.zeros((problem.p, 1), dtype=LONG)
    if problem.terms.loss != "squared":
        return u
    _, _, l1, l2, _ = problem.terms
    y, s = problem.Y[:, 0].astype(float), problem.s[:, 0].astype(float)
    if isinstance(problem.A, Dense):
        # Centred here, in extended precision; in units of w, as the penalty is one for all of w.
        X = np.asfortranarray((problem.A.A * problem.unit).astype(float))
    else:
        X = problem.A.by_column
    model = ElasticNet(alpha=l1 + l2, l1_ratio=l1 / (l1 + l2), fit_intercept=problem.is_free)
    sweeps = int(np.clip(1e10 / (problem.n * problem.p), 1_000, 20_000))
    model.set_params(tol=1e-12, max_iter=sweeps)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y, sample_weight=s)
    u[:, 0] = model.coef_ * problem.unit
    return u
