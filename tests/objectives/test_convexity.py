import numpy as np
import pytest

from thalweg.core.errors import InputError
from thalweg.objectives.convexity import PairCheck, check_convex, check_smooth
from thalweg.objectives.function import Objective
from thalweg.objectives.regularized import Regularized
from thalweg.objectives.surfaces import (
    SURFACES,
    Cliff,
    MonkeySaddle,
    Plateau,
    Quadratic,
    Rosenbrock,
)

CONVEX = {"quadratic", "cliff"}


def bregman(f, x1, x2):
    """f(x₁) − f(x₂) − ∇f(x₂)ᵀ(x₁ − x₂), zero or more for all pairs of a convex function."""
    return f.value(x1) - f.value(x2) - f.gradient(x2) @ (x1 - x2)


def dented_bowl(width, dim):
    """½‖w‖² with a Gaussian dent: its rim, about `width` wide, is not convex."""
    c = np.linspace(0.3, 0.4, dim)

    def dent(w):
        return np.exp(-np.sum((w - c) ** 2) / (2 * width**2))

    return Objective(
        lambda w: 0.5 * (w @ w) - 5 * width**2 * dent(w),
        lambda w: w + 5 * (w - c) * dent(w),
        dim=dim,
    )


@pytest.mark.parametrize("name", SURFACES)
def test_verdict_on_every_surface(name):
    surface = SURFACES[name]()
    check = check_convex(surface, samples=150)
    assert check.holds is (name in CONVEX)
    if check.holds:
        assert check.pair is None
        assert check.worst_slack >= 0
    else:
        # The pair is its own proof, by the definition.
        x1, x2 = check.pair
        assert bregman(surface, x1, x2) < 0
        assert check.left - check.right == pytest.approx(bregman(surface, x1, x2), rel=1e-6)
        assert check.worst_slack < 0
        low, high = surface.bounds.T
        assert all(((low <= x) & (x <= high)).all() for x in check.pair)


@pytest.mark.parametrize("name", [name for name, make in SURFACES.items() if make().smoothness])
def test_stated_smoothness_survives_and_less_does_not(name):
    surface = SURFACES[name]()
    assert check_smooth(surface, samples=300).holds is True
    less = check_smooth(surface, 0.98 * surface.smoothness, samples=300)
    assert less.holds is False
    x1, x2 = less.pair
    change = np.linalg.norm(surface.gradient(x1) - surface.gradient(x2))
    rise = bregman(surface, x1, x2)
    distance = np.linalg.norm(x1 - x2)
    L = 0.98 * surface.smoothness
    assert change > L * distance or rise > 0.5 * L * distance**2


def test_strong_convexity_is_tight():
    q = Quadratic.conditioned(1e3, 5, rotation="random")
    assert check_convex(q, strong_convexity=1e-3, samples=150).holds is True
    assert check_convex(q, strong_convexity=1.01e-3, samples=150).holds is False
    assert check_convex(q, samples=150).measured == pytest.approx(1e-3, rel=1e-6)


def test_without_an_l_it_measures_one():
    # The curvature is ±6‖w‖, largest at a corner of the box.
    check = check_smooth(MonkeySaddle())
    assert check.holds is None
    assert check.pair is None
    assert check.worst_pair is not None
    assert np.isnan(check.worst_slack)
    largest = 6 * np.hypot(1.5, 1.5)
    assert 0.99 * largest < check.measured <= largest * (1 + 1e-6)
    assert "L is at least 12.7" in str(check)


@pytest.mark.parametrize("dim", [1, 2])
@pytest.mark.parametrize("width", [0.1, 0.01])
def test_narrow_regions_are_found(width, dim):
    assert check_convex(dented_bowl(width, dim)).holds is False


def test_bounds_decide():
    # Convex within its radius, not beyond.
    f = Plateau(radius=1.0)
    inside = np.full((2, 2), [-0.7, 0.7])
    assert check_convex(f, bounds=inside, samples=150).holds is True
    assert check_convex(f, bounds=(-2.0, 2.0), samples=150).holds is False


def test_rounding_is_not_a_violation():
    # A straight line far from zero: f(x₁) and its linear model differ by rounding alone.
    line = Objective(lambda w: 1e8 + 3 * w[0], lambda w: np.array([3.0]), dim=1)
    assert check_convex(line, bounds=(1e5, 1e5 + 1), samples=300).holds is True
    assert check_smooth(line, 1e-12, bounds=(1e5, 1e5 + 1), samples=300).holds is True


def test_difference_gradients_are_allowed_their_error():
    q = Quadratic([1.0, 10.0])
    f = Objective(q.value, dim=2)
    assert check_convex(f, samples=60).holds is True
    assert check_smooth(f, 10.0, samples=60).holds is True
    assert check_smooth(f, 9.0, samples=60).holds is False


def test_a_seed_replays():
    first, second = (check_convex(Rosenbrock(), samples=60, seed=4) for _ in range(2))
    np.testing.assert_array_equal(first.pair, second.pair)
    assert str(first) == str(second)


def test_of_a_noisy_surface_the_exact_one_is_checked():
    assert check_convex(Quadratic([1.0, 2.0]).noisy(10.0), samples=60).holds is True


def test_many_variables():
    eigenvalues = np.ones(300)
    eigenvalues[0] = -0.5
    assert check_convex(Quadratic(eigenvalues, rotation="random"), samples=60).holds is False


def test_sentences():
    holds = check_convex(Cliff(), samples=60)
    assert isinstance(holds, PairCheck)
    assert str(holds).startswith(
        "Cliff(gentle=0.1, steep=100, width=0.01) may be convex: no violation among "
    )
    assert holds.check == "convex: f(x₁) ≥ f(x₂) + ∇f(x₂)ᵀ(x₁ − x₂)"
    assert holds.pairs_tested >= 60
    fails = check_convex(Rosenbrock(), strong_convexity=0.5, samples=60)
    assert "Rosenbrock(a=1, b=100) is not 0.5-strongly convex: at x₁ = [" in str(fails)
    assert "lies below its bound" in str(fails)


def test_it_is_no_boolean():
    with pytest.raises(TypeError, match=r"ask \.holds"):
        bool(check_convex(Cliff(), samples=6))


def test_nothing_finite_is_no_verdict():
    nowhere = Objective(lambda w: np.nan, lambda w: w * np.nan, dim=1)
    check = check_convex(nowhere, samples=6)
    assert check.holds is None
    assert check.pairs_tested == 0
    assert "no pair could be tested" in str(check)


@pytest.mark.parametrize(
    ("objective", "arguments", "message"),
    [
        (Objective(np.sum), {}, "bounds must say how many variables"),
        (Rosenbrock(), {"bounds": np.zeros((3, 2))}, r"have shape \(2, 2\)"),
        (Rosenbrock(), {"bounds": (1.0, -1.0)}, "each low below its high"),
        (Rosenbrock(), {"samples": 0}, "samples must be a whole number, at least 3"),
        (Rosenbrock(), {"strong_convexity": -1.0}, "strong_convexity must be at least 0"),
        (Regularized(Rosenbrock(), l1=1.0), {}, r"check the \.smooth part"),
        (np.sum, {}, r"wrap a plain function in Objective"),
    ],
)
def test_refusals(objective, arguments, message):
    with pytest.raises(InputError, match=message):
        check_convex(objective, **arguments)


@pytest.mark.parametrize("check", [check_convex, check_smooth])
def test_a_class_or_words_for_bounds_get_their_sentence(check):
    with pytest.raises(InputError, match="objective must be a smooth objective"):
        check(Plateau)
    with pytest.raises(InputError, match="bounds must hold real numbers"):
        check(Plateau(), bounds="wide")
