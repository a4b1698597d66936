"""How scikit-learn's tests are judged: the exchange, what a refusal covers, when it is stale."""

import sys
import tarfile
from functools import partial
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
import sklearn
from peers.exchange import asking, ease, errors, exchange, names_one, noted, tightened, used
from peers.refusals import REFUSALS, Refusal, refusal_of
from peers.their_tests import folder_with_tests, modules_that_name_one, overlaid
from peers.verdict import Result, judge, told

import thalweg as tw

FOR_WORDS = Refusal("other words", ("a.py::test_words",), words="ours")
FOR_TOL = Refusal("another tol", ("a.py::test_tol[*]",), tol=1e-14)
FOR_SHOWS = Refusal("not honoured", ("a.py::test_shows*",), shows="^must not be$")


def result(name, outcome="failed", error="", used=("Ridge",)):
    return Result(f"sklearn/a.py::{name}", outcome, used, error)


def judged(*results, eased=(), refusals=(FOR_SHOWS,)):
    return judge(results, eased, refusals)


def test_a_refusal_covers_what_its_names_match_to_the_end():
    covers = Refusal("", ("a.py::test_x[*-sag]", "a.py::test_y")).covers
    assert covers("sklearn/a.py::test_x[1-sag]")
    assert not covers("sklearn/a.py::test_x[1-saga]")
    assert not covers("sklearn/a.py::test_y[1]")
    assert not covers("sklearn/b/a.py::test_y")


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda refusal: refusal.reason)
def test_every_refusal_says_what_it_is_known_by_in_one_line(refusal):
    assert refusal.shows or refusal.is_eased
    assert refusal.tests
    assert "\n" not in refusal.reason
    for name in refusal.tests:
        module, _, test = name.partition("::")
        assert module.endswith(".py")
        assert test.startswith("test_")
        assert "*" not in test.partition("[")[0], "a refusal names its tests"


def test_every_refusal_names_a_module_that_is_there():
    folder = folder_with_tests(None)
    modules = set(modules_that_name_one(folder))
    for refusal in REFUSALS:
        for name in refusal.tests:
            path = name.partition("::")[0].removesuffix(".py")
            assert f"sklearn.{path.replace('/', '.')}" in modules


def test_a_failure_is_refused_only_for_the_reason_given():
    refused = result("test_shows", error="it\nmust not be\nhere")
    other = result("test_shows_too", error="AssertionError: 1 != 2")
    verdict = judged(refused, other)
    assert verdict.refused == {FOR_SHOWS: [refused]}
    assert verdict.failed == [(other, "refused for another reason: AssertionError: 1 != 2")]
    assert not verdict.holds


@pytest.mark.parametrize(("refusal", "name"), [(FOR_WORDS, "test_words"), (FOR_TOL, "test_tol[1]")])
def test_a_refusal_that_is_tried_has_to_pass_then(refusal, name):
    plain = result(name, error="E1")
    passes = judged(plain, eased=[result(name, "passed")], refusals=[refusal])
    assert passes.holds
    assert passes.refused == {refusal: [plain]}
    fails = judged(plain, eased=[result(name, error="E2")], refusals=[refusal])
    assert not fails.holds
    assert "too: E2" in fails.failed[0][1]
    untried = judged(plain, refusals=[refusal])
    assert "not tried" in untried.failed[0][1]


def test_a_refusal_is_stale_when_a_test_of_it_passes_or_none_runs():
    fails, passes = result("test_shows", error="must not be"), result("test_shows2", "passed")
    assert judged(fails).holds
    assert [why for _, why in judged(fails, passes).stale] == [f"passes: {passes.id}"]
    assert [why for _, why in judged().stale] == ["no test of that name ran"]
    skipped = result("test_shows", "skipped", used=())
    assert [why for _, why in judged(skipped).stale] == ["no test of that name ran"]


def test_a_refusal_for_tol_is_stale_when_all_of_it_passes():
    one, two = result("test_tol[1]", "passed"), result("test_tol[2]", "passed")
    assert judged(one, two, refusals=[FOR_TOL]).stale
    failing = result("test_tol[2]", error="1e-8")
    eased = [result("test_tol[2]", "passed")]
    assert judged(one, failing, eased=eased, refusals=[FOR_TOL]).holds


def test_only_tests_that_used_a_class_are_counted():
    verdict = judged(
        result("test_1", "passed"),
        result("test_2", "passed", used=()),
        result("test_3", "skipped", used=()),
        result("test_4", "xpassed"),
        result("test_5", "xskipped"),
        result("test_6", "failed", error="a failure counts in any case", used=()),
        refusals=[],
    )
    assert [len(verdict.passed), verdict.unused, verdict.skipped] == [2, 1, 1]
    assert [len(verdict.expected), len(verdict.failed)] == [1, 1]
    text = "\n".join(told(verdict))
    assert "a failure counts in any case" in text
    assert "1 of them where scikit-learn's own is marked to fail" in text


def test_a_difference_of_numbers_is_told_in_a_line():
    text = "AssertionError:\nNot equal to tolerance rtol=1e-07\n\nx\nMax absolute difference: 3\ny"
    said = "AssertionError: Not equal to tolerance rtol=1e-07 Max absolute difference: 3"
    assert result("test", error=text).said == said


def test_errors_are_what_pytest_marks():
    text = ">   assert 'E   not this' == x\nE   AssertionError: no\nE     - this\nfile.py:1: Error"
    assert errors(text) == "AssertionError: no\n- this"


def test_classes_are_exchanged_but_where_they_are_defined():
    theirs = type("Ridge", (), {"__module__": "home"})
    home, other = ModuleType("home"), ModuleType("other")
    home.Ridge = other.Ridge = other.Renamed = theirs
    other.number = 1
    exchange({theirs: tw.Ridge}, [home, other])
    assert home.Ridge is theirs
    assert other.Ridge is other.Renamed is tw.Ridge
    assert other.number == 1


def calls_another():
    return another()


def another():
    return [lambda: Ridge().fit]  # noqa: F821


def has_a_default(estimator=tw.LinearSVC):
    return estimator


def names_none():
    return asking


@pytest.mark.parametrize(
    ("function", "given", "names"),
    [
        (calls_another, {}, True),
        (has_a_default, {}, True),
        (names_none, {}, False),
        (names_none, {"model": tw.Lasso()}, True),
        (names_none, {"model": tw.Lasso}, True),
        (names_none, {"check": another}, True),
        (names_none, {"check": partial(names_none), "n": 1}, False),
    ],
)
def test_a_test_is_run_if_it_or_what_it_calls_or_is_given_names_a_class(function, given, names):
    item = SimpleNamespace(function=function, callspec=SimpleNamespace(params=given))
    assert names_one(item) == names


def test_other_words_are_asked_for_only_where_words_are():
    raises = asking(pytest.raises, "ours")
    with raises(ValueError, match="theirs"):
        raise ValueError("in ours")
    with raises(ValueError):
        raise ValueError("in any words")
    with pytest.raises(AssertionError), raises(ValueError, match="theirs"):
        raise ValueError("in theirs")


def test_a_tighter_tolerance_is_that_of_the_fit_alone():
    X, y = np.eye(4), np.arange(4.0)
    model = tw.Ridge(method="gd", max_iter=10**5)
    tightened(tw.Ridge.fit, 1e-12)(model, X, y)
    assert model.tol == 1e-6
    tight = model.n_iter_[0]
    assert tight > model.fit(X, y).n_iter_[0]
    tightened(tw.Ridge.fit, 1e-3)(model, X, y)
    assert model.n_iter_[0] < tight


def test_what_a_test_uses_is_noted():
    class Model:
        def fit(self, x):
            """The docstring."""
            return x

    used.clear()
    fit = noted(Model.fit)
    assert fit(Model(), 3) == 3
    assert fit.__doc__ == "The docstring."
    assert used == {"Model"}
    used.clear()


def test_tests_of_a_source_distribution_are_laid_over_a_copy(tmp_path):
    installed = tmp_path / "site" / "sklearn"
    (installed / "svm").mkdir(parents=True)
    (installed / "svm" / "__init__.py").write_text("installed")
    (tmp_path / "site" / "scikit_learn.libs").mkdir()
    source = tmp_path / "source" / "scikit_learn-9.9"
    (source / "sklearn" / "svm" / "tests").mkdir(parents=True)
    (source / "sklearn" / "svm" / "__init__.py").write_text("of the source")
    (source / "sklearn" / "svm" / "tests" / "test_svm.py").write_text("from a import LinearSVC")
    (source / "sklearn" / "svm" / "tests" / "test_other.py").write_text("LinearSVCs, GraphLasso")
    (source / "sklearn" / "conftest.py").write_text("")
    with tarfile.open(tmp_path / "s.tar.gz", "w:gz") as archive:
        archive.add(source, source.name)
    folder = overlaid(installed, tmp_path / "s.tar.gz", tmp_path / "over")
    assert (folder / "sklearn" / "svm" / "__init__.py").read_text() == "installed"
    assert (folder / "sklearn" / "conftest.py").exists()
    assert (folder / "scikit_learn.libs").is_dir()
    assert modules_that_name_one(folder) == ["sklearn.svm.tests.test_svm"]
    assert not (installed / "svm" / "tests").exists()


def test_nothing_is_fetched_where_the_tests_are_installed(monkeypatch, tmp_path):
    monkeypatch.setattr("peers.their_tests.downloaded", None)
    assert folder_with_tests(tmp_path) / "sklearn" / "__init__.py" == type(tmp_path)(
        sklearn.__file__
    )


def test_every_exchanged_test_has_one_refusal_at_most():
    for refusal in REFUSALS:
        for name in refusal.tests:
            if "*" not in name:
                assert refusal_of(f"sklearn/{name}") is refusal
    assert "peers.exchange" in sys.modules


def test_tol_is_tightened_of_an_inherited_fit_too(monkeypatch):
    ease(Refusal("another tol", (), tol=1e-5), monkeypatch)
    model = tw.PoissonRegressor(tol=1e-2).fit(np.arange(6.0)[:, None], np.arange(1.0, 7.0))
    assert model.runs_[0].tol == 1e-5
    assert model.tol == 1e-2
