"""Curvature, even approximated, saves most of the gradients.

Newton's step p = −H⁻¹∇f(w) jumps to the minimum of the quadratic that f looks like at w. It does
not see how the axes are scaled, so κ does not slow it down, and near a minimum the error is squared
at each step. H has d² numbers; three ways avoid it:

    truncated Newton   Hp = −∇f solved by conjugate gradients, by products Hv alone
    BFGS               B ≈ H⁻¹ learnt from steps s and differences of gradients y:  By = s
    L-BFGS             the same from the last m pairs, in 2md numbers

On a quadratic of d variables with exact line searches BFGS and conjugate gradients end after d
steps. Elsewhere both converge superlinearly: ‖∇f(wₜ₊₁)‖/‖∇f(wₜ)‖ → 0, while for gradient descent
the ratio stays at (κ − 1)/(κ + 1) at best. Gradient descent needs O(κ) gradients, Nesterov's method
O(√κ), and products of conjugate gradients are at most as many as that.
"""

from __future__ import annotations

import tracemalloc
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

FIRST_ORDER = ("gd", "heavy-ball", "nesterov", "adam")
SECOND_ORDER = ("newton-cg", "bfgs", "lbfgs")
KAPPAS = (1e1, 1e2, 1e3, 1e4)
DIM, MOST = 20, 100_000


class Raced(NamedTuple):
    """Gradients (and products) that each method took, by problem."""

    valley: dict[str, tw.Run]
    model: dict[str, tw.Run]


def experiment(setting: Setting, *, second_order: tuple[str, ...] = SECOND_ORDER) -> Findings:
    """Methods that use curvature beside those that do not: evaluations, rates, memory."""
    kappas = setting.pick(glance=KAPPAS[:3], quick=KAPPAS, full=(*KAPPAS, 1e5))
    raced = Raced(_valley(setting, second_order), _model(setting, second_order))
    counts = {
        name: [_quadratic(setting, name, kappa).evaluations for kappa in kappas]
        for name in dict.fromkeys(("gd", "nesterov", *second_order))
    }
    slopes = {
        name: float(np.polyfit(np.log(kappas), np.log(values), 1)[0])
        for name, values in counts.items()
    }
    sizes = setting.pick(glance=(200, 400), quick=(200, 400, 800), full=(200, 400, 800, 1600))
    memory = {name: [_memory(name, d) for d in sizes] for name in ("bfgs", "lbfgs")}
    checks = [
        *_fewer(raced, second_order), *_superlinear(raced, second_order),
        *_conditioned(slopes, counts, kappas, second_order), *_memories(memory, sizes),
    ]  # fmt: skip
    note = (
        f"Rosenbrock's valley from (−1.5, 2) and logistic regression on breast cancer (l2 = 1/n), "
        f"as functions without any knowledge of their structure; quadratics of {DIM} variables, "
        f"eigenvalues log-spaced; ‖∇f‖∞ to {_tol(setting):g} of its first value"
    )
    return Findings(
        checks,
        [_table(raced), _by_kappa(kappas, counts, slopes)],
        [_ways(raced), _against_kappa(kappas, counts)],
        [note],
    )


def _run(setting: Setting, objective: object, name: str, start: np.ndarray) -> tw.Run:
    return tw.minimize(objective, name, start, tol=_tol(setting), max_iter=MOST, progress=False)


def _tol(setting: Setting) -> float:
    return setting.pick(glance=1e-5, quick=1e-8, full=1e-8)


def _valley(setting: Setting, second_order: tuple[str, ...]) -> dict[str, tw.Run]:
    start = np.array([-1.5, 2.0]) + 0.1 * setting.rng("valley").standard_normal(2)
    names = dict.fromkeys((*FIRST_ORDER, *second_order))
    return {name: _run(setting, tw.surfaces.Rosenbrock(), name, start) for name in names}


def _model(setting: Setting, second_order: tuple[str, ...]) -> dict[str, tw.Run]:
    """As a plain function, so that no method gets help that others do not."""
    table = tw.read("@cancer")
    X = tw.scaling.ZScore().fit_transform(table.X)
    problem = tw.LinearProblem(X, table.y, "logistic", l2=1 / len(X), fit_intercept=False)
    plain = tw.Objective(
        problem.value, problem.gradient, hessian_vector=problem.hessian_vector,
        smoothness=problem.smoothness,
    )  # fmt: skip
    start = 0.1 * setting.rng("model").standard_normal(X.shape[1])
    names = dict.fromkeys(("gd", "nesterov", *second_order))
    return {name: _run(setting, plain, name, start) for name in names}


def _quadratic(setting: Setting, name: str, kappa: float) -> tw.Run:
    bowl = tw.surfaces.Quadratic.conditioned(kappa, DIM, "random", seed=setting.seed)
    start = setting.rng("bowl").standard_normal(DIM)
    return _run(setting, bowl, name, start)


def _memory(name: str, dim: int) -> float:
    """Bytes at the peak of a few steps in `dim` variables."""
    bowl = tw.surfaces.Quadratic.conditioned(100.0, dim)
    start = np.ones(dim)
    tw.minimize(bowl, name, start, max_iter=2, progress=False)  # imports and caches
    tracemalloc.start()
    tw.minimize(bowl, name, start, max_iter=15, tol=1e-300, progress=False)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return float(peak)


def _fewer(raced: Raced, second_order: tuple[str, ...]) -> list[Check]:
    checks = []
    for where, runs, factor in (
        ("in Rosenbrock's valley", raced.valley, 20.0),
        ("on logistic regression", raced.model, 5.0),
    ):
        slow = runs["gd"].evaluations
        worst = max(runs[name].evaluations for name in second_order)
        done = all(runs[name].converged for name in second_order)
        checks.append(
            Check(
                f"{where} each needs {factor:g} times fewer gradients than gradient descent",
                done and factor * worst <= slow, f"{worst:,} at most, gradient descent {slow:,}",
            )
        )  # fmt: skip
    return checks


def _superlinear(raced: Raced, second_order: tuple[str, ...]) -> list[Check]:
    """The last ratio of gradient norms: near 0 where convergence is superlinear."""
    last = {}
    for name in dict.fromkeys(("gd", *second_order)):
        norms = raced.model[name].trace["gradient_norm"]
        tail = norms[norms > 0][-6:]
        last[name] = float(np.min(tail[1:] / tail[:-1]))
    best = min(last[name] for name in second_order[:1])
    return [
        Check(
            "truncated Newton is superlinear: ‖∇f‖ falls ever faster, that of gd does not",
            best < 0.2 and last["gd"] > 0.8,
            ", ".join(f"{name} {value:.2g}" for name, value in last.items()),
        )
    ]


def _conditioned(
    slopes: dict[str, float],
    counts: dict[str, list[int]],
    kappas: tuple[float, ...],
    second_order: tuple[str, ...],
) -> list[Check]:
    return [
        Check(
            "gradient descent needs O(κ) gradients", 0.75 <= slopes["gd"] <= 1.1,
            f"exponent {slopes['gd']:.2f}",
        ),
        Check(
            "methods with curvature grow with κ by an exponent of ½ at most",
            all(slopes[name] <= 0.5 for name in second_order),
            ", ".join(f"{name} {slopes[name]:.2f}" for name in second_order),
        ),
        Check(
            f"and need fewer than Nesterov's method at κ = {kappas[-1]:g}",
            all(counts[name][-1] < counts["nesterov"][-1] for name in second_order),
            ", ".join(f"{name} {values[-1]:,}" for name, values in counts.items()),
        ),
    ]  # fmt: skip


def _memories(memory: dict[str, list[float]], sizes: tuple[int, ...]) -> list[Check]:
    slopes = {
        name: float(np.polyfit(np.log(sizes), np.log(values), 1)[0])
        for name, values in memory.items()
    }
    return [
        Check(
            "BFGS keeps O(d²) numbers, L-BFGS O(d)",
            slopes["bfgs"] > 1.7 and slopes["lbfgs"] < 1.2,
            f"exponents {slopes['bfgs']:.2f} and {slopes['lbfgs']:.2f}; for d = {sizes[-1]} "
            f"{memory['bfgs'][-1] / 1e6:.1f} and {memory['lbfgs'][-1] / 1e6:.2f} MB",
        )
    ]  # fmt: skip


def _table(raced: Raced) -> Sheet:
    rows = [
        (
            name,
            *(
                f"{runs[name].evaluations:,}" if name in runs and runs[name].converged else "—"
                for runs in raced
            ),
        )
        for name in raced.valley
    ]
    heads = ("method", "Rosenbrock", "logistic regression")
    return Sheet("Gradients and products until ‖∇f‖∞ is small enough", heads, rows)


def _by_kappa(
    kappas: tuple[float, ...], counts: dict[str, list[int]], slopes: dict[str, float]
) -> Sheet:
    heads = ("method", *(f"κ = {kappa:g}" for kappa in kappas), "exponent")
    rows: list[tuple[Any, ...]] = [(name, *values, slopes[name]) for name, values in counts.items()]
    return Sheet("The same on quadratics", heads, rows)


def _ways(raced: Raced) -> Figure:
    panels = [
        panel(
            "gradients and products", "‖∇f‖∞",
            [
                curve(name, np.maximum(run.trace["evaluations"], 1), run.trace["gradient_norm"])
                for name, run in runs.items()
            ],
            log="xy", title=title,
        )
        for title, runs in (("Rosenbrock", raced.valley), ("logistic regression", raced.model))
    ]  # fmt: skip
    counts = ", ".join(f"{name} {run.evaluations:,}" for name, run in raced.valley.items())
    return figure(
        "How the gradient falls", panels, f"Evaluations in the valley: {counts}.", columns=2
    )


def _against_kappa(kappas: tuple[float, ...], counts: dict[str, list[int]]) -> Figure:
    marks = [curve(name, kappas, values, dots=True) for name, values in counts.items()]
    first = counts["gd"][0]
    at = np.array(kappas)
    marks.append(curve("κ", at, first * at / at[0], "gd", theory=True))
    marks.append(
        curve("√κ", at, counts["nesterov"][0] * np.sqrt(at / at[0]), "nesterov", theory=True)
    )
    last = ", ".join(f"{name} {values[-1]:,}" for name, values in counts.items())
    drawn = panel("condition number κ", "gradients and products", marks, log="xy")
    return figure("What κ costs", drawn, f"At κ = {kappas[-1]:g}: {last}.")


LAB = Lab(
    name="newton-family",
    claim="Truncated Newton, BFGS and L-BFGS use curvature without the Hessian's d² numbers, or "
    "learn it, and need far fewer gradients than first-order methods.",
    formula="p = −H⁻¹∇f(w),   Hp = −∇f by products Hv,   or B ≈ H⁻¹ with By = s",
    places=("C, Poor Conditioning",),
    expected=Ruling.HOLDS,
    experiment=experiment,
    breaks=(
        Break("curvature", "methods that use no curvature", {"second_order": ("nesterov", "adam")}),
    ),
    fails_if="a method of the three that does not converge, needs more than a twentieth of the "
    "gradients of gradient descent in the valley, or grows with κ faster than √κ",
    code="""\
import thalweg as tw

valley = tw.surfaces.Rosenbrock()
for method in ("gd", "nesterov", "newton-cg", "bfgs", "lbfgs"):
    run = tw.minimize(valley, method, [-1.5, 2.0], tol=1e-4, max_iter=100_000)
    print(f"{method:10} {run.evaluations:7,} gradients and products, f = {run.value:.1e}")
""",
    seconds=15.0,
)
