"""Is a function convex? L-smooth? A search for two points that show it is not.

    convex            f(x₁) ≥ f(x₂) + ∇f(x₂)ᵀ(x₁ − x₂) + (μ/2)‖x₁ − x₂‖²        for all x₁, x₂
    smooth            ‖∇f(x₁) − ∇f(x₂)‖ ≤ L‖x₁ − x₂‖                             for all x₁, x₂
    smooth implies    f(x₁) ≤ f(x₂) + ∇f(x₂)ᵀ(x₁ − x₂) + (L/2)‖x₁ − x₂‖²

with μ = 0 for plain and μ > 0 for strong convexity. Both are claims about all pairs in a box, so a
pair that violates one refutes it, while no number of pairs proves it: `holds` means that a
search found none. The search has three parts:

    pairs at random   at distances from 10⁻⁵ of the box's diagonal to all of it, evenly in the
                      logarithm, so that violations of any width have their turn
    pairs along the   at points spread evenly over the box, a few steps of Lanczos give the
    worst curvature   direction of smallest (largest, for L) curvature; a pair straddles the point
    descent           around the worst points so far, at ever shorter range: a region that is too
                      narrow to be hit at random is often visible from its surroundings. The
                      points that it ends at are straddled at all distances

A pair counts as a violation only beyond what rounding can explain: 16ε times the size of the
terms, with a relative error of ε in x itself and the objective's own `gradient_error` included.

Nesterov, Introductory Lectures on Convex Optimization (2004), section 2.1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from thalweg.core.checks import check_count, check_number, check_reals, describe
from thalweg.core.errors import InputError
from thalweg.core.objective import ObjectiveProtocol, is_composite, known, name_of
from thalweg.curvature.lanczos import tridiagonalize

EPS = float(np.finfo(np.float64).eps)
CLOSEST = 1e-5  # shortest distance of a pair, in diagonals of the box
LANCZOS_STEPS = 8
EVEN_DIM = 12  # up to here an additive recurrence covers the box better than random points
LEADERS = 5  # worst points that the descent starts from


@dataclass(frozen=True, eq=False)
class PairCheck:
    """What a search over pairs of points found; ask `holds`, it has no truth value of its own."""

    check: str  # the statement that was tested
    holds: bool | None  # False: refuted by `pair`. True: no violation found. None: nothing to judge
    worst_pair: tuple[np.ndarray, np.ndarray] | None  # (x₁, x₂) of the smallest slack
    left: float  # the sides of the inequality there, left ≥ right if it is true; NaN without an L
    right: float
    worst_slack: float  # left − right + rounding allowance; negative is a violation
    measured: float  # convex: largest μ possible in view of the pairs; smooth: smallest L possible
    pairs_tested: int  # each in both orders
    sentence: str

    @property
    def pair(self) -> tuple[np.ndarray, np.ndarray] | None:
        """The pair that violates the statement, or None if none was found."""
        return self.worst_pair if self.holds is False else None

    def __bool__(self) -> bool:
        raise TypeError(
            "a check is not a truth value: ask .holds, which is False if a violating pair was "
            "found, True if the search found none, None if there was nothing to judge"
        )

    def __str__(self) -> str:
        return self.sentence


class _Look(NamedTuple):
    """The objective at one point."""

    x: np.ndarray  # float64[dim]
    f: float
    g: np.ndarray  # ∇f, float64[dim]
    noise: float  # rounding in f
    g_error: float  # error of g beyond rounding


class _Tested(NamedTuple):
    """One inequality at one pair, left ≥ right if true."""

    left: float
    right: float
    allowance: float
    bound: float  # what the pair says about μ (at most this) or L (at least this)
    failure: str  # how a violation reads, with {left} and {right}

    @property
    def slack(self) -> float:
        return self.left - self.right + self.allowance

    @property
    def badness(self) -> float:
        """Minus the slack; where no L is claimed there is none, and the bound says it."""
        return self.bound if np.isnan(self.slack) else -self.slack


def check_convex(
    objective: Any,
    *,
    strong_convexity: float = 0.0,
    bounds: Any = None,
    samples: int = 1000,
    seed: int = 0,
) -> PairCheck:
    """Search `bounds` for two points that refute (strong) convexity.

    `bounds` is float[dim, 2] or one pair (low, high) for all variables; by default the objective's
    own, else [−1, 1]. `samples` is about the number of pairs. `measured` is an upper bound on the μ
    that f can have in the box.
    """
    f, box, rng, samples = _setting(objective, bounds, samples, seed)
    mu = check_number("strong_convexity", strong_convexity, at_least=0.0)

    def test(one: _Look, two: _Look) -> _Tested:
        linear, allowance = _linear_model(one, two)
        square = float(np.sum((one.x - two.x) ** 2))
        return _Tested(
            left=one.f,
            right=linear + 0.5 * mu * square,
            allowance=allowance,
            bound=2 * (one.f - linear + allowance) / square,
            failure="f(x₁) = {left:.6g} lies below its bound {right:.6g}",
        )

    search = _Search(f, box, rng, test, end=0)
    search.run(samples)
    measured = min(search.measured, default=np.nan)
    statement = "f(x₁) ≥ f(x₂) + ∇f(x₂)ᵀ(x₁ − x₂)" + (f" + {mu:g}/2·‖x₁ − x₂‖²" if mu else "")
    claim = f"{mu:g}-strongly convex" if mu else "convex"
    return _check(search, name_of(f), claim, statement, measured)


def check_smooth(
    objective: Any,
    L: float | None = None,
    *,
    bounds: Any = None,
    samples: int = 1000,
    seed: int = 0,
) -> PairCheck:
    """Search `bounds` for two points that refute L-smoothness.

    L defaults to the objective's own `smoothness`. Where there is none either, nothing is claimed:
    `holds` is None and `measured`, the largest ratio seen, is a lower bound on L over the box.
    `bounds` and `samples` are as in `check_convex`.
    """
    f, box, rng, samples = _setting(objective, bounds, samples, seed)
    if L is None:
        L = known(f, "smoothness")
    limit = np.nan if L is None else check_number("L", L, at_least=0.0)

    def test(one: _Look, two: _Look) -> _Tested:
        distance = float(np.linalg.norm(one.x - two.x))
        change = float(np.linalg.norm(one.g - two.g))
        size = np.linalg.norm(one.g) + np.linalg.norm(two.g)
        size += change / distance * (np.linalg.norm(one.x) + np.linalg.norm(two.x))
        allowance = 16 * EPS * float(size) + one.g_error + two.g_error
        lipschitz = _Tested(
            left=limit * distance,
            right=change,
            allowance=allowance,
            bound=(change - allowance) / distance,
            failure="the gradients differ by {right:.6g}, L‖x₁ − x₂‖ is {left:.6g}",
        )
        linear, allowance = _linear_model(one, two)
        quadratic = _Tested(
            left=linear + 0.5 * limit * distance**2,
            right=one.f,
            allowance=allowance,
            bound=2 * (one.f - linear - allowance) / distance**2,
            failure="f(x₁) = {right:.6g} lies above its bound {left:.6g}",
        )
        return max(lipschitz, quadratic, key=lambda tested: tested.bound)

    search = _Search(f, box, rng, test, end=-1)
    search.run(samples)
    measured = max(search.measured, default=np.nan)
    number = "L" if np.isnan(limit) else f"{limit:g}"
    statement = (
        f"‖∇f(x₁) − ∇f(x₂)‖ ≤ {number}·‖x₁ − x₂‖ and "
        f"f(x₁) ≤ f(x₂) + ∇f(x₂)ᵀ(x₁ − x₂) + {number}/2·‖x₁ − x₂‖²"
    )
    return _check(search, name_of(f), f"{number}-smooth", statement, measured)


def _linear_model(one: _Look, two: _Look) -> tuple[float, float]:
    """f(x₂) + ∇f(x₂)ᵀ(x₁ − x₂), and by how much its difference to f(x₁) may be off."""
    d = one.x - two.x
    allowance = one.noise + two.noise + 16 * EPS * float(np.abs(two.g) @ np.abs(d))
    return float(two.f + two.g @ d), allowance + two.g_error * float(np.linalg.norm(d))


class _Search:
    """Pairs in a box, tested as they come; all that was tested is kept."""

    def __init__(
        self,
        f: ObjectiveProtocol,
        box: np.ndarray,
        rng: np.random.Generator,
        test: Callable[[_Look, _Look], _Tested],
        end: int,
    ) -> None:
        self.f = f
        self.low, self.high = box.T
        self.rng = rng
        self.test = test
        self.end = end  # of the spectrum: 0 the smallest curvature, −1 the largest in size
        self.diagonal = float(np.linalg.norm(self.high - self.low))
        self.pairs = 0
        self.measured: list[float] = []  # the bounds that the pairs put on μ or L
        self.worst: tuple[_Tested, tuple[np.ndarray, np.ndarray]] | None = None

    def run(self, samples: int) -> None:
        """A third of the pairs for each part of the search."""
        third = max(1, samples // 3)
        dim = self.low.size
        for _ in range(third):
            x = self.rng.uniform(self.low, self.high)
            u = self.rng.standard_normal(dim)
            self.pair(x, x + self.distance() * u / np.linalg.norm(u))

        leaders = [(self.straddle(x, self.distance()), x) for x in self.spread(third)]
        rounds = third // LEADERS
        for k in range(rounds):
            leaders = _least(leaders)
            # From a tenth of the box down to the closest pairs, in equal ratios.
            reach = 0.1 * (CLOSEST / 0.1) ** (k / max(1, rounds - 1))
            for _, x in list(leaders):
                near = x + reach * (self.high - self.low) * self.rng.standard_normal(dim)
                near = np.clip(near, self.low, self.high)
                leaders.append((self.straddle(near, self.distance()), near))
        for _, x in _least(leaders):
            self.straddle(x, *(self.diagonal * np.geomspace(CLOSEST, 1.0, 6)))

    def spread(self, count: int) -> np.ndarray:
        """Points over the box, float64[count, dim], evenly where there are few variables."""
        dim = self.low.size
        if dim > EVEN_DIM:
            places = self.rng.uniform(size=(count, dim))
        else:
            # Multiples of powers of 1/φ, φ the root of φ^(dim+1) = φ + 1, modulo 1 (Roberts 2018).
            phi = 2.0
            for _ in range(60):
                phi = (1 + phi) ** (1 / (dim + 1))
            strides = phi ** -np.arange(1.0, dim + 1)
            places = (self.rng.uniform(size=dim) + np.outer(np.arange(count), strides)) % 1.0
        return self.low + places * (self.high - self.low)

    def straddle(self, x: np.ndarray, *distances: float) -> float:
        """Test pairs around x along its worst curvature; how bad that is (less is worse)."""
        with np.errstate(all="ignore"):
            try:
                T = tridiagonalize(
                    lambda v: self.f.hessian_vector(x, v), x.size, LANCZOS_STEPS, self.rng
                )
            except InputError:  # the Hessian is not finite here
                return np.inf
        theta, S = np.linalg.eigh(T.matrix())
        k = 0 if self.end == 0 else int(np.argmax(np.abs(theta)))
        u = S[:, k] @ T.basis
        for r in distances:
            self.pair(x - 0.5 * r * u, x + 0.5 * r * u)
        return float(theta[0]) if self.end == 0 else -abs(float(theta[k]))

    def distance(self) -> float:
        """Log-uniform from the closest to the whole diagonal."""
        return self.diagonal * CLOSEST ** float(self.rng.uniform())

    def pair(self, x1: np.ndarray, x2: np.ndarray) -> None:
        """Test both orders of a pair, moved into the box."""
        looks = [self.look(np.clip(x, self.low, self.high)) for x in (x1, x2)]
        first, second = looks
        if first is None or second is None or np.array_equal(first.x, second.x):
            return
        self.pairs += 1
        for one, two in ((first, second), (second, first)):
            tested = self.test(one, two)
            self.measured.append(tested.bound)
            if self.worst is None or tested.badness > self.worst[0].badness:
                self.worst = tested, (one.x, two.x)

    def look(self, x: np.ndarray) -> _Look | None:
        """f at x, None where it is not finite."""
        with np.errstate(all="ignore"):
            f, g = self.f.value_and_gradient(x)
        f, g = float(f), np.asarray(g, dtype=np.float64)
        if not (np.isfinite(f) and np.isfinite(g).all()):
            return None
        error = known(self.f, "gradient_error")
        noise = 16 * EPS * (abs(f) + float(np.abs(g) @ np.abs(x)))
        return _Look(x, f, g, noise, error(x) if error else 0.0)


def _least(leaders: list[tuple[float, np.ndarray]]) -> list[tuple[float, np.ndarray]]:
    return sorted(leaders, key=lambda leader: leader[0])[:LEADERS]


def _setting(
    objective: Any, bounds: Any, samples: int, seed: int
) -> tuple[ObjectiveProtocol, np.ndarray, np.random.Generator, int]:
    """The checked arguments that both searches share; of a noisy objective, its exact form."""
    role_fits = isinstance(objective, ObjectiveProtocol) and not isinstance(objective, type)
    if is_composite(objective) or not role_fits:
        raise InputError(
            f"objective must be a smooth objective, got {describe(objective)}: check the .smooth "
            "part of a regularized one, wrap a plain function in Objective(...)"
        )
    f = known(objective, "exact") or objective
    rng = np.random.default_rng(check_count("seed", seed, at_least=0))
    return f, _box(f, bounds), rng, check_count("samples", samples, at_least=3)


def _box(f: ObjectiveProtocol, bounds: Any) -> np.ndarray:
    if bounds is None:
        bounds = known(f, "bounds")
    if bounds is None:
        bounds = (-1.0, 1.0)
    box = check_reals("bounds", bounds).astype(np.float64)
    if box.shape == (2,):
        if f.dim is None:
            raise InputError(
                f"bounds must say how many variables {name_of(f)} has, got {bounds!r}: "
                "pass one pair (low, high) per variable, or state dim"
            )
        box = np.tile(box, (f.dim, 1))
    if box.ndim != 2 or box.shape[1] != 2 or f.dim not in (None, len(box)):
        raise InputError(
            f"bounds must be a pair (low, high) or have shape ({f.dim or 'dim'}, 2), "
            f"got {describe(box)}"
        )
    if not (np.isfinite(box).all() and (box[:, 0] < box[:, 1]).all()):
        raise InputError(f"bounds must be finite, each low below its high, got {bounds!r}")
    return box


def _check(search: _Search, name: str, claim: str, statement: str, measured: float) -> PairCheck:
    tested, pair = search.worst if search.worst is not None else (None, None)
    left, right, slack = (tested.left, tested.right, tested.slack) if tested else (np.nan,) * 3
    count = search.pairs
    holds = None if np.isnan(slack) else bool(slack >= 0)
    if not tested:
        sentence = f"{name}: no pair could be tested, the function is not finite in the box."
    elif holds is None:
        sentence = f"{name}: L is at least {measured:.6g} in the box, by {count} pairs."
    elif holds:
        sentence = f"{name} may be {claim}: no violation among {count} pairs in the box."
    else:
        x1, x2 = (np.array2string(x, precision=6, threshold=6) for x in pair or ())
        failure = tested.failure.format(left=left, right=right)
        sentence = f"{name} is not {claim}: at x₁ = {x1}, x₂ = {x2} {failure}."
    return PairCheck(
        check=f"{claim}: {statement}",
        holds=holds,
        worst_pair=pair,
        left=left,
        right=right,
        worst_slack=slack,
        measured=float(measured),
        pairs_tested=count,
        sentence=sentence,
    )
