"""Huber's loss with a scale that is learned: fits at one scale after another, each from the last.

    F(w, b, σ) = σ + (2/σ) P(w, b),  P = Σᵢ cᵢ h(rᵢ) + (l2/2)‖w‖²,  δ = εσ,  l2 = σ·a

For a given σ that is a `LinearProblem` with Huber's loss, which `minimize` solves from the last
one's w; φ(σ) = min over (w, b) of F is convex, and its slope is that of F in σ, known from the
residuals. Its root is found by secants that are kept between two scales of unlike signs; the first
step, and any that would leave them, goes to the best scale for the residuals at hand. It takes some
five scales, and the later ones a step of Newton's or two.

Where more samples than 1 − 1/ε² are met exactly, σ falls to 0 and F to 2εΣc|r| + a‖w‖²: absolute
values, a loss with corners, which the interior point solves then.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from thalweg.certificates.certify import certify
from thalweg.certificates.duality import Gap, about_the_mean, best_constant, gap_certificate
from thalweg.certificates.scale_gap import best_scale, scale_gap, scale_slope, scale_value
from thalweg.core.clock import Clock
from thalweg.core.outcome import Outcome
from thalweg.core.run import Run
from thalweg.core.trace import Trace
from thalweg.core.vector import dot
from thalweg.methods.interior_point import InteriorPoint
from thalweg.methods.reason import reached
from thalweg.objectives.linear import LinearProblem
from thalweg.objectives.tube import Tube
from thalweg.planner.minimize import minimize

LEAST = 10.0 * float(np.finfo(np.float64).eps)  # σ at least, as in scikit-learn
VANISHED = 1e-7  # of the first scale: below this samples are met exactly
MOST = 40  # scales
TIGHTER = 1e-5  # of tol, for the fit at one scale
STILL = 1e-9  # of σ: a step that moves it less
ROUNDS = 30  # of b and σ by turns, of the best constant
SMALLEST = 1e-9  # of the targets' size: what F of a constant is taken for at least


class LearnedScale:
    """One fit: `make(delta, l2)` is the problem at a scale, `a` what ‖w‖² is multiplied by."""

    def __init__(
        self, make: Callable[[str | Tube, float, float], LinearProblem], epsilon: float, a: float
    ) -> None:
        self.make, self.epsilon, self.a = make, epsilon, a
        self.sigma = 1.0
        first = make("huber", 1.0, 1.0)
        self.y, self.c, self.has_intercept = first.y, first.weights, first.fit_intercept
        self.constant, self.scale, self.first_sigma = self._constant()

    def _constant(self) -> tuple[float, float, float]:
        """The best b of w = 0, F there, and its σ."""
        y, c, b = self.y, self.c, 0.0
        sigma = max(best_scale(-y, c, self.epsilon), LEAST)
        for _ in range(ROUNDS if self.has_intercept else 0):
            b = best_constant(self.make("huber", self.epsilon * sigma, 1.0))
            last, sigma = sigma, max(best_scale(b - y, c, self.epsilon), LEAST)
            if abs(sigma - last) <= STILL * sigma:
                break
        value = scale_value(b - y, c, sigma, self.epsilon)
        return b, max(value, SMALLEST * dot(c, np.abs(y))), sigma

    def run(
        self,
        start: np.ndarray | None,
        sigma: float | None,
        method: Any,
        *,
        tol: float,
        max_iter: int,
        callback: Any = None,
    ) -> Run:
        """Minimise from `start`, float64[dim], and σ; None for the best constant."""
        clock, trace, done = Clock(), Trace(), 0
        w = start
        if w is None or sigma is None:
            w = np.zeros(self.make("huber", 1.0, 1.0).dim)
            if self.has_intercept:
                w[-1] = self.constant
            sigma = self.first_sigma
        low, high, before = 0.0, np.inf, None
        counts: dict[str, float] = {"values": 0, "gradients": 0, "hessian_vectors": 0, "passes": 0}
        for _ in range(MOST):
            is_gone = sigma <= max(VANISHED * self.first_sigma, LEAST)
            run, problem = self._at(sigma, w, method, is_gone, tol, max_iter - done, callback)
            w, done = run.w, done + run.iterations
            counts = {key: counts[key] + run.counts[key] for key in counts}
            r = problem.scores(w) - self.y
            best = max(best_scale(r, self.c, self.epsilon), LEAST)
            self.sigma = best  # no higher F, and a dual whose squares fit
            found = self._gap(w, run.dual if is_gone else None)
            slope = scale_slope(r, self.c, sigma, self.epsilon)
            row = {
                "iteration": done,
                "passes": counts["passes"],
                "evaluations": counts["gradients"],
            }
            trace.append(
                **row, seconds=clock.seconds, value=found.primal, gradient_norm=abs(slope),
                gap=found.gap,
            )  # fmt: skip
            low, high = (sigma, high) if slope < 0.0 else (low, sigma)
            ahead = best
            if before is not None and slope != before[1]:
                ahead = sigma - slope * (sigma - before[0]) / (slope - before[1])
                ahead = ahead if low < ahead < high else best
            is_there = before is None and run.iterations == 0  # by a warm start
            is_still = abs(ahead - sigma) <= STILL * sigma or is_gone or is_there
            is_near = found.gap <= tol * self.scale or self.a == 0.0
            if done >= max_iter or run.outcome is Outcome.INTERRUPTED or (is_still and is_near):
                break
            if abs(ahead - sigma) <= 0.0:
                break
            before, sigma = (sigma, slope), max(ahead, LEAST)
        return self._ended(run, problem, found, trace, tol, counts)

    def _at(
        self, sigma: float, w: np.ndarray, method: Any, is_gone: bool, tol: float, most: int,
        callback: Any,
    ) -> tuple[Run, LinearProblem]:  # fmt: skip
        """The fit at one scale."""
        most = max(most, 0)
        if is_gone:
            slope = 2.0 * self.epsilon
            problem = self.make(Tube(slope, slope), 1.0, 2.0 * self.a)
            method = InteriorPoint.usual()
        else:
            problem = self.make("huber", self.epsilon * sigma, sigma * self.a)
        tight = max(TIGHTER * tol, 1e-14)
        run = minimize(
            problem, method, w, tol=tight, max_iter=most, callback=callback, progress=False
        )
        return run, problem

    def _gap(self, w: np.ndarray, theta: np.ndarray | None) -> Gap:
        problem = self.make("huber", self.epsilon * self.sigma, max(self.sigma * self.a, 1e-300))
        data, there = about_the_mean(problem, w)
        if self.a == 0.0:
            value = scale_value(data.scores(there) - data.y, self.c, self.sigma, self.epsilon)
            return Gap(value, -np.inf, 0.0, 0.0)
        found = scale_gap(data, there, self.sigma, self.epsilon, self.a, theta)
        if self.sigma > LEAST:
            return found
        # What is left of σ is scikit-learn's limit of it, and not of F, whose infimum is at σ = 0.
        coefficients, r = data.split(there)[0], data.scores(there) - data.y
        value = 2.0 * self.epsilon * dot(self.c, np.abs(r)) + self.a * dot(
            coefficients, coefficients
        )
        return found._replace(primal=min(found.primal, value))

    def _ended(
        self, run: Run, problem: LinearProblem, found: Gap, trace: Trace, tol: float, counts: Any
    ) -> Run:
        """The last run, with what is proved of w, b and σ together."""
        certificate = run.certificate
        if self.a > 0.0:
            certificate = gap_certificate(found, self.scale, tol, 2.0 * self.a)
        else:
            certificate = certify(problem, run.w, dual=run.dual, tol=tol)
        outcome, reason = run.outcome, run.reason
        if certificate.holds and outcome is not Outcome.INTERRUPTED:
            outcome = Outcome.CONVERGED
            reason = reached(outcome, certificate, int(trace.last["iteration"]))
        elif outcome is Outcome.CONVERGED:
            outcome = Outcome.STALLED
            reason = f"{outcome} {certificate.statement}."
        return replace(
            run, value=found.primal, outcome=outcome, reason=reason, certificate=certificate,
            trace=trace, counts=counts, tol=tol, objective=run.objective + ", its scale learned",
        )  # fmt: skip
