"""A step of each optimizer beside the best of torch's forms of it, on the CPU.

    python benchmarks/nets.py             three shapes, every optimizer; then options, then memory
    python benchmarks/nets.py --repeats 50

torch has up to three forms: one tensor after another (default), lists of tensors (foreach), and one
call (fused). Every form, and a step of Thalweg, is made in turn, again and again; the table has
medians in milliseconds, the ratio to the best of torch, and the ratio to copying as many bytes as a
step reads and writes, which is what memory allows.

Memory is what a process has at most beyond parameters and gradients, by optimizer (on Linux).
"""

from __future__ import annotations

import argparse
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch

import thalweg as tw

SHAPES = ((200, 10_000), (300, 1_000), (4, 2_500_000))
MOMENTUM = {"momentum": 0.9}
# By name: torch's class, its options, whether it has a fused form, and arrays that a step reads and
# writes (w twice, g once, each buffer twice).
PEERS: dict[str, tuple[type, dict, bool, int]] = {
    "SGD": (torch.optim.SGD, {}, True, 3),
    "HeavyBall": (torch.optim.SGD, MOMENTUM, True, 5),
    "Nesterov": (torch.optim.SGD, {**MOMENTUM, "nesterov": True}, True, 5),
    "AdaGrad": (torch.optim.Adagrad, {}, True, 5),
    "RMSProp": (torch.optim.RMSprop, {}, False, 5),
    "Adam": (torch.optim.Adam, {}, True, 7),
    "Nadam": (torch.optim.NAdam, {}, False, 7),
}
OPTIONS = {"clip_norm": 1.0, "weight_decay": 1e-4, "max_norm": 3.0}


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=30, help="rounds in which each is timed")
    parser.add_argument("--memory", nargs=2, metavar=("WHOSE", "NAME"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.memory:
        print(peak(*options.memory))
        return
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads, float32")
    for count, size in SHAPES:
        shape(count, size, options.repeats)
    memory()


def parameters(count: int, size: int) -> list[torch.nn.Parameter]:
    """Matrices of 50 columns or so, with gradients."""
    made = []
    for k in range(count):
        torch.manual_seed(k)
        made.append(torch.nn.Parameter(torch.randn(size // 50, 50)))
        made[-1].grad = torch.randn(size // 50, 50)
    return made


def forms(name: str) -> dict[str, Callable]:
    """Makers of torch's optimizers by form."""
    make, options, has_fused, _ = PEERS[name]
    found = {form: {"foreach": form == "foreach"} for form in ("default", "foreach")}
    if has_fused:
        found["fused"] = {"fused": True}
    return {
        form: lambda p, extra=extra: make(p, lr=1e-3, **options, **extra)
        for form, extra in found.items()
    }


def shape(count: int, size: int, repeats: int) -> None:
    """The table for so many tensors of so many elements."""
    print(f"\n{count} tensors of {size:,}, milliseconds a step")
    heads = ("thalweg", "default", "foreach", "fused", "ratio", "of a copy", "with options")
    print(f"  {'':<12}" + "".join(f"{head:>13}" for head in heads))
    for name, (*_, arrays) in PEERS.items():
        own = getattr(tw.nets, name)
        makers = {"thalweg": lambda p, own=own: own(p, lr=1e-3), **forms(name)}
        makers["with options"] = lambda p, own=own: own(p, lr=1e-3, **OPTIONS)
        steps = {form: make(parameters(count, size)).step for form, make in makers.items()}
        steps["copy"] = copier(count * size * arrays // 2)
        times = medians(steps, repeats)
        best = min(times[form] for form in forms(name))
        columns = [times.get(form) for form in ("thalweg", "default", "foreach", "fused")]
        print(
            f"  {name:<12}"
            + "".join(f"{'-' if t is None else f'{1e3 * t:.3f}':>13}" for t in columns)
            + f"{times['thalweg'] / best:>13.2f}{times['thalweg'] / times['copy']:>13.2f}"
            + f"{times['with options'] / times['thalweg']:>12.2f}×"
        )


def copier(elements: int) -> Callable[[], object]:
    """A copy that reads and writes so many elements each."""
    source, target = torch.ones(elements), torch.zeros(elements)
    return lambda: target.copy_(source)


def medians(jobs: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Of each job's seconds, all made in turn."""
    times: dict[str, list[float]] = {name: [] for name in jobs}
    for job in jobs.values():
        job()
    for _ in range(repeats):
        for name, job in jobs.items():
            start = time.perf_counter()
            job()
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(taken) for name, taken in times.items()}


def memory() -> None:
    """The table of peaks, each in a process of its own."""
    print("\npeak memory beyond parameters and gradients, 4 tensors of 2,500,000, MB")
    heads = ("thalweg", "default", "foreach", "fused")
    print(f"  {'':<12}" + "".join(f"{head:>13}" for head in heads))
    for name in PEERS:
        cells = []
        for whose in ("thalweg", *forms(name)):
            child = [sys.executable, __file__, "--memory", whose, name]
            done = subprocess.run(child, capture_output=True, text=True, check=True)
            cells.append(f"{float(done.stdout):>13.0f}")
        print(f"  {name:<12}" + "".join(cells))


def peak(whose: str, name: str) -> float:
    """MB that a process has at most during three steps, beyond what it had before them."""
    own = getattr(tw.nets, name)
    make = (lambda p: own(p, lr=1e-3)) if whose == "thalweg" else forms(name)[whose]
    few = make(parameters(4, 50))  # loads and compiles
    few.step()
    large = parameters(4, 2_500_000)
    Path("/proc/self/clear_refs").write_text("5")  # the peak is what there is now
    before = resident("VmRSS")
    optimizer = make(large)
    for _ in range(3):
        optimizer.step()
    return (resident("VmHWM") - before) / 1024


def resident(field: str) -> int:
    """kB of memory in use: VmRSS now, VmHWM at most."""
    found = re.search(rf"{field}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found, "needs Linux"
    return int(found[1])


if __name__ == "__main__":
    main()
