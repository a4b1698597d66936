import numpy as np
import pytest

import thalweg as tw
from thalweg.methods.problem import Problem

F64 = np.dtype(np.float64)


class Own:
    """An objective of the user's own class: nothing about it is checked but here."""

    name = "own"
    dim = 2

    def __init__(self, gradient=(1.0, 2.0), value=3.0):
        self._gradient, self._value = gradient, value

    def value(self, w):
        return self._value

    def gradient(self, w):
        return self._gradient

    def value_and_gradient(self, w):
        return self._value, self._gradient

    def hessian_vector(self, w, v):
        return self._gradient


def test_every_look_is_counted():
    problem = Problem(tw.surfaces.Rosenbrock(), 2, F64)
    w = np.zeros(2)
    for _ in range(3):
        problem.value(w)
    for _ in range(5):
        problem.value_and_gradient(w)
    for _ in range(7):
        problem.hessian_vector(w, w)
    assert problem.counts == {"values": 8, "gradients": 5, "hessian_vectors": 7, "passes": 15}
    assert problem.evaluations == 12


def test_counting_goes_on_from_what_was_restored():
    problem = Problem(tw.surfaces.Rosenbrock(), 2, F64)
    problem.restore({"values": 10, "gradients": 20, "hessian_vectors": 30, "passes": 40})
    problem.value_and_gradient(np.zeros(2))
    assert problem.counts == {"values": 11, "gradients": 21, "hessian_vectors": 30, "passes": 41}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("given", [(1, 2), [1.0, 2.0], np.array([1.0, 2.0])])
def test_vectors_come_in_the_dtype_of_the_iterate_and_values_as_floats(given, dtype):
    problem = Problem(Own(gradient=given, value=np.float32(3)), 2, np.dtype(dtype))
    w = np.zeros(2, dtype=dtype)
    value, gradient = problem.value_and_gradient(w)
    assert type(value) is float
    assert value == 3.0
    assert type(problem.value(w)) is float
    for vector in (gradient, problem.hessian_vector(w, w)):
        assert vector.dtype == dtype
        np.testing.assert_array_equal(vector, [1.0, 2.0])


@pytest.mark.parametrize("wrong", [(1.0,), ((1.0, 2.0),), 1.0, (1.0, 2.0, 3.0)])
def test_a_vector_of_the_wrong_shape_gets_a_sentence(wrong):
    problem = Problem(Own(gradient=wrong), 2, F64)
    shape = np.shape(wrong)
    with pytest.raises(tw.InputError) as caught:
        problem.value_and_gradient(np.zeros(2))
    assert str(caught.value) == f"gradient of own must have shape (2,), as w has, got {shape}"
    with pytest.raises(tw.InputError, match="hessian_vector of own must have shape"):
        problem.hessian_vector(np.zeros(2), np.zeros(2))


def test_a_plain_objective_has_no_penalty():
    problem = Problem(tw.surfaces.Rosenbrock(), 2, F64)
    w = np.array([3.0, 4.0])
    assert not problem.is_composite
    assert problem.penalty(w) == 0.0
    np.testing.assert_array_equal(problem.prox(w, 0.5), w)


def test_a_composite_objective_is_seen_in_two_parts():
    smooth = tw.surfaces.Quadratic((2.0, 8.0))
    problem = Problem(tw.Regularized(smooth, l1=0.5), 2, F64)
    w = np.array([1.0, -1.0])
    assert problem.is_composite
    assert problem.smoothness == 8.0
    assert problem.strong_convexity == 2.0
    value, gradient = problem.value_and_gradient(w)
    assert value == problem.value(w) == 5.0  # ½(2 + 8): f alone
    np.testing.assert_array_equal(gradient, [2.0, -8.0])
    assert problem.penalty(w) == 1.0
    np.testing.assert_array_equal(problem.prox(w, 0.5), [0.75, -0.75])
    assert problem.counts["passes"] == 2  # the penalty is free


def test_what_the_objective_does_not_state_is_none():
    problem = Problem(Own(), 2, F64)
    assert problem.smoothness is None
    assert problem.strong_convexity is None
    assert problem.name == "own"


def test_noise_is_seen_through_a_penalty():
    noisy = tw.surfaces.Rosenbrock().noisy(0.1)
    assert Problem(noisy, 2, F64).is_noisy
    assert Problem(tw.Regularized(noisy, l1=0.1), 2, F64).is_noisy
    assert not Problem(tw.surfaces.Rosenbrock(), 2, F64).is_noisy


def test_values_that_are_no_numbers_pass_without_a_warning():
    objective = tw.Objective(lambda w: np.log(w[0]), lambda w: 1 / w, check_gradient=False)
    problem = Problem(objective, 1, F64)
    assert np.isnan(problem.value(-np.ones(1)))
    value, gradient = problem.value_and_gradient(np.zeros(1))
    assert value == -np.inf
    assert gradient[0] == np.inf


def test_a_hessian_counts_as_a_product_per_variable_and_its_own_as_one_pass():
    data = tw.LinearProblem(np.eye(3), [1.0, 2.0, 3.0], l2=0.1, fit_intercept=False)
    plain = tw.Objective(data.value, data.gradient, data.hessian_vector, dim=3)
    w, matrices = np.zeros(3), []
    for objective, passes in ((data, 1), (plain, 3)):
        problem = Problem(objective, 3, w.dtype)
        matrices.append(problem.hessian(w))
        assert (problem.hessian_vectors, problem.passes) == (3, passes)
    np.testing.assert_allclose(*matrices, atol=1e-15)


def test_a_point_of_a_linear_problem_keeps_its_scores():
    data = tw.LinearProblem(np.array([[1.0], [2.0]]), [0.0, 1.0], l2=0.1)
    problem = Problem(data, 2, F64)
    w = np.array([3.0, 1.0])
    point = problem.point(w)
    assert point.w is w
    assert point.scores.tolist() == [4.0, 7.0]
    value, gradient = data.value_and_gradient(w)
    assert (point.value, point.gradient.tolist()) == (value, gradient.tolist())
    assert problem.counts == {"values": 1, "gradients": 1, "hessian_vectors": 0, "passes": 1}
    plain = Problem(tw.surfaces.Rosenbrock(), 2, np.dtype(np.float32))
    point = plain.point(np.zeros(2, dtype=np.float32))
    assert (point.scores.size, point.scores.dtype) == (0, np.float32)
    assert plain.counts == {"values": 1, "gradients": 1, "hessian_vectors": 0, "passes": 1}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_hessian_at_a_point_is_counted_and_that_of_the_problem(dtype):
    X = np.array([[1.0, 2.0], [3.0, -1.0], [0.5, 0.0]], dtype=dtype)
    data = tw.LinearProblem(X, [0, 1, 1], "logistic", l2=0.1)
    w, v = np.array([0.3, -0.5, 1.0], dtype=dtype), np.array([1.0, 2.0, -1.0], dtype=dtype)
    expected = data.hessian(w)
    for objective, passes, diagonal_passes in (
        (data, 1, 1),
        (tw.Objective(data.value, data.gradient, data.hessian_vector, dim=3), 3, 0),
    ):
        problem = Problem(objective, 3, w.dtype)
        H = problem.hessian_at(problem.point(w))
        before = problem.counts
        assert H.vector(v).dtype == dtype
        np.testing.assert_allclose(H.vector(v), expected @ v, rtol=1e-4)
        assert problem.hessian_vectors == before["hessian_vectors"] + 2
        assert problem.passes == before["passes"] + 2
        np.testing.assert_allclose(H.matrix(), expected, rtol=1e-4, atol=1e-6)
        assert problem.hessian_vectors == before["hessian_vectors"] + 5
        assert problem.passes == before["passes"] + 2 + passes
        diagonal = H.diagonal()
        assert problem.passes == before["passes"] + 2 + passes + diagonal_passes
        if diagonal is not None:
            np.testing.assert_allclose(diagonal, np.diag(expected), rtol=1e-6)
        assert (diagonal is None) == (diagonal_passes == 0)
        assert (H.curvatures() is None) == (diagonal_passes == 0)


def test_the_diagonal_of_curvature_is_known_to_linear_problems_alone():
    data = tw.LinearProblem(np.eye(2), [0.0, 1.0], l2=0.5, fit_intercept=False)
    problem = Problem(data, 2, F64)
    assert problem.curvature_diagonal().tolist() == [1.0, 1.0]
    assert problem.passes == 1
    plain = Problem(tw.surfaces.Rosenbrock(), 2, F64)
    assert plain.curvature_diagonal() is None
    assert plain.passes == 0


def test_the_mapping_is_the_gradient_where_nothing_is_thresholded():
    data = tw.LinearProblem(np.eye(3), [1.0, 2.0, 3.0], l1=0.5, fit_intercept=False)
    w, gradient = np.array([0.0, 0.1, 4.0]), np.array([0.3, -1.0, 2.0])
    plain = Problem(data.smooth, 3, np.dtype(float))
    assert plain.mapping(w, gradient, 0.1) is gradient
    found = Problem(data, 3, np.dtype(float)).mapping(w, gradient, 0.1)
    # 0 stays 0; 0.1 moves to 0.2 − 0.05; 4 moves to 3.8 − 0.05.
    np.testing.assert_allclose(found, [0.0, -0.5, 2.5])


def test_what_is_kept_is_made_once():
    problem = Problem(tw.surfaces.Rosenbrock(), 2, np.dtype(float))
    made = []
    for _ in range(3):
        assert problem.kept("list", lambda: made.append(1) or made) is made
    assert made == [1]
