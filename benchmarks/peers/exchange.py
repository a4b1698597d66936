"""A pytest plugin: Thalweg's estimators wherever scikit-learn's tests name scikit-learn's own.

The classes are exchanged in every module of scikit-learn but those that define them, before a test
module is imported, so that an import, an attribute and a list of all estimators give Thalweg's.
Tests that name none of them are not run. What became of the others is written down, a line of JSON
a test, with the classes that it made or fitted.

With `--eased` only tests are run that `refusals.py` says would pass in other circumstances, and in
those: at a tighter `tol`, or asked for Thalweg's words instead of scikit-learn's.
"""

from __future__ import annotations

import functools
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import pytest

from peers.refusals import Refusal, refusal_of

NAMES = (
    "QuantileRegressor", "LinearSVR", "HuberRegressor",
    "LogisticRegression", "Ridge", "RidgeCV", "Lasso", "LassoCV", "ElasticNet", "ElasticNetCV",
    "LinearSVC", "LinearRegression", "RidgeClassifier",
    "PoissonRegressor", "GammaRegressor", "TweedieRegressor",
)  # fmt: skip
NAMED = re.compile(rf"\b({'|'.join(NAMES)})\b")

used: set[str] = set()  # names of the classes that the present test made or fitted


def pytest_addoption(parser: pytest.Parser) -> None:
    """Where to write, and which of the two runs it is."""
    parser.addoption("--results", type=Path, help="where each test is written down")
    parser.addoption("--eased", action="store_true", help="only what passes if it is eased")


def pytest_configure(config: pytest.Config) -> None:
    """Exchange the classes before anything is collected."""
    import sklearn.linear_model
    import sklearn.svm

    import thalweg as tw

    ours = {}
    for name in NAMES:
        home = sklearn.svm if name.startswith("LinearSV") else sklearn.linear_model
        ours[getattr(home, name)] = getattr(tw, name)
    for theirs, estimator in ours.items():
        if hasattr(theirs, "_get_loss"):  # by which tests of generalized linear models know a loss
            estimator._get_loss = theirs._get_loss
    exchange(ours, [each for name, each in sys.modules.items() if name.startswith("sklearn")])
    for estimator in ours.values():
        for method in ("__init__", "fit"):
            setattr(estimator, method, noted(getattr(estimator, method)))


def exchange(ours: dict[type, type], modules: Iterable[ModuleType]) -> None:
    """Set ours where a module has theirs, unless it is where theirs is defined."""
    defining = {theirs.__module__ for theirs in ours}
    for module in modules:
        if module.__name__ in defining:
            continue
        for name, value in list(vars(module).items()):
            if isinstance(value, type) and value in ours:
                setattr(module, name, ours[value])


def noted(method: Callable[..., Any]) -> Callable[..., Any]:
    """`method`, which notes the class that it is called on."""

    @functools.wraps(method)
    def wrapped(self: Any, *args: Any, **options: Any) -> Any:
        used.add(type(self).__name__)
        return method(self, *args, **options)

    return wrapped


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what has nothing to do with the classes, or with the present run."""
    if config.getoption("eased"):
        refusals = [refusal_of(item.nodeid) for item in items]
        kept = [item for item, it in zip(items, refusals, strict=True) if it and it.is_eased]
    else:
        kept = [item for item in items if names_one(item)]
    config.hook.pytest_deselected(items=[item for item in items if item not in set(kept)])
    items[:] = kept


def names_one(item: Any) -> bool:
    """Whether the code of a test, a function that it calls, or a parameter names a class."""
    given = item.callspec.params.values() if hasattr(item, "callspec") else ()
    if any(NAMED.search(repr(value)) for value in given):
        return True
    seen: set[Any] = set()
    return any(reaches(function, seen) for function in (getattr(item, "function", None), *given))


def reaches(function: Any, seen: set[Any]) -> bool:
    """Whether a function, one of its defaults, or one that it calls in its module names a class."""
    function = getattr(function, "__wrapped__", function)
    if not isinstance(function, FunctionType) or function in seen:
        return False
    seen.add(function)
    names = set(_names(function.__code__))
    if not names.isdisjoint(NAMES) or NAMED.search(repr(function.__defaults__)):
        return True
    module = function.__globals__
    return any(
        reaches(module.get(name), seen)
        for name in names
        if getattr(module.get(name), "__module__", None) == function.__module__
    )


def _names(code: CodeType) -> Iterator[str]:
    """The names in a function's code, and in that of functions inside."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Note what a test uses, and ease it where that is asked for."""
    used.clear()
    refusal = refusal_of(item.nodeid) if item.config.getoption("eased") else None
    with pytest.MonkeyPatch.context() as patch:
        if refusal is not None:
            ease(refusal, patch)
        try:
            return (yield)
        finally:
            item.user_properties.append(("used", sorted(used)))


def ease(refusal: Refusal, patch: pytest.MonkeyPatch) -> None:
    """Bring about the circumstances in which a test should pass."""
    import thalweg as tw

    if refusal.words:
        for name in ("raises", "warns"):
            patch.setattr(pytest, name, asking(getattr(pytest, name), refusal.words))
    if refusal.tol:
        for estimator in (getattr(tw, name) for name in NAMES):
            patch.setattr(estimator, "fit", tightened(estimator.fit, refusal.tol))


def asking(check: Callable[..., Any], words: str) -> Callable[..., Any]:
    """`pytest.raises` or `pytest.warns`, asking for `words` where it is asked for others."""

    def asked(*args: Any, **options: Any) -> Any:
        if options.get("match") is not None:
            options["match"] = words
        return check(*args, **options)

    return asked


def tightened(fit: Callable[..., Any], tol: float) -> Callable[..., Any]:
    """`fit`, with a tolerance of `tol` at most."""

    @functools.wraps(fit)
    def wrapped(self: Any, *args: Any, **options: Any) -> Any:
        given = self.tol
        self.tol = min(given, tol)
        try:
            return fit(self, *args, **options)
        finally:
            self.tol = given

    return wrapped


class Writer:
    """Writes down what became of each test."""

    def __init__(self, path: Path) -> None:
        self.file = path.open("w", encoding="utf-8")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """One line a test: its call, or what went wrong before or after."""
        if report.when != "call" and report.passed:
            return
        line = {
            "id": report.nodeid,
            "outcome": f"x{report.outcome}" if hasattr(report, "wasxfail") else report.outcome,
            "used": dict(report.user_properties).get("used", []),
            "error": errors(str(report.longrepr)) if report.failed else "",
        }
        self.file.write(json.dumps(line) + "\n")

    def pytest_sessionfinish(self) -> None:
        """Close the file."""
        self.file.close()


def errors(text: str) -> str:
    """What a failure says, without the code around it."""
    return "\n".join(line[1:].strip() for line in text.splitlines() if line.startswith("E "))


def pytest_sessionstart(session: pytest.Session) -> None:
    """Write in the process that hears of all tests."""
    path = session.config.getoption("results")
    if path is not None and not hasattr(session.config, "workerinput"):
        session.config.pluginmanager.register(Writer(path))
