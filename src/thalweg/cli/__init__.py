"""The command `thalweg`: one file per verb, and what they share.

Answers go to stdout, progress and warnings to stderr. Exit codes: 0 done, 1 internal error, 2 bad
usage or data, 3 stopped before certified, 4 diverged.
"""

from thalweg.cli.program import main

__all__ = ["main"]
