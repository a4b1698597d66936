"""The workers of a test run share the cores: torch keeps to one thread in each."""

import sys

import pytest


@pytest.fixture(autouse=True)
def one_thread_for_torch():
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)
