"""Is there something to predict: classes that occur, a target that varies, a place for its mean?

A class of share q among K is rare where q < 0.2/K, a fifth of an even share (note), and nearly
absent where q < 0.02/K (warning): the constant answer is then right for almost all samples, and
accuracy says nothing. A target without variance has the constant predictor as its solution. Without
an intercept, and with features of mean zero, no coefficients can reach the mean ȳ of a target:
F ≥ ȳ²/2 for the squared loss, and that is named where ȳ² is most of Σcᵢyᵢ².
"""

from __future__ import annotations

import numpy as np

from thalweg.core.finding import Finding, Severity
from thalweg.doctor.causes import IMBALANCE
from thalweg.doctor.linear.facts.linear_facts import LinearFacts

FLAT = "constant target"
NO_INTERCEPT = "missing intercept"
RARE, ABSENT = 0.2, 0.02  # of an even share
CENTRED = 1e-2  # |m|/s of features that count as centred
MOST = 0.5  # of Σcy² in the mean


def targets(facts: LinearFacts) -> list[Finding]:
    """What is wrong with y."""
    if facts.problem.classes is not None:
        return _classes(facts)
    return _target(facts)


def _classes(facts: LinearFacts) -> list[Finding]:
    shares = facts.shares
    even = shares * len(shares)
    rarest = int(even.argmin())
    if even[rarest] >= RARE:
        return []
    return [
        Finding(
            name=IMBALANCE,
            severity=Severity.WARN if even[rarest] < ABSENT else Severity.NOTE,
            claim=f"Class {facts.label(rarest)} has {shares[rarest]:.2%} of the weight: the "
            f"constant answer {facts.label(int(shares.argmax()))} is right for {shares.max():.2%}.",
            measured=float(shares[rarest]),
            limit=RARE / len(shares),
            cause="What is rare adds little to the mean loss.",
            advice="Judge by recall or log loss, not accuracy; weigh the class by sample_weight if "
            "missing it is costly.",
            evidence={"shares": shares.tolist()},
        )
    ]


def _target(facts: LinearFacts) -> list[Finding]:
    problem, y, c = facts.problem, facts.problem.y, facts.problem.weights
    counted = y[c > 0.0]
    if counted.min() == counted.max():
        return [
            Finding(
                name=FLAT,
                severity=Severity.ACT,
                claim=f"y is {counted[0]:.6g} in all samples: there is nothing to predict.",
                measured=0.0,
                limit=0.0,
                advice="Check which column was taken as the target.",
            )
        ]
    mean, square = float(c @ y), float(c @ y**2)
    means = facts.columns.means * (problem.features.units)
    is_centred = bool(np.all(np.abs(means) <= CENTRED * facts.seen))
    if problem.fit_intercept or not is_centred or mean**2 < MOST * square:
        return []
    return [
        Finding(
            name=NO_INTERCEPT,
            severity=Severity.WARN,
            claim=f"The mean {mean:.3g} of y is {mean**2 / square:.0%} of its mean square, and "
            "features of mean 0 without an intercept cannot reach it.",
            measured=mean**2 / square,
            limit=MOST,
            cause="All predictions have the mean 0.",
            advice="Use fit_intercept=True, or subtract the mean from y.",
            evidence={"mean": mean},
        )
    ]
