"""What a model says of rows: a number each, or a class with probabilities where it has them.

linear    z = Xw + b; classes by the sign of z, or the largest; probabilities by the logistic
          function, or softmax; none for the squared hinge, whose scores are no log odds; means eᶻ
          of the Poisson and the gamma loss
network   the same of its outputs
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy.special import expit, softmax

from thalweg.core.scores import class_scores, number_scores
from thalweg.core.text import cell

IDENTITY, EXP, LOGISTIC, SIGN, SOFTMAX = "identity", "exp", "logistic", "sign", "softmax"
LINKS = {  # what makes answers of scores, by loss; the losses of networks not named are of numbers
    "squared": IDENTITY, "huber": IDENTITY, "poisson": EXP, "gamma": EXP,
    "logistic": LOGISTIC, "squared-hinge": SIGN, "multinomial": SOFTMAX,
    "binary-cross-entropy": LOGISTIC, "cross-entropy": SOFTMAX,
}  # fmt: skip


class Answers(NamedTuple):
    """What a model says of encoded rows."""

    values: np.ndarray  # numbers, float64[n]; or numbers of classes, int64[n]
    probabilities: np.ndarray | None = None  # float64[n, K]


class Model(Protocol):
    """What can be asked."""

    @property
    def classes(self) -> tuple[str, ...]:
        """Names of the classes, none for a regression."""

    def answers(self, X: Any) -> Answers:
        """What it says of rows X."""


def scores_of(model: Model, X: Any, y: np.ndarray) -> dict[str, float]:
    """How good the model is on rows whose truth is known."""
    values, odds = model.answers(X)
    return class_scores(y, values, odds) if model.classes else number_scores(y, values)


@dataclass(frozen=True, eq=False)
class Prediction:
    """Predictions for some rows."""

    values: np.ndarray  # numbers, float64[n]; or places in `classes`, int64[n]
    classes: tuple[str, ...] = ()  # names, none for a regression
    probabilities: np.ndarray | None = None  # float64[n, K]
    target: str = "y"
    y: np.ndarray | None = None  # the truth, where the data hold it
    notes: tuple[str, ...] = field(default=())  # what differed from the training data

    @property
    def names(self) -> np.ndarray:
        """The numbers, or the names of the classes."""
        return np.asarray(self.classes)[self.values] if self.classes else self.values

    @property
    def scores(self) -> dict[str, float]:
        """How good they are; empty where the truth is not known."""
        if self.y is None:
            return {}
        if self.classes:
            return class_scores(self.y, self.values, self.probabilities)
        return number_scores(self.y, self.values)

    def to_csv(self, *, raw: bool = False) -> str:
        """One line a row, in the order of the data: prediction, then a probability a class.

        Names that a spreadsheet would compute, or a terminal obey, are written so that neither
        does; `raw` writes them as they are.
        """
        odds = self.probabilities
        heads = [] if odds is None else [f"p({name})" for name in self.classes]
        lines = [[cell(name, raw=raw) for name in (self.target, *heads)]]
        classes = [cell(name, raw=raw) for name in self.classes]
        for k, value in enumerate(self.values.tolist()):
            told = classes[value] if classes else repr(value)
            lines.append([told, *([] if odds is None else map(repr, odds[k].tolist()))])
        return "".join(",".join(line) + "\n" for line in lines)


def from_scores(z: np.ndarray, loss: str) -> Answers:
    """Class numbers and probabilities, or numbers, from scores or outputs z."""
    link = LINKS.get(loss, IDENTITY)
    if link == SOFTMAX:
        return Answers(z.argmax(axis=1), softmax(z, axis=1))
    z = z.reshape(len(z))
    if link == IDENTITY:
        return Answers(z)
    if link == EXP:
        return Answers(np.exp(z))
    told = (z > 0).astype(np.int64)
    if link == SIGN:
        return Answers(told)
    return Answers(told, np.column_stack([expit(-z), expit(z)]))
