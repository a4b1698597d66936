"""Are the classes separable, so that without a penalty there is no solution?

If yᵢ(xᵢᵀw + b) > 0 for all samples, then for the logistic loss

    F(tw, tb) = Σᵢ cᵢ log(1 + exp(−t·yᵢzᵢ)) → 0        as t → ∞

but F > 0 everywhere: the infimum is not attained, the coefficients grow with every iteration, and
what a run returns is decided by when it stops. The same of K classes, also where only one of them
is separated from all others: along that plane its samples gain and nobody loses. A penalty gives
F a minimizer again, whose size the penalty alone decides. The squared hinge has one without, at
F = 0. The plane itself is the proof, and is in the evidence (`separator`).
Albert & Anderson, Biometrika 71 (1984).
"""

from __future__ import annotations

from thalweg.core.finding import Finding, Severity
from thalweg.doctor.linear.facts import LinearFacts

SEPARABLE = "separable classes"


def separable(facts: LinearFacts) -> list[Finding]:
    """The finding that a plane lies between the classes, if one was found."""
    plane, problem = facts.separator, facts.problem
    if plane is None or problem.classes is None:
        return []
    who = "all samples by class"
    if plane.alone is not None:
        who = f"class {problem.classes[plane.alone].item()!r} from all others"
    if runs_away(facts):
        severity = Severity.ACT
        meaning = "without a penalty F falls to its infimum as the coefficients grow for ever"
        advice = f"Add a penalty: l2 = 1/n = {1.0 / problem.n:.2g} is scikit-learn's default."
    else:
        severity = Severity.NOTE
        meaning = "the size of the coefficients is decided by the penalty alone"
        advice = "Choose the penalty by validation: no fit on these samples can tell."
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
    return facts.separator is not None and not is_held
