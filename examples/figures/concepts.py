"""Draw `docs/concepts/figures/convergence.svg` and `race.svg`: the pictures of the figures' page.

`python examples/figures/concepts.py`; needs nothing beside Thalweg. The runs are on breast-cancer
data, which come with scikit-learn, standardized.
"""

from __future__ import annotations

from pathlib import Path

from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

import thalweg as tw

FOLDER = Path(__file__).parents[2] / "docs" / "concepts" / "figures"


def convergence() -> tw.Plot:
    """Five methods on logistic regression."""
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    problem = tw.LinearProblem(X, y, loss="logistic", l2=1 / len(X), fit_intercept=False)
    methods = ("gd", "nesterov", "sag", "lbfgs", "newton")
    runs = [tw.minimize(problem, method, tol=1e-6) for method in methods]
    return tw.plot(runs, x="passes", objective=problem)


def race() -> tw.Plot:
    """Five methods on Himmelblau's surface."""
    methods = ["gd", "nesterov", "rmsprop", "bfgs", "newton"]
    return tw.plot(tw.race(tw.surfaces.Himmelblau(), methods))


def main() -> None:
    """Write both."""
    for name, drawn in {"convergence": convergence(), "race": race()}.items():
        file = drawn.save(FOLDER / f"{name}.svg")
        print(drawn)
        print(f"{file}: {file.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
