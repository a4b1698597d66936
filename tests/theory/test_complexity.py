"""The tables of orders: each overall cost is the inverse rate times the iteration's cost."""

import math

import numpy as np
import pytest

from thalweg.core.errors import InputError
from thalweg.theory import complexity

SHAPE = {"samples": 1000, "features": 20}


@pytest.mark.parametrize("method", complexity.METHODS)
@pytest.mark.parametrize("strong_convexity", [0.0, 0.01])
@pytest.mark.parametrize("tolerance", [0.1, 1e-4])
def test_iterations_invert_the_rate(method, strong_convexity, tolerance):
    curvature = {"smoothness": 2.0, "strong_convexity": strong_convexity}
    t = complexity.iterations(method, tolerance, **curvature)
    assert complexity.rate(method, math.ceil(t), **curvature) <= tolerance * (1 + 1e-12)
    assert complexity.rate(method, max(1, math.ceil(t) - 1), **curvature) >= tolerance * (1 - 1e-9)


def test_rate_takes_an_array():
    t = np.array([1, 4, 100])
    np.testing.assert_allclose(complexity.rate("sgd", t, smoothness=1.0), [1.0, 0.5, 0.1])
    np.testing.assert_allclose(
        complexity.rate("gd", t, smoothness=2.0, strong_convexity=1.0), np.exp(-t / 2)
    )


def test_the_lectures_table_of_overall_cost():
    n, d, L, mu, eps = 1000, 20, 2.0, 0.01, 1e-3
    assert complexity.overall("gd", eps, **SHAPE, smoothness=L) == pytest.approx(n * d * L / eps)
    assert complexity.overall("sgd", eps, **SHAPE, smoothness=L) == pytest.approx(d / eps**2)
    strong = {"smoothness": L, "strong_convexity": mu}
    assert complexity.overall("gd", eps, **SHAPE, **strong) == pytest.approx(
        n * d * (L / mu) * math.log(1 / eps)
    )
    assert complexity.overall("sgd", eps, **SHAPE, **strong) == pytest.approx(d / eps)
    assert complexity.overall("mini-batch", eps, batch=8, **SHAPE, **strong) == pytest.approx(
        8 * d / eps
    )


def test_iteration_costs():
    assert complexity.iteration_cost("gd", **SHAPE) == 20_000
    assert complexity.iteration_cost("sgd", **SHAPE) == 20
    assert complexity.iteration_cost("mini-batch", batch=32, **SHAPE) == 640
    assert complexity.iteration_cost("mini-batch", batch=1000, **SHAPE) == 20_000


def test_evaluations_of_the_lecture():
    problem = {"samples": 10**4, "smoothness": 1.0, "strong_convexity": 1e-6}
    digits = math.log(1e8)
    counts = {name: complexity.evaluations(name, 1e-8, **problem) for name in complexity.COUNTED}
    assert counts == pytest.approx(
        {
            "stochastic": 1e14,
            "gradient": 1e10 * digits,
            "accelerated": 1e7 * digits,
            "sag": 1e6 * digits,
        }
    )
    assert min(counts, key=counts.__getitem__) == "sag"


def test_sag_is_paid_by_samples_once_they_outnumber_the_condition():
    rich = {"samples": 10**7, "smoothness": 1.0, "strong_convexity": 1e-3}
    assert complexity.evaluations("sag", 0.1, **rich) == pytest.approx(1e7 * math.log(10))


def test_arguments_are_checked():
    with pytest.raises(InputError, match="did you mean 'sgd'"):
        complexity.iterations("sgdd", 0.1, smoothness=1.0)
    with pytest.raises(InputError, match=r"tolerance must be in \(0, 1\), got 1.0"):
        complexity.iterations("gd", 1.0, smoothness=1.0)
    with pytest.raises(InputError, match=r"batch must be in \[1, 1000\] for mini-batch, got None"):
        complexity.iteration_cost("mini-batch", **SHAPE)
