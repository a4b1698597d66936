"""What a run was made with: versions, machine, date."""

from __future__ import annotations

import functools
import platform
import sys
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version

PACKAGES = ("thalweg", "numpy", "scipy", "numba", "scikit-learn", "torch")


def environment() -> dict[str, str]:
    """Versions of what is installed, the kind of machine and the time, for a run's record."""
    return {**_versions(), "date": datetime.now(UTC).isoformat(timespec="seconds")}


@functools.cache
def _versions() -> dict[str, str]:
    """What does not change while the process lives; reading it takes 7 ms, as long as some runs."""
    found = {"python": sys.version.split()[0], "machine": platform.platform()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
