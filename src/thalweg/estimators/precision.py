"""Coefficients in the precision of X, as scikit-learn keeps them, and what rounding them costs.

    W′ = fl(W)        b′ = b + x̄ᵀ(W − W′)        x̄ the means of the features, b in double

Of a float32 X coefficients are float32. Where x̄ is far from zero (years, pascals) their rounding
moves all scores together, by much more than it moves them apart. That is made good by the
intercept, which is a few numbers and kept in double: as float32 it would be off by 0.004 at 70,000.

What a run has proved of (W, b) is asked anew of (W′, b′): a lower bound of F* holds for both.

Cost: one pass, of a float32 X alone.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from thalweg.certificates.certify import certify
from thalweg.certificates.duality import DUALITY_GAP, Gap, gap_certificate
from thalweg.core.certificate import Certificate
from thalweg.core.run import Run
from thalweg.methods.rounding import rounding_of
from thalweg.objectives.linear import LinearProblem

DOUBLE = np.dtype(np.float64)


def at_precision(problem: LinearProblem, run: Run, dtype: np.dtype) -> Run:
    """The run, ended at the nearest coefficients of this dtype; warns if they are too far."""
    if dtype == DOUBLE:
        return run
    data = problem.centred
    W, b = data.split(problem.enter(run.w, data))
    at = data.features.join(W.astype(dtype).astype(np.float64), b)
    w, value = data.enter(at, problem), data.value(at)
    certificate = _moved(problem, run, w, value)
    if run.certificate.holds and not certificate.holds:
        warnings.warn(
            f"Coefficients in {dtype}, as X is, are not exact enough: {certificate.statement}. "
            "Use X.astype('float64')",
            ConvergenceWarning,
            stacklevel=5,
        )
    return replace(run, w=w, value=value, certificate=certificate)


def _moved(problem: LinearProblem, run: Run, w: np.ndarray, value: float) -> Certificate:
    """The certificate of `w`, where F is `value`, by what was proved of the run's own point."""
    known = run.certificate
    if known.kind == DUALITY_GAP and known.gap is not None:
        evidence = known.evidence
        rounding = max(evidence["rounding"], rounding_of(value, DOUBLE))
        found = Gap(value, evidence["dual"], rounding, 0.0)
        certificate = gap_certificate(found, evidence["scale"], evidence["tol"], problem.l2)
        is_surely_above = value - run.value - rounding > certificate.limit  # F* ≤ F(W, b)
        if certificate.holds or not known.holds or is_surely_above:
            return certificate
    return certify(problem, w, dual=run.dual, tol=run.tol)
