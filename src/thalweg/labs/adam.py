"""Adam is RMSProp with momentum, corrected for its start at zero.

Two moments fade with β₁ and β₂ (C writes ρ₁ and ρ₂):

    mₜ = β₁mₜ₋₁ + (1 − β₁)gₜ        sₜ = β₂sₜ₋₁ + (1 − β₂)gₜ²
    θₜ₊₁ = θₜ − ηmₜ/(√sₜ + ε)        as both lectures print it

The first is the heavy ball's sum times 1 − β₁, the second RMSProp's mean square. Both begin at 0,
so after t steps they hold only 1 − βᵗ of what they are to estimate:

    E mₜ = (1 − β₁ᵗ) E g        E sₜ = (1 − β₂ᵗ) E g²

Both lectures name the correction that divides it away, and print the update without:

    m̂ₜ = mₜ/(1 − β₁ᵗ)        ŝₜ = sₜ/(1 − β₂ᵗ)        θₜ₊₁ = θₜ − ηm̂ₜ/(√ŝₜ + ε)

Along a steady gradient the corrected move is η from the first step on. The printed one is
η(1 − β₁ᵗ)/√(1 − β₂ᵗ): with β₁ = 0.9 and β₂ = 0.999 that is 3.2 η at first, 6.6 η around the twelfth
step, and within a hundredth of η only after 3,900.

If gradients are multiplied by c so are m and √s, and the move stays. And m is a mean, not a sum: β₁
does not change the effective rate, where the heavy ball's η/(1 − β) grows a hundredfold from β = 0
to 0.99. That is why a grid of rates and momenta is flatter for Adam.
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
    Heatmap,
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

Rule = Callable[..., tuple[Any, Any, Any]]
BETA1, BETA2, EPS = 0.9, 0.999, 1e-8
BETAS = (0.0, 0.5, 0.8, 0.9, 0.95, 0.99)
FEW_BETAS = (0.0, 0.8, 0.99)  # for a glance
CHANCE = float(np.log(10.0))  # loss of a guess among ten digits
BATCH, HIDDEN = 32, 24


def printed(
    w: Any, g: Any, m: Any, v: Any, t: int, lr: Any, beta1: Any, beta2: Any, eps: Any
) -> tuple[Any, Any, Any]:
    """The update as the slides have it."""
    return rules.adam_uncorrected(w, g, m, v, lr, beta1, beta2, eps)


def fed(rule: Rule, gradients: np.ndarray, beta1: float = BETA1) -> np.ndarray:
    """The moves that a rule makes of given gradients, with η = 1."""
    zero = np.zeros(gradients.shape[1:])
    m, v, moves = zero, zero, []
    for t, g in enumerate(gradients, 1):
        moved, m, v = rule(zero, g, m, v, t, 1.0, beta1, BETA2, EPS)
        moves.append(-moved)
    return np.array(moves)


class Start(NamedTuple):
    """The first moves along a steady gradient, in η, float64[T] each."""

    corrected: np.ndarray
    printed: np.ndarray
    theory: np.ndarray  # of the printed one


def started(rule: Rule) -> Start:
    """With and without correction."""
    T = 5_000
    t = np.arange(1, T + 1)
    ones = np.ones((T, 1))
    theory = (1.0 - BETA1**t) / np.sqrt(1.0 - BETA2**t)
    return Start(fed(rule, ones)[:, 0], fed(printed, ones)[:, 0], theory)


def start_checks(found: Start) -> list[Check]:
    """What the correction does to the first steps."""
    peak = int(found.printed.argmax())
    later = np.flatnonzero(found.printed[peak:] < 1.01)
    alike = peak + int(later[0]) + 1 if later.size else len(found.printed)
    off = float(np.abs(found.corrected - 1.0).max())
    return [
        Check(
            "with correction a move along a steady gradient is η from the first step on",
            off < 1e-6, f"off by {off:.1e} of η at most over {len(found.corrected):,} steps",
        ),
        Check(
            "as printed, without, it is (1 − β₁ᵗ)/√(1 − β₂ᵗ) times as long",
            np.allclose(found.printed, found.theory, rtol=1e-6),
            f"{found.printed[0]:.2f} η at first, {found.printed[peak]:.2f} η at step {peak + 1}, "
            f"and the two become one: within 1 % from step {alike:,} on",
        ),
    ]  # fmt: skip


def moment_checks(setting: Setting, rule: Rule) -> list[Check]:
    """Two moments: whose they are, and whether they are right on average."""
    T, count = 60, setting.pick(glance=10_000, quick=50_000, full=500_000)
    rng = setting.rng("moments")
    m, v, ball = np.zeros(count), np.zeros(count), np.zeros(count)
    w = np.zeros(count)
    first, second, off = [], [], 0.0
    for t in range(1, T + 1):
        g = 1.0 + rng.standard_normal(count)  # E g = 1, E g² = 2
        _, m, v = rule(w, g, m, v, t, 1.0, BETA1, BETA2, EPS)
        _, ball = rules.heavy_ball(w, g, ball, 1.0, BETA1)
        off = max(off, float(np.abs(m - (1.0 - BETA1) * ball).max()))
        first.append(m.mean() / (1.0 - BETA1**t))
        second.append(v.mean() / (1.0 - BETA2**t))
    # The first estimates have the largest error: √(var/count), with var g = 1 and var g² = 6.
    error = max(abs(np.array(first) - 1.0).max(), abs(np.array(second) - 2.0).max() / 6.0**0.5)
    drawn = rng.standard_normal((50, 20))
    alone = np.zeros(20)
    rms, bare, s, m0, v0 = [], [], alone, alone, alone
    for t, g in enumerate(drawn, 1):
        moved, s = rules.rmsprop(alone, g, s, 1.0, BETA2, EPS)
        rms.append(moved)
        moved, m0, v0 = printed(alone, g, m0, v0, t, 1.0, 0.0, BETA2, EPS)
        bare.append(moved)
    alike = float(np.abs(np.array(rms) - np.array(bare)).max())
    return [
        Check(
            "it is RMSProp with momentum: m is the heavy ball's, and β₁ = 0 is RMSProp",
            off < 1e-12 and alike < 1e-12,
            f"largest differences {off:.0e} and {alike:.0e}",
        ),
        Check(
            "divided by 1 − βᵗ both moments are right on average at every step",
            error < 5.0 / count**0.5,
            f"at most {error * count**0.5:.1f} standard errors off over {T} steps; undivided m "
            f"holds {1 - BETA1:.1f} and s {1 - BETA2:.3f} of it at the first",
        ),
    ]


def invariance_checks(setting: Setting, rule: Rule) -> list[Check]:
    """Units of the loss do not matter, and no move is much longer than η."""
    drawn = setting.rng("units").standard_normal((300, 50)) + 0.3
    moves = {c: fed(rule, c * drawn) for c in (1.0, 1e3, 1e6)}
    off = max(float(np.abs(each - moves[1.0]).max()) for each in moves.values())
    rare = np.zeros((1_000, 1))
    rare[-1] = 1.0  # the worst case: one gradient after none
    bound = (1.0 - BETA1) / (1.0 - BETA2) ** 0.5
    longest = max(float(np.abs(moves[1.0]).max()), float(np.abs(fed(rule, rare)).max()))
    return [
        Check(
            "the moves do not depend on the units of the loss", off < 1e-3,
            f"gradients times 1000 and a million change a move by {off:.0e} η at most",
        ),
        Check(
            "no move is longer than η(1 − β₁)/√(1 − β₂)", 1.0 <= longest <= bound + 1e-6,
            f"longest {longest:.3f} η, bound {bound:.3f} η",
        ),
    ]  # fmt: skip


def method_check(rule: Rule) -> Check:
    """tw.Adam against the rules, with correction and without."""
    surface = tw.surfaces.Rosenbrock()
    off = 0.0
    for by, corrected in ((rule, True), (printed, False)):
        ends: list[np.ndarray] = []

        def note(seen: tw.Step, ends: list[np.ndarray] = ends) -> None:
            ends.append(np.array(seen.w))

        method = tw.Adam(lr=0.01, bias_correction=corrected)
        tw.minimize(surface, method, tol=1e-300, max_iter=200, progress=False, callback=note)
        w, m, v = surface.start, np.zeros(2), np.zeros(2)
        for t, seen in enumerate(ends, 1):
            w, m, v = by(w, surface.gradient(w), m, v, t, 0.01, BETA1, BETA2, EPS)
            off = max(off, float(np.abs(w - seen).max()))
    return Check(
        "tw.Adam walks by these formulas, with correction and without", off < 1e-9,
        f"largest difference {off:.1e} over 200 steps on Rosenbrock's valley",
    )  # fmt: skip


class Grid(NamedTuple):
    """Training loss of a network over rates and momenta."""

    rates: np.ndarray
    losses: np.ndarray  # float64[betas, rates]

    @property
    def best(self) -> float:
        """The lowest."""
        return float(self.losses.min())

    @property
    def worst_momentum(self) -> tuple[float, float]:
        """Of the one rate that serves all momenta best: it, and its highest loss."""
        worst = self.losses.max(0)
        return float(self.rates[worst.argmin()]), float(worst.min())

    @property
    def moved(self) -> float:
        """The largest by the smallest of the rates that are best for each momentum."""
        best = self.rates[self.losses.argmin(1)]
        return float(best.max() / best.min())


def digits(setting: Setting, *, uneven: bool) -> tuple[Any, Any]:
    """Pictures, float32[n, 64], and labels; `uneven` columns differ by a hundredfold in scale."""
    import torch

    table = tw.read("@digits")
    X = np.asarray(table.X, dtype=np.float32) / 16.0
    if uneven:
        X = X * 10.0 ** setting.rng("columns").uniform(-1.0, 1.0, X.shape[1])
    return torch.tensor(X, dtype=torch.float32), torch.tensor(np.asarray(table.y))


def trained(
    setting: Setting, by: str, rates: np.ndarray, rule: Rule, *, uneven: bool
) -> np.ndarray:
    """Loss over all samples after some steps, float64[betas, rates].

    All networks are trained at once, as one batch of matrices: they differ in rate and momentum
    only, and share first weights and mini-batches.
    """
    import torch

    X, y = digits(setting, uneven=uneven)
    betas = setting.pick(glance=FEW_BETAS, quick=BETAS, full=BETAS)
    steps = setting.pick(glance=100, quick=250, full=2_000)
    pairs = [(beta, rate) for beta in betas for rate in rates]
    beta, rate = (torch.tensor(each).float()[:, None, None] for each in zip(*pairs, strict=True))
    weights = first_weights(setting, len(pairs))
    state = [(torch.zeros_like(w), torch.zeros_like(w)) for w in weights]

    def losses(rows: Any) -> Any:
        inside = torch.tanh(torch.matmul(X[rows], weights[0]) + weights[1])
        scores = torch.matmul(inside, weights[2]) + weights[3]
        flat = torch.nn.functional.cross_entropy(
            scores.flatten(0, 1), y[rows].repeat(len(pairs)), reduction="none"
        )
        return flat.view(len(pairs), -1).mean(1)

    rng = setting.rng("batches")
    for t in range(1, steps + 1):
        for w in weights:
            w.requires_grad_(True)
        rows = torch.tensor(rng.integers(0, len(y), BATCH))
        gradients = torch.autograd.grad(losses(rows).sum(), weights)
        for k, (w, g) in enumerate(zip(weights, gradients, strict=True)):
            m, v = state[k]
            if by == "adam":
                w, m, v = rule(w.detach(), g, m, v, t, rate, beta, BETA2, EPS)
            else:
                w, m = rules.heavy_ball(w.detach(), g, m, rate, beta)
            weights[k], state[k] = w, (m, v)
    with torch.no_grad():
        found = losses(torch.arange(len(y))).double().numpy()
    return np.nan_to_num(found, nan=np.inf).reshape(len(betas), len(rates))


def first_weights(setting: Setting, count: int) -> list[Any]:
    """Two layers, 64 to 24 to 10, the same for all networks: float32[count, …]."""
    import torch

    rng = setting.rng("weights")
    shapes = ((64, HIDDEN), (1, HIDDEN), (HIDDEN, 10), (1, 10))
    return [
        torch.tensor(
            rng.standard_normal(shape) / shape[0] ** 0.5 if shape[0] > 1 else np.zeros(shape)
        ).float().repeat(count, 1, 1)
        for shape in shapes
    ]  # fmt: skip


def grids(setting: Setting, rule: Rule) -> dict[tuple[str, bool], Grid]:
    """Adam's and SGD's, on plain pictures and, but for a glance, on columns of uneven scale."""
    count = setting.pick(quick=9, full=17)
    problems = setting.pick(glance=(False,), quick=(False, True), full=(False, True))
    spans = {"adam": np.geomspace(1e-4, 1.0, count), "sgd": np.geomspace(1e-3, 10.0, count)}
    return {
        (by, uneven): Grid(spans[by], trained(setting, by, spans[by], rule, uneven=uneven))
        for uneven in problems
        for by in ("adam", "sgd")
    }


def robustness_checks(found: dict[tuple[str, bool], Grid]) -> list[Check]:
    """How much a wrong momentum, or one setting for two problems, costs."""
    checks = []
    names = {False: "plain pictures", True: "columns of uneven scale"}
    problems = [uneven for by, uneven in found if by == "adam"]
    for uneven in problems:
        adam, sgd = found["adam", uneven], found["sgd", uneven]
        (rate, mine), (other_rate, other) = adam.worst_momentum, sgd.worst_momentum
        best = min(adam.best, sgd.best)
        cost, other_cost = mine / best, other / best
        checks.append(
            Check(
                # SGD's effective rate changes a hundredfold over these β, Adam's not at all.
                f"with one rate any β₁ from 0 to 0.99 does, unlike the β of SGD ({names[uneven]})",
                cost < 0.5 * other_cost,
                f"η = {rate:.2g}: at worst {cost:.1f} times the best loss of both methods; SGD at "
                f"η = {other_rate:.2g} {other_cost:.1f} times",
            )
        )
        mine, other = adam.moved, sgd.moved
        checks.append(
            Check(
                f"the best rate moves less with β₁ than that of SGD with β ({names[uneven]})",
                mine < other,
                f"by a factor of {mine:.2g} over all β₁, by {other:.2g} over all β",
            )
        )
    if len(problems) > 1:
        worst = {}
        for by in ("adam", "sgd"):
            both = [
                found[by, uneven].losses / min(found[each, uneven].best for each in ("adam", "sgd"))
                for uneven in problems
            ]
            worst[by] = float(np.maximum(*both).min())
        checks.append(
            Check(
                "one setting serves both problems better than any of SGD",
                worst["adam"] < worst["sgd"],
                f"within {worst['adam']:.1f} times the best loss of both methods, SGD "
                f"{worst['sgd']:.1f} times",
            )
        )
    plain = found["adam", False], found["sgd", False]
    shares = [float((each.losses <= 5.0 * each.best).mean()) for each in plain]
    checks.append(
        Check(
            "the rate still has to be chosen, as for SGD", max(shares) < 1.0,
            f"of four decades of η and all β, {shares[0]:.0%} are within five times the best loss, "
            f"by SGD {shares[1]:.0%}", NOTED,
        )
    )  # fmt: skip
    return checks


def network_check(setting: Setting, grid: Grid, rule: Rule) -> Check:
    """tw.nets.Adam, one network by itself, against its cell of the grid."""
    import torch

    k = int(np.abs(grid.rates - 0.01).argmin())
    rate = float(grid.rates[k])
    X, y = digits(setting, uneven=False)
    weights = [w[0] for w in first_weights(setting, 1)]
    model = torch.nn.Sequential(
        torch.nn.Linear(64, HIDDEN), torch.nn.Tanh(), torch.nn.Linear(HIDDEN, 10)
    )
    with torch.no_grad():
        for own, w in zip(model.parameters(), weights, strict=True):
            own.copy_(w.T if w.shape[0] > 1 else w[0])
    optimizer = tw.nets.Adam(model, lr=rate, betas=(BETAS[2], BETA2), eps=EPS)
    rng, steps = setting.rng("batches"), setting.pick(glance=100, quick=250, full=2_000)
    for _ in range(steps):
        rows = torch.tensor(rng.integers(0, len(y), BATCH))
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(X[rows]), y[rows]).backward()
        optimizer.step()
    with torch.no_grad():
        own_loss = float(torch.nn.functional.cross_entropy(model(X), y))
    row = 1 if setting.budget == "glance" else 2
    cell = float(grid.losses[row, k])
    return Check(
        # float32 in another order of sums: the last digits differ, and grow along the way.
        "tw.nets.Adam trains a network to the loss of its cell of the grid",
        abs(own_loss / cell - 1.0) < 0.05,
        f"{own_loss:.4f} and {cell:.4f} with η = {rate:.2g}, β₁ = {BETAS[2]:g}",
    )


def draw_start(found: Start, grid: dict[tuple[str, bool], Grid]) -> Figure:
    """First moves, and losses over rates with the spread over momenta."""
    t = np.unique(np.geomspace(1, len(found.printed), 200).astype(int))
    first = panel(
        Axis("step t", "log"), "move, in η",
        [curve("corrected", t, found.corrected[t - 1], 1),
         curve("as printed", t, found.printed[t - 1], 2),
         curve("theory", t, found.theory[t - 1], 2, theory=True)],
        title="Along a steady gradient",
    )  # fmt: skip
    spread: list[Any] = []
    for by, name, hue in (("adam", "Adam", 3), ("sgd", "SGD", 5)):
        each = grid[by, False]
        low, high = np.minimum([each.losses.min(0), each.losses.max(0)], 10.0)
        spread += [
            band(f"{name}, all β", each.rates, low, high, hue),
            curve(f"{name}, best β", each.rates, low, hue),
        ]
    rates = panel("rate η", "loss", spread, log="xy", title="A network on digits")
    return figure(
        "First moves, and rates", [first, rates],
        f"With correction every move is η. As printed the first is {found.printed[0]:.2f} η, the "
        f"longest {found.printed.max():.2f} η. Over all β from 0 to 0.99 Adam's losses lie close "
        "together, SGD's far apart.",
        "Losses above 10 are cut off", columns=2,
    )  # fmt: skip


def draw_grids(setting: Setting, found: dict[tuple[str, bool], Grid]) -> Figure:
    """Heat maps of the loss."""
    betas = setting.pick(glance=FEW_BETAS, quick=BETAS, full=BETAS)
    panels, words = [], []
    for (by, uneven), grid in found.items():
        name = f"{'Adam' if by == 'adam' else 'SGD'}, {'uneven' if uneven else 'plain'}"
        i, j = np.unravel_index(grid.losses.argmin(), grid.losses.shape)
        marks: list[Any] = [
            Heatmap("training loss", np.minimum(grid.losses, CHANCE), "log"),
            Point("lowest", float(j), float(i)),
        ]
        x = Axis("rate η", categories=tuple(f"{rate:.2g}" for rate in grid.rates))
        y = Axis("β₁" if by == "adam" else "β", categories=tuple(f"{b:g}" for b in betas))
        panels.append(panel(x, y, marks, title=name))
        words.append(f"{name}: {grid.best:.3f}")
    return figure(
        "Loss over rate and momentum", panels,
        f"The lowest losses on plain pictures and on columns of uneven scale: {'; '.join(words)}. "
        "Adam's columns have one colour: β₁ hardly matters. SGD's best cells lie along a diagonal, "
        "of constant η/(1 − β).",
        f"Losses above {CHANCE:.1f}, that of a guess, have the lightest colour", columns=2,
    )  # fmt: skip


def experiment(setting: Setting, *, rule: Rule = rules.adam) -> Findings:
    """First steps, moments, units, and a grid of networks, with `rule` for Adam's."""
    start, found = started(rule), grids(setting, rule)
    checks = [
        *start_checks(start), *moment_checks(setting, rule), *invariance_checks(setting, rule),
        method_check(rule), *robustness_checks(found),
        network_check(setting, found["adam", False], rule),
    ]  # fmt: skip
    rows = []
    for (by, uneven), grid in found.items():
        rate, worst = grid.worst_momentum
        best_rate = float(grid.rates[grid.losses.min(0).argmin()])
        name = f"{'Adam' if by == 'adam' else 'SGD'}, {'uneven' if uneven else 'plain'}"
        rows.append((name, best_rate, grid.best, rate, worst))
    shown = [t for t in (1, 2, 5, 12, 50, 200, 1_000, 5_000) if t <= len(start.printed)]
    return Findings(
        checks,
        [
            Sheet("Moves along a steady gradient, in η", ("step", "corrected", "as printed",
                  "theory"), tuple((str(t), start.corrected[t - 1], start.printed[t - 1],
                                    start.theory[t - 1]) for t in shown)),
            Sheet("Losses of a network on digits", ("method and columns", "best η", "its loss",
                  "η for all β", "worst loss there"), tuple(rows)),
        ],
        [draw_grids(setting, found), draw_start(start, found)],
        [f"network of 64, {HIDDEN} and 10 units on digits, batches of {BATCH}, "
         f"{setting.pick(glance=100, quick=250, full=2_000):,} steps"],
    )  # fmt: skip


def undivided(
    w: Any, g: Any, m: Any, v: Any, t: int, lr: Any, beta1: Any, beta2: Any, eps: Any
) -> tuple[Any, Any, Any]:
    """Momentum alone: the second moment is not used."""
    m = beta1 * m + (1 - beta1) * g
    return w - lr * m / (1 - beta1**t), m, beta2 * v + (1 - beta2) * g * g


LAB = Lab(
    name="adam",
    claim="Adam keeps decaying averages of gradients and of their squares, corrects both for their "
    "start at zero, works well in practice and is fairly robust to its hyper-parameters.",
    formula="m = β₁m + (1 − β₁)g,  s = β₂s + (1 − β₂)g²,  θ ← θ − ηm̂/(√ŝ + ε)",
    places=("A, Adam: ADAptive Moments", "A, Adam", "C, Adam"),
    expected=Ruling.HOLDS,
    experiment=experiment,
    breaks=(
        Break("uncorrected", "the update as the slides print it", {"rule": printed}),
        Break("undivided", "no division by the second moment", {"rule": undivided}),
    ),
    fails_if="a corrected move along a steady gradient other than η, a corrected moment that is 5 "
    "standard errors off, a move that changes with the units of the loss or is longer than "
    "η(1 − β₁)/√(1 − β₂), or a grid on which with one rate the worst β₁ is more than half as bad "
    "as the worst β of SGD, or moves the best rate as far",
    code="""\
from thalweg.rules import adam, adam_uncorrected

w = u = 0.0
m = v = p = q = 0.0
for t in range(1, 13):
    before, other = w, u
    w, m, v = adam(w, 1.0, m, v, t, 0.1, 0.9, 0.999, 1e-8)
    u, p, q = adam_uncorrected(u, 1.0, p, q, 0.1, 0.9, 0.999, 1e-8)
    print(f"step {t}: {before - w:.4f} corrected, {other - u:.4f} as printed")
assert abs(before - w - 0.1) < 1e-6 and other - u > 0.6
""",
    seconds=2.2,
    needs_torch=True,
    remark="Both lectures name the correction and then print the update without it. The claim is "
    "judged with it. “Robust” holds of the momentum, of the scale of inputs and of the units of "
    "the loss; the rate has to be chosen about as well as for SGD. A thing the slides do not say: "
    "without correction the longest moves are not the first but those around the twelfth step.",
)
