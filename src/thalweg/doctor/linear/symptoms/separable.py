"""Are the classes separable, so that without a penalty there is no solution?

If yᵢ(xᵢᵀw + b) > 0 for all samples, then for the logistic loss

    F(tw, tb) = Σᵢ cᵢ log(1 + exp(−t·yᵢzᵢ)) → 0        as t → ∞

but F > 0 everywhere: the infimum is not attained, the coefficients grow with every iteration, and
what a run returns is decided by when it stops. The same of K classes, also where only one of them
is separated from all others: along that plane its samples gain and nobody loses. A penalty gives
F a minimizer again, whose size the penalty alone decides. The squared hinge has one without, at
F = 0. The plane itself is the proof, and is in the evidence (`separator`).

A single column that one class never has does the same to its own coefficient (`exclusive`). With a
penalty that is common and harmless, and nothing is said.
Albert & Anderson, Biometrika 71 (1984).
"""

from __future__ import annotations

from thalweg.core.finding import Finding, Severity
from thalweg.doctor.linear.facts.linear_facts import LinearFacts

SEPARABLE = "separable classes"
PARTLY = "partly separable classes"


def separable(facts: LinearFacts) -> list[Finding]:
    """The finding that a plane lies between the classes, if one was found."""
    plane, problem = facts.separator, facts.problem
    if problem.classes is None:
        return []
    if plane is None:
        return _partly(facts) if runs_away(facts) else []
    who = "all samples by class"
    if plane.alone is not None:
        who = f"class {facts.label(plane.alone)} from all others"
    if runs_away(facts):
        severity = Severity.ACT
        meaning = "without a penalty F falls to its infimum as the coefficients grow for ever"
        advice = f"Add a penalty: l2 = 1/n = {1.0 / problem.n:.2g} is scikit-learn's default."
    else:
        severity = Severity.NOTE
        meaning = "the size of the coefficients is decided by the penalty alone"
        advice = (
            "Have the penalty chosen by rows left out, --l2 auto: no fit on these samples can tell."
        )
        if not (problem.l1 or problem.l2):
            meaning = "F has the minimum 0, at many points"
            advice = "Add a small l2 for the widest margin."
    return [
        Finding(
            name=SEPARABLE,
            severity=severity,
            claim=f"A plane separates {who}, with the smallest margin at {plane.margin:.2g} of "
            f"‖w‖‖x‖: {meaning}.",
            measured=plane.margin,
            limit=0.0,
            cause="There are about as many columns as it takes to tell these samples apart, or one "
            "column knows the answer.",
            advice=advice,
            rests_on="With l2 the solution is unique, and ‖w‖ falls as l2 grows (lecture A).",
            evidence={"margin": plane.margin, "w": plane.w.tolist(), "class": who},
        )
    ]


def runs_away(facts: LinearFacts) -> bool:
    """Whether it is certain that F has no minimizer."""
    problem = facts.problem
    is_held = problem.l1 > 0.0 or problem.l2 > 0.0 or problem.loss == "squared-hinge"
    return not is_held and (facts.separator is not None or len(facts.exclusive) > 0)


def _partly(facts: LinearFacts) -> list[Finding]:
    """The finding that single coefficients grow for ever."""
    pairs = facts.exclusive
    told = [f"class {facts.label(int(k))} never has {facts.name(int(j))}" for j, k in pairs[:3]]
    more = f", and {len(pairs) - 3} more" if len(pairs) > 3 else ""
    return [
        Finding(
            name=PARTLY,
            severity=Severity.ACT,
            claim=f"{', '.join(told)}{more}: without a penalty "
            f"{'this coefficient grows' if len(pairs) == 1 else 'these coefficients grow'} for "
            "ever.",
            measured=float(len(pairs)),
            limit=0.0,
            cause="A column that is zero in a whole class, and of one sign elsewhere, can only "
            "gain by growing: rare categories are such.",
            advice=f"Add a penalty, l2 = 1/n = {1.0 / facts.problem.n:.2g} for one, or merge rare "
            "categories.",
            rests_on="With l2 the solution is unique, and ‖w‖ falls as l2 grows (lecture A).",
            evidence={"columns": pairs[:, 0].tolist(), "classes": pairs[:, 1].tolist()},
        )
    ]
