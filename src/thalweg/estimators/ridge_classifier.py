"""Ridge regression of labels, with scikit-learn's face.

    minimise  Σᵢ sᵢ (xᵢᵀw + b − tᵢ)² + alpha‖w‖²

with t = ±1, for two classes whether it is the second, for more a problem for each against the rest,
and for several labels at once a problem for each of them. A row is told the class of its largest
score; of two, the sign.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import _fit_context
from sklearn.preprocessing import LabelBinarizer
from sklearn.utils import compute_sample_weight
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, column_or_1d

from thalweg.core.errors import InputError
from thalweg.estimators.certified import AUTO
from thalweg.estimators.classifier import LinearClassifier
from thalweg.estimators.regressor import TargetsMixin
from thalweg.estimators.ridge import NEAREST, method_of_ridge
from thalweg.estimators.smallest_fit import SmallestMixin
from thalweg.methods.method import Method


class RidgeClassifier(SmallestMixin, TargetsMixin, LinearClassifier):
    """Least squares on labels of ±1: `sklearn.linear_model.RidgeClassifier`, certified.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the penalty.
    fit_intercept, copy_X, max_iter, tol, solver, positive, random_state
        As in `thalweg.Ridge`; `tol` is Thalweg's.
    class_weight : dict, "balanced" or None
        What samples of a class weigh besides their own weights.
    method : str or Method, default="auto"
        A method of `thalweg.minimize`, by name or as an object.

    Attributes
    ----------
    classes_, coef_, intercept_, n_iter_, solver_, n_features_in_, feature_names_in_
        As in scikit-learn.
    method_, plan_, certificate_, history_, runs_
        The method, its plan, the proof, the trace and the run; lists for more than two classes.

    >>> import numpy as np, thalweg as tw
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> model = tw.RidgeClassifier().fit(X, ["no", "no", "yes", "yes"])
    >>> model.predict([[0.5], [2.5]]).tolist(), model.certificate_.holds
    (['no', 'yes'], True)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "alpha": [Interval(Real, 0, None, closed="left")],
        "fit_intercept": ["boolean"],
        "copy_X": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left"), None],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "solver": [StrOptions({AUTO, "lbfgs", *NEAREST})],
        "positive": ["boolean"],
        "random_state": ["random_state"],
        "method": [str, Method],
    }

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        max_iter: int | None = None,
        tol: float = 1e-6,
        class_weight: Any = None,
        solver: str = AUTO,
        positive: bool = False,
        random_state: Any = None,
        method: str | Method = AUTO,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.class_weight = class_weight
        self.solver = solver
        self.positive = positive
        self.random_state = random_state
        self.method = method

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> RidgeClassifier:
        """Fit to X, float[n, p], and labels y of any kind, or bool[n, labels]."""
        method = method_of_ridge(self)
        X, y = self._validated(X, y, [np.float64, np.float32], multi_output=True)
        binarizer = LabelBinarizer(pos_label=1, neg_label=-1)
        Y = binarizer.fit_transform(y).astype(np.float64)
        self._label_binarizer, self.classes_ = binarizer, binarizer.classes_
        if not self._has_labels:
            y = column_or_1d(y, warn=True)
        if len(self.classes_) < 2:
            raise InputError(
                f"y must hold at least two classes, got one class: {self.classes_[0]!r}"
            )
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
        if self.class_weight is not None:
            of_class = compute_sample_weight(self.class_weight, y)
            weights = of_class if weights is None else weights * of_class
        targets = Y.shape[1]
        l2 = self.alpha / (len(Y) if weights is None else float(weights.sum()))
        told = self._fit_targets(X, Y, weights, [(0.0, l2)] * targets, method, [None] * targets)
        self.n_iter_ = np.array([run.iterations for run in self.runs_], dtype=np.int32)
        self.solver_ = self.runs_[0].method if self.solver == AUTO else self.solver
        told.end()
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The class of each row, or 0 and 1 for each of several labels."""
        check_is_fitted(self)
        if self._has_labels:
            signs = np.where(self.decision_function(X) > 0.0, 1.0, -1.0)
            return self._label_binarizer.inverse_transform(signs)
        return super().predict(X)

    @property
    def _has_labels(self) -> bool:
        """Whether a row may have several labels at once."""
        return self._label_binarizer.y_type_.startswith("multilabel")

    def _names_of_runs(self) -> list[str]:
        return [f"{label!r} against the rest" for label in self.classes_.tolist()]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags
