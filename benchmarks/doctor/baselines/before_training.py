"""TheDeepChecker's checks before the first step.

    features beyond [−1, 1]                                     → unscaled inputs
    labels: (perplexity − 1)/(classes − 1) < 0.5                → class imbalance
    targets of a regression: deviation/|mean| < 1e-3            → constant inputs
    first weights all equal                                     → symmetric initialization
    first weights: F-test, α = 0.1, against the variance that   → initialization variance off
    suits the activation: He's for ReLU and its kin, LeCun's for SELU, Glorot's else
    first biases not zero                                       → initialization variance off
    unequal labels and a last bias other than log-ratios        → class imbalance
    first loss off −log(1/C) by a ratio of more than 1          → wrong output or loss
    gradient off differences of ε = 1e-4 by more than 1e-2      → vanishing gradients
    one batch not fitted                                        → underfitting
    one batch fitted no better than zeros                       → constant inputs

Read in its favour: perplexity is scaled such that two classes can be unbalanced. PyTorch's own
first weights, of variance 1/(3·inputs), and its own first biases pass, though the tool, written
for TensorFlow, does not know them. The last bias is judged only where labels are unequal. A first
loss that is off is also taken for initialization. Differences are taken in float64, along a random
direction of each matrix of weights.

Left out: a batch fitted to a loss below 1e-5, since fitting ends when nothing is wrong any more.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from copy import deepcopy

import torch
from scipy.stats import chi2
from torch import nn

from doctor.baselines.layers import BOUNDED, Layer, layers_of
from doctor.baselines.one_batch import batch, fits
from doctor.baselines.record import Record
from doctor.losses import criterion
from thalweg.doctor.causes import (
    CONSTANT,
    IMBALANCE,
    INIT_VARIANCE,
    SYMMETRIC,
    UNDERFITTING,
    UNSCALED,
    VANISHING,
    WRONG_LOSS,
)

BALANCE, VARIATION, ALPHA, FIRST_LOSS = 0.5, 1e-3, 0.1, 1.0
EPSILON, RELATIVE = 1e-4, 1e-2
SCORED = ("cross-entropy", "smooth", "nll", "log", "binary-cross-entropy", "bce")


def before_training(record: Record) -> Iterator[str]:
    """What is wrong before the first step."""
    data, layers = record.data, layers_of(record.start)
    if bool((data.x.abs() > 1.0).any()):
        yield UNSCALED
    unbalanced = bool(data.classes) and balance(data.y, data.classes) < BALANCE
    if unbalanced:
        yield IMBALANCE
    if not data.classes and float(data.y.std()) < VARIATION * abs(float(data.y.mean())):
        yield CONSTANT
    if any(is_constant(layer) for layer in layers):
        yield SYMMETRIC
    if any(not is_constant(layer) and has_odd_variance(layer) for layer in layers):
        yield INIT_VARIANCE
    if any(has_odd_bias(layer.start) for layer in layers):
        yield INIT_VARIANCE
    last = layers[-1].start
    assert isinstance(last, nn.Linear)
    if unbalanced and not bias_is_log_ratio(last.bias.detach(), data.y, data.classes):
        yield IMBALANCE
    if _first_loss_is_off(record):
        yield from (WRONG_LOSS, INIT_VARIANCE)
    if gradient_error(record) > RELATIVE:
        yield VANISHING
    fitted, depends = fits(record)
    if not fitted:
        yield UNDERFITTING
    if not depends:
        yield CONSTANT


def balance(y: torch.Tensor, classes: int) -> float:
    """(exp(entropy) − 1)/(classes − 1): 1 if classes are equal, 0 if there is one."""
    shares = torch.bincount(y, minlength=classes).double() / len(y)
    entropy = -torch.special.xlogy(shares, shares).sum()
    return (math.exp(float(entropy)) - 1.0) / (classes - 1)


def is_constant(layer: Layer) -> bool:
    """Whether the weights of a layer are all equal."""
    w = layer.weights[0]
    return w.numel() > 1 and bool((w == w.flatten()[0]).all())


def has_odd_variance(layer: Layer) -> bool:
    """Whether the F-test tells the weights' variance from those that suit; two-sided."""
    if not isinstance(layer.start, nn.Linear | nn.Conv2d):
        return False
    w = layer.start.weight.detach().double()
    field = math.prod(w.shape[2:])
    inputs, outputs = w.shape[1] * field, w.shape[0] * field
    degrees = w.numel() - 1
    if degrees < 1:
        return False
    if isinstance(layer.activation, nn.SELU):
        suits = 1.0 / inputs
    elif layer.activation is None or isinstance(layer.activation, BOUNDED):
        suits = 2.0 / (inputs + outputs)
    else:
        suits = 2.0 / inputs
    low, high = (chi2.ppf(p, degrees) / degrees for p in (ALPHA / 2, 1 - ALPHA / 2))
    variance = float(w.var())
    return not any(low <= variance / wanted <= high for wanted in (suits, 1.0 / (3 * inputs)))


def has_odd_bias(module: nn.Module) -> bool:
    """Whether first biases are neither zero nor PyTorch's own, at most 1/√inputs."""
    if not isinstance(module, nn.Linear | nn.Conv2d) or module.bias is None:
        return False
    reach = math.prod(module.weight.shape[1:]) ** -0.5
    return bool((module.bias.abs() > reach).any())


def bias_is_log_ratio(bias: torch.Tensor, y: torch.Tensor, classes: int) -> bool:
    """Whether first scores are the logarithms of the classes' shares, up to a constant."""
    logs = (torch.bincount(y, minlength=classes) / len(y)).clamp(min=1e-12).log()
    scores = bias if len(bias) > 1 else torch.stack([torch.zeros(()), bias[0]])
    return torch.allclose((scores - scores[0]).double(), (logs - logs[0]).double(), atol=0.1)


@torch.no_grad()
def _first_loss_is_off(record: Record) -> bool:
    if record.program.loss not in SCORED or not record.data.classes:
        return False
    chance = math.log(max(2, record.data.classes))
    model = deepcopy(record.start).eval()
    loss = record.program.loop.sign * criterion(record.program)(model(record.data.x), record.data.y)
    return not abs(float(loss) - chance) <= FIRST_LOSS * chance


def gradient_error(record: Record) -> float:
    """The largest relative error of the gradient against central differences; NaN is none."""
    model = deepcopy(record.start).double().eval()
    x, y = batch(record)
    x, y = x.double(), y if record.data.classes else y.double()
    loss_of, generator = criterion(record.program), torch.Generator().manual_seed(0)
    loss_of(model(x), y).backward()
    worst = 0.0
    for p in (p for p in model.parameters() if p.requires_grad and p.ndim > 1):
        along = torch.randn(p.shape, generator=generator, dtype=p.dtype)
        along /= along.norm()
        said = 0.0 if p.grad is None else float((p.grad * along).sum())
        with torch.no_grad():
            ends = []
            for sign in (1.0, -1.0):
                p += sign * EPSILON * along
                ends.append(float(loss_of(model(x), y)))
                p -= sign * EPSILON * along
        found = (ends[0] - ends[1]) / (2 * EPSILON)
        size = max(abs(said), abs(found))
        # Of slopes that are nothing but rounding, nothing is said.
        if size > 1e-7 and abs(said - found) / size > worst:
            worst = abs(said - found) / size
    return worst
