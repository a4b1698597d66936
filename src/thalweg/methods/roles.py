"""Whether a method can do what a problem asks of it, and which methods can where it cannot."""

from __future__ import annotations

from thalweg.core.errors import InputError
from thalweg.methods.method import Method
from thalweg.methods.own_terms import unfamiliar, way_out
from thalweg.methods.problem import Problem
from thalweg.methods.registry import METHODS
from thalweg.objectives.linear import LinearProblem


def check_roles(method: Method, problem: Problem) -> None:
    """Raise if the problem asks for what the method cannot do, naming methods that can."""
    objective = problem.objective
    if why := unfamiliar(method, objective):
        raise InputError(f"{method.name} {why}: {way_out(objective)}")
    is_linear = isinstance(objective, LinearProblem)
    takes_penalty = method.takes_penalty or (is_linear and method.takes_linear_penalty)
    if problem.is_composite and not takes_penalty:
        able = [
            name
            for name, other in METHODS.items()
            if (other.takes_penalty and (is_linear or not other.only_linear))
            or (other.takes_linear_penalty and is_linear)
        ]
        raise InputError(
            f"{method.name} needs a smooth objective, got {problem.name}, which has a "
            f"penalty without a gradient: use method={' or '.join(map(repr, able))}"
        )
    if problem.is_noisy and not method.takes_noise:
        able = [name for name, other in METHODS.items() if other.takes_noise]
        raise InputError(
            f"{method.name} needs exact gradients, got {problem.name}: use one of {', '.join(able)}"
        )
    method.check(problem)
