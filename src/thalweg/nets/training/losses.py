"""The loss of a network's outputs f(x) on labels y, averaged over the n samples of a batch.

    cross-entropy         −(1/n) Σᵢ log softmax(f(xᵢ))[yᵢ]             yᵢ in 0 … K−1, or K shares
    binary-cross-entropy  −(1/n) Σᵢ yᵢ log σ(f(xᵢ)) + (1 − yᵢ) log(1 − σ(f(xᵢ)))   yᵢ in [0, 1]
    squared               (1/2n) Σᵢ ‖f(xᵢ) − yᵢ‖²

The outputs are scores: no softmax and no sigmoid in the last layer. `squared` is that of linear
problems, ½ included, and sums over outputs; `torch.nn.MSELoss` averages over them and has no ½.
binary-cross-entropy averages over outputs, as PyTorch's does. Any function of outputs and labels
will do as well.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import torch
from torch.nn import functional

from thalweg.core.checks import describe
from thalweg.core.errors import InputError, suggest


class Loss:
    """A function (outputs, labels) → one number, with what it asks of the labels."""

    name: ClassVar[str]

    def __call__(self, output: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """The mean loss of a batch."""
        raise NotImplementedError

    def labels(self, y: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
        """`y` as the loss wants it; `like` is a parameter of the model."""
        return y.to(like.dtype)

    def check(self, output: torch.Tensor, y: torch.Tensor, name: str, first_row: int = 0) -> None:
        """Raise unless these labels fit outputs of this shape (the number of rows may differ)."""
        if output.shape[1:] != y.shape[1:]:
            raise InputError(
                f"labels of {name} must have the shape of the model's output, got "
                f"{shape_of(y)} for outputs of {shape_of(output)}: {_reshape(output, y)}"
            )

    def hits(self, output: torch.Tensor, y: torch.Tensor) -> torch.Tensor | None:
        """How many rows are told right; None where the labels are no classes."""
        return None


class CrossEntropy(Loss):
    """Scores of K classes against a class, or against K shares."""

    name = "cross-entropy"

    def __call__(self, output: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """−log of the softmax at the label."""
        return functional.cross_entropy(output, y)

    def labels(self, y: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
        """Whole numbers as int64; a matrix of shares stays one."""
        if y.is_floating_point():
            if y.ndim > 1:
                return y.to(like.dtype)
            bad = (y != y.floor()).nonzero()
            if len(bad):
                row = int(bad[0])
                raise InputError(
                    f"labels must be class numbers for cross-entropy, got {float(y[row]):g} in "
                    f"row {row}: use loss='squared' for a regression"
                )
        return y.to(torch.int64)

    def check(self, output: torch.Tensor, y: torch.Tensor, name: str, first_row: int = 0) -> None:
        """Raise unless every label is one of the classes that the model has outputs for."""
        if y.is_floating_point():
            return super().check(output, y, name, first_row)
        if output.ndim < 2 or output.shape[2:] != y.shape[1:]:
            raise InputError(
                f"labels of {name} must be one class number for each row of outputs, got "
                f"{shape_of(y)} for outputs of {shape_of(output)}: "
                "the model must give a row of scores, one a class"
            )
        classes = output.shape[1]
        if y.numel() and (int(y.min()) < 0 or int(y.max()) >= classes):
            bad = ((y < 0) | (y >= classes)).nonzero()
            row = bad[0].tolist()
            more = f" and {len(bad) - 1} more" if len(bad) > 1 else ""
            raise InputError(
                f"labels of {name} must be in 0 … {classes - 1}, as the model has {classes} "
                f"outputs, got {int(y[tuple(row)])} in row {row[0] + first_row}{more}: "
                "give the last layer an output for every class, and count classes from 0"
            )
        return None

    def hits(self, output: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """Rows whose largest score is the label's."""
        y = y.argmax(1) if y.is_floating_point() else y
        return (
            (output.argmax(1) == y).float().flatten(1).mean(1).sum()
            if y.ndim > 1
            else (output.argmax(1) == y).sum()
        )


class BinaryCrossEntropy(Loss):
    """One score a yes or no."""

    name = "binary-cross-entropy"

    def __call__(self, output: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """−log of the logistic function at the label, mean over outputs."""
        return functional.binary_cross_entropy_with_logits(output, y)

    def check(self, output: torch.Tensor, y: torch.Tensor, name: str, first_row: int = 0) -> None:
        """Raise unless every label is in [0, 1]."""
        super().check(output, y, name, first_row)
        bad = ((y < 0) | (y > 1)).nonzero()
        if len(bad):
            place = tuple(bad[0].tolist())
            raise InputError(
                f"labels of {name} must be in [0, 1] for binary-cross-entropy, got "
                f"{float(y[place]):g} in row {place[0] + first_row}: use 0 and 1"
            )

    def hits(self, output: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """Rows told right, shares of them where there are several outputs."""
        right = (output > 0) == (y > 0.5)
        return right.reshape(len(right), -1).float().mean(1).sum()


class Squared(Loss):
    """Half the squared distance."""

    name = "squared"

    def __call__(self, output: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """½‖f(x) − y‖², mean over samples."""
        return functional.mse_loss(output, y, reduction="sum") / (2 * max(1, len(y)))


class Given(Loss):
    """A function of the user's."""

    def __init__(self, function: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]) -> None:
        self.function = function
        self.name = getattr(function, "__name__", type(function).__name__)  # type: ignore[misc]

    def __call__(self, output: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """What the function says, which must be one number."""
        value = self.function(output, y)
        if not isinstance(value, torch.Tensor) or value.ndim:
            raise InputError(
                f"loss must return one number as a tensor, got {describe(value)}: "
                "take the mean over the batch"
            )
        return value

    def labels(self, y: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
        """As they came, but for floats, which get the model's precision."""
        return y.to(like.dtype) if y.is_floating_point() else y

    def check(self, output: torch.Tensor, y: torch.Tensor, name: str, first_row: int = 0) -> None:
        """Nothing is known of them."""

    def hits(self, output: torch.Tensor, y: torch.Tensor) -> torch.Tensor | None:
        """As for classes, where outputs and labels look like them."""
        if output.ndim == 2 and y.ndim == 1 and not y.is_floating_point() and output.shape[1] > 1:
            return (output.argmax(1) == y).sum()
        return None


LOSSES = {loss.name: loss for loss in (CrossEntropy(), BinaryCrossEntropy(), Squared())}


def loss_of(loss: Any) -> Loss:
    """The loss that a name or a function stands for."""
    if isinstance(loss, Loss):
        return loss
    if isinstance(loss, str):
        if loss not in LOSSES:
            raise InputError(f"loss must be a known name, got {loss!r}: {suggest(loss, LOSSES)}")
        return LOSSES[loss]
    if not callable(loss):
        raise InputError(
            f"loss must be a name or a function of outputs and labels, got {describe(loss)}: "
            + suggest("", LOSSES)
        )
    return Given(loss)


def shape_of(tensor: torch.Tensor) -> str:
    """A shape with its rows open: "[n, 10]"."""
    return f"[{', '.join(['n', *map(str, tensor.shape[1:])])}]"


def _reshape(output: torch.Tensor, y: torch.Tensor) -> str:
    if output.shape[1:] == (1,) and y.ndim == 1:
        return "pass y[:, None], or flatten the output"
    if output.ndim == 1 and y.shape[1:] == (1,):
        return "pass y[:, 0]"
    return "change the last layer or the labels"
