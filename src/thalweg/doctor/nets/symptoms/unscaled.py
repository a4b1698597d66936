"""Unscaled inputs and poor conditioning: are the inputs of one size, near 1, about 0?

The Hessian of a linear layer is E[xxᵀ]. Inputs of size s make it s² times as large, so that a
learning rate fit for standardized ones diverges, and tanh saturates. Columns of unequal size make
its condition number at least the square of their ratio, means far from zero at least
(‖mean‖/‖std‖)²: what is right for one direction is a crawl in another.

    size      outside [0.05, 10]
    offset    above 5: κ ≥ 25
    spread    above 100: κ ≥ 10,000
"""

from __future__ import annotations

from thalweg.core.finding import Finding, Severity
from thalweg.doctor.causes import CONDITIONING, UNSCALED
from thalweg.doctor.nets.facts.measured import above
from thalweg.doctor.nets.facts.network_facts import NetworkFacts

SMALLEST, LARGEST = 0.05, 10.0
OFFSET = 5.0
SPREAD = 100.0


def unscaled(facts: NetworkFacts) -> list[Finding]:
    """Inputs too large, too small, too far from zero, or too unequal."""
    known = facts.measured
    size, offset, spread = known.data_size, known.data_offset, known.data_spread
    severity = Severity.ACT if facts.course.failed else Severity.NOTE
    found = []
    if size is not None and (size > LARGEST or 0 < size < SMALLEST):
        found.append(
            Finding(
                name=UNSCALED,
                severity=severity,
                claim=f"inputs are of size {size:.3g}, not near 1",
                measured=size,
                limit=LARGEST if size > 1 else SMALLEST,
                cause="steps, first weights and activations are made for inputs of size 1",
                advice="standardize: tw.scaling.ZScore, or Recipe(scaling='z-score')",
                rests_on="scaling: z-scores lower κ, and gradient descent needs fewer steps",
            )
        )
    elif above(offset, OFFSET):
        found.append(
            Finding(
                name=UNSCALED,
                severity=severity,
                claim=f"means of the inputs are {offset:.3g} times their spread: κ ≥ "
                f"{offset**2:.0f}",
                measured=offset,
                limit=OFFSET,
                cause="what samples share drowns what tells them apart",
                advice="subtract the mean: tw.scaling.ZScore, or Recipe(scaling='z-score')",
                rests_on="scaling: inputs about zero make the Hessian better conditioned",
            )
        )
    if above(spread, SPREAD):
        found.append(
            Finding(
                name=CONDITIONING,
                severity=severity,
                claim=f"columns of the inputs differ in size by a factor of {spread:.3g}: κ ≥ "
                f"{spread**2:.2g}",
                measured=spread,
                limit=SPREAD,
                cause="a rate that the largest column bears is a crawl for the smallest",
                advice="standardize each column: tw.scaling.ZScore, or Recipe(scaling='z-score')",
                rests_on="an ill-conditioned Hessian: oscillation, slow despite strong gradients",
            )
        )
    return found
