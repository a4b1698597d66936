"""Gradient descent on two features, before and after scaling: contours, paths, steps.

Least squares on mean radius and mean texture of the breast cancer data, with step 1/L, until the
gradient is 10⁻⁶ of the first.

    python examples/figures/scaling.py [file]      draws docs/nets/figures/scaling.svg
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
from sklearn.datasets import load_breast_cancer

import thalweg as tw

SCALERS = {
    "as it comes": None,
    "min-max to [0, 1]": tw.scaling.MinMaxScaler(),
    "z-score": tw.scaling.ZScore(),
    "PCA whitening": tw.scaling.Whitening("pca"),
}


def descend(H: np.ndarray, w_best: np.ndarray, tol: float = 1e-6) -> tuple[np.ndarray, float]:
    """The path of gradient descent on ½(w − w*)ᵀH(w − w*) from 0, and H's condition number."""
    curvature = np.linalg.eigvalsh(H)
    w = np.zeros(2)
    path = [w]
    while np.linalg.norm(H @ (w - w_best)) > tol * np.linalg.norm(H @ w_best):
        w = w - H @ (w - w_best) / curvature[-1]
        path.append(w)
    return np.array(path), curvature[-1] / curvature[0]


def main(path: Path) -> None:
    """Draw the four panels, and print condition numbers and steps."""
    mpl.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import MaxNLocator

    plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "thalweg", "font.size": 9})
    data = load_breast_cancer()
    y = data.target - data.target.mean()
    figure, axes = plt.subplots(1, 4, figsize=(11, 3.1), layout="constrained")
    for panel, (name, scaler) in zip(axes, SCALERS.items(), strict=True):
        X = data.data[:, :2] if scaler is None else scaler.fit_transform(data.data[:, :2])
        H, w_best = X.T @ X / len(X), np.linalg.lstsq(X, y, rcond=None)[0]
        steps, kappa = descend(H, w_best)
        print(f"{name:18}  κ = {kappa:8.1f}   {len(steps) - 1:5} steps")
        reach = 1.6 * np.linalg.norm(w_best)
        grid = np.linspace(-reach, reach, 71)
        d = np.stack(np.meshgrid(grid, grid), axis=-1)
        value = 0.5 * np.einsum("...i,ij,...j", d, H, d)
        levels = value.max() * np.geomspace(1e-4, 0.8, 9)
        panel.contour(w_best[0] + grid, w_best[1] + grid, value, levels, cmap="Blues_r",
                      linewidths=0.8)  # fmt: skip
        thinned = np.vstack([steps[:20], steps[20::8]])
        panel.plot(*thinned.T, color="#e45756", linewidth=1.2)
        panel.plot(*steps[:60].T, "o", color="#e45756", markersize=2.5)
        panel.plot(*w_best, "*", color="black", markersize=9)
        count = f"{len(steps) - 1} step{'s' if len(steps) > 2 else ''}"
        panel.set_title(f"{name}\nκ = {kappa:.3g}, {count}")
        panel.xaxis.set_major_locator(MaxNLocator(4))
        panel.yaxis.set_major_locator(MaxNLocator(4))
        panel.set_aspect("equal")
        panel.tick_params(labelsize=7)
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None, dpi=110)


if __name__ == "__main__":
    here = Path(__file__).parents[2] / "docs" / "nets" / "figures" / "scaling.svg"
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else here)
