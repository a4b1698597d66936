"""The spectral density: how many eigenvalues lie where, by stochastic Lanczos quadrature.

    φ(x) = (1/n) Σᵢ δ(x − λᵢ)

From a random unit vector v, m steps of Lanczos give a tridiagonal T with eigenvalues θₖ and first
eigenvector entries τₖ. Σₖ τₖ² p(θₖ) is vᵀp(H)v exactly for polynomials p up to degree 2m − 1, and
its mean over v is (1/n) tr p(H) = ∫pφ. So the θₖ with weights τₖ², averaged over a few probes,
stand for φ: atoms where eigenvalues stand alone, quadrature nodes where they are many. For
drawing, each atom is widened to a Gaussian of standard deviation `width`.

Cost: probes × (steps products and O(steps² dim)); memory steps·dim numbers.
Ubaru, Chen & Saad, SIAM J. Matrix Anal. Appl. 38 (2017); for networks, Ghorbani, Krishnan & Xiao,
ICML 2019.
"""

from __future__ import annotations

import io
import math
import zipfile
from dataclasses import asdict, dataclass

import numpy as np

from thalweg.core.checks import check_count, check_number
from thalweg.core.errors import StorageError
from thalweg.curvature.lanczos import tridiagonalize
from thalweg.curvature.product import Matvec, check_generator

MARGIN = (
    5.0  # widths by which the grid extends beyond the outermost nodes: all but 1e-6 of the mass
)

PAIRS = (("nodes", "weights"), ("grid", "density"))  # of one length each


@dataclass(frozen=True)
class SpectralDensity:
    """Where the eigenvalues lie, as atoms and as a smooth curve."""

    nodes: np.ndarray  # θ, sorted, float64[probes · steps]
    weights: np.ndarray  # share of the spectrum at each node, float64[probes · steps]; Σ = 1
    grid: np.ndarray  # x, float64[grid_points]
    density: np.ndarray  # φ(x), widened; ∫ = 1
    width: float

    def cumulative(self, x: float | np.ndarray) -> float | np.ndarray:
        """The share of eigenvalues at most x, from the atoms: `cumulative(0)` is that of λ ≤ 0."""
        totals = np.concatenate([[0.0], np.cumsum(self.weights)])
        share = np.minimum(totals[np.searchsorted(self.nodes, x, side="right")], 1.0)
        return float(share) if np.ndim(x) == 0 else share

    def mean(self) -> float:
        """The mean eigenvalue, tr H / dim, as the atoms have it."""
        return float(self.weights @ self.nodes)

    def to_bytes(self) -> bytes:
        """All of it as an .npz."""
        out = io.BytesIO()
        np.savez_compressed(out, **asdict(self))
        return out.getvalue()

    @classmethod
    def from_bytes(cls, content: bytes) -> SpectralDensity:
        """Read back what `to_bytes` gave; nothing in it is executed."""
        try:
            with np.load(io.BytesIO(content), allow_pickle=False) as stored:
                parts = {name: stored[name] for name in stored.files}
            shapes = [(parts[a].shape, parts[b].shape) for a, b in PAIRS]
            kinds = {each.dtype.kind for each in parts.values()}
            if kinds != {"f"} or any(len(a) != 1 or a != b or a == (0,) for a, b in shapes):
                raise ValueError("its arrays do not fit together")
            if not all(np.isfinite(each).all() for each in parts.values()):
                raise ValueError("its numbers are not all finite")
            return cls(**{**parts, "width": float(parts["width"])})
        except (ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as problem:
            raise StorageError(
                f"a spectral density must be what to_bytes gave, got another file ({problem}): "
                "restore it from a copy"
            ) from problem


def spectral_density(
    matvec: Matvec,
    dim: int,
    *,
    steps: int,
    probes: int,
    rng: np.random.Generator,
    grid_points: int = 500,
    width: float | None = None,
) -> SpectralDensity:
    """The density of the spectrum of the symmetric `dim` × `dim` matrix behind `matvec`.

    `steps` is m, cut to `dim`. `width` is one hundredth of the spread of the nodes unless given.

    >>> H = np.diag([0.0, 0.0, 0.0, 1.0])
    >>> estimate = spectral_density(lambda v: H @ v, 4, steps=4, probes=400,
    ...                             rng=np.random.default_rng(0))
    >>> bool(abs(estimate.cumulative(0.5) - 0.75) < 0.05)
    True
    """
    rng = check_generator(rng)
    probes = check_count("probes", probes)
    grid_points = check_count("grid_points", grid_points, at_least=2)
    if width is not None:
        width = check_number("width", width, above=0)
    nodes, weights = [], []
    for _ in range(probes):
        theta, S = np.linalg.eigh(tridiagonalize(matvec, dim, steps, rng).matrix())
        nodes.append(theta)
        weights.append(S[0] ** 2 / (probes * np.sum(S[0] ** 2)))
    node, weight = np.concatenate(nodes), np.concatenate(weights)
    order = np.argsort(node, kind="stable")
    node, weight = node[order], weight[order]
    if width is None:
        width = _default_width(node)
    grid = np.linspace(node[0] - MARGIN * width, node[-1] + MARGIN * width, grid_points)
    return SpectralDensity(node, weight, grid, _widen(node, weight, grid, width), width)


def _default_width(nodes: np.ndarray) -> float:
    """A hundredth of the spread; of the size where all are equal; of one where all are zero."""
    spread = float(nodes[-1] - nodes[0])
    size = float(max(abs(nodes[0]), abs(nodes[-1])))
    if spread > 1e-8 * size:
        return 0.01 * spread
    return 0.01 * size if size > 0 else 0.01


def _widen(nodes: np.ndarray, weights: np.ndarray, grid: np.ndarray, width: float) -> np.ndarray:
    """Σₖ weightₖ N(x; θₖ, width²) on the grid."""
    density = np.zeros_like(grid)
    for theta, weight in zip(nodes, weights, strict=True):
        density += weight * np.exp(-0.5 * ((grid - theta) / width) ** 2)
    return density / (width * math.sqrt(2.0 * math.pi))
