"""The workers of a test run share the cores: torch keeps to one thread in each.

What Hypothesis draws is the same every time, so that a run that passed passes again. Where torch is
not installed, what needs it is skipped (`torchless`). What takes long is marked so (`slow`).
"""

import sys

import pytest
from hypothesis import settings

import slow
import torchless

settings.register_profile("same", derandomize=True)
settings.load_profile("same")


def pytest_configure(config):
    if not torchless.is_here():
        config.pluginmanager.register(torchless)


def pytest_ignore_collect(collection_path, config):
    """Files that are slow as a whole are not even imported where no slow test is asked for."""
    if config.option.markexpr == "not slow" and collection_path.suffix == ".py":
        return True if slow.name_of(collection_path) in slow.rows() else None
    return None


def pytest_collection_modifyitems(items):
    table = slow.rows()
    for item in items:
        if slow.is_slow(item.nodeid, table):
            item.add_marker(pytest.mark.slow)


@pytest.fixture
def cut_finely(monkeypatch):
    """A call after which data of a few rows have many leaves, as large data have."""
    from thalweg.kernels import leaves

    def cut():
        for name, value in (("SECOND", 1), ("LEAF", 1), ("ADDED", 1e-9), ("OFTEN", 1e-9)):
            monkeypatch.setattr(leaves, name, value)
        leaves.leaf_edges.cache_clear()
        assert len(leaves.leaf_edges(10, 20, 100)) == 9

    yield cut
    leaves.leaf_edges.cache_clear()


@pytest.fixture
def wait(monkeypatch):
    """A call after which so many seconds have passed, by a clock that nothing else moves."""
    from thalweg.core import clock

    moment = [1000.0]
    monkeypatch.setattr(clock, "perf_counter", lambda: moment[0])
    # What tests before this one compiled is a fraction, which sums of whole seconds are rounded by.
    monkeypatch.setattr(clock.COMPILING, "_spent", (0.0, None))

    def wait(seconds):
        moment[0] += seconds

    return wait


@pytest.fixture(autouse=True)
def one_thread_for_torch():
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)
