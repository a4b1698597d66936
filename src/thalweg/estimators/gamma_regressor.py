"""Gamma regression, with scikit-learn's face: positive targets whose mean is e^(xᵀw + b + o).

minimise  (1/Σs) Σᵢ sᵢ (zᵢ + yᵢe^(−zᵢ)) + alpha·r‖w‖₁ + ½ alpha·(1 − r)‖w‖²,   z = Xw + b + o
"""

from __future__ import annotations

from thalweg.estimators.generalized_linear import GeneralizedLinearRegressor


class GammaRegressor(GeneralizedLinearRegressor):
    """Positive targets, log link: `sklearn.linear_model.GammaRegressor`, certified.

    Parameters and attributes are those of `thalweg.PoissonRegressor`; `tol` is Thalweg's.

    >>> import numpy as np, thalweg as tw
    >>> X, y = np.array([[0.0], [0.0], [1.0], [1.0]]), [1.0, 3.0, 3.0, 5.0]
    >>> model = tw.GammaRegressor(alpha=0).fit(X, y)
    >>> model.predict([[0.0], [1.0]]).round(4).tolist(), model.certificate_.holds
    ([2.0, 4.0], True)
    """

    def _power(self) -> float:
        return 2.0
