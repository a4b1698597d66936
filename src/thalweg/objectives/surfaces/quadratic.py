"""The quadratic: every smooth function looks like one close enough to a minimum.

    f(w) = ½ (w − c)ᵀ Q Λ Qᵀ (w − c)        ∇f(w) = Q Λ Qᵀ (w − c)        ∇²f = Q Λ Qᵀ

Λ = diag(λ₁ … λ_d) holds the curvatures, the columns of Q the directions they belong to, c is the
centre. L = max|λᵢ|; μ = min λᵢ when none is negative; κ = L/μ decides how slow gradient descent is.

Cost: O(d) where Q is the identity, and no matrix is ever formed; O(d²) where it is not.
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from thalweg.core.checks import check_count, check_number, check_reals, check_vector, describe
from thalweg.core.errors import InputError
from thalweg.objectives.surfaces.surface import Surface


@dataclass(frozen=True, eq=False, repr=False)
class Quadratic(Surface):
    """½(w − c)ᵀQΛQᵀ(w − c), with the eigenvalues Λ given.

    `rotation` is None (Q = I), an angle in radians (two variables), an orthogonal matrix, or
    "random": uniform among the rotations and reflections, drawn from `seed`.
    """

    key: ClassVar[str] = "quadratic"

    eigenvalues: Any = (1.0, 10.0)  # λ, float64[dim] once checked
    rotation: Any = None
    center: Any = None  # c, float64[dim]; None is the origin
    seed: int = 0
    dim: int = field(init=False)
    basis: np.ndarray | None = field(init=False)  # Q, float64[dim, dim]; None is the identity

    def __post_init__(self) -> None:
        eigenvalues = check_vector("eigenvalues", self.eigenvalues).astype(np.float64)
        dim = eigenvalues.size
        center = self.center
        if center is not None:
            center = check_vector("center", center, dim=dim).astype(np.float64)
        seed = check_count("seed", self.seed, at_least=0)
        basis = _basis(self.rotation, dim, seed)
        for array in (eigenvalues, center, basis):
            if array is not None:
                array.setflags(write=False)
        object.__setattr__(self, "eigenvalues", eigenvalues)
        object.__setattr__(self, "center", center)
        object.__setattr__(self, "basis", basis)
        object.__setattr__(self, "dim", dim)

    @classmethod
    def conditioned(
        cls, kappa: float, dim: int = 2, rotation: Any = None, seed: int = 0
    ) -> Quadratic:
        """Condition number κ: eigenvalues from 1/κ to 1, evenly spaced in their logarithm.

        L is 1 for every κ, so one step size is stable for all of them and what κ costs is seen
        in the number of steps alone.
        """
        kappa = check_number("kappa", kappa, at_least=1.0)
        dim = check_count("dim", dim, at_least=2, advice="one variable has one eigenvalue, κ = 1")
        return cls(np.geomspace(1.0 / kappa, 1.0, dim), rotation, seed=seed)

    def _value(self, w: np.ndarray) -> np.ndarray:
        z = self._eigen_coordinates(w)
        return 0.5 * np.sum(self._curvatures(w.dtype) * z * z, axis=-1)

    def _gradient(self, w: np.ndarray) -> np.ndarray:
        return self._from_eigen(self._curvatures(w.dtype) * self._eigen_coordinates(w))

    def _hessian_vector(self, w: np.ndarray, v: np.ndarray) -> np.ndarray:
        return self._from_eigen(self._curvatures(w.dtype) * self._to_eigen(v))

    def _curvatures(self, dtype: np.dtype) -> np.ndarray:
        return self.eigenvalues.astype(dtype, copy=False)

    def _eigen_coordinates(self, w: np.ndarray) -> np.ndarray:
        """Qᵀ(w − c)."""
        if self.center is not None:
            w = w - self.center.astype(w.dtype, copy=False)
        return self._to_eigen(w)

    def _to_eigen(self, v: np.ndarray) -> np.ndarray:
        """Qᵀv, along the last axis."""
        return v if self.basis is None else v @ self.basis.astype(v.dtype, copy=False)

    def _from_eigen(self, z: np.ndarray) -> np.ndarray:
        """Qz."""
        return z if self.basis is None else self.basis.astype(z.dtype, copy=False) @ z

    @property
    def bounds(self) -> np.ndarray:
        """The box of half-width 2 around the centre."""
        return self._origin()[:, None] + np.array([-2.0, 2.0])

    @property
    def start(self) -> np.ndarray:
        """One unit from the centre along every eigenvector, so that each curvature plays a part."""
        return self._origin() + self._from_eigen(np.ones(self.dim))

    @property
    def minimizer(self) -> np.ndarray | None:
        """The centre, unless a curvature is negative."""
        return self._origin() if self.eigenvalues.min() >= 0 else None

    @cached_property
    def minimum(self) -> float | None:
        """Zero, unless a curvature is negative."""
        return 0.0 if self.eigenvalues.min() >= 0 else None

    @property
    def smoothness(self) -> float:
        """L = max|λᵢ|."""
        return float(np.abs(self.eigenvalues).max())

    @property
    def strong_convexity(self) -> float | None:
        """μ = min λᵢ, or None where that is negative."""
        least = float(self.eigenvalues.min())
        return least if least >= 0 else None

    def _origin(self) -> np.ndarray:
        return np.zeros(self.dim) if self.center is None else self.center.copy()

    def __repr__(self) -> str:
        if self.dim <= 6:
            inside = f"[{', '.join(f'{x:g}' for x in self.eigenvalues)}]"
        else:
            low, high = self.eigenvalues.min(), self.eigenvalues.max()
            inside = f"{self.dim} eigenvalues from {low:g} to {high:g}"
        if isinstance(self.rotation, str):
            inside += f", rotation={self.rotation!r}"
        elif isinstance(self.rotation, numbers.Real):
            inside += f", rotation={float(self.rotation):g}"
        elif self.rotation is not None:
            inside += ", rotated"
        if self.center is not None:
            inside += ", centred elsewhere"
        return f"Quadratic({inside})"


def _basis(rotation: Any, dim: int, seed: int) -> np.ndarray | None:
    """Q from the ways in which a rotation may be given."""
    if rotation is None:
        return None
    if isinstance(rotation, str):
        if rotation != "random":
            raise InputError(
                f'rotation must be None, an angle, an orthogonal matrix or "random", '
                f"got {rotation!r}"
            )
        Q, R = np.linalg.qr(np.random.default_rng(seed).standard_normal((dim, dim)))
        # Without the signs of R's diagonal the draw is not uniform (Mezzadri 2007).
        return np.copysign(1.0, np.diag(R)) * Q
    if isinstance(rotation, numbers.Real):
        angle = check_number("rotation", rotation)
        if dim != 2:
            raise InputError(
                f'rotation must be a matrix or "random" in {dim} variables, got the angle '
                f"{angle:g}: an angle says enough in two variables only"
            )
        return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    Q = check_reals("rotation", rotation).astype(np.float64)
    if Q.shape != (dim, dim):
        raise InputError(f"rotation must have shape ({dim}, {dim}), got {describe(Q)}")
    off = np.abs(Q.T @ Q - np.eye(dim)).max()
    if not off <= 1e-8:
        raise InputError(
            f"rotation must be orthogonal, got a matrix with QᵀQ off the identity by {off:.1e}: "
            "orthogonalise it with np.linalg.qr(matrix)[0]"
        )
    return Q
