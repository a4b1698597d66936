"""The training loss is a proxy of the risk, and the better the more samples.

The risk of a model is its expected loss over the distribution that the data come from, unknown in
practice. With the 0/1 loss it is the probability of an error, because the expectation of something
that is 1 or 0 is the probability of the 1:

    E[𝟙(y ≠ sign f(x))] = P(y ≠ sign f(x))

What one can compute is the mean over n samples, the training loss L̂. For one fixed f it is right on
average and off by σ/√n, σ² the variance of the loss; for the 0/1 loss Hoeffding's inequality makes
that a bound on probabilities:

    P(|êrr − err| > ε) ≤ 2·exp(−2nε²)

For the minimizer f̂ of L̂ it is not right on average: f̂ was chosen to look well on these samples.
With f* the best model, L̂(f̂) ≤ L̂(f*) and L(f̂) ≥ L(f*), each by about d/2n on average when f has
d free coefficients and the model is right (Wilks 1938, Akaike 1974), so that

    E[L(f̂) − L̂(f̂)] ≈ d/n

To see all this one needs to know the distribution. Here two classes are y·m + noise, for which the
risk of every linear model is an integral in one variable, and f*(x) = 2⟨m, x⟩ is known.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

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
from thalweg.labbook.sources import samples

FEATURES = 10  # d
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(120)
LIKELY = 5.0  # standard errors: a draw beyond has a chance of 6·10⁻⁷
UNLIKELY = 0.05  # of Hoeffding's ε
Trainer = Callable[[tw.LinearProblem], np.ndarray]


class Draw(NamedTuple):
    """One sample of size n: what was learned from it, and what that is worth."""

    training: float  # L̂(f̂)
    risk: float  # L(f̂)
    training_of_best: float  # L̂(f*)
    error: float  # err(f̂)
    error_seen_of_best: float  # êrr(f*)


class Size(NamedTuple):
    """All draws of one n."""

    n: int
    draws: np.ndarray  # float64[draws, 5], columns as in `Draw`

    def mean(self, field: str) -> float:
        """The mean of a column."""
        return float(self.draws[:, Draw._fields.index(field)].mean())

    def column(self, field: str) -> np.ndarray:
        """A column."""
        return self.draws[:, Draw._fields.index(field)]


def minimizer(problem: tw.LinearProblem) -> np.ndarray:
    """f̂ = argmin L̂."""
    return tw.minimize(problem, "newton", tol=1e-10, progress=False).w


def one_step(problem: tw.LinearProblem) -> np.ndarray:
    """Not the minimizer: a single step of gradient descent."""
    return tw.minimize(problem, "gd", max_iter=1, progress=False).w


def experiment(setting: Setting, *, train: Trainer = minimizer, turned: float = 0.0) -> Findings:
    """Logistic regression on samples of known and unknown distributions, against n.

    `turned` is the angle between the class centres that training samples have and the true ones.
    """
    count = setting.pick(glance=40, quick=120, full=2_000)
    sizes = setting.pick(
        glance=(200, 400, 800, 1_600), quick=(200, 400, 800, 1_600, 3_200, 6_400),
        full=(200, 400, 800, 1_600, 3_200, 6_400, 12_800),
    )  # fmt: skip
    centre = np.zeros(FEATURES)
    centre[0] = 1.0
    measured = [_draws(n, count, centre, train, turned, setting) for n in sizes]
    best = _risk(2.0 * centre, centre), _error(2.0 * centre, centre)
    spread = _spread(2.0 * centre, centre)
    real = _real(setting, train)
    checks = [
        *_of_probability(centre, setting), *_of_fixed(measured, best, spread),
        *_of_fitted(measured, best), *_of_real(real),
    ]  # fmt: skip
    rows = tuple(
        (each.n, each.mean("training"), each.mean("risk"), _gap(each, best[0]), FEATURES / each.n,
         each.column("training_of_best").std(), spread / math.sqrt(each.n), each.mean("error"))
        for each in measured
    )  # fmt: skip
    heads = ("n", "training", "risk", "difference", "d/n", "spread, f fixed", "σ/√n", "error")
    return Findings(
        checks,
        [
            Sheet("Training loss and risk, means over draws", heads, rows),
            Sheet(
                f"The same on {real.name}", ("n", "training loss", "held-out loss", "difference"),
                tuple((n, a, b, b - a) for n, a, b in real.rows),
            ),
        ],
        [_figure(measured, best, spread), _real_figure(real)],
        [
            f"two classes around ±m in {FEATURES} dimensions, ‖m‖ = 1, unit noise; L(f*) = "
            f"{best[0]:.4f}, err(f*) = {best[1]:.4f}; {count} draws of each n",
            real.note,
        ],
    )  # fmt: skip


def _sample(n: int, centre: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """n samples of both classes, y = ±1."""
    y = rng.choice([-1.0, 1.0], n)
    return y[:, None] * centre + rng.standard_normal((n, len(centre))), y


def _risk(w: np.ndarray, centre: np.ndarray) -> float:
    """L(w) = E log(1 + e^(−z)); z = y·xᵀw is normal with mean ⟨w, m⟩ and deviation ‖w‖."""
    return _moment(w, centre, 1)


def _spread(w: np.ndarray, centre: np.ndarray) -> float:
    """σ, the deviation of the loss of a sample."""
    return math.sqrt(_moment(w, centre, 2) - _moment(w, centre, 1) ** 2)


def _moment(w: np.ndarray, centre: np.ndarray, power: int) -> float:
    losses = np.logaddexp(0.0, -(w @ centre + np.linalg.norm(w) * NODES))
    return float(WEIGHTS @ losses**power / WEIGHTS.sum())


def _error(w: np.ndarray, centre: np.ndarray) -> float:
    """P(y ≠ sign xᵀw) = Φ(−⟨w, m⟩/‖w‖)."""
    return 0.5 * math.erfc(float(w @ centre) / float(np.linalg.norm(w)) / math.sqrt(2.0))


def _draws(
    n: int, count: int, centre: np.ndarray, train: Trainer, turned: float, setting: Setting
) -> Size:
    seen = np.zeros(FEATURES)
    seen[:2] = math.cos(turned), math.sin(turned)
    draws = []
    for k in range(count):
        X, y = _sample(n, seen, setting.rng("draw", n, k))
        problem = tw.LinearProblem(X, y, "logistic", fit_intercept=False)
        w = train(problem)
        best = 2.0 * centre
        draws.append(
            Draw(
                problem.value(w), _risk(w, centre), problem.value(best), _error(w, centre),
                float(np.mean(y * (X @ best) <= 0.0)),
            )
        )  # fmt: skip
    return Size(n, np.array(draws))


def _gap(size: Size, best: float) -> float:
    """The mean of L(f̂) − L̂(f̂).

    L̂(f*) − L(f*), whose mean is zero and whose noise is most of it, is left out.
    """
    excess = size.mean("risk") - best
    return excess + size.mean("training_of_best") - size.mean("training")


def _of_probability(centre: np.ndarray, setting: Setting) -> list[Check]:
    """The mean 0/1 loss of random classifiers beside their probability of an error."""
    count = setting.pick(glance=20_000, quick=400_000, full=4_000_000)
    X, y = _sample(count, centre, setting.rng("0/1"))
    W = setting.rng("classifiers").standard_normal((FEATURES, 20))
    W[0] += 2.0
    seen = np.mean(np.sign(X @ W) != y[:, None], axis=0)
    exact = np.array([_error(w, centre) for w in W.T])
    off = np.abs(seen - exact) / np.sqrt(exact * (1.0 - exact) / count)
    return [
        Check(
            "the 0/1 risk is the probability of an error", bool(off.max() <= LIKELY),
            f"20 classifiers with errors from {exact.min():.3f} to {exact.max():.3f}: means over "
            f"{count:,} samples off by at most {off.max():.2g} standard errors",
        )
    ]  # fmt: skip


def _of_fixed(measured: list[Size], best: tuple[float, float], spread: float) -> list[Check]:
    """The training loss of one fixed model."""
    logs = np.log([[each.n, each.column("training_of_best").std()] for each in measured])
    power = float(np.polyfit(logs[:, 0], logs[:, 1], 1)[0])
    count = len(measured[0].draws)
    off = [
        abs(each.mean("training_of_best") - best[0]) * math.sqrt(each.n * count) / spread
        for each in measured
    ]
    beyond = []
    for each in measured:
        epsilon = math.sqrt(math.log(2.0 / UNLIKELY) / (2.0 * each.n))
        beyond.append(np.mean(np.abs(each.column("error_seen_of_best") - best[1]) > epsilon))
    # A deviation from `count` draws errs by 1/√(2·count); over ln n the slope by less than that.
    allowed = 0.05 + 2.0 / math.sqrt(count)
    return [
        Check(
            "for a fixed f the training loss is right on average", max(off) <= LIKELY,
            f"L̂(f*) off by at most {max(off):.2g} standard errors",
        ),
        Check(
            "and is off by σ/√n", abs(power + 0.5) <= allowed,
            f"spread of L̂(f*) falls like n^{power:.3f}",
        ),
        Check(
            "Hoeffding: êrr is within ε of err but for 2·exp(−2nε²)", bool(max(beyond) <= UNLIKELY),
            f"at most {100 * max(beyond):.2g}% of the draws lie beyond ε, 5% allowed",
        ),
    ]  # fmt: skip


def _of_fitted(measured: list[Size], best: tuple[float, float]) -> list[Check]:
    """The training loss of what it was minimised for."""
    gaps = np.array([_gap(each, best[0]) for each in measured])
    sizes = np.array([each.n for each in measured])
    positive = np.all(gaps > 0)
    power = float(np.polyfit(np.log(sizes), np.log(np.abs(gaps) + 1e-300), 1)[0])
    ratio = float(gaps[-1] * sizes[-1] / FEATURES)
    # The gap is χ²/n with d degrees of freedom: a mean of them errs by √(2/d·count) of itself.
    count = len(measured[0].draws)
    allowed = 0.1 + 4.0 * math.sqrt(2.0 / (FEATURES * count))
    sides = [
        np.all(each.column("training") <= each.column("training_of_best") + 1e-9)
        and np.all(each.column("risk") >= best[0] - 1e-9)
        for each in measured
    ]
    excess = [each.mean("error") - best[1] for each in measured]
    return [
        Check(
            "the minimizer looks better than it is: L̂(f̂) ≤ L̂(f*) and L(f̂) ≥ L(f*)", all(sides),
            f"in each of {count * len(measured):,} draws",
        ),
        Check(
            "training loss and risk of f̂ approach each other like d/n",
            bool(positive and abs(power + 1.0) <= 0.25 and abs(ratio - 1.0) <= allowed),
            f"L − L̂ falls like n^{power:.3f}, from {gaps[0]:.3g} at n = {sizes[0]} to "
            f"{gaps[-1]:.3g} at {sizes[-1]:,}, {ratio:.3g} times d/n",
        ),
        Check(
            "f̂ is a proxy for f*: its error comes down to that of f*",
            0.0 <= excess[-1] <= 0.3 * excess[0],
            f"err(f̂) − err(f*) from {excess[0]:.3g} to {excess[-1]:.2g}",
        ),
    ]  # fmt: skip


class Real(NamedTuple):
    """Training and held-out loss on data whose distribution nobody knows."""

    name: str
    rows: list[tuple[int, float, float]]  # n, training, held out
    note: str


def _real(setting: Setting, train: Trainer) -> Real:
    data = samples("covtype", setting.pick(glance=4_000, quick=40_000, full=200_000))
    n = len(data.y)
    held = n // 2
    sizes = [60, 120, 250] if n < 2_000 else [s for s in (200, 500, 2_000, 8_000) if s <= n - held]
    count = setting.pick(glance=3, quick=6, full=30) * (1 if n > 2_000 else 4)
    rows = []
    for size in sizes:
        losses = []
        for k in range(count):
            order = setting.rng("real", k).permutation(n)
            some, others = order[:size], order[n - held :]
            # A little l2 keeps coefficients finite where so few samples can be separated.
            penalised = tw.LinearProblem(data.X[some], data.y[some], "logistic", l2=1e-2)
            w = train(penalised)
            losses.append([_loss(data, part, w) for part in (some, others)])
        training, outside = np.mean(losses, axis=0)
        rows.append((size, float(training), float(outside)))
    return Real(data.name, rows, data.note)


def _loss(data: Any, rows: np.ndarray, w: np.ndarray) -> float:
    margins = (2.0 * data.y[rows] - 1.0) * (data.X[rows] @ w[:-1] + w[-1])
    return float(np.logaddexp(0.0, -margins).mean())


def _of_real(real: Real) -> list[Check]:
    differences = [outside - training for _, training, outside in real.rows]
    (first, *_), (last, *_) = real.rows[0], real.rows[-1]
    return [
        Check(
            "on real data held-out and training loss approach each other too",
            differences[0] > 0.0 and differences[-1] <= 0.5 * differences[0],
            f"{real.name}: {differences[0]:.3g} apart at n = {first}, {differences[-1]:.2g} at "
            f"{last:,}",
        )
    ]


def _figure(measured: list[Size], best: tuple[float, float], spread: float) -> Figure:
    n = np.array([each.n for each in measured], dtype=float)
    training, risk = (np.array([e.mean(field) for e in measured]) for field in ("training", "risk"))
    gaps = np.array([_gap(each, best[0]) for each in measured])
    spreads = np.array([each.column("training_of_best").std() for each in measured])
    left = panel(
        "n", "loss",
        [
            curve("risk", n, risk, 2, dots=True),
            curve("best risk ± d/2n", n, best[0] + FEATURES / (2 * n), 2, theory=True),
            curve("training loss", n, training, 1, dots=True),
            curve("", n, best[0] - FEATURES / (2 * n), 1, theory=True),
        ],
        log="x", title="From both sides",
    )  # fmt: skip
    right = panel(
        "n", "difference",
        [
            curve("spread, model fixed", n, spreads, 3, dots=True),
            curve("σ/√n", n, spread / np.sqrt(n), 3, theory=True),
            curve("risk − training loss", n, np.maximum(gaps, 1e-9), 4, dots=True),
            curve("d/n", n, FEATURES / n, 4, theory=True),
        ],
        log="xy", title="How fast",
    )  # fmt: skip
    return figure(
        "Training loss and risk", [left, right],
        f"The risk falls from {risk[0]:.3f} to {risk[-1]:.3f}, the training loss rises from "
        f"{training[0]:.3f} to {training[-1]:.3f}; L(f*) = {best[0]:.3f} lies between them. Their "
        f"mean difference falls like d/n, to {gaps[-1]:.2g}, while that of a single draw is off "
        f"by σ/√n, {spreads[-1]:.2g}.",
        columns=2,
    )  # fmt: skip


def _real_figure(real: Real) -> Figure:
    n, training, outside = np.array(real.rows).T
    return figure(
        f"The same on {real.name}",
        panel(
            "n", "loss",
            [
                curve("held-out loss", n, outside, 2, dots=True),
                curve("training loss", n, training, 1, dots=True),
            ],
            log="x",
        ),
        f"Held-out and training loss are {outside[0] - training[0]:.3g} apart at n = {n[0]:.0f} "
        f"and {outside[-1] - training[-1]:.2g} at n = {n[-1]:,.0f}.",
    )  # fmt: skip


LAB = Lab(
    name="empirical-risk",
    claim="The expected 0/1 loss is the probability of an error, and minimising the training loss "
    "gives a proxy of the model of least risk.",
    formula="E[𝟙(y ≠ sign f(x))] = P(y ≠ sign f(x)),   L̂(f) = (1/n) Σᵢ ℓ(f(xᵢ), yᵢ) → L(f)",
    places=("A, Finding the best model", "A, Training Loss"),
    expected=Ruling.HOLDS,
    experiment=experiment,
    breaks=(
        Break("turned", "training samples of another distribution, turned by 60°",
              {"turned": math.pi / 3}),
        Break("unfinished", "one gradient step in place of the minimizer", {"train": one_step}),
    ),
    fails_if="a mean 0/1 loss more than five standard errors from the probability, a training loss "
    "of a fixed model that is biased or does not tighten like 1/√n, or a difference L(f̂) − L̂(f̂) "
    "that does not fall like d/n",
    code="""\
import numpy as np
import thalweg as tw

rng = np.random.default_rng(0)
y = rng.choice([-1.0, 1.0], 20_000)
X = rng.standard_normal((20_000, 10))
X[:, 0] += y  # class centres at ±1
for n in (100, 1_000, 10_000):
    train = tw.LinearProblem(X[:n], y[:n], "logistic", fit_intercept=False)
    fresh = tw.LinearProblem(X[10_000:], y[10_000:], "logistic", fit_intercept=False)
    w = tw.minimize(train, "newton").w
    gap = fresh.value(w) - train.value(w)
    print(f"n = {n}: training {train.value(w):.3f}, fresh {fresh.value(w):.3f}, gap {gap:.3f}")
assert gap < 0.02
""",
    seconds=8.2,
)  # fmt: skip
