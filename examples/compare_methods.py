"""All methods on two surfaces: Rosenbrock's valley and an ill-conditioned quadratic.

Each method runs with its defaults until ‖∇f‖∞ ≤ 10⁻⁸·max(1, ‖∇f(w₀)‖∞), or for 20,000 steps. The
table counts steps and gradient evaluations (a Hessian-vector product counts as one), and shows how
far f is from its minimum and the verdict.
"""

from __future__ import annotations

import numpy as np

import thalweg as tw

MAX_ITER = 20_000


def compare(title: str, surface: tw.surfaces.Surface, w0: np.ndarray) -> str:
    """Run every method from w0; the fewest evaluations come first."""
    runs = [
        tw.minimize(surface, name, w0, tol=1e-8, max_iter=MAX_ITER, progress=False)
        for name, method in tw.METHODS.items()
        if not method.only_linear
    ]
    runs.sort(key=lambda run: (not run.converged, run.evaluations, run.value))
    lines = [f"  {'method':<10}  {'steps':>6}  {'gradients':>9}  {'f − f*':>7}  verdict"]
    lines += [
        f"  {run.method:<10}  {run.iterations:>6,}  {run.evaluations:>9,}  "
        f"{run.value - surface.minimum:>7.1e}  {run.outcome.word.lower()}"
        for run in runs
    ]
    return "\n".join([title, *lines])


def main() -> None:
    """Print both comparisons, one run in full, and what its end point is."""
    rosenbrock = tw.surfaces.Rosenbrock()
    valley = np.array([-1.5, 2.0])
    print(compare("Rosenbrock's valley from (−1.5, 2)", rosenbrock, valley))
    quadratic = tw.surfaces.Quadratic.conditioned(1e4, dim=20, rotation="random")
    print(compare("Quadratic in 20 variables, κ = 10⁴", quadratic, np.ones(20)))

    print("\nOne run, and the verdict on where it ended:\n")
    run = tw.minimize(rosenbrock, "lbfgs", valley, tol=1e-8)
    print(run)
    print(tw.classify(rosenbrock, run.w))

    print("\nA step beyond the stability limit 2/L:\n")
    run = tw.minimize(tw.surfaces.Quadratic((1.0, 10.0)), tw.GD(step=0.21), [1.0, 1.0])
    print(run)


if __name__ == "__main__":
    main()
