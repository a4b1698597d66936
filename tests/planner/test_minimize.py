import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

import thalweg as tw

ROSENBROCK = tw.surfaces.Rosenbrock()


def test_the_example_of_the_documentation():
    run = tw.minimize(ROSENBROCK, method="lbfgs", w0=[-1.5, 2.0], tol=1e-10)
    assert run.outcome is tw.Outcome.CONVERGED
    np.testing.assert_allclose(run.w, [1.0, 1.0], atol=1e-8)


def test_a_plain_function_will_do():
    run = tw.minimize(lambda w: (w[0] - 3) ** 2 + (w[1] + 1) ** 2, "lbfgs", [0.0, 0.0])
    np.testing.assert_allclose(run.w, [3.0, -1.0], atol=1e-5)


def test_the_customary_start_is_used():
    np.testing.assert_array_equal(tw.minimize(ROSENBROCK, "gd", max_iter=0).w0, [-1.5, 2.0])


def test_a_method_may_be_a_name_a_name_with_options_a_value_or_a_class():
    runs = [
        tw.minimize(ROSENBROCK, method, max_iter=5)
        for method in ("adam", "adam[lr=0.1]", tw.Adam(lr=0.1), tw.Adam)
    ]
    assert len({run.w.tobytes() for run in runs}) == 1


class NotAnObjective:
    pass


BAD = [
    ({"objective": 3}, "objective must be an objective or a function of a vector, got 3"),
    ({"objective": "rosenbrock"}, "got 'rosenbrock'"),
    ({"objective": None}, "got None"),
    ({"objective": tw.surfaces.Rosenbrock}, r"make one with Rosenbrock\(\)"),
    ({"objective": NotAnObjective()}, "objective must be an objective or a function"),
    ({"method": "lbgfs"}, "did you mean 'lbfgs'"),
    ({"method": "adam[rl=0.1]"}, "adam has no option 'rl': did you mean 'lr'"),
    ({"method": 3}, "method must be a name or a method"),
    ({"method": None}, "method must be a name or a method"),
    ({"method": "gd[step=-1]"}, "step must be above 0, got -1.0"),
    ({"w0": [np.nan, 1.0]}, "w0 must be finite, got nan at position 0"),
    ({"w0": [1.0, np.inf]}, "w0 must be finite, got inf at position 1"),
    ({"w0": [1.0]}, "w0 must have 2 entries"),
    ({"w0": [[1.0, 2.0]]}, "w0 must be one-dimensional"),
    ({"w0": "start"}, "w0 must hold real numbers"),
    ({"w0": [1j, 2j]}, "w0 must hold real numbers, got complex128"),
    ({"tol": 0.0}, "tol must be above 0, got 0.0"),
    ({"tol": -1e-6}, "tol must be above 0"),
    ({"tol": "tight"}, "tol must be a number above 0"),
    ({"max_iter": -1}, "max_iter must be a whole number, at least 0, got -1"),
    ({"max_iter": 1e3}, "max_iter must be a whole number"),
    ({"time_limit": -1}, "time_limit must be at least 0"),
    ({"time_limit": "1m"}, "time_limit must be a number"),
    ({"seed": -1}, "seed must be a whole number"),
    ({"seed": None}, "seed must be a whole number"),
    ({"callback": 3}, "callback must be a function of a Step"),
    ({"checkpoint": 3}, "checkpoint must be a file name or a Checkpoint, got 3"),
]


@pytest.mark.parametrize(("change", "says"), BAD, ids=[says for _, says in BAD])
def test_bad_input_gets_one_sentence(change, says):
    arguments = {"objective": ROSENBROCK, "method": "gd", "w0": [-1.5, 2.0], **change}
    with pytest.raises(tw.InputError, match=says) as caught:
        tw.minimize(arguments.pop("objective"), arguments.pop("method"), **arguments)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_an_objective_without_a_start_asks_for_one():
    with pytest.raises(tw.InputError, match="w0 must be given"):
        tw.minimize(lambda w: float(w @ w), "gd")


def test_a_gradient_of_the_wrong_shape():
    objective = tw.Objective(lambda w: float(w @ w), lambda w: np.ones(3), check_gradient=False)
    with pytest.raises(tw.InputError, match=r"gradient must return 2 real numbers in shape \(2,\)"):
        tw.minimize(objective, "gd", [1.0, 1.0])


def test_a_wrong_gradient_is_found_before_it_misleads():
    objective = tw.Objective(lambda w: float(w @ w), lambda w: -2 * w)
    with pytest.raises(tw.InputError, match="gradient must be the gradient of value"):
        tw.minimize(objective, "gd", [1.0, 1.0])


def test_an_error_in_the_function_is_the_users_own():
    def broken(w):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        tw.minimize(broken, "gd", [1.0])


def test_progress_is_a_yes_or_no():
    with pytest.raises(tw.InputError, match="progress must be True or False, got 'yes'"):
        tw.minimize(ROSENBROCK, progress="yes")


def test_a_plan_made_before_is_followed():
    problem = tw.LinearProblem(*load_breast_cancer(return_X_y=True), "logistic", l2=1e-2)
    made = tw.plan(problem)
    run = tw.minimize(problem, made, progress=False)
    assert run.method == made.best
    assert run.plan.row(made.best).actual_iterations == run.iterations
    assert run.plan.seconds == made.seconds
    other = tw.LinearProblem(*load_breast_cancer(return_X_y=True), "logistic", l2=1e-3)
    with pytest.raises(tw.InputError, match="a plan of this problem"):
        tw.minimize(other, made)
