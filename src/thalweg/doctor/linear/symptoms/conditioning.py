"""Is the problem so much flatter one way than another that gradient methods crawl?

κ = L/μ, penalty and intercept included (`curvature`). By theory gradient descent then takes
(κ/4)·log(1/ε) iterations, an accelerated method √κ·log(2/ε), SAG the larger of 16κ_max/n and 8
passes for each e-fold (`patience`). It is worth a word from where gradient descent uses up the
10,000 iterations of a run. A run that reached its tolerance was not hurt: its method, Newton's or a
preconditioned one, went around κ, and the word is a note. A run that did not reach it was, and asks
for action. Where classes are separable and nothing is penalised there is no solution to measure at.
"""

from __future__ import annotations

from thalweg.core.finding import Finding, Severity
from thalweg.doctor.causes import CONDITIONING
from thalweg.doctor.linear.facts.linear_facts import LinearFacts
from thalweg.doctor.linear.patience import SLOW, TOLERANCE, patience
from thalweg.doctor.linear.symptoms.separable import runs_away


def conditioning(facts: LinearFacts) -> list[Finding]:
    """The finding that κ is large, with what it costs by theory, if it is."""
    problem, measured, run = facts.problem, facts.curvature, facts.run
    if runs_away(facts) or not measured.smallest > 0.0 or measured.kappa < SLOW:
        return []
    L, mu = measured.largest, measured.smallest
    tol = TOLERANCE if run is None else min(run.tol, 0.5)
    costs = patience(L, mu, facts.row_smoothness, problem.n, tol)
    penalty = "a larger l2" if problem.l2 else "l2 > 0"
    severity, went = Severity.WARN, ""
    advice = f"Use method='newton' or 'lbfgs', which follow the curvature, or {penalty}."
    if run is not None and run.converged:
        severity, went = Severity.NOTE, f" It did not stop {run.method}."
        advice = f"None is needed with {run.method}; a gradient method asks for {penalty}."
    elif run is not None:
        severity = Severity.ACT
    where = "at the solution" if measured.at_solution else "at its largest curvatures"
    least = "" if measured.is_exact else "at least "
    if measured.rows:
        least = f"on {measured.rows:,} of the rows about "
    return [
        Finding(
            name=CONDITIONING,
            severity=severity,
            claim=f"κ = L/μ is {least}{measured.kappa:.2g} (L = {L:.2g}, μ = {mu:.2g} {where}): by "
            f"theory {costs} to {tol:.0e} of the first error.{went}",
            measured=measured.kappa,
            limit=SLOW,
            cause="A step short enough for the steepest direction is far too short for the "
            "flattest." + _source(facts),
            advice=advice + (" Standardizing helps any method." if _gains(facts) else ""),
            rests_on="Poor conditioning makes learning slow despite strong gradients (lecture C); "
            "gradient descent needs (L/μ)·log(1/ε) iterations (lecture B).",
            evidence={
                "L": L,
                "mu": mu,
                "flat directions": measured.flat,
                "kappa standardized": facts.standardized_kappa,
                **costs._asdict(),
            },
        )
    ]


def _gains(facts: LinearFacts) -> bool:
    """Whether scaling would take κ down by ten or more."""
    return (
        facts.standardized_kappa * 10.0 <= facts.curvature.kappa and not facts.problem.standardize
    )


def _source(facts: LinearFacts) -> str:
    """Where κ comes from: scaling, or columns that nearly depend on each other."""
    if _gains(facts):
        return f" With every column at deviation 1 κ would be {facts.standardized_kappa:.2g}."
    inflation = facts.dependence.inflation if facts.dependence else {}
    worst = max(inflation.values(), default=1.0)
    if worst >= SLOW:
        return f" Columns that nearly depend on each other make it at least {worst:.2g} (VIF)."
    return ""
