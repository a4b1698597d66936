"""A poorly conditioned Hessian makes gradient descent zigzag and crawl.

On a quadratic with curvatures from μ to L a step of gradient descent multiplies the error along
curvature λ by 1 − ηλ. No step can be larger than 2/L, or the steepest direction grows; the flattest
one then shrinks by 1 − ημ at best. The step that serves both ends alike is η = 2/(L + μ), and

    ρ = (κ − 1)/(κ + 1),   κ = L/μ,   steps to a hundredth of the distance: ln 100/ln(1/ρ) ≈ 2.3 κ

With that step the error along the steepest direction changes its sign at every step. From (1, 1) in
the two eigenvectors step t has the length ρᵗ√((1 + ρ)² + (1 − ρ)²), and the whole way is

    way / straight line = √(1 + ρ²) (κ + 1)/2

times as long as it need be. The gradient is large all the while, nearly all of it across the
valley: after κ/4 steps it is still e^(−1/2) = 0.6 of what it was. So learning is slow with a strong
gradient, not for want of one.

Momentum needs √κ in place of κ; Newton's method, which divides by the curvature, one step. Networks
are of this kind: few directions are steep, most are nearly flat, some fall.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

import thalweg as tw
from thalweg.labbook import (
    Axis,
    Break,
    Check,
    Contour,
    Figure,
    Findings,
    Guide,
    Lab,
    Point,
    Ruling,
    Setting,
    Sheet,
    curve,
    figure,
    panel,
)

DIM = 20
SHARE = 0.01  # of the first distance, to be reached
DRAWN = 30.0  # κ of the picture
HIDDEN = 8
FLAT = 0.01  # of λ_max: curvatures below it count as flat


class Zigzag(NamedTuple):
    """A way through a valley with two curvatures."""

    kappa: float
    way: np.ndarray  # float64[steps + 1, 2], in eigenvectors: flat, steep
    flips: float  # share of steps at which the steep coordinate changes its sign
    detour: float  # length of the way by the straight line
    strength: float  # gradient after κ/4 steps by the first


def experiment(setting: Setting, *, method: str = "gd", step: float | None = None) -> Findings:
    """Steps against κ, the zigzag, and a network.

    `method` is what is claimed to be slow; `step`, in units of 1/L, is 2/(1 + 1/κ) by default.
    """
    kappas = setting.pick(
        glance=(10.0, 30.0, 100.0, 300.0),
        quick=(10.0, 30.0, 100.0, 300.0, 1_000.0, 3_000.0),
        full=(10.0, 30.0, 100.0, 300.0, 1e3, 3e3, 1e4, 3e4),
    )
    counts = {
        "gd": [_steps(setting, kappa, method, step) for kappa in kappas],
        "heavy-ball": [_steps(setting, kappa, "heavy-ball", None) for kappa in kappas],
        "newton": [_steps(setting, kappa, "newton", None) for kappa in kappas],
    }
    ways = [_zigzag(kappa, method, step) for kappa in (10.0, DRAWN, 100.0)]
    network = _Network(setting)
    checks = [*_about_steps(kappas, counts), *_about_ways(ways), *network.checks()]
    return Findings(
        checks,
        [_step_table(kappas, counts), _way_table(ways)],
        [_step_figure(kappas, counts), _way_figure(ways[1]), network.figure()],
        [
            f"quadratics of {DIM} variables, curvatures from 1/κ to 1, turned at random",
            f"network: {network.note}",
        ],
    )


def _method(name: str, step: float | None, kappa: float) -> Any:
    """Gradient descent with its best step, or another method as it comes; here L = 1."""
    if name != "gd":
        return tw.METHODS[name]()
    best = tw.theory.gradient_descent.optimal_step(smoothness=1.0, strong_convexity=1.0 / kappa)
    return tw.GD(step=best if step is None else step)


def _steps(setting: Setting, kappa: float, name: str, step: float | None) -> int:
    """Steps until the distance to the minimum is a hundredth of the first."""
    seed = int(setting.rng("turn").integers(1 << 30))
    bowl = tw.surfaces.Quadratic.conditioned(kappa, DIM, rotation="random", seed=seed)
    # One unit along every eigenvector: each curvature plays its part.
    goal = SHARE * math.sqrt(DIM)
    run = tw.minimize(
        bowl, _method(name, step, kappa), bowl.start, tol=1e-300, max_iter=int(10 * kappa) + 50,
        progress=False, callback=lambda s: bool(np.linalg.norm(s.w) <= goal),
    )  # fmt: skip
    return run.iterations


def _allowed(kappa: float) -> float:
    """ln(1/SHARE)/ln(1/ρ)."""
    rho = tw.theory.gradient_descent.contraction(
        tw.theory.gradient_descent.optimal_step(smoothness=1.0, strong_convexity=1.0 / kappa),
        smoothness=1.0, strong_convexity=1.0 / kappa,
    )  # fmt: skip
    return math.log(SHARE) / math.log(rho)


def _about_steps(kappas: tuple[float, ...], counts: dict[str, list[int]]) -> list[Check]:
    allowed = np.array([_allowed(kappa) for kappa in kappas])
    share = np.array(counts["gd"]) / allowed
    # The smallest κ have few steps, and those of the other curvatures beside μ count.
    gd, ball = (_exponent(kappas, counts[name]) for name in ("gd", "heavy-ball"))
    return [
        Check(
            "gradient descent needs steps in proportion to κ", 0.9 <= gd <= 1.1,
            f"κ to the power {gd:.2f}; {counts['gd'][-1]:,} steps at κ = {kappas[-1]:g}",
        ),
        Check(
            # All twenty errors begin at one: at the end the two outermost are left, √2 of √20.
            "no more than ln 100/ln(1/ρ), and not much less", share.max() <= 1.01
            and share.min() >= 0.5, f"{share.min():.2f} to {share.max():.2f} of it",
        ),
        Check(
            "it is the curvature: momentum needs about √κ, Newton's method does not care",
            0.3 <= ball <= 0.75 and max(counts["newton"]) <= 2,
            f"κ to the power {ball:.2f}, {counts['heavy-ball'][-1]:,} steps at κ = {kappas[-1]:g}; "
            f"Newton's method {max(counts['newton'])}",
        ),
    ]  # fmt: skip


def _exponent(kappas: tuple[float, ...], steps: list[int]) -> float:
    return float(np.polyfit(np.log(kappas), np.log(steps), 1)[0])


def _zigzag(kappa: float, method: str, step: float | None) -> Zigzag:
    valley = tw.surfaces.Quadratic((1.0 / kappa, 1.0))
    way = [np.array([1.0, 1.0])]
    tw.minimize(
        valley, _method(method, step, kappa), way[0], tol=1e-6, max_iter=int(20 * kappa),
        progress=False, callback=lambda s: way.append(np.array(s.w)),
    )  # fmt: skip
    path = np.array(way)
    gradients = path * [1.0 / kappa, 1.0]
    later = min(int(kappa / 4), len(path) - 1)
    sign = np.sign(path[: max(2, int(kappa)), 1])
    return Zigzag(
        kappa,
        path,
        float(np.mean(sign[1:] != sign[:-1])),
        float(np.linalg.norm(np.diff(path, axis=0), axis=1).sum() / math.sqrt(2)),
        float(np.linalg.norm(gradients[later]) / np.linalg.norm(gradients[0])),
    )


def _detour(kappa: float) -> float:
    rho = (kappa - 1) / (kappa + 1)
    return math.sqrt(1 + rho**2) * (kappa + 1) / 2


def _about_ways(ways: list[Zigzag]) -> list[Check]:
    off = max(abs(each.detour / _detour(each.kappa) - 1.0) for each in ways)
    return [
        Check(
            "it oscillates: the steep coordinate changes its sign at every step",
            min(each.flips for each in ways) == 1.0,
            f"at {min(each.flips for each in ways):.0%} of the first κ steps or more",
        ),
        Check(
            "its way is √(1 + ρ²)(κ + 1)/2 times as long as the straight line", off <= 0.02,
            ", ".join(
                f"{each.detour:.1f} ({_detour(each.kappa):.1f}) at κ = {each.kappa:g}"
                for each in ways
            ),
        ),
        Check(
            "it is slow with a strong gradient: after κ/4 steps there is half of it and more",
            min(each.strength for each in ways) >= 0.5,
            f"{min(each.strength for each in ways):.2f} to "
            f"{max(each.strength for each in ways):.2f} of the first, e^(−1/2) = 0.61 predicted",
        ),
    ]  # fmt: skip


class _Network:
    """A network on wine, its whole Hessian, and gradient descent at two steps."""

    def __init__(self, setting: Setting) -> None:
        import torch

        table = tw.read("@wine", dtype="float64")
        X = tw.scaling.MinMaxScaler().fit_transform(table.X)
        Y = np.eye(3)[np.asarray(table.y)]
        model = torch.nn.Sequential(
            torch.nn.Linear(X.shape[1], HIDDEN), torch.nn.Tanh(), torch.nn.Linear(HIDDEN, 3)
        ).double()
        tw.nets.initialize(model, "lecun", seed=setting.seed)
        self.f = tw.nets.objective(model, (torch.tensor(X), torch.tensor(Y)), "squared")
        first = self.f.start.copy()
        self.steps = setting.pick(glance=150, quick=500, full=5_000)
        steepest = tw.classify(self.f, first).largest
        self.run = tw.minimize(
            self.f, tw.GD(step=1.0 / steepest), first, tol=1e-300, max_iter=self.steps,
            progress=False,
        )  # fmt: skip
        self.quasi = tw.minimize(
            self.f, "lbfgs", first, tol=1e-300, max_iter=self.steps // 2, progress=False
        )
        H = np.array([self.f.hessian_vector(self.run.w, v) for v in np.eye(self.f.dim)])
        self.curvatures, self.vectors = np.linalg.eigh(0.5 * (H + H.T))
        self.note = (
            f"13 – {HIDDEN} – 3, tanh, squared loss, on wine (178 rows, min-max scaled), "
            f"{self.f.dim} weights; gradient descent with step 1/λ_max of its start"
        )

    def checks(self) -> list[Check]:
        """Steep, flat and falling directions; flips; and how slow it is."""
        high = self.curvatures[-1]
        flat = float(np.mean(np.abs(self.curvatures) < FLAT * high))
        falling = int(np.sum(self.curvatures < -1e-6 * high))
        steep, median = (self._change(k) for k in (-1, len(self.curvatures) // 2))
        flips = {pace: self._flips(pace) for pace in (0.5, 1.9)}
        return [
            Check(
                "a network's Hessian is poorly conditioned: the gradient changes rapidly along "
                "its steepest direction, hardly along the median one",
                steep >= 100.0 * median,
                f"over 0.01, by {steep:.2g} and {median:.1g}",
            ),
            Check(
                "its landscape has flat and falling directions",
                flat >= 0.5 and falling > 0,
                f"{flat:.0%} of {len(self.curvatures)} curvatures are within {FLAT:.0%} of λ_max "
                f"= {high:.3g} from zero, {falling} are negative",
            ),
            Check(
                "along the steepest direction it oscillates with a step near 2/λ_max, not with a "
                "short one",
                flips[1.9] >= 0.8 and flips[0.5] <= 0.2,
                f"{flips[1.9]:.0%} of 20 steps turn round at 1.9/λ_max, {flips[0.5]:.0%} at "
                "0.5/λ_max",
            ),
            Check(
                "with its gradient alone it learns slowly: L-BFGS, which learns the curvature, is "
                "lower after fewer gradients",
                self.quasi.value < self.run.value and self.quasi.evaluations < self.run.evaluations,
                f"{self.quasi.value:.2g} after {self.quasi.evaluations} gradients, gradient "
                f"descent {self.run.value:.2g} after {self.run.evaluations}",
            ),
        ]

    def _change(self, k: int) -> float:
        """‖∇f(w + 0.01u) − ∇f(w)‖ along eigenvector k."""
        w = self.run.w
        moved = self.f.gradient(w + 0.01 * self.vectors[:, k])
        return float(np.linalg.norm(moved - self.f.gradient(w)))

    def _flips(self, pace: float) -> float:
        """Share of steps that turn round along the steepest direction, after a push along it."""
        steepest, u = self.curvatures[-1], self.vectors[:, -1]
        way = [self.run.w + 1e-3 * u]
        tw.minimize(
            self.f, tw.GD(step=pace / steepest), way[0], tol=1e-300, max_iter=21, progress=False,
            callback=lambda s: way.append(np.array(s.w)),
        )  # fmt: skip
        sign = np.sign(np.diff(np.array(way) @ u))
        return float(np.mean(sign[1:] != sign[:-1]))

    def figure(self) -> Figure:
        """The spectrum, and both losses."""
        share = self.curvatures / self.curvatures[-1]
        rising, falling = share[share > 0][::-1], -share[share < 0]
        spectrum: list[Any] = [
            curve("rising, λ > 0", np.arange(1, len(rising) + 1), rising, 1),
            curve("falling, λ < 0", np.arange(1, len(falling) + 1), falling, 5),
            Guide(f"{FLAT:.0%} of λ_max", FLAT),
        ]
        drawn = [
            curve(name, run.trace["evaluations"], run.trace["value"], name)
            for name, run in (("gd", self.run), ("lbfgs", self.quasi))
        ]
        # Beyond a thousandth of the first loss there is nothing left to learn.
        loss = Axis("loss", "log", low=1e-3 * float(self.run.trace["value"][0]))
        return figure(
            "A network is such a valley",
            [
                panel("rank", "|λ|/λ_max", spectrum, log="y", title="its Hessian"),
                panel("gradients", loss, drawn, title="its training"),
            ],
            f"{np.mean(np.abs(share) < FLAT):.0%} of the eigenvalues lie within {FLAT:.0%} of "
            f"λ_max from zero. Gradient descent reaches {self.run.value:.2g}, L-BFGS "
            f"{self.quasi.value:.2g}.",
            columns=2,
        )


def _step_table(kappas: tuple[float, ...], counts: dict[str, list[int]]) -> Sheet:
    rows = tuple(
        (kappa, counts["gd"][k], _allowed(kappa), counts["heavy-ball"][k], counts["newton"][k])
        for k, kappa in enumerate(kappas)
    )
    heads = ("κ", "gradient descent", "ln 100/ln(1/ρ)", "heavy ball", "Newton")
    return Sheet("Steps to a hundredth of the distance", heads, rows)


def _way_table(ways: list[Zigzag]) -> Sheet:
    rows = tuple(
        (each.kappa, each.flips, each.detour, _detour(each.kappa), each.strength) for each in ways
    )
    heads = ("κ", "share of turns", "way/straight line", "predicted", "gradient after κ/4 steps")
    return Sheet("The way through a valley of two curvatures", heads, rows)


def _step_figure(kappas: tuple[float, ...], counts: dict[str, list[int]]) -> Figure:
    drawn = [curve(name, kappas, steps, dots=True) for name, steps in counts.items()]
    drawn.append(
        curve("ln 100/ln(1/ρ)", kappas, [_allowed(kappa) for kappa in kappas], 2, theory=True)
    )
    ends = ", ".join(f"{name} {steps[-1]:,}" for name, steps in counts.items())
    return figure(
        "Steps against the condition number",
        panel("κ", "steps to a hundredth of the distance", drawn, log="xy"),
        f"At κ = {kappas[-1]:g}: {ends} steps.",
    )


def _way_figure(drawn: Zigzag) -> Figure:
    x, y = np.linspace(-0.3, 1.2, 91), np.linspace(-1.2, 1.2, 91)
    grid = np.stack(np.meshgrid(x, y), -1)
    valley = tw.surfaces.Quadratic((1.0 / drawn.kappa, 1.0))
    levels = 0.5 * np.geomspace(3e-3, 1.0, 8)
    above = panel(
        "along the valley", "across the valley",
        [
            Contour(x, y, valley.value(grid), levels),
            curve("gd", drawn.way[:, 0], drawn.way[:, 1]),
            Point("start", 1.0, 1.0, "circle"),
            Point("minimum", 0.0, 0.0, "cross"),
        ],
        title=f"the way, κ = {drawn.kappa:g}",
    )  # fmt: skip
    gone = np.linalg.norm(np.diff(drawn.way, axis=0), axis=1).cumsum()
    progress = math.sqrt(2) - np.linalg.norm(drawn.way[1:], axis=1)
    steps = np.arange(1, len(drawn.way))
    achieved = [
        curve("length of the way", steps, gone, 2),
        curve("nearer to the minimum", steps, progress, 1),
    ]
    return figure(
        "Zigzag: a strong gradient, little progress",
        [above, panel("step", "distance", achieved, log="y", title="what it achieves")],
        f"At κ = {drawn.kappa:g} the way is {drawn.detour:.1f} times as long as the straight line; "
        f"after κ/4 steps the gradient is {drawn.strength:.2f} of the first.",
        columns=2,
    )


LAB = Lab(
    name="conditioning",
    claim="Where the Hessian is poorly conditioned, as in neural networks, gradient descent "
    "oscillates and learns slowly although gradients are strong.",
    formula="‖w_T − w*‖ ≤ ((κ − 1)/(κ + 1))ᵀ ‖w₀ − w*‖,   κ = λ_max/λ_min",
    places=("C, Poor Conditioning",),
    expected=Ruling.HOLDS,
    experiment=experiment,
    breaks=(
        Break("newton", "Newton's method in gradient descent's place", {"method": "newton"}),
        Break("step", "a step of 0.1/L, too short to oscillate", {"step": 0.1}),
    ),
    fails_if="steps that grow with another power of κ than 1 ± 0.1; a step that does not change "
    "the sign of the steep coordinate; a way shorter or longer than theory's by 2 %; a network "
    "most of whose curvatures are above 1 % of the largest",
    code="""\
import numpy as np
import thalweg as tw

for kappa in (10.0, 100.0, 1000.0):
    bowl = tw.surfaces.Quadratic.conditioned(kappa)
    step = 2 / (1 + 1 / kappa)
    way = []
    run = tw.minimize(bowl, tw.GD(step=step), tol=1e-300, max_iter=10**4, progress=False,
                      callback=lambda s: way.append(s.w.copy()) or np.linalg.norm(s.w) < 0.01)
    turns = np.mean(np.diff(np.sign(np.array(way)[:20, 1])) != 0)
    print(f"κ = {kappa:g}: {run.iterations} steps, {turns:.0%} of the first turn round")
assert run.iterations > 1000 and turns == 1
""",
    seconds=1.9,
    needs_torch=True,
    remark="With a step of 1/L or less nothing oscillates on a quadratic: oscillation is the price "
    "of a step near the largest stable one, which a flat direction makes necessary.",
)
