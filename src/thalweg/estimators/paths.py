"""Paths as scikit-learn gives them: arrays of coefficients along a grid of penalties.

    lasso, elastic net   minimise (1/2n) Σᵢ (xᵢᵀw − yᵢ)² + alpha·r‖w‖₁ + ½ alpha·(1 − r)‖w‖²
    logistic             minimise C Σᵢ sᵢℓ(xᵢᵀw + b, yᵢ) + r‖w‖₁ + ½(1 − r)‖w‖²

from strong penalties to weak, each point begun at the one before (`planner.path_points`), and each
proved to be within `tol`; a point that is not is told by a `ConvergenceWarning`.
"""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_X_y

from thalweg.core.errors import InputError
from thalweg.estimators.certified import check_classes, check_squares
from thalweg.objectives.column_penalty import ByColumn
from thalweg.objectives.linear import LinearProblem
from thalweg.planner.minimize import minimize
from thalweg.planner.path import strongest
from thalweg.planner.path_points import path_points

NO_EFFECT = frozenset(
    ("precompute", "Xy", "copy_X", "coef_init", "verbose", "check_input", "random_state")
)


def enet_path(
    X: Any,
    y: Any,
    *,
    l1_ratio: float = 0.5,
    eps: float = 1e-3,
    alphas: Any = 100,
    return_n_iter: bool = False,
    positive: bool = False,
    tol: float = 1e-6,
    max_iter: int = 1000,
    sample_weight: Any = None,
    **idle: Any,
) -> tuple[Any, ...]:
    """The elastic net along alphas, without an intercept: `sklearn.linear_model.enet_path`.

    Parameters
    ----------
    X, y : float array or sparse matrix of shape (n, p), float array of shape (n,)
    l1_ratio : float, default=0.5
        Share of the l1 penalty, above 0 where the alphas are made here.
    eps : float, default=1e-3
        The smallest alpha of a grid that is made here, as a part of the largest.
    alphas : int or array-like, default=100
        How many alphas, from the one where all coefficients are zero; or the alphas.
    return_n_iter : bool, default=False
        Whether to return the iterations too.
    positive : bool, default=False
        Whether coefficients are to be at least 0; the dual then asks −vⱼ ≤ l1, and not |vⱼ| ≤ l1.
    tol : float, default=1e-6
        Thalweg's tolerance: a duality gap of at most tol times F(0).
    max_iter : int, default=1000
        Iterations at a point at most.
    sample_weight : float array of shape (n,), default=None
    precompute, Xy, copy_X, coef_init, verbose, check_input, random_state
        Have no effect.

    Returns
    -------
    alphas : float array of shape (K,), the largest first
    coefs : float array of shape (p, K)
    dual_gaps : float array of shape (K,), NaN without a penalty
    n_iters : list of int, where asked for

    >>> import numpy as np, thalweg as tw
    >>> X, y = np.eye(3), np.array([3.0, 2.0, 1.0])
    >>> alphas, coefs, gaps = tw.enet_path(X, y, alphas=[0.9, 0.1], l1_ratio=1.0)
    >>> coefs.round(1).tolist()
    [[0.3, 2.7], [0.0, 1.7], [0.0, 0.7]]
    """
    unknown = set(idle) - NO_EFFECT
    if unknown:
        raise InputError(
            f"arguments must be those of scikit-learn's enet_path, got {sorted(unknown)[0]!r}: "
            "leave it out"
        )
    X, y = check_X_y(X, y, accept_sparse="csr", dtype=[np.float64, np.float32], y_numeric=True)
    said = ByColumn((0.0, None)) if positive else None
    problem = LinearProblem(X, y, penalty=said, fit_intercept=False, sample_weight=sample_weight)
    check_squares(problem)
    if isinstance(alphas, Integral):
        if l1_ratio == 0.0:
            raise InputError("l1_ratio must be above 0 without alphas, got 0: give alphas=[1.0]")
        top = strongest(problem) / l1_ratio
        grid = np.geomspace(top, eps * top, int(alphas)) if top > 0.0 else np.zeros(int(alphas))
    else:
        grid = np.sort(np.asarray(alphas, dtype=np.float64))[::-1]
    found = path_points(
        problem, grid * l1_ratio, grid * (1.0 - l1_ratio), tol=tol, max_iter=max_iter
    )
    _warn_of(int(np.count_nonzero(~found.is_done)), len(grid), tol)
    result = (grid, np.asfortranarray(found.W.T), found.gaps)
    return (*result, found.iterations.tolist()) if return_n_iter else result


def lasso_path(X: Any, y: Any, **options: Any) -> tuple[Any, ...]:
    """The lasso along alphas, without an intercept: `sklearn.linear_model.lasso_path`.

    Arguments and results are those of `thalweg.enet_path`, with l1_ratio = 1.

    >>> import numpy as np, thalweg as tw
    >>> alphas, coefs, gaps = tw.lasso_path(np.eye(3), np.array([3.0, 2.0, 1.0]), alphas=3, eps=0.1)
    >>> alphas.round(2).tolist(), np.count_nonzero(coefs, axis=0).tolist()
    ([1.0, 0.32, 0.1], [0, 3, 3])
    """
    if "l1_ratio" in options:
        raise InputError("l1_ratio must be left out here, got one: use enet_path")
    return enet_path(X, y, l1_ratio=1.0, **options)


def logistic_path(
    X: Any,
    y: Any,
    *,
    Cs: Any = 10,
    l1_ratio: float = 0.0,
    fit_intercept: bool = True,
    tol: float = 1e-6,
    max_iter: int = 100,
    sample_weight: Any = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Logistic regression along inverse strengths C, multinomial for three classes or more.

    Parameters
    ----------
    X, y : float array or sparse matrix of shape (n, p), labels of shape (n,)
    Cs : int or array-like, default=10
        How many, from 10⁻⁴ to 10⁴ as in scikit-learn; or the Cs.
    l1_ratio : float, default=0.0
        Share of the l1 penalty.
    fit_intercept : bool, default=True
        Whether to fit an intercept, which is not penalised.
    tol : float, default=1e-6
        Thalweg's tolerance: a duality gap of at most tol times the loss of the best constant.
    max_iter : int, default=100
        Iterations at a point at most.
    sample_weight : float array of shape (n,), default=None

    Returns
    -------
    coefs : float array of shape (K, p + 1), or (K, n_classes, p + 1); intercepts in the end if any
    Cs : float array of shape (K,), the smallest first
    n_iter : int array of shape (K,)

    >>> import thalweg as tw
    >>> from sklearn.datasets import load_iris
    >>> coefs, Cs, _ = tw.logistic_path(*load_iris(return_X_y=True), Cs=[0.1, 10.0])
    >>> coefs.shape, Cs.tolist()
    ((2, 3, 5), [0.1, 10.0])
    """
    X, y = check_X_y(X, y, accept_sparse="csr", dtype=[np.float64, np.float32])
    check_classes(y)
    classes = np.unique(y)
    if len(classes) < 2:
        raise InputError(f"y must hold at least two classes, got one class: {classes[0]!r}")
    grid = np.logspace(-4, 4, int(Cs)) if isinstance(Cs, Integral) else np.sort(np.asarray(Cs))
    loss = "logistic" if len(classes) == 2 else "multinomial"
    problem = LinearProblem(X, y, loss, fit_intercept=fit_intercept, sample_weight=sample_weight)
    check_squares(problem)
    total = float(len(y) if sample_weight is None else np.sum(sample_weight))
    runs: list[Any] = []
    for C in grid.tolist():
        strength = 1.0 / (C * total)
        here = problem.replaced(l1=l1_ratio * strength, l2=(1.0 - l1_ratio) * strength)
        start = runs[-1].w if runs else None
        runs.append(minimize(here, "auto", start, tol=tol, max_iter=max_iter, progress=False))
    _warn_of(sum(not run.converged for run in runs), len(runs), tol)
    coefs = []
    for run in runs:
        W, b = problem.coefficients(run.w)
        W, b = np.atleast_2d(W.T), np.atleast_1d(b)
        coefs.append(np.column_stack([W, b]) if fit_intercept else W)
    stacked = np.stack(coefs)
    iterations = np.array([run.iterations for run in runs], dtype=np.int32)
    return stacked[:, 0] if len(classes) == 2 else stacked, grid.astype(np.float64), iterations


def _warn_of(missed: int, count: int, tol: float) -> None:
    if missed:
        warnings.warn(
            f"{missed} of {count} points of the path did not reach tol={tol:g}: use a larger tol "
            "or max_iter",
            ConvergenceWarning,
            stacklevel=3,
        )
