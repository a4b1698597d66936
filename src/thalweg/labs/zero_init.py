"""Weights that begin at zero stay there, if σ(0) = 0.

For f(x) = wᵀσ(Ux) the gradients are

    ∂f/∂w = σ(Ux),   ∂f/∂U = (w ⊙ σ′(Ux)) xᵀ

With w = 0 and U = 0 the second is zero whatever σ is, as w is a factor of it. The first is σ(0),
one number for all units: zero for tanh and ReLU, but 1/2 for the sigmoid. So training stops at once
with tanh and ReLU. With the sigmoid w moves in the first step, and then U has a gradient too: of k
layers, the last moves first, the one before it a step later, and so on.

Biases are not in the formula. The one of the last layer has the gradient softmax(b) − y, which is
not zero: it learns the shares of the classes, to the entropy of the labels and no further, while
all weights stay at zero.

The second problem is there in any case. Units that begin alike have the same gradient, row by row
and column by column, and stay alike: with all weights at zero, or at 0.5, a layer of H units is one
unit that counts H times,

    Σⱼ wⱼ σ(uⱼᵀx) = (Σⱼ wⱼ) σ(uᵀx)   where all uⱼ = u

It learns what one unit can learn: the losses are those of a single unit √H b σ(aᵀx/√H) that begins
at a = √H u and b = √H w and takes the same steps. Weights that are drawn break the symmetry.

So much for exact numbers. A computer may add the terms of two equal units in another order, and
then they differ by rounding, 10⁻¹⁶ of their size. The symmetric state is not stable: the difference
grows geometrically, and after long enough the units do part. Nothing to rely on: it takes many
epochs, and where sums are done in the same order it never comes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import thalweg as tw
from thalweg.labbook import (
    CONDITION,
    NOTED,
    WRITTEN,
    Axis,
    Break,
    Check,
    Figure,
    Findings,
    Guide,
    Heatmap,
    Lab,
    Panel,
    Ruling,
    Setting,
    Sheet,
    curve,
    figure,
    panel,
)

if TYPE_CHECKING:
    from torch import Tensor, nn

UNITS = 16
UNIFORM = math.log(10)  # the loss of a network that knows nothing of ten classes
ACTIVATIONS = ("tanh", "ReLU", "sigmoid")
ALIKE = float(np.sqrt(np.finfo(float).eps))  # equal to half the digits: rounding grows in training
BATCH, RATE = 50, 0.5
DRAWN = "xavier"


class Trained(NamedTuple):
    """A network after training."""

    gradients: dict[str, float]  # norms before the first step, by tensor
    model: nn.Sequential
    losses: np.ndarray  # after each epoch, the first before training
    accuracy: float  # on the training data
    spreads: np.ndarray  # of the units, after each epoch

    def norm(self, kind: str) -> float:
        """The norm of all tensors of a kind, "weight" or "bias"."""
        found = [p for name, p in self.model.named_parameters() if name.endswith(kind)]
        return math.sqrt(sum(float(p.detach().square().sum()) for p in found))

    @property
    def spread(self) -> float:
        """How far the units are from their mean in the end."""
        return float(self.spreads[-1])

    @property
    def has_moved(self) -> bool:
        """Whether there is a weight that is not zero."""
        return self.norm("weight") > 0


def experiment(
    setting: Setting, *, zeros: str = "zeros", alike: str = "constant[value=0.5]"
) -> Findings:
    """Networks of one hidden layer on digits, by how their weights begin."""
    X, y = _digits(setting)
    epochs = setting.pick(glance=8, quick=12, full=12)
    long = setting.pick(glance=0, quick=60, full=150)
    plain = {name: _train(setting, name, zeros, X, y, epochs, bias=False) for name in ACTIVATIONS}
    biased = {name: _train(setting, name, zeros, X, y, epochs) for name in ("tanh", "ReLU")}
    halves = {name: _train(setting, name, alike, X, y, epochs) for name in ACTIVATIONS}
    drawn = {name: _train(setting, name, DRAWN, X, y, epochs) for name in ACTIVATIONS}
    one = _one_unit(setting, alike, X, y, epochs)
    lasting = {name: _train(setting, name, alike, X, y, long) for name in ACTIVATIONS if long}
    shares = np.bincount(y.numpy(), minlength=10) / len(y)
    wakes = _wakes(zeros, X, y)
    checks = [
        *_checks_as_written(plain, biased),
        *_checks_with_condition(plain, biased, drawn, shares),
        *_checks_of_symmetry(plain, halves, drawn),
        _check_of_one_unit(*one),
        _check_of_waking(wakes),
        *_check_of_rounding(lasting),
    ]
    return Findings(
        checks,
        [_table(plain, biased, halves, drawn), _table_of_waking(wakes)],
        [
            _figure_of_losses(plain, halves, drawn),
            _figure_of_weights(halves, drawn),
            *_figure_of_rounding(lasting),
        ],
        [
            f"{len(y):,} of scikit-learn's digits, of unequal classes (entropy of the labels "
            f"{_entropy(shares):.3f}); pixels of mean 0 and deviation 1/4; 64 inputs, {UNITS} "
            f"hidden units, 10 classes; SGD in batches of {BATCH}, rate {RATE}, {epochs} epochs, "
            "in float64",
        ],
    )


def _digits(setting: Setting) -> tuple[Tensor, Tensor]:
    """Digits of unequal classes, for a last bias to learn: of class k a share of 2/(2 + k)."""
    import torch

    table = tw.read("@digits", dtype="float64")
    y = np.asarray(table.y)
    kept = setting.rng("classes").random(len(y)) < 2.0 / (2.0 + y)
    X = tw.scaling.ZScore().fit_transform(table.X[kept]) / 4.0
    return torch.as_tensor(X), torch.as_tensor(y[kept])


def _train(
    setting: Setting,
    activation: str,
    scheme: str,
    X: Tensor,
    y: Tensor,
    epochs: int,
    *,
    bias: bool = True,
) -> Trained:
    """Gradients at the start, then training."""
    from torch import nn

    model = nn.Sequential(
        nn.Linear(64, UNITS, bias=bias), _activation(activation), nn.Linear(UNITS, 10, bias=bias)
    ).double()
    tw.nets.initialize(model, scheme, seed=setting.seed_for("seed", activation, scheme))
    gradients = _gradients(model, X, y)
    spreads: list[float] = []
    losses = _fit(setting, model, X, y, epochs, lambda moment: spreads.append(_spread(model)))
    score = tw.nets.evaluate(model, (X, y))
    return Trained(gradients, model, losses, score.accuracy, np.array(spreads))


def _fit(
    setting: Setting,
    model: nn.Module,
    X: Tensor,
    y: Tensor,
    epochs: int,
    look: Callable[[Any], None] | None = None,
    loss: Any = "cross-entropy",
) -> np.ndarray:
    """The training loss after each epoch; `look` is called at the end of each."""
    steps = -(-len(y) // BATCH)
    # A seed decides the order of the rows: all networks see the same batches.
    probes = [lambda moment: look(moment) if moment.step % steps == 0 else None] if look else []
    run = tw.nets.fit(
        model, (X, y), f"sgd[lr={RATE}]", loss, epochs, batch_size=BATCH, seed=setting.seed,
        probes=probes, progress=False,
    )  # fmt: skip
    return run.trace["training_loss"]


def _one_unit(
    setting: Setting, alike: str, X: Tensor, y: Tensor, epochs: int
) -> tuple[np.ndarray, np.ndarray]:
    """Losses of a layer of tanh units without biases, and of the one unit that it should be."""
    from torch import nn
    from torch.nn import functional

    layer = _train(setting, "tanh", alike, X, y, epochs, bias=False)
    root = math.sqrt(UNITS)
    unit = nn.Sequential(nn.Linear(64, 1, bias=False), nn.Tanh(), nn.Linear(1, 10, bias=False))
    tw.nets.initialize(unit.double(), f"constant[value={0.5 * root}]")

    def loss(output: Tensor, labels: Tensor) -> Tensor:
        return functional.cross_entropy(root * output, labels)

    return layer.losses, _fit(setting, unit, X / root, y, epochs, loss=loss)


def _spread(model: nn.Module) -> float:
    """How far units are from their mean, by its norm: incoming and outgoing weights."""
    units = np.hstack([_values(model, "0.weight"), _values(model, "2.weight").T])
    mean = units.mean(axis=0)
    size = float(np.linalg.norm(mean))
    return float(np.linalg.norm(units - mean, axis=1).max()) / size if size else 0.0


def _wakes(zeros: str, X: Tensor, y: Tensor) -> np.ndarray:
    """Norms of the gradients of three layers of sigmoids, float[steps, layers], step by step."""
    from torch import nn

    sizes = (64, UNITS, UNITS, 10)
    parts: list[nn.Module] = []
    for n, m in pairwise(sizes):
        parts += [nn.Linear(n, m, bias=False), nn.Sigmoid()]
    model = nn.Sequential(*parts[:-1]).double()
    tw.nets.initialize(model, zeros, seed=0)
    optimizer = tw.nets.SGD(model, lr=0.5)
    norms = []
    for _ in range(4):
        norms.append(list(_gradients(model, X, y).values()))
        optimizer.step()
    return np.array(norms)


def _gradients(model: nn.Module, X: Tensor, y: Tensor) -> dict[str, float]:
    from torch.nn import functional

    names, parameters = zip(*model.named_parameters(), strict=True)
    model.zero_grad()
    functional.cross_entropy(model(X), y).backward()
    norms = [0.0 if p.grad is None else float(p.grad.norm()) for p in parameters]
    return dict(zip(names, norms, strict=True))


def _checks_as_written(plain: dict[str, Trained], biased: dict[str, Trained]) -> list[Check]:
    largest = {name: max(each.gradients.values()) for name, each in plain.items()}
    moved = biased["tanh"].norm("bias")
    return [
        Check(
            "with all weights zero all gradients are 0, whatever the units",
            max(largest.values()) == 0.0,
            ", ".join(f"{name} {value:.2g}" for name, value in largest.items())
            + ": the largest gradient norm, without biases",
            WRITTEN,
        ),
        Check(
            "with all weights and biases zero nothing is learned", moved == 0.0,
            f"biases of tanh grow to a norm of {moved:.2g}, its loss falls from "
            f"{biased['tanh'].losses[0]:.3f} to {biased['tanh'].losses[-1]:.3f}; that of sigmoid "
            f"without biases to {plain['sigmoid'].losses[-1]:.3f}",
            WRITTEN,
        ),
    ]  # fmt: skip


def _checks_with_condition(
    plain: dict[str, Trained],
    biased: dict[str, Trained],
    drawn: dict[str, Trained],
    shares: np.ndarray,
) -> list[Check]:
    still = [plain[name] for name in ("tanh", "ReLU")]
    entropy = _entropy(shares)
    last = {name: each.losses[-1] for name, each in biased.items()}
    guesses = {name: _guess(each.model) for name, each in biased.items()}
    off = max(float(np.abs(guess - shares).max()) for guess in guesses.values())
    return [
        Check(
            "σ(0) = 0 and no biases: all gradients are exactly 0, and all weights after training",
            not any(each.has_moved or max(each.gradients.values()) for each in still),
            f"tanh and ReLU: gradients {max(max(each.gradients.values()) for each in still):g}, "
            f"weights {max(each.norm('weight') for each in still):g}, loss "
            f"{still[0].losses[-1]:.3f} = log 10 after training; drawn weights reach "
            f"{drawn['tanh'].losses[-1]:.3f} and {drawn['ReLU'].losses[-1]:.3f}",
            CONDITION,
        ),
        Check(
            "σ(0) = 0 and biases: weights stay exactly 0, and the loss never beats the entropy of "
            "the labels",
            not any(each.has_moved for each in biased.values())
            # What training is told are means over batches while b moves: a hundredth of room.
            and all(value > entropy - 0.01 for value in last.values()),
            ", ".join(f"{name} {value:.3f}" for name, value in last.items())
            + f", entropy {entropy:.3f}",
            CONDITION,
        ),
        Check(
            "what the last bias learns are the shares of the classes",
            # A batch of 50 moves b by noise of its own: 0.5·√(π(1 − π)/50), 0.03 at most.
            off <= 0.06 and all(np.ptp(guess) > 0 for guess in guesses.values()),
            f"softmax(b) is off by {off:.3f} at most, shares from {shares.min():.3f} to "
            f"{shares.max():.3f}",
            CONDITION,
        ),
    ]


def _checks_of_symmetry(
    plain: dict[str, Trained], halves: dict[str, Trained], drawn: dict[str, Trained]
) -> list[Check]:
    zero = plain["sigmoid"]
    spreads = {name: each.spread for name, each in halves.items()}
    learned = {name: each.losses[0] - each.losses[-1] for name, each in halves.items()}
    short = {name: drawn[name].accuracy - halves[name].accuracy for name in ACTIVATIONS}
    return [
        Check(
            "sigmoid from zero: it learns, and all units stay alike",
            zero.losses[-1] < zero.losses[0] and zero.spread <= ALIKE,
            f"loss {zero.losses[0]:.3f} to {zero.losses[-1]:.3f}, spread of the units "
            f"{zero.spread:.1g} of their mean",
        ),
        Check(
            "all weights 0.5: something is learned",
            all(value > 0.01 for value in learned.values()),
            ", ".join(f"{name} lowers its loss by {value:.3f}" for name, value in learned.items()),
        ),
        Check(
            "all weights 0.5: units stay alike, drawn ones differ",
            max(spreads.values()) <= ALIKE and min(d.spread for d in drawn.values()) > 0.1,
            ", ".join(f"{name} {value:.1g}" for name, value in spreads.items())
            + f" of their mean; drawn weights at least {min(d.spread for d in drawn.values()):.2g}",
        ),
        Check(
            "so that the network is less than one of drawn weights",
            # One unit puts ten classes on a line: it tells few of them.
            min(short.values()) > 0.2,
            ", ".join(
                f"{name} {halves[name].accuracy:.0%} beside {drawn[name].accuracy:.0%}"
                for name in ACTIVATIONS
            )
            + " of the training data told right",
        ),
    ]


def _check_of_one_unit(layer: np.ndarray, unit: np.ndarray) -> Check:
    off = float(np.abs(layer / unit - 1).max())
    return Check(
        f"all weights 0.5: {UNITS} tanh units learn as one unit does, loss by loss", off <= ALIKE,
        f"{layer[-1]:.4f} and {unit[-1]:.4f} in the end, at most {off:.1g} apart in any epoch",
    )  # fmt: skip


def _check_of_rounding(lasting: dict[str, Trained]) -> list[Check]:
    """How long equal units stay equal here: only shown, as it depends on the order of sums."""
    if not lasting:
        return []
    ends = ", ".join(f"{name} {each.spread:.1g}" for name, each in lasting.items())
    return [
        Check(
            "units are still alike after long training, in floating point",
            max(each.spread for each in lasting.values()) <= ALIKE,
            f"spread by their mean after {len(lasting['tanh'].spreads)} epochs: {ends}. Rounding "
            "makes equal units differ, and the difference grows geometrically; it depends on the "
            "order in which this machine adds",
            NOTED,
        )
    ]


def _check_of_waking(wakes: np.ndarray) -> Check:
    expected = np.array([[False, False, True], [False, True, True], [True, True, True]])
    return Check(
        "three layers of sigmoids: the last moves first, each before it a step later",
        bool(np.array_equal(wakes[:3] > 0, expected)),
        "; ".join(
            f"step {k}: " + ", ".join(f"{norm:.1g}" for norm in row)
            for k, row in enumerate(wakes[:3], 1)
        )
        + ": gradient norms, first layer first",
        CONDITION,
    )


def _table(
    plain: dict[str, Trained],
    biased: dict[str, Trained],
    halves: dict[str, Trained],
    drawn: dict[str, Trained],
) -> Sheet:
    named: list[tuple[str, Trained]] = []
    for how, runs in (
        ("zero, no biases", plain), ("zero", biased), ("0.5", halves), ("drawn", drawn),
    ):  # fmt: skip
        named += [(f"{name}, {how}", each) for name, each in runs.items()]
    rows = []
    for name, each in named:
        gradient = max(each.gradients.values())
        spread: str | float = each.spread if each.has_moved else "all zero"
        rows.append((name, gradient, each.losses[-1], f"{each.accuracy:.0%}", spread))
    heads = ("network, weights at first", "first gradient", "last loss", "told right", "spread")
    return Sheet("Before the first step and after the last", heads, tuple(rows))


def _table_of_waking(wakes: np.ndarray) -> Sheet:
    rows = tuple((k, *map(float, row)) for k, row in enumerate(wakes, 1))
    caption = "Gradient norms of three layers of sigmoids from zero"
    return Sheet(caption, ("step", "first layer", "second", "last"), rows)


def _figure_of_losses(
    plain: dict[str, Trained], halves: dict[str, Trained], drawn: dict[str, Trained]
) -> Figure:
    shown = {
        "tanh, zero": (plain["tanh"], 1),
        "sigmoid, zero": (plain["sigmoid"], 3),
        "tanh, 0.5": (halves["tanh"], 2),
        "tanh, drawn": (drawn["tanh"], 0),
    }
    marks = [
        curve(name, np.arange(len(each.losses)), each.losses, hue)
        for name, (each, hue) in shown.items()
    ]
    said = ", ".join(f"{name} {each.losses[-1]:.2f}" for name, (each, _) in shown.items())
    return figure(
        "Training loss by the first weights",
        panel("epoch", "training loss", marks),
        f"At the end: {said}. With tanh and zeros the loss stays at log 10 = {UNIFORM:.2f}.",
    )


def _figure_of_weights(halves: dict[str, Trained], drawn: dict[str, Trained]) -> Figure:
    panels = []
    for title, each in (("All 0.5 at first", halves["tanh"]), ("Drawn", drawn["tanh"])):
        weights = _values(each.model, "0.weight")
        units = tuple(str(k) if k % 5 == 0 else "" for k in range(1, UNITS + 1))
        across = Axis("pixel", low=-0.5, high=63.5)
        drawing = Heatmap("incoming weight", weights)
        panels.append(Panel(across, Axis("unit", categories=units), (drawing,), title))
    return figure(
        "Incoming weights after training, a unit a row",
        panels,
        "From 0.5 all rows are the same: the layer is one unit, written sixteen times. Drawn "
        "weights make units of their own.",
        columns=2,
    )


def _figure_of_rounding(lasting: dict[str, Trained]) -> list[Figure]:
    if not lasting:
        return []
    marks = [
        curve(name, np.arange(1, len(each.spreads) + 1), np.maximum(each.spreads, 1e-17), hue)
        for hue, (name, each) in enumerate(lasting.items(), 1)
    ]
    ends = ", ".join(f"{name} {each.spread:.1g}" for name, each in lasting.items())
    return [
        figure(
            "How far units that began alike have parted",
            panel(
                "epoch", "spread by the mean", [*marks, Guide("half the digits", ALIKE)], log="y"
            ),
            "In exact numbers the spread is 0. Rounding makes it about 10⁻¹⁶, and it grows: "
            f"{ends} after {len(lasting['tanh'].spreads)} epochs.",
        )
    ]


def _values(model: nn.Module, name: str) -> np.ndarray:
    return model.get_parameter(name).detach().numpy()


def _guess(model: nn.Sequential) -> np.ndarray:
    """The shares that the last bias stands for."""
    powers = np.exp(_values(model, "2.bias"))
    return powers / powers.sum()


def _entropy(shares: np.ndarray) -> float:
    return float(-(shares * np.log(shares)).sum())


def _activation(name: str) -> Any:
    from torch import nn

    return {"tanh": nn.Tanh, "ReLU": nn.ReLU, "sigmoid": nn.Sigmoid}[name]()


LAB = Lab(
    name="zero-init",
    claim="A network whose weights all begin at zero learns nothing, as all gradients are zero; "
    "with all weights at 0.5 it learns something, but its units stay copies of each other.",
    formula="∂f/∂w = σ(Ux),   ∂f/∂U = (w ⊙ σ′(Ux)) xᵀ",
    places=("A, Initialization", "C, Parameter Initialization"),
    expected=Ruling.HOLDS_IF,
    experiment=experiment,
    breaks=(
        Break("drawn", "weights that are drawn in the place of zeros", {"zeros": "xavier"}),
        Break("noise", "drawn weights in the place of 0.5", {"alike": "normal[sigma=0.5]"}),
    ),
    condition="The units must have σ(0) = 0, as tanh and ReLU do, and the last layer no bias. With "
    "the sigmoid, σ(0) = 1/2, the last weights move in the first step; a last bias learns the "
    "shares of the classes.",
    fails_if="a gradient or a weight of a tanh or ReLU network that is not exactly 0; a loss below "
    "the entropy of the labels; units that begin alike and differ by more than half the digits, "
    "10⁻⁸, after a dozen epochs; a layer of them whose loss is not that of one unit",
    code="""\
import thalweg as tw
import torch
from torch import nn

x, y = torch.randn(50, 4, generator=torch.Generator().manual_seed(0)), torch.arange(50) % 3
for units in (nn.Tanh(), nn.ReLU(), nn.Sigmoid()):
    net = nn.Sequential(nn.Linear(4, 8, bias=False), units, nn.Linear(8, 3, bias=False))
    tw.nets.initialize(net, "zeros")
    nn.functional.cross_entropy(net(x), y).backward()
    largest = max(p.grad.abs().max().item() for p in net.parameters())
    print(units, largest)
    assert (largest == 0) == (not isinstance(units, nn.Sigmoid))
""",
    seconds=2.9,
    needs_torch=True,
    remark="The lecture's formula already says it: the gradient of w is σ(Ux), which is zero at "
    "U = 0 only where σ(0) is. The second problem, units that stay alike, is there for any σ. "
    "It is a statement about exact numbers: in floating point equal units may differ by rounding, "
    "the difference grows geometrically, and after many epochs they can part.",
)
