"""Do columns add nothing: constant, repeated, or combinations of others?

A constant column is the intercept once more. A repeated one, or one that others add up to
(`dependence`), leaves a direction d with Xd = 0 along which the loss does not change: without l2
the coefficients are not determined (predictions are), with l2 they are shared out evenly. That is a
warning without l2 and a note with it. Of columns that are merely close to dependent the variance
inflation VIF is told from 10 on, the customary mark: there R² = 0.9.
Constant and repeated columns are looked for in any X, combinations where p × p products are
affordable; else a note says that they were not.
"""

from __future__ import annotations

from thalweg.core.finding import Finding, Severity
from thalweg.doctor.causes import CONSTANT
from thalweg.doctor.linear.facts.dependence import Combination
from thalweg.doctor.linear.facts.linear_facts import LinearFacts

REPEATED = "repeated columns"
DEPENDENT = "dependent columns"
NEARLY = "nearly dependent columns"
UNCHECKED = "not checked"
INFLATED = 10.0  # VIF
SHORT = 6  # terms of a combination that is written out
ONE = 1e-6  # from 1: a factor this close is not written
RESTS_ON = "Ridge regression has one solution even where XᵀX is singular (lecture A)."


def redundant_columns(facts: LinearFacts) -> list[Finding]:
    """What is superfluous among the columns."""
    found = [_constant(facts), _repeated(facts), _dependent(facts), _nearly(facts)]
    return [finding for finding in [*found, _unchecked(facts)] if finding]


def _constant(facts: LinearFacts) -> Finding | None:
    problem, constant = facts.problem, facts.columns.constant
    if not constant.size:
        return None
    is_zero = facts.columns.sizes[constant] == 0.0
    doubles = problem.fit_intercept and not is_zero.all() and not problem.standardize
    is_free = not (problem.l1 or problem.l2)
    return Finding(
        name=CONSTANT,
        severity=Severity.WARN if doubles and is_free else Severity.NOTE,
        claim=f"{constant.size} of {problem.p} columns have one value in all samples"
        f"{' (0)' if is_zero.all() else ''}: {facts.listed(constant)}.",
        measured=float(constant.size),
        limit=0.0,
        cause="A column that does not vary says nothing about y"
        + (", and stands in for the intercept." if not is_zero.all() else "."),
        advice="Leave them out."
        if problem.fit_intercept
        else "Leave them out, or use fit_intercept=True, which no penalty presses on.",
        rests_on=RESTS_ON,
        evidence={"columns": constant.tolist()},
    )


def _repeated(facts: LinearFacts) -> Finding | None:
    pairs = facts.repeats
    if not len(pairs):
        return None
    told = [f"{facts.name(int(copy))} repeats {facts.name(int(first))}" for first, copy in pairs]
    more = f" and {len(told) - 3} more" if len(told) > 3 else ""
    return Finding(
        name=REPEATED,
        severity=_severity(facts),
        claim=f"{len(pairs)} of {facts.problem.p} columns repeat another, up to scale"
        f"{' and shift' if facts.problem.fit_intercept else ''}: {', '.join(told[:3])}{more}.",
        measured=float(len(pairs)),
        limit=0.0,
        cause=_meaning(facts),
        advice="Keep one of each.",
        rests_on=RESTS_ON,
        evidence={"pairs": pairs.tolist()},
    )


def _dependent(facts: LinearFacts) -> Finding | None:
    found = facts.dependence.combinations if facts.dependence else ()
    if not found:
        return None
    problem = facts.problem
    told = [_spelled(facts, one) for one in found if len(one.parts) <= SHORT][:3]
    listed = "; ".join(told) or facts.listed([one.column for one in found])
    few = ""
    if problem.p >= problem.n:
        few = f" With {problem.n} samples no more than that many columns can be independent."
    return Finding(
        name=DEPENDENT,
        severity=_severity(facts),
        claim=f"{len(found)} of {problem.p} columns are combinations of others: {listed}.{few}",
        measured=float(len(found)),
        limit=0.0,
        cause=_meaning(facts),
        advice="Leave them out, or use l2 > 0." if not problem.l2 else "Leave them out.",
        rests_on=RESTS_ON,
        evidence={"columns": [one.column for one in found]},
    )


def _nearly(facts: LinearFacts) -> Finding | None:
    inflation = facts.dependence.inflation if facts.dependence else {}
    worst = sorted((j for j in inflation if inflation[j] >= INFLATED), key=lambda j: -inflation[j])
    if not worst:
        return None
    largest = inflation[worst[0]]
    return Finding(
        name=NEARLY,
        severity=Severity.NOTE,
        claim=f"{len(worst)} of {facts.problem.p} columns are nearly combinations of others, VIF "
        f"up to {largest:.2g}: {facts.listed(worst)}.",
        measured=largest,
        limit=INFLATED,
        cause="The variance of an unpenalised coefficient is VIF times what it would be alone; "
        "κ is at least the largest VIF after any scaling.",
        advice="Do not read their coefficients one by one; l2 shares them out, "
        "tw.scaling.Whitening removes the correlation.",
        rests_on="Whitening makes features uncorrelated, of variance 1 (lecture C).",
        evidence={"inflation": {facts.name(j): inflation[j] for j in worst}},
    )


def _unchecked(facts: LinearFacts) -> Finding | None:
    if not facts.unchecked:
        return None
    return Finding(
        name=UNCHECKED,
        severity=Severity.NOTE,
        claim=f"It was not checked {facts.unchecked}.",
        measured=float(facts.problem.p),
        limit=0.0,
    )


def _severity(facts: LinearFacts) -> Severity:
    return Severity.NOTE if facts.problem.l2 else Severity.WARN


def _meaning(facts: LinearFacts) -> str:
    if facts.problem.l2:
        return "The l2 penalty shares one effect out among several coefficients."
    return (
        "The loss does not change along a direction of the coefficients: they are not determined, "
        "only predictions are."
    )


def _spelled(facts: LinearFacts, found: Combination) -> str:
    """A combination as an equation, in the units of X."""
    terms = ""
    for j, factor in found.parts.items():
        size = "" if abs(abs(factor) - 1.0) < ONE else f"{abs(factor):.3g}·"
        terms += f" {'−' if factor < 0 else '+'} {size}{facts.name(j)}"
    tail = " + const" if facts.problem.fit_intercept else ""
    return f"{facts.name(found.column)} = {terms.strip().removeprefix('+ ')}{tail}"
