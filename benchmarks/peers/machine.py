"""How many threads all tools get; to be imported before NumPy, BLAS, OpenMP and Numba read it.

Two, or one with `--shared` on the command line, which measures processor time on a machine that
others use at the same time.
"""

from __future__ import annotations

import os
import sys

SHARED = "--shared" in sys.argv
THREADS = 1 if SHARED else 2
for _variable in ("OMP", "OPENBLAS", "MKL", "NUMBA"):
    os.environ[f"{_variable}_NUM_THREADS"] = str(THREADS)
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:THREADS])
