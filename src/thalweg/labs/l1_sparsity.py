"""An l1 penalty makes weights zero, an l2 penalty makes them small.

Both hold the weights back, in penalised or in constrained form:

    minimise  L(w) + λR(w)              minimise  L(w)  subject to  R(w) ≤ B

For convex L and R the two are one: a minimum ŵ of the first is a minimum of the second with
B = R(ŵ), for L(w) < L(ŵ) with R(w) ≤ R(ŵ) would make the penalised sum smaller. The other way
round, λ is the multiplier of the constraint.

The difference is the shape of the ball. λ‖w‖₁ pulls a weight to zero by λ however small it is, so
it stays there as long as the loss pulls less:

    ŵⱼ = 0  if  |∂L/∂wⱼ| < λ            ∂L/∂wⱼ = −λ sign(ŵⱼ)  otherwise

The first to leave zero does so at λ_max = max|∂L(0)/∂wⱼ|. Under λ‖w‖₂² the pull 2λwⱼ vanishes with
wⱼ, and a weight is zero only by accident. In two dimensions the l1 ball is a square on its corner:
a contour of the loss that grows until it touches the ball often meets a corner, where a weight is
zero, the more often the smaller the ball. It meets a circle anywhere.

Exact zeros come from the proximal step, which cuts at zero. A subgradient step adds ±ηλ and walks
past it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

import thalweg as tw
from thalweg import rules
from thalweg.figures.spec import Mark
from thalweg.figures.styles import Style
from thalweg.labbook import (
    Axis,
    Break,
    Check,
    Contour,
    Figure,
    Findings,
    Guide,
    Lab,
    Panel,
    Point,
    Ruling,
    Setting,
    Sheet,
    curve,
    figure,
    panel,
)

TRUE = (3.0, -2.0, 1.5, 0.0)  # repeated zeros follow: the sparse truth
FEATURES, SAMPLES = 30, 200
ROOM = 1.5  # width of the panel of the two balls
AGREE = 1e-4  # of ‖w‖: two methods stopped at 10⁻¹⁰ of the loss, which grows by squares

Path = Callable[[tw.LinearProblem, np.ndarray], list[np.ndarray]]


class Paths(NamedTuple):
    """Solutions along both penalties, on one problem."""

    problem: tw.LinearProblem
    strongest: float  # λ_max
    l1: np.ndarray  # λ, falling, float[k]
    w1: np.ndarray  # float[k, p]
    l2: np.ndarray
    w2: np.ndarray


def certified_path(problem: tw.LinearProblem, grid: np.ndarray) -> list[np.ndarray]:
    """The solutions of Thalweg's path, each with a proof."""
    return [run.w for run in tw.path(problem, grid, tol=1e-10, progress=False)]


def subgradient_path(problem: tw.LinearProblem, grid: np.ndarray) -> list[np.ndarray]:
    """Wrong: λ sign(w) in the gradient, without the cut at zero."""
    w, step, found = problem.start, 1.0 / problem.smoothness, []
    for strength in grid:
        for _ in range(300):
            w = rules.plain_step(w, problem.gradient(w) + strength * np.sign(w), step)
        found.append(w)
    return found


def l2_path(problem: tw.LinearProblem, grid: np.ndarray) -> list[np.ndarray]:
    """Wrong: λ‖w‖₂² in place of λ‖w‖₁."""
    return [_ridge(problem, strength) for strength in grid]


def experiment(setting: Setting, *, path: Path = certified_path) -> Findings:
    """Both penalties along their strengths, and both constraints; `path` solves the l1 problems."""
    many = setting.pick(glance=12, quick=40, full=200)
    paths = _paths(setting, path, many)
    real = _diabetes(path, many)
    shares = _touching(setting, setting.pick(glance=60, quick=200, full=5_000))
    held = _constrained(paths, setting.pick(glance=3, quick=8, full=30))
    checks = [
        *_sparse(paths, real), *_conditions(paths), *_small(paths, real), *_balls(shares),
        *_forms(paths, held),
    ]  # fmt: skip
    return Findings(
        checks,
        [_table(paths), _forms_table(held)],
        [_two_balls(), _picture(paths, real)],
        [
            f"least squares, {SAMPLES} samples of {FEATURES} correlated features, of which 3 "
            "count; diabetes, 442 × 10, columns of mean 0 and deviation 1",
        ],
    )


def _problem(setting: Setting) -> tw.LinearProblem:
    """Few of many features count, and neighbours are correlated."""
    rng = setting.rng("data")
    shared = rng.standard_normal((SAMPLES, FEATURES))
    X = shared + 0.5 * np.roll(shared, 1, axis=1)
    truth = np.zeros(FEATURES)
    truth[: len(TRUE)] = TRUE
    y = X @ truth + rng.standard_normal(SAMPLES)
    return tw.LinearProblem(X, y, fit_intercept=False)


def _paths(setting: Setting, path: Path, many: int) -> Paths:
    problem = _problem(setting)
    strongest = float(np.abs(problem.gradient(problem.start)).max())
    l1 = strongest * np.geomspace(1.05, 1e-3, many)
    l2 = strongest * np.geomspace(1e3, 1e-3, many)
    w1 = np.array(path(problem, l1))
    w2 = np.array([_ridge(problem, each) for each in l2])
    return Paths(problem, strongest, l1, w1, l2, w2)


def _diabetes(path: Path, many: int) -> Paths:
    table = tw.read("@diabetes")
    X, y = tw.scaling.ZScore().fit_transform(table.X), np.asarray(table.y, dtype=np.float64)
    problem = tw.LinearProblem(X, y - y.mean(), fit_intercept=False)
    strongest = float(np.abs(problem.gradient(problem.start)).max())
    grid = strongest * np.geomspace(1.05, 1e-3, many)
    w2 = np.array([_ridge(problem, each / strongest) for each in grid])
    return Paths(problem, strongest, grid, np.array(path(problem, grid)), grid / strongest, w2)


def _ridge(problem: tw.LinearProblem, strength: float) -> np.ndarray:
    """The minimum of L + λ‖w‖₂², whose l2 is 2λ."""
    held = tw.LinearProblem(problem.matrix.rows, problem.y, l2=2.0 * strength, fit_intercept=False)
    return tw.minimize(held, "cholesky", tol=1e-10, max_iter=3, progress=False).w


def project_l1(w: np.ndarray, radius: float) -> np.ndarray:
    """The point of the ball ‖u‖₁ ≤ B that is nearest to w: a soft threshold (Duchi et al. 2008)."""
    sizes = np.sort(np.abs(w))[::-1]
    if sizes.sum() <= radius:
        return w
    excess = (np.cumsum(sizes) - radius) / np.arange(1, len(w) + 1)
    threshold = excess[np.flatnonzero(sizes > excess)[-1]]
    return rules.soft_threshold(w, threshold)


def _projected(
    problem: Any, project: Callable[[np.ndarray, float], np.ndarray], radius: float
) -> np.ndarray:
    """min L(w) subject to R(w) ≤ B, by gradient steps, each followed by the projection."""
    w, step = problem.start, 1.0 / problem.smoothness
    for _ in range(20_000):
        after = project(rules.plain_step(w, problem.gradient(w), step), radius)
        if np.linalg.norm(after - w) <= 1e-10 * max(1.0, float(np.linalg.norm(after))):
            return after
        w = after
    return w


def _constrained(paths: Paths, count: int) -> list[tuple[str, float, float, float, float]]:
    """For some λ of both penalties: name, λ, B, ‖constrained − penalised‖/‖w‖, multiplier/λ."""
    found = []
    for name, grid, solutions, project in (
        ("l1", paths.l1, paths.w1, project_l1), ("l2", paths.l2, paths.w2, rules.project_ball),
    ):  # fmt: skip
        for k in np.linspace(1, len(grid) - 1, count).astype(int):
            w = solutions[k]
            size = np.abs(w).sum() if name == "l1" else np.linalg.norm(w)
            u = _projected(paths.problem, project, float(size))
            slope = -paths.problem.gradient(u)
            # The multiplier: the slope of L along the ball's normal, per unit of R.
            if name == "l1":
                multiplier, bound = float(np.abs(slope).max()), float(size)
            else:
                multiplier, bound = float(slope @ u / (2.0 * (u @ u))), float(size) ** 2
            apart = float(np.linalg.norm(u - w) / np.linalg.norm(w))
            found.append((name, float(grid[k]), bound, apart, multiplier / float(grid[k])))
    return found


def _touching(setting: Setting, count: int) -> dict[str, float]:
    """Random losses of two weights: how often the best point of a ball has a zero.

    The radius is a share of the norm of the weights without a bound.
    """
    rng = setting.rng("touching")
    zeros = dict.fromkeys(("l1, small", "l1", "l2"), 0)
    for _ in range(count):
        w = rng.standard_normal(2)
        loss = tw.surfaces.Quadratic(
            (1.0, 10.0 ** rng.uniform()), rotation=rng.uniform(0.0, np.pi), center=w
        )
        size, length = float(np.abs(w).sum()), float(np.linalg.norm(w))
        for name, project, radius in (
            ("l1, small", project_l1, 0.1 * size), ("l1", project_l1, 0.5 * size),
            ("l2", rules.project_ball, 0.5 * length),
        ):  # fmt: skip
            zeros[name] += bool(np.any(_projected(loss, project, radius) == 0.0))
    return {name: each / count for name, each in zeros.items()}


def _support(w: np.ndarray) -> np.ndarray:
    return np.count_nonzero(w, axis=-1)


def _sparse(paths: Paths, real: Paths) -> list[Check]:
    """What an l1 penalty leaves."""
    counts, others = _support(paths.w1), _support(real.w1)
    middle = int(np.searchsorted(-paths.l1, -0.1 * paths.strongest))
    right = set(np.flatnonzero(paths.w1[middle]).tolist())
    inside = [k for k, each in enumerate(counts) if 0 < each < FEATURES]
    return [
        Check(
            "l1: weights are exactly zero, more of them the stronger λ is",
            counts[0] == 0 and counts[-1] > FEATURES / 2 and len(inside) > len(counts) / 2
            and bool(np.corrcoef(counts, np.arange(len(counts)))[0, 1] > 0.7),
            f"{counts[0]}, {counts[len(counts) // 3]}, {counts[2 * len(counts) // 3]}, "
            f"{counts[-1]} of {FEATURES} weights along the path; on diabetes {others[0]}, "
            f"{others[len(others) // 3]}, {others[2 * len(others) // 3]}, {others[-1]} of 10",
        ),
        Check(
            "at a tenth of λ_max the three that count are found, and most others are zero",
            {0, 1, 2} <= right and len(right) <= FEATURES / 2,
            f"{len(right)} weights are left",
        ),
        Check(
            "all weights are zero from λ_max = max|∂L(0)| on, and one appears right below",
            counts[0] == 0 and others[0] == 0 and int(counts[1]) >= 1,
            f"λ_max = {paths.strongest:.3g}: {counts[0]} at 1.05 of it, {counts[1]} at "
            f"{paths.l1[1] / paths.strongest:.2f} of it",
        ),
    ]  # fmt: skip


def _conditions(paths: Paths) -> list[Check]:
    """|∂L| = λ where a weight is not zero, and at most λ where it is."""
    slopes = np.array([paths.problem.gradient(w) for w in paths.w1]) / paths.l1[:, None]
    active = paths.w1 != 0.0
    against = np.abs(slopes + np.sign(paths.w1))[active]
    still = np.abs(slopes)[~active]
    # A gap of 10⁻¹⁰ of the loss leaves slopes off by its root, 10⁻⁵ of those at zero.
    room = 1e-4 * paths.strongest / paths.l1.min()
    return [
        Check(
            "∂L/∂wⱼ = −λ sign(wⱼ) on the support, |∂L/∂wⱼ| ≤ λ off it, along the whole path",
            bool(against.max(initial=0.0) < room and still.max(initial=0.0) < 1.0 + room),
            f"off by at most {against.max(initial=0.0):.1e} of λ on it, at most "
            f"{still.max(initial=0.0):.6f} of λ off it",
        ),
    ]


def _small(paths: Paths, real: Paths) -> list[Check]:
    """What an l2 penalty leaves."""
    sizes = np.linalg.norm(paths.w2, axis=1)
    zeros = int((paths.w2 == 0.0).sum() + (real.w2 == 0.0).sum())
    largest = float(np.abs(paths.w2[0]).max())
    return [
        Check(
            "l2: weights are small, the smaller the stronger λ is",
            bool(np.all(np.diff(sizes) > 0)) and largest < 0.01 * float(np.abs(paths.w2[-1]).max()),
            f"‖w‖ from {sizes[0]:.1e} at the strongest λ to {sizes[-1]:.3g} at the weakest",
        ),
        Check(
            "and none of them is zero, at any λ", zeros == 0,
            f"{zeros} zeros among {paths.w2.size + real.w2.size:,} weights; at the strongest λ the "
            f"smallest is {np.abs(paths.w2[0]).min():.1e}",
        ),
    ]  # fmt: skip


def _balls(shares: dict[str, float]) -> list[Check]:
    """The picture, over many losses."""
    return [
        Check(
            "two weights, random losses: the best point of the l1 ball is often a corner, more "
            "often of a smaller one; that of the l2 ball has no zero",
            0.25 < shares["l1"] < shares["l1, small"] and shares["l2"] == 0.0,
            f"a zero in {shares['l1']:.0%} of the l1 balls of half the size, "
            f"{shares['l1, small']:.0%} of those of a tenth, {shares['l2']:.0%} of the l2 balls",
        ),
    ]


def _forms(paths: Paths, held: Sequence[tuple[str, float, float, float, float]]) -> list[Check]:
    """Constrained and penalised are one."""
    apart = {name: max(row[3] for row in held if row[0] == name) for name in ("l1", "l2")}
    off = max(abs(row[4] - 1.0) for row in held)
    return [
        Check(
            "min L(w) subject to R(w) ≤ B, with B = R(ŵ_λ), has the penalised solution ŵ_λ",
            max(apart.values()) < AGREE,
            f"apart by at most {apart['l1']:.1e} of ‖w‖ (l1) and {apart['l2']:.1e} (l2), "
            f"{len(held)} bounds",
        ),
        Check(
            "the multiplier of the constraint is λ", off < 1e-3,
            f"off by at most {off:.1e} of it",
        ),
    ]  # fmt: skip


def _table(paths: Paths) -> Sheet:
    every = np.linspace(0, len(paths.l1) - 1, 9).astype(int)
    return Sheet(
        "Weights that are not zero, and their size, along both paths",
        ("λ/λ_max", "l1: not zero", "l1: ‖w‖₁", "l2: λ/λ_max", "l2: not zero", "l2: ‖w‖₂"),
        tuple(
            (
                float(paths.l1[k] / paths.strongest), int(_support(paths.w1[k])),
                float(np.abs(paths.w1[k]).sum()), float(paths.l2[k] / paths.strongest),
                int(_support(paths.w2[k])), float(np.linalg.norm(paths.w2[k])),
            )
            for k in every
        ),
    )  # fmt: skip


def _forms_table(held: Sequence[tuple[str, float, float, float, float]]) -> Sheet:
    return Sheet(
        "Constrained beside penalised",
        ("R", "λ", "B = R(ŵ)", "apart, of ‖w‖", "multiplier/λ"),
        tuple(held),
    )


def _two_balls() -> Figure:
    """A least squares loss, and where its contours touch the two balls."""
    X, free = np.array([[1.0, 0.6], [0.0, 0.9]]), np.array([0.3, 1.2])
    y = X @ free
    problem = tw.LinearProblem(X, y, fit_intercept=False)
    # Wider than high by as much as the panel is, so that the circle is round.
    across, up = np.linspace(-1.22, 1.22, 121) * ROOM, np.linspace(-ROOM, ROOM, 121)
    points = np.stack(np.meshgrid(across, up), axis=-1)
    values = np.mean((points @ X.T - y) ** 2, axis=-1) / 2.0
    turn = np.linspace(0.0, 2.0 * np.pi, 200)
    panels: list[Panel] = []
    found = {}
    for name, outline, project in (
        ("l1 ball", np.array([[1, 0, -1, 0, 1], [0, 1, 0, -1, 0]]), project_l1),
        ("l2 ball", np.array([np.cos(turn), np.sin(turn)]), rules.project_ball),
    ):
        radius = 0.6
        best = _projected(problem, project, radius)
        found[name] = best
        touch = problem.value(best)
        levels = touch * np.array([0.05, 0.3, 1.0, 2.0, 3.5, 6.0])
        marks: list[Mark] = [
            Contour(across, up, values, levels),
            curve("ball R(w) ≤ B", radius * outline[0], radius * outline[1], 1),
            Point("best in the ball", float(best[0]), float(best[1]), "square"),
            Point("best of all", float(free[0]), float(free[1]), "cross"),
        ]
        panels.append(panel("w₁", "w₂", marks, title=name))
    one, two = found.values()
    return figure(
        "Contours of a least squares loss and the two balls",
        panels,
        f"On the l1 ball the best point is the corner ({one[0]:.3g}, {one[1]:.3g}), on the l2 ball "
        f"({two[0]:.3g}, {two[1]:.3g}).",
        columns=2,
    )


def _picture(paths: Paths, real: Paths) -> Figure:
    share, ridge = paths.l1 / paths.strongest, paths.l2 / paths.strongest
    weights = [
        panel(
            "λ/λ_max", "weights",
            [curve("" if j >= 3 else "the three that count" if j == 0 else "", grid, w, 1 if j < 3
                   else Style("muted", width=1.0)) for j, w in reversed(list(enumerate(ways.T)))],
            log="x", title=name,
        )
        for name, grid, ways in (("l1 path", share, paths.w1), ("l2 path", ridge, paths.w2))
    ]  # fmt: skip
    counts = panel(
        "λ/λ_max", "weights not zero",
        [
            curve("l1", share, _support(paths.w1), 2),
            curve("l2", ridge[ridge <= share[0]], _support(paths.w2)[ridge <= share[0]], 3),
            Guide("λ_max", 1.0, "y"),
        ],
        log="x", title="support, synthetic",
    )  # fmt: skip
    diabetes = panel(
        "λ/λ_max", Axis("weights not zero", low=-0.5, high=10.5),
        [
            curve("l1", real.l1 / real.strongest, _support(real.w1), 2),
            curve("l2", real.l1 / real.strongest, _support(real.w2), 3),
            Guide("λ_max", 1.0, "y"),
        ],
        log="x", title="support, diabetes",
    )  # fmt: skip
    return figure(
        "Along the path of penalties",
        [*weights, counts, diabetes],
        f"Under l1 weights become zero one after the other, all {FEATURES} of them at λ_max. Under "
        "l2 they shrink together and none is zero.",
        columns=2,
    )


LAB = Lab(
    name="l1-sparsity",
    claim="An l1 penalty makes weights sparse and an l2 penalty makes them small; both are the "
    "constraint R(w) ≤ B in another form.",
    formula="min L(w) + λR(w)   ⇔   min L(w) s.t. R(w) ≤ B;   R = ‖w‖₁ or ‖w‖₂²",
    places=("A, Regularization", "A, ℓ₁ Regularization Produces Sparse Solutions"),
    expected=Ruling.HOLDS,
    experiment=experiment,
    breaks=(
        Break("subgradient", "the penalty in the gradient, without the cut at zero",
              {"path": subgradient_path}),
        Break("l2", "the l2 penalty in place of l1", {"path": l2_path}),
    ),
    fails_if="an l1 path without exact zeros or with |∂L| > λ at one, an l2 path with a zero, or a "
    "bound B = R(ŵ) whose constrained minimum is further than 10⁻⁴ from the penalised one",
    code="""\
import numpy as np, thalweg as tw

rng = np.random.default_rng(0)
X = rng.standard_normal((200, 30))
y = X[:, :3] @ [3.0, -2.0, 1.5] + rng.standard_normal(200)
problem = tw.LinearProblem(X, y, fit_intercept=False)
strongest = np.abs(problem.gradient(problem.start)).max()
runs = tw.path(problem, strongest * np.array([1.01, 0.5, 0.1, 0.01]), progress=False)
counts = [int(np.count_nonzero(run.w)) for run in runs]
ridge = tw.minimize(tw.LinearProblem(X, y, l2=10.0, fit_intercept=False), progress=False)
print("l1:", counts, "l2:", int(np.count_nonzero(ridge.w)), f"largest {np.abs(ridge.w).max():.2f}")
assert counts[0] == 0 and counts == sorted(counts) and np.all(ridge.w != 0)
""",
    seconds=1.0,
    remark="Sparse means exact zeros only for methods that cut at zero: coordinate descent, "
    "proximal steps, Newton on the support. With the penalty in the gradient of SGD or Adam, "
    "weights swing about zero and none is zero.",
)  # fmt: skip
