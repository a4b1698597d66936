"""Where you start decides which minimum you get; wide networks have few bad ones.

Gradient descent with a step η ≤ 1/L goes downhill without leaping over anything. In one variable it
cannot pass a stationary point, so that a start left of the barrier of a double well ends in the
left well, and one on its right in the right well, however near the barrier both are:

    (x − b)(x⁺ − b) > 0,   since x⁺ − b = (1 − ηf″(ξ))(x − b) and ηf″ < 1

In n variables that do not interact, each with two wells, there are 2ⁿ minima. If a random start is
in the better well of one variable with probability p, it is in the best of all minima with
probability pⁿ.

Networks have many minima too: units can be swapped, and narrow ones get stuck with some of the
patterns learnt. The parity of four bits shows it: 16 patterns, y = ±1, and one hidden layer. A
network with few units ends at mean squared errors such as 1/8, 1/5 or 1/4 as often as at 0; one
with many units finds 0 from nearly every start, as there is almost always a unit left to use. Its
minima are then different weights with the same low cost, and which of them is found hardly matters.
"""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

import thalweg as tw
from thalweg.labbook import (
    NOTED,
    Break,
    Check,
    Contour,
    Figure,
    Findings,
    Lab,
    Point,
    Ruling,
    Setting,
    Sheet,
    band,
    curve,
    figure,
    panel,
)

BITS = 4
LOW = 0.05  # of the variance of the labels: a low cost
SAME = 0.05  # distance within which two ends are one minimum
SHAPES = ("circle", "square", "triangle", "diamond")
HIDDEN = {"glance": (4, 64), "quick": (2, 4, 8, 64), "full": (2, 4, 8, 16, 32, 64, 128)}


class Basins(NamedTuple):
    """Where gradient descent ended, from a grid of starts."""

    starts: np.ndarray  # float64[starts, 2]
    which: np.ndarray  # number of the minimum that it ended at; -1 for none
    minima: list[np.ndarray]
    kinds: list[str]


class Ends(NamedTuple):
    """Ends of training networks of one width from several starts."""

    width: int
    losses: np.ndarray  # shares of the variance of the labels
    stuck: int  # ends of high cost
    closed: int  # those of them without a direction along which the loss falls


def experiment(
    setting: Setting, *, surface: str = "himmelblau", scheme: str = "normal[sigma=1.0]"
) -> Findings:
    """Basins of surfaces; then networks of several widths, each from many starts."""
    basins = _basins(setting, tw.surfaces.SURFACES[surface]())
    sides = _sides(setting)
    lucky = _lucky(setting)
    ends = [_parity(setting, width, scheme) for width in _widths(setting)]
    digits = [_digits(setting, width, scheme) for width in HIDDEN[setting.budget]]
    checks = [
        *_about_surfaces(basins, sides, lucky),
        *_about_parity(ends),
        *_about_digits(digits),
    ]
    return Findings(
        checks,
        [_parity_table(ends), _digits_table(digits)],
        [
            _basin_figure(tw.surfaces.SURFACES[surface](), basins),
            _lucky_figure(lucky),
            _width_figure(ends, digits),
        ],
        [
            f"parity: {BITS} bits, all {2**BITS} patterns, one hidden layer of tanh units, L-BFGS; "
            "digits: 600 rows, one hidden layer of ReLU units, Adam"
        ],
    )


def _widths(setting: Setting) -> tuple[int, ...]:
    return setting.pick(glance=(3, 32), quick=(2, 3, 4, 6, 10, 20), full=(2, 3, 4, 6, 10, 20, 50))


def _basins(setting: Setting, surface: Any) -> Basins:
    side = np.linspace(-5.0, 5.0, setting.pick(glance=6, quick=12, full=16))
    starts = np.array(list(itertools.product(side, side)))
    # Of Himmelblau's function L is below 320 in the box.
    ends = [_descend(surface, start, 1.0 / 320.0, tol=1e-4) for start in starts]
    minima: list[np.ndarray] = []
    which = []
    for end in ends:
        near = [k for k, w in enumerate(minima) if np.linalg.norm(end - w) < SAME]
        if not near:
            minima.append(end)
        which.append(near[0] if near else len(minima) - 1)
    kinds = [tw.classify(surface, w, tol=1e-3).kind for w in minima]
    return Basins(starts, np.array(which), minima, kinds)


def _descend(surface: Any, start: Any, step: float, tol: float) -> np.ndarray:
    run = tw.minimize(surface, tw.GD(step=step), start, tol=tol, max_iter=1_000, progress=False)
    return run.w


def _sides(setting: Setting) -> list[tuple[float, bool]]:
    """Starts in a double well, and whether each ended in the well of its side."""
    wells = tw.surfaces.DoubleWell(dim=1)
    deep, shallow = (float(w[0]) for w in wells.minimizers)
    barrier = float(wells.barrier[0])
    starts = setting.rng("wells").uniform(-2.0, 2.0, setting.pick(glance=10, quick=40, full=400))
    beside = barrier + np.array([-1e-1, -1e-3, -1e-6, 1e-6, 1e-3, 1e-1])
    found = []
    for x in [*starts, *beside]:
        # |f″| ≤ 12·2² − 4 = 44 between −2 and 2; at 10⁻⁶ of the barrier the gradient is 4·10⁻⁶.
        end = float(_descend(wells, [x], 1.0 / 44.0, tol=1e-9)[0])
        own = min(deep, shallow) if x < barrier else max(deep, shallow)
        found.append((float(x), abs(end - own) < 1e-3))
    return found


def _lucky(setting: Setting) -> dict[int, tuple[int, int, float, int]]:
    """Variables to (starts that led to the best minimum, starts, pⁿ, different minima)."""
    count = setting.pick(glance=40, quick=200, full=2_000)
    middle = np.sort(np.roots([2.0, 0.0, -16.0, 2.5]).real)[1]
    p = (middle + 5.0) / 10.0
    found = {}
    for n in setting.pick(glance=(1, 3), quick=(1, 2, 3, 4, 5), full=(1, 2, 3, 4, 5, 6, 7)):
        surface = tw.surfaces.StyblinskiTang(dim=n)
        starts = setting.rng("starts", n).uniform(-5.0, 5.0, (count, n))
        # 6x² − 16 ≤ 134 in the box.
        ends = [_descend(surface, start, 1.0 / 134.0, tol=1e-3) for start in starts]
        places = Counter(tuple(np.sign(end).astype(int)) for end in ends)
        found[n] = places[(-1,) * n], count, p**n, len(places)
    return found


def _about_surfaces(
    basins: Basins, sides: list[tuple[float, bool]], lucky: dict[int, tuple[int, int, float, int]]
) -> list[Check]:
    sizes = np.bincount(basins.which)
    off = {n: (hits / count - p) / np.sqrt(p * (1 - p) / count)
           for n, (hits, count, p, _) in lucky.items()}  # fmt: skip
    most = max(lucky)
    return [
        Check(
            "a function can have several minima, and the start decides which is found",
            len(basins.minima) == 4 and set(basins.kinds) == {"minimum"},
            f"{len(basins.starts)} starts end at {len(basins.minima)} places, "
            f"{', '.join(map(str, sizes))} of them at each; kinds: "
            f"{', '.join(sorted(set(basins.kinds)))}",
        ),
        Check(
            "gradient descent does not leave the well that it starts in, to 10⁻⁶ of the barrier",
            all(own for _, own in sides), f"{sum(own for _, own in sides)} of {len(sides)} starts",
        ),
        Check(
            # Four standard errors of a binomial share.
            "the global minimum of 2ⁿ is found with probability pⁿ",
            max(map(abs, off.values())) <= 4.0,
            ", ".join(f"n = {n}: {hits / count:.3f} ({p:.3f})"
                      for n, (hits, count, p, _) in lucky.items())
            + f"; {lucky[most][3]} different minima seen for n = {most}",
        ),
    ]  # fmt: skip


def _parity(setting: Setting, width: int, scheme: str) -> Ends:
    import torch

    X = np.array(list(itertools.product((-1.0, 1.0), repeat=BITS)))
    data = torch.tensor(X), torch.tensor(X.prod(axis=1, keepdims=True))
    model = torch.nn.Sequential(
        torch.nn.Linear(BITS, width), torch.nn.Tanh(), torch.nn.Linear(width, 1)
    ).double()
    losses, stuck, closed = [], 0, 0
    iterations = setting.pick(glance=120, quick=150, full=2_000)
    for draw in range(setting.pick(glance=6, quick=10, full=100)):
        tw.nets.initialize(model, scheme, seed=1_000 * setting.seed + draw)
        f = tw.nets.objective(model, data, "squared")
        run = tw.minimize(f, "lbfgs", tol=1e-5, max_iter=iterations, progress=False)
        losses.append(2.0 * run.value)
        if losses[-1] > LOW:
            stuck += 1
            # A fall of a hundredth of the loss would be a way on.
            closed += tw.classify(f, run.w, tol=1e-3).drop < 0.01 * run.value
    return Ends(width, np.array(losses), stuck, closed)


def _about_parity(ends: list[Ends]) -> list[Check]:
    narrow, wide = ends[0], ends[-1]
    low = [float(np.mean(each.losses <= LOW)) for each in ends]
    stuck, closed = sum(each.stuck for each in ends), sum(each.closed for each in ends)
    return [
        Check(
            "most minima of a wide network cost little", low[-1] >= 0.9,
            f"with {wide.width} units {low[-1]:.0%} of {len(wide.losses)} starts end below {LOW:g} "
            f"of the variance; the worst at {wide.losses.max():.2g}",
        ),
        Check(
            "the final losses lie closer together the wider the network is",
            wide.losses.max() - wide.losses.min() < 0.5 * np.ptp(narrow.losses)
            and np.mean(wide.losses) < 0.5 * np.mean(narrow.losses),
            f"from {narrow.losses.min():.2g} to {narrow.losses.max():.2g} with {narrow.width} "
            f"units, from {wide.losses.min():.1g} to {wide.losses.max():.1g} with {wide.width}",
        ),
        Check(
            "what holds the narrow ones is no saddle: at most ends there is no way down",
            stuck > 0 and closed >= 0.5 * stuck,
            f"at {closed} of {stuck} ends of high cost no direction was found along which the "
            "loss falls by a hundredth",
        ),
        Check(
            "“using insufficiently large networks”, as the slide has it, they cost little as well",
            low[0] >= 0.9,
            f"{low[0]:.0%} of the starts with {narrow.width} units", NOTED,
        ),
    ]  # fmt: skip


class Trained(NamedTuple):
    """Networks of one width that learnt digits from several starts."""

    width: int
    losses: np.ndarray
    errors: np.ndarray  # on rows that were not trained on
    likeness: float  # mean cosine between units of two of them, matched as well as can be


def _digits(setting: Setting, width: int, scheme: str) -> Trained:
    import torch

    table = tw.read("@digits", dtype="float32")
    labels = np.asarray(table.y)
    order = setting.rng("digits").permutation(len(labels))
    X, y = torch.tensor(np.asarray(table.X)[order] / 16.0), torch.tensor(labels[order])
    losses, errors, units = [], [], []
    for draw in range(setting.pick(glance=3, quick=5, full=20)):
        model: Any = torch.nn.Sequential(
            torch.nn.Linear(64, width), torch.nn.ReLU(), torch.nn.Linear(width, 10)
        )
        own = "he" if scheme.startswith("normal") else scheme
        tw.nets.initialize(model, own, seed=1_000 * setting.seed + draw)
        run = tw.nets.fit(
            model, (X[:600], y[:600]), "adam[lr=0.01]",
            epochs=setting.pick(glance=12, quick=25, full=100), seed=draw, progress=False,
        )  # fmt: skip
        losses.append(float(run.trace["value"][-1]))
        with torch.no_grad():
            errors.append(float((model(X[600:]).argmax(1) != y[600:]).double().mean()))
        units.append(model[0].weight.detach().numpy())
    return Trained(width, np.array(losses), np.array(errors), _likeness(units[0], units[1]))


def _likeness(one: np.ndarray, other: np.ndarray) -> float:
    a, b = (w / np.maximum(np.linalg.norm(w, axis=1, keepdims=True), 1e-12) for w in (one, other))
    cosines = a @ b.T
    return float(cosines[linear_sum_assignment(-cosines)].mean())


def _about_digits(digits: list[Trained]) -> list[Check]:
    narrow, wide = digits[0], digits[-1]
    return [
        Check(
            "so on digits: wide networks end at different weights, all with a low cost",
            wide.losses.max() <= 0.1 and wide.likeness <= 0.9,
            f"{wide.width} units: losses up to {wide.losses.max():.2g}; units of two networks, "
            f"matched, have a cosine of {wide.likeness:.2f} on average",
        ),
        Check(
            "it hardly matters which of them is found: test errors of the wide lie closer together",
            np.ptp(wide.errors) < np.ptp(narrow.errors)
            and wide.errors.max() < np.median(narrow.errors),
            f"{wide.errors.min():.1%} to {wide.errors.max():.1%} with {wide.width} units, "
            f"{narrow.errors.min():.1%} to {narrow.errors.max():.1%} with {narrow.width}",
        ),
    ]  # fmt: skip


def _parity_table(ends: list[Ends]) -> Sheet:
    rows = tuple(
        (
            each.width, float(each.losses.min()), float(np.median(each.losses)),
            float(each.losses.max()), float(np.mean(each.losses <= LOW)), each.stuck, each.closed,
        )
        for each in ends
    )  # fmt: skip
    heads = (
        "units", "least loss", "median", "largest", "share of low cost", "ends of high cost",
        "without a way down",
    )  # fmt: skip
    return Sheet("Parity: final losses from many starts", heads, rows)


def _digits_table(digits: list[Trained]) -> Sheet:
    rows = tuple(
        (
            each.width, float(each.losses.min()), float(each.losses.max()),
            float(each.errors.min()), float(each.errors.max()),
        )
        for each in digits
    )  # fmt: skip
    heads = ("units", "least loss", "largest loss", "least test error", "largest test error")
    return Sheet("Digits: from several starts", heads, rows)


def _basin_figure(surface: Any, basins: Basins) -> Figure:
    x = np.linspace(-5.5, 5.5, 90)
    heights = surface.value(np.stack(np.meshgrid(x, x), -1))
    marks: list[Any] = [Contour(x, x, heights, np.quantile(heights, np.linspace(0.03, 0.9, 9)))]
    named: set[int] = set()
    for (a, b), which in zip(basins.starts, basins.which.tolist(), strict=True):
        w = basins.minima[which]
        name = "" if which in named else f"to ({w[0]:.1f}, {w[1]:.1f})"
        named.add(which)
        marks.append(Point(name, float(a), float(b), SHAPES[which % len(SHAPES)]))
    marks += [Point("", float(w[0]), float(w[1]), "cross") for w in basins.minima]
    sizes = np.bincount(basins.which)
    return figure(
        "Where gradient descent ends, by where it starts",
        panel("x of the start", "y of the start", marks),
        f"{len(basins.starts)} starts, {len(basins.minima)} minima, reached by "
        f"{', '.join(map(str, sizes))} of them.",
        f"{surface!r}; crosses: the minima",
    )


def _lucky_figure(lucky: dict[int, tuple[int, int, float, int]]) -> Figure:
    n = list(lucky)
    shares = [hits / count for hits, count, _, _ in lucky.values()]
    return figure(
        "Random starts that lead to the best of 2ⁿ minima",
        panel(
            "n, variables", "share of starts",
            [
                curve("measured", n, shares, 1, dots=True),
                curve("pⁿ", n, [p for _, _, p, _ in lucky.values()], 2, theory=True),
            ],
        ),
        ", ".join(f"n = {k}: {share:.3f}" for k, share in zip(n, shares, strict=True)) + ".",
        "Styblinski and Tang's function, starts in [−5, 5]ⁿ",
    )  # fmt: skip


def _width_figure(ends: list[Ends], digits: list[Trained]) -> Figure:
    panels = []
    for title, label, widths, values in (
        ("parity", "final loss, share of variance", [e.width for e in ends],
         [e.losses for e in ends]),
        ("digits", "test error", [d.width for d in digits], [d.errors for d in digits]),
    ):  # fmt: skip
        marks: list[Any] = [
            band("all starts", widths, [v.min() for v in values], [v.max() for v in values], 1),
            curve("median", widths, [float(np.median(v)) for v in values], 1, dots=True),
        ]
        panels.append(panel("hidden units", label, marks, log="x", title=title))
    return figure(
        "Final losses against width", panels,
        f"Parity: from {ends[0].losses.min():.2g} to {ends[0].losses.max():.2g} with "
        f"{ends[0].width} units, to {ends[-1].losses.max():.1g} with {ends[-1].width}. Digits: "
        f"test errors up to {digits[0].errors.max():.0%} with {digits[0].width} units, up to "
        f"{digits[-1].errors.max():.0%} with {digits[-1].width}.",
        columns=2,
    )  # fmt: skip


LAB = Lab(
    name="local-optima",
    claim="Non-convex functions have several minima, and where one starts decides which is found; "
    "most local minima of a large network cost little, and one of them will do.",
    formula="P(best of 2ⁿ minima) = pⁿ",
    places=("C, Challenges with optimization", "C, Local optima"),
    expected=Ruling.HOLDS,
    experiment=experiment,
    breaks=(
        Break("convex", "a convex surface, with one minimum", {"surface": "quadratic"}),
        Break(
            "symmetric",
            "all units start alike, so that a wide network is a narrow one",
            {"scheme": "constant[value=0.5]"},
        ),
    ),
    fails_if="another number than four minima of Himmelblau's function; a start that ends in the "
    "other well; fewer than nine in ten starts of the widest network at a low cost, or a spread "
    "of its final losses above half of the narrowest one's",
    code="""\
import numpy as np
import thalweg as tw

surface = tw.surfaces.Himmelblau()
ends = set()
for start in np.random.default_rng(0).uniform(-5, 5, (30, 2)):
    run = tw.minimize(surface, tw.GD(step=1 / 320), start, tol=1e-6, progress=False)
    ends.add(tuple(run.w.round(2).tolist()))
    print(start.round(1), "ends at", run.w.round(2))
assert len(ends) == 4
""",
    seconds=17.0,
    needs_torch=True,
    remark="The slide says “using insufficiently large neural networks”; what is measured here, "
    "and meant there, is the opposite: it is networks that are large enough whose minima mostly "
    "cost little. With too few units most starts end at a high cost.",
)
