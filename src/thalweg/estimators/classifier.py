"""What the classifiers share: a score for every class, or one for two; labels from their signs."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.linear_model._base import LinearClassifierMixin, SparseCoefMixin

from thalweg.estimators.certified import CertifiedMixin
from thalweg.estimators.scores import checked_scores


class LinearClassifier(CertifiedMixin, LinearClassifierMixin, SparseCoefMixin, BaseEstimator):
    """scikit-learn's linear classifier, which says the same of a row whatever stands beside it."""

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores, float[n, K]; float[n], above 0 for `classes_[1]`, where there are two classes."""
        Z = checked_scores(self, X, ("csr",))
        return Z[:, 0] if Z.ndim == 2 and Z.shape[1] == 1 else Z

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
