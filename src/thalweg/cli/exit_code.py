"""Exit codes of the command, and what they say of a run.

0  done: a linear model is certified, a network was trained to its end
1  internal error, a bug of Thalweg
2  bad usage or data
3  stopped before it was certified: a limit, no minimum, or Ctrl-C; or at a saddle
4  diverged
5  a claim failed, of a lab
130  quit by Ctrl-C, with nothing done or by a second one;  141  whoever read the output is gone
"""

from __future__ import annotations

from thalweg.core import verdict as words

DONE, BUG, BAD_INPUT, STOPPED, DIVERGED, CLAIM_FAILED = range(6)
QUIT, PIPE_BROKEN = 130, 141


def code_of(verdict: words.Verdict) -> int:
    """The exit code for a run that came to this."""
    if verdict.word in words.DONE:
        return DONE
    return DIVERGED if verdict.word == words.DIVERGED else STOPPED
