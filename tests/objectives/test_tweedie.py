import numpy as np
import pytest
from sklearn.metrics import mean_tweedie_deviance

import thalweg as tw

X, Y = [[0.0], [1.0], [2.0]], [0.0, 2.0, 3.0]


@pytest.mark.parametrize("power", [1.1, 1.5, np.float32(1.75)])
def test_a_problem_has_the_deviance_of_its_power(power):
    data, w = tw.LinearProblem(X, Y, tw.Tweedie(power)), np.array([0.4, 0.1])
    deviance = mean_tweedie_deviance(Y, np.exp(data.scores(w)), power=float(power))
    assert data.value(w) == pytest.approx(0.5 * deviance, rel=1e-13)


def test_its_name_alone_is_that_of_power_one_and_a_half():
    w = np.array([0.4, 0.1])
    named, told = (tw.LinearProblem(X, Y, loss) for loss in ("tweedie", tw.Tweedie(1.5)))
    assert named.value(w) == told.value(w)
    assert named.loss == told.loss == "tweedie"


@pytest.mark.parametrize("power", [1.0, 2.0, 0.0, 3.0, np.nan])
def test_other_powers_are_refused(power):
    with pytest.raises(tw.InputError, match="power must be"):
        tw.Tweedie(power)
