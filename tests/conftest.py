"""The workers of a test run share the cores: torch keeps to one thread in each.

What Hypothesis draws is the same every time, so that a run that passed passes again.
"""

import sys

import pytest
from hypothesis import settings

settings.register_profile("same", derandomize=True)
settings.load_profile("same")


@pytest.fixture(autouse=True)
def one_thread_for_torch():
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)
