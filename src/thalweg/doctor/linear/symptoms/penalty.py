"""Does the penalty do nothing, or everything?

Everything: with l1 ≥ ‖g‖∞, g the slope of the data term at the constant predictor, all coefficients
are zero, as 0 is then in the subdifferential there. With l2 the share s of the coefficients that
the penalty took (`effect`) is 1 where nothing is left of them: s ≥ 0.99 leaves a hundredth, and the
model is the constant; from 0.9 on it is a warning.

Nothing: without it the coefficients would move by at most a thousandth of their length, less than
the three digits that people read; and an l1 penalty that sets no coefficient to zero selects none.
Both are notes: a penalty that small costs nothing, and it gives F a duality gap.
"""

from __future__ import annotations

from thalweg.core.finding import Finding, Severity
from thalweg.doctor.causes import REGULARIZATION
from thalweg.doctor.linear.facts.linear_facts import LinearFacts

IDLE = "penalty without effect"
UNSELECTIVE = "penalty that selects nothing"
ALL, MOST = 0.99, 0.9  # of the coefficients, taken by l2
IDLE_MOVE = 1e-3  # of the length of the coefficients


def penalty(facts: LinearFacts) -> list[Finding]:
    """What the penalties do too much or not at all."""
    found = _everything(facts)
    return [found] if found else [finding for finding in [_nothing(facts)] if finding]


def _everything(facts: LinearFacts) -> Finding | None:
    problem, effect = facts.problem, facts.effect
    if problem.l1 and problem.l1 >= effect.largest_pull:
        return Finding(
            name=REGULARIZATION,
            severity=Severity.ACT,
            claim=f"l1 = {problem.l1:.3g} is at least max |∇F| = {effect.largest_pull:.3g} at the "
            "constant predictor: every coefficient is zero.",
            measured=problem.l1,
            limit=effect.largest_pull,
            cause="No column pulls harder than the penalty holds.",
            advice=f"Use l1 below {effect.largest_pull:.2g}, from {effect.largest_pull / 100:.1g} "
            "on, or tw.path along a grid of them.",
            rests_on="L1 makes weights sparse, L2 makes them small (lecture A).",
            evidence={"l1": problem.l1, "largest pull": effect.largest_pull},
        )
    if not effect.share >= MOST:
        return None
    is_known = effect.zeros >= 0
    return Finding(
        name=REGULARIZATION,
        severity=Severity.ACT if effect.share >= ALL else Severity.WARN,
        claim=f"The l2 penalty {problem.l2:.3g} takes {'' if is_known else 'at least '}"
        f"{effect.share:.1%} of the coefficients: the model is nearly the constant predictor.",
        measured=effect.share,
        limit=MOST,
        cause=f"Its curvature {problem.l2:.2g} is above that of the data, which is at most "
        f"{facts.curvature.largest - problem.l2:.2g}.",
        advice=f"Use l2 of about {_balanced(facts):.1g} or less, or have it chosen: thalweg train "
        "--l2 auto.",
        rests_on="‖w‖ falls as the penalty grows; too much of it underfits (lecture A).",
        evidence={"share": effect.share, "l2": problem.l2},
    )


def _balanced(facts: LinearFacts) -> float:
    """An l2 that takes a hundredth along the direction in which the data are steepest."""
    return 0.01 * max(facts.curvature.largest - facts.problem.l2, 0.0)


def _nothing(facts: LinearFacts) -> Finding | None:
    problem, effect = facts.problem, facts.effect
    if not (problem.l1 or problem.l2) or effect.zeros < 0:
        return None
    constant = facts.columns.constant.size * problem.outputs
    selects = problem.l1 > 0.0 and effect.zeros > constant
    is_idle = effect.move <= IDLE_MOVE
    if selects or not (is_idle or problem.l1):
        return None
    what = "The l1 penalty sets no coefficient to zero" if problem.l1 else "The l2 penalty is idle"
    return Finding(
        name=IDLE if is_idle else UNSELECTIVE,
        severity=Severity.NOTE,
        claim=f"{what}: without it w would move by {effect.move:.1g} of its length.",
        measured=effect.move,
        limit=IDLE_MOVE,
        cause="The data pull harder than the penalty holds.",
        advice=f"Leave it out, or raise it: l1 has an effect up to {effect.largest_pull:.2g}."
        if problem.l1
        else "Keep it if a duality gap is wanted; if it is meant to regularize, raise it.",
        rests_on="‖w‖ falls as the penalty grows (lecture A).",
        evidence={"move": effect.move, "zeros": effect.zeros},
    )
