"""What the classifiers share: a score for every class, or one for two; labels from their signs.

scikit-learn's own mixins of this stand in `sklearn.linear_model`, which brings all of its solvers:
70 ms of a first fit. What is left of them here is imported where it is used.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from thalweg.estimators.certified import CertifiedMixin
from thalweg.estimators.inferring import InferringMixin
from thalweg.estimators.scores import checked_scores


class LinearClassifier(InferringMixin, CertifiedMixin, ClassifierMixin, BaseEstimator):
    """A linear classifier that says the same of a row whatever stands beside it."""

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores, float[n, K]; float[n], above 0 for `classes_[1]`, where there are two classes."""
        Z = checked_scores(self, X, ("csr",))
        return Z[:, 0] if Z.ndim == 2 and Z.shape[1] == 1 else Z

    def predict(self, X: Any) -> np.ndarray:
        """The class of the highest score of each row."""
        Z = self.decision_function(X)
        return self.classes_[(Z > 0).astype(np.intp) if Z.ndim == 1 else Z.argmax(axis=1)]

    def sparsify(self) -> Any:
        """Keep `coef_` as a sparse matrix, which is smaller where half of it is zero."""
        from sklearn.linear_model._base import SparseCoefMixin

        return SparseCoefMixin.sparsify(self)

    def densify(self) -> Any:
        """Keep `coef_` as an array, as it is after `fit`."""
        from sklearn.linear_model._base import SparseCoefMixin

        return SparseCoefMixin.densify(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
