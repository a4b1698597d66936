"""The lasso that chooses its alpha, with scikit-learn's face: the elastic net with nothing but l1.

minimise  (1/2Σs) Σᵢ sᵢ (xᵢᵀw + b − yᵢ)² + alpha‖w‖₁
"""

from __future__ import annotations

from typing import Any, ClassVar

from thalweg.core.choice import BEST
from thalweg.estimators.certified import AUTO
from thalweg.estimators.elastic_net_cv import ElasticNetCV
from thalweg.methods.method import Method


class LassoCV(ElasticNetCV):
    """The lasso with the best of many alphas: `sklearn.linear_model.LassoCV`, certified.

    Parameters
    ----------
    eps, alphas, fit_intercept, precompute, max_iter, tol, copy_X, cv, verbose, n_jobs, positive
        As in `thalweg.ElasticNetCV`, with random_state, selection, rule and method; `tol` is
        Thalweg's.

    Attributes
    ----------
    alpha_, alphas_, mse_path_, coef_, intercept_, dual_gap_, n_iter_
        As in scikit-learn, with n_features_in_ and feature_names_in_.
    choice_, out_of_fold_, gaps_, method_, plan_, certificate_, history_, runs_
        As in `thalweg.ElasticNetCV`.

    >>> import numpy as np, thalweg as tw
    >>> X = np.arange(12.0)[:, None] % 5
    >>> model = tw.LassoCV(cv=3, alphas=20).fit(X, 2.0 * X[:, 0])
    >>> bool(model.alpha_ == model.alphas_[-1]), model.coef_.round(1).tolist()
    (True, [2.0])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        name: allowed
        for name, allowed in ElasticNetCV._parameter_constraints.items()
        if name != "l1_ratio"
    }

    def __init__(
        self,
        *,
        eps: float = 1e-3,
        alphas: Any = 100,
        fit_intercept: bool = True,
        precompute: Any = "auto",
        max_iter: int = 1000,
        tol: float = 1e-6,
        copy_X: bool = True,
        cv: Any = None,
        verbose: bool | int = False,
        n_jobs: int | None = None,
        positive: bool = False,
        random_state: Any = None,
        selection: str = "cyclic",
        rule: str = BEST,
        method: str | Method = AUTO,
    ) -> None:
        self.eps = eps
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.tol = tol
        self.copy_X = copy_X
        self.cv = cv
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.positive = positive
        self.random_state = random_state
        self.selection = selection
        self.rule = rule
        self.method = method

    @property
    def _ratios(self) -> Any:
        return 1.0

    def _named(self, alpha: float, ratio: float) -> dict[str, float]:
        return {"alpha": alpha}

    def _note_ratio(self, ratio: float) -> None:
        """There is but one."""
