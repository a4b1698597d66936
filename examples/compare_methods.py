"""All methods on two surfaces: Rosenbrock's valley and an ill-conditioned quadratic.

Each method runs with its defaults until ‖∇f‖∞ ≤ 10⁻⁸·max(1, ‖∇f(w₀)‖∞), or for 20,000 steps. The
table counts steps and gradient evaluations (a Hessian-vector product counts as one), and shows how
far f is from its minimum and the verdict. Run it with `make demo`.
"""

from __future__ import annotations

import numpy as np
from rich.console import Console
from rich.table import Table

import thalweg as tw

MAX_ITER = 20_000
COLOURS = {tw.Outcome.CONVERGED: "green", tw.Outcome.DIVERGED: "red"}


def compare(title: str, surface: tw.surfaces.Surface, w0: np.ndarray) -> Table:
    """Run every method from w0; the fewest evaluations come first."""
    runs = [
        tw.minimize(surface, name, w0, tol=1e-8, max_iter=MAX_ITER, progress=False)
        for name, method in tw.METHODS.items()
        if not method.only_linear
    ]
    runs.sort(key=lambda run: (not run.converged, run.evaluations, run.value))
    table = Table(title=title, title_justify="left")
    table.add_column("method")
    table.add_column("steps", justify="right")
    table.add_column("gradients", justify="right")
    table.add_column("f − f*", justify="right")
    table.add_column("verdict")
    for run in runs:
        table.add_row(
            run.method,
            f"{run.iterations:,}",
            f"{run.evaluations:,}",
            f"{run.value - surface.minimum:.1e}",
            run.outcome.word.lower(),
            style=COLOURS.get(run.outcome, "yellow"),
        )
    return table


def main() -> None:
    """Print both comparisons, one run in full, and what its end point is."""
    console = Console()
    rosenbrock = tw.surfaces.Rosenbrock()
    valley = np.array([-1.5, 2.0])
    console.print(compare("Rosenbrock's valley from (−1.5, 2)", rosenbrock, valley))
    quadratic = tw.surfaces.Quadratic.conditioned(1e4, dim=20, rotation="random")
    console.print(compare("Quadratic in 20 variables, κ = 10⁴", quadratic, np.ones(20)))

    print("\nOne run, and the verdict on where it ended:\n")
    run = tw.minimize(rosenbrock, "lbfgs", valley, tol=1e-8)
    print(run)
    print(tw.classify(rosenbrock, run.w))

    print("\nA step beyond the stability limit 2/L:\n")
    run = tw.minimize(tw.surfaces.Quadratic((1.0, 10.0)), tw.GD(step=0.21), [1.0, 1.0])
    print(run)


if __name__ == "__main__":
    main()
