"""Fits that end at the smallest coefficients of those that fit as well, where many do."""

from __future__ import annotations

import warnings

from sklearn.exceptions import ConvergenceWarning

from thalweg.core.run import Run
from thalweg.estimators.certified import CertifiedMixin, is_exact
from thalweg.estimators.smallest import at_smallest, is_open
from thalweg.objectives.linear import LinearProblem

BY_ITSELF = "cholesky"  # the method that ends there


class SmallestMixin(CertifiedMixin):
    """Ends a run of least squares at the smallest of its minimizers."""

    def _is_settled(self, run: Run) -> bool:
        """Whether it ended at the smallest of its minimizers: the closed form does by itself."""
        return run.method == BY_ITSELF

    def _settled(self, problem: LinearProblem, run: Run) -> Run:
        """The run, ended at the smallest of its minimizers."""
        has_arrived = run.converged or is_exact(problem, run)
        if self._is_settled(run) or not has_arrived or not is_open(problem):
            return run
        found = at_smallest(problem, run)
        if found is None:
            warnings.warn(
                "Many coefficients fit as well, and the smallest were not found from where "
                f"{run.method} ended: use method='cholesky'",
                ConvergenceWarning,
                stacklevel=4,
            )
        return found or run
