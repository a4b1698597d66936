"""Lanczos: the two ends of a Hessian's spectrum from a few matrix-vector products.

From a random unit vector v₁ the recurrence

    βⱼvⱼ₊₁ = Hvⱼ − αⱼvⱼ − βⱼ₋₁vⱼ₋₁,     αⱼ = vⱼᵀHvⱼ,   βⱼ = ‖right side‖

builds an orthonormal basis V of span{v₁, Hv₁, …, Hᵐ⁻¹v₁} in which H is the tridiagonal T, with α on
its diagonal and β beside it. The eigenvalues of T, the Ritz values θ, converge to those of H, at
the two ends first. In rounded arithmetic the recurrence loses orthogonality as soon as a Ritz
value converges, so each new vector is made orthogonal to all before it, twice.

Where β = 0 the basis is invariant. A fresh random vector, orthogonal to it, then goes on, so that
m = dim steps find every eigenvalue as often as it occurs.

What is proved about the ends, with λ for eigenvalues of H:

    always                   λ_min ≤ θ_min and θ_max ≤ λ_max, since θ = uᵀHu for a unit vector u:
                             θ_min below zero by more than rounding proves negative curvature
    always                   some eigenvalue lies within ‖Hu − θu‖ of θ
    with probability 1 − δ   λ_max − θ_max ≤ ε(λ_max − λ_min),   δ = 1.648 √n exp(−√ε (2m − 1))

The last, over the random start, is Kuczyński & Woźniakowski, SIAM J. Matrix Anal. Appl. 13 (1992),
Theorem 4.2. There λ_min = 0, but Lanczos does not notice a shift; it holds for −H too, hence for
the lower end; and where the basis became invariant before m steps, for every m. If it holds at
both ends, the true spread S = λ_max − λ_min is at most R + 2εS, with R the spread of the Ritz
values. So S ≤ R/(1 − 2ε), and either end is off by at most

    εR/(1 − 2ε)      for ε < ½; for ε ≥ ½ nothing is known.

A small residual alone would not do: it may belong to an eigenvalue inside the spectrum.

Cost: m products and O(m² dim) for orthogonality; memory m·dim numbers.
Golub & Van Loan, Matrix Computations, 4th ed., chapter 10.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from thalweg.core.checks import check_count, check_number
from thalweg.curvature.product import Matvec, Product, check_generator

EPS = float(np.finfo(np.float64).eps)
FULL_DIM = 64  # up to here the whole spectrum costs less than thinking about it
MAX_STEPS = 100


class Tridiagonalization(NamedTuple):
    """H seen from m orthonormal vectors: H·basisᵀ ≈ basisᵀ·T, but for the last column."""

    alpha: np.ndarray  # α, diagonal of T, float64[m]
    beta: np.ndarray  # β₁ … βₘ₋₁ beside it, float64[m − 1]; zero where a restart was needed
    basis: np.ndarray  # V, one vector a row, float64[m, dim]
    last_beta: float  # βₘ: how strongly H couples the basis to what lies outside it
    asymmetry: float  # ‖VᵀHV − T‖ in the Frobenius norm: rounding, noise and asymmetry of products

    def matrix(self) -> np.ndarray:
        """T, float64[m, m]."""
        return np.diag(self.alpha) + np.diag(self.beta, 1) + np.diag(self.beta, -1)


@dataclass(frozen=True)
class End:
    """One end of a spectrum, with what is known about it."""

    value: float  # θ; the true end lies on its outer side or at it, but for `SpectrumEnds.rounding`
    vector: np.ndarray  # u, unit, float64[dim]; uᵀHu = θ
    residual: float  # some eigenvalue lies within this of θ
    error: float  # the true end lies at most this far beyond θ, with probability `confidence`


@dataclass(frozen=True)
class SpectrumEnds:
    """The smallest and the largest eigenvalue, both errors holding together at `confidence`."""

    smallest: End
    largest: End
    steps: int  # m
    products: int  # matrix-vector products used, the two that measure residuals included
    exact: bool  # m = dim: all eigenvalues were found, `error` is `rounding`, for certain
    rounding: float  # of this arithmetic and of the products, with the asymmetry seen in them
    confidence: float

    @property
    def norm(self) -> float:
        """The larger |θ|, a lower bound on ‖H‖."""
        return max(abs(self.smallest.value), abs(self.largest.value))

    @property
    def interval(self) -> tuple[float, float]:
        """All eigenvalues lie in here, with probability `confidence`."""
        return (
            self.smallest.value - self.smallest.error,
            self.largest.value + self.largest.error,
        )

    @property
    def negative_curvature_is_proven(self) -> bool:
        """Whether uᵀHu < 0 for the vector of the smallest end: a fact, not a probability."""
        return self.smallest.value < -self.rounding


class _Lanczos:
    """The recurrence, a step at a time; the basis grows in place."""

    def __init__(self, product: Product, limit: int, rng: np.random.Generator) -> None:
        self.product = product
        self.rng = rng
        self.steps = 0
        self.alpha = np.zeros(limit)
        self.beta = np.zeros(limit)  # beta[j] couples j and j + 1
        # Untouched pages of an empty array cost nothing, so stopping early also saves the memory.
        self.basis = np.empty((limit, product.dim))
        self.scale = 0.0  # largest |α| + 2|β| so far, about ‖H‖
        self.asymmetry = 0.0
        self.pending = _unit_vector_outside(self.basis[:0], rng)

    def step(self) -> None:
        """Take the pending vector into the basis and prepare the next."""
        j = self.steps
        self.basis[j] = self.pending
        basis = self.basis[: j + 1]
        w = self.product(self.pending)
        seen = basis @ w
        w -= seen @ basis
        correction = basis @ w
        w -= correction @ basis
        seen += correction
        self.alpha[j] = seen[j]
        if j:
            seen[j - 1] -= self.beta[j - 1]
            self.asymmetry = math.hypot(self.asymmetry, _norm(seen[:j]))
        self.steps = j + 1
        if self.steps == self.product.dim:
            return
        beta = _norm(w)
        self.scale = max(self.scale, abs(self.alpha[j]) + 2.0 * beta)
        if beta > self.product.dim * EPS * self.scale:
            self.beta[j] = beta
            self.pending = w / beta
        else:
            self.pending = _unit_vector_outside(basis, self.rng)

    def result(self) -> Tridiagonalization:
        m = self.steps
        return Tridiagonalization(
            alpha=self.alpha[:m],
            beta=self.beta[: m - 1],
            basis=self.basis[:m],
            last_beta=float(self.beta[m - 1]),
            asymmetry=self.asymmetry,
        )


def tridiagonalize(
    matvec: Matvec, dim: int, steps: int, rng: np.random.Generator
) -> Tridiagonalization:
    """`steps` (at most `dim`) steps of Lanczos from a random start."""
    product = Product(matvec, dim)
    lanczos = _Lanczos(product, min(check_count("steps", steps), dim), check_generator(rng))
    while lanczos.steps < len(lanczos.alpha):
        lanczos.step()
    return lanczos.result()


def extreme_eigenvalues(
    matvec: Matvec,
    dim: int,
    *,
    rng: np.random.Generator,
    tol: float = 1e-6,
    error_tol: float | None = None,
    max_steps: int | None = None,
    confidence: float = 0.999,
) -> SpectrumEnds:
    """Both ends of the spectrum of the symmetric `dim` × `dim` matrix behind `matvec`.

    Stops when both residuals are at most `tol`·‖H‖ and both errors are finite, or, where
    `error_tol` is given, at most `error_tol`·‖H‖; else after `max_steps`, 100 by default. Up to
    dimension 64 it never stops early: the whole spectrum is found.

    >>> curvatures = np.arange(1.0, 1001.0)
    >>> ends = extreme_eigenvalues(lambda v: curvatures * v, 1000, rng=np.random.default_rng(0))
    >>> ends.interval[0] <= 1.0 and 1000.0 <= ends.interval[1]
    True
    """
    product = Product(matvec, dim)
    rng = check_generator(rng)
    tol = check_number("tol", tol, at_least=0)
    if error_tol is not None:
        error_tol = check_number("error_tol", error_tol, at_least=0)
    confidence = check_number("confidence", confidence, above=0, below=1)
    limit = min(MAX_STEPS if max_steps is None else check_count("max_steps", max_steps), dim)

    stops = checkpoints(limit) if dim > FULL_DIM else [limit]
    # Whether to stop depends on the random start, so the bound must hold wherever one might stop.
    risk = (1.0 - confidence) / len(stops)
    lanczos = _Lanczos(product, limit, rng)
    for stop in stops:
        while lanczos.steps < stop:
            lanczos.step()
        found = lanczos.result()
        theta, S = np.linalg.eigh(found.matrix())  # columns of S: Ritz vectors in the basis
        norm = float(max(abs(theta[0]), abs(theta[-1])))
        beyond = error_beyond(float(theta[-1] - theta[0]), dim, stop, risk)
        residual = found.last_beta * float(max(abs(S[-1, 0]), abs(S[-1, -1])))
        asked = math.inf if error_tol is None else error_tol * norm
        if residual <= tol * norm and math.isfinite(beyond) and beyond <= asked:
            break

    # Rounding in the products adds up like √dim: for float32 the worst case, dim, says nothing.
    rounding = 4.0 * (dim * EPS + math.sqrt(dim) * product.eps) * norm + found.asymmetry
    smallest, largest = (
        _end(product, float(theta[k]), S[:, k] @ found.basis, beyond, rounding) for k in (0, -1)
    )
    return SpectrumEnds(
        smallest=smallest,
        largest=largest,
        steps=lanczos.steps,
        products=product.count,
        exact=lanczos.steps == dim,
        rounding=rounding,
        confidence=confidence,
    )


def checkpoints(limit: int) -> list[int]:
    """Where to look whether to stop: few enough that asking costs little confidence."""
    stops = [limit]
    while stops[0] > 20:
        stops.insert(0, math.ceil(stops[0] / 1.6))
    return stops


def error_beyond(spread: float, dim: int, steps: int, risk: float) -> float:
    """εR/(1 − 2ε) of the module's docstring, each end failing with probability `risk`/2."""
    if steps == dim:
        return 0.0
    epsilon = (math.log(1.648 * math.sqrt(dim) / (0.5 * risk)) / (2 * steps - 1)) ** 2
    return epsilon * spread / (1.0 - 2.0 * epsilon) if epsilon < 0.5 else math.inf


def _end(product: Product, value: float, u: np.ndarray, beyond: float, rounding: float) -> End:
    """One end, its residual measured afresh: βₘ|s| would not see noise in the products."""
    u = u / _norm(u)
    residual = _norm(product(u) - value * u)
    return End(value, u, residual + rounding, beyond + rounding)


def _unit_vector_outside(basis: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A random unit vector orthogonal to the rows of `basis`, uniform among those."""
    while True:
        v = rng.standard_normal((basis.shape[1],))
        for _ in range(2):
            v -= (basis @ v) @ basis
        length = _norm(v)
        # Of a Gaussian at least one coordinate is left, but it may be tiny by chance.
        if length > 1e-8:
            v /= length
            v -= (basis @ v) @ basis
            return v / _norm(v)


def _norm(v: np.ndarray) -> float:
    """‖v‖ without overflow or underflow of the squares."""
    largest = float(np.max(np.abs(v), initial=0.0))
    return largest * float(np.linalg.norm(v / largest)) if largest > 0 else 0.0
