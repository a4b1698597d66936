"""Batch normalization gives every unit mean 0 and variance 1, and can undo it.

For the m values that a unit has in a batch (Algorithm 1):

    μ = (1/m) Σᵢ xᵢ          σ² = (1/m) Σᵢ (xᵢ − μ)²
    x̂ᵢ = (xᵢ − μ)/√(σ² + ε)          yᵢ = γx̂ᵢ + β

All of it is differentiable, μ and σ² included: with g = ∂ℓ/∂x̂ the chain rule gives

    ∂ℓ/∂xᵢ = (gᵢ − mean(g) − x̂ᵢ·mean(g ⊙ x̂)) / √(σ² + ε)

so the gradient is orthogonal to what normalization takes away, a shift and a scale of x. Hence a
bias of the layer before has no effect, and neither has the scale of its weights, as long as σ² ≫ ε:

    BN(aWu + b) = BN(Wu)          the variance of x̂ is σ²/(σ² + ε)

With γ = √(σ² + ε) and β = μ the layer is the identity: nothing that the network could represent is
lost. At inference running averages stand in for μ and σ²,

    r ← (1 − α)r + αμ          whose weight on the first value is (1 − α)ᵗ after t batches

and the answer for one sample no longer depends on the others of its batch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

import thalweg as tw
from thalweg.labbook import (
    Break,
    Check,
    Figure,
    Findings,
    Lab,
    Ruling,
    Setting,
    Sheet,
    curve,
    figure,
    panel,
)

if TYPE_CHECKING:
    from torch import Tensor

EXACT = 1e-10  # of doubles, after some sums
BATCH, UNITS, STEP = 32, 5, 1e-6
Norm = Callable[[int], Any]


def experiment(setting: Setting, *, norm: Norm | None = None) -> Findings:
    """The layer `norm` beside its definition: values, gradients, identity, scales, averages."""
    make = norm or (lambda units: tw.nets.BatchNorm(units))
    x = _batch(setting)
    values = _difference_of_values(make, x)
    gradients = _gradients(make, x)
    identity = _identity(make, x)
    scales = np.logspace(-4, 3, setting.pick(glance=15, quick=29, full=57))
    deviations, shifted = _deviations(make, x, scales)
    predicted = _predicted(x, scales)
    weights, lag = _running(make, setting)
    alone = _alone(make, x)
    constant = _constant_channel(make)
    worst = float(np.abs(gradients[0] - gradients[1]).max() / np.abs(gradients[1]).max())
    checks = [
        Check("the values are those of Algorithm 1", values <= EXACT, f"{values:.1e} apart"),
        Check(
            "its gradient is that of central differences, μ and σ² included", worst <= 1e-6,
            f"{worst:.1e} of the largest entry apart, {gradients[0].size} entries",
        ),
        Check("γ = √(σ² + ε), β = μ give the identity", identity <= EXACT, f"{identity:.1e} apart"),
        Check(
            "ε is in the root: the deviation of x̂ is √(σ²/(σ² + ε)) at every scale",
            np.abs(deviations / predicted - 1.0).max() <= 1e-6,
            f"{np.abs(deviations / predicted - 1.0).max():.1e} apart over scales 10⁻⁴ to 10³",
        ),
        Check(
            "a constant unit becomes β, with a gradient that is finite", constant == 0.0,
            f"{constant:.1e} from β",
        ),
        Check(
            "before the nonlinearity, scale and bias of the layer before do not matter",
            shifted <= 1e-3, f"{shifted:.1e} apart for weights × 1 to × 1000 and biases of 100",
        ),
        Check(
            "running averages: the first value has weight (1 − α)ᵗ after t batches",
            np.abs(lag - weights).max() <= 1e-6, f"{np.abs(lag - weights).max():.1e} apart",
        ),
        Check(
            "at inference the answer to a sample does not depend on its batch", alone <= EXACT,
            f"{alone:.1e} apart",
        ),
    ]  # fmt: skip
    rows = [(f"{a:.0e}", d, p) for a, d, p in zip(scales, deviations, predicted, strict=True)]
    table = Sheet(
        "Deviation of what comes out, by the scale of the weights before",
        ("scale", "measured", "√(σ²/(σ² + ε))"), rows[:: max(1, len(rows) // 8)],
    )  # fmt: skip
    note = f"batches of {BATCH} × {UNITS} numbers in double precision, ε = 10⁻⁵, γ = 1, β = 0"
    drawings = [_scales(scales, deviations, predicted), _lags(weights, lag)]
    return Findings(checks, [table], drawings, [note])


def _batch(setting: Setting) -> Tensor:
    """Units of different means and deviations."""
    import torch

    rng = setting.rng("batch")
    x = rng.standard_normal((BATCH, UNITS)) * (0.5 + rng.random(UNITS)) + rng.normal(0, 3, UNITS)
    return torch.tensor(x)


def _by_definition(x: np.ndarray, eps: float) -> np.ndarray:
    return (x - x.mean(axis=0)) / np.sqrt(x.var(axis=0) + eps)


def _difference_of_values(make: Norm, x: Tensor) -> float:
    layer = make(UNITS).double()
    return float(np.abs(layer(x).detach().numpy() - _by_definition(x.numpy(), layer.eps)).max())


def _gradients(make: Norm, x: Tensor) -> tuple[np.ndarray, np.ndarray]:
    """Of ℓ = Σ cᵢⱼ yᵢⱼ³, by the layer and by differences."""
    import torch

    c = torch.cos(torch.arange(x.numel(), dtype=torch.float64)).reshape(x.shape)

    def loss(at: Tensor) -> Tensor:
        return (c * make(UNITS).double()(at) ** 3).sum()

    at = x.clone().requires_grad_()
    loss(at).backward()
    numerical = np.empty(x.numel())
    flat = x.flatten()
    for k in range(x.numel()):
        ends = []
        for sign in (1.0, -1.0):
            moved = flat.clone()
            moved[k] += sign * STEP
            ends.append(loss(moved.reshape(x.shape)).item())
        numerical[k] = (ends[0] - ends[1]) / (2.0 * STEP)
    gradient: Any = at.grad
    return gradient.numpy().ravel(), numerical


def _identity(make: Norm, x: Tensor) -> float:
    import torch

    layer = make(UNITS).double()
    with torch.no_grad():
        layer.weight.copy_(torch.sqrt(x.var(0, correction=0) + layer.eps))
        layer.bias.copy_(x.mean(0))
        return float((layer(x) - x).abs().max())


def _deviations(make: Norm, x: Tensor, scales: np.ndarray) -> tuple[np.ndarray, float]:
    """Of the first unit when x is scaled; and how far a scale and a shift move the outputs."""
    layer = make(UNITS).double()
    outputs = [layer(float(a) * x).detach() for a in scales]
    plain = layer(x).detach()
    moved = [float((layer(a * x + 100.0).detach() - plain).abs().max()) for a in (1.0, 30.0, 1e3)]
    return np.array([float(each[:, 0].std(correction=0)) for each in outputs]), max(moved)


def _predicted(x: Tensor, scales: np.ndarray) -> np.ndarray:
    variance = float(x[:, 0].var(correction=0)) * scales**2
    return np.sqrt(variance / (variance + 1e-5))


def _running(make: Norm, setting: Setting) -> tuple[np.ndarray, np.ndarray]:
    """(1 − α)ᵗ, and the weight that the average still has on where it began."""
    import torch

    layer = make(1).double()
    start, mean = 7.0, 3.0
    layer.running_mean.fill_(start)
    batch = torch.tensor([[mean - 1.0], [mean + 1.0]], dtype=torch.float64)
    left = []
    for _ in range(40):
        layer(batch)
        left.append((float(layer.running_mean) - mean) / (start - mean))
    return 0.9 ** np.arange(1, 41), np.array(left)


def _alone(make: Norm, x: Tensor) -> float:
    layer = make(UNITS).double()
    layer(x)
    layer.eval()
    return float((layer(x)[:1] - layer(x[:1])).detach().abs().max())


def _constant_channel(make: Norm) -> float:
    """How far a unit that is the same for all samples is from β; infinite without a gradient."""
    import torch

    x = torch.full((8, 1), 3.0, dtype=torch.float64, requires_grad=True)
    y = make(1).double()(x)
    y.sum().backward()
    gradient: Any = x.grad
    is_finite = bool(torch.isfinite(y).all() and torch.isfinite(gradient).all())
    return float(y.detach().abs().max()) if is_finite else float("inf")


def _scales(scales: np.ndarray, deviations: np.ndarray, predicted: np.ndarray) -> Figure:
    drawn = panel(
        "scale of the weights before", "deviation of x̂",
        [
            curve("measured", scales, deviations, 1, dots=True),
            curve("√(σ²/(σ² + ε))", scales, predicted, 1, theory=True),
        ],
        log="x",
    )  # fmt: skip
    summary = (
        f"The deviation rises from {deviations[0]:.2g}, where σ² is below ε, to 1, and stays there "
        "whatever the scale."
    )
    return figure("What comes out, whatever goes in", drawn, summary)


def _lags(weights: np.ndarray, lag: np.ndarray) -> Figure:
    t = np.arange(1, len(lag) + 1)
    drawn = panel(
        "batches t", "weight of the first value",
        [
            curve("running mean", t, lag, 2, dots=True),
            curve("(1 − α)ᵗ", t, weights, 2, theory=True),
        ],
        log="y",
    )  # fmt: skip
    return figure(
        "How fast the running mean forgets", drawn,
        f"After {len(t)} batches {lag[-1]:.1%} of the first value is left.",
    )  # fmt: skip


def outside_the_gradient(units: int) -> Any:
    """A batch norm whose gradient takes μ and σ² for constants."""

    class Detached(tw.nets.BatchNorm):
        def forward(self, x: Tensor) -> Tensor:
            if not self.training:
                return super().forward(x)
            super().forward(x.detach())
            return self.weight * tw.nets.naive_normalization(x, self.eps) + self.bias

    return Detached(units)


def eps_outside_the_root(units: int) -> Any:
    """A batch norm that divides by σ + ε."""

    class Outside(tw.nets.BatchNorm):
        def forward(self, x: Tensor) -> Tensor:
            if not self.training:
                return super().forward(x)
            super().forward(x.detach())
            deviation = x.var(0, correction=0).sqrt()
            return self.weight * (x - x.mean(0)) / (deviation + self.eps) + self.bias

    return Outside(units)


LAB = Lab(
    name="batch-norm",
    claim="Batch normalization makes every unit of a batch have mean 0 and variance 1, is "
    "differentiable, can learn the identity, and uses running averages at inference.",
    formula="x̂ᵢ = (xᵢ − μ)/√(σ² + ε),   yᵢ = γx̂ᵢ + β\nγ = √Var[x], β = E[x] give back x",
    places=(
        "A, Batch Normalization",
        "B, The Batch Transformation: formally from the paper",
        "C, Batch Normalization",
    ),
    expected=Ruling.HOLDS,
    experiment=experiment,
    breaks=(
        Break("detached", "μ and σ² outside the gradient", {"norm": outside_the_gradient}),
        Break("eps", "ε outside the root", {"norm": eps_outside_the_root}),
    ),
    fails_if="an output that is not Algorithm 1's to ten digits, a gradient that is not that of "
    "differences to six, or an answer at inference that depends on the batch",
    code="""\
import thalweg as tw, torch

x = 5 + 3 * torch.randn(64, 4, generator=torch.Generator().manual_seed(0))
layer = tw.nets.BatchNorm(4)
y = layer(x)
print("mean", y.mean(0).abs().max().item(), "variance", y.var(0, correction=0).detach())
with torch.no_grad():
    layer.weight.copy_(torch.sqrt(x.var(0, correction=0) + layer.eps))
    layer.bias.copy_(x.mean(0))
print("identity:", (layer(x) - x).abs().max().item())
assert torch.allclose(layer(x), x, atol=1e-5)
""",
    seconds=0.2,
    needs_torch=True,
)
