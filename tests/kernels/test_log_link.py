"""Deviances of means e^z against their definitions in decimals of forty digits."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from thalweg.kernels.log_link import means_pass
from thalweg.kernels.losses import (
    GAMMA,
    POISSON,
    TWEEDIE,
    loss_conjugate,
    loss_curvature,
    loss_slope,
    loss_value,
    loss_value_and_slope,
)

CASES = [(POISSON, 1.0), (GAMMA, 2.0), (TWEEDIE, 1.1), (TWEEDIE, 1.5), (TWEEDIE, 1.9)]
every_case = pytest.mark.parametrize(("code", "power"), CASES)
EPS = np.finfo(float).eps


def samples(code, count=200, seed=3):
    """Pairs of a score and a target: far apart, near e^z, and zeros where the loss takes them."""
    rng = np.random.default_rng(seed)
    z, y = 4.0 * rng.standard_normal(count), np.exp(3.0 * rng.standard_normal(count))
    near = rng.random(count) < 0.3
    y[near] = np.exp(z + 1e-5 * rng.standard_normal(count))[near]
    if code != GAMMA:
        y[rng.random(count) < 0.2] = 0.0
    return list(zip(z.tolist(), y.tolist(), strict=True))


def exactly(z, y, power):
    """ℓ, ℓ′ and ℓ″ by their definitions, half of a unit deviance and its derivatives in z."""
    with localcontext() as context:
        context.prec = 40
        z, y, p = Decimal(z), Decimal(y), Decimal(power)
        mean = z.exp()
        slope = mean ** (2 - p) - y * mean ** (1 - p)
        curvature = (2 - p) * mean ** (2 - p) + (p - 1) * y * mean ** (1 - p)
        if power == 1.0:
            value = mean - y + (y * (y.ln() - z) if y else 0)
        elif power == 2.0:
            value = z - y.ln() + y / mean - 1
        else:
            value = mean ** (2 - p) / (2 - p) - y * mean ** (1 - p) / (1 - p)
            value += y ** (2 - p) / ((1 - p) * (2 - p)) if y else 0
        return value, slope, curvature


def test_by_hand():
    # e^z = 2 and y = 1: 2 − 1 + 1·log ½; log 2 + ½ − 1; √2/½ + 1/(½√2) − 1/(½·½) = 3√2 − 4.
    z = math.log(2.0)
    assert loss_value(POISSON, z, 1.0, 1.0) == pytest.approx(1.0 - math.log(2.0), rel=8 * EPS)
    assert loss_value(GAMMA, z, 1.0, 1.0) == pytest.approx(math.log(2.0) - 0.5, rel=8 * EPS)
    assert loss_value(TWEEDIE, z, 1.0, 1.5) == pytest.approx(3.0 * 2.0**0.5 - 4.0, rel=16 * EPS)
    slopes = [loss_slope(code, z, 1.0, 1.5) for code in (POISSON, GAMMA, TWEEDIE)]
    assert slopes == pytest.approx([1.0, 0.5, 0.5**0.5], rel=8 * EPS)
    # No claim, and a mean of 2 or, of amounts, √2/½.
    assert loss_value(POISSON, z, 0.0, 1.0) == pytest.approx(2.0, rel=4 * EPS)
    assert loss_value(TWEEDIE, z, 0.0, 1.5) == pytest.approx(2.0 * 2.0**0.5, rel=4 * EPS)


@every_case
def test_value_slope_and_curvature_are_the_definitions(code, power):
    for z, y in samples(code):
        value, slope, curvature = map(float, exactly(z, y, power))
        # What rounds z − log y moves ℓ by its slope; ℓ itself keeps its digits, however small.
        off = 8 * EPS * (1.0 + abs(z) + (abs(math.log(y)) if y else 0.0))
        limit = abs(slope) * off + curvature * off**2 + 30 * EPS * value / (power - 1.0 or 1.0)
        found = loss_value(code, z, y, power)
        assert abs(found - value) <= limit
        size = abs(slope) + 2 * curvature + y ** (2.0 - power)
        assert loss_slope(code, z, y, power) == pytest.approx(slope, abs=off * size)
        assert loss_curvature(code, z, y, power) == pytest.approx(curvature, rel=off)
        both = loss_value_and_slope(code, z, y, power)
        assert both == pytest.approx((found, loss_slope(code, z, y, power)), rel=4 * EPS)


@every_case
def test_no_loss_is_negative_and_that_of_the_mean_is_zero(code, power):
    for z, y in samples(code):
        assert loss_value(code, z, y, power) >= 0.0
        if y:
            assert loss_value(code, math.log(y), y, power) <= 1e-30 * max(y, 1.0)


@every_case
def test_fenchel_and_young_meet_at_the_slope_and_nowhere_below(code, power):
    rng = np.random.default_rng(1)
    for z, y in samples(code):
        slope = loss_slope(code, z, y, power)
        theta = slope * rng.random()
        size = 1.0 + abs(z) + (abs(math.log(y)) if y else 0.0)
        at_slope = loss_value(code, z, y, power) + loss_conjugate(code, slope, y, power)
        assert at_slope == pytest.approx(z * slope, abs=1e-14 * size * (1.0 + abs(slope) + y))
        between = loss_value(code, z, y, power) + loss_conjugate(code, theta, y, power)
        assert between >= z * theta - 1e-14 * size * (1.0 + abs(slope) + y)


@every_case
def test_the_conjugate_is_the_supremum(code, power):
    for z, y in samples(code, count=40, seed=4):
        if not y:
            continue
        theta = 0.7 * loss_slope(code, z, y, power)
        found = minimize_scalar(
            lambda x, t=theta, y=y: loss_value(code, x, y, power) - t * x,
            bounds=(-60.0, 60.0), method="bounded", options={"xatol": 1e-10},
        )  # fmt: skip
        assert loss_conjugate(code, theta, y, power) == pytest.approx(
            -found.fun, rel=1e-7, abs=1e-7
        )


def test_conjugates_at_the_edges_of_their_domains():
    assert loss_conjugate(POISSON, -3.0, 3.0, 1.0) == pytest.approx(3.0 - 3.0 * math.log(3.0))
    assert loss_conjugate(POISSON, -3.1, 3.0, 1.0) == math.inf
    assert loss_conjugate(POISSON, 0.0, 0.0, 1.0) == 0.0
    assert loss_conjugate(POISSON, -1e-9, 0.0, 1.0) == math.inf
    assert loss_conjugate(GAMMA, 1.0, 3.0, 2.0) == pytest.approx(math.log(3.0) + 1.0)
    assert loss_conjugate(GAMMA, 1.1, 3.0, 2.0) == math.inf
    assert loss_conjugate(TWEEDIE, -1e-9, 0.0, 1.5) == math.inf
    assert loss_conjugate(TWEEDIE, 2.0, 0.0, 1.5) == pytest.approx(
        2.0 * (2.0 * math.log(2.0) - 2.0)
    )


@every_case
def test_an_offset_is_a_weight_and_a_target(code, power):
    for z, y in samples(code, count=50):
        for offset in (-1.3, 0.4, 2.0):
            moved = math.exp((2.0 - power) * offset) * loss_value(
                code, z, y * math.exp(-offset), power
            )
            there = loss_value(code, z + offset, y, power)
            assert there == pytest.approx(moved, rel=1e-9, abs=1e-13 * (1.0 + y))


@every_case
def test_slopes_cancel_after_the_shift(code, power):
    rng = np.random.default_rng(5)
    z, c = 3.0 * rng.standard_normal(50), rng.random(50)
    y = np.exp(rng.standard_normal(50))
    shift = means_pass(z, y, c, power)
    slopes = [c[i] * loss_slope(code, z[i] + shift, y[i], power) for i in range(50)]
    assert abs(sum(slopes)) <= 1e-13 * sum(map(abs, slopes))


@every_case
def test_scores_too_large_for_any_number_are_infinite_losses_and_no_others(code, power):
    assert loss_value(code, 1e4 if code != GAMMA else -1e4, 1.0, power) == math.inf
    assert math.isnan(loss_value(code, math.nan, 1.0, power))
