"""Tweedie regression, with scikit-learn's face: the variance of y grows like its mean to a power p.

    p = 0           (y − μ)²/2, the identity link: least squares
    p = 1, p = 2    Poisson, gamma
    1 < p < 2       compound Poisson: a sum of gamma amounts, zero as often as there are none

A log link makes any other power a loss that is not convex, of which no gap can be proved.
"""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval, StrOptions

from thalweg.estimators.certified import AUTO, refuse
from thalweg.estimators.generalized_linear import GeneralizedLinearRegressor
from thalweg.methods.method import Method

ELSEWHERE = "or sklearn.linear_model.TweedieRegressor, which certifies nothing"


class TweedieRegressor(GeneralizedLinearRegressor):
    """A unit deviance of any convex kind: `sklearn.linear_model.TweedieRegressor`, certified.

    Parameters
    ----------
    power : float, default=0.0
        0 for least squares, 1 for Poisson, 2 for gamma, between 1 and 2 for compound Poisson.
        Others are refused: with a log link their loss is not convex.
    link : str, default="auto"
        "identity" for power 0, "log" for the others, which "auto" stands for.
    alpha, fit_intercept, solver, max_iter, tol, warm_start, verbose, l1_ratio, bounds,
    penalty_weight, method
        As in `thalweg.PoissonRegressor`; `tol` is Thalweg's.

    Attributes
    ----------
    coef_, intercept_, n_iter_, n_features_in_, feature_names_in_
        As in scikit-learn.
    method_, plan_, certificate_, history_, runs_
        The method, its plan, the proof, the trace and the run itself.

    >>> import numpy as np, thalweg as tw
    >>> X, y = np.array([[0.0], [0.0], [1.0], [1.0]]), [0.0, 4.0, 3.0, 5.0]
    >>> model = tw.TweedieRegressor(power=1.5, alpha=0).fit(X, y)
    >>> model.predict([[0.0], [1.0]]).round(4).tolist(), model.certificate_.holds
    ([2.0, 4.0], True)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **GeneralizedLinearRegressor._parameter_constraints,
        "power": [Interval(Real, None, None, closed="neither")],
        "link": [StrOptions({AUTO, "identity", "log"})],
    }

    def __init__(
        self,
        *,
        power: float = 0.0,
        alpha: float = 1.0,
        fit_intercept: bool = True,
        link: str = AUTO,
        solver: str = "lbfgs",
        max_iter: int = 100,
        tol: float = 1e-6,
        warm_start: bool = False,
        verbose: int = 0,
        l1_ratio: float = 0.0,
        bounds: Any = None,
        penalty_weight: Any = None,
        method: str | Method = AUTO,
    ) -> None:
        super().__init__(
            alpha=alpha,
            fit_intercept=fit_intercept,
            solver=solver,
            max_iter=max_iter,
            tol=tol,
            warm_start=warm_start,
            verbose=verbose,
            l1_ratio=l1_ratio,
            bounds=bounds,
            penalty_weight=penalty_weight,
            method=method,
        )
        self.power = power
        self.link = link

    def _power(self) -> float:
        if self.power == 0.0:
            if self.link == "log":
                refuse("link", "log", f"with power=0 it is not convex; use 'identity', {ELSEWHERE}")
            return 0.0
        if not 1.0 <= self.power <= 2.0:
            refuse(
                "power", self.power, f"with a log link it is not convex; use 1 to 2, {ELSEWHERE}"
            )
        if self.link == "identity":
            refuse("link", "identity", f"a mean would leave its range; use 'log', {ELSEWHERE}")
        return float(self.power)
