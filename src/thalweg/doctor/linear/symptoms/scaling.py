"""Are the columns in units so different that no one step suits them all?

The diagonal of a symmetric matrix lies between its smallest and its largest eigenvalue. With
sⱼ² = Σᵢcᵢxᵢⱼ² as the model sees it and 1 for the intercept, the curvatures along single columns,
γsⱼ² + l2, therefore show for certain that

    κ ≥ κ_s = max (γsⱼ² + l2) / min (γsⱼ² + l2)

A column is small because its unit is, or because it is seldom anything but zero. Only the first is
bad scaling: ρ is the largest over the smallest unit uⱼ (`sizes`), and what is judged is
min(κ_s, ρ²): slow from where gradient descent uses up a run, to be acted on from where no
full-gradient method ends within one (`patience`). Columns of equal length are the cure: their κ is
within a factor p of the best that any scaling has (van der Sluis, Numer. Math. 14 (1969)).
"""

from __future__ import annotations

import numpy as np

from thalweg.core.finding import Finding, Severity
from thalweg.doctor.causes import UNSCALED
from thalweg.doctor.linear.facts.linear_facts import LinearFacts
from thalweg.doctor.linear.patience import OUT_OF_REACH, SLOW

INTERCEPT = -1


def scaling(facts: LinearFacts) -> list[Finding]:
    """The finding that columns of unequal units make κ large, if they do."""
    problem, columns = facts.problem, facts.columns
    varying = np.flatnonzero(columns.deviations > 0.0)
    if not varying.size:
        return []
    units = columns.units[varying] if not problem.standardize else facts.seen[varying]
    curvatures = problem.curvature_bound * facts.seen[varying] ** 2 + problem.l2
    if problem.fit_intercept:
        varying = np.append(varying, INTERCEPT)
        units = np.append(units, 1.0)
        curvatures = np.append(curvatures, problem.curvature_bound)
    apart = units.max() / units.min()
    certain = curvatures.max() / curvatures.min()
    judged = float(min(certain, apart**2))
    if not judged >= SLOW:
        return []
    big, small = (_named(facts, varying[k]) for k in (units.argmax(), units.argmin()))
    after = facts.standardized_kappa
    better = f"; with every column at deviation 1 it is {after:.2g}" if np.isfinite(after) else ""
    changes = " The penalty then means another thing: it no longer spares large columns."
    return [
        Finding(
            name=UNSCALED,
            severity=Severity.ACT if judged >= OUT_OF_REACH else Severity.WARN,
            claim=f"{big} has entries of size {units.max():.2g}, {small} of {units.min():.2g}, a "
            f"ratio of {apart:.2g}: for that alone κ is at least {judged:.2g}{better}.",
            measured=float(apart),
            limit=float(np.sqrt(SLOW)),
            cause="A step short enough for the largest column hardly moves the coefficient of the "
            "smallest, and one penalty presses on coefficients of different units.",
            advice="Use standardize=True (--standardize), which copies nothing and keeps sparse "
            "data sparse, or scale the data first by tw.scaling.ZScore (tw.scaling.LogScaler "
            "before it where columns have long tails)."
            + (changes if problem.l1 or problem.l2 else ""),
            rests_on="Features are scaled before training: min-max, mean, z-score (lecture C).",
            evidence={
                "ratio of units": float(apart),
                "kappa at least": float(certain),
                "kappa": facts.curvature.kappa,
                "kappa standardized": after,
            },
        )
    ]


def _named(facts: LinearFacts, column: int) -> str:
    return "the intercept" if column == INTERCEPT else facts.name(int(column))
