"""A sum of n_in terms has n_in times their variance.

A unit sums o = Σᵢ wᵢxᵢ over n_in inputs. The weights have mean 0 and variance σ², the inputs mean 0
and variance γ², and all are independent. Then E[wᵢxᵢ] = E[wᵢ]E[xᵢ] = 0, products of different terms
have mean 0, and

    E[o] = 0,   V[o] = Σᵢ E[wᵢ²] E[xᵢ²] = n_in σ² γ²

What counts of the inputs is E[x²]: it is γ² only because E[x] = 0. After a ReLU the mean is not
zero, and V[o] = n_in σ² E[x²] is what the next layer has.

Layer after layer this multiplies: k linear layers of n units end with

    V[o⁽ᵏ⁾] = γ² (n σ²)ᵏ

which with weights from N(0, 1) blows up by n a layer. It stays where n_in σ² = 1. In a convolution
n_in counts the terms of the sum: channels of the group times kernel elements, and in a transposed
convolution of stride s only the share 1/s of them along each axis, since the others meet no input.

How far a measured variance may be off is known as well. For inputs that are given, with J units
of normal weights and C the inputs' second moments, (1/J) Σⱼ oⱼ² has the mean σ² tr C and

    relative deviation  √(2 tr(C²) / J) / tr C  ≤  √(2/J)

It is small while inputs point in many directions, and grows with depth, as they align.
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

# Deviations that a measured number may be off by chance: about one run in 10⁴ for all numbers here.
ALLOWED = 5.0
SIGMAS = (0.01, 0.1, 1.0)
UNITS = 256  # J, of the single layers
GAINS = (0.5, 1.0, 2.0)  # nσ² of the deep networks

Draw = Callable[["nn.Module", str, int], None]


class Sum(NamedTuple):
    """The outputs of one layer, beside the prediction."""

    what: str
    n_in: float
    sigma: float
    gamma: float
    mean: float  # of o, in standard errors
    variance: float  # of o
    predicted: float  # n_in σ² γ²
    error: float  # relative standard error of the variance


class Course(NamedTuple):
    """Second moments layer by layer."""

    gain: float  # nσ²
    measured: np.ndarray  # of the sums
    inputs: np.ndarray  # of what goes in
    errors: np.ndarray  # relative standard error that each layer adds
    first: float  # that of the inputs

    @property
    def predicted(self) -> np.ndarray:
        """(nσ²)ᵏ, for γ = 1 and linear layers."""
        return self.gain ** np.arange(1.0, len(self.measured) + 1)

    @property
    def error(self) -> np.ndarray:
        """Relative standard error after k linear layers."""
        return np.sqrt(self.first**2 + np.cumsum(self.errors**2))


def drawn(model: nn.Module, scheme: str, seed: int) -> None:
    """The weights as Thalweg draws them."""
    tw.nets.initialize(model, scheme, seed=seed)


def narrow(model: nn.Module, scheme: str, seed: int) -> None:
    """Uniform weights from ±σ: their variance is σ²/3."""
    tw.nets.initialize(model, scheme, seed=seed, distribution="uniform")
    for parameter in model.parameters():
        parameter.data /= 3**0.5


def by_shape(model: nn.Module, scheme: str, seed: int) -> None:
    """Fans read off the shape of the weight, [out, in, …], also where they lie otherwise."""
    import torch

    tw.nets.initialize(model, scheme, seed=seed)
    if scheme == "lecun":
        generator = torch.Generator().manual_seed(seed)
        for weight in (p for p in model.parameters() if p.ndim > 1):
            torch.nn.init.kaiming_normal_(weight, nonlinearity="linear", generator=generator)


def experiment(setting: Setting, *, draw: Draw = drawn) -> Findings:
    """Mean and variance of sums, in single layers, in convolutions and through deep networks."""
    sums = _single_layers(setting, draw)
    kinds = _kinds(setting, draw)
    layers = setting.pick(glance=8, quick=12, full=20)
    width = setting.pick(glance=128, quick=512, full=1024)
    depth = [_through(setting, draw, layers, width, gain) for gain in (*GAINS, float(width))]
    kept = {
        name: _through(setting, draw, layers, width, 1.5, name)
        for name in ("linear", "tanh", "ReLU")
    }
    checks = [
        *_checks_of_sums(sums),
        Check(
            "V[o] = V[x] with σ² = 1/n_in, whatever the layer",
            all(abs(each.variance / each.predicted - 1) <= ALLOWED * each.error for each in kinds),
            ", ".join(f"{each.what} {each.variance / each.predicted:.3f}" for each in kinds),
        ),
        *_check_of_depth(depth),
        _check_of_layers(kept),
    ]
    return Findings(
        checks,
        _tables(sums, kinds),
        [_figure(sums, depth[:-1])],
        [
            f"{len(sums)} layers of {UNITS} units; inputs are normal, uniform or of two values",
            "standard errors count the draws of both weights and inputs",
        ],
    )


def _single_layers(setting: Setting, draw: Draw) -> list[Sum]:
    """Linear layers of several n_in, σ and γ, with inputs of three distributions."""
    from torch import nn

    rows = setting.pick(glance=256, quick=1024, full=4096)
    counts = setting.pick(glance=(16, 128, 1024), quick=(16, 64, 256, 1024), full=(16, 128, 4096))
    # Fourth moment by γ⁴: it decides how well V[x] itself is met by so many draws.
    kinds: dict[str, tuple[Callable[[np.random.Generator, Any], np.ndarray], float]] = {
        "normal": (lambda rng, shape: rng.standard_normal(shape), 3.0),
        "uniform": (lambda rng, shape: rng.uniform(-(3**0.5), 3**0.5, shape), 1.8),
        "two values": (lambda rng, shape: rng.choice([-1.0, 1.0], shape), 1.0),
    }
    found = []
    for k, sigma in enumerate(SIGMAS):
        for n_in in counts:
            for gamma, (name, (draws, fourth)) in zip((0.5, 1.0, 3.0), kinds.items(), strict=True):
                rng = setting.rng("single", k, n_in, name)
                x = _tensor(gamma * draws(rng, (rows, n_in)))
                layer = nn.Linear(n_in, UNITS).double()
                draw(layer, f"normal[sigma={sigma}]", _seed(rng))
                o = layer(x).detach().numpy()
                error = np.sqrt(2 / UNITS * (1 / n_in + 1 / rows) + (fourth - 1) / (n_in * rows))
                spread = sigma * gamma * np.sqrt(n_in / (rows * UNITS))
                predicted = n_in * sigma**2 * gamma**2
                found.append(
                    Sum(name, n_in, sigma, gamma, o.mean() / spread, o.var(), predicted, error)
                )
    return found


def _kinds(setting: Setting, draw: Draw) -> list[Sum]:
    """σ² = 1/n_in in every kind of layer, by the fans that are counted for it."""
    from torch import nn

    rows = setting.pick(glance=48, quick=128, full=512)
    kinds: dict[str, Any] = {
        "linear": nn.Linear(144, 128),
        "conv 3 × 3": nn.Conv2d(16, 128, 3),
        "4 groups": nn.Conv2d(32, 128, 3, groups=4),
        "transposed": nn.ConvTranspose2d(8, 64, 4, stride=2),
    }
    found = []
    for k, (name, layer) in enumerate(kinds.items()):
        rng = setting.rng("kinds", k)
        draw(layer.double(), "lecun", _seed(rng))
        flat = isinstance(layer, nn.Linear)
        shape = (rows, 144) if flat else (rows, layer.in_channels, 8, 8)
        o = layer(_tensor(rng.standard_normal(shape))).detach()
        # At the border of a picture a transposed convolution sums fewer terms.
        inner = o[:, :, 3:-3, 3:-3] if isinstance(layer, nn.ConvTranspose2d) else o
        n_in = tw.nets.fans(layer).n_in
        # As for single layers; places of one picture count as one draw, which is on the safe side.
        units = inner.shape[1]
        error = np.sqrt(2 / units * (1 / n_in + 1 / rows) + 2 / (n_in * rows))
        spread = np.sqrt(1 / (rows * units))
        mean, variance = float(inner.mean()), float(inner.var())
        found.append(Sum(name, n_in, n_in**-0.5, 1.0, mean / spread, variance, 1.0, error))
    return found


def _through(
    setting: Setting, draw: Draw, layers: int, width: int, gain: float, activation: str = "linear"
) -> Course:
    """A batch through `layers` layers with nσ² = `gain`."""
    import torch
    from torch import nn

    rng = setting.rng("through", activation, int(1000 * gain))
    function = {"linear": lambda a: a, "tanh": torch.tanh, "ReLU": torch.relu}[activation]
    rows = setting.pick(glance=64, quick=256, full=512)
    x = _tensor(rng.standard_normal((rows, width)))
    outputs, inputs, errors = [], [], []
    for _ in range(layers):
        layer = nn.Linear(width, width).double()
        draw(layer, f"normal[sigma={(gain / width) ** 0.5!r}]", _seed(rng))
        inputs.append(float(x.square().mean()))
        # tr(C²)/(tr C)², by the rows' products.
        alike = float((x @ x.T).square().sum()) / float(x.square().sum()) ** 2
        errors.append((2 * alike / width) ** 0.5)
        o = layer(x).detach()
        outputs.append(float(o.square().mean()))
        x = function(o)
    first = (2 / (rows * width)) ** 0.5  # of the inputs themselves
    return Course(gain, np.array(outputs), np.array(inputs), np.array(errors), first)


def _checks_of_sums(sums: list[Sum]) -> list[Check]:
    off = [abs(each.variance / each.predicted - 1) / each.error for each in sums]
    ratios = [each.variance / each.predicted for each in sums]
    means = [abs(each.mean) for each in sums]
    return [
        Check(
            "E[o] = 0 in every layer", max(means) <= ALLOWED,
            f"at most {max(means):.1f} standard errors away, of {len(sums)} layers",
        ),
        Check(
            "V[o] = n_in σ² γ² for every n_in, σ, γ and distribution of the inputs",
            max(off) <= ALLOWED,
            f"measured/predicted from {min(ratios):.3f} to {max(ratios):.3f}, at most "
            f"{max(off):.1f} standard errors from 1",
        ),
    ]  # fmt: skip


def _check_of_depth(depth: list[Course]) -> list[Check]:
    """k layers multiply, and so the squares of their relative deviations add up."""
    off = [np.max(np.abs(np.log(each.measured / each.predicted)) / each.error) for each in depth]
    ends = [
        f"{each.measured[-1]:.3g} ({each.predicted[-1]:.3g}) with nσ² = {each.gain:g}"
        for each in depth
    ]
    k, largest = len(depth[0].measured), depth[-1]
    return [
        Check(
            "V[o⁽ᵏ⁾] = γ²(nσ²)ᵏ after each of k linear layers", max(off[:-1]) <= ALLOWED,
            f"{', '.join(ends[:-1])} after {k}, predicted in brackets; at most "
            f"{max(off[:-1]):.1f} standard errors off",
        ),
        Check(
            "weights from N(0, 1) blow the variance up by n a layer", off[-1] <= ALLOWED,
            f"{largest.measured[-1]:.2g} after {k} layers of {largest.gain:g}, "
            f"{largest.predicted[-1]:.2g} predicted",
        ),
    ]  # fmt: skip


def _check_of_layers(courses: dict[str, Course]) -> Check:
    ratios = {name: each.measured / (each.gain * each.inputs) for name, each in courses.items()}
    off = max(np.max(np.abs(ratios[name] - 1) / each.errors) for name, each in courses.items())
    return Check(
        "V[o] = nσ² E[x²] in each layer of linear, tanh and ReLU networks", off <= ALLOWED,
        ", ".join(f"{name} {r.min():.3f} to {r.max():.3f}" for name, r in ratios.items())
        + f" of it, at most {off:.1f} standard errors from 1",
    )  # fmt: skip


def _tables(sums: list[Sum], kinds: list[Sum]) -> list[Sheet]:
    shown = [each for each in sums if each.n_in in (sums[0].n_in, sums[-1].n_in)]
    heads = ("n_in", "σ", "γ", "inputs", "n_in σ² γ²", "V[o]", "ratio")
    rows = tuple(
        (int(s.n_in), s.sigma, s.gamma, s.what, s.predicted, s.variance, s.variance / s.predicted)
        for s in shown
    )
    layers = tuple((s.what, int(s.n_in), s.sigma**2, s.variance, s.mean) for s in kinds)
    return [
        Sheet("Variance of a sum, of the fewest and the most inputs", heads, rows),
        Sheet(
            "σ² = 1/n_in in four kinds of layers, V[x] = 1",
            ("layer", "n_in", "σ²", "V[o]", "mean of o, standard errors"),
            layers,
        ),
    ]


def _figure(sums: list[Sum], depth: list[Course]) -> Figure:
    layers = len(depth[0].measured)
    single, k = [], np.arange(1, layers + 1)
    for hue, sigma in enumerate(SIGMAS, 1):
        these = [each for each in sums if each.sigma == sigma and each.gamma == 1.0]
        n_in = [each.n_in for each in these]
        measured = [each.variance for each in these]
        single.append(curve(f"σ = {sigma:g}", n_in, measured, hue, dots=True))
        single.append(curve("", n_in, [s.predicted for s in these], 0, theory=True))
    deep = []
    for hue, each in enumerate(depth, 4):
        deep.append(curve(f"nσ² = {each.gain:g}", k, each.measured, hue, dots=True))
        name = "predicted" if each is depth[-1] else ""
        deep.append(curve(name, k, each.predicted, 0, theory=True))
    return figure(
        "Variance of sums, measured and predicted",
        [
            panel("n_in", "V[o], γ = 1", single, log="xy", title="One layer"),
            panel("layer k", "V[o]", deep, log="y", title="Linear layers"),
        ],
        f"The variance grows in proportion to n_in σ². Through {layers} linear layers it ends at "
        + ", ".join(f"{each.measured[-1]:.2g} with nσ² = {each.gain:g}" for each in depth)
        + ": only nσ² = 1 keeps it.",
        columns=2,
    )


def _tensor(values: np.ndarray) -> Tensor:
    import torch

    return torch.as_tensor(values)


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**31))


LAB = Lab(
    name="init-variance",
    claim="A sum of n_in products of independent weights of mean 0 and variance σ² with inputs of "
    "mean 0 and variance γ² has mean 0 and variance n_in σ² γ².",
    formula="E[o] = 0,   V[o] = n_in σ² γ²",
    places=("A, Initialization",),
    expected=Ruling.HOLDS,
    experiment=experiment,
    breaks=(
        Break("uniform", "uniform weights from ±σ, of variance σ²/3", {"draw": narrow}),
        Break("fans", "fans read off the shape of the weight", {"draw": by_shape}),
    ),
    fails_if="a layer whose V[o] is more than five standard errors away from n_in σ² γ², or whose "
    "mean is that far from 0; a layer of a deep network whose V[o] is that far from nσ² E[x²]",
    code="""\
import thalweg as tw
import torch

n_in, sigma, gamma = 300, 0.1, 2.0
layer = torch.nn.Linear(n_in, 500)
tw.nets.initialize(layer, f"normal[sigma={sigma}]", seed=0)
x = gamma * torch.randn(2000, n_in, generator=torch.Generator().manual_seed(0))
o = layer(x)
print(f"E[o] {o.mean():.4f}, V[o] {o.var():.3f}, predicted {n_in * sigma**2 * gamma**2:.3f}")
assert abs(o.var() / (n_in * sigma**2 * gamma**2) - 1) < 0.03
""",
    seconds=1.9,
    needs_torch=True,
    remark="What counts of the inputs is E[x²], which is their variance only where their mean is "
    "zero. After a ReLU it is not, and the same formula holds with E[x²] in the place of γ².",
)
