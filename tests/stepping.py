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


def linear(loss="logistic", *, n=80, units=1.0, storage=np.asarray, dtype=np.float64, **options):
    """A linear problem of five features whose columns are multiplied by `units`."""
    rng = np.random.default_rng(7)
    X = rng.standard_normal((n, 5)) @ np.diag([1.0, 2.0, 0.5, 1.0, 1.0]) + 0.3
    scores = X @ rng.standard_normal((5, 3)) + rng.standard_normal((n, 3))
    y = scores[:, 0] if loss in ("squared", "huber") else scores[:, 0] > 0
    y = np.argmax(scores, axis=1) if loss == "multinomial" else y
    return tw.LinearProblem(storage((X * units).astype(dtype)), y, loss, **options)


def without_scores(data):
    """The same function, of which nothing but values, gradients and products is known."""
    return tw.Objective(
        data.value, hessian_vector=data.hessian_vector,
        value_and_gradient=data.value_and_gradient, dim=data.dim, check_gradient=False,
    )  # fmt: skip


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
