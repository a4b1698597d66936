"""SAG gains from sampling at random, and more from sampling by curvature.

SAG steps along the mean of remembered gradients, so what matters is how old they are:

    w ← w − (α/n) Σᵢ yᵢ,        yᵢ = ∇fᵢ where sample i was last visited

Visited in turn (IAG) all of them are up to n steps old, and push w on after it has passed the
minimum. On quadratics of equal curvature L the iterates grow from the step π²/2nL on, in shuffled
passes from 5.43/nL, whereas visits at random bear steps of order 1/L: shuffled passes, in which a
sample may wait for up to 2n steps, lie between the two. Where one sample has a curvature Lᵢ that is
no small part of the whole, nL, that sample alone keeps SAG to short steps, and little lies between.

A step must suit the steepest sample, 1/L_max. Draw sample i with probability

    pᵢ = ½(1/n + Lᵢ/ΣL)        ‖∇fᵢ(x) − ∇fᵢ(y)‖ ≤ Lᵢ‖x − y‖

and its gradient is renewed npᵢ times as often as that of a mean sample: what counts is then
max Lᵢ/npᵢ, at most 2·L_mean, and the step may be 1/2L_mean. Only the longer step is faster: the
same draws with the step of L_max gain nothing.

The bound Lᵢ = ‖xᵢ‖²/4 of the logistic loss is met at the score 0 only. At every visit Lᵢ is halved,
and doubled until the descent lemma holds on that sample:

    fᵢ(x − ∇fᵢ(x)/Lᵢ) ≤ fᵢ(x) − ‖∇fᵢ(x)‖²/2Lᵢ

For a sample on the right side with a large margin the loss is flat, its Lᵢ falls, and it is drawn
ever more rarely, down to half a visit a pass: the uniform half of pᵢ keeps every gradient fresh.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

import thalweg as tw
from thalweg.labbook import (
    NOTED,
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
from thalweg.labbook.sources import samples

ORDERS = {"IAG": "cyclic", "SAG, shuffled": "shuffled", "SAG": "uniform"}
# In the factor of a pass, at the best of steps that are a factor of √2 apart: how much a run may
# differ from the next one.
SAME = 0.03
REACH = 1e-4  # of the first gap, to which passes are counted
MOST = 3_000  # passes
UNEVEN = 4.0  # L_max/L_mean from which long rows are worth being drawn more often
LONG = 3.0  # times the mean length: beyond, L_max and not n decides the passes of uniform draws
EVEN = 2.0**0.5  # times the mean length: L_max is then 2·L_mean of the rows before they are cut
CUTS = (0.7, 1.0, EVEN, 2.0, LONG, 5.0, np.inf)  # of the root of the mean of ‖xᵢ‖²
FLOOR = 1e-13  # of the first gap: below it is rounding


class Data(NamedTuple):
    """Rows of two classes."""

    name: str
    X: Any
    y: np.ndarray
    note: str


class Orders(NamedTuple):
    """What remains of the gap after a pass, by the order of visits."""

    name: str
    steps: np.ndarray  # times L_mean
    rates: dict[str, np.ndarray]
    limits: dict[str, float]  # theory's for quadratics, times L_mean
    share: float  # L_max/nL

    def best(self, order: str) -> float:
        """At the best step."""
        return float(self.rates[order].min())

    def fixed(self, order: str) -> float:
        """At the step 1/2L_mean."""
        return float(self.rates[order][np.argmin(np.abs(self.steps - 0.5))])


class Spread(NamedTuple):
    """Passes to `REACH` where the longest rows are cut at several lengths."""

    name: str
    largest: np.ndarray  # L_max
    mean: np.ndarray  # L_mean
    passes: dict[str, np.ndarray]

    @property
    def is_uneven(self) -> bool:
        """Whether long rows are worth being drawn more often."""
        return bool(self.largest[-1] >= UNEVEN * self.mean[-1])

    @property
    def gain(self) -> float:
        """Passes of uniform draws over those of draws by curvature, no row cut."""
        return float(self.passes["uniform"][-1] / self.passes["lipschitz"][-1])

    @property
    def halfway(self) -> float:
        """Passes of uniform draws, rows cut so that L_max is 2·L_mean of the whole ones."""
        at = np.argmin(np.abs(self.largest - EVEN**2 * self.mean[-1]))
        return float(self.passes["uniform"][at])

    def power(self, draws: str, cut: float) -> float:
        """Passes grow like L_max to this power, from rows cut at that length to whole ones."""
        at = int(np.argmax(self.largest >= 0.99 * cut**2 * self.mean[-1]))
        passes, largest = self.passes[draws], self.largest
        return float(np.log(passes[-1] / passes[at]) / np.log(largest[-1] / largest[at]))


class Visits(NamedTuple):
    """How often samples were visited once SAG had learnt their Lᵢ, by how well they are put."""

    name: str
    margins: np.ndarray  # of tenths of the samples, worst first: the mean of yᵢxᵢᵀw
    first: np.ndarray  # share of a tenth that the first pass visits
    last: np.ndarray  # the mean of the last passes
    predicted: np.ndarray  # 1 − (1 − pᵢ)ⁿ of the estimates
    ratio: float  # of the share Lᵢ/ΣL, worst tenth against best
    fallen: float  # ΣL of the estimates over that of the bounds
    agreement: float  # rank correlation of the estimates with ℓ″ᵢ‖xᵢ‖² at the minimum
    excess: float  # largest estimate over its bound


def experiment(
    setting: Setting, *, factor: float | None = None, step: str | None = "search"
) -> Findings:
    """Orders of visits, draws by curvature, and estimates of it, on real data.

    `factor`/L_max is the step of draws by curvature, by default the library's own, 1/2 of
    max Lᵢ/npᵢ; `step` is what makes SAG estimate the Lᵢ.
    """
    every = _data(setting)
    even, uneven = every[0], every[1]
    orders = [_orders(each, setting) for each in (even, uneven)]
    spreads = [_spread(each, setting, factor, step) for each in every]
    visits = [_visits(each, setting, step) for each in (even, uneven)]
    checks = _order_checks(orders) + _spread_checks(spreads) + _visit_checks(visits)
    if setting.budget != "glance" and (text := _text(setting)) is not None:
        orders.append(text)
        checks.append(_text_check(text))
    tables = [_order_table(orders), _spread_table(spreads)]
    figures = [_draw_orders(orders[:2]), _draw_spread(spreads), _draw_visits(visits)]
    return Findings(checks, tables, figures, [each.note for each in every])


def _data(setting: Setting) -> list[Data]:
    """Rows of about one length, rows of very different lengths, and more of those."""
    raw = {name: tw.read(f"@{name}", dtype="float64") for name in ("cancer", "digits")}
    scaled = {name: tw.scaling.ZScore().fit_transform(each.X) for name, each in raw.items()}
    labels = {name: np.asarray(each.y) for name, each in raw.items()}
    odd = labels["digits"] % 2
    cancer = Data("cancer", scaled["cancer"], labels["cancer"], "breast cancer, 569 × 30, z-scores")
    pixels = Data("digits", raw["digits"].X / 16.0, odd, "digits, odd or even, 1,797 × 64")
    if setting.budget == "glance":
        return [pixels, cancer]
    rows = setting.pick(quick=1_500, full=10_000)
    found = [Data(*samples(name, rows)) for name in ("a9a", "covtype")]
    if all(each.name != "cancer" for each in found):
        return [*found, cancer]
    return [pixels, cancer, Data("digits, z-scores", scaled["digits"], odd, found[0].note)]


def _problem(X: Any, y: np.ndarray, l2: float) -> tw.LinearProblem:
    return tw.LinearProblem(X, y, "logistic", l2=l2, fit_intercept=False)


def _curvatures(X: Any, y: np.ndarray) -> np.ndarray:
    """Lᵢ = ‖xᵢ‖²/4."""
    problem = _problem(X, y, 0.0)
    return problem.curvature_bound * problem.row_squares


def _lowest(problem: tw.LinearProblem) -> tw.Run:
    method = "newton" if problem.dim < 500 else "lbfgs"
    return tw.minimize(problem, method, tol=1e-13, progress=False)


def _run(
    problem: tw.LinearProblem, method: Any, seed: int, is_over: Callable[[tw.Step], bool]
) -> tw.Run:
    return tw.minimize(
        problem, method, tol=1e-300, max_iter=MOST, progress=False, seed=seed, callback=is_over
    )


def _orders(data: Data, setting: Setting, *, is_short: bool = False) -> Orders:
    """All three orders over a grid of steps, with l2 = L_mean/n."""
    n, L = data.X.shape[0], _curvatures(data.X, data.y)
    problem = _problem(data.X, data.y, float(L.mean()) / n)
    best, first = _lowest(problem).value, problem.value(problem.start)
    passes = setting.pick(glance=12, quick=25, full=25)
    draws = setting.pick(glance=1, quick=1 if is_short else 2, full=5)
    low, apart = (-4.0, 1.0) if is_short else (-8.0, 0.5)
    # Far beyond 1/L_mean the factors no longer change.
    apart = setting.pick(glance=1.0, quick=apart, full=0.5)
    steps = 2.0 ** np.append(np.arange(low, 2.0, apart), (2.0, 3.0, 4.0))
    rates: dict[str, np.ndarray] = {}
    for name, order in ORDERS.items():
        found = []
        for step in steps:
            method = tw.SAG(step=float(step / L.mean()), sampling=order)
            ends = [
                _run(problem, method, seed, lambda seen: seen.iteration == passes).trace["value"][
                    -1
                ]
                for seed in _seeds(setting, 1 if order == "cyclic" else draws)
            ]
            kept = np.maximum((np.array(ends) - best) / (first - best), FLOOR)
            found.append(float(np.exp(np.mean(np.log(kept)) / passes)))
        rates[name] = np.array(found)
    limits = {
        name: L.mean() * tw.theory.stability.remembered_limit(
            problem.smoothness, samples=n, order=ORDERS[name]
        )
        for name in ("IAG", "SAG, shuffled")
    }  # fmt: skip
    return Orders(data.name, steps, rates, limits, float(L.max() / (n * problem.smoothness)))


def _text(setting: Setting) -> Orders | None:
    """The same on rows that hardly overlap, if they are here."""
    found = samples("imdb", setting.pick(quick=1_000, full=2_000))
    return None if found.name == "cancer" else _orders(Data(*found), setting, is_short=True)


def _spread(data: Data, setting: Setting, factor: float | None, step: str | None) -> Spread:
    """Passes against L_max, rows longer than a multiple of the mean length being cut to it."""
    n, L = data.X.shape[0], _curvatures(data.X, data.y)
    l2 = 0.3 * float(L.mean()) / n  # small enough that L, and not n, decides the passes
    cuts = setting.pick(glance=(1.0, EVEN, LONG, np.inf), quick=CUTS, full=CUTS)
    if L.max() < UNEVEN * L.mean():
        cuts = (np.inf,)  # nothing to cut
    largest, mean = [], []
    passes: dict[str, list[float]] = {"uniform": [], "short": [], "lipschitz": [], "search": []}
    for cut in cuts:
        X = _cut(data.X, np.minimum(1.0, cut * np.sqrt(L.mean() / L)))
        problem, held = _problem(X, data.y, l2), _curvatures(X, data.y)
        steepest = float(held.max())
        biased = tw.SAG() if factor is None else tw.SAG(step=factor / steepest)
        methods = {
            "uniform": tw.SAG(sampling="uniform"),
            "short": tw.SAG(step=0.5 / steepest),
            "lipschitz": biased,
            "search": tw.SAG(step=step),
        }
        best = _lowest(problem).value
        for name, method in methods.items():
            # Short steps leave little to chance, and take long.
            draws = 1 if name in ("uniform", "short") else setting.pick(glance=1, quick=3, full=5)
            passes[name].append(_passes(problem, method, best, _seeds(setting, draws)))
        largest.append(steepest)
        mean.append(float(held.mean()))
    counted = {name: np.array(each) for name, each in passes.items()}
    return Spread(data.name, np.array(largest), np.array(mean), counted)


def _cut(X: Any, scales: np.ndarray) -> Any:
    if scipy.sparse.issparse(X):
        return scipy.sparse.csr_array(scipy.sparse.diags_array(scales) @ X)
    return X * scales[:, None]


def _passes(problem: tw.LinearProblem, method: Any, best: float, seeds: list[int]) -> float:
    """Passes until the gap is `REACH` of the first, the median of several draws."""
    allowed = best + REACH * (problem.value(problem.start) - best)
    counts = [
        _run(problem, method, seed, lambda seen: seen.value <= allowed).iterations for seed in seeds
    ]
    return float(np.median(counts))


def _seeds(setting: Setting, count: int) -> list[int]:
    return [int(seed) for seed in setting.rng("draws").integers(2**31, size=count)]


def _watched(diary: list[tuple[np.ndarray, np.ndarray]]) -> type[tw.SAG]:
    """SAG that notes in `diary` the estimates before each pass, and which samples it visited."""

    class Watched(tw.SAG):
        def advance(self, problem: Any, state: Any) -> Any:
            n, before = state.slopes.size, state.slopes.copy()
            leaves = state.tree[state.tree.size // 2 :][:n].copy()
            after = super().advance(problem, state)
            # A slope that was computed anew differs, in its last digits at least.
            diary.append((leaves, (after.slopes != before) & ~np.isnan(after.slopes)))
            return after

    return Watched


def _visits(data: Data, setting: Setting, step: str | None) -> Visits:
    """A long run that estimates the Lᵢ, and its samples by their margins in the end."""
    n, bound = data.X.shape[0], _curvatures(data.X, data.y)
    problem = _problem(data.X, data.y, 0.03 * float(bound.mean()) / n)
    passes = setting.pick(glance=30, quick=60, full=200)
    diary: list[tuple[np.ndarray, np.ndarray]] = []
    method, seed = _watched(diary)(step=step), _seeds(setting, 1)[0]
    run = _run(problem, method, seed, lambda seen: seen.iteration == passes)
    late = diary[len(diary) // 2 :]
    late = [(leaves if leaves.size else bound, seen) for leaves, seen in late]
    margins = problem.y * problem.scores(run.w)
    tenths = np.array_split(np.argsort(margins), 10)
    shares = np.array([leaves / leaves.sum() for leaves, _ in late])
    predicted = np.mean(1.0 - (1.0 - 0.5 / n - 0.5 * shares) ** n, axis=0)
    curvature = 4.0 * bound / (2.0 + 2.0 * np.cosh(np.clip(margins, -300.0, 300.0)))
    estimate, share = late[-1][0], shares.mean(axis=0)

    def by_tenth(each: np.ndarray) -> np.ndarray:
        return np.array([each[tenth].mean() for tenth in tenths])

    return Visits(
        data.name,
        by_tenth(margins),
        by_tenth(diary[0][1]),
        by_tenth(np.mean([seen for _, seen in late], axis=0)),
        by_tenth(predicted),
        ratio=float(share[tenths[0]].mean() / share[tenths[-1]].mean()),
        fallen=float(estimate.sum() / bound.sum()),
        agreement=float(np.corrcoef(_ranks(estimate), _ranks(curvature))[0, 1]),
        excess=float(np.max(estimate / bound)),
    )


def _ranks(each: np.ndarray) -> np.ndarray:
    return np.argsort(np.argsort(each)).astype(float)


def _order_checks(orders: list[Orders]) -> list[Check]:
    fixed = [[each.fixed(order) for order in ORDERS] for each in orders]
    best = [[each.best(order) for order in ORDERS] for each in orders]
    return [
        Check(
            "with the step 1/2L_mean a pass leaves the least of the gap at random order, more in "
            "shuffled passes, the most in turn",
            all(a > b > c for a, b, c in fixed),
            "; ".join(
                f"{each.name}: IAG ×{a:.2f}, shuffled ×{b:.2f}, SAG ×{c:.2f}"
                for each, (a, b, c) in zip(orders, fixed, strict=True)
            ),
        ),
        Check(
            f"so it is with the best step of each order, within {SAME}",
            all(a + SAME >= b >= c - SAME and c < a for a, b, c in best),
            "; ".join(
                f"{each.name}: IAG ×{a:.2f}, shuffled ×{b:.2f}, SAG ×{c:.2f}"
                for each, (a, b, c) in zip(orders, best, strict=True)
            ),
        ),
    ]


def _text_check(text: Orders) -> Check:
    a, b, c = (text.best(order) for order in ORDERS)
    return Check(
        "on imdb too, with the best steps (its rows share few words, so that a long step in "
        "shuffled passes fits almost every row at once)",
        a >= b >= c,
        f"IAG ×{a:.2f}, shuffled ×{b:.2f}, SAG ×{c:.2f} a pass; with 1/2L_mean "
        + ", ".join(f"×{text.fixed(order):.2f}" for order in ORDERS),
        NOTED,
    )


def _spread_checks(spreads: list[Spread]) -> list[Check]:
    uneven = [each for each in spreads if each.is_uneven]
    even = [each for each in spreads if not each.is_uneven]
    return [
        Check(
            "uniform draws: passes grow in proportion to L_max, to the power 1 ± 0.15",
            all(abs(each.power("uniform", LONG) - 1.0) <= 0.15 for each in uneven),
            "; ".join(f"{each.name}: power {each.power('uniform', LONG):.2f}" for each in uneven),
        ),
        Check(
            "draws by Lᵢ with their longer step: passes do not follow L_max, power below 0.3",
            all(each.power("lipschitz", EVEN) < 0.3 for each in uneven),
            "; ".join(
                f"{each.name}: power {each.power('lipschitz', EVEN):.2f}, "
                f"{each.passes['lipschitz'][-1]:.0f} passes instead of "
                f"{each.passes['uniform'][-1]:.0f} at L_max = {each.largest[-1]:.3g}, "
                f"L_mean = {each.mean[-1]:.3g}"
                for each in uneven
            ),
        ),
        Check(
            # max Lᵢ/npᵢ is at most 2·L_mean. Rows that are cut are another problem, and draws
            # differ: hence the half.
            "they take as many as uniform draws do where rows are cut to L_max = 2·L_mean, within "
            "a half",
            all(each.passes["lipschitz"][-1] <= 1.5 * each.halfway for each in uneven),
            "; ".join(
                f"{each.name}: {each.passes['lipschitz'][-1]:.0f} and {each.halfway:.0f} passes"
                for each in uneven
            ),
        ),
        Check(
            "the draws alone, with the step of L_max, gain nothing (within a fifth)",
            all(
                abs(each.passes["short"][-1] / each.passes["uniform"][-1] - 1.0) <= 0.2
                for each in uneven
            ),
            "; ".join(
                f"{each.name}: {each.passes['short'][-1]:.0f} and "
                f"{each.passes['uniform'][-1]:.0f} passes"
                for each in uneven
            ),
        ),
        Check(
            "where L_mean is near L_max the two are the same, within a half",
            all(1.0 / 1.5 <= each.gain <= 1.5 for each in even),
            "; ".join(
                f"{each.name}: L_max/L_mean = {each.largest[-1] / each.mean[-1]:.2f}, "
                f"{each.passes['uniform'][-1]:.0f} and {each.passes['lipschitz'][-1]:.0f} passes"
                for each in even
            ),
        ),
        Check(
            "with Lᵢ estimated on the way no more passes than with the bounds ‖xᵢ‖²/4",
            all(each.passes["search"][-1] <= each.passes["lipschitz"][-1] for each in spreads),
            "; ".join(
                f"{each.name}: {each.passes['search'][-1]:.0f} and "
                f"{each.passes['lipschitz'][-1]:.0f}"
                for each in spreads
            ),
        ),
    ]


def _visit_checks(visits: list[Visits]) -> list[Check]:
    apart = max(float(np.max(np.abs(each.last - each.predicted))) for each in visits)
    return [
        Check(
            "the estimates fall below the bounds, none above, and rank the samples as "
            "ℓ″ᵢ‖xᵢ‖² at the minimum does (correlation of ranks 0.8 at least)",
            all(
                each.fallen <= 0.75 and each.excess <= 1.0 + 1e-9 and each.agreement >= 0.8
                for each in visits
            ),
            "; ".join(
                f"{each.name}: ΣLᵢ falls to {each.fallen:.2f} of its bound, "
                f"correlation {each.agreement:.2f}"
                for each in visits
            ),
        ),
        Check(
            "well-classified samples come more rarely: the best tenth by margin at most 3/4 as "
            "often as the worst, its share of the estimates a fifth at most",
            all(
                each.last[-1] <= 0.75 * each.last[0] and each.ratio >= 5.0 for each in visits
            ),
            "; ".join(
                f"{each.name}: a pass visits {each.last[0]:.0%} of the worst tenth and "
                f"{each.last[-1]:.0%} of the best, Lᵢ {each.ratio:.3g} times smaller"
                for each in visits
            ),
        ),
        Check(
            "as often as 1 − (1 − pᵢ)ⁿ says, within 0.08",
            apart <= 0.08,
            f"at most {apart:.3f} off, over ten groups of margins on each of the data",
        ),
    ]  # fmt: skip


def _order_table(orders: list[Orders]) -> Sheet:
    rows = [
        (
            f"{each.name}, {order}",
            each.best(order),
            float(each.steps[each.rates[order].argmin()]),
            each.fixed(order),
            float(each.limits[order]) if order in each.limits else "none",
            each.share,
        )
        for each in orders
        for order in ORDERS
    ]
    return Sheet(
        "What a pass leaves of the gap, and steps in units of 1/L_mean",
        ("data, order", "best factor", "at the step", "factor at 1/2", "limit, theory", "L_max/nL"),
        tuple(rows),
    )


def _spread_table(spreads: list[Spread]) -> Sheet:
    rows = [
        (each.name, largest, mean, *(each.passes[draws][k] for draws in each.passes))
        for each in spreads
        for k, (largest, mean) in enumerate(zip(each.largest, each.mean, strict=True))
    ]
    return Sheet(
        f"Passes to {REACH:g} of the first gap; a line for each length at which rows are cut",
        ("data", "L_max", "L_mean", "uniform", "by Lᵢ, step of L_max", "by Lᵢ", "Lᵢ estimated"),
        tuple(rows),
    )


def _draw_orders(orders: list[Orders]) -> Figure:
    panels = [
        panel(
            "step · L_mean", "factor of the gap a pass",
            [
                curve("IAG", each.steps, each.rates["IAG"], "iag"),
                curve("SAG, shuffled", each.steps, each.rates["SAG, shuffled"], "saga"),
                curve("SAG", each.steps, each.rates["SAG"], "sag"),
                Guide("limit of IAG, quadratics", each.limits["IAG"], "y"),
            ],
            log="x", title=each.name,
        )
        for each in orders
    ]  # fmt: skip
    told = " ".join(
        f"On {each.name} the best step leaves ×{each.best('IAG'):.2f} of the gap a pass in turn, "
        f"×{each.best('SAG, shuffled'):.2f} in shuffled passes and ×{each.best('SAG'):.2f} at "
        "random order."
        for each in orders
    )
    return figure("The order of visits decides how long steps may be", panels, told, columns=2)


def _draw_spread(spreads: list[Spread]) -> Figure:
    panels = []
    uneven = [each for each in spreads if each.is_uneven]
    for each in uneven:
        last = each.passes["uniform"][-1]
        panels.append(
            panel(
                "L_max / L_mean, by cutting long rows", "passes",
                [
                    curve("uniform", each.largest / each.mean[-1], each.passes["uniform"], 1,
                          dots=True),
                    curve("∝ L_max", each.largest / each.mean[-1],
                          last * each.largest / each.largest[-1], 1, theory=True,
                          decides_range=False),
                    curve("by Lᵢ", each.largest / each.mean[-1], each.passes["lipschitz"], 2,
                          dots=True),
                    curve("Lᵢ estimated", each.largest / each.mean[-1], each.passes["search"], 3,
                          dots=True),
                ],
                log="xy", title=each.name,
            )
        )  # fmt: skip
    told = " ".join(
        f"On {each.name} uniform draws take from {each.passes['uniform'].min():.0f} to "
        f"{each.passes['uniform'].max():.0f} passes as L_max grows, draws by Lᵢ "
        f"{each.passes['lipschitz'].min():.0f} to {each.passes['lipschitz'].max():.0f}."
        for each in uneven
    )
    return figure("Passes follow L_max, or L_mean", panels, told, columns=2)


def _draw_visits(visits: list[Visits]) -> Figure:
    panels = [
        panel(
            "margin of a tenth of the samples", "share visited in a pass",
            [
                curve("first pass", each.margins, each.first, 4, dots=True),
                curve("second half of the run", each.margins, each.last, 3, dots=True),
                curve("1 − (1 − pᵢ)ⁿ", each.margins, each.predicted, 0, theory=True),
            ],
            title=each.name,
        )
        for each in visits
    ]  # fmt: skip
    told = " ".join(
        f"On {each.name} a late pass visits {each.last[0]:.0%} of the worst classified tenth and "
        f"{each.last[-1]:.0%} of the best."
        for each in visits
    )
    return figure("Well-classified samples are visited more rarely", panels, told, columns=2)


LAB = Lab(
    name="sag-sampling",
    claim="SAG in shuffled passes lies between IAG and SAG; drawing samples by their Lipschitz "
    "constants, with a bigger step, makes the rate depend on L_mean instead of L_max; Lᵢ can be "
    "estimated as it goes, and well-classified samples are then slowly ignored.",
    formula="pᵢ = ½(1/n + Lᵢ/ΣL),   step 1/2 max(Lᵢ/npᵢ) ≥ 1/4L_mean   instead of   1/2L_max",
    places=("B, SAG Implementation", "B, SAG with Non-Uniform Sampling"),
    expected=Ruling.HOLDS,
    experiment=experiment,
    breaks=(
        Break("step", "draws by Lᵢ without the bigger step: 1/2L_max", {"factor": 0.5}),
        Break("estimates", "Lᵢ never estimated: the bounds ‖xᵢ‖²/4 throughout", {"step": None}),
    ),
    fails_if="shuffled passes leave less of the gap than random order or more than visits in turn "
    "(by more than 0.03 at the best steps); passes of draws by Lᵢ grow with L_max to a power of "
    "0.3 or more, or are more than 3/2 of those at L_max = 2·L_mean; or the best classified tenth "
    "is visited more than 3/4 as often as the worst",
    code="""\
import thalweg as tw

table = tw.read("@cancer", dtype="float64")
X = tw.scaling.ZScore().fit_transform(table.X)
problem = tw.LinearProblem(X, table.y, "logistic", l2=4e-3, fit_intercept=False)
L = problem.row_squares / 4
passes = {}
for sampling in ("uniform", "lipschitz"):
    run = tw.minimize(problem, tw.SAG(sampling=sampling), tol=1e-4, progress=False)
    passes[sampling] = run.iterations
print(f"L_max/L_mean = {L.max() / L.mean():.1f}, passes {passes}")
assert passes["lipschitz"] < passes["uniform"] / 3
""",
    seconds=12.0,
    remark="Two limits. On covtype one sample, with a feature that hardly any other has, holds a "
    "quarter of the curvature nL, so that random order bears steps only a few times longer than "
    "visits in turn, and the three orders lie close together. On imdb, whose rows hardly "
    "overlap, shuffled passes with their best step are faster than random order, so that "
    "“for SAG: no” is no law. And to “ignore” means half as many visits at the least: "
    "half of all draws are uniform.",
)
