"""The command `thalweg`: one file per verb, and what they share.

    options ─► request: a Job ─► jobs ─► result ─► screen: text, or JSON by schemas/<verb>.json

Answers go to stdout; notes, progress and errors to stderr. Exit codes are in `exit_code`.
"""

from thalweg.cli.program import main

__all__ = ["main"]
