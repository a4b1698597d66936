"""Penalties by column: steps against a search, strengths, bounds in float32, refusals."""

import numpy as np
import pytest
import scipy.optimize

import thalweg as tw
from column_problems import drawn, value
from thalweg.objectives.column_penalty import ColumnPenalty

LOW, HIGH = np.array([-np.inf, 0.0, -0.5, 0.2]), np.array([np.inf, np.inf, 0.5, 0.2])
WEIGHT = np.array([1.0, 2.0, 0.0, 0.5])


def penalty():
    return ColumnPenalty((LOW, HIGH), WEIGHT, 0.3, 0.8)


@pytest.mark.parametrize("step", [0.1, 2.0])
@pytest.mark.parametrize("v", [[2.0, 1.0, 0.3, 0.0], [-2.0, -1.0, 3.0, 5.0], [0.01] * 4])
def test_the_step_is_the_best_point_of_each_column(v, step):
    found = penalty().prox(np.array(v), step)
    for j in range(4):
        l1, l2 = 0.3 * WEIGHT[j], 0.8 * WEIGHT[j]  # min π = 0: all of l2 is in h
        best = scipy.optimize.minimize_scalar(
            lambda u, j=j, l1=l1, l2=l2: (
                l1 * abs(u) + 0.5 * l2 * u * u + (u - v[j]) ** 2 / step / 2
            ),
            bounds=(max(LOW[j], -9.0), min(HIGH[j], 9.0)),
            method="bounded",
            options={"xatol": 1e-11},
        )
        assert found[j] == pytest.approx(best.x, abs=1e-5)
        assert LOW[j] <= found[j] <= HIGH[j]


def test_value_by_hand():
    # 0.3(1 + 2·2 + 0.5·0.2) + 0.4(1 + 2·4 + 0.5·0.04), a bound touched, and one left.
    assert penalty().value(np.array([-1.0, 2.0, 0.5, 0.2])) == pytest.approx(0.3 * 5.1 + 0.4 * 9.02)
    assert penalty().value(np.array([-1.0, -1e-9, 0.5, 0.2])) == np.inf


def test_the_part_of_l2_that_all_columns_share_is_left_to_the_smooth_part():
    problem = drawn(0, 60, 8, "squared", {"weight": np.arange(8) + 0.5}, l1=0.1, l2=0.2)
    assert (problem.l1, problem.l2) == (0.0, 0.1)
    w = np.random.default_rng(1).standard_normal(9)
    expected = value(problem, w, 0.1, 0.2, np.arange(8) + 0.5)
    assert problem.value(w) == pytest.approx(expected, rel=1e-13)
    again = problem.replaced(l1=0.3)
    assert again.value(w) == pytest.approx(value(problem, w, 0.3, 0.2, np.arange(8) + 0.5))
    assert again.smooth.is_smooth
    assert again.smooth.l2 == 0.1


def test_that_says_nothing_is_the_plain_problem():
    X, y = np.eye(3), np.arange(3.0)
    plain = tw.LinearProblem(X, y, l1=0.1, penalty=tw.ByColumn((None, None), [1.0, 1.0, 1.0]))
    assert plain.own_penalty is None
    assert plain.l1 == 0.1


def test_bounds_are_numbers_of_the_coefficients_type():
    X = np.eye(3, dtype=np.float32)
    own = tw.LinearProblem(X, np.ones(3), penalty=tw.ByColumn((0.1, 0.7))).by_column
    assert np.all(own.low.astype(np.float32).astype(float) == own.low)
    assert np.all((own.low >= 0.1) & (own.low < 0.1 + 1e-8))
    assert np.all((own.high <= 0.7) & (own.high > 0.7 - 1e-7))


def test_several_classes_share_what_holds_a_column():
    own = penalty()
    W = np.random.default_rng(0).standard_normal((4, 3))
    found = own.prox(W, 0.5)
    for k in range(3):
        assert found[:, k].tolist() == own.prox(W[:, k], 0.5).tolist()
    assert own.value(found) == pytest.approx(sum(own.value(found[:, k]) for k in range(3)))


@pytest.mark.parametrize(
    ("said", "says"),
    [
        ({"bounds": 3.0}, r"bounds must be a pair \(low, high\), got 3.0"),
        ({"bounds": np.zeros((4, 2))}, r"tuple\(np.transpose\(pairs\)\)"),
        ({"bounds": (1.0, 0.0)}, r"pairs low ≤ high, got \(1, 0\) for column 0"),
        ({"bounds": (np.nan, 0.0)}, "pairs low ≤ high"),
        ({"bounds": (np.zeros(4), None)}, r"one number for each of 3 columns, got shape \(4,\)"),
        ({"weight": [1.0, -1.0, 1.0]}, "penalty_weight must be finite and at least 0"),
        ({"weight": [1.0, np.inf, 1.0]}, "penalty_weight must be finite and at least 0"),
        ({"weight": [1.0]}, r"one number for each of 3 columns, got shape \(1,\)"),
    ],
)
def test_what_makes_no_sense_is_refused(said, says):
    with pytest.raises(tw.InputError, match=says):
        tw.LinearProblem(np.eye(3), np.ones(3), penalty=tw.ByColumn(**said))


def test_methods_that_do_not_know_it_name_those_that_do():
    problem = drawn(0, 60, 8, "squared", {"bounds": (0.0, None)}, l2=0.1)
    for method in ("sdca", "saga", "cholesky", "lbfgs"):
        with pytest.raises(
            tw.InputError, match=r"by column, got 'l2 = 0.1, w ≥ 0': use method='cd'"
        ):
            tw.minimize(problem, method)
