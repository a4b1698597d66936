"""scikit-learn's callbacks (from its version 1.9 on), told of a fit as it goes.

    fit ─► iteration 0, 1, …                          one run
    fit ─► run 0, 1, … ─► iteration 0, 1, …           a run for every target or class

Each of these is a task that begins and ends. The next iteration begins as soon as one has ended,
for whether there will be one is not known then: the last to begin is empty, and ends with nothing.
A hook that asks for it is given the estimator as if the fit had stopped there; runs that have not
begun stand where they would start. A hook that returns True at the end of an iteration ends its
run; what it returns at the end of a run or of the fit changes nothing.

Without callbacks a fit is not watched, and costs what it did.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from thalweg.methods.journey import Step

try:
    from sklearn.callback import CallbackSupportMixin
except ImportError:  # scikit-learn 1.8
    CallbackSupportMixin = object

Attributes = dict[str, Any]  # of a fitted estimator, by name


class Told:
    """What the callbacks of an estimator hear of one fit."""

    def __init__(
        self,
        estimator: Any,
        X: Any,
        y: Any,
        sample_weight: Any,
        *,
        starts: list[np.ndarray],
        max_iter: int,
        fitted: Callable[[list[np.ndarray]], Attributes],
    ) -> None:
        """Begin the fit: runs from `starts`, whose variables `fitted` turns into attributes."""
        self.estimator = estimator
        self.fitted = fitted
        self.at = list(starts)  # where each run is
        self.max_iter = max_iter
        metadata = None if sample_weight is None else {"sample_weight": sample_weight}
        self.data = {"X": X, "y": y, "metadata": metadata}
        self.is_heard = bool(getattr(estimator, "_skl_callbacks", ()))
        self.task: Any = None
        if CallbackSupportMixin is not object:
            # Without callbacks too: the task is also a part of the search or pipeline around it.
            several = len(starts) > 1
            tasks = len(starts) if several else max_iter + 1
            self.task = estimator._init_callback_context(max_subtasks=tasks)
            self.task.call_on_fit_task_begin(estimator=estimator, **self.data)

    def run(self, k: int) -> ToldRun | None:
        """Begin run k; None where nobody listens."""
        return ToldRun(self, k) if self.is_heard else None

    def end(self) -> None:
        """End the fit of an estimator that now has its attributes."""
        if self.task is not None:
            self.task.call_on_fit_task_end(
                estimator=self.estimator, **self.data, reconstruction_attributes={}
            )

    def now(self) -> Attributes:
        """The attributes of the estimator if the fit stopped here: it has no finished run."""
        return {**self.fitted(self.at), "runs_": []}


class ToldRun:
    """A callback of `minimize` that tells those of the estimator."""

    def __init__(self, fit: Told, k: int) -> None:
        self.fit = fit
        self.k = k
        self.has_stopped = False  # by a hook
        self.task = fit.task
        if len(fit.at) > 1:
            self.task = fit.task.subcontext(task_name="run", max_subtasks=fit.max_iter + 1)
            self._begin(self.task)
        self.iteration = self._next()

    def __call__(self, step: Step) -> bool:
        """End an iteration and begin the next; True to stop."""
        self.fit.at[self.k] = step.w.copy()
        self.has_stopped = self._end(self.iteration)
        self.iteration = self._next()
        return self.has_stopped

    def end(self, w: np.ndarray) -> None:
        """End the iteration that did not come, and the run, which found `w`."""
        self.fit.at[self.k] = w
        self.iteration.call_on_fit_task_end(estimator=self.fit.estimator)
        if self.task is not self.fit.task:
            self._end(self.task)

    def _next(self) -> Any:
        task = self.task.subcontext(task_name="iteration")
        self._begin(task)
        return task

    def _begin(self, task: Any) -> None:
        fit = self.fit
        task.call_on_fit_task_begin(
            estimator=fit.estimator, **fit.data, reconstruction_attributes=fit.now
        )

    def _end(self, task: Any) -> bool:
        fit = self.fit
        return task.call_on_fit_task_end(
            estimator=fit.estimator, **fit.data, reconstruction_attributes=fit.now
        )
