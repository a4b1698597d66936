"""Poisson regression, with scikit-learn's face: counts whose mean is e^(xᵀw + b + o).

minimise  (1/Σs) Σᵢ sᵢ (e^zᵢ − yᵢzᵢ) + alpha·r‖w‖₁ + ½ alpha·(1 − r)‖w‖²,   z = Xw + b + o
"""

from __future__ import annotations

from thalweg.estimators.generalized_linear import GeneralizedLinearRegressor


class PoissonRegressor(GeneralizedLinearRegressor):
    """Counts, log link: `sklearn.linear_model.PoissonRegressor`, certified.

    `fit` takes an `offset` besides, float[n], which is added to the scores: np.log(exposure).

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the penalty; 0 is for none.
    fit_intercept : bool, default=True
        Whether to fit an intercept, which is not penalised.
    solver : str, default="lbfgs"
        "newton-cholesky" stands for newton; "lbfgs" leaves it to `method`.
    max_iter : int, default=100
        Iterations of the method at most.
    tol : float, default=1e-6
        Thalweg's tolerance, not scikit-learn's: the fit ends when its duality gap, a proven bound
        on the distance to the optimum, is at most tol times the objective of the best constant
        prediction. Without a penalty Newton's decrement takes the gap's place.
    warm_start : bool, default=False
        Whether to start from the last fit.
    verbose : int, default=0
        Whether to show progress.
    l1_ratio : float, default=0.0
        Share of the l1 penalty, 0 to 1, as in `thalweg.ElasticNet`.
    bounds : pair (low, high), default=None
        Of coefficients: numbers, arrays with one number a column, or None on an open side.
    penalty_weight : array-like of shape (n_features,), default=None
        What the penalty of a column is multiplied by; 0 leaves it out of the penalty, and
        1/|w| of an earlier fit makes the adaptive lasso.
    method : str or Method, default="auto"
        A method of `thalweg.minimize`, by name or as an object.

    Attributes
    ----------
    coef_, intercept_, n_iter_, n_features_in_, feature_names_in_
        As in scikit-learn.
    method_, plan_, certificate_, history_, runs_
        The method, its plan, the proof, the trace and the run itself.

    >>> import numpy as np, thalweg as tw
    >>> X, y = np.array([[0.0], [0.0], [1.0], [1.0]]), [1, 3, 3, 5]
    >>> model = tw.PoissonRegressor(alpha=0).fit(X, y)
    >>> model.predict([[0.0], [1.0]]).round(4).tolist(), model.certificate_.holds
    ([2.0, 4.0], True)
    """

    def _power(self) -> float:
        return 1.0
