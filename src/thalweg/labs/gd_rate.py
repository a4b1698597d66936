"""Gradient descent closes the gap like 1/T.

For convex L-smooth f and a step η ≤ 1/L one step of w⁺ = w − η∇f(w) descends,

    f(w⁺) ≤ f(w) − (η/2)‖∇f(w)‖²

and convexity bounds f(w) by f(w*) + ⟨∇f(w), w − w*⟩. Put together, and the square completed:

    f(w⁺) − f* ≤ (‖w − w*‖² − ‖w⁺ − w*‖²) / 2η

Summed over T steps the distances cancel but for the first, and f falls from step to step, so that
the last value is at most the mean:

    f(w_T) − f* ≤ ‖w₀ − w*‖² / 2ηT

To be within ε takes T = ‖w₀ − w*‖² / 2ηε steps, O(L/ε) with η = 1/L. On a strongly convex problem
the bound is far too careful after a while: the gap then falls geometrically.
"""

from __future__ import annotations

import numpy as np

import thalweg as tw
from thalweg.labbook import (
    Break,
    Check,
    Findings,
    Lab,
    Ruling,
    Setting,
    Sheet,
    curve,
    figure,
    panel,
)

SLACK = 1e-9  # of f(w₀) − f*: what rounding may add


def experiment(setting: Setting, *, step: float = 1.0) -> Findings:
    """Gradient descent with η = `step`/L on least squares, beside the bound at every T."""
    steps = setting.pick(glance=300, quick=3_000, full=30_000)
    table = tw.read("@diabetes")
    X = tw.scaling.ZScore().fit_transform(table.X)
    problem = tw.LinearProblem(X, table.y, "squared", fit_intercept=False)
    best = tw.minimize(problem, "newton", tol=1e-14, progress=False)
    L = problem.smoothness
    w0 = 30.0 * setting.rng("start").standard_normal(X.shape[1])
    ways = [np.array(w0)]
    run = tw.minimize(
        problem, tw.GD(step=step / L), w0, tol=1e-300, max_iter=steps, progress=False,
        callback=lambda seen: ways.append(np.array(seen.w)),
    )  # fmt: skip
    T = np.arange(1, len(ways))
    gaps = np.array([problem.value(w) for w in ways]) - best.value
    distances = np.linalg.norm(np.array(ways) - best.w, axis=1)
    bounds = tw.theory.gradient_descent.value_bound(distances[0], step=1.0 / L, iterations=T)
    one_step = (distances[:-1] ** 2 - distances[1:] ** 2) * L / 2.0
    slack = SLACK * gaps[0]
    share = gaps[1:] / bounds
    reach = 0.01 * gaps[0]
    within = int(np.argmax(gaps <= reach)) if (gaps <= reach).any() else len(gaps)
    needed = tw.theory.gradient_descent.iterations(distances[0], reach, step=1.0 / L)
    checks = [
        Check(
            "f(w_T) − f* ≤ ‖w₀ − w*‖²/2ηT at every T", np.all(gaps[1:] <= bounds + slack),
            f"at most {share.max():.3g} of the bound, at T = {T[share.argmax()]}, of {len(T):,}",
        ),
        Check(
            "f(wₜ₊₁) − f* ≤ (‖wₜ − w*‖² − ‖wₜ₊₁ − w*‖²)/2η at every step",
            np.all(gaps[1:] <= one_step + slack),
            f"least room {np.min(one_step - gaps[1:]):.2g}",
        ),
        Check(
            "1/100 of the first gap within the iterations of the theorem", within <= needed,
            f"{within:,} steps, {needed:,} allowed",
        ),
    ]  # fmt: skip
    shown = [t for t in (1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000) if t <= len(T)]
    rows = [(t, bounds[t - 1], gaps[t], share[t - 1]) for t in shown]
    drawn = panel(
        "T", "f(w_T) − f*",
        [
            curve("gd", T, np.maximum(gaps[1:], 1e-16)),
            curve("‖w₀ − w*‖²/2ηT", T, bounds, "gd", theory=True),
        ],
        log="xy",
    )  # fmt: skip
    return Findings(
        checks,
        [Sheet("Bound and measurement", ("T", "bound", "measured", "measured/bound"), rows)],
        [figure("Gradient descent and its bound", drawn,
                f"The gap stays below the bound, at most {share.max():.2g} of it.")],
        [f"least squares on diabetes, 442 × 10, L = {L:.3g}; "
         f"the run: {run.outcome}"],
    )  # fmt: skip


LAB = Lab(
    name="gd-rate",
    claim="With a step η ≤ 1/L, T steps of gradient descent on a convex L-smooth function end "
    "within ‖w₀ − w*‖²/2ηT of the minimum, so ε takes O(L/ε) steps.",
    formula="f(w_T) − f* ≤ ‖w₀ − w*‖² / 2ηT",
    places=("A, Step II: Convergence Rate",),
    expected=Ruling.HOLDS,
    experiment=experiment,
    breaks=(Break("step", "a step of 3/L", {"step": 3.0}),),
    fails_if="a single T at which f(w_T) − f* is above ‖w₀ − w*‖²/2ηT, or a single step at which "
    "the distance to w* fell by less than 2η(f(w⁺) − f*)",
    code="""\
import thalweg as tw

bowl = tw.surfaces.Quadratic((1.0, 100.0))
T = 50
run = tw.minimize(bowl, tw.GD(step=1 / bowl.smoothness), [5.0, 1.0], tol=1e-300, max_iter=T)
bound = tw.theory.gradient_descent.value_bound(26**0.5, step=1 / bowl.smoothness, iterations=T)
print(f"gap {run.value:.4f}, bound {bound:.4f}")
assert run.value <= bound
""",
    seconds=0.5,
)
