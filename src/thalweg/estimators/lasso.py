"""The lasso, with scikit-learn's face: the elastic net with nothing but l1.

minimise  (1/2Σs) Σᵢ sᵢ (xᵢᵀw + b − yᵢ)² + alpha‖w‖₁
"""

from __future__ import annotations

from typing import Any, ClassVar

from thalweg.estimators.certified import AUTO
from thalweg.estimators.elastic_net import ElasticNet
from thalweg.methods.method import Method


class Lasso(ElasticNet):
    """Linear least squares with an l1 penalty: `sklearn.linear_model.Lasso`, certified.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the penalty; 0 is ordinary least squares.
    fit_intercept, precompute, copy_X, max_iter, tol, warm_start, positive, random_state,
    selection, bounds, penalty_weight
        As in `thalweg.ElasticNet`; `tol` is Thalweg's.
    method : str or Method, default="auto"
        A method of `thalweg.minimize`, by name or as an object.

    Attributes
    ----------
    coef_, intercept_, sparse_coef_, dual_gap_, n_iter_, n_features_in_, feature_names_in_
        As in scikit-learn; `dual_gap_` is certificate_.gap.
    method_, plan_, certificate_, history_, runs_
        The method, its plan, the proof, the trace and the run itself; lists for several targets.

    >>> import numpy as np, thalweg as tw
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> model = tw.Lasso(alpha=0.5).fit(X, [0.0, 1.0, 2.0])
    >>> model.coef_.round(3).tolist(), model.dual_gap_ == model.certificate_.gap
    ([0.25], True)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        name: allowed
        for name, allowed in ElasticNet._parameter_constraints.items()
        if name != "l1_ratio"
    }

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        precompute: Any = False,
        copy_X: bool = True,
        max_iter: int | None = 1000,
        tol: float = 1e-6,
        warm_start: bool = False,
        positive: bool = False,
        random_state: Any = None,
        selection: str = "cyclic",
        bounds: Any = None,
        penalty_weight: Any = None,
        method: str | Method = AUTO,
    ) -> None:
        super().__init__(
            alpha=alpha,
            l1_ratio=1.0,
            fit_intercept=fit_intercept,
            precompute=precompute,
            copy_X=copy_X,
            max_iter=max_iter,
            tol=tol,
            warm_start=warm_start,
            positive=positive,
            random_state=random_state,
            selection=selection,
            bounds=bounds,
            penalty_weight=penalty_weight,
            method=method,
        )
