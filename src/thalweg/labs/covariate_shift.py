"""What goes into a unit wanders in training, and with batch norm hardly.

A layer learns from inputs that the layers below it make, and these change with every step: the
distribution of its inputs is not that of the step before (internal covariate shift). The paper
shows it for three layers of 100 sigmoid units on MNIST in batches of 60, by the 15th, 50th and 85th
percentile of what goes into the last sigmoids over training. How far the median m wanders, measured
by half the width s of the band,

    shift = max |m_t − m_t′| / √(s_t s_t′)

is 1 where the middle has gone as far as the edge of the band was. Behind a batch norm mean and
variance of every unit are fixed in each batch, and only γ and β can move them, which gradients do
slowly and on purpose.

While the inputs wander a sigmoid sees values that it was not fitted to; here the network without
norms learns nothing until they come to rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import thalweg as tw
from thalweg.labbook import (
    Axis,
    Break,
    Check,
    Figure,
    Findings,
    Guide,
    Lab,
    Panel,
    Ruling,
    Setting,
    Sheet,
    band,
    curve,
    figure,
    panel,
)
from thalweg.labbook.sources import Images, images

if TYPE_CHECKING:
    from torch import nn

LAYERS, UNITS, BATCH, RATE = 3, 100, 60, 0.5
LOOKS, TESTED, PROBED = 100, 2_000, 300  # looks; rows for accuracy, and for percentiles
PERCENTILES = (0.15, 0.5, 0.85)
LEARNT = 0.8  # accuracy from which a network has begun to learn


class Trained(NamedTuple):
    """What was seen of a training."""

    steps: np.ndarray  # of the looks
    accuracies: np.ndarray
    low: np.ndarray  # 15th percentile of what goes into a typical unit of the last hidden layer
    middle: np.ndarray
    high: np.ndarray
    shift: float  # the median over its units

    @property
    def begins(self) -> float:
        """The first step at which it has learnt something; infinite where it never does."""
        reached = self.accuracies >= LEARNT
        return float(self.steps[reached.argmax()]) if reached.any() else float("inf")


def network(inputs: int, seed: int, *, has_norms: bool, layers: int = LAYERS) -> nn.Sequential:
    """Hidden layers of 100 sigmoid units, as in the paper."""
    from torch import nn

    parts: list[nn.Module] = []
    for k in range(layers):
        parts.append(nn.Linear(UNITS if k else inputs, UNITS))
        parts += [tw.nets.BatchNorm(UNITS)] if has_norms else []
        parts.append(nn.Sigmoid())
    model = nn.Sequential(*parts, nn.Linear(UNITS, 10))
    tw.nets.initialize(model, "xavier", seed=seed)
    return model


def trained(model: nn.Sequential, data: Images, steps: int, rng: np.random.Generator) -> Trained:
    """Train, and look at accuracy and at what goes into the last sigmoids."""
    import torch

    x, y, x_test, y_test = tensors(data)
    optimizer = tw.nets.SGD(model, lr=RATE)
    body, probe = model[:-2], x[:PROBED]  # what feeds the last sigmoids, on the same rows always
    every = max(1, steps // LOOKS)
    looks, accuracies, seen = [], [], []
    for step in range(steps):
        rows = torch.from_numpy(rng.integers(len(x), size=BATCH))
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x[rows]), y[rows]).backward()
        optimizer.step()
        if (step + 1) % every == 0:
            looks.append(step + 1)
            accuracies.append(accuracy(model, x_test, y_test))
            with torch.no_grad():
                seen.append(torch.quantile(body(probe), torch.tensor(PERCENTILES), dim=0).numpy())
    bands = np.array(seen)  # [looks, 3, units]
    shifts = np.array([shift_of(*bands[:, :, k].T) for k in range(UNITS)])
    typical = int(np.argsort(shifts)[UNITS // 2])
    low, middle, high = bands[:, :, typical].T
    shift = float(np.median(shifts))
    return Trained(np.array(looks), np.array(accuracies), low, middle, high, shift)


def shift_of(low: np.ndarray, middle: np.ndarray, high: np.ndarray) -> float:
    """How far the median wandered, in half widths of the band: max |m − m′|/√(ss′)."""
    s = (high - low) / 2.0
    return float((np.abs(middle[:, None] - middle) / np.sqrt(s[:, None] * s)).max())


def tensors(data: Images) -> tuple[Any, ...]:
    """Pictures as rows, and labels; of the test part the first two thousand."""
    import torch

    parts = (data.X, data.y, data.X_test[:TESTED], data.y_test[:TESTED])
    x, y, x_test, y_test = map(torch.from_numpy, parts)
    return x.flatten(1), y, x_test.flatten(1), y_test


def accuracy(model: nn.Module, x: Any, y: Any) -> float:
    """Share of right answers at inference."""
    import torch

    model.eval()
    with torch.no_grad():
        right = float((model(x).argmax(1) == y).double().mean())
    model.train()
    return right


def experiment(setting: Setting, *, has_norms: bool = True) -> Findings:
    """The paper's network with and without batch norms."""
    data = images("mnist")
    steps = setting.pick(glance=500, quick=2_000, full=20_000)
    inputs = data.X[0].size
    runs = {
        name: trained(
            network(inputs, setting.seed, has_norms=norms), data, steps, setting.rng("rows")
        )
        for name, norms in (("without", False), ("with batch norms", has_norms))
    }
    without, norms = runs.values()
    checks = [
        Check(
            "without norms, the input of a unit wanders farther than half its band",
            without.shift >= 1.0, f"shift {without.shift:.2f}",
        ),
        Check(
            "with batch norms it wanders less than a third of that",
            3 * norms.shift < without.shift,
            f"shift {norms.shift:.2f}",
        ),
        Check(
            f"with batch norms the network begins to learn first ({LEARNT:.0%} accuracy)",
            norms.begins < 0.5 * min(without.begins, steps),
            f"after {_steps(norms.begins)}, without after {_steps(without.begins)}",
        ),
        Check(
            "with batch norms it is ahead at the end, too",
            norms.accuracies[-1] >= without.accuracies[-1],
            f"{norms.accuracies[-1]:.1%} and {without.accuracies[-1]:.1%} after {steps:,} steps",
        ),
    ]  # fmt: skip
    rows = [
        (name, run.shift, f"{run.middle.min():.2f} to {run.middle.max():.2f}",
         f"{(run.high - run.low)[0] / 2:.2f}", f"{(run.high - run.low)[-1] / 2:.2f}",
         f"{run.accuracies[-1]:.1%}")
        for name, run in runs.items()
    ]  # fmt: skip
    heads = ("", "shift", "median", "half band, first", "last", "accuracy")
    note = (
        f"{data.note}; {LAYERS} hidden layers of {UNITS} sigmoid units, batches of {BATCH}, SGD "
        f"with rate {RATE}, {steps:,} steps; percentiles over {PROBED} rows; shift: median over "
        "the units of the last hidden layer, of which the typical one is drawn"
    )
    return Findings(
        checks, [Sheet("What goes into a unit of the last hidden layer", heads, rows)],
        [_accuracies(runs), _bands(runs)], [note],
    )  # fmt: skip


def _steps(count: float) -> str:
    return f"{count:,.0f} steps" if np.isfinite(count) else "more steps than were made"


def _accuracies(runs: dict[str, Trained]) -> Figure:
    marks = [
        curve(name, run.steps, run.accuracies, k + 1) for k, (name, run) in enumerate(runs.items())
    ]
    last = {name: f"{run.accuracies[-1]:.1%}" for name, run in runs.items()}
    return figure(
        "Test accuracy over training", panel("step", "accuracy", marks),
        "; ".join(f"{name}: {value} at the end" for name, value in last.items()) + ".",
    )  # fmt: skip


def _bands(runs: dict[str, Trained]) -> Figure:
    low = min(run.low.min() for run in runs.values())
    high = max(run.high.max() for run in runs.values())
    axis = Axis("input of a unit", low=float(low), high=float(high))
    panels: list[Panel] = [
        panel(
            "step", axis,
            [
                band("15th to 85th percentile", run.steps, run.low, run.high, 1),
                curve("median", run.steps, run.middle, 1),
                Guide("", 0.0),
            ],
            title=name,
        )
        for name, run in runs.items()
    ]  # fmt: skip
    summary = " ".join(
        f"{name}: the median is between {run.middle.min():.2f} and {run.middle.max():.2f}."
        for name, run in runs.items()
    )
    return figure("Percentiles over training", panels, summary, columns=2)


LAB = Lab(
    name="covariate-shift",
    claim="While a network learns, the distribution of what goes into a unit changes; batch "
    "normalization keeps it in place, and the network learns sooner.",
    formula="shift = max |m_t − m_t′| / √(s_t s_t′),   m: median, s: half of the 15–85 % band",
    places=("B, Internal Covariate Shift", "C, Internal Covariate Shift"),
    expected=Ruling.HOLDS,
    experiment=experiment,
    breaks=(Break("norms", "batch norms that are switched off", {"has_norms": False}),),
    fails_if="inputs that wander less without norms than half their band, or with norms more "
    "than a third of that, or a network with norms that learns later",
    code="""\
import thalweg as tw, torch

table = tw.read("@digits")
x, y = torch.tensor(table.X / 16).float(), torch.tensor(table.y)
for norms in (False, True):
    parts = []
    for inputs in (64, 50, 50):
        norm = [tw.nets.BatchNorm(50)] if norms else []
        parts += [torch.nn.Linear(inputs, 50), *norm, torch.nn.Sigmoid()]
    model = torch.nn.Sequential(*parts, torch.nn.Linear(50, 10))
    tw.nets.initialize(model, "xavier", seed=0)
    with tw.watch(model, every=5) as watch:
        tw.nets.fit(model, (x, y), "sgd[lr=0.5]", epochs=5, probes=[watch])
    name = str(len(model) - 3)
    print("with norms" if norms else "without", tw.doctor.shift(watch.record, name).shift)
""",
    seconds=9.4,
    needs_torch=True,
)
