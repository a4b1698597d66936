"""Normalized outside the gradient, biases grow and the loss does not move.

Let a layer put out x = u + b, with a bias b that is learnt, and let x̂ = x − E[x] follow. If the
gradient takes E[x] for a constant, a step

    Δb = −η ∂ℓ/∂x̂

seems to lower the loss. But the mean of the next batch takes the step away again:

    u + (b + Δb) − E[u + (b + Δb)] = u + b − E[u + b]

Output and loss are what they were, so is the gradient, and the same step follows. After T steps
b = T·Δb: it grows without end while nothing is learnt. Division by the deviation makes it worse for
weights in the same way.

With batch normalization the gradient goes through E[x]. It then sums to zero over the batch: b has
no gradient and stays, and the shift β behind the normalization learns what b was meant to.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

import thalweg as tw
from thalweg.labbook import (
    Break,
    Check,
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

RATE, SHARED = 0.1, 64  # learning rate, samples of the batch
Normalize = Callable[["Tensor"], "Tensor"]


class Trained(NamedTuple):
    """Step by step."""

    biases: np.ndarray
    losses: np.ndarray


def experiment(setting: Setting, *, normalize: Normalize | None = None) -> Findings:
    """A bias before `normalize`, trained to bring outputs to 1, beside the same with batch norm."""
    steps = setting.pick(glance=100, quick=400, full=4_000)
    naive = _train(setting, steps, normalize)
    proper = _train_with_batch_norm(setting, steps)
    # x̂ has mean 0: with μ held fixed, ∂/∂b of mean((x̂ − 1)²) is 2·mean(x̂ − 1)/σ = −2/σ.
    step = RATE * 2.0 / _deviation(setting)
    t = np.arange(steps)
    checks = [
        Check(
            "the bias grows by the same step for ever: b = T·Δb",
            np.allclose(naive.biases, t * step, rtol=1e-3, atol=1e-3),
            f"{naive.biases[-1]:.2f} after {steps - 1:,} steps, {t[-1] * step:.2f} by theory",
        ),
        Check(
            "the loss does not move", np.ptp(naive.losses) <= 1e-5 * naive.losses[0],
            f"{naive.losses[0]:.6f} → {naive.losses[-1]:.6f}",
        ),
        Check(
            "with batch normalization the bias has no gradient and stays",
            np.abs(proper.biases).max() <= 1e-4, f"at most {np.abs(proper.biases).max():.1e}",
        ),
        Check(
            "with batch normalization the loss falls: β learns the shift",
            proper.losses[-1] <= 0.6 * proper.losses[0],
            f"{proper.losses[0]:.3f} → {proper.losses[-1]:.3f}",
        ),
    ]  # fmt: skip
    shown = [k for k in (0, 1, 10, 30, 99, 399, 3_999) if k < steps]
    rows = [
        (k, naive.biases[k], naive.losses[k], proper.biases[k], proper.losses[k]) for k in shown
    ]
    heads = ("step", "bias, naive", "loss, naive", "bias, BN", "loss, BN")
    panels = [
        panel(
            "step", "bias b",
            [
                curve("naive", t, naive.biases, 2),
                curve("T·Δb", t, t * step, 2, theory=True),
                curve("batch norm", t, proper.biases, 1),
            ],
        ),
        panel("step", "loss", [curve("naive", t, naive.losses, 2),
                               curve("batch norm", t, proper.losses, 1)]),
    ]  # fmt: skip
    summary = (
        f"Naive: the bias grows to {naive.biases[-1]:.1f} on the line of theory, and the loss "
        f"stays at {naive.losses[-1]:.3f}. With batch norm the bias stays at 0 and the loss falls "
        f"to {proper.losses[-1]:.3f}."
    )
    drawing = figure("A bias before a normalization", panels, summary, columns=2)
    note = f"{SHARED} samples of one unit, ℓ = mean((output − 1)²), SGD with rate {RATE}"
    return Findings(checks, [Sheet("Step by step", heads, rows)], [drawing], [note])


def _samples(setting: Setting) -> Tensor:
    import torch

    return torch.tensor(setting.rng("samples").standard_normal((SHARED, 1)))


def _deviation(setting: Setting) -> float:
    return float(_samples(setting).var(correction=0).add(1e-5).sqrt())


def _train(setting: Setting, steps: int, normalize: Normalize | None) -> Trained:
    import torch

    u = _samples(setting)
    b = torch.nn.Parameter(torch.zeros(1, dtype=torch.float64))
    optimizer = tw.nets.SGD([b], lr=RATE)
    map_ = normalize or tw.nets.naive_normalization
    biases, losses = [], []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = (map_(u + b) - 1.0).square().mean()
        loss.backward()
        biases.append(b.item())
        losses.append(loss.item())
        optimizer.step()
    return Trained(np.array(biases), np.array(losses))


def _train_with_batch_norm(setting: Setting, steps: int) -> Trained:
    import torch

    u = _samples(setting)
    b = torch.nn.Parameter(torch.zeros(1, dtype=torch.float64))
    norm = tw.nets.BatchNorm(1).double()
    optimizer = tw.nets.SGD([b, *norm.parameters()], lr=RATE)
    biases, losses = [], []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = (norm(u + b) - 1.0).square().mean()
        loss.backward()
        biases.append(b.item())
        losses.append(loss.item())
        optimizer.step()
    return Trained(np.array(biases), np.array(losses))


def through_the_gradient(x: Tensor) -> Tensor:
    """What should have been done: batch normalization, without scale and shift."""
    return tw.nets.BatchNorm(x.shape[1], affine=False).double()(x)


LAB = Lab(
    name="batch-norm-naive",
    claim="Normalizing after each step, outside the gradient, leads to biases that grow without "
    "end while outputs and loss stay where they were.",
    formula="u + (b + Δb) − E[u + (b + Δb)] = u + b − E[u + b]",
    places=("B, Why the naïve approach Does not work?",),
    expected=Ruling.HOLDS,
    experiment=experiment,
    breaks=(
        Break(
            "gradient",
            "a normalization that the gradient goes through",
            {"normalize": through_the_gradient},
        ),
    ),
    fails_if="a bias that leaves the line T·Δb by more than a thousandth, or a loss that moves by "
    "more than 10⁻⁵ of itself",
    code="""\
import thalweg as tw, torch

u = torch.randn(64, 1, generator=torch.Generator().manual_seed(0))
b = torch.nn.Parameter(torch.zeros(1))
optimizer = tw.nets.SGD([b], lr=0.1)
for t in range(100):
    optimizer.zero_grad()
    loss = (tw.nets.naive_normalization(u + b) - 1).square().mean()
    loss.backward()
    optimizer.step()
    if t % 33 == 0:
        print(f"step {t:2}: bias {b.item():6.2f}, loss {loss.item():.4f}")
assert b.item() > 10
""",
    seconds=0.4,
    needs_torch=True,
)
