"""A small bias makes a few more ReLU units fire, not all.

Before training, the sum of a unit is o = wᵀx + b with weights of mean 0. Over the draws of w it is
normal about b, with a deviation s that the inputs decide,

    s² = n_in σ² E[x²]        s = √2 for He's σ² = 2/n_in and inputs of mean square 1

so that a ReLU is active, o > 0, with probability

    P(o > 0) = Φ(b/s)

which is 1/2 at b = 0, Φ(0.01/√2) = 0.503 and Φ(0.1/√2) = 0.528 at the lecture's values. What counts
is b by s: at three deviations 99.9 % are active. In that sense alone a bias makes all units fire.

A layer later the inputs are ReLUs of normal numbers, and

    E[φ(o)²] = (s² + b²) Φ(b/s) + b s φ₁(b/s)        φ₁ the normal density

is what s² of the next layer is made of. It grows with b: a bias that is three deviations in the
first layer is less than one in the second. And where all units fire, a network is linear.

Biases do not tell units apart, as all begin at one number. Weights that are drawn do.
"""

from __future__ import annotations

import math
from collections.abc import Callable
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

S = math.sqrt(2.0)  # s of the first layer, for inputs of mean square 1
BIASES = (0.0, 0.01, 0.1, *(k * S / 2 for k in range(1, 7)))
DEEP = (0.0, 0.01, 0.1, 3 * S)
ROWS = 128  # samples
UNITS = 128  # of the networks on digits
ALLOWED = 5.0  # deviations that a share may be off by chance
ALIKE = float(np.sqrt(np.finfo(float).eps))  # equal to half the digits

Draw = Callable[["nn.Module", float, int], None]


class Shares(NamedTuple):
    """Of active units, layer by layer, for one bias."""

    bias: float
    active: np.ndarray  # share of units and samples with o > 0, float[layers]
    fired: np.ndarray  # share of units that are active for some sample
    deviations: np.ndarray  # s by theory
    room: np.ndarray  # what chance allows

    @property
    def predicted(self) -> np.ndarray:
        """Φ(b/s)."""
        return np.array([_phi(self.bias / s) for s in self.deviations])


def drawn(model: nn.Module, bias: float, seed: int) -> None:
    """He's weights, and the bias as Thalweg sets it."""
    tw.nets.initialize(model, "he", bias=bias, seed=seed)


def unset(model: nn.Module, bias: float, seed: int) -> None:
    """The bias left at zero."""
    tw.nets.initialize(model, "he", seed=seed)


def negative(model: nn.Module, bias: float, seed: int) -> None:
    """The bias with the wrong sign."""
    tw.nets.initialize(model, "he", bias=-bias, seed=seed)


def experiment(setting: Setting, *, draw: Draw = drawn) -> Findings:
    """Shares of active units by bias, by depth and on digits, and what training makes of them."""
    layers = setting.pick(glance=8, quick=20, full=50)
    first = [_shares(setting, draw, bias, 1) for bias in BIASES]
    deep = [_shares(setting, draw, bias, layers) for bias in DEEP]
    wide = _each_layer(setting, draw)
    real = _on_digits(setting, draw)
    apart = _apart(setting, draw)
    losses = _training(setting, draw) if setting.budget != "glance" else {}
    checks = [
        *_checks_as_written(first, real),
        *_checks_with_condition(setting, first, deep, wide, real),
        Check(
            "with biases of 0 drawn weights tell units apart; equal weights do not, for any bias",
            apart["drawn, b = 0"] > ALIKE and apart["equal, b = 0.1"] <= ALIKE,
            ", ".join(f"{name}: {value:.2g}" for name, value in apart.items())
            + ", the distance of the two nearest units' gradients by their mean size",
        ),
        *_checks_of_training(losses),
    ]
    return Findings(
        checks,
        [_table_of_first(first), _table_of_digits(real)],
        [_figure(first, deep), *_figure_of_training(losses)],
        [
            f"{_width(setting)} units a layer, {_nets(setting)} networks, inputs from N(0, 1); "
            "scikit-learn's digits, 1,797 × 64, for what is said of digits",
        ],
    )


def _shares(setting: Setting, draw: Draw, bias: float, layers: int) -> Shares:
    """Networks of `layers` layers with this bias in each, on normal inputs."""
    import torch
    from torch import nn

    width, nets = _width(setting), _nets(setting)
    active, fired = np.zeros(layers), np.zeros(layers)
    for k in range(nets):
        model = nn.Sequential(*(nn.Linear(width, width) for _ in range(layers))).double()
        rng = setting.rng("shares", layers, k, int(1000 * bias))
        draw(model, bias, int(rng.integers(2**31)))
        x = torch.as_tensor(rng.standard_normal((ROWS, width)))
        for depth, each in enumerate(_states(model, x)):
            active[depth] += float(each.double().mean()) / nets
            fired[depth] += float(each.any(0).double().mean()) / nets
    deviations = _deviations(bias, layers)
    p = np.array([_phi(bias / s) for s in deviations])
    # Deep down all samples look alike, and units alone are draws. In a first layer samples are too,
    # all but independent ones: their directions are, to 1/n; the 2 is for what they share.
    alike = 2 * (1 / ROWS + 1 / width) if layers == 1 else 1.0
    room = ALLOWED * np.sqrt(alike * p * (1 - p) / (width * nets)) + _drift(width, layers)
    return Shares(bias, active, fired, deviations, room)


def _states(model: Any, x: Tensor) -> list[Tensor]:
    """Whether each unit is active for each sample, layer by layer."""
    found = []
    for layer in model:
        o = layer(x).detach()
        found.append(o > 0)
        x = o.clamp(min=0)
    return found


def _deviations(bias: float, layers: int) -> np.ndarray:
    """s of each layer, for He's weights and the same bias in all."""
    moment, found = 1.0, []
    for _ in range(layers):
        s = math.sqrt(2.0 * moment)
        found.append(s)
        moment = _second_moment(bias, s)
    return np.array(found)


def _second_moment(bias: float, s: float) -> float:
    """E[φ(o)²] for o ~ N(b, s²)."""
    t = bias / s
    density = math.exp(-(t**2) / 2) / math.sqrt(2 * math.pi)
    return (s**2 + bias**2) * _phi(t) + bias * s * density


def _drift(width: int, layers: int) -> np.ndarray:
    """How much a share moves because s scatters: log s² by √(5k/n) after k layers.

    The slope of Φ(b/s) in log s is at most 0.242, at b = s, so that of log s² half of it.
    """
    return ALLOWED * 0.121 * np.sqrt(5 * np.arange(layers) / width)


def _each_layer(setting: Setting, draw: Draw) -> tuple[np.ndarray, np.ndarray]:
    """Shares with a bias of three deviations of its own layer in each, and sizes of outputs."""
    import torch
    from torch import nn

    width, layers, moment = _width(setting), 5, 1.0
    rng = setting.rng("each layer")
    x = torch.as_tensor(rng.standard_normal((ROWS, width)))
    shares, sizes = [], []
    for _ in range(layers):
        s = math.sqrt(2.0 * moment)
        layer = nn.Linear(width, width).double()
        draw(layer, 3 * s, int(rng.integers(2**31)))
        o = layer(x).detach()
        shares.append(float((o > 0).double().mean()))
        x = o.clamp(min=0)
        sizes.append(float(x.square().mean().sqrt()))
        # The next bias follows what this layer really puts out.
        moment = float(x.square().mean())
    return np.array(shares), np.array(sizes)


def _on_digits(setting: Setting, draw: Draw) -> list[tuple[str, float, float, float, float, float]]:
    """Data, bias, s, predicted and measured share, share of units that get a gradient."""
    import torch
    from torch import nn
    from torch.nn import functional

    table = tw.read("@digits", dtype="float64")
    scaled = tw.scaling.ZScore().fit_transform(table.X)
    nets = 2 * _nets(setting)
    y = torch.as_tensor(table.y)
    found = []
    for name, values in (("pixels 0 to 1", table.X / 16.0), ("scaled pixels", scaled)):
        x = torch.as_tensor(values)
        sizes = np.sqrt(2.0 * np.square(values).mean(axis=1))  # s for each sample
        for bias in (0.0, 0.01, 0.1, 3 * float(np.sqrt(np.mean(sizes**2)))):
            active = taught = 0.0
            for k in range(nets):
                model = nn.Sequential(nn.Linear(64, UNITS), nn.ReLU(), nn.Linear(UNITS, 10))
                draw(model.double(), bias, setting.seed_for("digits", name, k))
                hidden = model[1](model[0](x))
                functional.cross_entropy(model[2](hidden), y).backward()
                gradient = model.get_parameter("0.weight").grad
                norms = torch.zeros(UNITS) if gradient is None else gradient.norm(dim=1)
                active += float((hidden > 0).double().mean()) / nets
                taught += float((norms > 0).double().mean()) / nets
            # A picture without ink has s = 0, and a share of 1 with any bias.
            predicted = float(np.mean([_phi(bias / max(s, 1e-12)) for s in sizes]))
            found.append((name, bias, float(sizes.mean()), predicted, active, taught))
    return found


def _apart(setting: Setting, draw: Draw) -> dict[str, float]:
    """Of the gradients of a layer's units, the distance of the nearest two by their mean norm."""
    import torch
    from torch import nn
    from torch.nn import functional

    rng = setting.rng("apart")
    x = torch.as_tensor(rng.standard_normal((200, 20)))
    y = torch.as_tensor(rng.integers(0, 3, 200))
    found = {}
    for name, bias in (("drawn, b = 0", 0.0), ("equal, b = 0.1", 0.1)):
        model = nn.Sequential(nn.Linear(20, 30), nn.ReLU(), nn.Linear(30, 3)).double()
        if bias:
            tw.nets.initialize(model, "constant[value=0.1]", bias=bias)
        else:
            draw(model, bias, int(rng.integers(2**31)))
        functional.cross_entropy(model(x), y).backward()
        gradient = model.get_parameter("0.weight").grad
        rows = np.zeros((30, 20)) if gradient is None else gradient.numpy()
        distances = np.linalg.norm(rows[:, None] - rows[None], axis=2) + np.diag([np.inf] * 30)
        found[name] = float(distances.min() / np.linalg.norm(rows, axis=1).mean())
    return found


def _training(setting: Setting, draw: Draw) -> dict[str, np.ndarray]:
    """Training losses on digits by bias, the mean over seeds."""
    import torch
    from torch import nn

    table = tw.read("@digits")
    X = torch.as_tensor(tw.scaling.ZScore().fit_transform(table.X), dtype=torch.float32)
    data = X, torch.as_tensor(table.y)
    epochs, seeds = setting.pick(quick=6, full=20), setting.pick(quick=2, full=5)
    found = {}
    for name, bias in (("b = 0", 0.0), ("b = 0.01", 0.01), ("b = 0.1", 0.1), ("b = 3√2", 3 * S)):
        courses = []
        for k in range(seeds):
            seed = setting.seed_for("training", k)
            parts = [part for _ in range(3) for part in (nn.Linear(64, 64), nn.ReLU())]
            model = nn.Sequential(*parts, nn.Linear(64, 10))
            draw(model, bias, seed)
            run = tw.nets.fit(
                model, data, "sgd[lr=0.02]", epochs=epochs, batch_size=50, seed=seed,
                progress=False,
            )  # fmt: skip
            courses.append(run.trace["training_loss"])
        found[name] = np.mean(courses, axis=0)
    return found


def _checks_as_written(first: list[Shares], real: list) -> list[Check]:
    at = {each.bias: float(each.active[0]) for each in first}
    on_digits = {(name, bias): active for name, bias, _, _, active, _ in real}
    checks = []
    for bias in (0.01, 0.1):
        seen = [at[bias], on_digits["pixels 0 to 1", bias], on_digits["scaled pixels", bias]]
        checks.append(
            Check(
                f"with biases of {bias:g} all ReLU units fire at the start",
                min(seen) >= 0.99,
                f"{seen[0]:.1%} of units and samples are active, {at[0.0]:.1%} with b = 0; on "
                f"digits {seen[1]:.1%} with pixels from 0 to 1, {seen[2]:.1%} with scaled ones",
                WRITTEN,
            )
        )
    return checks


def _checks_with_condition(
    setting: Setting,
    first: list[Shares],
    deep: list[Shares],
    wide: tuple[np.ndarray, np.ndarray],
    real: list,
) -> list[Check]:
    off = max(float(np.max(np.abs(each.active - each.predicted) / each.room)) for each in first)
    below = max(float(np.max(np.abs(each.active - each.predicted) / each.room)) for each in deep)
    errors = [abs(active - predicted) for _, _, _, predicted, active, _ in real]
    largest = [row for row in real if row[1] > 1.0]
    shares, sizes = wide
    last = deep[-1]
    on_digits = ALLOWED * math.sqrt(0.25 / (UNITS * 2 * _nets(setting)))
    three = _phi(3.0)
    lowest = three - ALLOWED * math.sqrt(three * (1 - three) / _width(setting))
    least, wanted = min((row[4], row[3]) for row in largest)
    wanted -= ALLOWED * math.sqrt(wanted * (1 - wanted) / (UNITS * 2 * _nets(setting)))
    return [
        Check(
            "the share of active units is Φ(b/s)", off <= 1.0,
            ", ".join(f"{each.active[0]:.3f} ({each.predicted[0]:.3f})" for each in first)
            + " for b = 0, 0.01, 0.1 and s/2 to 3s in halves, predicted in brackets",
            CONDITION,
        ),
        Check(
            "it is so in every layer, with s of that layer", below <= 1.0,
            f"at most {below:.2f} of what chance allows in {len(last.active)} layers; with b = 3√2 "
            f"{last.active[0]:.3f} in the first, {last.active[1]:.3f} in the second, "
            f"{last.active[-1]:.3f} in the last",
            CONDITION,
        ),
        Check(
            "it is so on digits", max(errors) <= on_digits,
            f"off by {max(errors):.3f} at most, {on_digits:.3f} allowed, of {len(real)} shares",
            CONDITION,
        ),
        Check(
            "with b of three deviations of each layer all units fire, but for 0.1 %",
            shares.min() >= lowest and least >= wanted,
            f"{shares.min():.2%} at least in {len(shares)} layers ({three:.2%} expected), "
            f"{least:.2%} on digits; the price: outputs grow to "
            f"{sizes[-1]:.2g} in {len(sizes)} layers, and the network is linear",
            CONDITION,
        ),
        Check(
            "units that fire get a gradient: with b of three deviations, all",
            min(row[5] for row in largest) == 1.0,
            ", ".join(f"{row[0]}, b = {row[1]:.2g}: {row[5]:.1%}" for row in real)
            + " of the first layer's units",
            CONDITION,
        ),
    ]  # fmt: skip


def _checks_of_training(losses: dict[str, np.ndarray]) -> list[Check]:
    if not losses:
        return []
    ends = {name: float(course[-1]) for name, course in losses.items()}
    return [
        Check(
            "training hardly depends on the bias: last losses within a factor of 1.5",
            max(ends.values()) <= 1.5 * min(ends.values()),
            ", ".join(f"{name} {value:.3f}" for name, value in ends.items())
            + ", training loss with three hidden layers; the lecture says nothing of it",
            NOTED,
        )
    ]


def _table_of_first(first: list[Shares]) -> Sheet:
    rows = [
        (each.bias, each.bias / S, each.predicted[0], each.active[0], each.fired[0])
        for each in first
    ]
    heads = ("b", "b/s", "Φ(b/s)", "active", "units that fire at all")
    return Sheet("First layer, He's weights, inputs of mean square 1", heads, tuple(rows))


def _table_of_digits(real: list) -> Sheet:
    heads = ("digits", "b", "mean s", "predicted", "active", "units with a gradient")
    return Sheet("First layer of a network on digits", heads, tuple(real))


def _figure(first: list[Shares], deep: list[Shares]) -> Figure:
    t = np.linspace(0.0, 3.0, 100)
    at = [each.bias / S for each in first]
    single = [
        curve("measured", at, [each.active[0] for each in first], 1, dots=True),
        curve("theory", t, [_phi(each) for each in t], 0, theory=True),
    ]
    layers = np.arange(1, len(deep[0].active) + 1)
    marks = []
    for hue, each in enumerate(deep, 2):
        name = "b = 3√2" if each.bias > 1 else f"b = {each.bias:g}"
        marks.append(curve(name, layers, each.active, hue))
        marks.append(curve("", layers, each.predicted, 0, theory=True))
    up = Axis("share of active units", low=0.4, high=1.02)
    return figure(
        "Share of ReLU units that are active at the start",
        [
            panel("b by the deviation s", up, single, title="First layer"),
            panel("layer", up, marks, title="The same b in all layers"),
        ],
        f"The share follows Φ(b/s): {first[1].active[0]:.3f} with b = 0.01, "
        f"{first[2].active[0]:.3f} with 0.1, {first[-1].active[0]:.3f} with three deviations. In "
        f"layer {len(layers)} it is {deep[2].active[-1]:.3f} with 0.1 and "
        f"{deep[-1].active[-1]:.3f} with 3√2.",
        columns=2,
    )


def _figure_of_training(losses: dict[str, np.ndarray]) -> list[Figure]:
    if not losses:
        return []
    marks = [
        curve(name, np.arange(len(course)), course, hue, dots=True)
        for hue, (name, course) in enumerate(losses.items(), 2)
    ]
    said = ", ".join(f"{name} {course[-1]:.2f}" for name, course in losses.items())
    return [
        figure(
            "Training on digits, three hidden layers",
            panel("epoch", "training loss", marks, log="y"),
            f"Training loss at the end: {said}.",
        )
    ]


def _phi(t: float) -> float:
    """The normal distribution function."""
    return 0.5 * math.erfc(-t / math.sqrt(2.0))


def _width(setting: Setting) -> int:
    return setting.pick(glance=256, quick=256, full=512)


def _nets(setting: Setting) -> int:
    return setting.pick(glance=2, quick=4, full=16)


LAB = Lab(
    name="bias-init",
    claim="Biases begin at 0, as weights that are drawn tell units apart; with 0.01 or 0.1 all "
    "ReLU units fire at the start and obtain and propagate some gradient.",
    formula="P(unit active) = Φ(b/s),   s² = n_in σ² E[x²]",
    places=("C, Bias Initialization",),
    expected=Ruling.HOLDS_IF,
    experiment=experiment,
    breaks=(
        Break("unset", "biases left at zero", {"draw": unset}),
        Break("sign", "biases of the wrong sign", {"draw": negative}),
    ),
    condition="The bias must be about three deviations s of the unit's sum, 4.2 with He's weights "
    "and inputs of mean square 1, and in each layer by its own s. At 0.01 and 0.1 the share of "
    "active units is 50.3 % and 52.8 %, for 50 % without a bias.",
    fails_if="a share of active units that is further from Φ(b/s) than chance allows, in any "
    "layer; a unit without a gradient at b = 3s; two units of drawn weights with the same gradient",
    code="""\
import thalweg as tw
import torch
from statistics import NormalDist

x = torch.randn(500, 300, generator=torch.Generator().manual_seed(0))
for bias in (0.0, 0.01, 0.1, 3 * 2**0.5):
    layer = torch.nn.Linear(300, 1000)
    tw.nets.initialize(layer, "he", bias=bias)
    active = (layer(x) > 0).float().mean().item()
    predicted = NormalDist().cdf(bias / 2**0.5)
    print(f"b = {bias:.2f}: {active:.3f} of units active, {predicted:.3f} predicted")
    assert abs(active - predicted) < 0.02
""",
    seconds=2.8,
    needs_torch=True,
    remark="The claim holds in degree: with a small b above 0, a share of 0.4 b/s more units fire. "
    "Nearly every unit fires for some sample even with b = 0, and that is enough for it to obtain "
    "a gradient. That all fire for all samples would not even be wished for, as the network would "
    "be linear. Scaled inputs do more against units that never fire than a small bias does.",
)
