"""The limits are where the dynamics on a scalar quadratic diverge."""

import math

import numpy as np
import pytest

from thalweg.core.errors import InputError
from thalweg.theory.stability import (
    gd_limit,
    heavy_ball_limit,
    nesterov_limit,
    remembered_limit,
)

MOMENTA = [0.0, 0.3, 0.9, 0.99]


def gradient_descent(curvature, step, momentum):
    w = 1.0
    while True:
        yield w
        w -= step * curvature * w


def heavy_ball(curvature, step, momentum):
    w, m = 1.0, 0.0
    while True:
        yield w
        m = momentum * m + curvature * w
        w -= step * m


def nesterov(curvature, step, momentum):
    """Gradient at the look-ahead point."""
    w, v = 1.0, 0.0
    while True:
        yield w
        v = momentum * v - step * curvature * (w + momentum * v)
        w += v


def shifted_nesterov(curvature, step, momentum):
    """As in torch.optim.SGD(nesterov=True): w is the look-ahead point."""
    w, m = 1.0, 0.0
    while True:
        yield w
        g = curvature * w
        m = momentum * m + g
        w -= step * (g + momentum * m)


def diverges(dynamics, curvature, step, momentum):
    # 1 % beyond the limit grows by about 1 % (1 − β) a step; 20,000 steps tell even at β = 0.99.
    for t, w in enumerate(dynamics(curvature, step, momentum)):
        if abs(w) > 1e6:
            return True
        if t == 20_000:
            return abs(w) > 1e-3
    raise AssertionError


@pytest.mark.parametrize("momentum", MOMENTA)
@pytest.mark.parametrize("used", [0.99, 1.01])
@pytest.mark.parametrize("curvature", [0.2, 30.0])
@pytest.mark.parametrize(
    ("dynamics", "limit"),
    [
        (gradient_descent, lambda curvature, momentum: gd_limit(curvature)),
        (heavy_ball, heavy_ball_limit),
        (nesterov, nesterov_limit),
        (shifted_nesterov, nesterov_limit),
    ],
)
def test_limit_is_where_the_iterates_grow(dynamics, limit, momentum, used, curvature):
    step = used * limit(curvature, momentum)
    assert diverges(dynamics, curvature, step, momentum) == (used > 1.0)


def test_limits_by_hand():
    assert gd_limit(4.0) == 0.5
    assert heavy_ball_limit(4.0, 0.5) == 0.75
    assert nesterov_limit(4.0, 0.5) == 0.375


def test_a_step_bears_as_much_curvature_as_a_curvature_bears_step():
    assert heavy_ball_limit(heavy_ball_limit(3.0, 0.9), 0.9) == pytest.approx(3.0)


@pytest.mark.parametrize("limit", [heavy_ball_limit, nesterov_limit])
def test_arguments_are_checked(limit):
    with pytest.raises(InputError, match=r"momentum must be in \[0, 1\), got 1.0"):
        limit(1.0, 1.0)
    with pytest.raises(InputError, match=r"curvature must be above 0, got -1.0"):
        limit(-1.0, 0.5)


def remembered(order, step, passes, samples, seed):
    """The largest |w| of each pass, for samples of curvature 1 and random slopes at first."""
    rng = np.random.default_rng(seed)
    slopes, w = rng.standard_normal(samples), 1.0
    total, peaks = slopes.sum(), []
    for _ in range(passes):
        visits = {
            "cyclic": np.arange(samples),
            "shuffled": rng.permutation(samples),
            "uniform": rng.integers(samples, size=samples),
        }[order]
        peak = 0.0
        for i in visits:
            total += w - slopes[i]
            slopes[i] = w
            w -= step * total / samples
            peak = max(peak, abs(w))
        peaks.append(peak)
    return peaks


def remembered_grows(order, step, samples):
    peaks = [remembered(order, step, 120, samples, seed) for seed in range(2)]
    return all(p[-1] > p[40] for p in peaks)


@pytest.mark.parametrize("samples", [20, 50])
@pytest.mark.parametrize("order", ["cyclic", "shuffled"])
@pytest.mark.parametrize("used", [0.95, 1.05])
def test_remembered_limit_is_where_the_iterates_grow(order, samples, used):
    step = used * remembered_limit(1.0, samples=samples, order=order)
    assert remembered_grows(order, step, samples) == (used > 1.0)


def test_at_random_bears_far_more():
    assert remembered_limit(1.0, samples=50, order="uniform") == math.inf
    assert not remembered_grows("uniform", 10 * remembered_limit(1, samples=50, order="cyclic"), 50)


def test_the_limit_of_shuffled_passes_is_a_root_of_their_equation():
    # Nηλ = ω² with tan(ω/2) = ω, where the matrix of a pass has the eigenvalue −1.
    omega = math.sqrt(50 * remembered_limit(1.0, samples=50, order="shuffled"))
    assert math.tan(omega / 2) == pytest.approx(omega, rel=1e-14)
    c, s = math.cos(omega), math.sin(omega)
    a_pass = np.array([[c, 1 - omega * s - c], [s / omega, c - s / omega]])  # of (w, M)
    assert np.min(np.linalg.eigvals(a_pass).real) == pytest.approx(-1.0)


def test_remembered_limits_by_hand_and_their_arguments():
    assert remembered_limit(2.0, samples=5, order="cyclic") == pytest.approx(math.pi**2 / 20)
    with pytest.raises(InputError, match=r"order must be .*got 'lipschitz'"):
        remembered_limit(1.0, samples=5, order="lipschitz")
    with pytest.raises(InputError, match="samples must be"):
        remembered_limit(1.0, samples=0, order="cyclic")
