"""For the tests of methods: one state after another, and objectives in other units."""

import numpy as np

import thalweg as tw
from thalweg.methods.problem import Problem

# A plane: its gradient is the same everywhere.
SLOPE = tw.Objective(lambda w: w @ np.array([5.0, -0.1]), lambda w: np.array([5.0, -0.1]), dim=2)


def follow(method, objective, w0, count):
    """The first state and those after each of `count` steps."""
    w0 = np.asarray(w0)
    problem = Problem(objective, w0.size, w0.dtype)
    states = [method.init(problem, w0, np.random.default_rng(0))]
    for _ in range(count):
        states.append(method.advance(problem, states[-1]))
    return states


def times(factor, surface):
    """a·f(w)."""
    return tw.Objective(
        lambda w: factor * surface.value(w), lambda w: factor * surface.gradient(w), dim=2
    )


def in_units(surface, f_scale, w_scale):
    """a·f(w/b): the same problem, measured otherwise."""
    return tw.Objective(
        lambda w: f_scale * surface.value(w / w_scale),
        lambda w: f_scale / w_scale * surface.gradient(w / w_scale),
        dim=surface.dim, check_gradient=False,
    )  # fmt: skip
