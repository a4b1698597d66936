"""Saddles hold gradient descent up, and outnumber minima.

Near a saddle f(w) ≈ ½ Σ cᵢwᵢ² with some cᵢ < 0. A step of gradient descent multiplies coordinate i
by 1 − ηcᵢ: what rises shrinks, what falls grows. From a distance δ along the falling direction the
way out takes

    T = ln(1/δ) / ln(1 + η|c|)

steps, during which the gradient is small: ten times nearer costs the same number of steps again.
With momentum the factor is the larger root of z² − (1 + β + η|c|)z + β = 0. Methods that divide by
the size of the gradient take steps of the same length however flat it is, and leave at once.

A network with one hidden layer, f(x) = V tanh(Ux), has such a saddle at zero. Its Hessian there has
the eigenvalues ±sᵢ, with sᵢ the singular values of (1/n) Σ yxᵀ, so that weights of size σ stay on a
plateau for about ln(1/σ)/ln(1 + ηs₁) steps.

A critical point of n variables is a minimum if n eigenvalues have the right sign. Were the Hessian
a random symmetric matrix (Gaussian orthogonal ensemble, GOE), the share of minima would be

    n = 1: 1/2    n = 2: (2 − √2)/4    n = 3: (π − 2√2)/4π    large n: about exp(−n² ln 3 / 4)

(Dean & Majumdar, Phys. Rev. Lett. 97 (2006)). At the critical points of a random Gaussian function
a Hessian counts as often as it occurs times |det H| (Kac and Rice), and all of it may be shifted by
one number: the shares are 1/2, 1/4, (29 − 6√6)/116, … and fall by about half with each variable.
On a torus the numbers of points with an even and an odd number of falling directions are equal, so
that in two variables exactly half are saddles: a test that none was missed.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import thalweg as tw
from thalweg.labbook import (
    Break,
    Check,
    Figure,
    Findings,
    Lab,
    Ruling,
    Setting,
    Sheet,
    curve,
    figure,
    panel,
)

RATE, MOMENTUM = 0.1, 0.9
OFFSETS = (1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12)  # δ
SMALL = 0.1  # of the first gradient: nearer than that a method is near the saddle
GIVEN_UP = 500  # steps
EXACT: dict[int, Any] = {
    1: 0.5,
    2: (2 - math.sqrt(2)) / 4,
    3: (math.pi - 2 * math.sqrt(2)) / (4 * math.pi),
}
FIELD: dict[int, Any] = {
    1: 0.5,
    2: 0.25,
    3: (29 - 6 * math.sqrt(6)) / 116,
}  # of isotropic Gaussian functions
SIGMAS = (1e-1, 1e-3, 1e-5, 1e-7)  # of a network's first weights
HIDDEN = 16

Draw = Callable[
    [np.random.Generator, int, int], np.ndarray
]  # rng, n, count to float64[count, n, n]


class Field(NamedTuple):
    """f(w) = Σₖ aₖcos(k·w) + bₖsin(k·w), a random function on the torus [0, 2π]ⁿ."""

    k: np.ndarray  # waves, float64[waves, n]
    a: np.ndarray  # float64[waves]
    b: np.ndarray


class Plateau(NamedTuple):
    """Gradient descent on a network from weights of one size."""

    sigma: float
    losses: np.ndarray  # after each step, shares of the loss at zero weights
    steps: int  # on the plateau: until the loss is 5 % below that at zero


def symmetric(rng: np.random.Generator, n: int, count: int) -> np.ndarray:
    """Matrices of the Gaussian orthogonal ensemble."""
    A = rng.standard_normal((count, n, n))
    return (A + A.transpose(0, 2, 1)) / math.sqrt(2)


def squares(rng: np.random.Generator, n: int, count: int) -> np.ndarray:
    """Wrong: AᵀA, which has no negative eigenvalue."""
    A = rng.standard_normal((count, n, n))
    return A.transpose(0, 2, 1) @ A


def experiment(setting: Setting, *, surface: str = "saddle", draw: Draw = symmetric) -> Findings:
    """Times near a saddle, on a surface and in a network; shares of minima against dimension."""
    times = _times(tw.surfaces.SURFACES[surface]())
    largest = setting.pick(glance=4, quick=5, full=6)
    shares = _matrix_shares(setting, draw, largest)
    fields = _field_counts(setting)
    network = _Network(setting)
    plateaus = [network.descend(sigma) for sigma in SIGMAS]
    checks = [
        *_about_times(times),
        _ceases(tw.surfaces.SURFACES[surface]()),
        *network.checks(plateaus),
        *_about_shares(shares, fields),
    ]
    return Findings(
        checks,
        [_time_table(times), _share_table(shares, fields)],
        [_time_figure(times), network.figure(plateaus), _share_figure(shares, fields)],
        [
            f"steps near the saddle: gradient at most {SMALL:g}, start (1, δ), rate {RATE:g}, "
            f"momentum {MOMENTUM:g}; the others with their default settings",
            f"network: {network.note}",
        ],
    )


def _methods() -> dict[str, Any]:
    return {
        "gd": tw.GD(step=RATE),
        "heavy-ball": tw.HeavyBall(step=RATE, momentum=MOMENTUM),
        "nesterov": tw.Nesterov(step=RATE),
        "adagrad": tw.AdaGrad(lr=RATE),
        "rmsprop": tw.RMSProp(lr=RATE),
        "adam": tw.Adam(lr=RATE),
        "nadam": tw.Nadam(lr=RATE),
        "lbfgs": tw.LBFGS(),
        "newton-cg": tw.NewtonCG(),
    }


def _times(surface: Any) -> dict[str, list[tuple[int, int]]]:
    """For each method and δ the steps until it has left, and those near the saddle among them."""
    found: dict[str, list[tuple[int, int]]] = {}
    for name, method in _methods().items():
        found[name] = []
        for offset in OFFSETS:
            near = 0

            def note(step: Any) -> bool:
                nonlocal near
                near += step.gradient_norm <= SMALL
                return bool(abs(step.w[1]) >= 1.0)

            run = tw.minimize(
                surface, method, [1.0, offset], tol=1e-300, max_iter=GIVEN_UP, progress=False,
                callback=note,
            )  # fmt: skip
            left = run.iterations if run.outcome is tw.Outcome.INTERRUPTED else GIVEN_UP
            found[name].append((left, near if left < GIVEN_UP else GIVEN_UP))
    return found


def _predicted() -> dict[str, np.ndarray]:
    """Steps until the falling coordinate has grown from δ to 1."""
    factors = {
        "gd": 1.0 + RATE,
        "heavy-ball": tw.theory.heavy_ball.asymptotic_rate(-1.0, step=RATE, momentum=MOMENTUM),
    }
    return {name: -np.log(OFFSETS) / math.log(factor) for name, factor in factors.items()}


def _about_times(times: dict[str, list[tuple[int, int]]]) -> list[Check]:
    left = {name: np.array([pair[0] for pair in pairs]) for name, pairs in times.items()}
    near = {name: np.array([pair[1] for pair in pairs]) for name, pairs in times.items()}
    predicted = _predicted()
    # Beyond the growth that theory counts, a run begins at rest: momentum takes 1/(1 − β) steps.
    off = {name: np.abs(left[name] - steps).max() for name, steps in predicted.items()}
    quick = ("adagrad", "rmsprop", "adam", "nadam")
    slowest = max(int(left[name].max()) for name in quick)
    return [
        Check(
            "gradient descent leaves after ln(1/δ)/ln(1 + η|c|) steps, heavy ball after its "
            "own root's", off["gd"] <= 1.0 and off["heavy-ball"] <= 1.0 / (1.0 - MOMENTUM),
            f"off by {off['gd']:.1f} and {off['heavy-ball']:.1f} steps at most, of up to "
            f"{left['gd'].max()} and {left['heavy-ball'].max()}",
        ),
        Check(
            "near the saddle the gradient is small, and gradient descent stalls",
            near["gd"][-1] >= 0.5 * left["gd"][-1] and left["gd"][-1] < GIVEN_UP,
            f"{near['gd'][-1]} of {left['gd'][-1]} steps from δ = {OFFSETS[-1]:g} have a gradient "
            f"below {SMALL:g}; heavy ball {near['heavy-ball'][-1]}, Nesterov "
            f"{near['nesterov'][-1]}",
        ),
        Check(
            "methods that divide by the size of the gradient hardly notice it",
            slowest <= 0.2 * left["gd"][-1],
            f"{', '.join(f'{name} {near[name].max()}' for name in quick)} steps near it at most",
        ),
    ]  # fmt: skip


def _ceases(surface: Any) -> Check:
    """A stopping rule on the gradient takes the saddle for the end; the Hessian does not."""
    run = tw.minimize(surface, tw.GD(step=RATE), [1.0, OFFSETS[-1]], tol=1e-6, progress=False)
    point = tw.classify(surface, run.w)
    return Check(
        "training that ends at a small gradient ends at the saddle; its curvature shows the way on",
        run.converged and point.kind == "saddle" and point.drop > 0.0,
        f"gradient descent from δ = {OFFSETS[-1]:g}: {run.outcome.word.lower()} after "
        f"{run.iterations} steps with ‖∇f‖ = {run.gradient_norm:.1g}, at a {point.kind}, from "
        f"which f falls by {point.drop:.2g}",
    )


def _matrix_shares(setting: Setting, draw: Draw, largest: int) -> dict[int, tuple[int, int]]:
    """Dimension to (positive definite, drawn)."""
    count = setting.pick(glance=20_000, quick=100_000, full=1_000_000)
    found = {}
    for n in range(1, largest + 1):
        rng, hits, done = setting.rng("matrices", n), 0, 0
        while done < count:
            part = min(50_000, count - done)
            hits += int(np.sum(np.linalg.eigvalsh(draw(rng, n, part))[:, 0] > 0.0))
            done += part
        found[n] = hits, count
    return found


def _field_counts(setting: Setting) -> dict[int, dict[str, int]]:
    """Dimension to how many critical points of each kind random functions have."""
    fields = setting.pick(
        glance={1: 8, 2: 5, 3: 3}, quick={1: 40, 2: 20, 3: 10}, full={1: 300, 2: 100, 3: 40, 4: 8}
    )
    found = {}
    for n, count in fields.items():
        counts = {"minimum": 0, "maximum": 0, "saddle": 0, "degenerate": 0, "unbalanced": 0}
        for which in range(count):
            rng = setting.rng("field", n, which)
            field = _field(rng, n)
            points = _critical_points(field, rng)
            sign = 0
            for w in points:
                counts[tw.classify(_objective(field), w).kind] += 1
                sign += int(np.sign(np.linalg.det(_derivatives(field, w[None])[1][0])))
            counts["unbalanced"] += sign != 0
        found[n] = counts
    return found


def _field(rng: np.random.Generator, n: int) -> Field:
    # One of k and −k; weights exp(−k²/2) make it smooth, and nearly the same in all directions.
    reach = range(-3, 4)
    waves = [k for k in itertools.product(reach, repeat=n) if k > (0,) * n]
    k = np.array([each for each in waves if np.dot(each, each) <= 9], dtype=float)
    size = np.exp(-0.25 * np.sum(k * k, axis=1))
    return Field(k, size * rng.standard_normal(len(k)), size * rng.standard_normal(len(k)))


def _derivatives(field: Field, W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """∇f and ∇²f at points W, float64[points, n]."""
    phase = W @ field.k.T
    sine, cosine = np.sin(phase), np.cos(phase)
    waves, n = field.k.shape
    squares = (field.k[:, :, None] * field.k[:, None, :]).reshape(waves, n * n)
    bend = -(cosine * field.a + sine * field.b) @ squares
    return (cosine * field.b - sine * field.a) @ field.k, bend.reshape(-1, n, n)


def _objective(field: Field) -> Any:
    def value(w: np.ndarray) -> float:
        return float(np.cos(field.k @ w) @ field.a + np.sin(field.k @ w) @ field.b)

    return tw.Objective(
        value,
        lambda w: _derivatives(field, w[None])[0][0],
        lambda w, v: _derivatives(field, w[None])[1][0] @ v,
        dim=field.k.shape[1],
        check_gradient=False,
    )


def _critical_points(field: Field, rng: np.random.Generator) -> np.ndarray:
    """All of them, by Newton's method on ∇f = 0 from many starts."""
    n = field.k.shape[1]
    W = rng.uniform(0.0, 2 * np.pi, (30 * 5**n, n))  # a field has about 4ⁿ points
    for _ in range(25):
        slope, bend = _derivatives(field, W)
        step = np.linalg.solve(bend + 1e-12 * np.eye(n), slope[:, :, None])[:, :, 0]
        # Shorter steps than Newton's where they are long, so that few runs leap about for ever.
        length = np.linalg.norm(step, axis=1, keepdims=True)
        W = W - step * np.minimum(1.0, 0.5 / np.maximum(length, 1e-300))
    slope, _ = _derivatives(field, W)
    W = np.mod(W[np.abs(slope).max(axis=1) < 1e-9], 2 * np.pi)
    places = np.round(W, 5) % round(2 * np.pi, 5)
    return W[np.unique(places, axis=0, return_index=True)[1]]


def _about_shares(
    shares: dict[int, tuple[int, int]], fields: dict[int, dict[str, int]]
) -> list[Check]:
    # Four standard errors of a binomial share: one seed in 10,000 is beyond.
    errors = {
        n: (hits / count - EXACT[n]) / math.sqrt(EXACT[n] * (1 - EXACT[n]) / count)
        for n, (hits, count) in shares.items()
        if n in EXACT
    }
    falling = [hits / count for hits, count in shares.values()]
    minima = {n: _share(counts) for n, counts in fields.items()}
    return [
        Check(
            "the share of positive definite random matrices is the ensemble's, n = 1, 2, 3",
            max(map(abs, errors.values())) <= 4.0,
            ", ".join(f"{shares[n][0] / shares[n][1]:.4f} ({EXACT[n]:.4f})" for n in errors),
        ),
        Check(
            "it falls faster than geometrically: saddles outnumber minima in high dimension",
            all(2 * b < a for a, b in itertools.pairwise(falling)),
            ", ".join(f"n = {n}: {share:.2g}" for n, share in enumerate(falling, 1)),
        ),
        Check(
            "no critical point of a random function was missed: even and odd ones balance",
            not sum(counts["unbalanced"] for counts in fields.values()),
            f"{sum(map(_points, fields.values())):,} points, "
            f"{sum(counts['unbalanced'] for counts in fields.values())} functions out of balance",
        ),
        Check(
            "at the critical points of random Gaussian functions minima become rare as well",
            # By half, in theory; a third leaves room for as few as two hundred points.
            all(minima[n + 1] <= 0.75 * minima[n] for n in minima if n + 1 in minima),
            ", ".join(f"n = {n}: {share:.3f}" for n, share in minima.items())
            + f"; {fields[3]['saddle'] / max(_points(fields[3]) * minima[3], 1):.1f} saddles for a "
            "minimum in three variables",
        ),
    ]


def _share(counts: dict[str, int]) -> float:
    """Of minima; f and −f are equally likely, so that maxima count as well."""
    return (counts["minimum"] + counts["maximum"]) / 2 / _points(counts)


def _points(counts: dict[str, int]) -> int:
    return sum(counts[kind] for kind in ("minimum", "maximum", "saddle", "degenerate"))


class _Network:
    """Digits, and a network of one hidden layer without biases that learns them."""

    def __init__(self, setting: Setting) -> None:
        import torch

        rows = setting.pick(glance=200, quick=500, full=1_500)
        table = tw.read("@digits", dtype="float64")
        labels = np.asarray(table.y)
        kept = setting.rng("digits").permutation(len(labels))[:rows]
        X, Y = np.asarray(table.X)[kept] / 16.0, np.eye(10)[labels[kept]]
        Y -= Y.mean(axis=0)
        self.seed = setting.seed
        self.model = torch.nn.Sequential(
            torch.nn.Linear(64, HIDDEN, bias=False), torch.nn.Tanh(),
            torch.nn.Linear(HIDDEN, 10, bias=False),
        ).double()  # fmt: skip
        self.data = torch.tensor(X), torch.tensor(Y)
        self.objective = tw.nets.objective(self.model, self.data, "squared")
        # s₁, the pace at which small weights grow
        self.pace = float(np.linalg.norm(Y.T @ X / rows, 2))
        self.step = RATE / self.pace
        self.flat = self.objective.value(np.zeros(self.objective.dim))
        self.note = (
            f"64 – {HIDDEN} – 10, tanh, squared loss, on {rows} digits; s₁ = {self.pace:.3g}, "
            f"step {RATE:g}/s₁"
        )

    def start(self, sigma: float) -> np.ndarray:
        """Weights of this size, the same ones but for it."""
        tw.nets.initialize(self.model, f"normal[sigma={sigma}]", seed=self.seed)
        return self.objective.start.copy()

    def descend(self, sigma: float) -> Plateau:
        """Gradient descent until the loss has left the plateau, and twenty steps more."""
        losses = [1.0]

        def note(step: Any) -> bool:
            losses.append(step.value / self.flat)
            return len(losses) > 20 and losses[-20] < 0.95

        tw.minimize(
            self.objective, tw.GD(step=self.step), self.start(sigma), tol=1e-300, max_iter=1_000,
            progress=False, callback=note,
        )  # fmt: skip
        below = np.array(losses) < 0.95
        return Plateau(sigma, np.array(losses), int(np.argmax(below)) if below.any() else 1_000)

    def checks(self, plateaus: list[Plateau]) -> list[Check]:
        """The saddle at zero, the plateau beside it, and the way out."""
        point = tw.classify(self.objective, np.zeros(self.objective.dim), max_products=60)
        measured = np.diff([each.steps for each in plateaus])
        expected = math.log(100.0) / math.log(1.0 + RATE)  # a factor of 100 in σ
        self.start(SIGMAS[-1])
        x, y = self.data

        def loss() -> Any:
            return 0.5 * (self.model(x) - y).square().sum(1).mean()

        left = tw.doctor.escape(self.model, loss)
        return [
            Check(
                "zero weights of a network are a saddle, of curvature −s₁",
                point.kind == "saddle" and abs(point.smallest / -self.pace - 1.0) <= 0.01,
                f"{point.kind}, λ_min = {point.smallest:.4g}, s₁ = {self.pace:.4g}",
            ),
            Check(
                "each factor of 100 in the weights costs ln 100/ln(1 + ηs₁) steps on the plateau",
                # The first few steps turn the weights towards the fastest direction.
                bool(np.all(np.abs(measured[1:] / expected - 1.0) <= 0.1)),
                f"{', '.join(map(str, measured[1:]))} steps measured, {expected:.1f} predicted",
            ),
            Check(
                "negative curvature is the way out of it",
                left.after < 0.95 * left.before,
                f"from weights of {SIGMAS[-1]:g} one escape takes the loss from {left.before:.3f} "
                f"to {left.after:.3f}; gradient descent needs {plateaus[-1].steps} steps to leave",
            ),
        ]

    def figure(self, plateaus: list[Plateau]) -> Figure:
        drawn = [
            curve(f"weights of {each.sigma:g}", np.arange(len(each.losses)), each.losses, hue)
            for hue, each in enumerate(plateaus)
        ]
        told = ", ".join(f"{each.steps} steps from {each.sigma:g}" for each in plateaus)
        return figure(
            "A network beside its saddle at zero",
            panel("step of gradient descent", "loss, as a share of that at zero", drawn),
            f"Time on the plateau: {told}.",
        )


def _time_table(times: dict[str, list[tuple[int, int]]]) -> Sheet:
    heads = ("method", *(f"δ = {offset:g}" for offset in OFFSETS))
    rows: Any = tuple((name, *(near for _, near in pairs)) for name, pairs in times.items())
    return Sheet("Steps near the saddle, by how far beside its ridge they begin", heads, rows)


def _share_table(shares: dict[int, tuple[int, int]], fields: dict[int, dict[str, int]]) -> Sheet:
    rows: list[tuple[str | float | int, ...]] = []
    for n, (hits, count) in shares.items():
        counts = fields.get(n)
        found: tuple[str | float | int, ...] = ("", "", "") if counts is None else (
            _points(counts), counts["saddle"], _share(counts)
        )  # fmt: skip
        exact, isotropic = (known.get(n, "") for known in (EXACT, FIELD))
        rows.append((n, hits / count, exact, *found, isotropic))
    heads = (
        "variables", "matrices: share", "exact", "functions: points", "saddles",
        "share of minima", "isotropic",
    )  # fmt: skip
    return Sheet("Minima among critical points", heads, tuple(rows))


def _time_figure(times: dict[str, list[tuple[int, int]]]) -> Figure:
    drawn = [
        curve(name, OFFSETS, [left for left, _ in pairs])
        for name, pairs in times.items()
        if max(left for left, _ in pairs) < GIVEN_UP
    ]
    drawn += [
        curve(f"{name}, theory", OFFSETS, steps, hue, theory=True)
        for hue, (name, steps) in zip((2, 5), _predicted().items(), strict=True)
    ]
    told = ", ".join(f"{name} {pairs[-1][0]}" for name, pairs in times.items())
    return figure(
        "Steps until a saddle is left",
        panel("δ, distance from the ridge at the start", "steps", drawn, log="x"),
        f"From δ = {OFFSETS[-1]:g}: {told}.",
    )


def _share_figure(shares: dict[int, tuple[int, int]], fields: dict[int, dict[str, int]]) -> Figure:
    seen = {n: hits / count for n, (hits, count) in shares.items() if hits}
    minima = {n: _share(counts) for n, counts in fields.items()}
    n = np.arange(1, max(shares) + 1)
    drawn = [
        curve("random matrices (GOE)", list(seen), list(seen.values()), 1, dots=True),
        curve("GOE, exact", list(EXACT), list(EXACT.values()), 0, theory=True),
        curve("GOE, leading order", n, np.exp(-(n**2) * math.log(3) / 4), 1, theory=True),
        curve("random functions", list(minima), list(minima.values()), 2, dots=True),
        curve("functions, exact", list(FIELD), list(FIELD.values()), 0, theory=True),
    ]
    return figure(
        "How many critical points are minima",
        panel("number of variables", "share of minima", drawn, log="y"),
        "Share of minima: "
        + ", ".join(f"n = {k}: {share:.2g} of matrices" for k, share in seen.items())
        + "; "
        + ", ".join(f"n = {k}: {share:.2g} of functions' points" for k, share in minima.items())
        + ".",
        "leading order: exp(−n² ln 3/4), without the factor that changes more slowly",
    )


LAB = Lab(
    name="saddle",
    claim="Close to a saddle point the gradient is very small, so that gradient descent stalls; "
    "and in high dimension saddles are more likely than local minima.",
    formula="T = ln(1/δ) / ln(1 + η|c|)\nP(minimum) ≈ exp(−n² ln 3 / 4)",
    places=("C, Saddle Points",),
    expected=Ruling.HOLDS,
    experiment=experiment,
    breaks=(
        Break("bowl", "a bowl in place of the saddle", {"surface": "quadratic"}),
        Break("squares", "Hessians AᵀA, without negative curvature", {"draw": squares}),
    ),
    fails_if="gradient descent that leaves a saddle in another number of steps than "
    "ln(1/δ)/ln(1 + η|c|), give or take one; a share of positive definite matrices four standard "
    "errors off the exact one; a share of minima that does not fall with the dimension",
    code="""\
import numpy as np
import thalweg as tw

saddle = tw.surfaces.Saddle()
run = tw.minimize(saddle, tw.GD(step=0.1), [1.0, 1e-12], tol=1e-6)
print(run.outcome.word, "after", run.iterations, "steps, at a", tw.classify(saddle, run.w).kind)
rng = np.random.default_rng(0)
for n in (1, 2, 3, 4, 5):
    A = rng.standard_normal((20_000, n, n))
    share = np.mean(np.linalg.eigvalsh(A + A.transpose(0, 2, 1))[:, 0] > 0)
    print(f"n = {n}: {share:.4f} of random critical points are minima")
assert tw.classify(saddle, run.w).kind == "saddle" and share < 0.01
""",
    seconds=6.9,
    needs_torch=True,
    remark="Training does not cease for good: from any start but those on the ridge itself "
    "gradient descent leaves, after a time that grows with ln(1/δ). What ends there is a training "
    "with a stopping rule, or one that runs out of steps.",
)
