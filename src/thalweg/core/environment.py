"""What a run was made with: versions, machine, date."""

from __future__ import annotations

import platform
import sys
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version

PACKAGES = ("thalweg", "numpy", "scipy", "numba", "scikit-learn", "torch")


def environment() -> dict[str, str]:
    """Versions of what is installed, the kind of machine and the time, for a run's record."""
    found = {"python": sys.version.split()[0], "machine": platform.platform()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    found["date"] = datetime.now(UTC).isoformat(timespec="seconds")
    return found
