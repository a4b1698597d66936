"""The right variance carries a signal through fifty layers.

A layer of n units turns second moments q of its sums into those of the next layer's. With weights
of variance σ² and an activation φ, for wide layers,

    forward    q⁺ = n_in σ² E[φ(√q z)²],         z ~ N(0, 1)
    backward   g⁻ = n_out σ² E[φ′(√q z)²] g

where g is the second moment of the gradient. Through fifty layers these factors multiply, and all
but a factor of one ends in noise or infinity.

Linear units, and tanh near zero, have φ(a) ≈ a. What comes in goes out if n_in σ² = 1 (LeCun);
gradients keep their size if n_out σ² = 1; Xavier's 2/(n_in + n_out) is between the two, and on
square layers all three are one. Lecture C calls 1/n_in Xavier's.

A ReLU sets half of the terms to zero, E[φ²] = q/2 and E[φ′²] = 1/2. Its factor is n σ²/2 in both
directions, one if σ² = 2/n_in (He) and a half, so 2⁻⁵⁰ in the end, with LeCun's variance.

tanh bends: with n σ² = 1 its q falls, but like 1/2k at layer k, not geometrically. With large
weights its outputs are near ±1 and cannot explode; its gradients still do.

Networks of finite width scatter about these lines: the logarithm of a second moment by at most
√(7k/n) after k layers, and it lies lower by 7k/2n on average.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

import thalweg as tw
from thalweg.labbook import (
    NOTED,
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
    from torch import nn

DEPTH = 50
SMALL, LARGE = "normal[sigma=0.01]", "normal[sigma=0.2]"
NAMES = {SMALL: "N(0, 0.01²)", "lecun": "LeCun", "he": "He", LARGE: "N(0, 0.2²)"}
ALLOWED = 5.0  # deviations that a number may be off by chance
SCATTER = 7.0  # n times the variance of log q that a layer of ReLUs adds; tanh adds less
LOST = 1e3  # of root mean squares: beyond this factor a signal has vanished or exploded
# Within this one it is kept: five deviations of a root mean square, exp(5√(7·50/256)/2), are 19.
KEPT = 30.0
RATES = (0.003, 0.01, 0.03)
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(101)

Draw = Callable[["nn.Module", str, int], None]


class Signal(NamedTuple):
    """Second moments at the outputs of all layers, and theory's."""

    forward: np.ndarray  # float[layers], of activations
    backward: np.ndarray  # of gradients with respect to them; 1 at the last
    forward_theory: np.ndarray
    backward_theory: np.ndarray


def drawn(model: nn.Module, scheme: str, seed: int) -> None:
    """The weights as Thalweg draws them."""
    tw.nets.initialize(model, scheme, seed=seed)


def turned(model: nn.Module, scheme: str, seed: int) -> None:
    """n_in and n_out taken the wrong way round."""
    tw.nets.initialize(model, scheme, seed=seed)
    for layer in model.modules():
        weight = getattr(layer, "weight", None)
        if weight is not None and scheme in ("lecun", "xavier-in", "he"):
            weight.data *= math.sqrt(weight.shape[1] / weight.shape[0])


def experiment(setting: Setting, *, he: str = "he", draw: Draw = drawn) -> Findings:
    """Variances drawn, signals through fifty layers, and training by scheme."""
    width = setting.pick(glance=128, quick=256, full=512)
    nets = setting.pick(glance=1, quick=4, full=8)
    schemes = {SMALL: SMALL, "lecun": "lecun", "he": he, LARGE: LARGE}
    signals = {
        (name, scheme): _signal(setting, draw, schemes[scheme], scheme, name, width, nets)
        for name in ("tanh", "relu")
        for scheme in schemes
    }
    formulas = _formulas(setting, draw, he)
    losses = _training(setting, draw, he)
    checks = [
        Check(
            "the weights drawn have the variances of the formulas",
            all(abs(row[2] / row[3] - 1) <= row[4] for row in formulas),
            "; ".join(f"{row[0]} {row[2]:.3g} of {row[3]:.3g}" for row in formulas)
            + ", on a layer of 400 inputs and 100 outputs",
        ),
        *_checks_of_signals(signals, width, nets),
        *_checks_of_training(losses),
    ]
    return Findings(
        checks,
        [_table_of_formulas(formulas), _table_of_signals(signals)],
        [_figure_of_signals(signals), _figure_of_training(losses)],
        [
            f"{DEPTH} layers of {width} units, the geometric mean over {nets} drawn; inputs and "
            "last gradients from N(0, 1)",
            "training: scikit-learn's digits, 1,797 × 64, each pixel scaled to mean 0 and "
            f"deviation 1; {losses.depth} layers of 64 ReLUs, SGD with momentum 0.9",
        ],
    )


def _formulas(
    setting: Setting, draw: Draw, he: str
) -> list[tuple[str, str, float, float, float, float, float]]:
    """Scheme, formula, measured and predicted V[w], what is allowed, gains forward and back."""
    from torch import nn

    n_in, n_out = 400, 100
    # Of N numbers, the variance scatters by √(2/N).
    allowed = ALLOWED * math.sqrt(2 / (n_in * n_out))
    found = []
    for name, scheme, formula, variance in (
        ("LeCun", "lecun", "1/n_in", 1 / n_in),
        ("Xavier (A)", "xavier", "2/(n_in + n_out)", 2 / (n_in + n_out)),
        ("Xavier (C)", "xavier-in", "1/m", 1 / n_in),
        ("He", he, "2/n_in", 2 / n_in),
    ):
        layer = nn.Linear(n_in, n_out)
        draw(layer, scheme, setting.seed_for("seed", "formulas", scheme))
        measured = float(layer.weight.detach().var())
        found.append(
            (name, formula, measured, variance, allowed, n_in * measured, n_out * measured)
        )
    return found


def _signal(
    setting: Setting, draw: Draw, scheme: str, name: str, activation: str, width: int, nets: int
) -> Signal:
    """The geometric mean over several networks; theory's line is that of the scheme `name`."""
    import torch
    from torch import nn

    rows = setting.pick(glance=32, quick=64, full=128)
    function = {"tanh": torch.tanh, "relu": torch.relu}[activation]
    logs = np.zeros((2, DEPTH))
    for k in range(nets):
        layers = nn.Sequential(*(nn.Linear(width, width) for _ in range(DEPTH))).double()
        draw(layers, scheme, setting.seed_for("seed", activation, name, k))
        rng = setting.rng("inputs", activation, name, k)
        h = torch.as_tensor(rng.standard_normal((rows, width))).requires_grad_()
        outputs = []
        for layer in layers:
            h = function(layer(h))
            h.retain_grad()
            outputs.append(h)
        h.backward(torch.as_tensor(rng.standard_normal((rows, width))))
        logs[0] += [math.log(_moment(each)) / nets for each in outputs]
        logs[1] += [math.log(_moment(each.grad)) / nets for each in outputs]
    variance = {"lecun": 1 / width, "he": 2 / width, SMALL: 0.01**2, LARGE: 0.2**2}[name]
    forward, backward = np.exp(logs)
    return Signal(forward, backward, *_theory(activation, width * variance))


def _theory(activation: str, gain: float) -> tuple[np.ndarray, np.ndarray]:
    """Second moments of activations and gradients with nσ² = `gain`, by quadrature."""
    forward, slopes, moment = [], [], 1.0
    for _ in range(DEPTH):
        root = math.sqrt(gain * moment)
        if activation == "relu":  # exact: quadrature does not see the kink
            moment, slope = gain * moment / 2, 0.5
        else:
            value = np.tanh(root * NODES)
            moment, slope = _mean(value**2), _mean((1 - value**2) ** 2)
        forward.append(moment)
        slopes.append(gain * slope)
    # The gradient at the output of layer k has passed back through the layers after it.
    passed = np.cumprod(np.array([1.0, *slopes[:0:-1]]))[::-1]
    return np.array(forward), passed


def _mean(values: np.ndarray) -> float:
    """E over z ~ N(0, 1), of values at the nodes."""
    return float(values @ WEIGHTS / WEIGHTS.sum())


def _checks_of_signals(
    signals: dict[tuple[str, str], Signal], width: int, nets: int
) -> list[Check]:
    rms = {
        key: (math.sqrt(each.forward[-1]), math.sqrt(each.backward[0]))
        for key, each in signals.items()
    }
    halving = {
        key: [math.exp(math.log(side[-1] / side[0]) / (DEPTH - 1)) for side in sides]
        for key, sides in (
            (scheme, (signals["relu", scheme].forward, signals["relu", scheme].backward[::-1]))
            for scheme in ("lecun", "he")
        )
    }
    room = ALLOWED * math.sqrt(SCATTER / (width * nets * DEPTH)) + SCATTER / (2 * width)
    off = _off(signals, width, nets)
    return [
        Check(
            "ReLU with He: second moments keep their size, forward and backward",
            all(abs(math.log(factor)) <= room for factor in halving["he"]),
            _factors(halving["he"], 1.0, room),
        ),
        Check(
            "ReLU with LeCun: second moments halve in every layer",
            all(abs(math.log(2 * factor)) <= room for factor in halving["lecun"]),
            _factors(halving["lecun"], 0.5, room),
        ),
        Check(
            "tanh with LeCun, which is Xavier on square layers: neither vanishes nor explodes",
            all(1 / KEPT <= side <= KEPT for side in rms["tanh", "lecun"]),
            _sides(rms["tanh", "lecun"]),
        ),
        Check(
            "small weights: activations and gradients vanish, with tanh and ReLU",
            all(side < 1 / LOST for name in ("tanh", "relu") for side in rms[name, SMALL]),
            "; ".join(f"{name} {_sides(rms[name, SMALL])}" for name in ("tanh", "relu")),
        ),
        Check(
            "large weights: gradients explode, with tanh and ReLU",
            all(rms[name, LARGE][1] > LOST for name in ("tanh", "relu")),
            "; ".join(f"{name} {_sides(rms[name, LARGE])}" for name in ("tanh", "relu"))
            + "; outputs of tanh saturate instead",
        ),
        Check(
            "every layer follows theory's line, in all sixteen lines", off <= 1.0,
            f"at most {off:.2f} of what scatter by width allows, 5√(7k/nN) + 7k/2n of the "
            f"logarithm after k layers of n = {width} units, N = {nets} networks",
        ),
    ]  # fmt: skip


def _off(signals: dict[tuple[str, str], Signal], width: int, nets: int) -> float:
    """The largest distance of a logarithm from theory's, by what is allowed at its depth."""
    k = np.arange(1, DEPTH + 1)
    allowed = ALLOWED * np.sqrt(SCATTER * k / (width * nets)) + SCATTER * k / (2 * width)
    worst = 0.0
    for each in signals.values():
        forward = np.abs(np.log(each.forward / each.forward_theory)) / allowed
        # What comes back to the first layer has passed all of them, in both directions.
        backward = np.abs(np.log(each.backward / each.backward_theory)) / allowed[-1]
        worst = max(worst, forward.max(), backward.max())
    return worst


class Losses(NamedTuple):
    """Mean training loss after every epoch, by activation, scheme and rate, over seeds."""

    depth: int
    runs: dict[tuple[str, str, float], np.ndarray]  # float[epochs + 1]

    def best(self, activation: str, scheme: str) -> tuple[float, np.ndarray]:
        """The rate with the lowest last loss, and its course."""
        these = {
            rate: course
            for (name, kind, rate), course in self.runs.items()
            if (name, kind) == (activation, scheme)
        }
        rate = min(these, key=lambda each: float(np.nan_to_num(these[each][-1], nan=np.inf)))
        return rate, these[rate]


def _training(setting: Setting, draw: Draw, he: str) -> Losses:
    """A deep network on digits, by He and by Xavier, with several rates."""
    import torch
    from torch import nn

    table = tw.read("@digits")
    X = torch.as_tensor(tw.scaling.ZScore().fit_transform(table.X), dtype=torch.float32)
    data = X, torch.as_tensor(table.y)
    depth, width = 20, 64
    epochs = setting.pick(glance=3, quick=6, full=15)
    seeds = setting.pick(glance=1, quick=2, full=5)
    rates = setting.pick(glance=RATES[1:2], quick=RATES, full=(0.001, *RATES, 0.1))
    kinds: list[tuple[str, Callable[[], nn.Module], tuple[float, ...]]] = [("relu", nn.ReLU, rates)]
    if setting.budget != "glance":
        kinds.append(("tanh", nn.Tanh, rates if setting.is_full else RATES[1:2]))
    runs = {}
    for name, activation, tried in kinds:
        for label, scheme in (("xavier", "xavier"), ("he", he)):
            for rate in tried:
                setting.tell(f"{name}, {label}, rate {rate:g}")
                fit = partial(_fit, data, draw, activation, scheme, rate, depth, width, epochs)
                courses = [fit(setting.seed_for("seed", "training", k)) for k in range(seeds)]
                runs[name, label, rate] = np.mean(courses, axis=0)
    return Losses(depth, runs)


def _fit(
    data: tuple,
    draw: Draw,
    activation: Callable[[], nn.Module],
    scheme: str,
    rate: float,
    depth: int,
    width: int,
    epochs: int,
    seed: int,
) -> np.ndarray:
    """Training loss after each epoch; NaN from where it diverged."""
    from torch import nn

    sizes = [64, *[width] * (depth - 1)]
    hidden = [part for n, m in pairwise(sizes) for part in (nn.Linear(n, m), activation())]
    model = nn.Sequential(*hidden, nn.Linear(width, 10))
    draw(model, scheme, seed)
    run = tw.nets.fit(
        model, data, f"sgd[lr={rate}, momentum=0.9]", epochs=epochs, batch_size=100,
        seed=seed, progress=False,
    )  # fmt: skip
    course = np.full(epochs + 1, np.nan)
    losses = run.trace["training_loss"]
    course[: len(losses)] = losses
    return course


def _checks_of_training(losses: Losses) -> list[Check]:
    (he_rate, he), (xavier_rate, xavier) = (
        losses.best("relu", scheme) for scheme in ("he", "xavier")
    )
    begun = math.log(10)  # a network that knows nothing of ten classes
    checks = [
        Check(
            f"{losses.depth} layers of ReLUs learn faster with He than with Xavier",
            # Half of what there is to gain: far more than seeds make of it.
            begun - he[-1] > 2 * max(begun - xavier[-1], 0.0) and he[-1] < 0.8 * begun,
            f"training loss {he[-1]:.2f} (rate {he_rate:g}) beside {xavier[-1]:.2f} (rate "
            f"{xavier_rate:g}) after {len(he) - 1} epochs, each with its best rate, from "
            f"{begun:.2f}",
        )
    ]
    if any(name == "tanh" for name, _, _ in losses.runs):
        (_, he), (_, xavier) = (losses.best("tanh", scheme) for scheme in ("he", "xavier"))
        checks.append(
            Check(
                "with tanh Xavier is no slower than He", xavier[-1] <= he[-1],
                f"training loss {xavier[-1]:.2f} with Xavier, {he[-1]:.2f} with He: at this depth "
                "a tanh network bears both, and a larger variance means larger gradients",
                NOTED,
            )
        )  # fmt: skip
    return checks


def _table_of_formulas(rows: list) -> Sheet:
    return Sheet(
        "Variances on a layer of 400 inputs and 100 outputs, and what a linear layer makes of them",
        ("scheme", "formula", "measured", "predicted", "factor forward", "factor backward"),
        tuple((*row[:4], *row[5:]) for row in rows),
    )


def _table_of_signals(signals: dict[tuple[str, str], Signal]) -> Sheet:
    rows: list[tuple[str | float, ...]] = []
    for (name, scheme), each in signals.items():
        sides = each.forward[-1], each.forward_theory[-1], each.backward[0], each.backward_theory[0]
        rows.append((f"{_written(name)}, {NAMES[scheme]}", *(math.sqrt(side) for side in sides)))
    return Sheet(
        f"Root mean squares after {DEPTH} layers: activations at the end, gradients at the start",
        ("network", "activations", "theory", "gradients", "theory "),
        tuple(rows),
    )


def _figure_of_signals(signals: dict[tuple[str, str], Signal]) -> Figure:
    k = np.arange(1, DEPTH + 1)
    panels = []
    for side, what in (("forward", "activations"), ("backward", "gradients")):
        for name in ("tanh", "relu"):
            marks = []
            for hue, scheme in enumerate(NAMES, 1):
                each = signals[name, scheme]
                measured = np.sqrt(getattr(each, side))
                theory = np.sqrt(getattr(each, f"{side}_theory"))
                marks.append(curve(NAMES[scheme], k, measured, hue))
                last = scheme == LARGE
                marks.append(curve("theory" if last else "", k, theory, 0, theory=True))
            title = f"{_written(name)}, {what}"
            # One range for all, in which what matters is seen: small weights leave it soon.
            up = Axis("root mean square", "log", low=1e-8, high=1e8)
            panels.append(panel("layer", up, marks, title=title))
    ends = {
        key: (math.sqrt(each.forward[-1]), math.sqrt(each.backward[0]))
        for key, each in signals.items()
    }
    return figure(
        f"Signals through {DEPTH} layers",
        panels,
        f"With ReLU and He's variance activations end at {ends['relu', 'he'][0]:.2g} and gradients "
        f"at {ends['relu', 'he'][1]:.2g}; with LeCun's at {ends['relu', 'lecun'][0]:.1e} and "
        f"{ends['relu', 'lecun'][1]:.1e}. With tanh and LeCun's variance they end at "
        f"{ends['tanh', 'lecun'][0]:.2g} and {ends['tanh', 'lecun'][1]:.2g}. Small weights end "
        f"below {max(ends['tanh', SMALL]):.1e}; with large ones gradients reach "
        f"{ends['relu', LARGE][1]:.1e} (ReLU) and {ends['tanh', LARGE][1]:.1e} (tanh).",
        columns=2,
    )


def _figure_of_training(losses: Losses) -> Figure:
    marks, said = [], []
    for hue, scheme in ((1, "xavier"), (3, "he")):
        rate, course = losses.best("relu", scheme)
        name = {"xavier": "Xavier", "he": "He"}[scheme]
        marks.append(
            curve(f"{name}, rate {rate:g}", np.arange(len(course)), course, hue, dots=True)
        )
        said.append(f"{name} {course[-1]:.2f}")
    return figure(
        f"Training {losses.depth} layers of ReLUs",
        panel("epoch", "training loss", marks),
        f"Training loss at the end, each with its best rate: {', '.join(said)}; a network that "
        f"knows nothing has {math.log(10):.2f}.",
    )


def _moment(tensor: object) -> float:
    """Mean square, at least the smallest number: a logarithm follows."""
    return max(float(tensor.detach().square().mean()), 1e-300)  # type: ignore[attr-defined]


def _sides(pair: tuple[float, float]) -> str:
    return f"activations {pair[0]:.2g}, gradients {pair[1]:.2g}"


def _factors(pair: list[float], wanted: float, room: float) -> str:
    return (
        f"a factor of {pair[0]:.3f} a layer forward, {pair[1]:.3f} backward; {wanted:g} predicted, "
        f"within {room:.1%} allowed"
    )


def _written(activation: str) -> str:
    return {"tanh": "tanh", "relu": "ReLU"}[activation]


LAB = Lab(
    name="init-schemes",
    claim="Weights of variance 1/n_in (LeCun; Xavier in lecture C), 2/(n_in + n_out) (Xavier) or, "
    "for ReLU, 2/n_in (He) keep signals and gradients at their size through many layers, and He "
    "learns faster with ReLU; larger weights explode, smaller ones vanish.",
    formula="LeCun 1/n_in    Xavier 2/(n_in + n_out)    He 2/n_in",
    places=(
        "A, Initialization",
        "C, Parameter Initialization",
        "C, Xavier Initialization",
        "C, He Normal Initialization",
    ),
    expected=Ruling.HOLDS,
    experiment=experiment,
    breaks=(
        Break("factor", "He without its factor of two", {"he": "lecun"}),
        Break("fans", "n_in and n_out taken the wrong way round", {"draw": turned}),
    ),
    fails_if="a variance more than five standard errors from its formula; a ReLU network with He "
    "whose second moments change by a factor a layer other than 1 beyond scatter by width; small "
    "weights that keep 1/1000 of a signal through 50 layers, or large ones whose gradients grow "
    "less than 1000-fold; deep ReLU networks that Xavier trains as fast as He",
    code="""\
import thalweg as tw
import torch

for scheme in ("lecun", "he"):
    layers = [torch.nn.Linear(256, 256) for _ in range(50)]
    tw.nets.initialize(torch.nn.Sequential(*layers), scheme, seed=0)
    h = torch.randn(64, 256, generator=torch.Generator().manual_seed(0))
    for layer in layers:
        h = torch.relu(layer(h))
    rms = h.square().mean().sqrt().item()
    print(f"{scheme}: {rms:.1e} after 50 layers of ReLUs")
    assert (rms > 0.03) == (scheme == "he")
""",
    seconds=10.0,
    needs_torch=True,
    remark="Lecture C says that the sweet spot of the scale is found by trial and error. For wide "
    "layers it is known beforehand: where theory's factor is one, 2/n_in for ReLU. With tanh and "
    "1/n_in activations do shrink, like 1/√(2k) at layer k: slowly enough to be kept. That weights "
    "of this size reach a global minimum is not tried here, only that they learn faster.",
)
