"""An l2 penalty makes weights decay, if the step is the plain one.

The gradient of λ‖w‖² is 2λw, so that a gradient step on the penalised loss first shrinks w and then
moves it as without a penalty:

    w⁺ = w − η(∇L(w) + 2λw) = (1 − 2ηλ)w − η∇L(w)

This holds for mini-batches too, step for step. It is a fact about the plain step. Heavy ball sums
the penalty's gradient up with the rest, m⁺ = βm + ∇L + 2λw, while decay beside the step does not.
Where both have come to rest,

    penalty:  ∇L + 2λw = 0        decay:  −2ηλw − η∇L/(1 − β) = 0,  so  ∇L + 2λ(1 − β)w = 0

decay with heavy ball is ridge regression of strength λ(1 − β). Adam divides the penalty's gradient
by its own root mean square. A weight that the data does not move has g = 2λw alone, and g/√(g²) is
±1: it is moved by η a step whatever λ and w are, and not by a share of itself. Decay beside the
step is then another method, AdamW's.

The decay is one only for 0 < 2ηλ < 1; between 1 and 2 the weights change sign as they shrink, above
2 they grow.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import thalweg as tw
from thalweg import rules
from thalweg.figures.styles import DASHED, Style
from thalweg.labbook import (
    CONDITION,
    NOTED,
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

STRENGTH = 0.02  # λ
MOMENTUM = 0.9  # β
# Rates at which each learns the digits; they decide how fast two runs part, not whether.
RATES = {
    "SGD": 0.2, "HeavyBall": 0.02, "Nesterov": 0.02, "AdaGrad": 0.02, "RMSProp": 0.002,
    "Adam": 0.005, "Nadam": 0.005,
}  # fmt: skip
SAME, OTHER = 1e-10, 1e-3  # of the way gone: rounding of some hundred steps, and far beyond it
BATCH = 64

Decayed = Callable[[str, Any, float], Any]


class Way(NamedTuple):
    """A training: weights after every step, and those of them that no data moves."""

    w: np.ndarray  # float64[steps + 1, weights]
    dead: np.ndarray  # of inputs that are always 0, float64[steps + 1, …]


class Pair(NamedTuple):
    """One optimizer, the penalty in the loss and decay beside the step."""

    penalty: Way
    decay: Way
    coupled: Way  # `weight_decay` of the optimizer

    @property
    def apart(self) -> np.ndarray:
        """The distance of the first two, of the longest way gone."""
        return _apart(self.penalty, self.decay)


def _apart(one: Way, other: Way) -> np.ndarray:
    gone = np.linalg.norm(one.w - one.w[0], axis=1).max()
    shared = min(len(one.w), len(other.w))
    return np.linalg.norm(one.w[:shared] - other.w[:shared], axis=1) / gone


def beside(name: str, model: Any, strength: float) -> Any:
    """The optimizer with (1 − 2ηλ)w beside its step."""
    make = getattr(tw.nets, name)
    return make(model, lr=RATES[name], weight_decay=2.0 * strength, decoupled_weight_decay=True)


def without_the_two(name: str, model: Any, strength: float) -> Any:
    """Wrong: (1 − ηλ)w, the factor of λ‖w‖²/2."""
    return beside(name, model, strength / 2.0)


def behind(name: str, model: Any, strength: float) -> Any:
    """Wrong: (1 − 2ηλ)(w − η∇L), the decay of what the step has made."""
    import torch

    class Behind(getattr(tw.nets, name)):  # type: ignore[misc]
        @torch.no_grad()
        def step(self, closure: Any = None) -> Any:
            loss = super().step(closure)
            for group in self.param_groups:
                for parameter in group["params"]:
                    parameter.mul_(1.0 - 2.0 * group["lr"] * strength)
            return loss

    return Behind(model, lr=RATES[name])


def experiment(setting: Setting, *, decayed: Decayed = beside) -> Findings:
    """Seven optimizers, each with the penalty in the loss and with `decayed` instead."""
    steps = setting.pick(glance=25, quick=160, full=3_000)
    pairs = {
        name: Pair(
            train(setting, name, steps, penalty=STRENGTH),
            train(setting, name, steps, make=decayed, strength=STRENGTH),
            train(setting, name, min(steps, 60), make=_coupled, strength=STRENGTH),
        )
        for name in RATES
    }
    weak = train(setting, "Adam", steps, penalty=STRENGTH / 10.0)
    linear = _linear(setting, steps)
    rests = _rests(700)
    checks = [
        *_plain(pairs["SGD"], linear, steps), *_others(pairs), *_dead(pairs, weak, steps),
        *_resting(rests),
    ]  # fmt: skip
    rows = tuple(
        (name, RATES[name], float(pair.apart[1]), float(pair.apart[-1]), _kept(pair.penalty)[-1],
         _kept(pair.decay)[-1])
        for name, pair in pairs.items()
    )  # fmt: skip
    heads = (
        "optimizer", "η", "apart after 1 step", f"after {steps}", "dead weights, penalty", "decay",
    )  # fmt: skip
    return Findings(
        checks,
        [Sheet("Penalty in the loss and decay beside the step, of the way gone", heads, rows)],
        [_parting(pairs), _dying(pairs, weak), _rest_figure(rests)],
        [
            f"digits, 512 of them in batches of {BATCH}, network 64-16-10 of tanh in float64, "
            f"λ = {STRENGTH}; least squares on diabetes for what can be computed exactly. Dead "
            "weights are those of pixels that are always 0, which the loss does not move.",
        ],
    )


def _coupled(name: str, model: Any, strength: float) -> Any:
    return getattr(tw.nets, name)(model, lr=RATES[name], weight_decay=2.0 * strength)


def train(
    setting: Setting,
    name: str,
    steps: int,
    *,
    penalty: float = 0.0,
    make: Decayed | None = None,
    strength: float = 0.0,
) -> Way:
    """Train on digits from the seed's weights, in the seed's batches."""
    import torch

    X, y = _digits()
    generator = torch.Generator().manual_seed(int(setting.rng("start").integers(2**31)))
    first, last = torch.nn.Linear(64, 16), torch.nn.Linear(16, 10)
    model = torch.nn.Sequential(first, torch.nn.Tanh(), last).double()
    with torch.no_grad():
        for parameter in model.parameters():
            spread = parameter.shape[-1] ** -0.5 if parameter.ndim > 1 else 0.1
            parameter.copy_(spread * torch.randn(parameter.shape, generator=generator))
    unseen = torch.from_numpy(~X.any(axis=0))
    weights, dead = [], []

    def keep(moment: Any = None) -> bool:
        weights.append(torch.cat([p.detach().flatten() for p in model.parameters()]).numpy().copy())
        dead.append(first.weight.detach()[:, unseen].numpy().copy())
        return len(weights) > steps

    keep()
    optimizer = (
        make(name, model, strength) if make else getattr(tw.nets, name)(model, lr=RATES[name])
    )
    # The optimizers decay all parameters, so that the penalty takes the biases too.
    penalties = [tw.nets.L2(2.0 * penalty, biases=True)] if penalty else []
    tw.nets.fit(
        model, (X, y), optimizer, epochs=steps, batch_size=BATCH, probes=[keep],
        regularizers=penalties, seed=setting.seed, progress=False,
    )  # fmt: skip
    return Way(np.array(weights), np.array(dead))


@functools.cache
def _digits() -> tuple[np.ndarray, np.ndarray]:
    table = tw.read("@digits")
    return np.asarray(table.X[:512], dtype=np.float64) / 16.0, np.asarray(table.y)[:512]


def _kept(way: Way) -> list[float]:
    """‖dead weights‖ of every step, of the first."""
    sizes = np.linalg.norm(way.dead.reshape(len(way.dead), -1), axis=1)
    return (sizes / sizes[0]).tolist()


def _linear(setting: Setting, steps: int) -> float:
    """The largest difference of (1 − 2ηλ)w − η∇L and w − η∇(L + λ‖w‖²) over mini-batches."""
    table = tw.read("@diabetes")
    X, y = tw.scaling.ZScore().fit_transform(table.X), np.asarray(table.y)
    rng = setting.rng("batches")
    one = two = rng.standard_normal(X.shape[1])
    worst, lr = 0.0, 0.05
    for _ in range(steps):
        batch = rng.choice(len(X), 16, replace=False)
        plain = tw.LinearProblem(X[batch], y[batch], fit_intercept=False)
        held = tw.LinearProblem(X[batch], y[batch], l2=2.0 * STRENGTH, fit_intercept=False)
        one = rules.plain_step(one, held.gradient(one), lr)
        two = (1.0 - 2.0 * lr * STRENGTH) * two - lr * plain.gradient(two)
        worst = max(worst, float(np.linalg.norm(one - two) / np.linalg.norm(one)))
    return worst


def _rests(steps: int) -> dict[str, np.ndarray]:
    """Heavy ball on least squares: how far it is from two ridge solutions, in both forms."""
    table = tw.read("@diabetes")
    X = tw.scaling.ZScore().fit_transform(table.X)
    y = np.asarray(table.y, dtype=np.float64)
    plain = tw.LinearProblem(X, y - y.mean(), fit_intercept=False)
    full, less = (
        tw.Ridge(alpha=2.0 * strength * len(X), fit_intercept=False, tol=1e-12)
        .fit(X, y - y.mean()).coef_
        for strength in (STRENGTH, STRENGTH * (1.0 - MOMENTUM))
    )  # fmt: skip
    lr, decay = 1.0 / plain.smoothness, 2.0 * STRENGTH
    found = {}
    for form in ("penalty", "decay"):
        w, m = np.zeros(X.shape[1]), np.zeros(X.shape[1])
        gaps = []
        for _ in range(steps):
            g = plain.gradient(w)
            if form == "penalty":
                w, m = rules.heavy_ball(w, g + decay * w, m, lr, MOMENTUM)
            else:
                w, m = rules.heavy_ball(rules.weight_decay(w, lr, decay), g, m, lr, MOMENTUM)
            gaps.append((np.linalg.norm(w - full), np.linalg.norm(w - less)))
        found[form] = np.array(gaps) / np.linalg.norm(full)
    return found


def _plain(sgd: Pair, linear: float, steps: int) -> list[Check]:
    """What the lecture derives."""
    return [
        Check(
            "plain SGD: (1 − 2ηλ)w − η∇L is the penalised step, over mini-batches of least squares",
            linear < SAME, f"at most {linear:.1e} of ‖w‖ apart in {steps:,} steps", CONDITION,
        ),
        Check(
            "plain SGD on a network: decay beside the step is the penalty in the loss, step for "
            "step",
            bool(sgd.apart.max() < SAME),
            f"at most {sgd.apart.max():.1e} of the way gone apart in {steps:,} steps", CONDITION,
        ),
    ]  # fmt: skip


def _others(pairs: dict[str, Pair]) -> list[Check]:
    """The other six, and the optimizers' own coupled form."""
    apart = {name: float(pair.apart[-1]) for name, pair in pairs.items() if name != "SGD"}
    coupled = max(float(_apart(pair.penalty, pair.coupled).max()) for pair in pairs.values())
    return [
        Check(
            "with momentum or Adam too, the penalty is a decay of the weights",
            all(each < SAME for each in apart.values()),
            "apart at the end by "
            + ", ".join(f"{each:.1%} ({name})" for name, each in apart.items()),
            WRITTEN,
        ),
        Check(
            "with momentum or scaled gradients the two part far beyond rounding",
            min(apart.values()) > OTHER,
            f"{min(apart.values()):.2g} to {max(apart.values()):.2g} of the way gone", CONDITION,
        ),
        Check(
            "an optimizer's `weight_decay` of 2λ is the penalty λ‖w‖² in the loss, for all seven",
            # Adam's division by √v enlarges rounding where v is small.
            coupled < 1e-6, f"at most {coupled:.1e} of the way gone apart",
        ),
    ]  # fmt: skip


def _dead(pairs: dict[str, Pair], weak: Way, steps: int) -> list[Check]:
    """Weights that only the penalty moves."""
    exact = (1.0 - 2.0 * RATES["SGD"] * STRENGTH) ** np.arange(steps + 1)
    sgd = {form: np.array(_kept(getattr(pairs["SGD"], form))) for form in ("penalty", "decay")}
    off = max(float(np.max(np.abs(each / exact - 1.0))) for each in sgd.values())
    adam, few = (np.abs(way.dead[1] - way.dead[0]) for way in (pairs["Adam"].penalty, weak))
    rate = RATES["Adam"]
    return [
        Check(
            "plain SGD: weights without a gradient of the loss decay by 1 − 2ηλ a step, in both "
            "forms",
            off < 1e-9, f"off (1 − 2ηλ)ᵗ by at most {off:.1e}, {exact[-1]:.3f} left", CONDITION,
        ),
        Check(
            "Adam with the penalty moves them by η in the first step, whatever λ and w are",
            # ε = 10⁻⁸ beside |g| = 2λ|w|, of which the smallest are some 10⁻⁵.
            bool(max(np.max(np.abs(each / rate - 1.0)) for each in (adam, few)) < 0.05),
            f"{adam.min() / rate:.4f} to {adam.max() / rate:.4f} of η for λ = {STRENGTH}, "
            f"{few.min() / rate:.4f} to {few.max() / rate:.4f} for a tenth of it", CONDITION,
        ),
    ]  # fmt: skip


def _resting(rests: dict[str, np.ndarray]) -> list[Check]:
    """Where heavy ball comes to rest, and when decay is no decay."""
    penalty, decay = (rests[form][-1] for form in ("penalty", "decay"))
    w = np.ones(1)
    factors = {
        share: float(rules.weight_decay(w, 1.0, 2.0 * share)[0]) for share in (0.25, 0.75, 1.25)
    }
    return [
        Check(
            "heavy ball with decay beside the step ends at the ridge solution of λ(1 − β), with "
            "the penalty at that of λ",
            bool(penalty[0] < 1e-6 and decay[1] < 1e-6 and decay[0] > 1e-3),
            f"{penalty[0]:.1e} from it with the penalty; with decay {decay[0]:.2g} from that of λ, "
            f"{decay[1]:.1e} from that of λ(1 − β)", CONDITION,
        ),
        Check(
            "the weights decay for 2ηλ < 1, change sign below 2, and grow above",
            0 < factors[0.25] < 1 and -1 < factors[0.75] < 0 and factors[1.25] < -1,
            ", ".join(f"factor {each:g} at 2ηλ = {2 * s:g}" for s, each in factors.items()), NOTED,
        ),
    ]  # fmt: skip


def _parting(pairs: dict[str, Pair]) -> Figure:
    marks = [
        curve(name, np.arange(1, len(pair.apart)), np.maximum(pair.apart[1:], 1e-17))
        for name, pair in pairs.items()
    ]
    return figure(
        "From penalty in the loss to decay beside the step",
        panel("steps", "distance of the two runs, of the way gone", marks, log="xy"),
        f"For plain SGD the two never part by more than {pairs['SGD'].apart.max():.0e} of the way; "
        "for all others they do within one or two steps.",
    )


def _dying(pairs: dict[str, Pair], weak: Way) -> Figure:
    t = np.arange(len(weak.w))
    adam = pairs["Adam"]
    marks = [
        curve("SGD, penalty λ", t, _kept(pairs["SGD"].penalty), "sgd"),
        curve("(1 − 2ηλ)ᵗ", t, (1.0 - 2.0 * RATES["SGD"] * STRENGTH) ** t, 0, theory=True),
        curve("Adam, penalty λ", t, _kept(adam.penalty), "adam"),
        curve("Adam, penalty λ/10", t, _kept(weak), Style("orange", DASHED)),
        curve("Adam, decay 2λ", t, _kept(adam.decay), 2),
    ]
    return figure(
        "Weights that no data moves",
        panel("steps", "their norm, of the first", marks),
        "Under the penalty alone they follow (1 − 2ηλ)ᵗ with SGD. Decay beside Adam's step leaves "
        f"{_kept(adam.decay)[-1]:.2f} of them; with the penalty in the loss Adam takes them to "
        f"{_kept(adam.penalty)[-1]:.2g}, at the same pace for λ and λ/10.",
    )


def _rest_figure(rests: dict[str, np.ndarray]) -> Figure:
    t = np.arange(1, len(rests["decay"]) + 1)
    lines = {
        "penalty, to ridge of λ": (rests["penalty"][:, 0], 1),
        "decay, to ridge of λ": (rests["decay"][:, 0], 2),
        "decay, to ridge of λ(1 − β)": (rests["decay"][:, 1], 3),
    }
    marks = [curve(name, t, np.maximum(gap, 1e-14), hue) for name, (gap, hue) in lines.items()]
    return figure(
        "Where heavy ball comes to rest",
        panel("steps", "distance, of ‖ŵ‖", marks, log="y"),
        "With the penalty heavy ball ends at the ridge solution of λ; with decay it stays "
        f"{rests['decay'][-1, 0]:.2g} away from that and ends at the one of λ(1 − β).",
    )


LAB = Lab(
    name="weight-decay",
    claim="Gradient steps on a loss with the penalty λ‖w‖² multiply the weights by 1 − 2ηλ and "
    "then step on the loss alone: the weights decay.",
    formula="w⁺ = w − η(∇L(w) + 2λw) = (1 − 2ηλ)w − η∇L(w)",
    places=("A, Ridge regression", "A, Weight Decay Benefits"),
    expected=Ruling.HOLDS_IF,
    experiment=experiment,
    breaks=(
        Break("factor", "decay by 1 − ηλ, the 2 forgotten", {"decayed": without_the_two}),
        Break("behind", "decay of the stepped weights", {"decayed": behind}),
    ),
    fails_if="a step of plain SGD after which decay and penalty differ by more than 10⁻¹⁰ of the "
    "way gone; or momentum or Adam with which they do not differ by 1/1000 of it",
    condition="The step is the plain one, SGD without momentum. With momentum, AdaGrad, RMSProp or "
    "Adam, decay beside the step and a penalty in the loss are two methods; and 2ηλ < 1.",
    code="""\
import numpy as np, thalweg as tw
from thalweg import rules

table = tw.read("@diabetes")
X = tw.scaling.ZScore().fit_transform(table.X)
loss = tw.LinearProblem(X, table.y, fit_intercept=False)
lr, decay, one, two, m, n = 0.05, 0.04, np.ones(10), np.ones(10), np.zeros(10), np.zeros(10)
a, b = np.ones(10), np.ones(10)
for _ in range(100):
    one = rules.plain_step(one, loss.gradient(one) + decay * one, lr)
    two = rules.plain_step(rules.weight_decay(two, lr, decay), loss.gradient(two), lr)
    a, m = rules.heavy_ball(a, loss.gradient(a) + decay * a, m, lr, 0.9)
    b, n = rules.heavy_ball(rules.weight_decay(b, lr, decay), loss.gradient(b), n, lr, 0.9)
print(f"plain {np.abs(one - two).max():.1e}, heavy ball {np.abs(a - b).max():.2f}")
assert np.allclose(one, two) and np.abs(a - b).max() > 0.1
""",
    seconds=4.3,
    needs_torch=True,
)
