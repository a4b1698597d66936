"""How many iterations each method will need: what theory guarantees, and what to expect.

With κ = L/μ, r = L_mean/(nμ), s = L/(nμ) and ε the tolerance, all of it relative to F at w = 0:

                  guaranteed                      expected
    gd            κ log(1/ε)                      a third of it
    nesterov,     √κ log(1/ε)                     κ^0.4 log(1/ε)/2, at most 50/√ε
    fista
    sag, saga,    16·max(L_max/(nμ), ½) log(1/ε)  (½ + 1.5s) log(1/ε) passes, at least 8
    svrg
    catalyst      none in use                     (1 + 2√r) log(1/ε) passes, at least 10
    sdca          (1 + r) log(1/ε) in             (0.38 + 1.4s) log(1/ε) passes, at least 3
                  expectation
    lbfgs         none                            20 + κ^0.4 log(1/ε)/6, κ at most 10³/√ε
    newton-cg     none                            8, and 0.8 times the products that lbfgs has steps
      in blocks   none                            6 + log(1/ε)/5, 1.5 + log(1/ε)/9 products each
    newton        none                            7 Hessians; 4 where samples come first; 2 where
                                                  they are used again, and one more for a decade
                                                  of κ above 10⁶ and for one of dim above 50; 1 of
                                                  the squared loss
    cd            none                            8 working sets, 8 passes each; 5 and 2.5 of the
                                                  squared loss
    cholesky      1                               1

The expected counts of the methods without a law are fits to runs on the benchmark problems. The
bounds of single samples hold for the worst data, where all rows point one way; s, which they do not
know, tells how far the rows do.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from thalweg.core.errors import InputError
from thalweg.methods.exact_step import has_sums
from thalweg.methods.newton import LARGE, is_dear
from thalweg.methods.preconditioner import pays
from thalweg.objectives.linear import LinearProblem
from thalweg.planner.geometry import Geometry

# The guaranteed ones as they are read; those of `expected` that are not here have none.
LAWS = {
    "gd": "κ log(1/ε) iterations",
    "nesterov": "√κ log(1/ε) iterations",
    "fista": "√κ log(1/ε) iterations",
    "sag": "16·max(L_max/(nμ), ½) log(1/ε) passes, in expectation",
    "saga": "16·max(L_max/(nμ), ½) log(1/ε) passes, in expectation",
    "svrg": "16·max(L_max/(nμ), ½) log(1/ε) passes, in expectation",
    "sdca": "(1 + L_mean/(nμ)) log(1/ε) passes, in expectation",
    "cholesky": "1 iteration",
}


class Expected(NamedTuple):
    """Iterations of one method, and what one takes."""

    bound: float | None  # iterations, guaranteed
    iterations: float
    passes: Mapping[str, float]  # of an iteration, by what `Cost` has prices for
    vectors_n: float  # memory, in vectors of n·K numbers
    vectors_p: float  # and of dim numbers


def expected(name: str, problem: LinearProblem, shape: Geometry, tol: float) -> Expected:
    """What to expect of a method."""
    digits = math.log(1.0 / tol)
    mu = shape.mu.value or problem.l2  # the intercept alone does not slow a method down
    kappa = shape.L.value / mu if mu else math.inf
    r = shape.L_mean.value / (shape.n * mu) if mu else math.inf
    s = shape.L.value / (shape.n * mu) if mu else math.inf
    worst = shape.L_max.value / (shape.n * mu) if mu else math.inf
    certain = shape.mu.value > 0.0
    accelerated = min(0.5 * kappa**0.4 * digits, 50.0 / math.sqrt(tol))
    curved = min(kappa, 1e3 / math.sqrt(tol))  # what a flat direction costs at most
    quasi = 20.0 + curved**0.4 * digits / 6.0
    dim = problem.dim
    match name:
        case "gd":
            count = max(accelerated, min(kappa * digits, 50.0 / tol) / 3.0)
            bound = kappa * digits if certain else None
            return Expected(bound, count, {"gradient": 1.0}, 2, 4)
        case "nesterov" | "fista":
            bound = math.sqrt(kappa) * digits if certain else None
            return Expected(bound, accelerated, {"gradient": 1.0}, 2, 5)
        case "sag" | "saga" | "svrg":
            bound = 16.0 * max(worst, 0.5) * digits if certain else None
            count = max(8.0, (0.5 + 1.5 * s) * digits)
            return Expected(bound, count, {"visits": 1.0}, 8, 9)
        case "catalyst":
            count = max(10.0, (1.0 + 2.0 * math.sqrt(r)) * digits)
            return Expected(None, count, {"visits": 1.0}, 8, 12)
        case "sdca":
            bound = (1.0 + r) * digits if certain else None
            return Expected(bound, max(3.0, (0.38 + 1.4 * s) * digits), {"dual": 1.0}, 8, 9)
        case "lbfgs":
            return Expected(None, quasi, {"gradient": 1.1}, 4, 25)
        case "newton-cg" if pays(problem):
            passes = {"gradient": 2.5 + digits / 9.0, "blocks": 1.0}
            room = problem.p * (0.5 + 13.0 / problem.outputs)  # the blocks, and rows for one
            return Expected(None, 6.0 + digits / 5.0, passes, 4, 8 + room)
        case "newton-cg":
            passes = {"gradient": 2.0 + 0.8 * quasi / 8.0}
            return Expected(None, 8.0, passes, 4, 8)
        case "newton":
            if has_sums(problem):
                passes = {} if problem.is_summed else {"hessian": 1.0}
                return Expected(None, 1.0, passes, 4, 3 * dim)
            if is_dear(problem):
                flat = 0.0 if problem.l1 else math.log10(min(max(kappa, 1e6), 1e9) / 1e6)
                wide = math.log10(max(dim, 50.0) / 50.0)
                passes = {"gradient": 1.2, "hessian": 0.4}
                return Expected(None, 5.0 + 2.5 * (flat + wide), passes, 4, 4 * dim)
            count = 4.0 if problem.matrix.entries >= LARGE else 7.0
            if problem.loss == "squared":
                count = 1.0
            return Expected(None, count, {"gradient": 1.0, "hessian": 1.0}, 4, 3 * dim)
        case "cholesky":
            return Expected(1.0, 1.0, {"gradient": 5.0, "ridge": 1.0}, 2, 3 * min(dim, problem.n))
        case "cd" if problem.loss == "squared":
            return Expected(None, 5.0, {"gradient": 2.5}, 8, 10)
        case "cd":
            return Expected(None, 8.0, {"gradient": 8.0}, 8, 10)
    raise InputError(f"no prediction is known for the method {name!r}")
