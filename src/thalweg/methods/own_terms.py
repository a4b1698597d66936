"""Which methods take a loss or a penalty that is not of the usual kind, and which do not.

    own loss       methods for any objective: scores, slopes and curvatures are the problem's
    own penalty    those of them that take a proximal step, whatever it is of
    by column      these, and those that know l1, l2 and bounds one by one
    no bound γ     of ℓ″, as of e^z: those that need no such bound, for they search for their steps

Compiled loops over samples or coordinates know losses by their codes and a penalty by l1, and so
does the way of newton with l1.
"""

from __future__ import annotations

from typing import Any

from thalweg.methods.method import Method
from thalweg.objectives.linear import LinearProblem


def unfamiliar(method: Method | type[Method], objective: Any) -> str:
    """What `method` does not know of `objective`, as a clause; empty where it knows all."""
    if not isinstance(objective, LinearProblem):
        return ""
    if method.needs_bound and not objective.has_bound:
        return f"steps by a bound on ℓ″, which the {objective.loss} loss has not"
    if objective.is_built_in:
        return ""
    if objective.has_corners:
        return "" if method.takes_corners else "needs a slope everywhere, and this loss has corners"
    if objective.has_own_loss and method.only_linear:
        return f"takes the built-in losses alone, got {objective.loss!r}"
    own = objective.own_penalty
    if objective.by_column is not None and method.takes_columns:
        return ""
    if own is not None and (method.only_linear or not method.takes_penalty):
        if objective.by_column is not None:
            return f"knows no penalties or bounds by column, got {own.name!r}"
        return f"takes no penalty of your own, got {own.name!r}"
    return ""


def way_out(objective: LinearProblem) -> str:
    """A method that takes such terms."""
    if objective.by_column is not None and not objective.term.is_matrix:
        return "use method='cd', or 'newton' for few features"
    if objective.has_corners:
        return "use tw.QuantileRegressor or tw.LinearSVR"
    if objective.is_built_in and not objective.is_smooth:
        return "use method='cd'"
    return "use method='lbfgs'" if objective.is_smooth else "use method='fista'"
