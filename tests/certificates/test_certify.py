import numpy as np
import pytest

import thalweg as tw
from linear_data import BOUNDED
from thalweg.certificates.certify import certify
from thalweg.certificates.duality import constant_value, duality_gap, tightened
from thalweg.objectives.linear import LinearProblem


def best(problem):
    return tw.minimize(problem, "newton", tol=1e-14, progress=False).w


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"problem": tw.surfaces.Rosenbrock()}, "problem must be a LinearProblem"),
        ({"w": [np.nan, 0.0, 0.0]}, "w must be finite, got nan at position 0"),
        ({"w": [0.0, 0.0]}, "w must have 3 entries"),
        ({"tol": 0.0}, "tol must be above 0"),
        ({"dual": [0.0, 0.0, 0.0]}, "dual must have 2 entries"),
        ({"dual": [np.nan, 0.0]}, "dual must be finite"),
    ],
)
def test_it_refuses_with_a_sentence(change, says):
    problem = tw.LinearProblem([[1.0, 0.0], [0.0, 1.0]], [0.0, 1.0], l2=0.1)
    arguments = {"problem": problem, "w": [0.0, 0.0, 0.0], "tol": 1e-6, **change}
    with pytest.raises(tw.InputError, match=says):
        tw.certify(**arguments)


@pytest.mark.parametrize("bad", [np.zeros(2), np.zeros(5), np.zeros((4, 1))])
def test_a_w_of_another_shape_is_refused(bad):
    problem = LinearProblem(np.ones((3, 3)), [1.0, 2.0, 3.0], l2=1.0)
    with pytest.raises(tw.InputError, match=r"w must have 4 entries|w must be one-dimensional"):
        certify(problem, bad)


def test_it_pays_for_more_only_where_the_first_gap_is_too_large(monkeypatch):
    rng = np.random.default_rng(12)
    problem = LinearProblem(rng.standard_normal((40, 5)), rng.standard_normal(40), l1=0.05)
    w = best(problem) * (1 + 1e-4)
    calls = []
    monkeypatch.setattr(
        "thalweg.certificates.certify.tightened",
        lambda *given: calls.append(given) or tightened(*given),
    )
    loose = duality_gap(problem, w).gap / constant_value(problem)
    assert certify(problem, w, tol=1.01 * loose).holds
    assert not calls
    assert certify(problem, w, tol=0.5 * loose).holds  # by the tighter one
    assert len(calls) == 1


def test_tol_decides_what_holds():
    rng = np.random.default_rng(5)
    problem = LinearProblem(rng.standard_normal((20, 3)), rng.standard_normal(20), l2=0.1)
    w = best(problem) + 1e-3
    tight, scale = certify(problem, w, tol=1e-12).gap, constant_value(problem)
    for tol, holds in ((1.01 * tight / scale, True), (0.99 * tight / scale, False)):
        certificate = certify(problem, w, tol=tol)
        # A gap that does not hold at once is computed again, with more digits.
        assert (certificate.holds, certificate.gap) == (holds, pytest.approx(tight, rel=1e-8))


def test_float32_is_accepted_and_judged_in_float64():
    rng = np.random.default_rng(6)
    X, y = rng.standard_normal((20, 3)).astype(np.float32), np.arange(20) % 2
    problem = LinearProblem(X, y, "logistic", l2=0.1)
    w = best(problem).astype(np.float32)
    found = certify(problem, w)
    assert found.gap == certify(problem, w.astype(np.float64)).gap
    # Rounded to 24 bits, w is off by 1e-7; the gap shows the square of that, not float32's sums.
    assert found.gap < 1e-12


@pytest.mark.parametrize("loss", BOUNDED)
def test_without_a_penalty_it_is_the_decrement(loss):
    rng = np.random.default_rng(3)
    y = np.arange(30) % 3 if loss == "multinomial" else np.arange(30) % 2
    problem = LinearProblem(rng.standard_normal((30, 2)), y, loss)
    away, there = certify(problem, problem.start), certify(problem, best(problem))
    assert away.kind == there.kind == "Newton decrement"
    assert there.holds
    assert not away.holds
    assert away.gap is None
    assert there.measured < 1e-12 < away.measured
