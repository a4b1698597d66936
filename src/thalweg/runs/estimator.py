"""A saved linear model as a fitted scikit-learn estimator.

    logistic, multinomial   tw.LogisticRegression
    squared hinge           tw.LinearSVC
    squared                 tw.Ridge, tw.Lasso or tw.ElasticNet, by its penalties
    Huber                   sklearn.linear_model.HuberRegressor
    Poisson, gamma          tw.PoissonRegressor, tw.GammaRegressor

It predicts from encoded rows, `saved.encoding.frame(source)`, and knows the features by name, as it
does its classes; a sparse matrix has no names, and an estimator on one knows none. Parameters are
those of the same problem, so that a clone of it fits the same model to the same rows; a problem
that was standardized is one on scaled rows, which a clone does not know of.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.linear_model import HuberRegressor

from thalweg.core.run import Run
from thalweg.estimators.certified import CertifiedMixin
from thalweg.estimators.elastic_net import ElasticNet
from thalweg.estimators.gamma_regressor import GammaRegressor
from thalweg.estimators.lasso import Lasso
from thalweg.estimators.linear_svc import LinearSVC
from thalweg.estimators.logistic_regression import LogisticRegression
from thalweg.estimators.poisson_regressor import PoissonRegressor
from thalweg.estimators.ridge import Ridge
from thalweg.runs.job import Job
from thalweg.runs.linear_model import LinearModel

MEANS: dict[str, Any] = {"poisson": PoissonRegressor, "gamma": GammaRegressor}


def estimator_of(model: LinearModel, job: Job, n: int, run: Run, *, is_sparse: bool = False) -> Any:
    """The estimator, fitted, of a model trained on n rows."""
    fitted = _unfitted(model.loss, *job.penalties(n), n, job.intercept, job.tol)
    if model.classes:
        fitted.coef_ = np.atleast_2d(model.coefficients.T)
        fitted.intercept_ = np.atleast_1d(model.intercepts)
        fitted.classes_ = np.asarray(model.classes)[model.codes]
    else:
        fitted.coef_, fitted.intercept_ = model.coefficients, float(model.intercepts)
    fitted.n_features_in_ = len(model.coefficients)
    if model.features and not is_sparse:
        fitted.feature_names_in_ = np.array(model.features, dtype=object)
    if isinstance(fitted, CertifiedMixin):
        fitted.runs_ = [run]
    return fitted


def _unfitted(loss: str, l1: float, l2: float, n: int, intercept: bool, tol: float) -> Any:
    options: Any = {"fit_intercept": intercept, "tol": tol}
    total = l1 + l2
    if loss in ("logistic", "multinomial"):
        C = 1.0 / (n * total) if total else np.inf
        return LogisticRegression(C=C, l1_ratio=l1 / total if total else 0.0, **options)
    if loss == "squared-hinge":
        return LinearSVC(C=1.0 / (2.0 * n * total) if total else 1e300, **options)
    if loss == "huber":
        model = HuberRegressor(alpha=l2, fit_intercept=intercept)
        model.scale_ = 1.0
        return model
    if loss in MEANS:
        return MEANS[loss](alpha=total, l1_ratio=l1 / total if total else 0.0, **options)
    if not l1:
        return Ridge(alpha=n * l2, **options)
    if not l2:
        return Lasso(alpha=l1, **options)
    return ElasticNet(alpha=total, l1_ratio=l1 / total, **options)
