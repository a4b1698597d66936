"""Batch norm trains sooner, at higher rates, from any scale, with sigmoids.

Behind a batch norm the output does not depend on the scale of the weights before it, and the
gradient with respect to them shrinks as they grow:

    BN(aWu) = BN(Wu)          ∂BN(aWu)/∂(aW) = (1/a) ∂BN(Wu)/∂W

So a step that was too large makes later steps smaller, which is why high rates do not blow a
network up, and the scale of the first weights hardly matters. What goes into a sigmoid has mean 0
and variance 1, where its slope is not small, so that deep networks of them learn at all.

In training, an output depends on the other samples of its batch. The noise of a mean over m samples
falls like 1/√m; it is a regularization of a kind, as dropout's is, and how much it is worth
depends on the task.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import thalweg as tw
from thalweg.labbook import (
    NOTED,
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
from thalweg.labbook.sources import images
from thalweg.labs.covariate_shift import network, trained

if TYPE_CHECKING:
    from torch import nn

RATES = (0.01, 0.1, 1.0, 10.0)
SCALES = (0.01, 0.1, 1.0, 10.0)  # of the first weights, by Xavier's
WORKS = 0.8  # test accuracy from which a training has worked
HIDDEN, BATCH, ROWS = 50, 50, 1_300
SIZES = (4, 8, 16, 32, 64)


class Small(NamedTuple):
    """A small training on digits."""

    train_loss: float
    test_loss: float
    accuracy: float


def experiment(setting: Setting, *, has_norms: bool = True) -> Findings:
    """Each benefit by an experiment with and without; `has_norms` False switches the norms off."""
    data = images("mnist")
    steps = setting.pick(glance=300, quick=1_500, full=20_000)
    inputs = data.X[0].size
    paper = {
        name: trained(
            network(inputs, setting.seed, has_norms=norms), data, steps, setting.rng("rows")
        )
        for name, norms in (("without", False), ("with", has_norms))
    }
    kinds = {"without": False, "with": has_norms}
    rates = {
        name: [_small(setting, norms, rate=rate) for rate in RATES] for name, norms in kinds.items()
    }
    scales = {
        name: [_small(setting, norms, scale=scale) for scale in SCALES]
        for name, norms in kinds.items()
    }
    deep = {
        name: _small(setting, norms, layers=6, activation="sigmoid")
        for name, norms in kinds.items()
    }
    held = {
        name: _small(setting, norms, dropout=keep)
        for name, norms, keep in (
            ("plain", False, 1.0), ("dropout", False, 0.5), ("batch norm", has_norms, 1.0),
        )
    }  # fmt: skip
    noise = _noise(setting, has_norms)
    checks = [
        *_sooner(paper, steps), *_working(rates, scales, deep), _noisy(noise), _regularizes(held),
    ]  # fmt: skip
    note = (
        f"accuracy over steps: {data.note}, the paper's network (three layers of 100 sigmoid "
        f"units, batches of 60); all else on digits, {ROWS:,} rows: three layers of {HIDDEN} "
        f"ReLUs, batches of {BATCH}; test accuracy on the other 497"
    )
    return Findings(
        checks,
        [_table("rate", RATES, rates), _table("scale of weights", SCALES, scales), _held(held)],
        [_curves(paper), _grid(rates, scales), _noise_drawn(noise)],
        [note],
    )


def _small(
    setting: Setting,
    has_norms: bool,
    *,
    rate: float = 0.1,
    scale: float = 1.0,
    layers: int = 3,
    activation: str = "relu",
    dropout: float = 1.0,
) -> Small:
    import torch

    table = tw.read("@digits")
    order = setting.rng("digits").permutation(len(table.X))
    x = torch.tensor(table.X[order] / 16.0, dtype=torch.float32)
    y = torch.tensor(np.asarray(table.y)[order])
    model = _network(setting, has_norms, layers, activation, dropout)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if name.endswith("weight") and weight.ndim == 2:
                weight.mul_(scale)
    run = tw.nets.fit(
        model, (x[:ROWS], y[:ROWS]), f"sgd[lr={rate}]", batch_size=BATCH, seed=setting.seed,
        epochs=setting.pick(glance=5, quick=15, full=40), progress=False,
    )  # fmt: skip
    if run.outcome.name == "DIVERGED":
        return Small(float("inf"), float("inf"), 0.1)
    with torch.no_grad():
        scores = model.eval()(x)
        losses = [
            float(torch.nn.functional.cross_entropy(scores[part], y[part]))
            for part in (slice(ROWS), slice(ROWS, None))
        ]
        right = float((scores[ROWS:].argmax(1) == y[ROWS:]).double().mean())
    return Small(losses[0], losses[1], right)


def _network(
    setting: Setting, has_norms: bool, layers: int, activation: str, keep: float
) -> nn.Sequential:
    from torch import nn

    made = {"relu": nn.ReLU, "sigmoid": nn.Sigmoid}[activation]
    parts: list[Any] = []
    for k in range(layers):
        parts.append(nn.Linear(HIDDEN if k else 64, HIDDEN))
        parts += [tw.nets.BatchNorm(HIDDEN)] if has_norms else []
        parts.append(made())
        parts += [tw.nets.Dropout(keep)] if keep < 1.0 else []
    model = nn.Sequential(*parts, nn.Linear(HIDDEN, 10))
    tw.nets.initialize(model, "xavier", seed=setting.seed)
    return model


def _noise(setting: Setting, has_norms: bool) -> np.ndarray:
    """How much an output moves with the rest of its batch, by batches of m; 0 without norms."""
    import torch

    norm = tw.nets.BatchNorm(1) if has_norms else torch.nn.Identity()
    count = setting.pick(glance=200, quick=2_000, full=40_000)
    spread = []
    for m in SIZES:
        rest = torch.tensor(setting.rng("noise", m).standard_normal((count, m, 1))).float()
        rest[:, 0] = 1.0  # the sample whose output is looked at
        spread.append(float(torch.stack([norm(batch)[0, 0].detach() for batch in rest]).std()))
    return np.array(spread)


def _sooner(paper: dict[str, Any], steps: int) -> list[Check]:
    without, norms = paper["without"], paper["with"]
    ahead = float(np.mean(norms.accuracies - without.accuracies))
    level = 0.9 * norms.accuracies[-1]  # where curves are steep: the step is known well
    first, second = _first(norms, level), _first(without, level)
    then = f"after {second:,.0f}" if second <= steps else f"not after {steps:,}"
    return [
        Check(
            "it trains sooner: half of the steps at most to nine tenths of its accuracy",
            first <= 0.5 * second and ahead > 0.05,
            f"{level:.1%} after {first:,.0f} steps, without {then}; {ahead:.1%} ahead on average",
        )
    ]


def _first(run: Any, accuracy: float) -> float:
    reached = run.accuracies >= accuracy
    return float(run.steps[reached.argmax()]) if reached.any() else float("inf")


def _working(rates: Any, scales: Any, deep: Any) -> list[Check]:
    top, works = {}, {}
    for name in ("without", "with"):
        good = [rate for rate, run in zip(RATES, rates[name], strict=True) if run.accuracy >= WORKS]
        top[name] = max(good, default=0.0)
        works[name] = sum(run.accuracy >= WORKS for run in scales[name])
    return [
        Check(
            "it allows higher rates: the largest of 0.01, 0.1, 1 and 10 that works is larger",
            top["with"] > top["without"], f"{top['with']:g} with, {top['without']:g} without",
        ),
        Check(
            "it depends less on the scale of the first weights: more of 0.01, 0.1, 1 and 10 work",
            works["with"] > works["without"],
            f"{works['with']} with, {works['without']} without",
        ),
        Check(
            "six layers of sigmoids learn with it, and not without",
            deep["with"].accuracy >= WORKS > deep["without"].accuracy,
            f"{deep['with'].accuracy:.1%} and {deep['without'].accuracy:.1%}",
        ),
    ]  # fmt: skip


def _noisy(noise: np.ndarray) -> Check:
    slope = float(np.polyfit(np.log(SIZES), np.log(np.maximum(noise, 1e-12)), 1)[0])
    return Check(
        "it adds noise that falls like 1/√m with the size of the batch", -0.7 <= slope <= -0.35,
        f"{noise[0]:.3f} for m = {SIZES[0]}, {noise[-1]:.3f} for {SIZES[-1]}: exponent {slope:.2f}",
    )  # fmt: skip


def _regularizes(held: dict[str, Small]) -> Check:
    plain, norms, dropout = held["plain"], held["batch norm"], held["dropout"]
    return Check(
        "it reduces the need for dropout: its test loss without any is below the plain network's",
        norms.test_loss < plain.test_loss,
        f"test loss {norms.test_loss:.3f}, plain {plain.test_loss:.3f}, plain with dropout "
        f"{dropout.test_loss:.3f}", NOTED,
    )  # fmt: skip


def _table(head: str, values: tuple[float, ...], runs: dict[str, list[Small]]) -> Sheet:
    rows = [
        (f"{value:g}", *(f"{runs[name][k].accuracy:.1%}" for name in ("without", "with")))
        for k, value in enumerate(values)
    ]
    return Sheet(f"Test accuracy by {head}", (head, "without", "with batch norms"), rows)


def _held(held: dict[str, Small]) -> Sheet:
    rows = [
        (name, run.train_loss, run.test_loss, f"{run.accuracy:.1%}") for name, run in held.items()
    ]
    heads = ("network", "training loss", "test loss", "test accuracy")
    return Sheet("Noise as regularization", heads, rows)


def _curves(paper: dict[str, Any]) -> Figure:
    marks = [
        curve(f"{name} batch norms", run.steps, run.accuracies, k + 1)
        for k, (name, run) in enumerate(paper.items())
    ]
    summary = " ".join(f"{name}: {run.accuracies[-1]:.1%}." for name, run in paper.items())
    return figure("Test accuracy over steps", panel("step", "accuracy", marks), summary)


def _grid(rates: dict[str, list[Small]], scales: dict[str, list[Small]]) -> Figure:
    panels = [
        panel(
            label, "test accuracy",
            [
                curve(f"{name} batch norms", values, [run.accuracy for run in runs[name]], k + 1,
                      dots=True)
                for k, name in enumerate(("without", "with"))
            ],
            log="x",
        )
        for label, values, runs in (
            ("learning rate", RATES, rates), ("scale of the first weights", SCALES, scales),
        )
    ]  # fmt: skip
    summary = "With batch norms more rates and more scales of the first weights work."
    return figure("Rates and scales that work", panels, summary, columns=2)


def _noise_drawn(noise: np.ndarray) -> Figure:
    theory = noise[-1] * np.sqrt(SIZES[-1] / np.array(SIZES))
    marks = [
        curve("measured", SIZES, noise, 1, dots=True), curve("1/√m", SIZES, theory, 1, theory=True),
    ]  # fmt: skip
    drawn = panel("size of the batch m", "deviation of an output", marks, log="xy")
    return figure(
        "How an output depends on its batch", drawn,
        f"From {noise[0]:.2f} for batches of {SIZES[0]} to {noise[-1]:.2f} for {SIZES[-1]}.",
    )  # fmt: skip


LAB = Lab(
    name="batch-norm-benefits",
    claim="Batch normalization makes training faster, allows higher rates and saturating "
    "nonlinearities, depends less on the first weights, and regularizes a little by its noise.",
    formula="BN(aWu) = BN(Wu),   ∂BN(aWu)/∂(aW) = (1/a) ∂BN(Wu)/∂W",
    places=("B, Other benefits in practice", "B, Better accuracy, faster", "C, Advantages"),
    expected=Ruling.HOLDS,
    experiment=experiment,
    breaks=(Break("norms", "batch norms that are switched off", {"has_norms": False}),),
    fails_if="no rate or no scale of first weights that works with norms alone, deep sigmoids that "
    "learn without them or not with them, or a network with norms that is not ahead",
    code="""\
import thalweg as tw, torch

table = tw.read("@digits")
x, y = torch.tensor(table.X / 16).float(), torch.tensor(table.y)
for norms in (False, True):
    parts = []
    for inputs in (64, 50, 50, 50, 50, 50):
        norm = [tw.nets.BatchNorm(50)] if norms else []
        parts += [torch.nn.Linear(inputs, 50), *norm, torch.nn.Sigmoid()]
    model = torch.nn.Sequential(*parts, torch.nn.Linear(50, 10))
    tw.nets.initialize(model, "xavier", seed=0)
    run = tw.nets.fit(model, (x, y), "sgd[lr=0.1]", epochs=5, progress=False)
    print("with norms" if norms else "without", f"loss {run.trace['training_loss'][-1]:.3f}")
""",
    remark="Whether its noise makes dropout unnecessary depends on the task: that part is measured "
    "and shown, and decides nothing.",
    seconds=14.0,
    needs_torch=True,
)
