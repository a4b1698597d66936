"""Where torch is not installed, what needs it is skipped: the one rule for the whole suite.

A test, or a file of tests, needs torch if it failed and torch was asked for on the way: imported
by itself or by what it calls. `Asked` stands last among the finders of modules, so that Python
comes to it with what no other has found.

The packages that promise to do without torch (pyproject.toml, "torch stays in the network half")
are not excused: what asks for it there has failed.
"""

from __future__ import annotations

import importlib.util
import sys
import tomllib
from importlib.abc import MetaPathFinder
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
PROMISE = "torch stays in the network half"


class Asked(MetaPathFinder):
    """Finds nothing, and notes that torch was looked for."""

    def __init__(self):
        self.since = False

    def find_spec(self, name, path, target=None):
        self.since = self.since or name.partition(".")[0] == "torch"


ASKED = Asked()
EXCUSED = []  # what was raised: a fixture that failed raises the same again for the next test


def is_here():
    """Whether torch is installed; if it is not, begin to note who asks for it."""
    if importlib.util.find_spec("torch") is not None:
        return True
    if ASKED not in sys.meta_path:
        sys.meta_path.append(ASKED)
    return False


def promised():
    """The folders of tests of what does without torch."""
    project = tomllib.loads((TESTS.parent / "pyproject.toml").read_text("utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    (modules,) = [each["source_modules"] for each in contracts if each["name"] == PROMISE]
    return [TESTS.joinpath(*module.split(".")[1:]) for module in modules]


FREE = promised()


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    ASKED.since = False
    report = yield
    return _excused(report, collector.path, None)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    ASKED.since = False
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    return _excused(report, item.path, call.excinfo and call.excinfo.value)


def _excused(report, path, raised):
    """The report, a failure turned into a skip where it was for want of torch."""
    if not report.failed or any(path.is_relative_to(folder) for folder in FREE):
        return report
    if ASKED.since:
        EXCUSED.append(raised)
    elif not any(raised is one for one in EXCUSED if one is not None):
        return report
    report.outcome, report.longrepr = "skipped", (str(path), 0, "Skipped: torch is not installed")
    return report
