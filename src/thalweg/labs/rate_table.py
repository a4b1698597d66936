"""Four rates, two prices, and what they make together.

Lecture B's table, for n samples of d features, a smooth f with Q = L/μ, and ε the error wanted:

    strongly convex      error after t     an iteration     to ε
    gradient descent     exp(−t/Q)         nd               ndQ·log(1/ε)
    stochastic           1/t               d                d/ε

    convex
    gradient descent     β/t               nd               ndβ/ε
    stochastic           1/√t              d                d/ε²

The last column is the first turned round, times the second:

    overall cost to ε = rate⁻¹(ε) × cost of an iteration

Behind the four rates are bounds with constants, β = L, B a bound on ‖w*‖ and ρ one on gradients:

    f(w_t) − f* ≤ (1 − 1/Q)²ᵗ (f(w₀) − f*) ≤ exp(−t/Q) (f(w₀) − f*)      step 1/L
    f(w_t) − f* ≤ L‖w₀ − w*‖²/2t                                        step 1/L
    E f(w̄_t) − f* ≤ ρ²(1 + log t)/2μt                                   steps 1/μt, on a ball
    E f(w̄_t) − f* ≤ Bρ/√t                                               steps B/ρ√t, on a ball

A bound is for the worst function and start of its kind. Data are seldom the worst: on a given
matrix gradient descent falls at any power for a while, and below the bound. From a start that has
as much of its distance to w* in every decade of the spectrum the power is −1, as the bound says.

So the cheap steps win where ε is large or n is, the dear ones where many digits are wanted; and a
planner that knows L, μ and the time of a pass can say beforehand which.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

import thalweg as tw
from thalweg.labbook import (
    Break,
    Check,
    Curve,
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
from thalweg.labbook.sources import Samples, samples

CONDITION = 30.0  # L/l2 of the data term: Q is one more
RADIUS = 1.0  # B of the convex stochastic runs: short of the minimizer, so that the ball counts
FLOOR = 1e-11  # of the first gap: below it f − f* is rounding
# By which fitted powers may be off. Means of a dozen runs have 1/t with a deviation of 0.1, and so
# the distance to the next entry of the table, 1/√t, is five times that.
POWER, ROOT_POWER = 0.35, 0.15
FEW_DIGITS = 1e-2  # of the first gap
EPSILONS = (1e-1, FEW_DIGITS, 1e-4, 1e-6, 1e-8)  # for gd; sgd has those of its late passes
CELLS = ("gd, strongly convex", "gd, convex", "sgd, strongly convex", "sgd, convex")


class Measured(NamedTuple):
    """One cell of the table on one data set, divided by the constant of its bound."""

    cell: str
    data: str
    t: np.ndarray  # iterations: steps, of single samples for sgd
    gap: np.ndarray  # f − f* over the constant
    bound: np.ndarray  # what theory allows there
    fitted: float  # a power of t; for gd, strongly convex, the exponent of exp(fitted·t/Q)

    @property
    def share(self) -> float:
        """The largest part of the bound that was used."""
        return float(np.max(self.gap / self.bound))


class Strong(NamedTuple):
    """Runs on a strongly convex problem."""

    name: str
    problem: tw.LinearProblem
    lowest: float  # f*
    gd: np.ndarray  # gaps after every step, the first before any
    sgd: np.ndarray  # gaps after every pass, the mean over several runs


class Cost(NamedTuple):
    """Multiplications to ε, measured and by the table, one method on strongly convex data."""

    method: str
    epsilon: np.ndarray  # relative to the first gap
    measured: np.ndarray
    theory: np.ndarray  # an order: constants left out


def experiment(setting: Setting, *, step: float = 1.0) -> Findings:
    """Logistic regression and least squares on real data, with gradient steps of `step`/L."""
    every = _data(setting)
    strong = [_strong(data, setting, step) for data in every]
    found: list[Measured] = []
    for data, runs in zip(every, strong, strict=True):
        found += [
            _gd_strong(runs), _gd_convex(data, setting, step),
            _sgd_strong(runs, setting), _sgd_convex(data, setting),
        ]  # fmt: skip
    first = strong[0]
    spread, costs = _spread(every[0], setting, step), [_cost(first, name) for name in ("gd", "sgd")]
    quarter = _strong(every[0], setting, step, part=4)
    rates = tuple(
        (each.cell, each.data, _law(each.cell), f"{each.fitted:.2f}", each.share)
        for each in [*found, spread]
    )
    prices = tuple(
        (each.method, f"{e:.2g}", float(m), float(m / t))
        for each in costs
        for e, m, t in zip(each.epsilon, each.measured, each.theory, strict=True)
    )
    price = f"Multiplications to ε, strongly convex, {first.name}"
    return Findings(
        [*_of_rates(found, spread), *_of_costs(costs, first, quarter), *_of_plan(every[0], first)],
        [
            Sheet("The table, measured", ("cell", "data", "theory", "fitted", "of bound"), rates),
            Sheet(price, ("method", "ε / first gap", "measured", "measured/table"), prices),
        ],
        [_rates_figure(found, spread), _costs_figure(costs, first.name)],
        [*(data.note for data in every), f"Q = {CONDITION + 1:g} where strongly convex"],
    )


def _data(setting: Setting) -> list[Samples]:
    """Real data, each once where one stands in for several."""
    names = setting.pick(
        glance=("a9a",), quick=("a9a", "covtype", "imdb"), full=("a9a", "covtype", "imdb")
    )
    rows = setting.pick(glance=600, quick=2_000, full=20_000)
    found = [samples(name, rows // 2 if name == "imdb" else rows) for name in names]
    return list({data.name: data for data in found}.values())


def _run(problem: Any, method: Any, iterations: int, w0: Any = None, seed: int = 0) -> tw.Run:
    """So many iterations, and no questions asked at their end."""
    return tw.minimize(
        problem, method, w0, tol=1e-300, max_iter=iterations + 1, seed=seed, progress=False,
        callback=lambda seen: bool(seen.iteration >= iterations),
    )  # fmt: skip


def _lowest(problem: Any) -> tw.Run:
    return tw.minimize(problem, "lbfgs", tol=1e-13, max_iter=5_000, progress=False)


def _power(t: np.ndarray, gap: np.ndarray) -> float:
    """The slope of the logarithms; NaN where a gap is."""
    if not np.all(np.isfinite(gap)):
        return math.nan
    return float(np.polyfit(np.log(t), np.log(np.maximum(gap, 1e-300)), 1)[0])


def _strong(data: Samples, setting: Setting, step: float, part: int = 1) -> Strong:
    """Both methods on l2-regularized logistic regression, on every `part`-th sample."""
    plain = tw.LinearProblem(data.X, data.y, "logistic", fit_intercept=False)
    problem = tw.LinearProblem(
        data.X[::part], data.y[::part], "logistic", l2=plain.smoothness / CONDITION,
        fit_intercept=False,
    )  # fmt: skip
    lowest, L = _lowest(problem).value, problem.smoothness
    gd = _run(problem, tw.GD(step=step / L), int(15 * L / problem.l2)).trace["value"]
    usual = tw.SGD(schedule="1/t", sampling="uniform")
    passes = setting.pick(glance=64, quick=100, full=400)
    sgd = _mean(problem, usual, passes, setting.pick(glance=16, quick=12, full=30) // part, setting)
    return Strong(data.name, problem, lowest, gd - lowest, sgd - lowest)


def _mean(
    problem: tw.LinearProblem, method: tw.SGD, passes: int, count: int, setting: Setting
) -> np.ndarray:
    """Values after every pass, the mean over so many runs."""
    seeds = (100 * setting.seed + k for k in range(count))
    return np.mean([_run(problem, method, passes, seed=s).trace["value"] for s in seeds], axis=0)


def _gd_strong(runs: Strong) -> Measured:
    gaps, Q = runs.gd, runs.problem.smoothness / runs.problem.l2
    t = 1 + np.flatnonzero(gaps[1:] > FLOOR * gaps[0])
    late = t[len(t) // 2 :]
    per_step = float(np.polyfit(late, np.log(gaps[late]), 1)[0])
    return Measured(CELLS[0], runs.name, t, gaps[t] / gaps[0], np.exp(-t / Q), per_step * Q)


def _gd_convex(data: Samples, setting: Setting, step: float) -> Measured:
    """Least squares without a penalty: wide or collinear data have no μ, and yet a minimizer."""
    problem = tw.LinearProblem(data.X, 2.0 * data.y - 1.0, "squared", fit_intercept=False)
    best = _lowest(problem)
    return _convex_run(problem, best, np.zeros(problem.dim), data.name, setting, step)


def _convex_run(
    problem: tw.LinearProblem,
    best: tw.Run,
    w0: np.ndarray,
    name: str,
    setting: Setting,
    step: float,
) -> Measured:
    L, T = problem.smoothness, setting.pick(glance=200, quick=1_000, full=20_000)
    gaps = _run(problem, tw.GD(step=step / L), T, w0).trace["value"] - best.value
    t = 1 + np.flatnonzero(gaps[1:] > FLOOR * gaps[0])
    distance = float(np.linalg.norm(w0 - best.w))
    constant = 0.5 * L * distance**2
    bound = tw.theory.gradient_descent.value_bound(distance, step=1.0 / L, iterations=t) / constant
    late = t >= 5
    return Measured(CELLS[1], name, t, gaps[t] / constant, bound, _power(t[late], gaps[t[late]]))


def _spread(data: Samples, setting: Setting, step: float) -> Measured:
    """The same from a start with equal parts of its distance in all decades of the spectrum."""
    problem = tw.LinearProblem(data.X, 2.0 * data.y - 1.0, "squared", fit_intercept=False)
    values, vectors = np.linalg.eigh(problem.hessian(np.zeros(problem.dim)))
    kept = values > 1e-9 * values[-1]
    parts = np.sqrt(np.gradient(np.log(values[kept])))
    signs = setting.rng("signs").choice([-1.0, 1.0], len(parts))
    best = _lowest(problem)
    w0 = best.w + vectors[:, kept] @ (signs * parts)
    return _convex_run(problem, best, w0, f"{data.name}, spread start", setting, step)


def _sgd_strong(runs: Strong, setting: Setting) -> Measured:
    """The bound on runs as the theorem has them; the power on runs as they are by default."""
    problem = runs.problem
    mu, passes = problem.l2, setting.pick(glance=40, quick=100, full=400)
    B = math.sqrt(2.0 * problem.value(np.zeros(problem.dim)) / mu)  # as F(w*) ≤ F(0)
    rho = math.sqrt(problem.row_squares.max()) + mu * B
    # η/(1 + ημt) from η just below 1/μ on is the theorem's 1/μt.
    theorem = tw.SGD(schedule="1/t", sampling="uniform", average="all", step=0.999 / mu, radius=B)
    count = setting.pick(glance=2, quick=4, full=20)
    gaps = _mean(problem, theorem, passes, count, setting)[1:] - runs.lowest
    t = problem.n * np.arange(1.0, passes + 1.0)
    bound = tw.theory.sgd.strongly_convex_bound(rho, strong_convexity=mu, iterations=t)
    constant = rho**2 / (2.0 * mu)
    late = np.arange(len(runs.sgd) // 8, len(runs.sgd))
    fitted = _power(late.astype(float), runs.sgd[late])
    return Measured(CELLS[2], runs.name, t, gaps / constant, bound / constant, fitted)


def _sgd_convex(data: Samples, setting: Setting) -> Measured:
    """Theorem 14.8: a run of its own, with its own step, for every T."""
    problem = tw.LinearProblem(data.X, data.y, "logistic", fit_intercept=False)
    ball = tw.Regularized(problem, radius=RADIUS)
    zero = np.zeros(problem.dim)
    lowest = tw.minimize(ball, "fista", zero, tol=1e-9, max_iter=3_000, progress=False).value
    rho = math.sqrt(problem.row_squares.max())
    # From where the bound is twice what is known without a step.
    worth = (RADIUS * rho / (2.0 * (problem.value(zero) - lowest))) ** 2 / problem.n
    horizons = math.ceil(worth) * 2 ** np.arange(setting.pick(glance=5, quick=5, full=7))
    count = setting.pick(glance=3, quick=4, full=20)
    gaps = []
    for horizon in horizons.tolist():
        method = tw.SGD(schedule="theorem", radius=RADIUS, horizon=horizon)
        gaps.append(_mean(problem, method, horizon, count, setting)[-1] - lowest)
    t = problem.n * horizons.astype(float)
    bound = tw.theory.sgd.value_bound(RADIUS, rho, t)
    constant = RADIUS * rho
    return Measured(
        CELLS[3],
        data.name,
        t,
        np.array(gaps) / constant,
        bound / constant,
        _power(t, np.array(gaps)),
    )


def _law(cell: str) -> str:
    return dict(zip(CELLS, ("exp(−t/Q)", "1/t", "1/t", "1/√t"), strict=True))[cell]


def _of_rates(found: list[Measured], spread: Measured) -> list[Check]:
    cells = {cell: [each for each in found if each.cell == cell] for cell in CELLS}
    fitted = {
        cell: ", ".join(f"{each.fitted:.2f} ({each.data})" for each in some)
        for cell, some in cells.items()
    }
    shares = {cell: max(each.share for each in some) for cell, some in cells.items()}
    rounding = 1.0 + 1e-6
    return [
        Check(
            "gd, strongly convex: the gap is below exp(−t/Q) of the first at every t",
            shares[CELLS[0]] <= rounding, f"at most {shares[CELLS[0]]:.2g} of it",
        ),
        Check(
            "and falls exponentially at that rate or faster",
            all(each.fitted <= -1.0 for each in cells[CELLS[0]]),
            f"late in the run like exp(−ct/Q), −c = {fitted[CELLS[0]]}",
        ),
        Check(
            "gd, convex: the gap is below β‖w₀ − w*‖²/2t at every t",
            max(shares[CELLS[1]], spread.share) <= rounding,
            f"at most {max(shares[CELLS[1]], spread.share):.2g} of it; powers on the way "
            f"{fitted[CELLS[1]]}",
        ),
        Check(
            "and from a start that all eigenvalues share in, falls like 1/t",
            abs(spread.fitted + 1.0) <= ROOT_POWER, f"t^{spread.fitted:.2f}",
        ),
        Check(
            "sgd, strongly convex: the mean gap is below ρ²(1 + log t)/2μt after every pass",
            shares[CELLS[2]] <= 1.0, f"at most {shares[CELLS[2]]:.2g} of it",
        ),
        Check(
            "and falls like 1/t",
            all(abs(each.fitted + 1.0) <= POWER for each in cells[CELLS[2]]),
            f"powers {fitted[CELLS[2]]}",
        ),
        Check(
            "sgd, convex: the mean gap is below Bρ/√t for every t", shares[CELLS[3]] <= 1.0,
            f"at most {shares[CELLS[3]]:.2g} of it",
        ),
        Check(
            "and falls like 1/√t",
            all(abs(each.fitted + 0.5) <= ROOT_POWER for each in cells[CELLS[3]]),
            f"powers {fitted[CELLS[3]]}",
        ),
    ]  # fmt: skip


def _cost(runs: Strong, method: str) -> Cost:
    """Multiplications until the gap is ε of the first, and the table's order of them."""
    problem, epsilons = runs.problem, np.array(EPSILONS)
    if method == "sgd":
        late = runs.sgd[[len(runs.sgd) // 8, -1]] / runs.sgd[0]
        epsilons = np.geomspace(late[0], 1.02 * late[1], 4)
    # Of a sparse row only what is stored is multiplied.
    width = max(1, round(problem.matrix.entries / problem.n))
    sizes = {"samples": problem.n, "features": width}
    one = tw.theory.complexity.iteration_cost(method, **sizes)
    orders = [
        tw.theory.complexity.overall(
            method, e, **sizes, smoothness=problem.smoothness, strong_convexity=problem.l2
        )
        for e in epsilons
    ]
    return Cost(method, epsilons, _steps_to(runs, method, epsilons) * one, np.array(orders))


def _steps_to(runs: Strong, method: str, epsilons: Any) -> np.ndarray:
    """Iterations until the gap is ε of the first, between those that were seen; NaN where never."""
    gaps, each = (runs.gd, 1) if method == "gd" else (runs.sgd, runs.problem.n)
    # Means of few runs wiggle: the lowest so far is what falls for sure.
    logs = np.log(np.maximum(np.minimum.accumulate(gaps / gaps[0]), 1e-16))
    counts = np.log(each * np.arange(1.0, len(gaps)))
    return np.exp(np.interp(-np.log(epsilons), -logs[1:], counts, right=np.nan))


def _visits(runs: Strong, method: str, epsilon: float) -> float:
    """Gradients of single samples until the gap is ε of the first: n of them are a step of gd."""
    return float(_steps_to(runs, method, epsilon)) * (runs.problem.n if method == "gd" else 1)


def _of_costs(costs: list[Cost], whole: Strong, quarter: Strong) -> list[Check]:
    gd, sgd = costs
    used = float(np.max(gd.measured / gd.theory))
    before, last = (float(gd.measured[k] - gd.measured[k - 1]) for k in (-2, -1))
    power = _power(1.0 / sgd.epsilon, sgd.measured)
    line = sgd.measured[-1] * (sgd.epsilon[-1] / gd.epsilon[-1]) ** power
    more_gd, more_sgd = (
        _visits(whole, name, sgd.epsilon[0]) / _visits(quarter, name, sgd.epsilon[0])
        for name in ("gd", "sgd")
    )
    ahead = _visits(whole, "gd", FEW_DIGITS) / _visits(whole, "sgd", FEW_DIGITS)
    return [
        Check(
            "the cost of gd is at most ndQ·log(1/ε), and grows like the logarithm",
            used <= 1.0 and 0.7 <= last / before <= 1.4,
            f"at most {used:.2g} of it; the digits from 10⁻⁶ to 10⁻⁸ cost {last / before:.2f} "
            "times those from 10⁻⁴ to 10⁻⁶",
        ),
        Check(
            "the cost of sgd grows like d/ε", abs(power - 1.0) <= 1.2 * POWER,
            f"like (1/ε)^{power:.2f}, from ε = {sgd.epsilon[0]:.2g} to {sgd.epsilon[-1]:.2g}",
        ),
        Check(
            "n is in the cost of gd, and not in that of sgd",
            2.5 <= more_gd <= 6.0 and 0.4 <= more_sgd <= 2.0,
            f"four times the samples cost gd {more_gd:.2g} times as much, sgd {more_sgd:.2g} times",
        ),
        Check(
            "so sgd is ahead at few digits and behind at many",
            ahead > 1.0 and bool(line > gd.measured[-1]),
            f"gd costs {ahead:.2g} times as much at ε = {FEW_DIGITS:g}; at {gd.epsilon[-1]:g}, "
            f"by its line, sgd {line / gd.measured[-1]:.2g} times",
        ),
    ]  # fmt: skip


def _of_plan(data: Samples, runs: Strong) -> list[Check]:
    """The planner's rows of gradient descent beside the table."""
    problem, off, rest = runs.problem, [], []
    for tol in (1e-3, 1e-6):
        plan = tw.plan(problem, tol)
        row = plan.row("gd")
        assert row is not None
        by_table = tw.theory.complexity.iterations(
            "gd", tol, smoothness=plan.geometry["L"].value,
            strong_convexity=plan.geometry["μ"].value,
        )  # fmt: skip
        off.append(abs((row.bound or 0.0) / by_table - 1.0))
        rest.append(row.predicted_seconds - row.predicted_iterations * row.seconds_per_iteration)
        bound, predicted = row.bound or 0.0, row.predicted_iterations
    run = tw.minimize(problem, "gd", tol=1e-6, progress=False)
    free = tw.LinearProblem(data.X, data.y, "logistic", fit_intercept=False)
    rows = [tw.plan(free, tol).row("gd") for tol in (1e-3, 1e-4)]
    few, many = (each.predicted_iterations if each else math.nan for each in rows)
    return [
        Check(
            "the planner's bound for gd is Q·log(1/ε), the table's",
            max(off) <= 1e-9 and run.converged and run.iterations <= bound,
            f"{bound:,.0f} iterations for ε = 10⁻⁶; {predicted:,.0f} predicted, "
            f"{run.iterations:,} needed",
        ),
        Check(
            "its seconds are iterations × seconds of one",
            all(0.0 <= each <= 0.01 for each in rest),
            f"and {1e3 * max(rest):.2g} ms for the end of a run",
        ),
        Check(
            "without strong convexity it expects 1/ε",
            all(each is not None and each.bound is None for each in rows)
            and abs(many / few - 10.0) <= 1e-6,
            f"{few:,.0f} iterations for 10⁻³, {many:,.0f} for 10⁻⁴, and no bound",
        ),
    ]


def _rates_figure(found: list[Measured], spread: Measured) -> Figure:
    labels = ("gap / first gap", "gap / (L‖w₀ − w*‖²/2)", "gap / (ρ²/2μ)", "gap / Bρ")
    logs = ("y", "xy", "xy", "xy")
    hues = {name: k for k, name in enumerate(dict.fromkeys(each.data for each in found), 1)}
    panels = []
    for cell, label, log in zip(CELLS, labels, logs, strict=True):
        some = [each for each in found if each.cell == cell]
        marks: list[Curve] = [
            curve(each.data, each.t, each.gap, hues[each.data], dots=cell == CELLS[3])
            for each in some
        ]
        if cell == CELLS[1]:
            marks.append(curve("spread start", spread.t, spread.gap, 4))
        widest = max(some, key=lambda each: each.t[-1])
        marks.append(curve("theory", widest.t, widest.bound, 0, theory=True))
        panels.append(panel("t", label, marks, log=log, title=f"{cell}: {_law(cell)}"))
    said = "; ".join(f"{each.cell} on {each.data} {each.fitted:.2f}" for each in found)
    return figure(
        "The table's rates on real data", panels,
        "Each gap is divided by the constant of its bound, so that one line of theory stands for "
        f"all, and all stay below it. Fitted: {said}; from the spread start {spread.fitted:.2f}.",
        columns=2,
    )  # fmt: skip


def _costs_figure(costs: list[Cost], name: str) -> Figure:
    marks: list[Curve] = []
    for each in costs:
        scale = each.measured[-1] / each.theory[-1]
        law = "nd·Q·log(1/ε)" if each.method == "gd" else "d/ε"
        marks.append(curve(each.method, 1.0 / each.epsilon, each.measured, dots=True))
        marks.append(curve(law, 1.0 / each.epsilon, scale * each.theory, each.method, theory=True))
    gd, sgd = costs
    return figure(
        f"Overall cost to ε, {name}",
        panel("first gap / ε", "multiplications", marks, log="xy"),
        f"Gradient descent takes {gd.measured[0]:.2g} multiplications to ε = {gd.epsilon[0]:g} and "
        f"{gd.measured[-1]:.2g} to {gd.epsilon[-1]:g}; sgd {sgd.measured[0]:.2g} to "
        f"{sgd.epsilon[0]:.2g}, and {sgd.measured[-1]:.2g} to {sgd.epsilon[-1]:.2g}. The lines of "
        "the table, whose constants are left out, go through the last points.",
    )


LAB = Lab(
    name="rate-table",
    claim="Gradient descent converges like exp(−t/Q) on strongly convex and β/t on convex "
    "functions, sgd like 1/t and 1/√t; the overall cost to ε is the inverse of the rate times the "
    "cost of an iteration.",
    formula="overall(ε) = rate⁻¹(ε) × cost of an iteration",
    places=("B, Convergence Rate and Computational Complexity",),
    expected=Ruling.HOLDS,
    experiment=experiment,
    breaks=(Break("step", "gradient descent with a step of 2.5/L", {"step": 2.5}),),
    fails_if="a gap above its bound, a fitted power further than "
    f"{POWER:g} (1/t) or {ROOT_POWER:g} (1/√t) from the table's, a cost to ε that does not grow as "
    "the table says, or a planner whose iterations are not the table's",
    remark="The rates are upper bounds for the worst function of a kind, in expectation for sgd. "
    "On given data gradient descent without strong convexity falls at changing powers below its "
    "bound; from a start that all eigenvalues share in the power is −1. The planner has no row for "
    "sgd: at the tolerances it plans for, d/ε is never the least.",
    code="""\
import thalweg as tw

L, mu, sizes = 1.0, 0.01, {"samples": 10_000, "features": 50}
for tol in (1e-2, 1e-4, 1e-6, 1e-8):
    gd, sgd = (
        tw.theory.complexity.overall(method, tol, **sizes, smoothness=L, strong_convexity=mu)
        for method in ("gd", "sgd")
    )
    print(f"ε = {tol:g}: gd {gd:.1e}, sgd {sgd:.1e} multiplications")
assert gd < sgd  # many digits
table = tw.read("@cancer")
problem = tw.LinearProblem(table.X, table.y, "logistic", l2=0.1, standardize=True)
print(tw.plan(problem).row("gd"))
""",
    seconds=7.8,
)
