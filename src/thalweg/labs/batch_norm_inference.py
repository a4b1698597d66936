"""For inference, statistics of the population make batch norm one affine map.

After training, a batch norm shall not depend on the batch that a sample comes in. Algorithm 2 takes
the statistics of the population instead, estimated over many batches B of m samples:

    E[x] = E_B[μ_B]          Var[x] = m/(m − 1) · E_B[σ_B²]

The factor is there as the mean of a batch is fitted to the batch: of m independent values

    E[σ_B²] = (m − 1)/m · Var[x]

With fixed statistics the layer is an affine map of each unit, and one with the layer before it:

    y = γ/√(Var[x] + ε) · x + (β − γE[x]/√(Var[x] + ε))

Running averages that were collected while the weights moved are cheaper and lag behind: they are
statistics of weights that are no longer there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

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
    from torch import Tensor, nn

HIDDEN, BATCH, TRAINED = 40, 50, 1_400
SIZES = (2, 3, 4, 8, 16, 64)  # of the batches whose variances are compared
ROOM = 4.0  # standard errors that a mean over batches may be away


class Bias(NamedTuple):
    """Mean variance of batches of m, by that of the population, with its standard error."""

    m: int
    plain: float
    corrected: float
    error: float


def experiment(setting: Setting, *, statistics: Callable[..., Any] | None = None) -> Findings:
    """A network with batch norms on digits: `statistics` measured, folded, and compared."""
    import torch

    measure = statistics or tw.nets.population_statistics
    model, x, y = _trained(setting)
    norm: Any = model[1]
    x_test, y_test = x[TRAINED:], y[TRAINED:]
    running = norm.running_mean.clone(), norm.running_var.clone()
    lagging = _loss(model, x[:TRAINED], y[:TRAINED]), _accuracy(model, x_test, y_test)
    measure(model, x[:TRAINED], batch_size=BATCH)
    measured = _loss(model, x[:TRAINED], y[:TRAINED]), _accuracy(model, x_test, y_test)
    mean, variance = _by_definition(model, x[:TRAINED])
    off = max(
        float((norm.running_mean - mean).abs().max()),
        float((norm.running_var / variance - 1.0).abs().max()),
    )
    folded = tw.nets.fold(model, x_test[:64])
    with torch.no_grad():
        scores = model.eval()(x_test)
        apart = float((folded(x_test) - scores).abs().max() / scores.abs().max())
        batches = float((model(x_test)[:7] - model(x_test[:7])).abs().max())
    biases = [_bias(setting, m) for m in SIZES]
    lag = float((running[0] - mean).abs().max() / variance.sqrt().mean())
    checks = [
        Check(
            "E[x] = E_B[μ_B] and Var[x] = m/(m − 1)·E_B[σ_B²], by definition", off <= 1e-8,
            f"{off:.1e} apart, {HIDDEN} units",
        ),
        Check(
            "E[σ_B²] = (m − 1)/m·Var[x]: without the factor the variance is too small",
            all(abs(b.plain - (b.m - 1) / b.m) <= ROOM * b.error for b in biases),
            f"{biases[0].plain:.3f} for m = 2 (½ by theory), {biases[-1].plain:.3f} for m = 64",
        ),
        Check(
            "with the factor it is right for every m",
            all(abs(b.corrected - 1.0) <= ROOM * b.m / (b.m - 1) * b.error for b in biases),
            f"{min(b.corrected for b in biases):.3f} to {max(b.corrected for b in biases):.3f}",
        ),
        Check(
            "folded into the layer before it is the same function", apart <= 1e-10,
            f"{apart:.1e} of the largest score apart; {len(folded.folding.folded)} norms folded",
        ),
        Check(
            "the answer to a sample does not depend on its batch", batches <= 1e-10,
            f"{batches:.1e} apart",
        ),
        Check(
            "running averages lag: they are farther from the population's than these",
            lag > 0.01, f"means {lag:.3f} deviations away",
        ),
        Check(
            "with the population's statistics the training loss is no higher than with those",
            measured[0] <= lagging[0] * 1.05, f"{measured[0]:.4f} and {lagging[0]:.4f}",
        ),
    ]  # fmt: skip
    rows = [(b.m, b.plain, (b.m - 1) / b.m, b.corrected) for b in biases]
    table = Sheet("Mean variance of a batch of m, by the population's",
                  ("m", "E[σ_B²]", "(m − 1)/m", "times m/(m − 1)"), rows)  # fmt: skip
    use = Sheet(
        "In use",
        ("statistics", "training loss", "test accuracy"),
        [("running averages", lagging[0], f"{lagging[1]:.1%}"),
         ("population", measured[0], f"{measured[1]:.1%}")],
    )  # fmt: skip
    note = (
        f"digits, {TRAINED:,} rows trained on in batches of {BATCH}, {len(y_test)} others; 64 – "
        f"{HIDDEN} – {HIDDEN} – 10 with batch norms before the ReLUs, in double precision"
    )
    return Findings(checks, [table, use], [_drawn(biases)], [note])


def _trained(setting: Setting) -> tuple[nn.Sequential, Tensor, Tensor]:
    import torch
    from torch import nn

    table = tw.read("@digits")
    order = setting.rng("rows").permutation(len(table.X))
    x = torch.tensor(table.X[order] / 16.0, dtype=torch.float64)
    y = torch.tensor(np.asarray(table.y)[order])
    norm = tw.nets.BatchNorm
    model = nn.Sequential(
        nn.Linear(64, HIDDEN), norm(HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, HIDDEN), norm(HIDDEN),
        nn.ReLU(), nn.Linear(HIDDEN, 10),
    ).double()  # fmt: skip
    tw.nets.initialize(model, "he", seed=setting.seed)
    epochs = setting.pick(glance=2, quick=4, full=20)
    tw.nets.fit(
        model, (x[:TRAINED], y[:TRAINED]), "sgd[lr=0.5]", epochs=epochs, batch_size=BATCH,
        seed=setting.seed, progress=False,
    )  # fmt: skip
    return model, x, y


def _by_definition(model: nn.Sequential, x: Tensor) -> tuple[Tensor, Tensor]:
    """Of the first norm's inputs, over all rows at once: their order makes no difference here."""
    import torch

    with torch.no_grad():
        inputs = model[0](x)
    # Means over batches of one size are means over all rows; variances within them need the cut
    # that the library makes, in an order drawn by its seed 0.
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(0))
    parts = inputs[order].split(BATCH)
    sizes = torch.tensor([len(part) for part in parts], dtype=torch.float64)
    variances = torch.stack([part.var(0, correction=1) for part in parts])
    return inputs.mean(0), (sizes[:, None] * variances).sum(0) / sizes.sum()


def _loss(model: nn.Module, x: Tensor, y: Tensor) -> float:
    import torch

    with torch.no_grad():
        return float(torch.nn.functional.cross_entropy(model.eval()(x), y))


def _accuracy(model: nn.Module, x: Tensor, y: Tensor) -> float:
    import torch

    with torch.no_grad():
        return float((model.eval()(x).argmax(1) == y).double().mean())


def _bias(setting: Setting, m: int) -> Bias:
    """Variances of batches of m out of N(0, 1), as they are and with the factor."""
    count = setting.pick(glance=4_000, quick=40_000, full=400_000)
    variances = setting.rng("bias", m).standard_normal((count, m)).var(axis=1)
    plain, error = float(variances.mean()), float(variances.std() / np.sqrt(count))
    return Bias(m, plain, plain * m / (m - 1), error)


def _drawn(biases: list[Bias]) -> Figure:
    m = [b.m for b in biases]
    marks = [
        curve("E[σ_B²]", m, [b.plain for b in biases], 2, dots=True),
        curve("(m − 1)/m", m, [(b.m - 1) / b.m for b in biases], 2, theory=True),
        curve("m/(m − 1)·E[σ_B²]", m, [b.corrected for b in biases], 1, dots=True),
    ]
    summary = (
        f"Without the factor the variance is {biases[0].plain:.2f} of the population's for batches "
        f"of 2 and {biases[-1].plain:.2f} for 64; with it between "
        f"{min(b.corrected for b in biases):.2f} and {max(b.corrected for b in biases):.2f}."
    )
    drawn = panel("size of the batch m", "by the population's variance", marks, log="x")
    return figure("Why there is m/(m − 1)", drawn, summary)


def without_the_factor(model: nn.Module, data: Any, *, batch_size: int) -> None:
    """Statistics whose variances are those of the batches as they are."""
    tw.nets.population_statistics(model, data, batch_size=batch_size)
    for layer in model.modules():
        if isinstance(layer, tw.nets.BatchNorm):
            layer.running_var *= (batch_size - 1) / batch_size


LAB = Lab(
    name="batch-norm-inference",
    claim="At inference a batch norm uses statistics of the population, E_B[μ_B] and "
    "m/(m − 1)·E_B[σ_B²], and is then one affine map with the layer before it.",
    formula="y = γ/√(Var[x] + ε) · x + (β − γE[x]/√(Var[x] + ε))\n"
    "E[x] = E_B[μ_B],   Var[x] = m/(m − 1) · E_B[σ_B²]",
    places=(
        "B, The full algorithm as proposed in the paper",
        "B, Note that BN(x) is different during test",
    ),
    expected=Ruling.HOLDS,
    experiment=experiment,
    breaks=(Break("factor", "variances without m/(m − 1)", {"statistics": without_the_factor}),),
    fails_if="statistics that are not the definition's to eight digits, a folded network whose "
    "scores differ, or a mean variance of batches that is not (m − 1)/m of the population's",
    code="""\
import thalweg as tw, torch

table = tw.read("@digits")
x, y = torch.tensor(table.X / 16).float(), torch.tensor(table.y)
model = torch.nn.Sequential(
    torch.nn.Linear(64, 32), tw.nets.BatchNorm(32), torch.nn.ReLU(), torch.nn.Linear(32, 10)
)
tw.nets.fit(model, (x, y), "sgd[lr=0.1]", epochs=2, progress=False)
found = tw.nets.population_statistics(model, x, batch_size=64)
print({name: (s.mean[:2], s.variance[:2]) for name, s in found.items()})
print(tw.nets.fold(model, x[:64]).folding)
""",
    seconds=0.3,
    needs_torch=True,
)
