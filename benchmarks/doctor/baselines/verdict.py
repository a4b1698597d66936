"""`Verdict`: what a detector says of a training."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Verdict:
    """Whether something is wrong, and what, in the order in which the detector would say it."""

    detected: bool
    causes: tuple[str, ...]  # of `thalweg.doctor.causes`, each once


def verdict(causes: Iterable[str]) -> Verdict:
    """A verdict of these causes; nothing is wrong if there are none."""
    once = tuple(dict.fromkeys(causes))
    return Verdict(bool(once), once)
