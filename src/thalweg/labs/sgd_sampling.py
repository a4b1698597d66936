"""Shuffled passes help SGD where steps are short; uneven draws change constants.

With a constant step η, SGD does not come to rest. Near the minimum each step adds noise of
covariance C, and the curvature H takes it away again: what remains has a covariance S with

    HS + SH = ηC        so that        E f(w) − f* ≈ ½tr(HS) = η·tr(C)/4

    C = (1/n) Σᵢ gᵢgᵢᵀ/(npᵢ),        gᵢ = ∇fᵢ(w*), drawn with probability pᵢ

The draws enter by tr(C) alone, a constant: the floor stays proportional to η, and with steps that
shrink like 1/t the gap falls like 1/t, whatever the pᵢ. The best of them, pᵢ ∝ ‖gᵢ‖, leave
(mean ‖gᵢ‖)² of mean ‖gᵢ‖².

In a shuffled pass every gᵢ comes once and their sum is zero: the noise cancels but for the order in
which it came. Along an eigenvector of curvature λ, where a = 1 − ηλ is what a step leaves, a pass
ends with

    w⁺ = aⁿw − η Σₜ αₜg,    αₜ = aⁿ⁻ᵗ    of variance    η²c·(n/(n − 1))·Σₜ(αₜ − ᾱ)²

and c = Cⱼⱼ. Two cases follow. If steps are so long that SGD forgets within a pass, ηnλ ≫ 1, the
floor is η·tr(C)/4 as before: the order does not matter. If they are short, ηnλ ≪ 1, it is

    η³n²·tr(CH²)/48 + η²·bᵀH⁻¹b/8,        b = mean of Hᵢgᵢ

which vanishes faster than η; the second part is a bias, from samples whose curvature goes along
with their slope. With 1/t steps the gap falls like 1/t². Hence “maybe”: it is a matter of the
step, the passes and n. That products of matrices drawn without replacement are always the smaller
ones, the conjecture of Recht & Ré, was refuted by Lai & Lim (2020).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import thalweg as tw
from thalweg.figures.styles import HUES, Style
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
from thalweg.labbook.sources import samples

RIDGE = 0.02  # l2 in units of L_mean: SGD then settles within a few passes
NEAR = 0.3  # by which a measured floor may differ from that of small steps: third moments, chance
MOST = 5_000  # passes
REACH = 0.03  # of the first gap
DRAWS = ("uniform", "lipschitz", "shuffled")
NAMES = {"uniform": "with replacement", "lipschitz": "by Lᵢ", "shuffled": "shuffled"}
HUE = {"uniform": 1, "lipschitz": 2, "shuffled": 3}


class Data(NamedTuple):
    """Rows of two classes."""

    name: str
    X: Any
    y: np.ndarray
    note: str


class Local(NamedTuple):
    """What decides the floors: curvature and noise at the minimum."""

    w: np.ndarray
    value: float
    L: np.ndarray  # Lᵢ without l2
    noise: dict[str, float]  # tr(C) by draws
    least: float  # tr(C) of the best draws
    curvatures: np.ndarray  # λ
    spread: np.ndarray  # Cⱼⱼ along the eigenvectors, uniform draws
    bias: float  # bᵀH⁻¹b/8


class Floors(NamedTuple):
    """E f − f* with constant steps."""

    name: str
    steps: np.ndarray  # times L_mean
    measured: dict[str, np.ndarray]
    theory: dict[str, np.ndarray]
    local: Local

    def ratio(self, draws: str) -> float:
        """Measured over theory, in the geometric mean."""
        return float(np.exp(np.mean(np.log(self.measured[draws] / self.theory[draws]))))

    def power(self, draws: str) -> float:
        """Of η, by which the floor falls; in shuffled passes between the two shortest steps."""
        kept = slice(-2, None) if draws == "shuffled" else slice(None)
        steps, floors = np.log(self.steps[kept]), np.log(self.measured[draws][kept])
        return float(np.polyfit(steps, floors, 1)[0])

    def gain(self, at: int) -> float:
        """What shuffling leaves of the floor."""
        return float(self.measured["shuffled"][at] / self.measured["uniform"][at])


class Decay(NamedTuple):
    """The gap with steps that shrink like 1/t."""

    name: str
    passes: np.ndarray
    gaps: dict[str, np.ndarray]

    def power(self, draws: str) -> float:
        """Of t, from an eighth of the passes on."""
        late = self.passes >= self.passes[-1] / 8
        return float(np.polyfit(np.log(self.passes[late]), np.log(self.gaps[draws][late]), 1)[0])


class Early(NamedTuple):
    """Passes to `REACH` of the first gap, with the steps that the library chooses."""

    name: str
    passes: dict[str, float]
    ratio: float  # L_max/L_mean


def experiment(
    setting: Setting, *, order: str = "shuffled", method: type[tw.SGD] = tw.SGD
) -> Findings:
    """SGD near its floor, on its way with 1/t steps, and at first, by how samples are drawn.

    `order` is what is called shuffled, `method` what draws by Lᵢ.
    """
    ways = {
        "uniform": (tw.SGD, "uniform"),
        "lipschitz": (method, "lipschitz"),
        "shuffled": (tw.SGD, order),
    }
    every = _data(setting)
    floors = [_floors(each, setting, ways) for each in every]
    decays = [_decay(each, setting, ways) for each in every]
    early = [_early(each, setting, ways) for each in every]
    return Findings(
        _shuffling_checks(floors, decays) + _draw_checks(floors, decays, early),
        [_floor_table(floors), _constant_table(floors, decays, early)],
        [_draw_floors(floors), _draw_decays(decays)],
        [each.note for each in every],
    )


def _data(setting: Setting) -> list[Data]:
    """Rows of about one length, and rows of very different ones; at a glance the latter."""
    cancer = tw.read("@cancer", dtype="float64")
    X = tw.scaling.ZScore().fit_transform(cancer.X)
    uneven = Data("cancer", X, np.asarray(cancer.y), "breast cancer, 569 × 30, z-scores")
    if setting.budget == "glance":
        return [uneven]
    rows = setting.pick(quick=1_500, full=5_000)
    found = [Data(*samples(name, rows)) for name in ("a9a", "covtype")]
    if all(each.name != "cancer" for each in found):
        return found
    digits = tw.read("@digits", dtype="float64")
    odd = np.asarray(digits.y) % 2
    return [Data("digits", digits.X / 16.0, odd, "digits, odd or even, 1,797 × 64"), uneven]


def _problem(data: Data, ridge: float) -> tw.LinearProblem:
    L = tw.LinearProblem(data.X, data.y, "logistic", fit_intercept=False).row_squares / 4.0
    l2 = ridge * float(L.mean())
    return tw.LinearProblem(data.X, data.y, "logistic", l2=l2, fit_intercept=False)


def _local(data: Data, problem: tw.LinearProblem) -> Local:
    best = tw.minimize(problem, "newton", tol=1e-13, progress=False)
    X = data.X if isinstance(data.X, np.ndarray) else data.X.toarray()
    n, l2, L = problem.n, problem.l2, problem.row_squares / 4.0
    wrong = 1.0 / (1.0 + np.exp(problem.y * problem.scores(best.w)))  # chance of the other class
    slopes = X * (-problem.y * wrong)[:, None]
    g = slopes + l2 * best.w
    squares = np.sum(slopes**2, axis=1)
    odds = 0.5 + 0.5 * (L + l2) / np.mean(L + l2)  # npᵢ
    pull = float(np.sum((l2 * best.w) ** 2))
    curvatures, Q = np.linalg.eigh(problem.hessian(best.w))
    b = (wrong * (1.0 - wrong) * np.sum(X * g, axis=1)) @ X / n
    noise = {"uniform": np.mean(squares) - pull, "lipschitz": np.mean(squares / odds) - pull}
    return Local(
        w=best.w,
        value=best.value,
        L=L,
        noise={draws: float(each) for draws, each in noise.items()},
        least=float(np.mean(np.sqrt(squares))) ** 2 - pull,
        curvatures=curvatures,
        spread=np.mean((g @ Q) ** 2, axis=0),
        bias=float(np.sum((Q.T @ b) ** 2 / curvatures)) / 8.0,
    )


def _shuffled_floor(local: Local, step: float) -> float:
    """E f − f* at the end of a shuffled pass: variance along every eigenvector, and the bias."""
    n, a = local.L.size, 1.0 - step * local.curvatures
    mean = (1.0 - a**n) / (n * step * local.curvatures)  # of the αₜ
    squares = (1.0 - a ** (2 * n)) / (1.0 - a**2)
    scale = step**2 * local.spread * n / (n - 1)
    variance = scale * (squares - n * mean**2) / (1.0 - a ** (2 * n))
    return 0.5 * float(local.curvatures @ variance) + step**2 * local.bias


def _floors(data: Data, setting: Setting, ways: dict[str, Any]) -> Floors:
    problem = _problem(data, RIDGE)
    local = _local(data, problem)
    powers = setting.pick(glance=(1, 4, 7), quick=(1, 3, 5, 7, 9), full=tuple(range(1, 11)))
    steps = 0.5 ** (np.array(powers) + 1.0)
    passes = setting.pick(glance=150, quick=300, full=1_000)
    measured: dict[str, list[float]] = {draws: [] for draws in DRAWS}
    theory: dict[str, list[float]] = {draws: [] for draws in DRAWS}
    for step in steps / local.L.mean():
        for draws, (method, sampling) in ways.items():
            run = _run(problem, method(float(step), "constant", sampling=sampling, average="none"),
                       local.w, setting, passes)  # fmt: skip
            # From the minimum the floor is approached from below.
            measured[draws].append(float(np.mean(run.trace["value"][passes // 3 :]) - local.value))
            theory[draws].append(
                0.25 * float(step) * local.noise[draws]
                if draws in local.noise
                else _shuffled_floor(local, float(step))
            )
    return Floors(data.name, steps, _arrays(measured), _arrays(theory), local)


def _arrays(lists: dict[str, list[float]]) -> dict[str, np.ndarray]:
    return {draws: np.array(each) for draws, each in lists.items()}


def _run(
    problem: Any, method: Any, start: Any, setting: Setting, passes: int, k: int = 0
) -> tw.Run:
    seed = int(setting.rng("draws", k).integers(2**31))
    return tw.minimize(
        problem, method, start, tol=1e-300, max_iter=MOST, progress=False, seed=seed,
        callback=lambda seen: seen.iteration == passes,
    )  # fmt: skip


def _decay(data: Data, setting: Setting, ways: dict[str, Any]) -> Decay:
    """The mean over some seeds, and over the passes between two powers of two."""
    problem = _problem(data, RIDGE)
    best = tw.minimize(problem, "newton", tol=1e-13, progress=False).value
    last = setting.pick(glance=128, quick=256, full=1_024)
    edges = 2 ** np.arange(1, int(np.log2(last)) + 1)
    gaps: dict[str, np.ndarray] = {}
    for draws, (method, sampling) in ways.items():
        chosen = method(schedule="1/t", sampling=sampling, average="none")
        runs = [
            _run(problem, chosen, None, setting, last, k).trace["value"] - best
            for k in range(setting.pick(glance=3, quick=3, full=10))
        ]
        mean = np.mean(runs, axis=0)
        gaps[draws] = np.array([mean[edge // 2 + 1 : edge + 1].mean() for edge in edges])
    return Decay(data.name, 0.75 * edges, gaps)


def _early(data: Data, setting: Setting, ways: dict[str, Any]) -> Early:
    problem = _problem(data, 0.3 / data.X.shape[0])
    best = tw.minimize(problem, "newton", tol=1e-10, progress=False).value
    allowed = best + REACH * (problem.value(problem.start) - best)
    passes = {}
    for draws, (method, sampling) in ways.items():
        counts = [
            tw.minimize(
                problem, method(sampling=sampling), tol=1e-300, max_iter=MOST, progress=False,
                seed=int(setting.rng("draws", k).integers(2**31)),
                callback=lambda seen: seen.value <= allowed or seen.iteration == 200,
            ).iterations
            for k in range(setting.pick(glance=3, quick=5, full=10))
        ]  # fmt: skip
        passes[draws] = float(np.mean(counts))
    L = problem.row_squares
    return Early(data.name, passes, float(L.max() / L.mean()))


def _told(items: list[Any], text: Any) -> str:
    return "; ".join(f"{each.name}: {text(each)}" for each in items)


def _shuffling_checks(floors: list[Floors], decays: list[Decay]) -> list[Check]:
    return [
        Check(
            "with long steps re-shuffling hardly helps: 0.6 of the floor is left at least",
            all(each.gain(0) >= 0.6 for each in floors),
            _told(floors, lambda each: f"{each.gain(0):.2f} at η = {each.steps[0]:.2g}/L_mean"),
        ),
        Check(
            "with short steps it does: a tenth of the floor is left at most",
            all(each.gain(-1) <= 0.1 for each in floors),
            _told(floors, lambda each: f"{each.gain(-1):.2g} at η = {each.steps[-1]:.2g}/L_mean"),
        ),
        Check(
            "the floor of shuffled passes then falls like η² or faster",
            all(each.power("shuffled") >= 2.0 for each in floors),
            _told(floors, lambda each: f"η to the {each.power('shuffled'):.2f}"),
        ),
        Check(
            f"and is what the sum over eigenvectors says, within {NEAR:.0%}",
            all(abs(each.ratio("shuffled") - 1.0) <= NEAR for each in floors),
            _told(floors, lambda each: f"{each.ratio('shuffled'):.2f} of it over all steps"),
        ),
        Check(
            # 1/t² where the bias rules, 1/t³ where the variance does.
            "with steps like 1/t the gap falls like t to the −1.6 or faster",
            all(each.power("shuffled") <= -1.6 for each in decays),
            _told(decays, lambda each: f"t to the {each.power('shuffled'):.2f}"),
        ),
    ]


def _draw_checks(floors: list[Floors], decays: list[Decay], early: list[Early]) -> list[Check]:
    both = ("uniform", "lipschitz")
    uneven = [each for each in early if each.ratio >= 4.0]
    return [
        Check(
            "with replacement the floor is η·tr(C)/4 for uniform draws and for draws by Lᵢ, "
            f"within {NEAR:.0%}",
            all(abs(each.ratio(draws) - 1.0) <= NEAR for each in floors for draws in both),
            _told(floors, lambda each: " and ".join(f"{each.ratio(d):.2f} of it" for d in both)),
        ),
        Check(
            "both fall like η, to the power 1 ± 0.2: draws by Lᵢ change the constant only",
            all(abs(each.power(draws) - 1.0) <= 0.2 for each in floors for draws in both),
            _told(floors, lambda each: " and ".join(f"{each.power(d):.2f}" for d in both)),
        ),
        Check(
            "with steps like 1/t both fall like 1/t, to the power −1 ± 0.35",
            all(abs(each.power(draws) + 1.0) <= 0.35 for each in decays for draws in both),
            _told(decays, lambda each: " and ".join(f"{each.power(d):.2f}" for d in both)),
        ),
        Check(
            f"at first, with steps of their own to {REACH:g} of the first gap, draws by Lᵢ take "
            "fewer passes where rows are of uneven length",
            all(each.passes["lipschitz"] < each.passes["uniform"] for each in uneven),
            _told(
                uneven,
                lambda each: (
                    f"{each.passes['lipschitz']:.1f} instead of "
                    f"{each.passes['uniform']:.1f}, L_max/L_mean = {each.ratio:.0f}"
                ),
            ),
        ),
    ]


def _floor_table(floors: list[Floors]) -> Sheet:
    rows: list[tuple[str | float, ...]] = [
        (
            f"{each.name}, {each.steps[k]:.3g}",
            *(float(held[d][k]) for d in DRAWS for held in (each.measured, each.theory)),
        )
        for each in floors
        for k in range(len(each.steps))
    ]
    heads = [head for d in DRAWS for head in (NAMES[d], "theory")]
    return Sheet("Floors: E f − f* with a constant step", ("data, η·L_mean", *heads), tuple(rows))


def _constant_table(floors: list[Floors], decays: list[Decay], early: list[Early]) -> Sheet:
    rows: list[tuple[str | float, ...]] = [
        (
            floor.name,
            floor.local.noise["uniform"],
            floor.local.noise["lipschitz"],
            floor.local.least,
            *(float(decay.gaps[d][-1] * decay.passes[-1]) for d in ("uniform", "lipschitz")),
            *(first.passes[d] for d in DRAWS),
        )
        for floor, decay, first in zip(floors, decays, early, strict=True)
    ]
    return Sheet(
        f"Constants: tr(C), the gap times passes with 1/t steps, and passes to {REACH:g} of the "
        "first gap",
        ("data", "tr(C), uniform", "by Lᵢ", "best pᵢ", "gap·passes, uniform", "by Lᵢ",
         "passes, uniform", "by Lᵢ", "shuffled"),
        tuple(rows),
    )  # fmt: skip


def _draw_floors(floors: list[Floors]) -> Figure:
    panels = []
    for each in floors:
        marks = [
            # Circles alone: lines through them would hide those of theory.
            curve(NAMES[d], each.steps, each.measured[d], Style(HUES[HUE[d]], width=0.01,
                  shape="circle"))
            for d in DRAWS
        ]  # fmt: skip
        for d, name in (("uniform", "η·tr(C)/4"), ("shuffled", "theory, shuffled")):
            marks.append(curve(name, each.steps, each.theory[d], HUE[d], theory=True))
        panels.append(panel("step · L_mean", "E f − f*", marks, log="xy", title=each.name))
    told = " ".join(
        f"On {each.name} the floor with replacement falls like η to the "
        f"{each.power('uniform'):.2f}, in shuffled passes to the {each.power('shuffled'):.2f}; "
        f"shuffling leaves {each.gain(0):.2f} of it at the longest step and {each.gain(-1):.2g} at "
        "the shortest."
        for each in floors
    )
    return figure("Where SGD with a constant step comes to rest", panels, told, columns=2)


def _draw_decays(decays: list[Decay]) -> Figure:
    panels = []
    for each in decays:
        t = each.passes
        marks = [curve(NAMES[d], t, each.gaps[d], HUE[d], dots=True) for d in DRAWS]
        first = {d: each.gaps[d][-1] * (t[-1] / t) ** (2 if d == "shuffled" else 1) for d in DRAWS}
        marks.append(curve("∝ 1/t", t, first["uniform"], 1, theory=True, decides_range=False))
        marks.append(curve("∝ 1/t²", t, first["shuffled"], 3, theory=True, decides_range=False))
        panels.append(panel("passes", "f − f*", marks, log="xy", title=each.name))
    told = " ".join(
        f"On {each.name} the gap falls like t to the {each.power('uniform'):.2f} with uniform "
        f"draws, {each.power('lipschitz'):.2f} with draws by Lᵢ and {each.power('shuffled'):.2f} "
        "in shuffled passes."
        for each in decays
    )
    return figure("Steps that shrink like 1/t", panels, told, columns=2)


class Uncorrected(tw.SGD):
    """Draws by Lᵢ, but long rows are not weighted down for coming more often."""

    def _sampler(self, problem: Any) -> Any:
        drawn = super()._sampler(problem)
        return drawn._replace(odds=np.ones_like(drawn.odds))


LAB = Lab(
    name="sgd-sampling",
    claim="For plain SGD, does re-shuffling and doing full passes work better? Maybe. Non-uniform "
    "sampling can only improve constants.",
    formula="E f − f* ≈ η·tr(C)/4 with replacement;   "
    "η³n²·tr(CH²)/48 + η²·bᵀH⁻¹b/8 in shuffled passes, if ηnλ ≪ 1",
    places=("B, SAG Implementation",),
    expected=Ruling.HOLDS,
    experiment=experiment,
    breaks=(
        Break("order", "“shuffled” passes that draw with replacement", {"order": "uniform"}),
        Break("weights", "draws by Lᵢ whose gradients are not divided by npᵢ",
              {"method": Uncorrected}),
    ),
    fails_if="shuffled passes leave less than 0.6 of the floor at the longest step, or more than a "
    "tenth at the shortest, so that “maybe” is yes or no; or draws by Lᵢ change a power, that of η "
    "by 0.2 or that of t by 0.35, or miss η·tr(C)/4 by 30 %",
    code="""\
import numpy as np
import thalweg as tw

table = tw.read("@cancer", dtype="float64")
X = tw.scaling.ZScore().fit_transform(table.X)
problem = tw.LinearProblem(X, table.y, "logistic", l2=0.15, fit_intercept=False)
best = tw.minimize(problem, "newton", tol=1e-12, progress=False)
for step in (3e-2, 1e-3):
    gap = {}
    for sampling in ("uniform", "shuffled"):
        sgd = tw.SGD(step, "constant", sampling=sampling, average="none")
        run = tw.minimize(problem, sgd, best.w, tol=1e-300, max_iter=100, progress=False)
        gap[sampling] = np.mean(run.trace["value"][30:]) - best.value
    print(f"step {step:g}: shuffling leaves {gap['shuffled'] / gap['uniform']:.3f} of the floor")
assert gap["shuffled"] < gap["uniform"] / 10
""",
    seconds=7.9,
    remark="“Maybe” has an answer for strongly convex problems near the minimum: yes, if a pass is "
    "shorter than SGD's memory 1/ηλ, and then by more than a constant. Draws by Lᵢ are not the "
    "draws of least noise: tr(C) changes by a few percent here, either way. Their constant is that "
    "of the beginning, where the longer step counts.",
)  # fmt: skip
