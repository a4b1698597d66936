"""Nadam is Adam with Nesterov's look-ahead.

Adam divides the heavy ball's momentum by RMSProp's root mean square. Nadam puts Nesterov's in its
place. In the form that needs the gradient at one point only, and with the sum M = Σβᵏg,

    heavy ball   moves by  ηM             M ← βM + g
    Nesterov     moves by  η(g + βM)      M ← βM + g

With Adam's mean m = (1 − β₁)M these are m and (1 − β₁)g + β₁m. The latter is what m would be at the
next step if the same gradient came again: it looks one step ahead. Both are divided by √ŝ, after a
correction for the start at zero:

    Adam    θ ← θ − η m̂/(√ŝ + ε)
    Nadam   θ ← θ − η [(1 − μₜ)g/(1 − Πμ) + μₜ₊₁m/(1 − Πμμₜ₊₁)]/(√ŝ + ε)

The momenta μₜ are β₁ all the time, or rise to it: by μₜ = β₁(1 − ½·0.96^(tψ)), which with the
customary ψ = 0.004 takes some ten thousand steps. With β₁ = 0 nothing but RMSProp is left, with
its mean square corrected.

As for Nesterov's method on a bowl (see there) swings are damped by √(β(1 − h)) a step where the
heavy ball has √β, and the longest step that it bears is shorter. If w jumps across the minimum and
back, g = ±1, the momenta are

    Adam  (1 − β)/(1 + β) = 0.053        μ = β₁  0.147        ψ = 0.004  0.57 at first

and a move must be less than 2|w| for the jumps to shrink: the largest stable ηλ/√ŝ is 38, 13.6 and
3.5.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import thalweg as tw
from thalweg import rules
from thalweg.labbook import (
    NOTED,
    Axis,
    Break,
    Check,
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

Rule = Callable[..., tuple[Any, Any, Any]]
BETA1, BETA2, EPS = 0.9, 0.999, 1e-8
CONSTANT, CUSTOM = 1e6, 0.004  # ψ: μ = β₁ from the first step on, and PyTorch's
RATES = (0.01, 0.03, 0.1, 0.3, 1.0)


class Ways(NamedTuple):
    """A run: points, and the two moments that led to each."""

    w: np.ndarray  # float64[T + 1, …]
    m: np.ndarray  # float64[T, …]
    v: np.ndarray


def nadam(
    rule: Rule, gradient: Callable[[Any, int], Any], w: Any, T: int, rate: float,
    *, beta1: float = BETA1, psi: float = CONSTANT,
) -> Ways:  # fmt: skip
    """Nadam from w; `gradient` is given the point and the step's number, from 1."""
    m, v, product = 0.0 * w, 0.0 * w, 1.0
    way, firsts, seconds = [w], [], []
    for t in range(1, T + 1):
        mu, after = (rules.nadam_momentum(k, beta1, psi) for k in (t, t + 1))
        product *= mu
        g = gradient(w, t)
        w, m, v = rule(w, g, m, v, t, mu, after, product, rate, beta1, BETA2, EPS)
        way.append(w)
        firsts.append(m)
        seconds.append(v)
    return Ways(np.array(way), np.array(firsts), np.array(seconds))


def adam(
    gradient: Callable[[Any, int], Any], w: Any, T: int, rate: float, beta1: float = BETA1
) -> Ways:
    """The same by Adam."""
    m, v = 0.0 * w, 0.0 * w
    way, firsts, seconds = [w], [], []
    for t in range(1, T + 1):
        w, m, v = rules.adam(w, gradient(w, t), m, v, t, rate, beta1, BETA2, EPS)
        way.append(w)
        firsts.append(m)
        seconds.append(v)
    return Ways(np.array(way), np.array(firsts), np.array(seconds))


def parts_checks(setting: Setting, rule: Rule) -> list[Check]:
    """What it is a combination of."""
    T, late = 400, 250  # by then 1 − β₁ᵗ is 1 to twelve digits
    drawn = setting.rng("parts").standard_normal((T, 20)) + 0.2

    def given(_: Any, t: int) -> np.ndarray:
        return drawn[t - 1]

    zero = np.zeros(20)
    ours, theirs = nadam(rule, given, zero, T, 1.0), adam(given, zero, T, 1.0)
    t = np.arange(1, T + 1)[:, None]
    roots = np.sqrt(ours.v / (1.0 - BETA2**t)) + EPS
    # What a move is before it is divided: the momentum.
    raw, plain = -np.diff(ours.w, axis=0) * roots, -np.diff(theirs.w, axis=0) * roots
    nesterov, ball, sums = [], [], (zero, zero)
    for g in drawn:
        moved, first = rules.nesterov(zero, g, sums[0], 1.0 - BETA1, BETA1)
        other, second = rules.heavy_ball(zero, g, sums[1], 1.0 - BETA1, BETA1)
        sums = first, second
        nesterov.append(-moved)
        ball.append(-other)
    off = float(np.abs(raw - np.array(nesterov))[late:].max())
    off_adam = float(np.abs(plain - np.array(ball))[late:].max())
    ahead = BETA1 * ours.m + (1.0 - BETA1) * drawn  # m at the next step, were g to come again
    off_ahead = float(np.abs(raw - ahead)[late:].max())
    still = nadam(rule, given, zero, T, 1.0, beta1=0.0).w
    bare = adam(given, zero, T, 1.0, beta1=0.0).w
    off_still = float(np.abs(still - bare).max())
    return [
        Check(
            "times RMSProp's root a move is Nesterov's, where Adam's is the heavy ball's",
            off < 1e-9 and off_adam < 1e-9,
            f"largest differences {off:.0e} and {off_adam:.0e}, steps {late} to {T}",
        ),
        Check(
            "it looks one step ahead: its momentum is Adam's next, were the gradient to come again",
            off_ahead < 1e-9, f"largest difference {off_ahead:.0e}",
        ),
        Check(
            "with β₁ = 0 it is RMSProp, its mean square corrected", off_still < 1e-9,
            f"largest difference {off_still:.0e} over {T} steps",
        ),
    ]  # fmt: skip


class Turn(NamedTuple):
    """Moves, in η, around the step at which a steady gradient turns."""

    at: int
    nadam: np.ndarray
    adam: np.ndarray

    def turned(self, name: str) -> int:
        """Steps from the turn until the move has the new sign."""
        return int(np.argmax(getattr(self, name)[self.at :] < 0.0)) + 1


def turned(rule: Rule) -> Turn:
    """100 gradients of 1, then of −1."""
    at, T = 100, 130

    def given(_: Any, t: int) -> np.ndarray:
        return np.array([1.0 if t <= at else -1.0])

    zero = np.zeros(1)
    return Turn(
        at, -np.diff(nadam(rule, given, zero, T, 1.0).w[:, 0]),
        -np.diff(adam(given, zero, T, 1.0).w[:, 0]),
    )  # fmt: skip


def turn_check(found: Turn) -> Check:
    """Adam turns when βᵏ < ½, Nadam when β(2βᵏ − 1) < 1 − β."""
    k = np.arange(1, 30)
    theory = [
        int(np.argmax(each < 0.0)) + 1
        for each in (BETA1 * (2 * BETA1**k - 1) - (1 - BETA1), 2 * BETA1**k - 1)
    ]
    steps = [found.turned("nadam"), found.turned("adam")]
    return Check(
        "when the gradient turns it turns sooner", steps == theory and steps[0] < steps[1],
        f"after {steps[0]} steps, Adam after {steps[1]}; theory {theory[0]} and {theory[1]}",
    )  # fmt: skip


class Bowl(NamedTuple):
    """A bowl at several rates."""

    overshoot: dict[str, list[float]]  # beyond the minimum, in first distances, by rate
    ways: dict[str, np.ndarray]  # one coordinate at η = 0.1, float64[T + 1]


FORMS = ("adam", "nadam", "custom")


def bowl(setting: Setting, rule: Rule) -> Bowl:
    """Curvatures from 0.01 to 1, starts about 1 away."""
    curvatures = np.geomspace(0.01, 1.0, 20)
    w0 = setting.rng("bowl").uniform(0.8, 1.2, 20)

    def gradient(w: np.ndarray, _: int) -> np.ndarray:
        return curvatures * w

    def runs(rate: float, T: int) -> dict[str, np.ndarray]:
        return {
            "adam": adam(gradient, w0, T, rate).w / w0,
            "nadam": nadam(rule, gradient, w0, T, rate).w / w0,
            "custom": nadam(rule, gradient, w0, T, rate, psi=CUSTOM).w / w0,
        }

    first = {rate: runs(rate, 300) for rate in RATES}
    overshoot = {form: [float(-first[rate][form].min()) for rate in RATES] for form in FORMS}
    return Bowl(overshoot, {form: first[0.1][form][:, -1] for form in FORMS})


def bowl_checks(found: Bowl) -> list[Check]:
    """Damping, and its price."""
    over = {form: dict(zip(RATES, each, strict=True)) for form, each in found.overshoot.items()}
    moderate = (0.03, 0.1)
    return [
        Check(
            "at moderate rates it swings less far past the minimum than Adam",
            all(over["nadam"][rate] < over["adam"][rate] for rate in moderate),
            "; ".join(
                f"η = {rate:g}: {over['nadam'][rate]:.3f} and {over['adam'][rate]:.3f} of the way"
                for rate in moderate
            ),
        ),
    ]


def limit_check(rule: Rule) -> Check:
    """Moves that a gradient of ±1 in turn is given, and the longest step that follows."""
    T = 300

    def given(_: Any, t: int) -> np.ndarray:
        return np.array([(-1.0) ** t])

    zero = np.zeros(1)
    last = {
        "adam": adam(given, zero, T, 1.0).w,
        "nadam": nadam(rule, given, zero, T, 1.0).w,
        "custom": nadam(rule, given, zero, T, 1.0, psi=CUSTOM).w,
    }
    moves = {form: float(abs(way[-1] - way[-2])[0]) for form, way in last.items()}
    swing = (1.0 - BETA1) / (1.0 + BETA1)
    return Check(
        "like Nesterov's method it bears shorter steps than without look-ahead",
        bool(np.allclose([moves["adam"], moves["nadam"]],
                         [swing, BETA1 * swing + 1.0 - BETA1], rtol=1e-6)),
        f"a gradient of ±1 is given {moves['nadam']:.3f} η, by Adam {moves['adam']:.3f} η, as in "
        f"theory, so that ηλ/√ŝ may be {2 / moves['nadam']:.1f} and {2 / moves['adam']:.0f}; with "
        f"ψ = 0.004 {moves['custom']:.2f} η and {2 / moves['custom']:.1f}",
    )  # fmt: skip


def fitted(setting: Setting) -> dict[str, list[float]]:
    """Loss of logistic regression on digits after some steps, by method and rate."""
    rows, T = setting.pick(glance=(300, 40), quick=(600, 100), full=(1_797, 1_000))
    table = tw.read("@digits")
    order = setting.rng("digits").permutation(len(np.asarray(table.y)))[:rows]
    problem = tw.LinearProblem(
        np.asarray(table.X, dtype=float)[order] / 16.0, np.asarray(table.y)[order], "multinomial",
        l2=1e-3,
    )  # fmt: skip
    found: dict[str, list[float]] = {form: [] for form in FORMS}
    for rate in setting.pick(glance=RATES[2:], quick=RATES, full=RATES):
        for form, method in (
            ("adam", tw.Adam(lr=rate)),
            ("nadam", tw.Nadam(lr=rate, momentum_decay=CONSTANT)),
            ("custom", tw.Nadam(lr=rate, momentum_decay=CUSTOM)),
        ):
            run = tw.minimize(problem, method, tol=1e-300, max_iter=T, progress=False)
            found[form].append(float(run.trace["value"][-1]))
    return found


def fit_checks(found: dict[str, list[float]]) -> list[Check]:
    """Against Adam where both have their best rate, and where it is too large."""
    best = {form: min(each) for form, each in found.items()}
    large = {form: each[-1] for form, each in found.items()}
    good = Check(
        # No theory says who wins; a tenth is less than a rate three times off costs either.
        "on digits it is as good as Adam, each at its best rate",
        best["nadam"] < 1.1 * best["adam"],
        f"loss {best['nadam']:.4f}, Adam {best['adam']:.4f}, with ψ = 0.004 {best['custom']:.4f}",
    )  # fmt: skip
    worse = Check(
        "with a large rate it is worse than Adam, with either schedule",
        large["adam"] < min(large["nadam"], large["custom"]),
        f"η = 1: loss {large['nadam']:.2f}, with ψ = 0.004 {large['custom']:.2f}, Adam "
        f"{large['adam']:.2f}", NOTED,
    )  # fmt: skip
    return [good, worse]


def method_check(rule: Rule) -> Check:
    """tw.Nadam against the rule, with both schedules."""
    surface = tw.surfaces.Rosenbrock()
    off = 0.0
    for psi in (CONSTANT, CUSTOM):
        ends: list[np.ndarray] = []

        def note(seen: tw.Step, ends: list[np.ndarray] = ends) -> None:
            ends.append(np.array(seen.w))

        method = tw.Nadam(lr=0.01, momentum_decay=psi)
        tw.minimize(surface, method, tol=1e-300, max_iter=150, progress=False, callback=note)
        way = nadam(rule, lambda w, _: surface.gradient(w), surface.start, 150, 0.01, psi=psi)
        off = max(off, float(np.abs(np.array(ends) - way.w[1:]).max()))
    return Check(
        "tw.Nadam walks by this formula", off < 1e-9,
        f"largest difference {off:.1e} over 150 steps on Rosenbrock's valley",
    )  # fmt: skip


def draw(turn: Turn, dish: Bowl, fit: dict[str, list[float]]) -> Figure:
    """Turn, swing, overshoot, and loss."""
    names = {"adam": "Adam", "nadam": "Nadam, μ = β₁", "custom": "Nadam, ψ = 0.004"}
    hues = {"adam": 1, "nadam": 2, "custom": 4}
    k = np.arange(turn.at - 3, turn.at + 15)
    first = panel(
        "steps after the turn", "move, in η",
        [curve(names[form], k - turn.at + 1, getattr(turn, form)[k], hues[form])
         for form in ("adam", "nadam")] + [Guide("", 0.0)],
        title="The gradient turns",
    )  # fmt: skip
    shown = slice(0, 81)
    second = panel(
        "step", "w/w₀", [curve(names[form], np.arange(81), dish.ways[form][shown], hues[form])
                         for form in FORMS] + [Guide("", 0.0)],
        title="A bowl, η = 0.1",
    )  # fmt: skip
    third = panel(
        Axis("rate η", "log"), Axis("overshoot, in |w₀|", "log", low=1e-3),
        [curve(names[form], RATES, np.maximum(dish.overshoot[form], 1e-4), hues[form], dots=True)
         for form in FORMS],
        title="Past the minimum of the bowl",
    )  # fmt: skip
    rates = RATES if len(fit["adam"]) == len(RATES) else RATES[2:]
    fourth = panel(
        Axis("rate η", "log"), Axis("loss", "log"),
        [curve(names[form], rates, fit[form], hues[form], dots=True) for form in FORMS],
        title="Logistic regression, digits",
    )  # fmt: skip
    at = RATES.index(0.1)
    return figure(
        "Nadam and Adam", [first, second, third, fourth],
        f"When the gradient turns Nadam's move follows after {turn.turned('nadam')} steps, Adam's "
        f"after {turn.turned('adam')}. On a bowl with η = 0.1 it swings "
        f"{dish.overshoot['nadam'][at]:.2f} of the way past the minimum, Adam "
        f"{dish.overshoot['adam'][at]:.2f}, and with the customary schedule "
        f"{dish.overshoot['custom'][at]:.2f}. On digits the best losses are "
        f"{min(fit['nadam']):.4f} and {min(fit['adam']):.4f}.",
        columns=2,
    )  # fmt: skip


def experiment(setting: Setting, *, rule: Rule = rules.nadam) -> Findings:
    """Its parts, its look-ahead, and Adam beside it."""
    turn, dish, fit = turned(rule), bowl(setting, rule), fitted(setting)
    checks = [
        *parts_checks(setting, rule), turn_check(turn), *bowl_checks(dish), limit_check(rule),
        *fit_checks(fit), method_check(rule),
    ]  # fmt: skip
    rates = setting.pick(glance=RATES[2:], quick=RATES, full=RATES)
    names = {"adam": "Adam", "nadam": "Nadam, μ = β₁", "custom": "Nadam, ψ = 0.004"}
    return Findings(
        checks,
        [
            Sheet("Overshoot on a bowl, in first distances",
                  ("method", *(f"η = {rate:g}" for rate in RATES)),
                  tuple((names[form], *dish.overshoot[form]) for form in FORMS)),
            Sheet("Loss of logistic regression on digits",
                  ("method", *(f"η = {rate:g}" for rate in rates)),
                  tuple((names[form], *fit[form]) for form in FORMS)),
        ],
        [draw(turn, dish, fit)],
        ["β₁ = 0.9, β₂ = 0.999; μ = β₁ unless ψ is named"],
    )  # fmt: skip


def looking_back(
    w: Any, g: Any, m: Any, v: Any, t: int, mu: float, mu_next: float, mu_product: float,
    lr: float, beta1: float, beta2: float, eps: float,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Adam: the look-ahead is left out."""
    return rules.adam(w, g, m, v, t, lr, beta1, beta2, eps)


def undivided(
    w: Any, g: Any, m: Any, v: Any, t: int, mu: float, mu_next: float, mu_product: float,
    lr: float, beta1: float, beta2: float, eps: float,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Nesterov's momentum alone: RMSProp's division is left out."""
    m, v = beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g * g
    return w - lr * (beta1 * m + (1 - beta1) * g), m, v


LAB = Lab(
    name="nadam",
    claim="Nadam is a combination of RMSProp and Nesterov momentum.",
    formula="θ ← θ − η[(1 − μₜ)g/(1 − Πμ) + μₜ₊₁m/(1 − Πμμₜ₊₁)]/(√ŝ + ε)",
    places=("C, Adam",),
    expected=Ruling.HOLDS,
    experiment=experiment,
    breaks=(
        Break("look-back", "Adam's momentum, without the look-ahead", {"rule": looking_back}),
        Break("undivided", "no division by RMSProp's root", {"rule": undivided}),
    ),
    fails_if="a move that, times RMSProp's root, is not Nesterov's to nine digits, a momentum that "
    "is not Adam's next one, a turn no sooner than Adam's, a farther swing past the minimum at "
    "moderate rates, a swinging gradient given anything but what theory says, or a loss a tenth "
    "above Adam's",
    code="""\
import numpy as np
import thalweg as tw

bowl = tw.surfaces.Quadratic(np.geomspace(0.01, 1.0, 20))
far = {}
for method in (tw.Adam(lr=0.1), tw.Nadam(lr=0.1, momentum_decay=1e6)):
    way = []
    tw.minimize(bowl, method, max_iter=100, tol=1e-300, callback=lambda at: way.append(at.w.min()))
    far[method.name] = -float(min(way))
print("past the minimum:", far)
assert far["nadam"] < far["adam"]
""",
    seconds=1.6,
    remark="The lecture says what Nadam is, not that it is better. The lab shows what the "
    "look-ahead brings, one step of foresight and less swing, and what it costs: like Nesterov's "
    "method it bears only shorter steps. The schedule of PyTorch, which is also the default here, "
    "gives the newest gradient half of the weight for thousands of steps: it swings least, and "
    "bears a quarter of the steps that a constant μ does.",
)
