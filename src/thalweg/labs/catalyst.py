"""Catalyst accelerates SAG and SVRG where L/n is above μ.

SAG and SVRG take n + L/μ gradients of single samples to a given accuracy, but for a logarithm. If
L/μ is above n, the second part rules, and acceleration can take its root. Catalyst does so from
outside, by a sequence of problems with a stronger curvature:

    wₖ ≈ argmin f(w) + (κ/2)‖w − yₖ‖²        yₖ₊₁ = wₖ + βₖ(wₖ − wₖ₋₁)

With κ = L/n − μ each has the condition (L + κ)/(μ + κ) ≈ n, so that a few passes solve it, and with
the momentum of Nesterov's method it takes √((μ + κ)/μ) = √(L/nμ) of them:

    n + L/μ   becomes   n + √(nL/μ)        in passes, r = L/nμ:   1 + r   becomes   1 + √r

If L/n ≤ μ there is nothing to gain: the method underneath needs a few passes anyway. Then κ = 0,
and a κ that is forced on it only slows it down.

L is here the mean of the Lᵢ, since samples are drawn in proportion to them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import thalweg as tw
from thalweg.labbook import (
    CONDITION,
    WRITTEN,
    Break,
    Check,
    Figure,
    Findings,
    Guide,
    Lab,
    Setting,
    Table,
    Verdict,
    curve,
    figure,
    panel,
)
from thalweg.labbook.sources import samples

REACH = 1e-6  # of the first gap
MOST = 4_000  # passes
METHODS = {"sag": tw.SAG, "svrg": tw.SVRG}
ILL = 8.0  # r from which the second part of n + L/μ rules


class Data(NamedTuple):
    """Rows of two classes."""

    name: str
    X: Any
    y: np.ndarray
    note: str


class Sweep(NamedTuple):
    """Gradients to `REACH`, in passes, against r = L/nμ."""

    name: str
    ratios: np.ndarray  # r
    plain: dict[str, np.ndarray]  # by method
    fast: dict[str, np.ndarray]  # in Catalyst
    forced: dict[str, np.ndarray]  # in Catalyst with κ = L/n, where r ≤ 1; else NaN

    def power(self, passes: np.ndarray) -> float:
        """Of r, where it is large."""
        kept = self.ratios >= ILL
        return float(np.polyfit(np.log(self.ratios[kept]), np.log(passes[kept]), 1)[0])


def experiment(setting: Setting, *, catalyst: type[tw.Catalyst] = tw.Catalyst) -> Findings:
    """SAG and SVRG, alone and within `catalyst`, over a range of l2."""
    every = _data(setting)
    sweeps = [_sweep(each, setting, catalyst) for each in every]
    return Findings(
        _checks(sweeps),
        [_table(sweeps)],
        [_draw(each) for each in sweeps],
        [each.note for each in every],
    )


def _data(setting: Setting) -> list[Data]:
    cancer = tw.read("@cancer", dtype="float64")
    X = tw.data.ZScore().fit_transform(cancer.X)
    small = Data("cancer", X, np.asarray(cancer.y), "breast cancer, 569 × 30, z-scores")
    if setting.budget == "glance":
        return [small]
    rows = setting.pick(quick=1_000, full=10_000)
    found = [Data(*samples(name, rows)) for name in ("a9a", "covtype")]
    return found if all(each.name != "cancer" for each in found) else [small]


def _sweep(data: Data, setting: Setting, catalyst: type[tw.Catalyst]) -> Sweep:
    ratios = np.array(
        setting.pick(
            glance=(0.125, 8.0, 64.0),
            quick=(0.125, 0.5, 2.0, 8.0, 32.0, 128.0),
            full=(0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0),
        )
    )
    bare = tw.LinearProblem(data.X, data.y, "logistic", fit_intercept=False)
    share = float(bare.row_squares.mean()) / 4.0 / bare.n  # L/n
    found: dict[str, dict[str, list[float]]] = {
        kind: {name: [] for name in METHODS} for kind in ("plain", "fast", "forced")
    }
    for ratio in ratios:
        problem = tw.LinearProblem(
            data.X, data.y, "logistic", l2=share / float(ratio), fit_intercept=False
        )
        best = tw.minimize(problem, "newton", tol=1e-13, progress=False).value
        for name, method in METHODS.items():
            found["plain"][name].append(_passes(problem, method(), best, setting))
            found["fast"][name].append(_passes(problem, catalyst(name), best, setting))
            forced = catalyst(name, kappa=share)
            found["forced"][name].append(
                _passes(problem, forced, best, setting) if ratio <= 1.0 else np.nan
            )
    arrays = {
        kind: {name: np.array(each) for name, each in held.items()} for kind, held in found.items()
    }
    return Sweep(data.name, ratios, **arrays)


def _passes(problem: tw.LinearProblem, method: Any, best: float, setting: Setting) -> float:
    """Gradients of single samples over n, until the gap is `REACH` of the first; the median."""
    allowed = best + REACH * (problem.value(problem.start) - best)
    seeds = setting.rng("draws").integers(2**31, size=setting.pick(glance=1, quick=1, full=3))
    counts = [
        tw.minimize(
            problem, method, tol=1e-300, max_iter=MOST, progress=False, seed=int(seed),
            callback=lambda seen: seen.value <= allowed,
        ).evaluations
        for seed in seeds
    ]  # fmt: skip
    return float(np.median(counts))
