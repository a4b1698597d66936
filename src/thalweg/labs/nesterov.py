"""Nesterov's momentum takes the gradient where the momentum leads.

The classical ball takes the gradient where it is, Nesterov's where it is about to be. Lecture C
says where that is twice, and not the same; with c for how much of the velocity is looked ahead:

    v = αv − ε∇f(θ + cv)        θ = θ + v
    c = 0  classical            c = α  the lecture's Matlab code        c = 1  its text, θ̃ = θ + v

The code is Nesterov's method. With w = θ + αv it is a gradient step from w followed by a step on
along the way just made, and for an L-smooth, μ-strongly convex f theory gives with ε = 1/L

    α = (√L − √μ)/(√L + √μ)        f(θ_T) − f* ≤ (1 − √(μ/L))ᵀ (f(θ₀) − f* + (μ/2)‖θ₀ − θ*‖²)

On curvature λ, with h = ελ, all three are z² − (1 + α − (1 + c)h)z + α − ch = 0. Where its roots
are complex the error shrinks by √(α − ch) a step, and at z = −1 it stops to shrink:

    c = 0   √α             h < 2(1 + α)
    c = α   √(α(1 − h))    h < 2(1 + α)/(1 + 2α)
    c = 1   √(α − h)       h < 2(1 + α)/3

The text's form bears h = 1, the step 1/L, only if α > ½, which theory's α is for κ > 9. And at
α = 0 it is not gradient descent: v is then the last step, and the gradient is taken one step ahead.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import thalweg as tw
from thalweg import rules
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
    Ruling,
    Setting,
    Sheet,
    curve,
    figure,
    panel,
)

Rule = Callable[..., tuple[Any, Any]]
Gradient = Callable[[Any], Any]
KAPPAS = (2.0, 4.0, 16.0, 100.0, 1_000.0)
SMALL = 1e-6  # of the first gap: arrived
SLACK = 1e-12  # of the first gap: what rounding may add


def looked(gradient: Gradient, theta: Any, rate: Any, alpha: Any, c: Any, T: int) -> np.ndarray:
    """θ₀ … θ_T by the lecture's lines, with the gradient at θ + cv; float64[T + 1, …]."""
    v, way = 0.0 * theta, [theta]
    with np.errstate(all="ignore"):
        for _ in range(T):
            v = alpha * v - rate * gradient(theta + c * v)
            theta = theta + v
            way.append(theta)
    return np.array(way)


def ruled(rule: Rule, gradient: Gradient, w: Any, rate: Any, alpha: Any, T: int) -> np.ndarray:
    """The same by a rule that keeps w = θ + αv and m = −v/ε."""
    m, way = 0.0 * w, [w]
    with np.errstate(all="ignore"):
        for _ in range(T):
            w, m = rule(w, gradient(w), m, rate, alpha)
            way.append(w + rate * alpha * m)
    return np.array(way)


def same_checks(setting: Setting, rule: Rule) -> list[Check]:
    """Rule and method against the lecture's two forms, on a valley that is no bowl."""
    T, rate, alpha = 200, 2e-4, 0.9
    surface = tw.surfaces.Rosenbrock()
    start = surface.start + 0.1 * setting.rng("start").standard_normal(2)
    code, text = (looked(surface.gradient, start, rate, alpha, c, T) for c in (alpha, 1.0))
    ours = ruled(rule, surface.gradient, start, rate, alpha, T)
    ahead = [start]
    tw.minimize(
        surface, tw.Nesterov(step=rate, momentum=alpha), start, tol=1e-300, max_iter=T,
        progress=False, callback=lambda seen: ahead.append(np.array(seen.w)),
    )  # fmt: skip
    # tw.Nesterov is at the look-ahead point θ + α(θ − θ₋).
    points = np.vstack([start[None], code[1:] + alpha * np.diff(code, axis=0)])
    off = max(np.abs(ours - code).max(), np.abs(np.array(ahead) - points).max())
    descent = [start]
    for _ in range(T):
        descent.append(rules.plain_step(descent[-1], surface.gradient(descent[-1]), rate))
    still = ruled(rule, surface.gradient, start, rate, 0.0, T)
    still_text = looked(surface.gradient, start, rate, 0.0, 1.0, T)
    apart = np.abs(still_text - descent).max()
    return [
        Check(
            "with θ + αv it is Nesterov's method, as tw.Nesterov and rules.nesterov walk",
            off < 1e-9, f"largest difference {off:.1e} over {T} steps on Rosenbrock's valley",
            CONDITION,
        ),
        Check(
            "with θ + v it is the same", np.abs(text - code).max() < 1e-9,
            f"{np.abs(text - code).max():.2g} apart on the same steps", WRITTEN,
        ),
        Check(
            "with θ + αv and α = 0 it is gradient descent", np.abs(still - descent).max() < 1e-9,
            f"largest difference {np.abs(still - descent).max():.1e}; with θ + v {apart:.2g}",
            CONDITION,
        ),
    ]  # fmt: skip


class Bowl(NamedTuple):
    """One condition number with theory's step and momentum."""

    kappa: float
    alpha: float
    bound: np.ndarray  # of theory, float64[T + 1]
    gaps: dict[str, np.ndarray]  # "nesterov", "text", "classical", "tuned" classical

    def steps(self, name: str) -> int | str:
        """Until the gap stays below SMALL of the first, or a dash."""
        is_far = ~(self.gaps[name] <= SMALL * self.gaps[name][0])
        return "never" if is_far[-1] else len(is_far) - int(is_far[::-1].argmax())


def bowls(setting: Setting, rule: Rule) -> list[Bowl]:
    """Bowls of 20 curvatures between μ and L from a start at random."""
    T = setting.pick(glance=600, quick=1_000, full=5_000)
    found = []
    for kappa in setting.pick(glance=KAPPAS[:4], quick=KAPPAS, full=(*KAPPAS, 10_000.0)):
        bowl = tw.surfaces.Quadratic.conditioned(kappa, dim=20)
        ends = {"smoothness": 1.0, "strong_convexity": 1.0 / kappa}
        alpha, rate = tw.theory.accelerated.momentum(**ends), 1.0 / bowl.smoothness
        w0 = setting.rng("bowl", int(kappa)).standard_normal(bowl.dim)
        ways = {
            "nesterov": ruled(rule, bowl.gradient, w0, rate, alpha, T),
            "text": looked(bowl.gradient, w0, rate, alpha, 1.0, T),
            "classical": looked(bowl.gradient, w0, rate, alpha, 0.0, T),
            "tuned": looked(
                bowl.gradient, w0, tw.theory.heavy_ball.optimal_step(**ends),
                tw.theory.heavy_ball.optimal_momentum(**ends), 0.0, T,
            ),
        }  # fmt: skip
        bound = tw.theory.accelerated.linear_bound(
            bowl.value(w0), float(np.linalg.norm(w0)), **ends, iterations=np.arange(T + 1)
        )
        gaps = {name: bowl.value(way) for name, way in ways.items()}
        found.append(Bowl(kappa, alpha, bound, gaps))
    return found


def bowl_checks(found: list[Bowl]) -> list[Check]:
    """Who stays below the bound."""
    shares: dict[str, list[float]] = {"nesterov": [], "text": []}
    for name, of_all in shares.items():
        for each in found:
            gaps = np.clip(np.nan_to_num(each.gaps[name], nan=np.inf), 0.0, 1e99)
            of_all.append(float((gaps / (each.bound + SLACK * gaps[0])).max()))
    broken = [each.kappa for each, share in zip(found, shares["text"], strict=True) if share > 1]
    large = [each for each in found if each.alpha > 0.5]
    ratios = [each.steps("text") / each.steps("nesterov") for each in large]  # type: ignore[operator]
    return [
        Check(
            "with θ + αv the gap is below (1 − √(μ/L))ᵀC at every T and κ",
            max(shares["nesterov"]) <= 1.0,
            f"at most {max(shares['nesterov']):.3g} of the bound, κ = {found[0].kappa:g} to "
            f"{found[-1].kappa:,g}",
            CONDITION,
        ),
        Check(
            "with θ + v it is so too", not broken,
            f"not for κ = {', '.join(f'{each:g}' for each in broken)}, where it diverges"
            if broken else "it is", WRITTEN,
        ),
        Check(
            "where α > ½ the text's form arrives as well", all(np.isfinite(ratios)),
            f"for κ = {large[0].kappa:g} and more, with {min(ratios):.2f} to {max(ratios):.2f} "
            "times as many steps", NOTED,
        ),
    ]  # fmt: skip


class Factors(NamedTuple):
    """Factors a step over h = ελ, for one α, by form."""

    alpha: float
    h: np.ndarray
    measured: dict[str, np.ndarray]
    theory: dict[str, np.ndarray]


FORMS = ("classical", "nesterov", "text")


def ahead(form: str, alpha: float) -> float:
    """c of a form."""
    return {"classical": 0.0, "nesterov": alpha, "text": 1.0}[form]


def root(h: float, alpha: float, c: float) -> float:
    """The larger modulus of the roots of z² − (1 + α − (1 + c)h)z + α − ch."""
    return float(np.abs(np.roots([1.0, -(1.0 + alpha - (1.0 + c) * h), alpha - c * h])).max())


def factors(setting: Setting, rule: Rule, alpha: float) -> Factors:
    """One variable of curvature 1, many steps at once."""
    count = setting.pick(glance=20, quick=40, full=200)
    h = np.linspace(0.02, 2.0, count) * 0.999  # not 1 itself, where the error is 0 after two steps
    T = 600
    third = T // 3  # two stretches of 200 steps tell a factor to 2^(1/200), or 0.0035
    measured, start = {}, np.ones(count)
    for form in FORMS:
        if form == "nesterov":
            way = ruled(rule, lambda w: w, start, h, alpha, T)
        else:
            way = looked(lambda w: w, start, h, alpha, ahead(form, alpha), T)
        peaks = [np.abs(way[a : a + third]).max(0) for a in (third, 2 * third)]
        with np.errstate(all="ignore"):
            found = (peaks[1] / peaks[0]) ** (1.0 / third)
        measured[form] = np.where(peaks[1] > 1e-290, found, np.nan)  # below is underflow
    theory = {form: np.array([root(x, alpha, ahead(form, alpha)) for x in h]) for form in FORMS}
    return Factors(alpha, h, measured, theory)


def factor_checks(found: list[Factors]) -> list[Check]:
    """Roots and limits against runs."""
    off = {
        form: max(float(np.nanmax(np.abs(each.measured[form] - each.theory[form])))
                  for each in found)
        for form in FORMS
    }  # fmt: skip
    limits = []
    for each in found:
        for form, limit in (
            ("nesterov", tw.theory.stability.nesterov_limit(1.0, each.alpha)),
            ("text", 2.0 * (1.0 + each.alpha) / 3.0),
        ):
            is_stable = each.measured[form] < 1.0
            # NaN, too small to be measured, is stable.
            is_stable |= np.isnan(each.measured[form])
            limits.append(bool(np.all(is_stable == (each.h < limit))))
    first = found[0]
    return [
        Check(
            "the error shrinks or grows by the larger root of z² − (1+α−(1+α)h)z + α − αh",
            off["nesterov"] <= 0.01, f"largest difference {off['nesterov']:.4f}", CONDITION,
        ),
        Check(
            "with θ + v by that of z² − (1+α−2h)z + α − h", off["text"] <= 0.01,
            f"largest difference {off['text']:.4f}",
        ),
        Check(
            "stable below h = 2(1+α)/(1+2α), with θ + v below 2(1+α)/3", all(limits),
            f"for α = {first.alpha:g}: {tw.theory.stability.nesterov_limit(1.0, first.alpha):.3f} "
            f"and {2 * (1 + first.alpha) / 3:.3f}",
        ),
    ]  # fmt: skip


def kinked() -> tw.Objective:
    """Between 1 and 2 the slope grows by 1, elsewhere by 25: smooth, convex, and no bowl.

    Lessard, Recht & Packard, SIAM J. Optim. 26 (2016), section 4.6.
    """

    def value(w: np.ndarray) -> float:
        x = float(w[0])
        if x < 1.0:
            return 12.5 * x * x
        if x < 2.0:
            return 0.5 * x * x + 24.0 * x - 12.0
        return 12.5 * x * x - 24.0 * x + 36.0

    def gradient(w: np.ndarray) -> np.ndarray:
        return np.where(w < 1.0, 25.0 * w, np.where(w < 2.0, w + 24.0, 25.0 * w - 24.0))

    return tw.Objective(
        value, gradient, dim=1, smoothness=25.0, strong_convexity=1.0, check_gradient=False
    )


def cycle(start: float) -> dict[str, np.ndarray]:
    """Both methods with theory's step and momentum for L = 25, μ = 1."""
    ways: dict[str, np.ndarray] = {}
    for method in (tw.HeavyBall(), tw.Nesterov()):
        way = [start]

        def note(seen: tw.Step, way: list[float] = way) -> None:
            way.append(float(seen.w[0]))

        tw.minimize(
            kinked(), method, [start], tol=1e-300, max_iter=200, progress=False, callback=note
        )
        ways[method.name] = np.array(way)
    return ways


def cycle_check(ways: dict[str, np.ndarray]) -> Check:
    """The classical ball goes round for ever."""
    heavy, ours = (np.abs(ways[name]) for name in ("heavy-ball", "nesterov"))
    arrived = int(np.argmax(ours < 1e-8))
    return Check(
        "a huge difference: on a convex function that is no bowl the classical ball with its best "
        "step and momentum never arrives, Nesterov's does",
        heavy[-30:].max() > 0.1 and ours[-1] < 1e-8,
        f"after 200 steps the one still swings by {heavy[-30:].max():.2g}, the other is within "
        f"1e-8 after {arrived}",
    )  # fmt: skip


def draw(curves: list[Factors], bowl: list[Bowl]) -> Figure:
    """Factors over h, and gaps on two bowls."""
    names = {"classical": "classical, θ", "nesterov": "Nesterov, θ + αv", "text": "text, θ + v"}
    styles: dict[str, str | int] = {"classical": "heavy-ball", "nesterov": "nesterov", "text": 2}
    panels = []
    for each in curves:
        marks = [
            curve(names[form], each.h, each.measured[form], styles[form]) for form in FORMS
        ] + [curve("", each.h, each.theory[form], styles[form], theory=True) for form in FORMS]
        panels.append(
            panel("h = ελ", "factor a step", [*marks, Guide("", 1.0)], title=f"α = {each.alpha:g}")
        )
    for dish, steps in zip(bowl, (26, 150), strict=True):
        T = np.arange(steps)
        marks = [curve(names[form], T, dish.gaps[form][:steps], styles[form]) for form in FORMS]
        marks.append(curve("bound of theory", T, dish.bound[:steps], "nesterov", theory=True))
        panels.append(
            panel("T", "f(θ) − f*", marks, log="y",
                  title=f"κ = {dish.kappa:g}, α = {dish.alpha:.2f}, ε = 1/L")
        )  # fmt: skip
    return figure(
        "Where the gradient is taken", panels,
        "Above, the factor a step on curvature λ: Nesterov's is below the classical one, the "
        f"text's passes 1 first. Below, on a bowl with κ = {bowl[0].kappa:g} the text's form grows "
        f"with the step 1/L, on one with κ = {bowl[1].kappa:g} it is about as fast as Nesterov's.",
        columns=2,
    )  # fmt: skip


def draw_cycle(ways: dict[str, np.ndarray]) -> Figure:
    """Distances on the kinked function."""
    marks = [
        curve(name, np.arange(len(way))[:60], np.maximum(np.abs(way), 1e-12)[:60])
        for name, way in ways.items()
    ]
    return figure(
        "A convex function that is no bowl", panel("step", "|w|", marks, log="y"),
        f"The classical ball swings by {np.abs(ways['heavy-ball'])[-30:].max():.2g} for ever; "
        "Nesterov's arrives within a few steps.",
    )  # fmt: skip


def experiment(setting: Setting, *, rule: Rule = rules.nesterov) -> Findings:
    """All three look-ahead points, with `rule` for θ + αv."""
    found = bowls(setting, rule)
    curves = [factors(setting, rule, alpha) for alpha in (0.3, 0.9)]
    ways = cycle(3.3 + 0.1 * setting.rng("cycle").random())
    checks = [
        *same_checks(setting, rule), *bowl_checks(found), *factor_checks(curves), cycle_check(ways),
    ]  # fmt: skip
    rows = [
        (f"{each.kappa:,g}", each.alpha,
         tw.theory.rate.iterations(each.bound[0] / each.gaps["nesterov"][0],
                                   1.0 - each.kappa**-0.5, SMALL),
         *(each.steps(form) for form in ("nesterov", "text", "classical", "tuned")))
        for each in found
    ]  # fmt: skip
    return Findings(
        checks,
        [Sheet(f"Steps to {SMALL:g} of the first gap, with ε = 1/L",
               ("κ", "α", "theory allows", "θ + αv", "θ + v", "classical",
                "classical, own best ε, α"), tuple(rows))],
        [draw(curves, [found[1], found[3]]), draw_cycle(ways)],
        ["bowls of 20 curvatures; the last function is by Lessard, Recht & Packard (2016)"],
    )  # fmt: skip


def whole(w: Any, g: Any, m: Any, lr: Any, beta: Any) -> tuple[Any, Any]:
    """The text's form, kept at w = θ + v: it looks a whole velocity ahead."""
    new = beta * m + g
    return w + lr * (m - 2 * new), new


LAB = Lab(
    name="nesterov",
    claim="Nesterov's momentum first steps along the velocity and takes the gradient there; the "
    "code has it at θ + αv, the text at θ + v. It differs hugely from classical momentum.",
    formula="vₜ₊₁ = αvₜ − ε∇f(θₜ + αvₜ),  θₜ₊₁ = θₜ + vₜ₊₁        (text: θ̃ = θ + v)",
    places=("C, Nesterov Momentum",),
    expected=Ruling.HOLDS_IF,
    experiment=experiment,
    breaks=(
        Break("whole", "the text's look-ahead, θ + v", {"rule": whole}),
        Break("classical", "no look-ahead at all", {"rule": rules.heavy_ball}),
    ),
    condition="The look-ahead point is θ + αv, as in the lecture's code. The text's θ + v diverges "
    "with ε = 1/L and theory's momentum wherever κ < 9; where α > ½ it arrives too.",
    fails_if="a T at which the gap of θ + αv is above (1 − √(μ/L))ᵀC, a factor 0.01 off the larger "
    "root, a step below the limit that grows, or a look-ahead by θ + v that does all this as well",
    code="""\
import thalweg as tw

bowl = tw.surfaces.Quadratic.conditioned(4.0)  # L = 1, μ = 1/4
alpha = tw.theory.accelerated.momentum(smoothness=1.0, strong_convexity=0.25)
gaps = {}
for name, ahead in (("θ + αv", alpha), ("θ + v", 1.0)):
    theta, v = bowl.start, 0.0 * bowl.start
    for _ in range(40):
        v = alpha * v - bowl.gradient(theta + ahead * v)
        theta = theta + v
    gaps[name] = bowl.value(theta)
print(f"α = {alpha:.3f}: {gaps}")
assert gaps["θ + αv"] < 1e-8 < 1.0 < gaps["θ + v"]
""",
    seconds=0.5,
    remark="The lecture contradicts itself, and one of its two forms is right, so the verdict is "
    "“holds if” rather than “fails as written”. The difference to classical momentum is huge where "
    "f is no quadratic; on a bowl, with the best step and momentum of each, they take about as "
    "many steps.",
)
