"""KL-sparsity holds the mean activation of every unit at its target.

Unit j is active by ρ̂ⱼ on average, over N samples, and is to be active by ρ:

    ρ̂ⱼ = (1/N) Σₙ s(a_nj)
    P = β Σⱼ [ρ log(ρ/ρ̂ⱼ) + (1 − ρ) log((1 − ρ)/(1 − ρ̂ⱼ))]

Each term is the divergence of two coins, zero where ρ̂ⱼ = ρ and positive elsewhere. s brings an
activation into [0, 1]: a for a sigmoid, (1 + a)/2 for tanh, a/(1 + a) for a ReLU. Its slope is

    ∂P/∂ρ̂ⱼ = β [(1 − ρ)/(1 − ρ̂ⱼ) − ρ/ρ̂ⱼ]  ≈  β (ρ̂ⱼ − ρ) / ρ(1 − ρ)   near ρ

The loss pulls as well. Where it depends on ρ̂ⱼ with slope −k, training ends where the two slopes are
equal, a quadratic equation for ρ̂ⱼ that can be solved. For a large β

    ρ̂ⱼ − ρ ≈ ρ(1 − ρ) k/β

so that the mean reaches its target as β grows, like 1/β, and is off it for any finite one. Here
units are pulled with slopes that are known first, and then networks are trained.

Means are over all samples: with a mean of ρ, by Markov's inequality, at most a share 2ρ of the
activations of a sigmoid is above 1/2. That is the sparsity: each unit answers to few samples.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import thalweg as tw
from thalweg.labbook import (
    Break,
    Check,
    Curve,
    Figure,
    Findings,
    Guide,
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

TARGETS = (0.05, 0.2)
STRENGTH = 100.0  # β of the networks
PULLS = (-2.0, -0.5, 0.5, 2.0)  # k of the units that are pulled
ROUNDING = 1e-9
# By the target. At the minimum a unit is off by ρ(1 − ρ)k/β: with β = 100 by a tenth of ρ only
# where the loss pulls with a slope of ten, of a loss that begins at log 10 = 2.3.
NEAR = 0.1

Make = Callable[[float, float], Any]  # a regularizer, by target and strength


class Trained(NamedTuple):
    """A network after training, with or without the penalty."""

    name: str
    target: float  # NaN without a penalty
    means: np.ndarray  # ρ̂ of every unit over the training data
    course: np.ndarray  # mean of ρ̂ over the units, at every tenth step
    above: float  # share of activations s(a) > 1/2
    accuracy: float


def real(target: float, strength: float) -> Any:
    """The penalty as Thalweg has it."""
    return tw.nets.KLSparsity(target, strength)


class Together:
    """A wrong one: the mean over all units of a layer, so that some may be always on."""

    def __init__(self, target: float, strength: float) -> None:
        self.target, self.strength = target, strength
        self.means: list[Tensor] = []
        self.handles: list[Any] = []

    def attach(self, model: nn.Module) -> None:
        """Listen to activations."""
        from torch import nn

        squashes: dict[type, Callable[[Tensor], Tensor]] = {
            nn.Sigmoid: lambda a: a, nn.Tanh: lambda a: (1 + a) / 2, nn.ReLU: lambda a: a / (1 + a),
        }  # fmt: skip
        for module in model.modules():
            if type(module) in squashes:
                squash = squashes[type(module)]
                self.handles.append(
                    module.register_forward_hook(
                        lambda m, x, a, squash=squash: self.means.append(self.mean(squash(a)))
                    )
                )

    def mean(self, activations: Tensor) -> Tensor:
        """One number for the layer."""
        return activations.mean().clamp(1e-6, 1 - 1e-6)

    def detach(self) -> None:
        """Listen no more."""
        for handle in self.handles:
            handle.remove()

    def penalty(self, model: nn.Module, progress: float) -> Tensor:
        """The divergence of that one mean, for every unit alike."""
        mean = self.means[-1]
        self.means.clear()
        rho = self.target
        first = rho * (rho / mean).log()
        return 16 * self.strength * (first + (1 - rho) * ((1 - rho) / (1 - mean)).log())

    def after_step(self, model: nn.Module, progress: float, lr: float) -> None:
        """Nothing."""


class Towards0(Together):
    """A wrong one: it pulls all means to zero."""

    def penalty(self, model: nn.Module, progress: float) -> Tensor:
        """The mean itself."""
        mean = self.means[-1]
        self.means.clear()
        return 16 * self.strength * mean


def experiment(setting: Setting, *, make: Make = real) -> Findings:
    """The formula, units that are pulled with a known slope, and networks on digits."""
    value, routes = _formula(setting, make)
    strengths = setting.pick(glance=(1.0, 10.0, 100.0), quick=(0.3, 1.0, 3.0, 10.0, 30.0, 100.0),
                             full=(0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0))  # fmt: skip
    pulled = {beta: _pulled(setting, make, beta) for beta in strengths}
    networks = _networks(setting, make)
    checks = [
        Check(
            "P is the formula, for sigmoid, tanh, ReLU and the channels of a convolution",
            max(value.values()) <= ROUNDING,
            ", ".join(f"{name} {off:.1g}" for name, off in value.items()) + " off, relative",
        ),
        Check(
            "its gradient is the same in the loss and through the activations",
            max(routes.values()) <= ROUNDING,
            ", ".join(f"{name} {off:.1g}" for name, off in routes.items()) + " apart, relative",
        ),
        *_checks_of_pulls(pulled),
        *_checks_of_networks(networks),
    ]
    return Findings(
        checks,
        [_table_of_networks(networks), _table_of_pulls(pulled)],
        [_figure_of_pulls(pulled), _figure_of_networks(networks)],
        [
            f"networks: {_rows(setting)} of scikit-learn's digits, pixels of mean 0 and deviation "
            f"1/4, one hidden layer of "
            f"{_units(setting)} units, β = {STRENGTH:g}, Adam on all samples, "
            f"{_steps(setting)} steps",
        ],
    )


def _formula(setting: Setting, make: Make) -> tuple[dict[str, float], dict[str, float]]:
    """How far P is from its formula, and its gradient from that through the activations."""
    import torch
    from torch import nn

    rho, beta = 0.1, 0.7
    kinds: dict[str, tuple[Callable[[], nn.Module], nn.Module, tuple[int, ...]]] = {
        "sigmoid": (nn.Sigmoid, nn.Linear(6, 5), (40, 6)),
        "tanh": (nn.Tanh, nn.Linear(6, 5), (40, 6)),
        "ReLU": (nn.ReLU, nn.Linear(6, 5), (40, 6)),
        "convolution": (nn.Sigmoid, nn.Conv2d(2, 5, 3), (40, 2, 6, 6)),
    }
    values, routes = {}, {}
    for name, (activation, layer, shape) in kinds.items():
        model = nn.Sequential(layer, activation()).double()
        tw.nets.initialize(model, "he", bias=0.1, seed=setting.seed_for("seed", "formula", name))
        x = torch.as_tensor(setting.rng("formula", name).standard_normal(shape))
        means = _means(model[1], model(x).detach())
        wanted = beta * float(_divergence(rho, means).sum())
        gradients = []
        for in_loss in (True, False):
            regularizer = make(rho, beta)
            regularizer.attach(model)
            model.zero_grad()
            loss = model(x).square().mean()
            if in_loss:
                penalty = regularizer.penalty(model, 0.0)
                values[name] = abs(float(penalty.detach()) / wanted - 1)
                loss = loss + penalty
            loss.backward()
            regularizer.detach()
            found = [p.grad.flatten() for p in model.parameters() if p.grad is not None]
            gradients.append(torch.cat(found))
        size = float(gradients[0].norm())
        routes[name] = float((gradients[0] - gradients[1]).norm()) / size
    return values, routes


def _pulled(setting: Setting, make: Make, beta: float) -> np.ndarray:
    """ρ̂ of sigmoid units that the loss −Σ kⱼρ̂ⱼ pulls, after training."""
    import torch
    from torch import nn

    rho = TARGETS[1]
    unit = nn.Sequential(nn.Linear(3, len(PULLS)), nn.Sigmoid()).double()
    tw.nets.initialize(unit, "xavier", seed=setting.seed_for("seed", "pulled"))
    x = torch.as_tensor(setting.rng("pulled").standard_normal((100, 3)))
    pulls = torch.tensor(PULLS, dtype=torch.float64)
    steps = setting.pick(glance=150, quick=400, full=2000)
    tw.nets.fit(
        unit, (x, torch.zeros(len(x), 1, dtype=torch.float64)), "adam[lr=0.1]",
        lambda a, _: -(pulls * a.mean(0)).sum(), steps, batch_size=None,
        scheduler=_cosine(steps), regularizers=[make(rho, beta)], progress=False,
    )  # fmt: skip
    return unit(x).detach().mean(0).numpy()


def _balance(rho: float, beta: float, k: float) -> float:
    """Where β[(1 − ρ)/(1 − r) − ρ/r] = k: (r − ρ) = (k/β) r(1 − r)."""
    t = k / beta
    # t r² + (1 − t) r − ρ = 0, written so that it has no difference of near numbers.
    return 2 * rho / ((1 - t) + math.sqrt((1 - t) ** 2 + 4 * t * rho))


def _networks(setting: Setting, make: Make) -> list[Trained]:
    """One hidden layer of each activation, without and with the penalty, and a convolution."""
    kinds = setting.pick(
        glance=("sigmoid", "ReLU"),
        quick=("sigmoid", "tanh", "ReLU", "convolution"),
        full=("sigmoid", "tanh", "ReLU", "convolution"),
    )
    targets = setting.pick(glance=TARGETS[1:], quick=TARGETS, full=(0.02, *TARGETS, 0.4))
    found = []
    for name in kinds:
        found.append(_train(setting, name, None, math.nan))
        # A convolution takes the longest: one target at most budgets, and far from its own mean.
        wanted = targets[:1] if name == "convolution" and not setting.is_full else targets
        found += [_train(setting, name, make, rho) for rho in wanted]
    return found


def _train(setting: Setting, name: str, make: Make | None, rho: float) -> Trained:
    import torch

    table = tw.read("@digits")
    rows, steps = _rows(setting), _steps(setting)
    # A quarter: sigmoids of larger inputs are flat at first, and take long to be moved.
    X = torch.as_tensor(tw.scaling.ZScore().fit_transform(table.X) / 4, dtype=torch.float32)
    chosen = torch.as_tensor(setting.rng("rows").permutation(len(X))[:rows])
    X, y = X[chosen], torch.as_tensor(table.y)[chosen]
    model, at = _model(name, _units(setting))
    tw.nets.initialize(model, "xavier", seed=setting.seed_for("seed", "network", name))
    activation = model[at]

    def means() -> np.ndarray:
        with torch.no_grad():
            return _means(activation, model[: at + 1](X))

    course = [float(means().mean())]

    def look(moment: Any) -> None:
        course.append(float(means().mean()))

    look.every = 10  # type: ignore[attr-defined]
    setting.tell(f"{name}, target {rho:g}")
    tw.nets.fit(
        model, (X, y), "adam[lr=0.1]", epochs=steps, batch_size=None, scheduler=_cosine(steps),
        regularizers=[] if make is None else [make(rho, STRENGTH)], probes=[look],
        seed=setting.seed, progress=False,
    )  # fmt: skip
    score = tw.nets.evaluate(model, (X, y))
    with torch.no_grad():
        above = float((_squashed(activation, model[: at + 1](X)) > 0.5).mean())
    return Trained(name, rho, means(), np.array(course), above, score.accuracy)


def _model(name: str, units: int) -> tuple[Any, int]:
    """A network, and where in it the activation is."""
    from torch import nn

    if name == "convolution":
        parts = nn.Unflatten(1, (1, 8, 8)), nn.Conv2d(1, 8, 3), nn.Sigmoid()
        return nn.Sequential(*parts, nn.Flatten(), nn.Linear(288, 10)), 2
    activation = {"sigmoid": nn.Sigmoid, "tanh": nn.Tanh, "ReLU": nn.ReLU}[name]()
    return nn.Sequential(nn.Linear(64, units), activation, nn.Linear(units, 10)), 1


def _squashed(activation: Any, a: Tensor) -> np.ndarray:
    """s(a), as the formulas above have it."""
    values = a.double().numpy()
    kind = type(activation).__name__
    if kind == "Sigmoid":
        return values
    return (1 + values) / 2 if kind == "Tanh" else values / (1 + values)


def _means(activation: Any, a: Tensor) -> np.ndarray:
    """ρ̂ of each unit, over samples and, in a convolution, places."""
    values = _squashed(activation, a)
    return values.mean(axis=tuple(axis for axis in range(values.ndim) if axis != 1))


def _divergence(rho: float, mean: np.ndarray) -> np.ndarray:
    return rho * np.log(rho / mean) + (1 - rho) * np.log((1 - rho) / (1 - mean))


def _cosine(steps: int) -> Callable[[Any], Any]:
    """A rate that falls to zero: Adam's last steps would otherwise be as large as its first."""

    def made(optimizer: Any) -> Any:
        from torch.optim.lr_scheduler import CosineAnnealingLR

        return CosineAnnealingLR(optimizer, steps)

    return made


def _checks_of_pulls(pulled: dict[float, np.ndarray]) -> list[Check]:
    rho = TARGETS[1]
    wanted = {beta: np.array([_balance(rho, beta, k) for k in PULLS]) for beta in pulled}
    off = max(float(np.abs(pulled[beta] - wanted[beta]).max()) for beta in pulled)
    betas = sorted(pulled)
    gaps = {beta: np.abs(pulled[beta] - rho) for beta in betas}
    # Between the two largest: there 1/β is the whole of it, but for terms of (k/β)².
    exponent = np.log(gaps[betas[-1]] / gaps[betas[-2]]) / math.log(betas[-1] / betas[-2])
    return [
        Check(
            "a unit that the loss pulls with slope k ends where the slopes are equal",
            off <= 1e-3,
            f"at most {off:.1g} from the root of the quadratic, of {len(pulled) * len(PULLS)} "
            f"units with k from {min(PULLS):g} to {max(PULLS):g}",
        ),
        Check(
            "the distance from the target falls like 1/β",
            bool(np.all(np.abs(exponent + 1) <= 0.2)),
            "exponents " + ", ".join(f"{each:.2f}" for each in exponent)
            + f" from β = {betas[-2]:g} to {betas[-1]:g}",
        ),
    ]  # fmt: skip


def _checks_of_networks(networks: list[Trained]) -> list[Check]:
    held = [each for each in networks if not math.isnan(each.target)]
    free = {each.name: each for each in networks if math.isnan(each.target)}
    off = {
        f"{each.name}, {each.target:g}": float(np.abs(each.means / each.target - 1).max())
        for each in held
    }
    away = [float(np.abs(free[each.name].means / each.target - 1).max()) for each in held]
    sigmoids = [each for each in held if each.name == "sigmoid"]
    return [
        Check(
            "in a network the mean activation of every unit reaches its target",
            max(off.values()) <= NEAR,
            "; ".join(f"{name}: {value:.1%}" for name, value in off.items())
            + " of the target off, the worst unit",
        ),
        Check(
            "without the penalty some are elsewhere", min(away) > 2 * NEAR,
            ", ".join(
                f"{name} {each.means.min():.2f} to {each.means.max():.2f}"
                for name, each in free.items()
            ),
        ),
        Check(
            "each unit answers to few samples: at most a share 2ρ of sigmoids is above 1/2",
            all(each.above <= 2 * (1 + NEAR) * each.target for each in sigmoids),
            ", ".join(f"{each.above:.1%} for ρ = {each.target:g}" for each in sigmoids)
            + f", {free['sigmoid'].above:.1%} without",
        ),
        Check(
            # Three times what guessing gives: the price of so strong a penalty is in the table.
            "and the networks still learn", min(each.accuracy for each in held) > 0.3,
            ", ".join(f"{each.name}, {each.target:g}: {each.accuracy:.0%}" for each in held)
            + f" of the training data told right, {min(e.accuracy for e in free.values()):.0%} at "
            "least without the penalty",
        ),
    ]  # fmt: skip


def _table_of_networks(networks: list[Trained]) -> Sheet:
    rows = tuple(
        (
            each.name,
            "none" if math.isnan(each.target) else each.target,
            each.means.mean(), each.means.min(), each.means.max(), each.above,
            f"{each.accuracy:.0%}",
        )
        for each in networks
    )  # fmt: skip
    heads = ("units", "target", "mean", "lowest unit", "highest unit", "above 1/2", "told right")
    return Sheet("Mean activations after training", heads, rows)


def _table_of_pulls(pulled: dict[float, np.ndarray]) -> Sheet:
    rho = TARGETS[1]
    rows = []
    for beta, means in pulled.items():
        for k, mean in zip(PULLS, means, strict=True):
            rows.append((beta, k, mean, _balance(rho, beta, k), mean - rho))
    heads = ("β", "k", "ρ̂", "predicted", "ρ̂ − ρ")
    return Sheet(f"Units pulled with slope k, target {rho:g}", heads, tuple(rows))


def _figure_of_pulls(pulled: dict[float, np.ndarray]) -> Figure:
    rho, betas = TARGETS[1], np.array(sorted(pulled))
    fine = np.geomspace(betas[0], betas[-1], 60)
    marks: list[Curve | Guide] = []
    for hue, (j, k) in enumerate(enumerate(PULLS), 1):
        marks.append(curve(f"k = {k:g}", betas, [pulled[b][j] for b in betas], hue, dots=True))
        last = "predicted" if k == PULLS[-1] else ""
        marks.append(curve(last, fine, [_balance(rho, b, k) for b in fine], 0, theory=True))
    marks.append(Guide("target", rho))
    ends = ", ".join(f"{mean:.3f}" for mean in pulled[betas[-1]])
    return figure(
        "Mean activation of units that the loss pulls",
        panel("strength β", "mean activation ρ̂", marks, log="x"),
        f"With β = {betas[-1]:g} the four units are active by {ends}, for a target of {rho:g}.",
    )


def _figure_of_networks(networks: list[Trained]) -> Figure:
    shown = [each for each in networks if each.name == "sigmoid"]
    marks: list[Curve | Guide] = []
    for hue, each in enumerate(shown, 1):
        name = "without" if math.isnan(each.target) else f"ρ = {each.target:g}"
        marks.append(curve(name, 10 * np.arange(len(each.course)), each.course, hue))
    marks += [
        Guide("target" if k == 0 else "", each.target)
        for k, each in enumerate(each for each in shown if not math.isnan(each.target))
    ]
    said = ", ".join(
        f"{each.means.mean():.3f} for a target of {each.target:g}" for each in shown[1:]
    )
    return figure(
        "Mean activation of a layer of sigmoids while training",
        panel("step", "mean activation", marks),
        f"In the end {said}; {shown[0].means.mean():.2f} without the penalty.",
    )


def _rows(setting: Setting) -> int:
    return setting.pick(glance=200, quick=500, full=1797)


def _units(setting: Setting) -> int:
    return setting.pick(glance=32, quick=32, full=64)


def _steps(setting: Setting) -> int:
    return setting.pick(glance=200, quick=300, full=1000)


LAB = Lab(
    name="kl-sparsity",
    claim="The KL-sparsity penalty holds the mean activation of every hidden unit at a target ρ.",
    formula="P = β Σⱼ ρ log(ρ/ρ̂ⱼ) + (1 − ρ) log((1 − ρ)/(1 − ρ̂ⱼ))",
    places=("A, Performance on MNIST",),
    expected=Ruling.HOLDS,
    experiment=experiment,
    breaks=(
        Break("together", "one mean over all units of a layer", {"make": Together}),
        Break("zero", "a pull towards zero in the place of ρ", {"make": Towards0}),
    ),
    fails_if="a unit of a trained network whose mean activation is more than a tenth of ρ away "
    "from it; a pulled unit more than 0.001 from where the slopes are equal; a distance from the "
    "target that does not fall like 1/β",
    code="""\
import thalweg as tw
import torch
from torch import nn

x = torch.randn(200, 5, generator=torch.Generator().manual_seed(0))
y = (x[:, 0] > 0).long()
net = nn.Sequential(nn.Linear(5, 8), nn.Sigmoid(), nn.Linear(8, 2))
tw.nets.initialize(net, "xavier", seed=0)
sparsity = tw.nets.KLSparsity(0.1, strength=10.0)
tw.nets.fit(net, (x, y), "adam[lr=0.1]", epochs=150, batch_size=None, regularizers=[sparsity],
            progress=False)
means = net[:2](x).mean(0)
print(means)
assert (means - 0.1).abs().max() < 0.02
""",
    seconds=7.6,
    needs_torch=True,
    remark="The lecture names the penalty in a table and gives no formula: it is that of Ng's "
    "notes on the sparse autoencoder. That table's test errors are in the lab mnist-table. For a "
    "finite β a unit is off its target wherever the loss pulls, and further off where training "
    "ends early. A β that holds all units near the target also holds the network back.",
)
