"""Dropout trains thin networks and answers with about their mean.

In training every unit stays with probability q, its own draw for every sample and step:

    x̃ = m ∘ x,   P(m) = q^k (1 − q)^(d−k),   k the number of units that stay, of d

Of d units there are 2ᵈ thin networks. They share their weights, and inference should be their mean
over P. For what is linear in x̃ the mean is a network again, the one whose weights are multiplied
by q:

    Σ_m P(m) (W(m ∘ x) + b) = (qW)x + b

So the factor is the probability to *keep*. The slides call by p first the probability to disable a
unit and then the probability to keep it. Weights multiplied by the first p are right for p = 1/2
only. Through linear layers with dropout in each the products of factors are right as well, as the
draws of two layers are independent.

For units that bend, the mean of outputs is not the output of the mean. A ReLU is convex, so that

    Σ_m P(m) relu(W(m ∘ x) + b) ≥ relu((qW)x + b)

Above a softmax the geometric mean is exact: softmax(z) ∝ exp(z), and a weighted geometric mean of
exponentials is the exponential of the mean,

    ∏_m softmax(z_m)^P(m)  ∝  exp(Σ_m P(m) z_m)

which normalised is the softmax of the network whose weights are multiplied by q.

Dividing by q in training ("inverted") instead of multiplying by q at inference is the same
network with W = qW′. SGD takes it the same way if the step of W′ is 1/q² of that of W, since the
gradient of W′ is q times the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import thalweg as tw
from thalweg.figures.spec import Mark
from thalweg.labbook import (
    CONDITION,
    NOTED,
    WRITTEN,
    Break,
    Check,
    Figure,
    Findings,
    Guide,
    Lab,
    Point,
    Ruling,
    Setting,
    Sheet,
    band,
    curve,
    figure,
    panel,
)
from thalweg.labbook.sources import images

if TYPE_CHECKING:
    from torch import Tensor

KEEPS = (0.2, 0.5, 0.8)
DEVIATIONS = 5.0  # of chance, that a count may be off
DOUBLE = 1e-12  # relative: what rounding may add to sums of some hundred terms
INPUTS, UNITS = 6, 20  # 2⁶ thin networks; the rarest, 0.2⁶, still comes 13 times in 200,000 draws
DRAWS = 200_000
WRONG = 0.2  # of the training labels are drawn at random: something that can be learned by heart
BATCH = 100
FIGURE_4 = ((2, 1024), (4, 1024), (2, 2048), (4, 2048))  # layers and units, the corners of it

Make = Callable[..., Any]  # keep, scaling, generator= → the layer


class Thinned(NamedTuple):
    """Every thin network of a layer or two, each once, as the layers drew them."""

    outputs: Tensor  # float64[2ᵈ, k]
    chances: Tensor  # P(m), float64[2ᵈ]; they add up to 1 if all were drawn
    counts: Tensor  # how often each was drawn
    inference: Tensor  # what the network says at inference, float64[k]

    def mean(self, outputs: Tensor) -> Tensor:
        """Σ P(m) of something that each thin network has."""
        return self.chances @ outputs


class Trained(NamedTuple):
    """A training and how it ended on the test part."""

    model: Any
    train_loss: float
    loss: float
    error: float  # in %
    steps: np.ndarray
    errors: np.ndarray  # in %, along the steps, if they were watched


class Average(NamedTuple):
    """Thin networks of a trained one, and the network with weights times q."""

    sizes: list[int]  # K
    plain: np.ndarray  # test loss of the arithmetic mean of K thin networks
    geometric: np.ndarray  # and of their geometric mean
    scaled: float  # with weights times q
    by_plain: float  # distance from the arithmetic mean of all, by that of one thin network
    nearer: float  # share of test images for which it is less
    by_geometric: float  # the same for the geometric mean


class Task(NamedTuple):
    """Few images to learn from, and others."""

    name: str
    X: np.ndarray
    y: np.ndarray
    test: tuple[np.ndarray, np.ndarray]


def real(keep: float, scaling: str = "inverted", *, generator: Any = None) -> Any:
    """The layer as Thalweg has it."""
    return tw.nets.Dropout(keep, scaling, generator=generator)


def unscaled(keep: float, scaling: str = "inverted", *, generator: Any = None) -> Any:
    """Wrong: training drops units, and inference takes all of them as they are."""
    layer = tw.nets.Dropout(keep, "weights", generator=generator)
    layer.register_forward_hook(
        lambda module, given, output: output if module.training else given[0]
    )
    return layer


def dropping(keep: float, scaling: str = "inverted", *, generator: Any = None) -> Any:
    """Wrong: q as the probability to drop a unit."""
    return tw.nets.Dropout(max(1.0 - keep, 1e-12), scaling, generator=generator)


def experiment(setting: Setting, *, make: Make = real) -> Findings:
    """Thin networks one by one, the ends of q, and trainings; `make` makes the layer."""
    single = {
        (q, scaling): _one_layer(setting, make, q, scaling)
        for q in KEEPS
        for scaling in ("inverted", "weights")
    }
    task = _task(setting)
    sweep = _sweep(setting, make, task)
    average = _thin_networks(setting, sweep[0.5][0].model, task)
    checks = [
        *_drawn(setting, make, single),
        *_linear(setting, single, _two_layers(setting, make)),
        *_bent(single),
        _two_forms(setting, make),
        *_ends(setting, make, task),
        *_averages(average),
        *_overfitting(sweep),
    ]
    figures = [_means_drawn(setting, single), _average_drawn(average), _trained_drawn(sweep)]
    clean = _clean(setting, make, task)
    wide = _figure_4(setting, make) if setting.is_full and task.name == "mnist" else {}
    if clean:
        checks.append(_clean_check(clean))
    if wide:
        checks.append(_figure_4_check(wide))
        figures.append(_figure_4_drawn(wide))
    hidden = setting.pick(quick=128, full=256)
    note = (
        f"trainings: {len(task.y):,} images of {task.name}, {WRONG:.0%} of their labels drawn at "
        f"random, two hidden layers of {hidden} ReLUs, dropout behind each, Adam in batches of "
        f"{min(BATCH, len(task.y))}; tested on {len(task.test[1]):,} others with their own labels"
    )
    return Findings(checks, [_table(setting, single), _sweep_table(sweep)], figures, [note])


def _generator(setting: Setting, *names: str | int) -> Any:
    import torch

    return torch.Generator().manual_seed(setting.seed_for(*names))


def _thinned(net: Any, keeps: Sequence[tuple[Any, float, int]], x: Tensor) -> Thinned:
    """Run `net` until every thin network has come; `keeps`: its layers with q and units."""
    import torch

    patterns: list[Tensor] = []
    hooks = [
        layer.register_forward_hook(lambda module, given, output: patterns.append(output != 0))
        for layer, _, _ in keeps
    ]
    with torch.no_grad():
        outputs = net.train()(x.expand(DRAWS, -1))
        for hook in hooks:
            hook.remove()
        inference = net.eval()(x[None])[0]
    bits = torch.cat(patterns, dim=1)
    codes = (bits.long() * 2 ** torch.arange(bits.shape[1])).sum(dim=1)
    _, first, counts = np.unique(codes.numpy(), return_index=True, return_counts=True)
    q = torch.cat([torch.full((units,), keep, dtype=torch.float64) for _, keep, units in keeps])
    chances = torch.where(bits[first], q, 1.0 - q).prod(dim=1)
    return Thinned(outputs[first], chances, torch.as_tensor(counts), inference)


def _one_layer(setting: Setting, make: Make, q: float, scaling: str) -> Thinned:
    """A linear layer above dropped inputs; its first unit bends at q = 1/2 if it is a ReLU."""
    import torch
    from torch import nn

    x, weight, bias = _units(setting)
    layer = make(q, scaling, generator=_generator(setting, "thin", scaling, int(10 * q)))
    linear = nn.Linear(INPUTS, UNITS).double()
    with torch.no_grad():
        linear.weight.copy_(weight)
        linear.bias.copy_(bias)
    return _thinned(nn.Sequential(layer, linear), [(layer, q, INPUTS)], x)


def _units(setting: Setting) -> tuple[Tensor, Tensor, Tensor]:
    """Inputs, weights and biases of some units, drawn at random but for the first bias."""
    import torch

    rng = setting.rng("units")
    x, weight, bias = (
        torch.as_tensor(rng.standard_normal(size)) for size in (INPUTS, (UNITS, INPUTS), UNITS)
    )
    weight[0] *= torch.sign(weight[0] @ x)
    bias[0] = -0.5 * (weight[0] @ x)
    return x, weight, bias


def _two_layers(setting: Setting, make: Make) -> dict[str, Thinned]:
    """A linear network with dropout before both of its layers: 2⁸ thin networks."""
    from torch import nn

    found = {}
    for scaling in ("inverted", "weights"):
        generator = _generator(setting, "two layers", scaling)
        first, second = (make(q, scaling, generator=generator) for q in (0.8, 0.5))
        net: Any = nn.Sequential(first, nn.Linear(4, 4), second, nn.Linear(4, 3)).double()
        tw.nets.initialize(net, "normal[sigma=1]", seed=setting.seed_for("two layers"))
        nn.init.ones_(net[1].bias)  # a hidden unit of exactly zero would look dropped
        x = _units(setting)[0][:4]
        found[scaling] = _thinned(net, [(first, 0.8, 4), (second, 0.5, 4)], x)
    return found


def _apart(a: Tensor, b: Tensor) -> float:
    """‖a − b‖ by ‖a‖."""
    return float((a - b).norm() / a.norm())


def _is_whole(thin: Thinned) -> bool:
    return abs(float(thin.chances.sum()) - 1.0) < DOUBLE


def _drawn(setting: Setting, make: Make, single: dict[Any, Thinned]) -> list[Check]:
    """Which units stay in training."""
    import torch

    rows, units = setting.pick(glance=5_000, quick=20_000, full=200_000), 20
    shares, pairs = [], []
    for q in KEEPS:
        layer = make(q, generator=_generator(setting, "drawn", int(10 * q))).train()
        stays = (layer(torch.ones(rows, units)) != 0).numpy()
        shares.append(stays.mean())
        apart = np.corrcoef(stays.T) - np.eye(units)
        pairs.append(float(np.abs(apart).max()))
    room = [DEVIATIONS * math.sqrt(q * (1.0 - q) / (rows * units)) for q in KEEPS]
    # χ² of the counts of all thin networks has mean 2ᵈ − 1 and deviation √(2(2ᵈ − 1)).
    freedom = 2**INPUTS - 1
    squares = {
        q: float(((thin.counts - DRAWS * thin.chances) ** 2 / (DRAWS * thin.chances)).sum())
        for (q, scaling), thin in single.items()
        if scaling == "inverted"
    }
    limit = freedom + DEVIATIONS * math.sqrt(2.0 * freedom)
    return [
        Check(
            "a share q of the units stays in training",
            all(abs(s - q) <= r for s, q, r in zip(shares, KEEPS, room, strict=True)),
            ", ".join(f"{s:.4f} for q = {q:g}" for s, q in zip(shares, KEEPS, strict=True))
            + f", of {rows * units:,} units",
        ),
        Check(
            "units are dropped independently of each other",
            max(pairs) <= DEVIATIONS / math.sqrt(rows),
            f"two units are correlated by {max(pairs):.4f} at most; chance gives up to "
            f"{DEVIATIONS / math.sqrt(rows):.4f}",
        ),
        Check(
            f"all 2^{INPUTS} thin networks come, as often as q^k (1 − q)^(d−k) says",
            all(map(_is_whole, single.values())) and max(squares.values()) <= limit,
            ", ".join(f"χ² = {each:.0f} for q = {q:g}" for q, each in squares.items())
            + f", of {freedom} expected and {limit:.0f} allowed",
        ),
    ]


def _linear(
    setting: Setting, single: dict[Any, Thinned], double: dict[str, Thinned]
) -> list[Check]:
    """The mean over all thin networks against what inference says, where all is linear."""
    off = {key: _apart(thin.mean(thin.outputs), thin.inference) for key, thin in single.items()}
    deep = {key: _apart(thin.mean(thin.outputs), thin.inference) for key, thin in double.items()}
    whole = all(map(_is_whole, [*single.values(), *double.values()]))
    swapped = {round(1.0 - q, 1): _swapped(setting, single[q, "weights"], q) for q in KEEPS}
    return [
        Check(
            "weights × p is the mean over training, p the probability to disable a unit",
            max(swapped.values()) <= DOUBLE,
            ", ".join(f"{each:.1%} off for p = {p:g}" for p, each in sorted(swapped.items())),
            WRITTEN,
        ),
        Check(
            "weights × q is the mean over all thin networks, q the probability to keep a unit, for "
            "linear units",
            whole and max(off.values()) <= DOUBLE,
            f"at most {max(off.values()):.1g} off, over 2^{INPUTS} thin networks and q = 0.2, 0.5 "
            "and 0.8, with either scaling",
            CONDITION,
        ),
        Check(
            "so it is for a linear network with dropout before both layers",
            whole and max(deep.values()) <= DOUBLE,
            f"at most {max(deep.values()):.1g} off, over 2^8 thin networks",
            CONDITION,
        ),
    ]


def _swapped(setting: Setting, thin: Thinned, q: float) -> float:
    """How far the mean is from the output with weights times 1 − q."""
    x, weight, bias = _units(setting)
    return _apart(thin.mean(thin.outputs), (1.0 - q) * weight @ x + bias)


def _bent(single: dict[Any, Thinned]) -> list[Check]:
    """The same through units that are not linear."""
    from torch.nn.functional import relu, softmax

    rough, below, geometric, arithmetic = {}, 0.0, 0.0, 0.0
    for (q, _), thin in single.items():
        mean, said = thin.mean(relu(thin.outputs)), relu(thin.inference)
        rough[q] = _apart(mean, said)
        below = max(below, float((said - mean).max()))
        shares, wanted = softmax(thin.outputs, dim=1), softmax(thin.inference, dim=0)
        product = thin.mean(shares.log()).exp()
        geometric = max(geometric, _apart(product / product.sum(), wanted))
        arithmetic = max(arithmetic, _apart(thin.mean(shares), wanted))
    return [
        Check(
            "the output at test time is the expected output in training, for ReLUs too",
            max(rough.values()) <= 0.01,
            ", ".join(f"{each:.1%} off for q = {q:g}" for q, each in rough.items()),
            WRITTEN,
        ),
        Check(
            "for ReLUs the mean is above it, as they are convex",
            below <= DOUBLE,
            f"no unit of {UNITS} below it by more than {max(below, 0.0):.1g}",
        ),
        Check(
            "above a softmax it is the normalised geometric mean of the thin networks",
            geometric <= DOUBLE,
            f"at most {geometric:.1g} off; their arithmetic mean is up to {arithmetic:.1%} off",
            CONDITION,
        ),
    ]


def _two_forms(setting: Setting, make: Make) -> Check:
    """Train both scalings from the same weights with the same draws."""
    import torch
    from torch import nn

    q, rate = 0.8, 0.1
    table = tw.read("@digits")
    x = torch.as_tensor(np.asarray(table.X[:200], dtype=np.float64) / 16.0)
    y = torch.as_tensor(np.asarray(table.y)[:200])
    outputs, weights = [], []
    for scaling, factor in (("inverted", 1.0), ("weights", q)):
        layer = make(q, scaling, generator=_generator(setting, "two forms"))
        net: Any = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), layer, nn.Linear(32, 10))
        net.double()
        tw.nets.initialize(net, "he", seed=setting.seed_for("two forms"))
        with torch.no_grad():
            net[3].weight /= factor
        groups = [
            {"params": [*net[0].parameters(), net[3].bias]},
            {"params": [net[3].weight], "lr": rate / factor**2},
        ]
        optimizer = tw.nets.SGD(groups, lr=rate)
        tw.nets.fit(net, (x, y), optimizer, epochs=20, batch_size=None, progress=False)
        with torch.no_grad():
            outputs.append(net.eval()(x))
        weights.append(factor * net[3].weight.detach())
    apart = max(_apart(*outputs), _apart(*weights))
    return Check(
        "dividing by q in training and multiplying by q at inference are the same network",
        apart <= 1e-10,  # 20 steps that each add their rounding
        f"weights and outputs {apart:.1g} apart after 20 steps of SGD",
    )


def _ends(setting: Setting, make: Make, task: Task) -> list[Check]:
    """q = 1, q = 0, and nearly 0."""
    import torch
    from torch import nn

    ends = []
    for has_layer in (False, True):
        layers = [make(1.0, generator=_generator(setting, "ends"))] if has_layer else []
        net = nn.Sequential(nn.Linear(task.X.shape[1], 32), nn.ReLU(), *layers, nn.Linear(32, 10))
        tw.nets.initialize(net, "he", seed=setting.seed_for("ends"))
        tw.nets.fit(net, (task.X, task.y), "sgd[lr=0.1]", epochs=3, seed=1, progress=False)
        ends.append(nn.utils.parameters_to_vector(net.parameters()).detach())
    same = bool(torch.equal(*ends))
    try:
        refusal = f"{make(0.0)!r} was made"
        is_refused = False
    except tw.InputError as problem:
        refusal, is_refused = str(problem), True
    x = torch.ones(100, 100)
    layer = make(1e-9, "weights", generator=_generator(setting, "nearly"))
    left = float(layer.train()(x).abs().max()), float(layer.eval()(x).abs().max())
    return [
        Check(
            "q = 1 keeps all units: training goes as without the layer, to the bit",
            same,
            f"{len(ends[0]):,} weights, {int((ends[0] != ends[1]).sum())} of them different",
        ),
        Check(
            "q = 0 leaves no output: it is refused, and nothing is left for q = 10⁻⁹",
            is_refused and left[0] == 0.0 and left[1] <= 2e-9,
            f"“{refusal}”; of 10,000 ones {left[0]:g} is left in training and {left[1]:.1g} of "
            "each at inference",
        ),
    ]


def _task(setting: Setting) -> Task:
    """Few images of MNIST, or digits at a glance and where MNIST is not here."""
    n = setting.pick(glance=200, quick=1_000, full=2_000)
    data = images("mnist") if setting.budget != "glance" else None
    if data is not None and data.name == "mnist":
        rows = setting.pick(quick=2_000, full=10_000)
        X, test = data.X.reshape(len(data.X), -1), data.X_test[:rows].reshape(rows, -1)
        return Task("mnist", X[:n], data.y[:n], (test, data.y_test[:rows]))
    table = tw.read("@digits")
    order = setting.rng("digits").permutation(len(table.X))
    X, y = (np.asarray(table.X, dtype=np.float32) / 16.0)[order], np.asarray(table.y)[order]
    n = min(n, 300)
    return Task("digits", X[:n], y[:n], (X[n:], y[n:]))


def _mislabelled(setting: Setting, task: Task, repeat: int) -> Task:
    """The same with a share of the training labels drawn at random."""
    rng = setting.rng("labels", repeat)
    y = task.y.copy()
    rows = rng.permutation(len(y))[: round(WRONG * len(y))]
    y[rows] = rng.integers(0, 10, len(rows))
    return task._replace(y=y)


def _trained(
    make: Make,
    task: Task,
    q: float,
    seed: int,
    *,
    layers: int = 2,
    hidden: int,
    steps: int,
    rate: float = 0.003,
    of_inputs: float = 1.0,
    is_annealed: bool = False,
    watched: int = 0,
) -> Trained:
    """ReLU layers with dropout behind each; `watched` test rows are looked at every epoch.

    `of_inputs` is the share of inputs that stay. With `is_annealed` the rate falls to 0.
    """
    import torch
    from torch import nn
    from torch.optim.lr_scheduler import CosineAnnealingLR

    generator = torch.Generator().manual_seed(seed)
    parts: list[Any] = [make(of_inputs, generator=generator)] if of_inputs < 1.0 else []
    for k in range(layers):
        parts += [nn.Linear(hidden if k else task.X.shape[1], hidden), nn.ReLU()]
        parts += [make(q, generator=generator)]
    model = nn.Sequential(*parts, nn.Linear(hidden, 10))
    tw.nets.initialize(model, "he", seed=seed)
    epoch = -(-len(task.y) // BATCH)
    rounds = -(-steps // epoch)
    run = tw.nets.fit(
        model, (task.X, task.y), f"adam[lr={rate}]", epochs=rounds, batch_size=BATCH, seed=seed,
        scheduler=(lambda each: CosineAnnealingLR(each, rounds)) if is_annealed else None,
        validation=tuple(each[:watched] for each in task.test) if watched else None, progress=False,
    )  # fmt: skip
    inner, outer = (tw.nets.evaluate(model, part) for part in ((task.X, task.y), task.test))
    # The first row of the trace is before the first step, and has no validation.
    epochs, accuracies = (
        np.asarray(run.trace[name], dtype=float)[1:] for name in ("epoch", "validation_accuracy")
    )
    return Trained(
        model, inner.loss, outer.loss, 100.0 * (1.0 - outer.accuracy), epochs * epoch,
        100.0 * (1.0 - accuracies),
    )  # fmt: skip


def _sweep(setting: Setting, make: Make, task: Task) -> dict[float, list[Trained]]:
    """Trainings for each q, over repeats."""
    found: dict[float, list[Trained]] = {}
    for q in setting.pick(glance=(0.5, 0.8, 1.0), quick=(0.2, 0.5, 0.8, 1.0),
                          full=(0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)):  # fmt: skip
        found[q] = []
        for repeat in range(setting.pick(glance=3, quick=3, full=5)):
            setting.tell(f"q = {q:g}, repeat {repeat + 1}")
            found[q].append(
                _trained(
                    make, _mislabelled(setting, task, repeat), q, setting.seed_for("run", repeat),
                    hidden=setting.pick(quick=128, full=256),
                    steps=setting.pick(glance=80, quick=200, full=1_000),
                    rate=setting.pick(glance=0.01, quick=0.003, full=0.003),
                    watched=setting.pick(glance=500, quick=1_000, full=10_000)
                    if repeat == 0 and q in (0.5, 1.0) else 0,
                )
            )  # fmt: skip
    return found


def _thin_networks(setting: Setting, model: Any, task: Task) -> Average:
    """Thin networks of a trained one, their means, and the one with weights times q."""
    import torch

    count = setting.pick(glance=64, quick=128, full=1_024)
    x, y = (torch.as_tensor(each[:1_000]) for each in task.test)
    with torch.no_grad():
        model.train()
        logs = torch.stack([model(x).double().log_softmax(dim=1) for _ in range(count)])
        scaled = model.eval()(x).double().softmax(dim=1)
    thin = logs.exp()

    def loss(shares: Tensor) -> float:
        return float(-shares[torch.arange(len(y)), y].clamp(min=1e-30).log().mean())

    sizes = [2**power for power in range(count.bit_length())]
    # Disjoint groups of K: as many values of each mean as there is room for.
    plain = [[loss(group.mean(dim=0)) for group in thin.split(k)] for k in sizes]
    geometric = [[loss(group.mean(dim=0).softmax(dim=1)) for group in logs.split(k)] for k in sizes]
    return Average(
        sizes, np.array([np.mean(each) for each in plain]),
        np.array([np.mean(each) for each in geometric]), loss(scaled),
        *_distances(scaled, thin, thin.mean(dim=0)),
        _distances(scaled, thin, logs.mean(dim=0).softmax(dim=1))[0],
    )  # fmt: skip


def _distances(scaled: Tensor, thin: Tensor, mean: Tensor) -> tuple[float, float]:
    """How far `scaled` is from `mean`, by how far thin networks are; share where it is nearer."""
    of_scaled = (scaled - mean).abs().sum(dim=-1)
    of_thin = (thin - mean).abs().sum(dim=-1).mean(dim=0)
    ratio = float(of_scaled.mean() / of_thin.mean().clamp(min=1e-30))
    return ratio, float((of_scaled < of_thin).double().mean())


def _averages(average: Average) -> list[Check]:
    count = average.sizes[-1]
    one, last = average.plain[0], average.plain[-1]
    return [
        Check(
            "the network with weights × q answers with about the mean of thin networks",
            # Half of the distance is what a mean of four thin networks would have.
            average.by_geometric < 0.5 and average.nearer > 0.95,
            f"its probabilities are {average.by_geometric:.2f} as far from the geometric mean of "
            f"{count:,} of them as one of them is, and {average.by_plain:.2f} as far from the "
            f"arithmetic mean; nearer to that for {average.nearer:.1%} of the test images",
        ),
        Check(
            "averaging is worth it: test loss below that of one thin network",
            average.scaled < one and last < one,
            f"{one:.3f} of one, {last:.3f} of the mean of {count:,}, {average.scaled:.3f} with "
            "weights × q",
        ),
    ]  # fmt: skip


def _gains(found: dict[float, list[Trained]], of: str) -> np.ndarray:
    """What q = 1/2 takes off, repeat by repeat."""
    without, dropped = (np.array([getattr(run, of) for run in found[q]]) for q in (1.0, 0.5))
    return without - dropped


def _beyond(gains: np.ndarray) -> bool:
    """Whether gains are above 0 in every repeat, and their mean by two of its deviations."""
    deviation = gains.std(ddof=1) / math.sqrt(len(gains))
    return bool(gains.min() > 0.0 and gains.mean() > 2.0 * deviation)


def _mean(found: list[Trained], of: str) -> float:
    return float(np.mean([getattr(run, of) for run in found]))


def _overfitting(sweep: dict[float, list[Trained]]) -> list[Check]:
    """Test errors and losses with and without."""
    gains = _gains(sweep, "error")
    best = min(sweep, key=lambda q: _mean(sweep[q], "loss"))
    by_q = ", ".join(f"{_mean(runs, 'loss'):.3f} for {q:g}" for q, runs in sweep.items())
    learned, held = (_mean(sweep[q], "train_loss") for q in (1.0, 0.5))
    return [
        Check(
            "it prevents overfitting: the test error is lower with q = 0.5 than without",
            _beyond(gains) and held > learned,
            f"{_mean(sweep[1.0], 'error'):.1f} → {_mean(sweep[0.5], 'error'):.1f} %, less by "
            f"{gains.min():.1f} to {gains.max():.1f} points in {len(gains)} repeats; the training "
            f"loss is {learned:.3f} without and {held:.3f} with",
        ),
        Check(
            "the typical values help: the test loss is lower for q = 0.5 and 0.8 than without",
            max(_mean(sweep[q], "loss") for q in (0.5, 0.8)) < _mean(sweep[1.0], "loss"), by_q,
        ),
        Check(
            "the best q of all lies in 0.5 to 0.8", 0.5 <= best <= 0.8,
            f"it is {best:g} by test loss; wider networks and longer trainings on wrong labels ask "
            "for less, so that this decides nothing", NOTED,
        ),
    ]  # fmt: skip


def _clean(setting: Setting, make: Make, task: Task) -> dict[float, list[Trained]]:
    """The same with right labels; no time for it at a glance."""
    repeats = setting.pick(glance=0, quick=2, full=5)
    steps = setting.pick(quick=200, full=1_000)
    hidden = setting.pick(quick=128, full=256)
    return {
        q: [
            _trained(make, task, q, setting.seed_for("run", k), hidden=hidden, steps=steps)
            for k in range(repeats)
        ]
        for q in ((0.5, 1.0) if repeats else ())
    }


def _clean_check(clean: dict[float, list[Trained]]) -> Check:
    return Check(
        "with right labels alone the test loss is lower as well",
        _gains(clean, "loss").mean() > 0.0,
        f"loss {_mean(clean[1.0], 'loss'):.3f} → {_mean(clean[0.5], 'loss'):.3f}, error "
        f"{_mean(clean[1.0], 'error'):.1f} → {_mean(clean[0.5], 'error'):.1f} %: so short a "
        "training hardly overfits them, and it decides nothing",
        NOTED,
    )


def _figure_4(setting: Setting, make: Make) -> dict[tuple[int, int, float], Trained]:
    """Wide networks on 10,000 images with and without dropout, as in the lecture's Figure 4.

    As there, a share 0.8 of the inputs stays. The rate falls to 0: at a constant one the noise of
    dropout outweighs what it gains in so few steps.
    """
    data = images("mnist")
    X, X_test = (each.reshape(len(each), -1) for each in (data.X[:10_000], data.X_test))
    task = Task("mnist", X, data.y[:10_000], (X_test, data.y_test))
    found = {}
    for layers, hidden in FIGURE_4:
        for q in (1.0, 0.5):
            setting.tell(f"{layers} × {hidden}, q = {q:g}")
            found[layers, hidden, q] = _trained(
                make, task, q, setting.seed_for("figure 4"), layers=layers, hidden=hidden,
                steps=2_500, rate=0.001, of_inputs=0.8 if q < 1.0 else 1.0,
                is_annealed=True, watched=10_000,
            )  # fmt: skip
    return found


def _last(run: Trained) -> float:
    """The test error over the last three epochs, which a single one would give with more chance."""
    return float(run.errors[-3:].mean())


def _figure_4_check(wide: dict[tuple[int, int, float], Trained]) -> Check:
    pairs = {(n, m): (_last(wide[n, m, 1.0]), _last(wide[n, m, 0.5])) for n, m, _ in wide}
    return Check(
        "2 to 4 layers of 1024 to 2048 units: the test error is lower with dropout, on average",
        sum(without - dropped for without, dropped in pairs.values()) > 0.0,
        ", ".join(
            f"{n} × {m}: {without:.2f} → {dropped:.2f} %"
            for (n, m), (without, dropped) in pairs.items()
        ),
    )


def _table(setting: Setting, single: dict[Any, Thinned]) -> Sheet:
    from torch.nn.functional import relu

    rows = []
    for q in KEEPS:
        thin = single[q, "weights"]
        mean = thin.mean(thin.outputs)
        rows.append(
            (
                f"{q:g}", len(thin.chances), _apart(mean, thin.inference),
                _swapped(setting, thin, q),
                _apart(thin.mean(relu(thin.outputs)), relu(thin.inference)),
            )
        )  # fmt: skip
    heads = ("q", "thin networks", "linear, × q", "linear, × (1 − q)", "ReLU, × q")
    return Sheet("Inference against the mean over all thin networks, relative", heads, rows)


def _sweep_table(sweep: dict[float, list[Trained]]) -> Sheet:
    rows = [
        (
            f"{q:g}", _mean(runs, "train_loss"), _mean(runs, "loss"), _mean(runs, "error"),
            min(run.error for run in runs), max(run.error for run in runs),
        )
        for q, runs in sweep.items()
    ]  # fmt: skip
    heads = ("q", "training loss", "test loss", "test error, %", "least", "most")
    return Sheet("Trainings by the probability to keep a unit", heads, rows)


def _means_drawn(setting: Setting, single: dict[Any, Thinned]) -> Figure:
    """One unit, linear and as a ReLU, for every q; dots are the layer's own draws."""
    from torch.nn.functional import relu

    x, weight, bias = (each.numpy() for each in _units(setting))
    masks = (np.arange(2**INPUTS)[:, None] >> np.arange(INPUTS)) & 1
    z = masks @ (weight[0] * x) + bias[0]
    grid = np.linspace(0.0, 1.0, 101)
    kept = masks.sum(axis=1)
    chances = grid[:, None] ** kept * (1.0 - grid[:, None]) ** (INPUTS - kept)
    full = float(weight[0] @ x)
    thin = [single[q, "weights"] for q in KEEPS]
    dots = [float(each.mean(each.outputs)[0]) for each in thin]
    bent = [float(each.mean(relu(each.outputs))[0]) for each in thin]
    scaled = np.maximum(grid * full + bias[0], 0.0)
    mean = chances @ np.maximum(z, 0.0)
    panels = [
        panel(
            "q, probability to keep", "output",
            [
                curve("weights × q", grid, grid * full + bias[0], 1),
                curve("weights × (1 − q)", grid, (1.0 - grid) * full + bias[0], 2),
                *_points("mean of thin networks", dots),
            ],
            title="linear unit",
        ),
        panel(
            "q, probability to keep", "output",
            [
                curve("weights × q", grid, scaled, 1),
                curve("mean by theory", grid, mean, 0, theory=True),
                *_points("mean of thin networks", bent),
            ],
            title="ReLU",
        ),
    ]  # fmt: skip
    return figure(
        "Weights times q, and the mean over all thin networks",
        panels,
        f"A unit of {INPUTS} inputs. Linear, its mean over all thin networks is that of weights × "
        f"q for every q. As a ReLU it is above: {bent[1]:.3f} for q = 0.5, where weights × q give "
        f"{max(0.5 * full + float(bias[0]), 0.0):.3f}.",
        columns=2,
    )


def _points(name: str, values: list[float]) -> list[Point]:
    """Points for each q, the first of which stands in the legend."""
    pairs = zip(KEEPS, values, strict=True)
    return [Point("" if k else name, q, value) for k, (q, value) in enumerate(pairs)]


def _average_drawn(average: Average) -> Figure:
    marks: list[Mark] = [
        curve("arithmetic mean", average.sizes, average.plain, 1, dots=True),
        curve("geometric mean", average.sizes, average.geometric, 2, dots=True),
        Guide("weights × q", average.scaled),
    ]
    return figure(
        "What averaging thin networks is worth",
        panel("K, thin networks", "test loss of their mean", marks, log="x"),
        f"The test loss falls from {average.plain[0]:.3f} of one thin network to "
        f"{average.plain[-1]:.3f} of the arithmetic mean of {average.sizes[-1]:,}, and to "
        f"{average.geometric[-1]:.3f} of their geometric mean. One network with weights × q has "
        f"{average.scaled:.3f}.",
    )


def _trained_drawn(sweep: dict[float, list[Trained]]) -> Figure:
    names = {1.0: "without dropout", 0.5: "q = 0.5"}
    along = [
        curve(name, sweep[q][0].steps, sweep[q][0].errors, hue)
        for hue, (q, name) in enumerate(names.items(), 1)
    ]
    qs = list(sweep)
    losses = np.array([[run.loss for run in runs] for runs in sweep.values()])
    across: list[Mark] = [
        band("least to most", qs, losses.min(axis=1), losses.max(axis=1), 0),
        curve("mean", qs, losses.mean(axis=1), 0, dots=True),
    ]
    best = min(sweep, key=lambda q: _mean(sweep[q], "loss"))
    return figure(
        "Trainings with and without dropout",
        [
            panel("step", "test error, %", along),
            panel("q, probability to keep", "test loss", across),
        ],
        f"The test error ends at {sweep[1.0][0].errors[-1]:.1f} % without dropout and at "
        f"{sweep[0.5][0].errors[-1]:.1f} % with q = 0.5. By the loss q = {best:g} is best of "
        f"{len(sweep)}.",
        columns=2,
    )


def _figure_4_drawn(wide: dict[tuple[int, int, float], Trained]) -> Figure:
    panels = []
    for layers, hidden in dict.fromkeys((n, m) for n, m, _ in wide):
        marks = [
            curve(name, wide[layers, hidden, q].steps, wide[layers, hidden, q].errors, hue)
            for hue, (q, name) in enumerate({1.0: "without dropout", 0.5: "q = 0.5"}.items(), 1)
        ]
        panels.append(panel("step", "test error, %", marks, log="y", title=f"{layers} × {hidden}"))
    said = "; ".join(
        f"{n} × {m}: {_last(wide[n, m, 1.0]):.2f} % without, {_last(wide[n, m, 0.5]):.2f} % with"
        for n, m in dict.fromkeys((n, m) for n, m, _ in wide)
    )
    return figure("Wide networks on 10,000 images of MNIST", panels, f"{said}.", columns=2)


LAB = Lab(
    name="dropout",
    claim="Dropout disables units at random in training and multiplies the weights by p at "
    "inference, so that the output is the expected one of training: it averages thin networks and "
    "prevents overfitting, with p of 0.5 to 0.8.",
    formula="E[W(m ∘ x) + b] = (qW)x + b,   m_j = 1 with probability q, else 0",
    places=("A, Dropout", "A, Dropout Performance"),
    expected=Ruling.HOLDS_IF,
    condition="p is the probability to keep a unit, and what is above the dropped units is linear: "
    "then weights × p give the mean over all thin networks exactly. Through ReLUs it is about the "
    "mean.",
    experiment=experiment,
    breaks=(
        Break("scaling", "inference without the multiplication by q", {"make": unscaled}),
        Break("drop", "q as the probability to drop a unit", {"make": dropping}),
    ),
    fails_if="a share of units kept that is 5 deviations off q, units that are correlated, a mean "
    "over all thin networks of linear units that is 10⁻¹² off inference, a network with weights × "
    "q that is not twice as near to the geometric mean of thin networks as one of them is, a test "
    "error that is not lower with dropout in every repeat, or a test loss for q = 0.5 or 0.8 "
    "that is not below that of q = 1",
    code="""\
import itertools
import thalweg as tw, torch

q, x, w = 0.8, torch.tensor([1.0, -2.0, 3.0]).double(), torch.tensor([0.5, 1.0, -1.5]).double()
layer = tw.nets.Dropout(q, "weights").eval()
means = {"linear": 0.0, "ReLU": 0.0}
for mask in itertools.product((0, 1), repeat=3):
    z = w @ (torch.tensor(mask) * x) + 4.0
    chance = q ** sum(mask) * (1 - q) ** (3 - sum(mask))
    means["linear"] += chance * z
    means["ReLU"] += chance * z.relu()
z = w @ layer(x) + 4.0
print(f"linear: mean {means['linear']:.4f}, inference {z:.4f}")
print(f"ReLU: mean {means['ReLU']:.4f}, inference {z.relu():.4f}")
assert abs(means["linear"] - z) < 1e-12 and means["ReLU"] > z.relu() + 0.1
""",
    seconds=7.0,
    needs_torch=True,
    remark="The slides use p for two things, the probability to disable a unit and the probability "
    "to keep it; the rule for inference is right for the second, or for p = 0.5. That the output "
    "at test time is the expected one is exact for linear units, and for the geometric mean above "
    "a softmax. The training labels are partly wrong here, so that there is something to overfit "
    "within seconds, and which q is best depends on how many are wrong, on the width and on the "
    "length of the training; a full run has the wide networks of the lecture's Figure 4 on right "
    "labels.",
)
