"""In the lecture's example a pass of SAG is worth 13 full gradients.

With N = 700,000 samples, L = 0.25 and μ = 1/N (logistic regression on rows of length 1, with the
usual weak penalty) the condition is L/μ = 175,000. For the price of N sample gradients the methods
shrink f − f* by

    gradient descent, step 2/(L + μ)       ((L − μ)/(L + μ))²
    accelerated                            1 − √(μ/L)
    fastest with full gradients            ((√L − √μ)/(√L + √μ))²
    SAG, N steps of 1/16L                  (1 − min(μ/16L, 1/8N))ᴺ

The third is a lower bound: some function of many variables defies every method that sees nothing
but full gradients. SAG beats it since it looks inside the sum. It beats the 1/t of stochastic
gradients as well, which holds for methods that do not know that the samples come back. With
κ = L/μ, the logarithms of the last two rates are about

    −4/√κ      and      −min(N/16κ, 1/8)

so that SAG wins by these guarantees where 1,024 < κ < N²/4,096. That is what "for typical L, μ and
N" stands for: a hundred million is typical, a well-conditioned problem is not.

A problem with these constants exactly: rows (±√(L − μ), 0) and the penalty μ. One coefficient has
curvature L, the other, on which no data bear, has μ.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal, localcontext
from typing import NamedTuple

import numpy as np

import thalweg as tw
from thalweg.labbook import (
    Break,
    Check,
    Figure,
    Findings,
    Guide,
    Lab,
    Ruling,
    Setting,
    Sheet,
    curve,
    figure,
    panel,
)

N, L = 700_000, 0.25
SLIDE = {"gradient": 0.99998, "accelerated": 0.99761, "sag": 0.88250, "fastest": 0.99048}


class Measured(NamedTuple):
    """Gaps after each full gradient, or each pass, on the problem with these constants."""

    N: int
    sag: np.ndarray
    sgd: np.ndarray
    full: dict[str, np.ndarray]  # gd, nesterov, heavy-ball
    plan: tw.Plan


def experiment(
    setting: Setting,
    *,
    sag_rate: Callable[..., float] = tw.theory.sag.rate_per_pass,
    step: float | str = "theory",
) -> Findings:
    """The four figures, their bounds, and a run on a problem with these very constants."""
    known = {"smoothness": L, "strong_convexity": 1.0 / N}
    rates = {
        "gradient": tw.theory.gradient_descent.rate(**known),
        "accelerated": tw.theory.accelerated.rate(**known),
        "sag": sag_rate(samples=N, **known),
        "fastest": tw.theory.accelerated.fastest_rate(**known),
    }
    exact = _exact()
    measured = _measure(setting, step)
    grid, lines = _lines(sag_rate)
    checks = [
        *(
            Check(
                f"{name}: {SLIDE[name]:.5f}",
                f"{rates[name]:.5f}" == f"{SLIDE[name]:.5f}"
                and abs(rates[name] - exact[name]) <= 1e-12,
                f"{rates[name]:.12f}; with 50 digits {exact[name]:.12f}",
            )
            for name in SLIDE
        ),
        Check(
            "a pass of SAG beats the fastest first-order method by its guarantee",
            rates["sag"] < rates["fastest"],
            f"one pass is worth {math.log(rates['sag']) / math.log(rates['fastest']):.3g} of its "
            f"full gradients, and {math.log(rates['sag']) / math.log(rates['gradient']):,.0f} of "
            "gradient descent's",
        ),
        _typical(grid, lines),
        *_planned(measured, rates),
        *_runs(measured, rates),
    ]  # fmt: skip
    return Findings(
        checks, _tables(rates, exact, measured), [_drawn(measured, rates, grid, lines)],
        [f"measured on {measured.N:,} rows (±√(L − μ), 0) with noisy targets, squared loss, "
         f"L = 0.25, μ = 1/N; SAG with uniform draws and a memory of zeros"],
    )  # fmt: skip


def _exact() -> dict[str, float]:
    """The four rates with 50 digits."""
    with localcontext() as context:
        context.prec = 50
        smooth, mu = Decimal("0.25"), Decimal(1) / Decimal(N)
        shrinkage = min(mu / (16 * smooth), Decimal(1) / (8 * N))
        roots = smooth.sqrt(), mu.sqrt()
        return {
            "gradient": float(((smooth - mu) / (smooth + mu)) ** 2),
            "accelerated": float(1 - (mu / smooth).sqrt()),
            "sag": float((N * (1 - shrinkage).ln()).exp()),
            "fastest": float(((roots[0] - roots[1]) / (roots[0] + roots[1])) ** 2),
        }


def _measure(setting: Setting, step: float | str) -> Measured:
    n, passes = setting.pick(glance=(70_000, 24), quick=(N, 24), full=(N, 60))
    rng, mu = setting.rng("rows"), 1.0 / n
    X = np.zeros((n, 2))
    X[:, 0] = math.sqrt(L - mu) * rng.choice((-1.0, 1.0), n)
    y = X[:, 0] + 0.5 * rng.standard_normal(n)
    problem = tw.LinearProblem(X, y, "squared", l2=mu, fit_intercept=False)
    best = tw.minimize(problem, "cholesky", progress=False)
    w0 = best.w + np.array([1.0, math.sqrt(n)])  # so that both coefficients count alike

    def gaps(method: tw.SAG | tw.SGD) -> np.ndarray:
        run = tw.minimize(
            problem, method, w0, tol=1e-300, max_iter=passes, seed=setting.seed, progress=False
        )  # fmt: skip
        return run.trace["value"] - best.value

    sag = gaps(tw.SAG(step=step, sampling="uniform", start="zero"))
    sgd = gaps(tw.SGD(schedule="1/t", sampling="uniform", average="none"))
    # Methods that see full gradients alone cannot tell the problem from this surface.
    surface = tw.surfaces.Quadratic((L, mu))
    iterations = setting.pick(glance=400, quick=2_000, full=20_000)
    best_step = tw.theory.gradient_descent.optimal_step(smoothness=L, strong_convexity=mu)
    methods = (tw.GD(step=best_step), tw.Nesterov(momentum="strongly-convex"), tw.HeavyBall())
    full = {
        method.name: tw.minimize(
            surface, method, w0 - best.w, tol=1e-300, max_iter=iterations, progress=False
        ).trace["value"]
        for method in methods
    }  # fmt: skip
    return Measured(n, sag, sgd, full, tw.plan(problem))


def _lines(sag_rate: Callable[..., float]) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """−log of the rate for the price of N sample gradients, against κ, for N samples."""
    grid = np.geomspace(10.0, 1e10, 400)
    lines: dict[str, list[float]] = {"sag": [], "fastest": [], "nesterov": [], "gd": []}
    for kappa in grid:
        known = {"smoothness": 1.0, "strong_convexity": 1.0 / float(kappa)}
        lines["sag"].append(-math.log(sag_rate(samples=N, **known)))
        lines["fastest"].append(-math.log(tw.theory.accelerated.fastest_rate(**known)))
        lines["nesterov"].append(-math.log(tw.theory.accelerated.rate(**known)))
        lines["gd"].append(-math.log(tw.theory.gradient_descent.rate(**known)))
    return grid, {name: np.array(line) for name, line in lines.items()}


def _typical(grid: np.ndarray, lines: dict[str, np.ndarray]) -> Check:
    wins = grid[lines["sag"] > lines["fastest"]]
    low, high = (float(wins[0]), float(wins[-1])) if wins.size else (math.nan, math.nan)
    spacing = float(grid[1] / grid[0])
    edges = (1024.0, N**2 / 4096.0)
    return Check(
        "“typical” is 1,024 < L/μ < N²/4,096: there SAG's guarantee beats the fastest",
        # As near as the grid tells, and the 4/√κ of the fastest is the first term of a series.
        all(abs(math.log(a / b)) <= 1.5 * math.log(spacing)
            for a, b in zip((low, high), edges, strict=True)),
        f"from {low:,.0f} to {high:.3g} on a grid of ratio {spacing:.3f}; expected {edges[0]:,.0f} "
        f"and {edges[1]:.3g}",
    )  # fmt: skip


def _planned(measured: Measured, rates: dict[str, float]) -> list[Check]:
    """The bounds of tw.plan, made of the same rates."""
    digits, kappa = math.log(1.0 / measured.plan.tol), L * measured.N
    found = {}
    for name in ("sag", "nesterov", "gd"):
        row = measured.plan.row(name)
        found[name] = math.nan if row is None or row.bound is None else row.bound
    accelerated = -digits / math.log1p(-math.sqrt(1.0 / kappa))
    expected = {
        "sag": -digits / math.log(rates["sag"]),
        "nesterov": accelerated,
        "gd": -digits / math.log1p(-1.0 / kappa),
    }
    off = max(abs(found[name] / expected[name] - 1.0) for name in expected)
    return [
        Check(
            "the planner's bounds are these rates: tw.plan on the problem",
            off <= 0.01,  # first terms of logarithms, and an L by a sample of the rows
            ", ".join(f"{name} {found[name]:,.0f}" for name in found)
            + f" iterations to {measured.plan.tol:g}, by the rates "
            + ", ".join(f"{expected[name]:,.0f}" for name in expected)
            + " (gd with its step 1/L: 1 − μ/L)",
        )
    ]


def _runs(measured: Measured, rates: dict[str, float]) -> list[Check]:
    sag, k = measured.sag, np.arange(len(measured.sag))
    mine = (sag[-1] / sag[1]) ** (1.0 / (len(sag) - 2))
    mu = 1.0 / measured.N
    known = {"smoothness": L, "strong_convexity": mu}
    limit = {
        "gd": tw.theory.gradient_descent.rate(**known),
        "nesterov": tw.theory.accelerated.rate(**known),
        "heavy-ball": tw.theory.accelerated.fastest_rate(**known),
    }
    fell = {name: float(gaps[1] / gaps[0]) for name, gaps in measured.full.items()}
    fell |= {
        name: float((gaps[-1] / gaps[len(gaps) // 2]) ** (1.0 / (len(gaps) - 1 - len(gaps) // 2)))
        for name, gaps in measured.full.items()
        if name != "gd"
    }
    times = (k * sag)[2:]
    half = len(times) // 2
    return [
        Check(
            f"measured with N = {measured.N:,}: a pass of SAG shrinks f − f* to 0.8825 or less",
            mine <= SLIDE["sag"] and mine <= rates["sag"],
            f"to {mine:.3f}; along the flat coefficient (1 − μ/16L)²ᴺ = e^(−1/2) = 0.607",
        ),
        Check(
            "measured: gradient descent attains its rate, accelerated descent keeps to its own",
            abs(fell["gd"] - limit["gd"]) <= 1e-9 and fell["nesterov"] <= limit["nesterov"],
            f"gd {fell['gd']:.6f}, rate {limit['gd']:.6f}; nesterov {fell['nesterov']:.5f}, "
            f"rate {limit['nesterov']:.5f}",
        ),
        Check(
            "measured: SAG beats the bound on full gradients, and no other method here does",
            bool(mine < limit["heavy-ball"] <= fell["heavy-ball"]),
            f"a pass of SAG {mine:.3f}, the bound {limit['heavy-ball']:.5f}, heavy ball with its "
            f"best step and momentum {fell['heavy-ball']:.5f}",
        ),
        Check(
            "measured: SAG beats the bound on stochastic gradients, 1/t: t·(f − f*) vanishes",
            bool(times[-1] <= 0.1 * times[0] and times[half:].max() < times[:half].max()),
            f"passes·(f − f*) from {times[0]:.2g} to {times[-1]:.2g}; after {k[-1]} passes SAG is "
            f"at {sag[-1]:.1g}, SGD with steps 1/t at {measured.sgd[-1]:.1g}",
        ),
    ]  # fmt: skip


def _tables(rates: dict[str, float], exact: dict[str, float], measured: Measured) -> list[Sheet]:
    names = {
        "gradient": "gradient method", "accelerated": "accelerated gradient",
        "sag": "SAG, N steps", "fastest": "fastest first-order",
    }  # fmt: skip
    digits = math.log(1e6)
    rows = [
        (names[key], f"{SLIDE[key]:.5f}", f"{rates[key]:.5f}", f"{exact[key]:.10f}",
         round(-digits / math.log(rates[key])))
        for key in names
    ]  # fmt: skip
    heads = ("method", "slide", "tw.theory", "50 digits", "full gradients to 1e-6")
    shown = [
        (k, measured.sag[k], measured.sgd[k], *(gaps[k] for gaps in measured.full.values()))
        for k in (0, 1, 2, 5, 10, 24, 60)
        if k < len(measured.sag)
    ]
    return [
        Sheet("Rates for the price of a full gradient", heads, tuple(rows)),
        Sheet("f − f* by passes or full gradients", ("passes", "sag", "sgd", *measured.full),
              tuple(shown)),
    ]  # fmt: skip


def _drawn(
    measured: Measured, rates: dict[str, float], grid: np.ndarray, lines: dict[str, np.ndarray]
) -> Figure:
    k = np.arange(len(measured.sag))
    marks = [
        curve("sag", k, measured.sag),
        curve("0.8825 a pass", k, measured.sag[0] * rates["sag"] ** k, "sag", theory=True),
        curve("fastest", k, measured.sag[0] * rates["fastest"] ** k, 3, theory=True),
        curve("sgd", k, measured.sgd),
    ]
    # The heavy ball first swings far above the start, and is left to the table.
    marks += [curve(name, k, measured.full[name][: len(k)]) for name in ("gd", "nesterov")]
    # The laws have the colours of their methods; “fastest” is none.
    laws = [
        curve("", grid, line, 3 if name == "fastest" else name, theory=True)
        for name, line in lines.items()
    ]
    return figure(
        "A pass of SAG and the methods with full gradients",
        (
            panel("passes", "f − f*", marks, log="y", title=f"Measured, N = {measured.N:,}"),
            panel(
                "L/μ", "−log rate a pass", [*laws, Guide("the lecture's L/μ", L * N, along="y")],
                log="xy", title="Guarantees, N = 700,000",
            ),
        ),
        f"Measured, SAG falls to {measured.sag[-1] / measured.sag[0]:.1g} of the first gap in "
        f"{len(k) - 1} passes, gradient descent to "
        f"{measured.full['gd'][len(k) - 1] / measured.sag[0]:.4f}. By its guarantee SAG beats the "
        "fastest method with full gradients for L/μ from 1,024 to 120 million.",
        columns=2,
    )  # fmt: skip


LAB = Lab(
    name="sag-numbers",
    claim="With N = 700,000, L = 0.25 and μ = 1/N a full gradient's price buys the rates 0.99998 "
    "(gradient), 0.99761 (accelerated), 0.99048 (fastest possible) and 0.88250 (SAG): SAG beats "
    "the bounds on stochastic and on full gradients.",
    formula="((L − μ)/(L + μ))² = 0.99998        1 − √(μ/L) = 0.99761\n"
    "((√L − √μ)/(√L + √μ))² = 0.99048        (1 − min(μ/16L, 1/8N))ᴺ = 0.88250",
    places=("B, SAG Convergence Rate",),
    expected=Ruling.HOLDS,
    experiment=experiment,
    breaks=(
        Break("step-rate", "the rate of a step taken for that of a pass",
              {"sag_rate": tw.theory.sag.rate_per_step}),
        Break("step", "a step of 1/256L", {"step": 1.0 / (256.0 * L)}),
    ),
    fails_if="a figure that differs from the slide's in its fifth digit, a measured pass of SAG "
    "that shrinks f − f* by less than 0.8825, or a window of L/μ other than 1,024 to N²/4,096",
    code="""\
import thalweg as tw

N = 700_000
known = {"smoothness": 0.25, "strong_convexity": 1 / N}
figures = [
    tw.theory.gradient_descent.rate(**known),
    tw.theory.accelerated.rate(**known),
    tw.theory.sag.rate_per_pass(samples=N, **known),
    tw.theory.accelerated.fastest_rate(**known),
]
print([f"{rate:.5f}" for rate in figures])
assert [f"{rate:.5f}" for rate in figures] == ["0.99998", "0.99761", "0.88250", "0.99048"]
""",
    seconds=2.4,
    remark="The slide takes one L for all. SAG's is the largest of single samples; that of the "
    "others is the smoothness of f, which on real data may be far smaller, so that the comparison "
    "is less one-sided there. The bound on full gradients is for the worst function, and counts "
    "full gradients; that on stochastic ones is for samples that do not come back.",
)  # fmt: skip
