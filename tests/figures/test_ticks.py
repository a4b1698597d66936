import numpy as np
import pytest

from thalweg.figures.ticks import power_of_ten, span, ticks, written


def labels(*arguments, **options):
    return [label for _, label in ticks(*arguments, **options)]


def test_linear_by_hand():
    assert ticks(0.0, 10.0, "linear", most=5) == [
        (0.0, "0"), (2.0, "2"), (4.0, "4"), (6.0, "6"), (8.0, "8"), (10.0, "10"),
    ]  # fmt: skip
    assert labels(-1.0, 1.0, "linear", most=4) == ["−1", "−0.5", "0", "0.5", "1"]
    assert labels(0.0, 5000.0, "linear", most=5)[1] == "1,000"


def test_log_by_hand():
    assert labels(1e-6, 1.0, "log", most=7) == ["10⁻⁶", "10⁻⁵", "10⁻⁴", "10⁻³", "10⁻²", "10⁻¹", "1"]
    assert labels(1e-6, 1.0, "log", most=4) == ["10⁻⁶", "10⁻⁴", "10⁻²", "1"]
    assert labels(2.0, 40.0, "log", most=6) == ["2", "5", "10", "20"]
    assert labels(2.1, 4.9, "log", most=6) == ["2.5", "3", "3.5", "4", "4.5"]
    assert labels(1e-300, 1e300, "log", most=4) == ["10⁻²⁰⁰", "1", "10²⁰⁰"]


@pytest.mark.parametrize("scale", ["linear", "log"])
@pytest.mark.parametrize("seed", range(40))
def test_ticks_are_few_inside_and_told_apart(scale, seed):
    rng = np.random.default_rng(seed)
    low = 10.0 ** rng.uniform(-12, 8)
    high = low * (1 + 10.0 ** rng.uniform(-3, 12))
    most = int(rng.integers(2, 9))
    found = ticks(low, high, scale, most=most)
    places, names = [place for place, _ in found], [name for _, name in found]
    slack = 1e-8 * (high - low)
    assert 1 <= len(found) <= most + 1
    assert all(low - slack <= place <= high + slack for place in places)
    assert len(set(names)) == len(names)


def test_written_by_hand():
    assert written(0.0, 1.0) == "0"
    assert written(2.5e7, 1e6) == "2.5·10⁷"
    assert written(-1e-5, 1e-5) == "−10⁻⁵"
    assert power_of_ten(3) == "1,000"
    assert power_of_ten(-12) == "10⁻¹²"


def test_a_span_holds_what_the_axis_can_show():
    low, high = span([np.array([1.0, np.nan, np.inf, 11.0])], "linear", None, None)
    assert (low, high) == pytest.approx((0.6, 11.4))
    low, high = span([np.array([-1.0, 0.0, 1e-2, 1e2])], "log", None, None)
    assert np.log10([low, high]).tolist() == pytest.approx([-2.16, 2.16])
    assert span([np.array([5.0])], "linear", 0.0, 9.0) == (0.0, 9.0)


@pytest.mark.parametrize("scale", ["linear", "log"])
@pytest.mark.parametrize("numbers", [[], [np.nan], [3.0, 3.0], [0.0], [-1.7e308, 1.7e308]])
def test_any_numbers_have_a_range(scale, numbers):
    low, high = span([np.array(numbers)], scale, None, None)
    assert np.isfinite([low, high]).all()
    assert low < high
    assert ticks(low, high, scale)
