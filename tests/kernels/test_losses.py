import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from scipy.optimize import minimize

from linear_data import BOUNDED
from thalweg.kernels.compile import kernel
from thalweg.kernels.losses import (
    HUBER,
    LOGISTIC,
    LOSSES,
    MULTINOMIAL,
    SQUARED,
    SQUARED_HINGE,
    curvature_bound,
    loss_at,
    loss_conjugate,
    loss_curvature,
    loss_slope,
    loss_value,
    loss_value_and_slope,
    multinomial_conjugate,
    multinomial_probabilities,
    multinomial_value,
    multinomial_value_and_slope,
    slopes_at,
)

ONE_SCORE = {name: LOSSES[name] for name in BOUNDED if name != "multinomial"}

DELTA = 0.7
EPS = np.finfo(float).eps
every_loss = pytest.mark.parametrize("code", ONE_SCORE.values(), ids=ONE_SCORE.keys())
classification = pytest.mark.parametrize("y", [-1.0, 1.0])

# The definitions, on arrays of scores.
DEFINITIONS = {
    SQUARED: lambda z, y: (z - y) ** 2 / 2,
    LOGISTIC: lambda z, y: np.log(1 + np.exp(-y * z)),
    SQUARED_HINGE: lambda z, y: np.maximum(0, 1 - y * z) ** 2 / 2,
    HUBER: lambda z, y: np.where(
        np.abs(z - y) <= DELTA, (z - y) ** 2 / 2, DELTA * np.abs(z - y) - DELTA**2 / 2
    ),
}


def same(expected):
    """Equal but for rounding: what one caller fuses or adds in another order, another does not."""
    return pytest.approx(expected, rel=4 * EPS, abs=0)


def samples(code, count=200, seed=3):
    """Random pairs of a score and a target that the loss accepts."""
    rng = np.random.default_rng(seed)
    y = rng.standard_normal(count)
    if code in (LOGISTIC, SQUARED_HINGE):
        y = np.sign(y)
    return zip((4 * rng.standard_normal(count)).tolist(), y.tolist(), strict=True)


def distance_to_kink(code, z, y):
    """How far `z` is from where the slope has no derivative."""
    if code == SQUARED_HINGE:
        return abs(1 - y * z)
    return abs(abs(z - y) - DELTA) if code == HUBER else np.inf


def domain(code, y):
    """The ends of the interval where the conjugate is finite."""
    if code == LOGISTIC:
        return min(-y, 0.0), max(-y, 0.0)
    if code == SQUARED_HINGE:
        return (-np.inf, 0.0) if y > 0 else (0.0, np.inf)
    return (-DELTA, DELTA) if code == HUBER else (-np.inf, np.inf)


def test_names_and_codes():
    assert list(BOUNDED) == ["squared", "logistic", "squared-hinge", "huber", "multinomial"]
    assert list(LOSSES) == [*BOUNDED, "poisson", "gamma", "tweedie"]
    assert list(LOSSES.values()) == list(range(8))
    assert [SQUARED, LOGISTIC, SQUARED_HINGE, HUBER] == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("code", "z", "y", "value", "slope", "curvature"),
    [
        (SQUARED, 3.0, 1.0, 2.0, 2.0, 1.0),
        (LOGISTIC, 0.0, -1.0, math.log(2), 0.5, 0.25),
        (LOGISTIC, math.log(3), 1.0, math.log(4 / 3), -0.25, 0.1875),
        (LOGISTIC, math.log(3), -1.0, math.log(4), 0.75, 0.1875),
        (SQUARED_HINGE, -1.0, 1.0, 2.0, -2.0, 1.0),
        (SQUARED_HINGE, 1.0, -1.0, 2.0, 2.0, 1.0),
        (SQUARED_HINGE, 1.0, 1.0, 0.0, 0.0, 0.0),
        (SQUARED_HINGE, 2.0, 1.0, 0.0, 0.0, 0.0),
        (HUBER, 1.25, 1.0, 0.03125, 0.25, 1.0),
        (HUBER, 1.5, 1.0, 0.125, 0.5, 1.0),
        (HUBER, 3.0, 1.0, 0.875, 0.5, 0.0),
        (HUBER, -1.0, 1.0, 0.875, -0.5, 0.0),
    ],
)
def test_by_hand(code, z, y, value, slope, curvature):
    close = {"rel": 2 * EPS, "abs": 0.0}
    assert loss_value(code, z, y, 0.5) == pytest.approx(value, **close)
    assert loss_slope(code, z, y, 0.5) == pytest.approx(slope, **close)
    assert loss_curvature(code, z, y, 0.5) == pytest.approx(curvature, **close)


@pytest.mark.parametrize(
    ("code", "theta", "y", "conjugate"),
    [
        (SQUARED, 2.0, 3.0, 8.0),
        (LOGISTIC, 0.5, -1.0, -math.log(2)),
        (LOGISTIC, -0.25, 1.0, 0.25 * math.log(0.25) + 0.75 * math.log(0.75)),
        (SQUARED_HINGE, -1.0, 1.0, -0.5),
        (SQUARED_HINGE, 3.0, -1.0, 1.5),
        (HUBER, -0.5, 3.0, -1.375),
    ],
)
def test_conjugate_by_hand(code, theta, y, conjugate):
    assert loss_conjugate(code, theta, y, 0.5) == pytest.approx(conjugate, rel=2 * EPS, abs=0)


@every_loss
def test_value_is_the_definition(code):
    for z, y in samples(code):
        expected = DEFINITIONS[code](z, y)
        assert loss_value(code, z, y, DELTA) == pytest.approx(expected, rel=1e-12, abs=1e-15)


@every_loss
def test_slope_is_the_difference_of_values(code):
    h = 1e-5  # the values are up to 100: with a smaller h their rounding would show
    for z, y in samples(code):
        rise = loss_value(code, z + h, y, DELTA) - loss_value(code, z - h, y, DELTA)
        assert loss_slope(code, z, y, DELTA) == pytest.approx(rise / (2 * h), abs=1e-8)


@every_loss
def test_curvature_is_the_difference_of_slopes_away_from_kinks(code):
    h = 1e-6
    for z, y in samples(code):
        if distance_to_kink(code, z, y) > h:
            rise = loss_slope(code, z + h, y, DELTA) - loss_slope(code, z - h, y, DELTA)
            assert loss_curvature(code, z, y, DELTA) == pytest.approx(rise / (2 * h), abs=1e-8)


@every_loss
def test_both_together_are_the_value_and_the_slope(code):
    for z, y in samples(code):
        both = loss_value(code, z, y, DELTA), loss_slope(code, z, y, DELTA)
        assert loss_value_and_slope(code, z, y, DELTA) == both


@every_loss
def test_curvature_bound_is_respected_and_attained(code):
    curvatures = [loss_curvature(code, z, y, DELTA) for z, y in [*samples(code), (0.0, 1.0)]]
    assert min(curvatures) >= 0
    assert max(curvatures) == curvature_bound(code)


@every_loss
def test_slope_is_lipschitz_with_the_bound(code):
    for (z, y), (other, _) in zip(samples(code), samples(code, seed=4), strict=True):
        rise = loss_slope(code, z, y, DELTA) - loss_slope(code, other, y, DELTA)
        assert abs(rise) <= curvature_bound(code) * abs(z - other) + 1e-14


@every_loss
def test_fenchel_young(code):
    rng = np.random.default_rng(5)
    inside = outside = 0
    for z, y in samples(code):
        value, slope = loss_value_and_slope(code, z, y, DELTA)
        at_slope = loss_conjugate(code, slope, y, DELTA)
        assert value + at_slope == pytest.approx(z * slope, rel=1e-13, abs=1e-13)
        theta = 1.5 * rng.standard_normal()
        conjugate = loss_conjugate(code, theta, y, DELTA)
        low, high = domain(code, y)
        assert (conjugate < np.inf) == (low <= theta <= high)
        assert value + conjugate >= z * theta - 1e-13
        inside, outside = inside + (conjugate < np.inf), outside + (conjugate == np.inf)
    assert inside > 20
    assert outside > 20 or code == SQUARED


@every_loss
def test_conjugate_is_the_supremum(code):
    grid = np.linspace(-12, 12, 48_001)
    for _, y in samples(code, count=20):
        low, high = np.clip(domain(code, y), -4, 4)
        for theta in low + (high - low) * np.array([0.01, 0.2, 0.5, 0.9, 0.99]):
            expected = np.max(theta * grid - DEFINITIONS[code](grid, y))
            # A grid of spacing h misses the top by at most h²/8.
            assert loss_conjugate(code, theta, y, DELTA) == pytest.approx(expected, abs=1e-7)


@every_loss
@classification
def test_conjugate_at_the_edge_of_its_domain_and_beyond(code, y):
    for end, away in zip(domain(code, y), (-np.inf, np.inf), strict=True):
        if np.isfinite(end):
            expected = 0.0 if code == LOGISTIC else y * end + end**2 / 2
            assert loss_conjugate(code, end, y, DELTA) == pytest.approx(expected, rel=EPS, abs=0)
            assert loss_conjugate(code, np.nextafter(end, away), y, DELTA) == np.inf


@classification
@pytest.mark.parametrize("size", [1e3, 1e300])
@pytest.mark.parametrize("form", [lambda f: f, lambda f: f.py_func], ids=["compiled", "plain"])
def test_extreme_scores(form, size, y):
    value, slope, curvature = form(loss_value), form(loss_slope), form(loss_curvature)
    both = form(loss_value_and_slope)
    for code in ONE_SCORE.values():
        for z in (-size, size):
            correct = z * y > 0
            expected_value, expected_slope, expected_curvature = {
                SQUARED: ((z - y) * (z - y) / 2, z - y, 1),
                LOGISTIC: (0 if correct else size, 0 if correct else -y, 0),
                SQUARED_HINGE: (
                    0 if correct else (1 + size) * (1 + size) / 2,
                    0 if correct else -y * (1 + size),
                    0 if correct else 1,
                ),
                HUBER: (
                    DELTA * (abs(z - y) - DELTA / 2),
                    math.copysign(DELTA, z),
                    0,
                ),
            }[code]
            assert slope(code, z, y, DELTA) == expected_slope
            assert curvature(code, z, y, DELTA) == expected_curvature
            if np.isfinite(expected_value):  # the square of 10³⁰⁰ has no float64
                assert value(code, z, y, DELTA) == pytest.approx(expected_value, rel=2 * EPS, abs=0)
                assert both(code, z, y, DELTA) == same((expected_value, expected_slope))


@classification
@pytest.mark.parametrize("margin", [-700.0, -40.0, -1.5, 1e-9, 0.3, 5.0, 20.0, 37.5, 100.0, 700.0])
def test_logistic_keeps_all_digits_of_small_losses_and_slopes(margin, y):
    with localcontext(prec=700):  # 1 + e^(−m) must keep an e^(−m) of 10⁻³⁰⁴
        e = (-Decimal(margin)).exp()
        value, slope = float((1 + e).ln()), -y * float(e / (1 + e))
        curvature = float(e / (1 + e) ** 2)
    got = loss_value_and_slope(LOGISTIC, y * margin, y, DELTA)
    assert got == pytest.approx((value, slope), rel=4 * EPS, abs=0)
    assert loss_curvature(LOGISTIC, y * margin, y, DELTA) == pytest.approx(
        curvature, rel=4 * EPS, abs=0
    )


@pytest.mark.parametrize("q", [1e-300, 1e-20, 0.3, 1 - 2**-53])
@classification
def test_logistic_conjugate_keeps_all_digits(q, y):
    with localcontext(prec=400):
        exact = Decimal(q)
        expected = float(exact * exact.ln() + (1 - exact) * (1 - exact).ln())
    assert loss_conjugate(LOGISTIC, -y * q, y, DELTA) == pytest.approx(expected, rel=4 * EPS, abs=0)


@every_loss
def test_nan_and_infinity_are_not_hidden(code):
    assert np.isnan(loss_value_and_slope(code, np.nan, 1.0, DELTA)).all()
    assert np.isnan(loss_conjugate(code, np.nan, 1.0, DELTA))
    assert loss_value(code, -np.inf, 1.0, DELTA) == np.inf


@every_loss
def test_float32_arguments_are_computed_in_float64(code):
    for z, y in samples(code):
        z32, y32 = np.float32(z), np.float32(y)
        wide = float(z32), float(y32)
        for function in (loss_value, loss_slope, loss_curvature, loss_value_and_slope):
            assert function(code, z32, y32, DELTA) == same(function(code, *wide, DELTA))
        assert loss_conjugate(code, z32, y32, DELTA) == same(loss_conjugate(code, *wide, DELTA))
    assert loss_value(code, np.float32(-1e30), np.float32(1), DELTA) > 1e29


@every_loss
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_compiled_is_the_plain_function(code, dtype):
    for z, y in samples(code):
        arguments = code, dtype(z), dtype(y), DELTA
        for function in (loss_value, loss_slope, loss_curvature, loss_value_and_slope):
            expected = function.py_func(*arguments)
            np.testing.assert_allclose(function(*arguments), expected, rtol=2 * EPS, atol=0)
        expected = loss_conjugate.py_func(*arguments)
        np.testing.assert_allclose(loss_conjugate(*arguments), expected, rtol=2 * EPS, atol=0)


@kernel
def mean_and_slopes(code, scores, targets, delta, slopes):
    total = 0.0
    for i in range(scores.size):
        value, slopes[i] = loss_value_and_slope(code, scores[i], targets[i], delta)
        total += value
    return total / scores.size


def test_one_compiled_caller_serves_every_loss():
    for code in ONE_SCORE.values():
        z, y = np.array(list(samples(code))).T.copy()
        slopes = np.empty_like(z)
        mean = mean_and_slopes(code, z, y, DELTA, slopes)
        assert mean == pytest.approx(DEFINITIONS[code](z, y).mean(), rel=1e-12)
        assert slopes == same([loss_slope(code, *pair, DELTA) for pair in samples(code)])
    assert len(mean_and_slopes.signatures) == 1


def multinomial_samples(classes, count=50, scale=3.0):
    """Random scores, each with a label."""
    rng = np.random.default_rng(6)
    return [
        (scale * rng.standard_normal(classes), int(label))
        for label in rng.integers(classes, size=count)
    ]


def softmax(scores):
    return np.exp(scores) / np.exp(scores).sum()


def value_and_slope(scores, label):
    slope = np.empty_like(scores)
    return multinomial_value_and_slope(scores, label, slope), slope


def test_multinomial_by_hand():
    scores = np.log([1.0, 2.0, 5.0])
    value, slope = value_and_slope(scores, 1)
    assert multinomial_value(scores, 1) == value == pytest.approx(math.log(4), rel=2 * EPS)
    np.testing.assert_allclose(slope, [0.125, -0.75, 0.625], rtol=4 * EPS)
    entropy = 0.125 * math.log(0.125) + 0.25 * math.log(0.25) + 0.625 * math.log(0.625)
    assert multinomial_conjugate(np.array([0.125, -0.75, 0.625]), 1) == pytest.approx(entropy)


@pytest.mark.parametrize("classes", [1, 2, 3, 10])
def test_multinomial_is_the_definition(classes):
    for scores, label in multinomial_samples(classes):
        p = softmax(scores)
        probabilities = np.empty(classes)
        multinomial_probabilities(scores, probabilities)
        np.testing.assert_allclose(probabilities, p, rtol=1e-13)
        assert probabilities.sum() == pytest.approx(1, rel=4 * EPS)
        value, slope = value_and_slope(scores, label)
        assert value == multinomial_value(scores, label)
        assert value == pytest.approx(np.log(np.exp(scores).sum()) - scores[label], abs=1e-13)
        np.testing.assert_allclose(slope, p - np.eye(classes)[label], atol=1e-14)
        assert slope.sum() == pytest.approx(0, abs=4 * EPS)


@pytest.mark.parametrize("label", [0, 1])
def test_two_classes_are_logistic_in_the_difference_of_scores(label):
    y = 1.0 if label == 0 else -1.0
    rng = np.random.default_rng(7)
    # Multiples of 1/8, so that the difference of two scores is exact.
    for first, second in rng.integers(-800, 800, size=(200, 2)) / 8:
        expected, slope = loss_value_and_slope(LOGISTIC, first - second, y, DELTA)
        value, slopes = value_and_slope(np.array([first, second]), label)
        assert value == pytest.approx(expected, rel=4 * EPS, abs=0)
        np.testing.assert_allclose(slopes, [slope, -slope], rtol=4 * EPS, atol=0)


@pytest.mark.parametrize("q", [0.0, 1e-300, 1e-20, 0.3, 1.0])
def test_two_classes_have_the_logistic_conjugate(q):
    expected = loss_conjugate(LOGISTIC, -q, 1.0, DELTA)
    got = multinomial_conjugate(np.array([-q, q]), 0)
    assert got == pytest.approx(expected, rel=4 * EPS, abs=0)


def test_multinomial_slope_is_the_difference_of_values():
    h = 1e-6
    for scores, label in multinomial_samples(4):
        _, slope = value_and_slope(scores, label)
        for k, step in enumerate(h * np.eye(4)):
            rise = multinomial_value(scores + step, label) - multinomial_value(scores - step, label)
            assert slope[k] == pytest.approx(rise / (2 * h), abs=1e-8)


def test_multinomial_curvature_bound_is_respected_and_attained():
    def largest_eigenvalue(scores):
        h = 1e-5
        rises = [
            value_and_slope(scores + step, 0)[1] - value_and_slope(scores - step, 0)[1]
            for step in h * np.eye(scores.size)
        ]
        return np.linalg.eigvalsh(np.array(rises) / (2 * h)).max()

    for scores, _ in multinomial_samples(5):
        assert largest_eigenvalue(scores) <= curvature_bound(MULTINOMIAL)
    attained = largest_eigenvalue(np.array([0.0, 0.0, -1e3, -1e3]))
    assert attained == pytest.approx(curvature_bound(MULTINOMIAL), rel=1e-9)


@pytest.mark.parametrize("classes", [1, 2, 3, 10])
def test_multinomial_fenchel_young(classes):
    rng = np.random.default_rng(8)
    for scores, label in multinomial_samples(classes):
        value, slope = value_and_slope(scores, label)
        at_slope = multinomial_conjugate(slope, label)
        assert value + at_slope == pytest.approx(scores @ slope, rel=1e-13, abs=1e-13)
        theta = rng.dirichlet(np.ones(classes)) - np.eye(classes)[label]
        assert value + multinomial_conjugate(theta, label) >= scores @ theta - 1e-13


def test_multinomial_conjugate_is_the_supremum():
    rng = np.random.default_rng(9)
    for label in (0, 1, 3):
        target = np.eye(4)[label]
        theta = rng.dirichlet(np.ones(4)) - target
        best = minimize(
            lambda s, theta=theta, label=label: np.log(np.exp(s).sum()) - s[label] - theta @ s,
            np.zeros(4),
            jac=lambda s, theta=theta, target=target: softmax(s) - target - theta,
        )
        assert multinomial_conjugate(theta, label) == pytest.approx(-best.fun, abs=1e-8)


def test_multinomial_conjugate_at_the_edge_of_its_domain_and_beyond():
    corner = np.array([1.0, -1.0, 0.0])
    assert multinomial_conjugate(np.zeros(3), 1) == 0
    assert multinomial_conjugate(corner, 1) == 0
    assert multinomial_conjugate(np.array([0.5, -0.5, 0.0]), 1) == same(-math.log(2))
    rounding = np.array([1e-12, 0.0, -1e-12])
    assert multinomial_conjugate(corner + rounding, 1) == pytest.approx(0, abs=1e-11)
    assert multinomial_conjugate(corner + 10 * rounding, 1) == np.inf
    for error in (-1e-11, 1e-11):
        assert multinomial_conjugate(corner + np.array([error, 0, 0]), 1) == np.inf
    assert multinomial_conjugate(np.array([0.6, -0.5, -0.1]), 1) == np.inf


@pytest.mark.parametrize("form", [lambda f: f, lambda f: f.py_func], ids=["compiled", "plain"])
@pytest.mark.parametrize("size", [1e3, 1e300])
def test_multinomial_extreme_scores(form, size):
    scores, out = np.array([-size, size, 0.0]), np.empty(3)
    assert [form(multinomial_value)(scores, label) for label in range(3)] == [2 * size, 0, size]
    form(multinomial_probabilities)(scores, out)
    assert out.tolist() == [0, 1, 0]
    assert form(multinomial_value_and_slope)(scores, 0, out) == 2 * size
    assert out.tolist() == [-1, 1, 0]


@pytest.mark.parametrize("position", [0, 1, 2])
def test_multinomial_nan_is_not_hidden(position):
    scores = np.array([1.0, 3.0, 2.0])
    scores[position] = np.nan
    value, slope = value_and_slope(scores, 1)
    assert np.isnan(multinomial_value(scores, 1))
    assert np.isnan(value)
    assert np.isnan(slope).all()
    assert np.isnan(multinomial_conjugate(scores - scores, 1))


def test_multinomial_may_overwrite_the_scores():
    for scores, label in multinomial_samples(4):
        overwritten, out = scores.copy(), np.empty(4)
        multinomial_probabilities(scores, out)
        multinomial_probabilities(overwritten, overwritten)
        assert overwritten == same(out)
        value, slope = value_and_slope(scores, label)
        overwritten = scores.copy()
        assert multinomial_value_and_slope(overwritten, label, overwritten) == same(value)
        assert overwritten == same(slope)


def test_multinomial_float32_scores_are_computed_in_float64():
    for scores, label in multinomial_samples(4):
        narrow = scores.astype(np.float32)
        wide = narrow.astype(np.float64)
        assert multinomial_value(narrow, label) == same(multinomial_value(wide, label))
        value, slope = value_and_slope(wide, label)
        got, narrow_slope = value_and_slope(narrow, label)
        assert got == same(value)
        assert narrow_slope.dtype == np.float32
        np.testing.assert_array_max_ulp(narrow_slope, slope.astype(np.float32), maxulp=2)


def test_multinomial_compiled_is_the_plain_function():
    for scores, label in multinomial_samples(4):
        value, slope = value_and_slope(scores, label)
        assert multinomial_value.py_func(scores, label) == pytest.approx(value, rel=4 * EPS, abs=0)
        out = np.empty(4)
        plain = multinomial_value_and_slope.py_func(scores, label, out)
        assert plain == pytest.approx(value, rel=4 * EPS, abs=0)
        np.testing.assert_allclose(out, slope, rtol=4 * EPS, atol=0)
        assert multinomial_conjugate.py_func(slope, label) == pytest.approx(
            multinomial_conjugate(slope, label), rel=4 * EPS, abs=0
        )
        multinomial_probabilities(scores, slope)
        multinomial_probabilities.py_func(scores, out)
        np.testing.assert_allclose(out, slope, rtol=4 * EPS, atol=0)


@every_loss
def test_losses_and_slopes_at_a_single_score(code):
    for z, y in samples(code):
        scores, out = np.array([z]), np.array([np.nan])
        assert loss_at(code, scores, y, DELTA) == same(loss_value(code, z, y, DELTA))
        slopes_at(code, scores, y, DELTA, out)
        assert out[0] == same(loss_slope(code, z, y, DELTA))
        assert scores[0] == z
        slopes_at(code, scores, y, DELTA, scores)  # it may overwrite the scores
        assert scores[0] == same(out[0])


def test_losses_and_slopes_at_the_scores_of_classes():
    for scores, label in multinomial_samples(4):
        value, slope = value_and_slope(scores, label)
        out = np.full(4, np.nan)
        assert loss_at(MULTINOMIAL, scores, float(label), DELTA) == same(value)
        slopes_at(MULTINOMIAL, scores, float(label), DELTA, out)
        assert out == same(slope)
        slopes_at(MULTINOMIAL, scores, float(label), DELTA, scores)
        assert scores == same(slope)
