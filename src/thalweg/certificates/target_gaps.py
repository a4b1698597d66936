"""Duality gaps of several ridge regressions on the same features, by two matrix products.

    θₖ = Zwₖ − rₖ      D(θₖ) = −Σᵢ cᵢ(rᵢₖθᵢₖ + ½θᵢₖ²) − ‖vₖ‖²/(2·l2)      vₖ = Σᵢ cᵢθᵢₖx̂ᵢ

for targets r about their mean and features x̂ about theirs where there is an intercept, so that
Σ cᵢθᵢₖ = 0. The residuals are the dual points (`dual_point`, where rounding is derived as well).
"""

from __future__ import annotations

import numpy as np

from thalweg.certificates.dual_point import unit
from thalweg.certificates.duality import PASSES, Gap
from thalweg.objectives.linear import LinearProblem


def target_gaps(
    problem: LinearProblem, W: np.ndarray, R: np.ndarray, l2s: np.ndarray | None = None
) -> list[Gap]:
    """The gap of each column of W, float64[p, T], for the targets R, float64[n, T].

    With an intercept `problem` is centred, and so are the targets: the best intercept is near 0.
    Each column may have a penalty of its own, `l2s`, float64[T].
    """
    c, features = problem.weights, problem.features
    l2 = problem.l2 if l2s is None else l2s
    features = features.with_outputs(W.shape[1], is_matrix=True)
    kernel_W, beta = features.enter(features.join(W, np.zeros(W.shape[1])))
    theta = problem.rows.product(kernel_W, beta) - R
    if problem.fit_intercept:
        theta -= c @ theta
    v = features.leave(*problem.rows.transpose(theta))
    losses = 0.5 * np.einsum("i,ik,ik->k", c, theta, theta)
    terms = np.einsum("i,ik,ik->k", c, R, theta)
    ridge, penalty = 0.5 * l2 * np.sum(W**2, axis=0), np.sum(v**2, axis=0) / (2.0 * l2)
    spread = np.sqrt(2.0 * losses)
    sizes = problem.rows.lengths
    if features.offset is not None:
        sizes = sizes + np.abs(features.offset)
    delta = unit(problem.p) * (np.abs(beta) + sizes @ np.abs(kernel_W))
    error = unit(problem.n) * np.outer(features.lengths(), spread)
    rounding = delta * spread + 0.5 * delta**2
    rounding += unit(problem.n) * (losses + np.sqrt(np.einsum("i,ik,ik->k", c, R, R)) * spread)
    rounding += unit(problem.p) * ridge + unit(1) * penalty
    rounding += (np.sum(np.abs(v) * error, axis=0) + 0.5 * np.sum(error**2, axis=0)) / l2
    return [
        Gap(float(losses[k] + ridge[k]), float(-terms[k] - losses[k] - penalty[k]),
            float(rounding[k]), PASSES)
        for k in range(W.shape[1])
    ]  # fmt: skip
