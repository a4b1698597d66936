import math

import numpy as np
import pytest

import thalweg as tw
from thalweg.methods import line as lines
from thalweg.methods.problem import Problem
from thalweg.methods.wolfe import TRIALS, StrongWolfe, first_trial

DECREASE, CURVATURE = 1e-4, 0.9  # c₁ and c₂ as quasi-Newton methods want them


class Line:
    """φ(x) and φ′(x) as an objective of one variable, without any check."""

    dim = 1
    name = "line"

    def __init__(self, value, slope):
        self._value, self._slope = value, slope

    def value_and_gradient(self, w):
        return self._value(w[0]), np.array([self._slope(w[0])])


def search(line, x, *, first=1.0, direction=None, dtype=np.float64):
    """The search from x, downhill unless told otherwise: what was found, the problem for counts."""
    w = np.array([x], dtype=dtype)
    problem = Problem(line, 1, w.dtype)
    start = problem.point(w)
    problem.gradients = 0
    along = -start.gradient if direction is None else np.array([direction], dtype=dtype)
    point = StrongWolfe()(lines.Line(problem, start, along), first)
    return point and Found(point, w, along), problem


class Found:
    """The point that was found, with its place on the line and its slope."""

    def __init__(self, point, w, along):
        along = along.astype(np.float64)
        self.w, self.value, self.gradient, _ = point
        self.step = float((self.w - w)[0] / along[0])
        self.slope = float(self.gradient @ along)


def assert_strong_wolfe(line, x, point):
    """Both conditions, from the function itself."""
    value, (slope,) = line.value_and_gradient(np.array([x]))
    found, (slope_there,) = line.value_and_gradient(point.w)
    along = (point.w[0] - x) / point.step
    assert found <= value + DECREASE * point.step * slope * along
    assert abs(slope_there) <= CURVATURE * abs(slope) * (1 + 1e-12)
    assert (point.value, point.gradient[0]) == (found, slope_there)


def bounded_polynomial(rng):
    """Degree 2, 4 or 6 with a positive leading coefficient."""
    coefficients = rng.standard_normal(2 * rng.integers(1, 4) + 1)
    coefficients[-1] = 0.1 + abs(coefficients[-1])
    p = np.polynomial.Polynomial(coefficients)
    return Line(p, p.deriv())


def exponentials(rng):
    """Σ aᵢ exp(bᵢx) with exponents of both signs."""
    a, b = rng.uniform(0.1, 2.0, 4), rng.uniform(0.1, 3.0, 4) * [1, 1, -1, -1]

    def value(x):
        return float(np.sum(a * np.exp(b * x)))

    return Line(value, lambda x: float(np.sum(a * b * np.exp(b * x))))


def wavy(rng):
    """A bowl with ripples: many local minima on the way."""
    k, size = rng.uniform(1.0, 20.0), rng.uniform(0.1, 5.0)
    return Line(
        lambda x: 0.5 * x * x + size * math.sin(k * x), lambda x: x + size * k * math.cos(k * x)
    )


def log_barrier(rng):
    """cx − log x: no number at all for x ≤ 0."""
    c = rng.uniform(0.1, 10.0)
    return Line(
        lambda x: c * x - math.log(x) if x > 0 else math.nan,
        lambda x: c - 1 / x if x > 0 else math.nan,
    )


def wall(rng):
    """A parabola that becomes infinite at a distance."""
    end = rng.uniform(5.0, 6.0)
    return Line(
        lambda x: x * x if abs(x) < end else math.inf, lambda x: 2 * x if abs(x) < end else math.nan
    )


@pytest.mark.parametrize("family", [bounded_polynomial, exponentials, wavy, log_barrier, wall])
def test_both_conditions_hold_on_many_functions(family):
    rng = np.random.default_rng(0)
    counts = []
    for _ in range(300):
        line, x = family(rng), rng.uniform(0.01, 5.0)
        (slope,) = line.value_and_gradient(np.array([x]))[1]
        first, downhill = 10.0 ** rng.uniform(-4, 4), -math.copysign(1.0, slope)
        point, problem = search(line, x, first=first, direction=downhill)
        assert_strong_wolfe(line, x, point)
        counts.append(problem.gradients)
    assert max(counts) <= TRIALS
    assert np.median(counts) <= 6


@pytest.mark.parametrize("off", [0.01, 1.0, 100.0])
def test_few_evaluations_on_quadratics(off):
    counts = []
    for curvature in np.geomspace(1e-6, 1e6, 50):
        line = Line(lambda x, c=curvature: 0.5 * c * x * x, lambda x, c=curvature: c * x)
        point, problem = search(line, 3.0, first=off / curvature)
        assert_strong_wolfe(line, 3.0, point)
        counts.append(problem.gradients)
    assert np.median(counts) <= (1 if off == 1.0 else 3)


def test_one_trial_by_hand():
    # φ = ½x² from 1 along −1: α = 1 lands at the minimum, φ′ = 0, and is taken at once.
    point, problem = search(Line(lambda x: 0.5 * x * x, lambda x: x), 1.0)
    assert (point.step, point.value, point.slope, point.w[0]) == (1.0, 0.0, 0.0, 0.0)
    assert problem.gradients == 1


def test_a_flat_shelf_that_is_hardly_lower_is_not_enough():
    # −x·e⁻ˣ at 12: the slope is flat, but the value fell by 7e-5 where 12·10⁻⁴ is asked for.
    line = Line(lambda x: -x * math.exp(-x), lambda x: (x - 1) * math.exp(-x))
    point, problem = search(line, 0.0, first=12.0)
    assert_strong_wolfe(line, 0.0, point)
    assert problem.gradients > 1


@pytest.mark.parametrize("direction", [1.0, 0.0, math.nan])
def test_a_direction_that_does_not_descend_gives_none_for_free(direction):
    point, problem = search(Line(lambda x: x, lambda x: 1.0), 0.0, direction=direction)
    assert point is None
    assert problem.gradients == 0


def test_none_where_nothing_decreases():
    # The slope promises what the values do not keep.
    point, problem = search(Line(lambda x: abs(x), lambda x: -1.0), 0.0)
    assert point is None
    assert problem.gradients == TRIALS


def test_kinks_give_the_best_point_with_sufficient_decrease():
    # |x − a| − a: the slope never flattens, so the curvature condition cannot be met.
    for a in np.random.default_rng(0).uniform(0.1, 10.0, 200):
        line = Line(lambda x, a=a: abs(x - a) - a, lambda x, a=a: 1.0 if x > a else -1.0)
        point, _ = search(line, 0.0)
        assert point.value <= DECREASE * point.step * -1.0
        assert point.value == pytest.approx(-a, abs=1e-6)


def test_an_unbounded_line_is_followed_until_the_trials_run_out():
    point, problem = search(Line(lambda x: -x, lambda x: -1.0), 0.0)
    assert problem.gradients == TRIALS
    assert point.step > 1e20
    assert point.value == -point.step


@pytest.mark.parametrize("curvature", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("off", [0.01, 1.0, 100.0])
def test_float32_stays_and_works(curvature, off):
    line = Line(lambda x: np.float32(0.5 * curvature) * x * x, lambda x: np.float32(curvature) * x)
    point, _ = search(line, 3.0, first=off / curvature, dtype=np.float32)
    assert point.w.dtype == point.gradient.dtype == np.float32
    assert abs(point.slope) <= CURVATURE * (3.0 * curvature) ** 2 * (1 + 1e-6)
    assert point.value < 0.5 * curvature * 9.0


@pytest.mark.parametrize("first", [0.1, 1.0, 1.9])
@pytest.mark.parametrize(("dtype", "away"), [(np.float64, 1e-6), (np.float32, 1e-3)])
def test_near_a_minimum_slopes_decide_where_values_cannot(first, dtype, away):
    # 1e8 + ½x²: values around the minimum are all the same number.
    line = Line(lambda x: dtype(1e8) + dtype(0.5) * x * x, lambda x: x)
    assert line.value_and_gradient([dtype(away)])[0] == 1e8
    point, problem = search(line, away, first=first, dtype=dtype)
    assert abs(point.w[0]) <= 0.9 * away * (1 + 1e-6)
    assert problem.gradients == 1


def test_a_rise_within_rounding_is_no_rise_where_the_slope_has_flattened():
    # Away from the start every value is one ulp too high, as an unlucky sum may be.
    higher = math.nextafter(1e8, math.inf)
    line = Line(lambda x: 1e8 if x == 1e-6 else higher, lambda x: x)
    point, problem = search(line, 1e-6, first=0.5)
    assert point.w[0] == 0.5e-6
    assert problem.gradients == 1


def test_a_rise_hidden_by_rounding_is_refused_by_its_slope():
    line = Line(lambda x: 1e8 + 0.5 * float(x) ** 2, lambda x: x)
    point, problem = search(line, 1e-6, first=2.5)  # to the other side, 1.5 times as far out
    assert abs(point.w[0]) <= 1e-6
    assert problem.gradients > 1


def test_works_along_a_direction_in_many_variables():
    surface = tw.surfaces.Rosenbrock(dim=10)
    rng = np.random.default_rng(3)
    problem = Problem(surface, 10, np.dtype(np.float64))
    for _ in range(50):
        w = rng.uniform(-2, 2, 10)
        start = problem.point(w)
        value, gradient = start.value, start.gradient
        direction = -gradient * rng.uniform(0.1, 10.0, 10)
        point = StrongWolfe()(lines.Line(problem, start, direction), first_trial(gradient))
        slope = gradient @ direction
        step = (point.w - w) @ direction / (direction @ direction)
        np.testing.assert_allclose(point.w, w + step * direction, atol=1e-14)
        assert point.value == surface.value(point.w)
        assert point.value <= value + DECREASE * step * slope
        assert abs(surface.gradient(point.w) @ direction) <= CURVATURE * abs(slope)


def test_slopes_beyond_the_range_of_float32_are_no_obstacle():
    # φ′(0)² = 10⁴⁰ is no float32, though every gradient on the way is one.
    line = Line(lambda x: 5e19 * float(x) ** 2, lambda x: np.float32(1e20) * x)
    point, _ = search(line, 1.0, first=1e-20, dtype=np.float32)
    assert abs(point.w[0]) <= 0.9
    assert first_trial(np.array([1e20], dtype=np.float32)) == pytest.approx(1e-20)


def test_a_trial_that_overflows_is_shortened():
    line = Line(lambda x: float(x) ** 4, lambda x: 4 * x**3)
    point, _ = search(line, 2.0, first=1e20, dtype=np.float32)
    assert abs(point.slope) <= CURVATURE * 32.0**2


def test_the_first_trial_moves_by_at_most_one():
    assert first_trial(np.array([3.0, 4.0])) == 0.2
    assert first_trial(np.array([0.03, 0.04])) == 1.0


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"decrease": 0.5}, r"decrease must be in \(0, 0.5\), got 0.5"),
        ({"curvature": 1.0}, r"curvature must be in \(0.0001, 1\), got 1.0"),
        ({"decrease": 0.3, "curvature": 0.2}, r"curvature must be in \(0.3, 1\), got 0.2"),
        ({"trials": 0}, "trials must be a whole number, at least 1, got 0"),
    ],
)
def test_its_numbers_have_limits(options, says):
    with pytest.raises(tw.InputError, match=says):
        StrongWolfe(**options)


@pytest.mark.parametrize("curvature", [0.5, 0.01])
def test_a_smaller_curvature_leaves_a_flatter_slope(curvature):
    surface, w = tw.surfaces.Rosenbrock(), np.array([-1.2, 1.0])
    problem = Problem(surface, 2, w.dtype)
    start = problem.point(w)
    line = lines.Line(problem, start, -start.gradient)
    found = StrongWolfe(curvature=curvature)(line, first_trial(start.gradient))
    assert abs(found.gradient @ start.gradient) <= curvature * (start.gradient @ start.gradient)
