"""How close a pass of each rule comes to copying as many bytes as it reads and writes.

A rule does little arithmetic per byte, so at best it runs at the speed of memory. For 10⁷ float32
elements, each row times the pass and, right after it, a copy (`np.copyto`) that reads and writes
as many bytes in all, on the same thread pool; the ratio of such a pair is little disturbed by what
else the machine does. The table shows the median and the best of these ratios. Target: 1.2 with all
threads.

Ratios under 1 are no error: a copy first reads the lines that it overwrites, a pass in place has
read them anyway. The line above each table gives the speed of the simplest pass in place,
`np.negative`.
"""

from __future__ import annotations

import argparse
import inspect
import statistics
import time
from collections.abc import Callable

import numpy as np

from thalweg import rules
from thalweg.kernels.elementwise import PASSES
from thalweg.kernels.threads import available_threads, in_threads

SCALARS = {
    "t": 10,
    "lr": 1e-3,
    "beta": 0.9,
    "alpha": 0.9,
    "beta1": 0.9,
    "beta2": 0.999,
    "eps": 1e-8,
    "mu": 0.47,
    "mu_next": 0.48,
    "mu_product": 0.1,
    "decay": 1e-2,
    "threshold": 1e-6,
}
TARGET = 1.2


def main() -> None:
    """Print one table per number of threads."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=10_000_000, help="elements per buffer")
    parser.add_argument("--repeats", type=int, default=11, help="timed pairs per rule")
    options = parser.parse_args()

    rng = np.random.default_rng(0)
    # Of the order of 1, so that no moment ends among the denormals, which are slow.
    pool = {name: rng.standard_normal(options.size, dtype=np.float32) for name in "wgmvs"}
    pool["v"] = np.square(pool["v"])
    pool["s"] = np.square(pool["s"])
    most = max(bytes_per_element(name) for name in PASSES)
    copies = [np.ones(options.size * most // 8, dtype=np.float32) for _ in range(2)]

    available = available_threads()
    print(
        f"{options.size:,} float32 elements, {options.repeats} pairs, {available} threads available"
    )
    for threads in sorted({1, available}):
        measure(pool, copies, threads, options.repeats)


def measure(pool: dict, copies: list[np.ndarray], threads: int, repeats: int) -> None:
    """Print the table for one number of threads."""
    jobs = {name: job(name, pool, copies, threads) for name in PASSES}
    for run, copy in jobs.values():  # compile, touch
        run()
        copy()
    pairs: dict[str, list[tuple[float, float]]] = {name: [] for name in PASSES}
    for _ in range(repeats):
        for name, (run, copy) in jobs.items():
            pairs[name].append((seconds(run), seconds(copy)))

    size = pool["w"].size
    in_place = [
        seconds(lambda: in_threads(negate, (pool["w"],), (), threads)) for _ in range(repeats)
    ]
    print(f"\n{threads} thread{'s' if threads > 1 else ''}, ", end="")
    print(f"in place {8 * size / 1e9 / statistics.median(in_place):.1f} GB/s")
    print(f"{'rule':<20}{'bytes':>6}{'rule GB/s':>11}{'copy GB/s':>11}{'median':>8}{'best':>7}")
    for name, times in pairs.items():
        moved = bytes_per_element(name) * size / 1e9
        rule, copy = (moved / statistics.median(column) for column in zip(*times, strict=True))
        ratios = [pass_time / copy_time for pass_time, copy_time in times]
        median = statistics.median(ratios)
        mark = "" if median <= TARGET else f"  above {TARGET}"
        print(f"{name:<20}{bytes_per_element(name):>6}{rule:>11.1f}{copy:>11.1f}", end="")
        print(f"{median:>8.2f}{min(ratios):>7.2f}{mark}")


def job(
    name: str, pool: dict, copies: list[np.ndarray], threads: int
) -> tuple[Callable[[], None], Callable[[], None]]:
    """The pass of a rule, and the copy that moves as many bytes."""
    arguments = list(inspect.signature(getattr(rules, name)).parameters)
    buffers = [pool[argument] for argument in arguments if argument in pool]
    scalars = [SCALARS[argument] for argument in arguments if argument not in pool]
    half = buffers[0].size * bytes_per_element(name) // 8  # float32: half read, half written
    source, target = (copy[:half] for copy in copies)
    return (
        lambda: in_threads(PASSES[name], buffers, scalars, threads),
        lambda: in_threads(np.copyto, (target, source), (), threads),
    )


def negate(w: np.ndarray) -> None:
    """Change `w` in place with as little work as possible."""
    np.negative(w, out=w)


def bytes_per_element(name: str) -> int:
    """Read and written: every buffer is read, and all but the gradient are written."""
    arguments = inspect.signature(getattr(rules, name)).parameters
    buffers = [argument for argument in arguments if argument in "wgmvs"]
    return 4 * (len(buffers) + sum(buffer != "g" for buffer in buffers))


def seconds(run: Callable[[], None]) -> float:
    """How long one call takes."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
