import json
import math

import numpy as np
import pytest
import scipy.stats

from thalweg.core.errors import InputError
from thalweg.inference.summary import Summary, names_of

BETA = np.array([[2.0], [-0.5], [0.0]])
COVARIANCE = np.diag([0.25, 1.0, 4.0])


def summary(**changes):
    asked = {
        "title": "Model", "names": ("a_1", "b", "intercept"), "equations": ("",),
        "coefficients": BETA, "covariance": COVARIANCE[None], "kind": "classical", "level": 0.9,
        "freedom": 7.0, "rows": 10, "dispersion": np.array([1.5]),
    }  # fmt: skip
    return Summary(**{**asked, **changes})


@pytest.mark.parametrize("freedom", [7.0, math.inf])
def test_numbers_by_hand(freedom):
    found = summary(freedom=freedom)
    T = scipy.stats.t(7) if freedom == 7.0 else scipy.stats.norm()
    assert found.standard_errors.ravel().tolist() == [0.5, 1.0, 2.0]
    assert found.statistics.ravel().tolist() == [4.0, -0.5, 0.0]
    np.testing.assert_allclose(found.p_values.ravel(), [2 * T.cdf(-4), 2 * T.cdf(-0.5), 1.0])
    low, high = found.intervals
    np.testing.assert_allclose(high - BETA, T.ppf(0.95) * found.standard_errors)
    np.testing.assert_allclose(BETA - low, high - BETA)


def test_classes_together_are_told_one_after_the_other():
    beta = np.array([[1.0, 3.0], [2.0, 4.0]])
    found = summary(
        coefficients=beta, covariance=np.diag([1.0, 4.0, 9.0, 16.0]), names=("a", "intercept"),
        equations=("red", "blue"), dispersion=None, freedom=math.inf,
    )  # fmt: skip
    assert found.standard_errors.tolist() == [[1.0, 3.0], [2.0, 4.0]]
    rows = found.to_dict()["coefficients"]
    told = [(each["equation"], each["name"], each["standard_error"]) for each in rows]
    assert told == [
        ("red", "a", 1.0), ("red", "intercept", 2.0), ("blue", "a", 3.0), ("blue", "intercept", 4.0)
    ]  # fmt: skip
    assert "red: a" in str(found)


def test_it_is_told_as_text_page_and_paper():
    found = summary(names=("a_1", "<b>", "intercept"))
    text = str(found)
    assert text.splitlines()[0] == "Model"
    assert "90 % intervals: classical covariance, Student's t with 7 degrees of freedom" in text
    assert "10 rows; dispersion 1.5" in text
    assert "0.0052" in text  # 2·P(T < −4)
    assert "&lt;b&gt;" in found._repr_html_()
    assert "<b>" not in found._repr_html_().replace("<b>Model</b>", "")
    assert r"a\_1 & 2 & 0.5 & 4.00 & 0.0052 & " in found.to_latex()
    assert (
        json.loads(json.dumps(found.to_dict()))["coefficients"][0]["p_value"] == found.p_values[0]
    )


def test_a_bootstrap_has_no_test():
    quantiles = np.stack([BETA - 1.0, BETA + 3.0])
    found = summary(kind="bootstrap", quantiles=quantiles, freedom=math.inf, dispersion=None)
    assert np.isnan(found.p_values).all()
    assert found.intervals is quantiles
    assert "statistic" not in str(found)
    assert "bootstrap of rows drawn again" in str(found)


def test_what_cannot_be_predicted_is_a_sentence():
    with pytest.raises(InputError, match="predict needs a summary of one target"):
        summary().predict([[1.0, 2.0]])


def test_names():
    assert names_of(None, 2, True) == ("x0", "x1", "intercept")
    assert names_of(["a", "b"], 2, False) == ("a", "b")
