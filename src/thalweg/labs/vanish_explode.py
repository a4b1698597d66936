"""Gradients explode or vanish with depth; the output cannot do what is said.

A chain of n linear layers that share W = diag(a, b) turns x = (1, 1) into

    h = Wⁿx = (aⁿ, bⁿ),    ∂h₁/∂a = n·aⁿ⁻¹,    ∂h₂/∂b = n·bⁿ⁻¹

With a = 1, b = 2 that is (n, n·2ⁿ⁻¹): it explodes. With a = 0.5, b = 0.9 it is (n·0.5ⁿ⁻¹,
n·0.9ⁿ⁻¹): it vanishes, and from the depth on at which wⁿ⁻¹ is at most half of the smallest number
that the precision knows, 2⁻¹⁴⁹ in single and 2⁻¹⁰⁷⁴ in double, it is zero.

The slide also says y → 1 in the first case and y → 0 in the second. The chain's own output is
(1, 2ⁿ) in the first: that has no limit. For y → 1 something must squash it, and then its slope is
that of the squashing function far out, which falls exponentially while n·2ⁿ⁻¹ only doubles:

    y = s(h₁ + h₂),    ∂y/∂b = s′(1 + 2ⁿ)·n·2ⁿ⁻¹ → 0

So with y → 1 the gradient vanishes in the first case too. In the second case y → s(0), which is ½
for the sigmoid and 0 for tanh. No output does all four things.

In a network whose layers multiply the size of what passes through them by s on average, going up
and coming back, the gradient of every weight matrix has s once for each other layer: sⁿ⁻¹. For
ReLU layers of m units, weights of variance 2s²/m do that; He's scheme is s = 1.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

import thalweg as tw
from thalweg.labbook import (
    CORRECTED,
    WRITTEN,
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

CASES = {1: (1.0, 2.0), 2: (0.5, 0.9)}  # a, b
FAR = 200  # layers: where a limit is read off
OUTPUTS = ("h itself", "sigmoid", "tanh", "relu")
FACTORS = (0.5, 1.0, 2.0)  # s of the networks
WIDTH, CLASSES = 64, 10

Chain = Callable[[int], Any]  # a number of layers to a chain


class Reading(NamedTuple):
    """What one kind of output gives in both cases, at `FAR` layers."""

    output: str
    y: dict[int, np.ndarray]
    gradient: dict[int, np.ndarray]  # of y, or of both entries of it, by a and by b

    def agrees(self) -> dict[str, bool]:
        """The four statements of the slide."""
        told = np.array([FAR, FAR * 2.0 ** (FAR - 1)])
        return {
            "y → 1": bool(np.all(np.abs(self.y[1] - 1.0) < 1e-3)),
            "∇y → (n, n·2ⁿ⁻¹)": bool(np.allclose(self.gradient[1], told, rtol=1e-6)),
            "y → 0": bool(np.all(np.abs(self.y[2]) < 1e-3)),
            "∇y → 0": bool(np.all(np.abs(self.gradient[2]) < 1e-3)),
        }


def chain(layers: int) -> Any:
    """The lecture's chain."""
    return tw.surfaces.LinearChain(layers)


def last_layer_only(layers: int) -> Any:
    """Wrong: a gradient that forgets that all layers share their weights."""
    true = tw.surfaces.LinearChain(layers)
    return SimpleNamespace(
        output=true.output, output_gradient=lambda w: true.output_gradient(w) / layers
    )


def experiment(setting: Setting, *, make: Chain = chain, batch_norm: bool = False) -> Findings:
    """The chain beside its formulas and automatic differentiation; then networks of many layers."""
    depths = range(1, setting.pick(glance=40, quick=100, full=400) + 1)
    gradients = {case: [make(n).output_gradient(np.array(w)) for n in depths]
                 for case, w in CASES.items()}  # fmt: skip
    readings = [_reading(output) for output in OUTPUTS]
    networks = _Networks(setting, batch_norm)
    checks = [
        *_about_chain(list(depths), gradients, make),
        *_about_outputs(readings),
        *networks.checks(),
    ]
    return Findings(
        checks,
        [_reading_table(readings), networks.table()],
        [_chain_figure(list(depths), gradients), networks.figure()],
        [networks.note],
    )


def _by_torch(output: str, w: tuple[float, float], layers: int, dtype: str) -> tuple[Any, Any]:
    """y and its gradient by automatic differentiation, layer by layer."""
    import torch

    kind = getattr(torch, dtype)
    weights = torch.tensor(w, dtype=kind, requires_grad=True)
    h = torch.ones(2, dtype=kind)
    for _ in range(layers):
        h = weights * h
    if output == OUTPUTS[0]:
        # ∂h₁/∂a and ∂h₂/∂b: the other two derivatives are zero.
        (slope,) = torch.autograd.grad(h.sum(), weights)
        return h.detach().numpy(), slope.numpy()
    y = {"sigmoid": torch.sigmoid, "tanh": torch.tanh, "relu": torch.relu}[output](h.sum())
    (slope,) = torch.autograd.grad(y, weights)
    return y.detach().numpy(), slope.numpy()


def _about_chain(
    depths: list[int], gradients: dict[int, list[np.ndarray]], make: Chain
) -> list[Check]:
    n = np.array(depths, dtype=float)
    told = {
        case: np.stack([n * w ** (n - 1) for w in pair], axis=1) for case, pair in CASES.items()
    }
    by_torch = {
        case: np.array([_by_torch(OUTPUTS[0], w, depth, "float64")[1] for depth in depths])
        for case, w in CASES.items()
    }
    off = max(np.max(np.abs(np.array(gradients[case]) / told[case] - 1.0)) for case in CASES)
    off_torch = max(np.max(np.abs(by_torch[case] / told[case] - 1.0)) for case in CASES)
    last = {case: make(FAR).output_gradient(np.array(w)) for case, w in CASES.items()}
    zero = {kind: _first_zero(make, kind) for kind in ("float32", "float64")}
    predicted = {
        kind: 2 - round(math.log2(float(np.finfo(kind).smallest_subnormal))) for kind in zero
    }
    return [
        Check(
            "the chain's gradient is (n·aⁿ⁻¹, n·bⁿ⁻¹) at every depth", max(off, off_torch) <= 1e-9,
            f"off by {off:.1g} at most over {len(depths)} depths; automatic differentiation by "
            f"{off_torch:.1g}",
        ),
        Check(
            "case 1, (n, n·2ⁿ⁻¹): it explodes", last[1][1] >= 1e50,
            f"({last[1][0]:.3g}, {last[1][1]:.2g}) at n = {FAR}",
        ),
        Check(
            # n·0.9ⁿ⁻¹ rises to 3.9 at n = 10, near 1/ln(1/0.9), and falls from there.
            "case 2: it vanishes", bool(np.all(last[2] < 1e-6)),
            f"({last[2][0]:.2g}, {last[2][1]:.2g}) at n = {FAR}, after a largest "
            f"{max(pair[1] for pair in gradients[2]):.2f} at n = 10",
        ),
        Check(
            "below the precision it is zero", zero == predicted,
            f"n·0.5ⁿ⁻¹ from n = {zero['float32']} on in single, {zero['float64']} in double "
            f"precision; {predicted['float32']} and {predicted['float64']} predicted",
        ),
    ]  # fmt: skip


def _first_zero(make: Chain, kind: str) -> int:
    w = np.array(CASES[2], dtype=kind)
    low, high = 1, 4_096
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if make(middle).output_gradient(w)[0] == 0 else (middle + 1, high)
    return low


def _reading(output: str) -> Reading:
    found = {case: _by_torch(output, w, FAR, "float64") for case, w in CASES.items()}
    return Reading(
        output,
        {case: pair[0] for case, pair in found.items()},
        {case: pair[1] for case, pair in found.items()},
    )


def _about_outputs(readings: list[Reading]) -> list[Check]:
    agreed = {each.output: each.agrees() for each in readings}
    most = max(agreed, key=lambda output: sum(agreed[output].values()))
    own, sigmoid, tanh = readings[0], readings[1], readings[2]
    squashed = (sigmoid, tanh)
    return [
        Check(
            "some output has y → 1 with gradient (n, n·2ⁿ⁻¹) in case 1, and y → 0 with gradient 0 "
            "in case 2", any(all(told.values()) for told in agreed.values()),
            f"of four outputs none; {most} fails at "
            + ", ".join(name for name, agrees in agreed[most].items() if not agrees), WRITTEN,
        ),
        Check(
            "the chain's own output is (1, 2ⁿ) in case 1 and goes to (0, 0) in case 2",
            np.allclose(own.y[1], [1.0, 2.0**FAR]) and bool(np.all(own.y[2] < 1e-3)),
            f"({own.y[1][0]:g}, {own.y[1][1]:.2g}) and ({own.y[2][0]:.1g}, {own.y[2][1]:.1g}) at "
            f"n = {FAR}", CORRECTED,
        ),
        Check(
            "squashed, y → 1 in case 1, and then its gradient vanishes there",
            all(abs(each.y[1] - 1.0) < 1e-12 and np.all(each.gradient[1] < 1e-12)
                for each in squashed),
            ", ".join(f"{each.output}: y = {float(each.y[1]):.6g}, gradient "
                      f"{np.abs(each.gradient[1]).max():.1g}" for each in squashed), CORRECTED,
        ),
        Check(
            "in case 2 a sigmoid goes to ½, tanh to 0",
            abs(float(sigmoid.y[2]) - 0.5) < 1e-3 and abs(float(tanh.y[2])) < 1e-3,
            f"{float(sigmoid.y[2]):.4f} and {float(tanh.y[2]):.4f}", CORRECTED,
        ),
    ]  # fmt: skip


class _Networks:
    """ReLU networks whose layers multiply sizes by s, for some s and depths."""

    def __init__(self, setting: Setting, batch_norm: bool) -> None:
        self.setting, self.batch_norm = setting, batch_norm
        self.depths = setting.pick(
            glance=(5, 10, 20, 30), quick=(5, 10, 20, 30, 40), full=(5, 10, 20, 40, 80)
        )
        self.draws = setting.pick(glance=3, quick=6, full=30)
        table = tw.read("@digits", dtype="float32")
        labels = np.asarray(table.y)
        kept = setting.rng("digits").permutation(len(labels))[:256]
        self.X, self.y = tw.scaling.ZScore().fit_transform(np.asarray(table.X)[kept]), labels[kept]
        self.norms = {s: [self._norm(s, depth) for depth in self.depths] for s in FACTORS}
        self.rates = {
            s: math.exp(np.polyfit(self.depths, np.log(norms), 1)[0])
            for s, norms in self.norms.items()
        }
        self.by_layer = {s: self._by_layer(s, self.depths[-1]) for s in FACTORS}
        self.trained = {s: self._train(s) for s in FACTORS}
        self.note = (
            f"networks: digits, {len(self.y)} rows, layers of {WIDTH} ReLU units, weights of "
            f"variance 2s²/{WIDTH}, cross-entropy; geometric means over {self.draws} draws"
        )

    def _model(self, s: float, depth: int, draw: int, dtype: str = "float64") -> Any:
        import torch

        parts: list[Any] = []
        sizes = [self.X.shape[1], *[WIDTH] * (depth - 1), CLASSES]
        for k, (n_in, n_out) in enumerate(itertools.pairwise(sizes)):
            parts.append(torch.nn.Linear(n_in, n_out, bias=False))
            if k < depth - 1:
                parts += [tw.nets.BatchNorm(n_out)] if self.batch_norm else []
                parts.append(torch.nn.ReLU())
        model = torch.nn.Sequential(*parts).to(getattr(torch, dtype))
        sigma = s * math.sqrt(2.0 / WIDTH)
        seed = 1_000 * self.setting.seed + draw
        tw.nets.initialize(model, f"normal[sigma={sigma}]", seed=seed)
        return model

    def _data(self, dtype: str) -> tuple[Any, Any]:
        import torch

        return torch.tensor(self.X, dtype=getattr(torch, dtype)), torch.tensor(self.y)

    def _norm(self, s: float, depth: int) -> float:
        """‖∇f‖ of all weights, the geometric mean over draws."""
        logs = []
        for draw in range(self.draws):
            f = tw.nets.objective(self._model(s, depth, draw), self._data("float64"), mode="train")
            logs.append(math.log(np.linalg.norm(f.gradient(f.start))))
        return math.exp(float(np.mean(logs)))

    def _by_layer(self, s: float, depth: int) -> np.ndarray:
        """‖∂f/∂h‖ at the output of every linear layer, the geometric mean over draws."""
        import torch

        logs = []
        x, y = self._data("float64")
        for draw in range(self.draws):
            h, outputs = x, []
            for part in self._model(s, depth, draw):
                h = part(h)
                if isinstance(part, torch.nn.Linear):
                    outputs.append(h)
            loss = torch.nn.functional.cross_entropy(h, y)
            logs.append([math.log(float(g.norm())) for g in torch.autograd.grad(loss, outputs)])
        return np.exp(np.mean(logs, axis=0))

    def _train(self, s: float) -> Any:
        model = self._model(s, 30, 0, "float32")
        epochs = self.setting.pick(glance=8, quick=20, full=100)
        return tw.nets.fit(
            model, self._data("float32"), "sgd[lr=0.01]", epochs=epochs, batch_size=32,
            seed=self.setting.seed, progress=False,
        )  # fmt: skip

    def _zeros(self) -> dict[str, float]:
        """The share of weights whose gradient is exactly zero, 250 layers deep with s = 0.5."""
        found = {}
        for dtype in ("float32", "float64"):
            f = tw.nets.objective(self._model(0.5, 250, 0, dtype), self._data(dtype), mode="train")
            first = f.gradient(f.start)[: WIDTH * self.X.shape[1]]
            found[dtype] = float(np.mean(first == 0.0))
        return found

    def checks(self) -> list[Check]:
        """The rate with depth, exact zeros, and what training makes of it."""
        off = max(abs(self.rates[s] / s - 1.0) for s in FACTORS)
        zeros = self._zeros()
        ends = {s: _losses(run) for s, run in self.trained.items()}
        exploded = self.trained[2.0]
        blew = exploded.outcome is tw.Outcome.DIVERGED or not ends[2.0][1] < ends[2.0][0]
        return [
            Check(
                # Layers of 64 units differ from the mean; over these depths and draws the rate
                # is within 0.05 of s with room to spare.
                "in a deep network the gradient grows or falls by s a layer",
                off <= 0.15,
                ", ".join(f"{self.rates[s]:.3f} for s = {s:g}" for s in FACTORS),
            ),
            Check(
                "250 layers deep with s = 0.5, single precision has a gradient of zero",
                zeros["float32"] == 1.0 and zeros["float64"] < 1.0,
                f"{zeros['float32']:.0%} of the first layer's entries are zero, "
                f"{zeros['float64']:.0%} in double precision",
            ),
            Check(
                "30 layers deep a network learns with s = 1, not with 0.5, and diverges with 2",
                abs(ends[0.5][1] / ends[0.5][0] - 1.0) < 0.01
                and ends[1.0][1] < 0.95 * ends[1.0][0] and blew,
                f"loss from {ends[0.5][0]:.3f} to {ends[0.5][1]:.3f} with s = 0.5, from "
                f"{ends[1.0][0]:.2f} to {ends[1.0][1]:.2f} with s = 1; s = 2: "
                f"{exploded.outcome.word.lower()}",
            ),
        ]  # fmt: skip

    def table(self) -> Sheet:
        rows = tuple(
            (depth, *(self.norms[s][k] for s in FACTORS)) for k, depth in enumerate(self.depths)
        )
        return Sheet(
            "Gradient norm of a ReLU network against its depth",
            ("layers", *(f"s = {s:g}" for s in FACTORS)), rows,
        )  # fmt: skip

    def figure(self) -> Figure:
        """Against depth, and layer by layer."""
        hues = (1, 0, 2)
        deep, layers = [], []
        for hue, s in zip(hues, FACTORS, strict=True):
            depths = np.array(self.depths)
            deep.append(curve(f"s = {s:g}", depths, self.norms[s], hue, dots=True))
            deep.append(curve("", depths, self.norms[s][0] * s ** (depths - depths[0]), hue,
                              theory=True))  # fmt: skip
            signals = self.by_layer[s]
            k = np.arange(1, len(signals) + 1)
            layers.append(curve("", k, signals, hue))
            layers.append(curve("", k, signals[-1] * s ** (len(signals) - k), hue, theory=True))
        rates = ", ".join(f"{self.rates[s]:.2f} for s = {s:g}" for s in FACTORS)
        return figure(
            "A real network, deep",
            [
                panel("layers", "‖∇f‖ of all weights", deep, log="y", title="against depth"),
                panel("layer", "‖∂f/∂h‖ of its output", layers, log="y",
                      title=f"{self.depths[-1]} layers"),
            ],
            f"The gradient changes by a factor a layer of {rates}.",
            "broken: s to the number of layers between",
            columns=2,
        )  # fmt: skip


def _losses(run: Any) -> tuple[float, float]:
    """The first and the last training loss."""
    values = run.trace["value"]
    return float(values[0]), float(values[-1])


def _reading_table(readings: list[Reading]) -> Sheet:
    rows = tuple(
        (
            each.output, _pair(each.y[1]), _pair(each.gradient[1]), _pair(each.y[2]),
            _pair(each.gradient[2]), f"{sum(each.agrees().values())} of 4",
        )
        for each in readings
    )  # fmt: skip
    return Sheet(
        f"What the output is, {FAR} layers deep",
        ("output", "case 1: y", "gradient", "case 2: y", "gradient ", "as on the slide"), rows,
    )  # fmt: skip


def _pair(numbers: np.ndarray) -> str:
    return ", ".join(f"{x:.3g}" for x in np.atleast_1d(numbers))


def _chain_figure(depths: list[int], gradients: dict[int, list[np.ndarray]]) -> Figure:
    n = np.array(depths, dtype=float)
    drawn = []
    for hue, (case, k) in enumerate(((1, 1), (1, 0), (2, 1), (2, 0))):
        w = CASES[case][k]
        drawn.append(curve(f"weight {w:g}", n, [pair[k] for pair in gradients[case]], hue))
        drawn.append(curve("", n, n * w ** (n - 1), 5, theory=True))
    return figure(
        "The chain's gradient against its depth",
        panel("n, layers", "∂h/∂w", drawn, log="y"),
        f"At n = {depths[-1]}: "
        + ", ".join(
            f"{gradients[case][-1][k]:.2g} for the weight {CASES[case][k]:g}"
            for case in CASES
            for k in (0, 1)
        )
        + ".",
        "broken: n·wⁿ⁻¹",
    )


LAB = Lab(
    name="vanish-explode",
    claim="In a chain of n layers with W = diag(a, b), a = 1 and b = 2 give y → 1 and a gradient "
    "of (n, n·2ⁿ⁻¹), which explodes; a = 0.5 and b = 0.9 give y → 0 and a gradient that vanishes.",
    formula="h = Wⁿx = (aⁿx₁, bⁿx₂)\n∂h/∂(a, b) = (n·aⁿ⁻¹, n·bⁿ⁻¹)",
    places=("C, Vanishing/Exploding Gradients",),
    expected=Ruling.FAILS_AS_WRITTEN,
    correction="The gradients are right for the linear chain, whose output is (1, 2ⁿ) in case 1 "
    "and goes to 0 in case 2. For y → 1 the output must be squashed: then its gradient vanishes in "
    "case 1 as well, and in case 2 a sigmoid gives ½.",
    experiment=experiment,
    breaks=(
        Break("unshared", "a gradient of the last layer alone", {"make": last_layer_only}),
        Break("batch-norm", "networks with batch normalization", {"batch_norm": True}),
    ),
    fails_if="an output for which all four statements of the slide hold; a depth at which the "
    "chain's gradient is not n·wⁿ⁻¹ to nine digits; a network whose gradient changes by a "
    "factor a layer that is more than 15 % off s",
    code="""\
import numpy as np
import thalweg as tw

for n in (10, 50, 160):
    chain = tw.surfaces.LinearChain(n)
    for w in ([1.0, 2.0], [0.5, 0.9]):
        w = np.array(w, dtype=np.float32)
        print(n, w, "h =", chain.output(w), "gradient", chain.output_gradient(w))
h = tw.surfaces.LinearChain(6).output(np.array([1.0, 2.0]))
slope = np.cosh(h.sum()) ** -2.0 * tw.surfaces.LinearChain(6).output_gradient(np.array([1.0, 2.0]))
print("tanh of the sum:", np.tanh(h.sum()), "with gradient", slope)
assert chain.output_gradient(w)[0] == 0.0 and slope.max() < 1e-9
""",
    seconds=4.6,
    needs_torch=True,
    remark="With tanh as the output both limits of y are those of the slide, 1 and 0; what fails "
    "then is the exploding gradient of case 1.",
)
