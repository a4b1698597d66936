import json
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine

import thalweg as tw
from linear_data import features, labels, regression, solved
from thalweg.core.errors import InputError
from thalweg.core.finding import Severity

READY = {  # loader, loss, whether it has to be standardized
    "cancer": (load_breast_cancer, "logistic", True),
    "digits": (load_digits, "multinomial", False),
    "diabetes": (load_diabetes, "squared", False),
    "iris": (load_iris, "multinomial", False),
    "wine": (load_wine, "multinomial", True),
}


def names(findings):
    return [finding.name for finding in findings]


def test_classes_are_called_by_their_names():
    X = features(1000, 2)
    y = np.repeat([0, 1, 2], [480, 490, 30])
    problem = tw.LinearProblem(X, y, "multinomial", l2=0.1)
    (found,) = tw.diagnose(problem, class_names=["iron", "silver", "gold"])
    assert found.claim.startswith("Class 'gold' has 3.00%")
    assert "the constant answer 'silver' is right for 49.00%" in found.claim
    with pytest.raises(InputError, match="class_names must have 3 entries, as y has classes"):
        tw.diagnose(problem, class_names=["iron"])


@pytest.mark.parametrize("name", READY)
def test_data_that_are_ready_ask_for_nothing(name):
    load, loss, standardize = READY[name]
    X, y = load(return_X_y=True)
    problem, run = solved(tw.LinearProblem(X, y, loss, l2=1 / len(y), standardize=standardize))
    assert all(finding.severity < Severity.ACT for finding in tw.diagnose(problem, run))
    assert all(finding.severity < Severity.ACT for finding in tw.diagnose(problem))
    if standardize:
        assert all(finding.severity < Severity.WARN for finding in tw.diagnose(problem, run))


def test_data_that_nothing_is_wrong_with_have_no_findings():
    X = features()
    for problem in (
        regression(X, l2=0.01),
        tw.LinearProblem(X, labels(X), "logistic", l2=0.01),
        tw.LinearProblem(scipy.sparse.csr_array(X), labels(X), "squared-hinge", l2=0.01),
        tw.LinearProblem(X.astype(np.float32), X.sum(axis=1), "huber", l2=0.01),
    ):
        assert tw.diagnose(problem) == tw.diagnose(problem, solved(problem)[1]) == []


def test_everything_at_once_worst_first():
    X = features()
    y = labels(X, noise=0.0)
    X = np.column_stack([X, X[:, 0], np.ones(200), 1e6 * features(200, 1, seed=9)])
    problem, run = solved(tw.LinearProblem(X, y, "logistic"), max_iter=3)
    found = tw.diagnose(problem, run, feature_names=list("abcdefgh"))
    assert names(found)[:2] == ["separable classes", "unscaled inputs"]
    assert {"constant inputs", "repeated columns", "tolerance not reached"} <= set(names(found))
    severities = [finding.severity for finding in found]
    assert severities == sorted(severities, reverse=True)
    assert any("'h'" in finding.claim for finding in found)


def test_what_the_run_found_is_told_once():
    problem, run = solved(regression(features(), l2=0.1), method="gd[step=100]")
    assert "step above the stability limit" in names(tw.diagnose(problem, run))
    problem, run = solved(
        regression(features() * [1, 1, 1, 1, 1e4], l2=1e-9), method="gd", max_iter=50
    )
    found = names(tw.diagnose(problem, run))
    assert found.count("poor conditioning") == 1


def test_findings_survive_being_saved():
    from thalweg.core.storage import to_json

    problem, run = solved(tw.LinearProblem(features(), labels(features(), 0.0), "logistic"))
    for finding in tw.diagnose(problem, run):
        assert to_json({"evidence": dict(finding.evidence)})
        assert finding.claim.endswith((".", "!"))
        assert str(finding).startswith(finding.severity.name)


def test_a_linear_problem_needs_no_torch():
    code = (
        "import sys, json; sys.modules['torch'] = None\n"  # import torch fails
        "import numpy as np, thalweg as tw\n"
        "X = np.random.default_rng(0).normal(size=(50, 2)) * [1, 1e5]\n"
        "p = tw.LinearProblem(X, X[:, 0])\n"
        "print(json.dumps([f.name for f in tw.diagnose(p, tw.minimize(p, progress=False))]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "unscaled inputs" in json.loads(done.stdout)


def test_a_record_is_forwarded():
    torch = pytest.importorskip("torch")
    model = torch.nn.Linear(2, 1)
    with tw.watch(model, torch.optim.SGD(model.parameters(), lr=0.1)) as watch:
        for _ in range(2):
            loss = (model(torch.full((4, 2), torch.nan)) ** 2).mean()
            loss.backward()
            watch.step(loss)
    assert "not a number" in names(tw.diagnose(watch.record))
    assert names(tw.doctor.diagnose(watch.record)) == names(tw.diagnose(watch.record))
    with pytest.raises(tw.InputError, match="must be left out for a Record"):
        tw.diagnose(watch.record, feature_names=["a"])


AWKWARD = {
    "all zero": (np.zeros((7, 2)), {"l1": 0.1, "fit_intercept": False}),
    "all zero, nothing penalised": (np.zeros((7, 2)), {"fit_intercept": False}),
    "huge": (features(7, 20) * 10.0 ** (np.arange(20) * 8), {"l1": 0.1}),
    "tiny": (features(7, 3) * 1e-200, {}),
    "one column": (features(7, 1), {}),
    "all but one sample of weight zero": (features(7, 3), {"sample_weight": [1, 0, 0, 0, 0, 0, 0]}),
    "constant": (np.ones((7, 3)), {"standardize": True}),
    "every coefficient zero": (features(7, 3), {"l1": 1e5, "fit_intercept": False}),
}


@pytest.mark.parametrize("loss", ["squared", "logistic", "multinomial", "huber", "squared-hinge"])
@pytest.mark.parametrize("case", AWKWARD)
def test_awkward_data_are_answered(case, loss):
    X, options = AWKWARD[case]
    problem = tw.LinearProblem(X, np.arange(7) % 2, loss, **options)
    run = tw.minimize(problem, "fista", progress=False, max_iter=3)
    for given in (None, run):
        for finding in tw.diagnose(problem, given):
            assert "nan" not in str(finding)


def test_a_single_sample():
    for finding in tw.diagnose(tw.LinearProblem(np.ones((1, 2)), [1.0])):
        assert finding.severity <= Severity.ACT


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"problem": 3}, "problem must be a LinearProblem or a Record, got 3"),
        ({"run": "gd"}, "run must be what tw.minimize returned, got 'gd'"),
        ({"feature_names": ["a"]}, "feature_names must have 5 entries, as X has columns, got 1"),
    ],
)
def test_bad_input(given, message):
    problem = given.pop("problem", regression(features()))
    with pytest.raises(tw.InputError, match=message):
        tw.diagnose(problem, **given)


def test_a_run_of_another_problem():
    _, run = solved(regression(features(p=3)))
    with pytest.raises(tw.InputError, match="which has 6 variables, got one with 4"):
        tw.diagnose(regression(features()), run)
