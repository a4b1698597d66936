"""Linear support vector classification with the squared hinge, with scikit-learn's face.

    minimise  C Σᵢ sᵢ max(0, 1 − yᵢzᵢ)² + ½‖w‖² + ½v²  or  + ‖w‖₁ + |v|,    zᵢ = xᵢᵀw + s·v

The intercept b = s·v is penalised, s = intercept_scaling, as in liblinear. A `LinearProblem` halves
the squared hinge: divided by 2CΣs, l2 = 1/(2CΣs) for penalty="l2", l1 the same for "l1".

K > 2 classes are K such problems, each class against the rest. As in liblinear, `class_weight`
then weighs the samples of that class alone, and leaves the rest at 1.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils import compute_class_weight
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight

from thalweg.core.errors import InputError
from thalweg.core.run import Run
from thalweg.estimators.callbacks import Attributes
from thalweg.estimators.certified import AUTO, check_classes, refuse
from thalweg.estimators.classifier import LinearClassifier
from thalweg.estimators.penalised_intercept import with_constant, without_constant
from thalweg.methods.method import Method
from thalweg.objectives.linear import LinearProblem


class LinearSVC(LinearClassifier):
    """Support vector classification, linear, squared hinge: `sklearn.svm.LinearSVC`, certified.

    Its intercept is penalised, as scikit-learn's is: it is the weight of a constant feature
    `intercept_scaling`, times that. Raise `intercept_scaling` to let it go freer.

    Parameters
    ----------
    penalty : {"l2", "l1"}, default="l2"
    loss : str, default="squared_hinge"
        "hinge" is refused: it has no gradient.
    dual : "auto" or bool, default="auto"
        True stands for method sdca (penalty "l2" only); otherwise the choice is that of `method`.
    tol : float, default=1e-6
        Thalweg's tolerance, not scikit-learn's: the fit ends when its duality gap, a proven bound
        on the distance to the optimum in units of the mean loss (half a squared hinge), is at most
        tol times the mean loss at w = 0.
    C : float, default=1.0
        Inverse strength of the penalty; multiplies the sum of the losses.
    multi_class : str, default="ovr"
        "crammer_singer" is refused.
    fit_intercept : bool, default=True
    intercept_scaling : float, default=1
    class_weight : dict, "balanced" or None
        With more than two classes it weighs, as in scikit-learn, a class where it stands against
        the rest, not where it is part of the rest.
    verbose : int, default=0
        Whether to show progress.
    random_state : int, RandomState instance or None, default=None
        Seed of methods that draw; None is 0.
    max_iter : int, default=1000
        Iterations of the method at most.
    method : str or Method, default="auto"
        A method of `thalweg.minimize`, by name or as an object.

    Attributes
    ----------
    classes_, coef_, intercept_, n_iter_, n_features_in_, feature_names_in_
        As in scikit-learn; `n_iter_` is the largest of the runs.
    method_, plan_, certificate_, history_, runs_
        The method, its plan, the proof, the trace and the run; lists for more than two classes.

    >>> import numpy as np, thalweg as tw
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> model = tw.LinearSVC().fit(X, ["no", "no", "yes", "yes"])
    >>> model.coef_.round(4).tolist(), model.certificate_.holds
    ([[0.8]], True)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "penalty": [StrOptions({"l1", "l2"})],
        "loss": [StrOptions({"hinge", "squared_hinge"})],
        "dual": ["boolean", StrOptions({AUTO})],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "C": [Interval(Real, 0, None, closed="neither")],
        "multi_class": [StrOptions({"ovr", "crammer_singer"})],
        "fit_intercept": ["boolean"],
        "intercept_scaling": [Interval(Real, 0, None, closed="neither")],
        "class_weight": [None, dict, StrOptions({"balanced"})],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "method": [str, Method],
    }

    def __init__(
        self,
        penalty: str = "l2",
        loss: str = "squared_hinge",
        *,
        dual: str | bool = AUTO,
        tol: float = 1e-6,
        C: float = 1.0,
        multi_class: str = "ovr",
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: Any = None,
        verbose: int = 0,
        random_state: Any = None,
        max_iter: int = 1000,
        method: str | Method = AUTO,
    ) -> None:
        self.penalty = penalty
        self.loss = loss
        self.dual = dual
        self.tol = tol
        self.C = C
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.method = method

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LinearSVC:
        """Fit to X, float[n, p], and labels y of any kind, samples weighted if wished."""
        asked = self._chosen_method()
        X, y = self._validated(X, y, [np.float64])
        check_classes(y)
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise InputError(f"y must hold at least two classes, got one class: {classes[0]!r}")
        weights, of_class = np.ones(len(y)), np.ones(len(classes))
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
        if self.class_weight is not None:
            of_class = compute_class_weight(
                self.class_weight, classes=classes, y=y, sample_weight=weights
            )
        rows = with_constant(X, self.intercept_scaling) if self.fit_intercept else X
        if len(classes) == 2:
            sides = [(codes == 1, weights * of_class[codes])]
        else:
            sides = [
                (codes == k, np.where(codes == k, of_class[k], 1) * weights)
                for k in range(len(classes))
            ]

        def fitted(variables: list[np.ndarray]) -> Attributes:
            W = np.stack(variables)
            b: np.ndarray | float = 0.0
            if self.fit_intercept:
                W, b = without_constant(W, self.intercept_scaling)
            return {"classes_": classes, "coef_": np.ascontiguousarray(W), "intercept_": b}

        told = self._told(X, y, sample_weight, [None] * len(sides), rows.shape[1], fitted)
        first, runs = self._problem(rows, *sides[0]), list[Run]()
        for k, (is_it, of_side) in enumerate(sides):
            if np.array_equal(of_side, sides[0][1]):
                # The same rows with the same weights: measured once, and one plan serves all.
                plan = runs[0].plan if runs else None
                runs.append(self._run(first.with_labels(is_it), plan or asked, told, k))
            else:
                runs.append(self._run(self._problem(rows, is_it, of_side), asked, told, k))
        self._keep(runs, fitted)
        self.n_iter_ = max(run.iterations for run in runs)
        told.end()
        return self

    def _problem(self, X: Any, is_it: np.ndarray, weights: np.ndarray) -> LinearProblem:
        """One class, where `is_it`, against the rest."""
        strength = 1.0 / (2.0 * self.C * float(weights.sum()))
        return LinearProblem(
            X,
            is_it,
            "squared-hinge",
            l1=strength if self.penalty == "l1" else 0.0,
            l2=strength if self.penalty == "l2" else 0.0,
            fit_intercept=False,
            sample_weight=weights,
        )

    def _chosen_method(self) -> str | Method:
        """The method that `method` and `dual` ask for; refuses what cannot be honoured."""
        if self.loss == "hinge":
            refuse("loss", "hinge", "use 'squared_hinge', or sklearn.svm.LinearSVC")
        if self.multi_class == "crammer_singer":
            refuse("multi_class", "crammer_singer", "use 'ovr', or sklearn.svm.LinearSVC")
        if self.dual is not True:
            return self.method
        if self.penalty == "l1":
            refuse("dual", True, "with penalty='l1' there is only the primal; use dual='auto'")
        if self.method != AUTO:
            refuse("dual", True, "method is given too; leave one of the two out")
        return "sdca"

    def _names_of_runs(self) -> list[str]:
        return [f"{label!r} against the rest" for label in self.classes_.tolist()]
