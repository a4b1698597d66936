"""A plane with all samples of each class on its own side: the proof that F has no minimum.

    yᵢ(xᵢᵀw + b) > 0 for all i                       two classes
    zᵢₖ > zᵢₗ for all i and l ≠ k = yᵢ               K classes, z = Wᵀxᵢ + b

Along such a w the logistic and the multinomial loss fall to 0, F(tw) → 0 as t → ∞, and are above it
everywhere: without a penalty the infimum is not attained. Nor is it where samples lie upon the
plane and at least one beside it, on its own side. A margin counts as above 0 if it exceeds its own
rounding error, 2(p + 2)·ε·(‖xᵢ‖‖w‖ + |b|) in the units of X.

Where w itself is no such plane, one is looked for by a linear programme, on small data and where
scores have grown so large that it is likely:

    maximise Σᵢ yᵢx̃ᵢᵀu   subject to   0 ≤ yᵢx̃ᵢᵀu,  |uⱼ| ≤ 1

A positive optimum is a plane, and 0 shows that there is none. Near a minimum that is seen at once.
With the rows a of all leads, and the probability of the rival for the weight q of each,

    ∇F(w) = −Σ qa        d = argmin Σ q(1 − aᵀd)²        Σ q(1 − aᵀd)a = 0

and where 1 − aᵀd ≥ ½ for all of them, the leads aᵀu of any u have a positive combination that is 0:
they are all 0, or one is negative (Stiemke). In rounded numbers the sum is some ρ, and a plane u
would have ρᵀu ≥ ½Σ q(aᵀu)²/max|aᵀu| ≥ ½λ‖u‖/max‖a‖, λ the least eigenvalue of Σ qaaᵀ.

A programme is solved to some seven
digits, though, and a lead of −10⁻⁸ may be one of 0 or a sample on the wrong side: the plane is
turned so that all such samples lie upon it, to the last digit, and counts if the others are beside
it still.
Samples without weight do not count. Albert & Anderson, Biometrika 71 (1984).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.optimize
import scipy.sparse
import scipy.special

from thalweg.core.certificate import Certificate
from thalweg.kernels.rows import CSR
from thalweg.objectives.linear import MULTINOMIAL, LinearProblem

NO_MINIMUM = "no minimum"  # the kind of these certificates
EPS = float(np.finfo(np.float64).eps)
LARGE = 15.0  # a score at which a probability is 0 or 1 to six digits
MOST_ENTRIES = 300_000  # of the matrix of a linear programme
UPON = 1e-6  # of the largest lead: one below it may be zero, for a plane from a linear programme
CLEAR = 1e-9  # least curvature by the largest, of leads that rounding tells apart
ROUNDED = 1e-13  # of what a lead is summed from: one below it is zero


class Separator(NamedTuple):
    """A plane between the classes."""

    w: np.ndarray  # as the variables of the problem, or of one class against the others
    margin: float  # the smallest yᵢzᵢ/(‖w‖·‖x̃ᵢ‖), a cosine in (0, 1]; 0 with samples upon it
    alone: int | None = None  # the class that is separated from all others; None where all are


def may_run_away(problem: LinearProblem) -> bool:
    """Whether nothing but the data can hold the coefficients."""
    is_open = problem.loss in ("logistic", MULTINOMIAL)
    return is_open and problem.is_smooth and problem.l2 == 0.0


def separated(problem: LinearProblem, w: np.ndarray) -> Separator | None:
    """A plane that proves F to have no minimum, if `w` is one, or points to one."""
    found = separates(problem, w)
    if found is not None:
        return found
    z = problem.scores(w)
    if not np.abs(z).max() > LARGE or not np.all(np.isfinite(z)):
        return None
    rows = problem.n * max(1, problem.outputs - 1)
    if rows * problem.dim > MOST_ENTRIES:
        return None
    return _by_programme(problem, z)


def separates(problem: LinearProblem, w: np.ndarray) -> Separator | None:
    """`w` as a separator, if all its margins are above 0 by more than rounding."""
    w = np.asarray(w, dtype=np.float64)
    length = float(np.linalg.norm(w))
    if not (np.isfinite(length) and length > 0.0):
        return None
    is_counted = problem.weights > 0.0
    margins = _margins(problem, problem.scores(w))[is_counted]
    if not np.all(margins > _rounding(problem, w)[is_counted]):
        return None
    reach = length * np.sqrt(problem.row_squares[is_counted])
    return Separator(w, float(np.min(margins / reach)))


def separation_certificate(problem: LinearProblem, plane: Separator) -> Certificate:
    """What the plane proves; its direction, in the units of X, is in the evidence."""
    W, b = problem.coefficients(plane.w)
    length = float(np.sqrt(np.sum(W**2) + np.sum(np.square(b)))) or 1.0
    where = "on its own side" if plane.margin > 0.0 else "on its own side or upon it, not all upon"
    return Certificate(
        kind=NO_MINIMUM,
        holds=False,
        measured=plane.margin,
        limit=0.0,
        statement=f"a plane has every sample {where}, the smallest margin {plane.margin:.3g} of "
        "‖w‖‖x‖",
        shows="F falls for ever along that plane's direction: there is no minimum",
        does_not_show="which coefficients are right: a penalty would decide, however small",
        evidence={
            "coefficients": (W / length).tolist(),
            "intercepts": (np.asarray(b) / length).tolist(),
            "margin": plane.margin,
        },
    )


def _margins(problem: LinearProblem, z: np.ndarray) -> np.ndarray:
    """By how much the score of a sample's own class leads, float64[n]."""
    if not problem.term.is_matrix:
        return problem.y * z
    rows = np.arange(problem.n)
    own = z[rows, problem.y]
    z[rows, problem.y] = -np.inf
    return own - z.max(axis=1)


def _rounding(problem: LinearProblem, w: np.ndarray) -> np.ndarray:
    """What rounding may do to the scores of `w`, float64[n]."""
    W, b = problem.split(w)
    lengths = np.sqrt(np.maximum(problem.row_squares - problem.fit_intercept, 0.0))
    sums = np.linalg.norm(W) * lengths + np.linalg.norm(b)
    return 2.0 * (problem.p + 2) * EPS * sums  # a margin is the difference of two scores


def _by_programme(problem: LinearProblem, z: np.ndarray) -> Separator | None:
    """A plane by a linear programme, in features of size one; `z` are scores near the minimum."""
    is_counted = np.flatnonzero(problem.weights > 0.0)
    X = problem.matrix.rows
    if isinstance(X, CSR):
        X = scipy.sparse.csr_array(tuple(X), shape=problem.matrix.shape).toarray()
    features = problem.features
    sizes = np.sqrt(features.column_squares)
    sizes = np.where(sizes > 0.0, sizes, 1.0)
    seen = (X[is_counted] - features.place) * features.units / sizes
    if problem.fit_intercept:
        seen = np.column_stack([seen, np.ones(len(seen))])
    A = _leads(problem, seen, problem.y[is_counted])
    # What a score is added to for all classes alike changes no lead: the last one has 0.
    free = A[:, : A.shape[1] - seen.shape[1]] if problem.term.is_matrix else A
    if _is_held(free, _rivals(problem, z)[is_counted].ravel()):
        return None
    found = scipy.optimize.linprog(
        -A.sum(axis=0), A_ub=-A, b_ub=np.zeros(len(A)), bounds=(-1.0, 1.0), method="highs"
    )
    if found.status != 0:
        return None
    plane = _turned(A, found.x)
    if plane is None:
        return None
    u = plane.reshape(problem.outputs, seen.shape[1]) if problem.term.is_matrix else plane[None]
    W, b = u[:, : problem.p] / sizes, u[:, problem.p :]
    w = np.concatenate([W.T.ravel(), b.ravel()])
    return separates(problem, w) or Separator(w, 0.0)


def _is_held(A: np.ndarray, q: np.ndarray) -> bool:
    """Whether a positive combination of the rows of `A`, near the weights `q`, is zero."""
    curvatures, Q = np.linalg.eigh(A.T @ (q[:, None] * A))
    if not curvatures[0] > CLEAR * curvatures[-1]:
        return False
    left, d = np.ones_like(q), np.zeros(A.shape[1])
    for _ in range(2):  # the second time takes back what rounding did
        d += Q @ ((Q.T @ (A.T @ (q * left))) / curvatures)
        left = 1.0 - A @ d
    rest = np.abs(A.T @ (q * left)) + len(q) * EPS * (np.abs(A).T @ (q * np.abs(left)))
    longest = float(np.sqrt(np.max(np.sum(A * A, axis=1))))
    is_zero = 2.0 * float(np.linalg.norm(rest)) * longest < curvatures[0]
    return bool(is_zero and left.min() >= 0.5)


def _rivals(problem: LinearProblem, z: np.ndarray) -> np.ndarray:
    """cᵢ times the probability of each class but a sample's own, float64[n] or [n, K − 1]."""
    if not problem.term.is_matrix:
        return problem.weights * scipy.special.expit(-problem.y * z)
    shares = problem.weights[:, None] * scipy.special.softmax(z, axis=1)
    is_rival = problem.y[:, None] != np.arange(problem.outputs)
    return shares[is_rival].reshape(problem.n, -1)


def _turned(A: np.ndarray, u: np.ndarray) -> np.ndarray | None:
    """The plane nearest to u upon which all those lie that nearly do, if others are beside it."""
    leads, sizes = A @ u, np.abs(A).sum(axis=1)
    if not leads.max() > UPON * sizes.max():
        return None
    upon = leads <= UPON * leads.max()
    if np.any(upon):
        u = u - np.linalg.lstsq(A[upon], A[upon] @ u, rcond=ROUNDED)[0]
    rounding = ROUNDED * float(np.abs(u).max()) * sizes
    leads = A @ u
    is_plane = np.all(np.abs(leads[upon]) <= rounding[upon]) and np.all((leads > rounding)[~upon])
    return u if is_plane else None


def _leads(problem: LinearProblem, seen: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The rows whose products with a plane are the leads of every sample, one for each rival."""
    if not problem.term.is_matrix:
        return y[:, None] * seen
    n, width, K = len(seen), seen.shape[1], problem.outputs
    A = np.zeros((n, K, K, width))
    samples = np.arange(n)
    for rival in range(K):
        A[samples, rival, y] += seen
        A[samples, rival, rival] -= seen
    is_rival = y[:, None] != np.arange(K)
    return A[is_rival].reshape(-1, K * width)
