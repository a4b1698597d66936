"""Many labs: one process a core, the longest first, each result on disk as soon as it is there.

A lab has one thread to itself, as two of them that both use all cores wait for each other more than
they work. One that breaks down is a lab that failed, and the others go on.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path

from thalweg.core.environment import environment
from thalweg.labbook.catalogue import lab
from thalweg.labbook.result import Findings, Result, result_of
from thalweg.labbook.ruling import Check

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def run_many(
    names: Sequence[str],
    budget: str,
    *,
    seed: int = 0,
    folder: str | Path = "labs",
    workers: int | None = None,
) -> Iterator[Result]:
    """Run labs and yield their results as they end; `workers` processes, one a core by default."""
    order = sorted(names, key=lambda name: -lab(name).seconds)
    workers = min(len(order), workers or len(os.sched_getaffinity(0)))
    if workers <= 1:
        for name in order:
            yield run_one(name, budget, seed, str(folder))
        return
    with one_thread(), ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        tasks: list[Future[Result]] = [
            pool.submit(run_one, name, budget, seed, str(folder)) for name in order
        ]
        try:
            for task in as_completed(tasks):
                yield task.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def run_one(name: str, budget: str, seed: int, folder: str) -> Result:
    """Run a lab and save its result, whatever becomes of it."""
    tried = lab(name)
    try:
        result = tried.run(budget, seed=seed, folder=folder)
    except Exception as problem:
        said = f"{type(problem).__name__}: {problem}"
        result = result_of(
            Findings([Check("the experiment comes to its end", False, said)]),
            name=name, title=tried.title, claim=tried.claim, expected=tried.expected_at(budget),
            budget=budget, seed=seed, seconds=0.0, environment=environment(),
        )  # fmt: skip
    result.save(folder)
    return result


def runnable(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Names of labs that can be run here, and of those that would need PyTorch."""
    if find_spec("torch") is not None:
        return list(names), []
    left_out = [name for name in names if lab(name).needs_torch]
    return [name for name in names if name not in left_out], left_out


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Have processes that are started meanwhile use one thread each."""
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
