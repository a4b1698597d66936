import numpy as np
import pytest

import thalweg as tw
from thalweg.objectives.surfaces import SURFACES

KNOWN = {name: make() for name, make in SURFACES.items() if make().minimizer is not None}


def quartic(w):
    return w[0] ** 4 + w[1] ** 4


def trough(w):
    return w[0] ** 2 + 0.0 * w[1]


def test_rosenbrocks_minimum():
    verdict = tw.classify(tw.surfaces.Rosenbrock(), [1.0, 1.0])
    assert verdict.kind == "minimum"
    # ∇²f(1, 1) = [[802, −400], [−400, 200]] for a = 1, b = 100.
    expected = np.linalg.eigvalsh([[802.0, -400.0], [-400.0, 200.0]])
    np.testing.assert_allclose([verdict.smallest, verdict.largest], expected, rtol=1e-10)
    assert verdict.escape is None


def test_following_the_escape_direction_of_a_saddle_lowers_f():
    surface = tw.surfaces.Saddle()
    verdict = tw.classify(surface, [0.0, 0.0])
    assert verdict.kind == "saddle"
    np.testing.assert_allclose(np.abs(verdict.escape), [0.0, 1.0], atol=1e-12)
    for distance in (1e-3, 0.1, 1.0):
        assert surface.value(distance * verdict.escape) < surface.value(np.zeros(2))
    assert verdict.drop == pytest.approx(0.5)


@pytest.mark.parametrize("y", [-3.0, 0.0, 1e4])
def test_a_trough_is_degenerate_anywhere_along_it(y):
    assert tw.classify(tw.Objective(trough), [0.0, y]).kind == "degenerate"
    exact = tw.surfaces.Quadratic((2.0, 0.0))
    assert tw.classify(exact, [0.0, y]).kind == "degenerate"


@pytest.mark.parametrize(
    "objective",
    [
        tw.Objective(quartic),
        tw.Objective(quartic, lambda w: 4 * w**3),
        tw.Objective(quartic, lambda w: 4 * w**3, lambda w, v: 12 * w**2 * v),
    ],
    ids=["values", "gradients", "products"],
)
@pytest.mark.parametrize("w", [[0.0, 0.0], [1e-3, -1e-3], [1e-3, 1e-5]])
def test_a_quartic_is_degenerate_at_and_near_its_minimum(objective, w):
    verdict = tw.classify(objective, w)
    assert verdict.kind == "degenerate"
    assert verdict.escape is None  # no fall beyond what the rest of the gradient explains


def test_a_quartic_with_one_steep_axis():
    objective = tw.Objective(lambda w: w[0] ** 2 + w[1] ** 4)
    assert tw.classify(objective, [0.0, 1e-3]).kind == "degenerate"


def test_a_monkey_saddle_is_degenerate_with_a_way_down():
    surface = tw.surfaces.MonkeySaddle()
    verdict = tw.classify(surface, [0.0, 0.0])
    assert verdict.kind == "degenerate"
    assert surface.value(0.1 * verdict.escape) < 0
    assert "no minimum" in verdict.explanation


def test_a_lower_place_beyond_a_rise_is_no_escape():
    # x⁴ near 0, but far below it at x = 1.
    objective = tw.Objective(lambda w: float(w[0] ** 4 - 3 * w[0] ** 6))
    verdict = tw.classify(objective, [0.0])
    assert (verdict.kind, verdict.escape) == ("degenerate", None)


@pytest.mark.parametrize("name", KNOWN)
def test_stated_minimizers_are_minima(name):
    surface = KNOWN[name]
    verdict = tw.classify(surface, surface.minimizer)
    assert verdict.kind == "minimum", verdict


@pytest.mark.parametrize("name", KNOWN)
def test_a_turned_over_minimum_is_a_maximum(name):
    surface = KNOWN[name]
    over = tw.Objective(
        lambda w: -surface.value(w), lambda w: -surface.gradient(w),
        lambda w, v: -surface.hessian_vector(w, v),
    )  # fmt: skip
    verdict = tw.classify(over, surface.minimizer)
    assert verdict.kind == "maximum"
    assert verdict.drop > 0


def test_anywhere_else_is_not_stationary():
    assert tw.classify(tw.surfaces.Rosenbrock(), [-1.5, 2.0]).kind == "not stationary"


@pytest.mark.parametrize("dim", [2, 10, 60, 65, 200])
def test_against_dense_eigenvalues(dim):
    rng = np.random.default_rng(dim)
    for _ in range(10):
        eigenvalues = rng.uniform(0.5, 2.0, dim) * rng.choice([-1.0, 1.0], dim)
        if rng.random() < 0.5:
            eigenvalues = np.abs(eigenvalues)
        surface = tw.surfaces.Quadratic(eigenvalues, rotation="random", seed=1)
        H = np.stack([surface.hessian_vector(np.zeros(dim), e) for e in np.eye(dim)])
        true = np.linalg.eigvalsh(H)
        verdict = tw.classify(surface, np.zeros(dim))
        kind = "minimum" if true[0] > 0 else "maximum" if true[-1] < 0 else "saddle"
        assert verdict.kind == kind
        assert abs(verdict.smallest - true[0]) <= verdict.error
        assert abs(verdict.largest - true[-1]) <= verdict.error


def test_many_variables_need_confidence_and_say_so():
    eigenvalues = np.linspace(1.0, 2.0, 100_000)
    verdict = tw.classify(tw.surfaces.Quadratic(eigenvalues), np.zeros(100_000))
    assert verdict.kind == "minimum"
    assert verdict.confidence == 0.999
    assert "confidence 0.999" in repr(verdict)
    assert verdict.products <= 102


def test_one_negative_curvature_among_many_is_found():
    eigenvalues = np.linspace(1.0, 2.0, 10_000)
    eigenvalues[1234] = -0.1
    verdict = tw.classify(tw.surfaces.Quadratic(eigenvalues), np.zeros(10_000))
    assert verdict.kind == "saddle"
    assert abs(verdict.escape[1234]) == pytest.approx(1.0, abs=1e-6)


def test_too_few_products_do_not_make_a_minimum():
    eigenvalues = np.geomspace(1e-4, 1.0, 10_000)
    verdict = tw.classify(tw.surfaces.Quadratic(eigenvalues), np.zeros(10_000), max_products=10)
    assert verdict.kind == "degenerate"
    assert "raise max_products" in verdict.explanation


def test_the_end_of_a_run_is_classified():
    run = tw.minimize(tw.surfaces.Beale(), "lbfgs", tol=1e-9)
    assert tw.classify(tw.surfaces.Beale(), run.w).kind == "minimum"


def test_float32_points():
    assert tw.classify(tw.surfaces.Rosenbrock(), np.ones(2, dtype=np.float32)).kind == "minimum"


def test_noise_is_looked_through():
    assert tw.classify(tw.surfaces.Saddle().noisy(1.0), [0.0, 0.0]).kind == "saddle"


def test_text_and_notebook_begin_with_the_verdict():
    verdict = tw.classify(tw.surfaces.Saddle(), [0.0, 0.0])
    assert repr(verdict).startswith("SADDLE  Saddle(")
    assert "f falls by 0.5 along .escape" in repr(verdict)
    assert "<script" not in verdict._repr_html_()


@pytest.mark.parametrize(
    ("objective", "w", "says"),
    [
        (tw.surfaces.Saddle(), [0.0], "w must have 2 entries"),
        (tw.surfaces.Saddle(), [0.0, np.nan], "w must be finite"),
        (tw.Regularized(tw.surfaces.Saddle(), l1=1.0), [0.0, 0.0], "must be smooth"),
        (tw.Objective(lambda w: np.inf), [0.0], "its gradient are finite"),
    ],
)
def test_bad_input(objective, w, says):
    with pytest.raises(tw.InputError, match=says):
        tw.classify(objective, w)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("factor", [1.0, 1e10, 1e-10])
@pytest.mark.parametrize("stretch", [1.0, 1e6, 1e-6])
def test_no_scale_makes_a_slope_a_minimum_or_a_minimum_none(factor, stretch, dtype):
    rosenbrock = tw.surfaces.Rosenbrock()
    objective = tw.Objective(
        lambda w: factor * rosenbrock.value(w / stretch),
        lambda w: factor / stretch * rosenbrock.gradient(w / stretch),
        lambda w, v: factor / stretch**2 * rosenbrock.hessian_vector(w / stretch, v),
        check_gradient=False,
        dim=2,
    )
    for w in ([0.0, 0.0], [0.5, 0.25]):
        kind = tw.classify(objective, np.array(w, dtype) * dtype(stretch)).kind
        assert kind in ("not stationary", "degenerate"), w
    assert tw.classify(objective, np.array([1.0, 1.0], dtype) * dtype(stretch)).kind == "minimum"


def test_a_huge_minimizer_in_float32_is_stationary_to_its_rounding():
    well = tw.surfaces.DoubleWell()
    objective = tw.Objective(
        lambda w: 1e10 * well.value(w / 1e6),
        lambda w: 1e4 * well.gradient(w / 1e6),
        lambda w, v: 1e-2 * well.hessian_vector(w / 1e6, v),
        check_gradient=False,
        dim=2,
    )
    w = (1e6 * well.minimizer).astype(np.float32)
    assert tw.classify(objective, w).kind == "minimum"


@pytest.mark.parametrize("wrong", [5, np.sum, tw.surfaces.Rosenbrock])
def test_what_is_no_objective_gets_its_sentence(wrong):
    with pytest.raises(tw.InputError, match=r"objective must be a smooth objective.*tw\.Objective"):
        tw.classify(wrong, [0.0, 0.0])
