"""Fits that end at the smallest coefficients of those that fit as well, where many do."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import ClassVar

from sklearn.exceptions import ConvergenceWarning

from thalweg.core.run import Run
from thalweg.estimators.certified import AUTO, CertifiedMixin, is_exact
from thalweg.estimators.smallest import at_smallest, is_open
from thalweg.methods.method import Method
from thalweg.methods.newton import MOST_VARIABLES
from thalweg.objectives.linear import LinearProblem
from thalweg.planner.minimize import minimize

BY_ITSELF = "cholesky"  # the method that ends there


class SmallestMixin(CertifiedMixin):
    """Ends a run at the smallest of its minimizers."""

    method: str | Method
    any_solver: ClassVar[str] = AUTO  # the solver that leaves the choice to `method`

    def _is_settled(self, run: Run) -> bool:
        """Whether it ended at the smallest of its minimizers: the closed form does by itself."""
        return run.method == BY_ITSELF

    def _settled(self, problem: LinearProblem, run: Run) -> Run:
        """The run, ended at the smallest of its minimizers."""
        has_arrived = run.converged or is_exact(problem, run)
        is_free = self.method == AUTO and (
            getattr(self, "solver", self.any_solver) == self.any_solver
        )
        has_failed = False  # the closed form
        if not has_arrived and is_free and self._is_settled(run):
            # A pivot that is rounding was taken for a curvature: columns depend on each other.
            able = "newton" if problem.dim <= MOST_VARIABLES else "newton-cg"
            run = minimize(problem, able, tol=self.tol, progress=False)
            has_arrived = run.converged
            has_failed = True
        if self._is_settled(run) or not has_arrived or not is_open(problem):
            return run
        if not has_failed and problem.loss == "squared" and problem.dim <= MOST_VARIABLES:
            closed = minimize(problem, BY_ITSELF, tol=self.tol, progress=False)
            if closed.converged:  # in the time of a few steps of LSQR, and with more digits
                w, value, proof = closed.w, closed.value, closed.certificate
                return closed if is_free else replace(run, w=w, value=value, certificate=proof)
        found = at_smallest(problem, run)
        if found is None:
            way_out = f"method='{BY_ITSELF}'" if problem.loss == "squared" else "a smaller tol"
            warnings.warn(
                "Many coefficients fit as well, and the smallest were not found from where "
                f"{run.method} ended: use {way_out}",
                ConvergenceWarning,
                stacklevel=4,
            )
        return found or run
