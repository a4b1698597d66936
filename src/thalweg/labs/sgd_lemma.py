"""The lemma behind SGD holds for any vectors whatever.

From w⁽¹⁾ = 0 let w⁽ᵗ⁺¹⁾ = w⁽ᵗ⁾ − ηvₜ, with vectors vₜ that need be no gradients. For any w* one
completes the square:

    ⟨w⁽ᵗ⁾ − w*, vₜ⟩ = (‖w⁽ᵗ⁾ − w*‖² − ‖w⁽ᵗ⁺¹⁾ − w*‖²)/2η + (η/2)‖vₜ‖²

Summed over t the distances cancel but for the first and the last. The first is ‖w*‖², and the last
can only help:

    Σₜ ⟨w⁽ᵗ⁾ − w*, vₜ⟩ = ‖w*‖²/2η + (η/2)Σₜ‖vₜ‖² − ‖w⁽ᵀ⁺¹⁾ − w*‖²/2η

So the lemma is an identity with one term left out, and it is an equality exactly where the walk
ends on w*. If ‖vₜ‖ ≤ ρ and ‖w*‖ ≤ B, the step η = B/(ρ√T) makes the mean of the left side at most
Bρ/√T. An adversary attains that: it takes T steps of full length ρ, almost all of each to the side,
to and fro, and the rest towards w*, which it meets at the end.

    vₜ = −w*/(ηT) ± (ρ² − ‖w*‖²/(ηT)²)^½ u,     u ⊥ w*, signs in turn, T even
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import thalweg as tw
from thalweg.figures.spec import LOG
from thalweg.labbook import (
    NOTED,
    Axis,
    Bars,
    Break,
    Check,
    Figure,
    Findings,
    Guide,
    Lab,
    Panel,
    Ruling,
    Setting,
    Sheet,
    curve,
    figure,
    panel,
)
from thalweg.rules.plain_step import plain_step

ROUNDING = 1e-10  # of both sides: sums of some hundred products lose less
B, RHO = 2.0, 3.0  # of the second part; both scale out of it
Vector = np.ndarray
Adversary = Callable[[int, Vector], Vector]  # vₜ from t = 1, 2, … and w⁽ᵗ⁾


class Game(NamedTuple):
    """A sequence played step by step: both sides of the lemma, and where it ended."""

    vectors: np.ndarray  # v, float64[T, d]
    left: float  # Σ⟨w⁽ᵗ⁾ − w*, vₜ⟩
    right: float  # ‖w*‖²/2η + (η/2)Σ‖vₜ‖²
    left_out: float  # ‖w⁽ᵀ⁺¹⁾ − w*‖²/2η

    @property
    def scale(self) -> float:
        """What rounding is measured by."""
        return self.right + abs(self.left)


def experiment(
    setting: Setting,
    *,
    update: Callable[..., Vector] = plain_step,
    step: Callable[..., float] = tw.theory.sgd.step,
) -> Findings:
    """The lemma against adversaries; `update` makes w⁽ᵗ⁺¹⁾, `step` is that of the second part."""
    count = setting.pick(glance=60, quick=250, full=10_000)
    games = {
        name: [_game(setting.rng(name, k), name, update) for k in range(count)] for name in FAMILIES
    }
    played = [game for each in games.values() for game in each]
    most = setting.pick(glance=4, quick=5, full=8)
    horizons = [4**k for k in range(1, most + 1)]
    means = _means(setting, horizons, update, step)
    too_far = [_mean(_zigzag(3.0 * B, T, step), 3.0 * B, T, update, step) for T in horizons[1:]]
    bounds = np.array([tw.theory.sgd.value_bound(B, RHO, T) for T in horizons])
    over = max((game.left - game.right) / game.scale for game in played)
    identity = max(abs(game.right - game.left - game.left_out) / game.scale for game in played)
    shares = {name: means[name] / bounds for name in means}
    attained = shares["zigzag"]
    checks = [
        Check(
            f"Σ⟨w⁽ᵗ⁾ − w*, vₜ⟩ ≤ ‖w*‖²/2η + (η/2)Σ‖vₜ‖² in {len(played):,} sequences of "
            f"{len(FAMILIES)} kinds",
            over <= ROUNDING, f"left − right at most {over:.1g} of the two",
        ),
        Check(
            "what is missing is exactly ‖w⁽ᵀ⁺¹⁾ − w*‖²/2η", identity <= ROUNDING,
            f"off by at most {identity:.1g} of the two sides",
        ),
        _agreement(setting, games, update),
        _searched(setting),
        _of_a_run(setting),
        Check(
            "with ‖vₜ‖ ≤ ρ, ‖w*‖ ≤ B and η = B/(ρ√T) the mean of the left side is at most Bρ/√T",
            all(np.all(share <= 1.0 + ROUNDING) for share in shares.values()),
            f"at most {max(share.max() for share in shares.values()):.6g} of it, "
            f"T from {horizons[0]} to {horizons[-1]:,}",
        ),
        Check(
            "an adversary attains Bρ/√T, so no smaller constant would do",
            bool(np.all(np.abs(attained - 1.0) <= 1e-8)),
            f"from {attained.min():.9f} to {attained.max():.9f} of it",
        ),
        Check(
            "for a w* of length 3B the same step breaks Bρ/√T: the second part needs ‖w*‖ ≤ B",
            bool(np.all(np.array(too_far) > bounds[1:])),
            f"{np.min(too_far / bounds[1:]):.3g} times Bρ/√T, where (3² + 1)/2 = 5 is expected",
            NOTED,
        ),
    ]  # fmt: skip
    return Findings(
        checks,
        _tables(games, horizons, bounds, means),
        [_drawn(games, horizons, bounds, means)],
        [f"second part: B = {B:g}, ρ = {RHO:g}, in 4 dimensions; first part: T from 2 to 60, 1 to "
         "8 dimensions, η from 0.001 to 10, ‖w*‖ over six decades"],
    )  # fmt: skip


def _game(rng: np.random.Generator, name: str, update: Callable[..., Vector]) -> Game:
    """One game of that family: length, dimensions, step and w* drawn at random."""
    T, d = int(rng.integers(2, 61)), int(rng.integers(1, 9))
    eta = 10.0 ** rng.uniform(-3.0, 1.0)
    target = 10.0 ** rng.uniform(-3.0, 3.0) * rng.standard_normal(d)
    return _play(FAMILIES[name](rng, T, eta, target), target, T, eta, update)


def _play(
    adversary: Adversary, target: Vector, T: int, eta: float, update: Callable[..., Vector]
) -> Game:
    """T steps against an adversary, one by one as the lemma reads."""
    w, left, vectors = np.zeros(target.size), 0.0, []
    for t in range(1, T + 1):
        v = adversary(t, w)
        left += float((w - target) @ v)
        vectors.append(v)
        w = update(w, v, eta)
    squares = float(np.sum(np.square(vectors)))
    right = float(target @ target) / (2.0 * eta) + 0.5 * eta * squares
    return Game(np.array(vectors), left, right, float(np.sum((w - target) ** 2)) / (2.0 * eta))


def _random(rng: np.random.Generator, T: int, eta: float, target: Vector) -> Adversary:
    return lambda t, w: rng.standard_normal(w.size)


def _heavy(rng: np.random.Generator, T: int, eta: float, target: Vector) -> Adversary:
    return lambda t, w: rng.standard_cauchy(w.size)  # no mean, let alone a bound


def _greedy(rng: np.random.Generator, T: int, eta: float, target: Vector) -> Adversary:
    """Of all vectors of one length that which makes ⟨w − w*, v⟩ largest."""
    length = 10.0 ** rng.uniform(-2.0, 2.0)
    return lambda t, w: length * (w - target) / max(float(np.linalg.norm(w - target)), 1e-300)


def _away(rng: np.random.Generator, T: int, eta: float, target: Vector) -> Adversary:
    """The worst advice: away from w*, ever further."""
    return lambda t, w: -0.1 / eta * (w - target)


def _spike(rng: np.random.Generator, T: int, eta: float, target: Vector) -> Adversary:
    """Nothing, but for one vector that jumps on w*."""
    when = int(rng.integers(1, T + 1))
    return lambda t, w: (t == when) * (w - target) / eta


def _straight(rng: np.random.Generator, T: int, eta: float, target: Vector) -> Adversary:
    """Steps that end on w*: an equality."""
    return lambda t, w: -target / (eta * T)


FAMILIES = {
    "random": _random,
    "heavy tails": _heavy,
    "greedy": _greedy,
    "away": _away,
    "one spike": _spike,
    "straight to w*": _straight,
}


def _agreement(
    setting: Setting, games: dict[str, list[Game]], update: Callable[..., Vector]
) -> Check:
    """The library's two sides beside those of one step after the other."""
    rng, worst = setting.rng("agreement"), 0.0
    for each in games.values():
        for game in each[:50]:
            eta = 0.5
            target = rng.standard_normal(game.vectors[0].shape)
            again = _play(_replayed(game), target, len(game.vectors), eta, update)
            sides = tw.theory.sgd.lemma(game.vectors, target, step=eta)
            off = max(abs(sides.left - again.left), abs(sides.right - again.right))
            worst = max(worst, off / again.scale)
    return Check(
        "tw.theory.sgd.lemma has the same two sides", worst <= ROUNDING,
        f"they differ by at most {worst:.1g} of their size",
    )  # fmt: skip


def _replayed(game: Game) -> Adversary:
    return lambda t, w: game.vectors[t - 1]


def _searched(setting: Setting) -> Check:
    """L-BFGS over all vectors at once looks for right − left < 0."""
    T, d, eta = 12, 3, 0.3
    rng = setting.rng("search")
    target = rng.standard_normal(d)

    def room(flat: Vector) -> float:
        sides = tw.theory.sgd.lemma(flat.reshape(T, d), target, step=eta)
        return sides.right - sides.left

    start = 3.0 * rng.standard_normal(T * d)
    found = tw.minimize(room, "lbfgs", start, tol=1e-8, max_iter=50, progress=False)
    sides = tw.theory.sgd.lemma(found.w.reshape(T, d), target, step=eta)
    least = found.value / (sides.right + abs(sides.left))
    return Check(
        "a search over all vectors for right < left ends at equality",
        -ROUNDING <= least <= 1e-4,  # differences of values, which the search sees, end there
        f"right − left from {room(start):.3g} down to {found.value:.1g}, {T * d} variables",
    )  # fmt: skip


def _of_a_run(setting: Setting) -> Check:
    """The vectors of a noisy descent on a function that is not even convex."""
    eta, surface = 1e-3, tw.surfaces.Rosenbrock()
    ways = [np.zeros(2)]
    tw.minimize(
        tw.Noisy(surface, 5.0), tw.GD(step=eta), np.zeros(2), tol=1e-300, max_iter=400,
        seed=setting.seed, progress=False, callback=lambda seen: ways.append(np.array(seen.w)),
    )  # fmt: skip
    vectors = -np.diff(ways, axis=0) / eta
    sides = [tw.theory.sgd.lemma(vectors, np.array(at), step=eta) for at in ((1, 1), (-3, 9))]
    return Check(
        "it holds for the steps of a real run, noisy gradients on Rosenbrock's valley",
        all(side.left <= side.right * (1.0 + ROUNDING) for side in sides),
        f"left {sides[0].left:.3g}, right {sides[0].right:.3g} after {len(vectors)} steps",
    )


def _means(
    setting: Setting, horizons: list[int], update: Callable[..., Vector], step: Callable
) -> dict[str, np.ndarray]:
    """The mean of the left side by adversary, with ‖vₜ‖ ≤ ρ, at every T."""
    repeats = setting.pick(glance=5, quick=20, full=100)
    rng = setting.rng("second part")

    def sphere(t: int, w: Vector) -> Vector:
        v = rng.standard_normal(w.size)
        return RHO * v / np.linalg.norm(v)

    def greedy(t: int, w: Vector) -> Vector:
        away = w - _target(B)
        return RHO * away / max(float(np.linalg.norm(away)), 1e-300)

    return {
        "zigzag": np.array(
            [_mean(_zigzag(B, T, step), B, T, update, step) for T in horizons]
        ),
        "greedy": np.array([_mean(greedy, B, T, update, step) for T in horizons]),
        "random, worst": np.array(
            [max(_mean(sphere, B, T, update, step) for _ in range(repeats)) for T in horizons]
        ),
    }  # fmt: skip


def _mean(
    adversary: Adversary, length: float, T: int, update: Callable[..., Vector], step: Callable
) -> float:
    return _play(adversary, _target(length), T, float(step(B, RHO, T)), update).left / T


def _target(length: float) -> Vector:
    return np.array([length, 0.0, 0.0, 0.0])


def _zigzag(length: float, T: int, step: Callable) -> Adversary:
    """Full length ρ at every step, to and fro, and on w* after T of them."""
    along = min(length / (float(step(B, RHO, T)) * T), RHO)
    aside = float(np.sqrt(RHO**2 - along**2))
    return lambda t, w: np.array([-along, aside if t % 2 else -aside, 0.0, 0.0])


def _tables(
    games: dict[str, list[Game]],
    horizons: list[int],
    bounds: np.ndarray,
    means: dict[str, np.ndarray],
) -> list[Sheet]:
    first = [
        (name, len(each), _ratio(each), float(np.median([g.left / g.right for g in each])))
        for name, each in games.items()
    ]
    second = [(T, bounds[k], *(each[k] for each in means.values())) for k, T in enumerate(horizons)]
    return [
        Sheet("Left over right of the first part", ("vectors", "sequences", "largest", "median"),
              tuple(first)),
        Sheet("Mean of the left side", ("T", "Bρ/√T", *means), tuple(second)),
    ]  # fmt: skip


def _ratio(each: list[Game]) -> float:
    return max(game.left / game.right for game in each)


def _drawn(
    games: dict[str, list[Game]],
    horizons: list[int],
    bounds: np.ndarray,
    means: dict[str, np.ndarray],
) -> Figure:
    names, largest = tuple(games), [_ratio(each) for each in games.values()]
    bars = Bars(
        "", np.arange(len(names)), np.maximum(largest, 0.0),
        labels=tuple(f"{value:.3f}" for value in largest),
    )  # fmt: skip
    # Shares of the bound: the zigzag would cover the line of the bound itself.
    shown = [
        curve(name, horizons, mean / bounds, hue, dots=True)
        for hue, (name, mean) in enumerate(means.items(), 1)
    ]
    across, up = Axis("T", LOG), Axis("mean of ⟨w − w*, v⟩ over Bρ/√T", low=0.0, high=1.2)
    return figure(
        "Both parts of the lemma",
        (
            Panel(
                Axis("largest left/right", low=0.0, high=1.25),
                Axis("", categories=names), (bars,), "First part: at most 1",
            ),
            panel(across, up, [Guide("Bρ/√T", 1.0), *shown], title="Second part: at most 1"),
        ),
        f"Of the first part the left side is at most {max(largest):.6f} of the right one, and 1 is "
        "reached by vectors that end on w*. Of the second part the zigzag lies on Bρ/√T at every "
        "T; greedy and random vectors stay below it.",
        columns=2,
    )  # fmt: skip


def _ascend(w: Vector, v: Vector, step: float) -> Vector:
    return w + step * v


def _long_step(radius: float, gradient_bound: float, iterations: int) -> float:
    return 3.0 * float(tw.theory.sgd.step(radius, gradient_bound, iterations))


LAB = Lab(
    name="sgd-lemma",
    claim="For arbitrary vectors v₁ … v_T, w⁽¹⁾ = 0 and w⁽ᵗ⁺¹⁾ = w⁽ᵗ⁾ − ηvₜ, the sum of all "
    "⟨w⁽ᵗ⁾ − w*, vₜ⟩ is at most ‖w*‖²/2η + (η/2)Σ‖vₜ‖²; with ‖vₜ‖ ≤ ρ, ‖w*‖ ≤ B and "
    "η = B/(ρ√T) its mean is at most Bρ/√T.",
    formula="Σₜ⟨w⁽ᵗ⁾ − w*, vₜ⟩ ≤ ‖w*‖²/2η + (η/2)Σₜ‖vₜ‖²\n(1/T)Σₜ⟨w⁽ᵗ⁾ − w*, vₜ⟩ ≤ Bρ/√T",
    places=("B, SGD Analysis: Lemma 14.1",),
    expected=Ruling.HOLDS,
    experiment=experiment,
    breaks=(
        Break("ascent", "an update w + ηv", {"update": _ascend}),
        Break("step", "a step of 3B/(ρ√T)", {"step": _long_step}),
    ),
    fails_if="a single sequence whose left side exceeds the right one by more than 1e-10 of both, "
    "or a T and vectors of length ρ at which the mean exceeds Bρ/√T",
    code="""\
import numpy as np
import thalweg as tw

T, B, rho = 100, 2.0, 3.0
step = tw.theory.sgd.step(B, rho, T)
along = B / (step * T)  # towards w* = (B, 0); the rest of the length ρ to and fro
aside = (rho**2 - along**2) ** 0.5
zigzag = np.array([(-along, aside * (-1) ** t) for t in range(T)])
left, right = tw.theory.sgd.lemma(zigzag, np.array([B, 0.0]), step=step)
print(f"mean {left / T:.6f}, Bρ/√T = {tw.theory.sgd.value_bound(B, rho, T):.6f}")
assert left <= right * (1 + 1e-12) and np.isclose(left / T, B * rho / T**0.5)
""",
    seconds=0.8,
)
