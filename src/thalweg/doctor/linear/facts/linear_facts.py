"""All that the symptoms of a linear problem are judged by, measured once.

Nothing here judges, and no symptom looks at the data. What needs a matrix of p × p numbers is
measured where that is at most 1,000 × 1,000 and a second of work; elsewhere `unchecked` says what
was left out and why. Some ten passes over X besides, and 60 to 200 more for the curvature and the
plane between classes, where these are not cheaper otherwise: at the solution over as many rows,
drawn, as have 2·10⁷ entries, and the findings say so. A sparse X is never filled; its column counts
take one or two vectors as long as its entries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from thalweg.core.run import Run
from thalweg.doctor.linear.facts.curvature import Curvature, affordable, bound, curvature, ends
from thalweg.doctor.linear.facts.dependence import Dependence, dependence
from thalweg.doctor.linear.facts.effect import Effect, effect
from thalweg.doctor.linear.facts.exclusive import exclusive
from thalweg.doctor.linear.facts.repeats import repeats
from thalweg.doctor.linear.facts.separator import Separator, separator
from thalweg.doctor.linear.facts.sizes import Sizes, sizes
from thalweg.objectives.gram import weighted_moments
from thalweg.objectives.linear import LinearProblem

ENOUGH = 20_000_000  # entries, times classes, that a product with the Hessian looks at


@dataclass(frozen=True, eq=False)
class LinearFacts:
    """What was measured of a linear problem, and of a run on it."""

    problem: LinearProblem  # for its options: loss, l1, l2, intercept
    run: Run | None
    names: tuple[str, ...] | None  # of the columns
    class_names: tuple[str, ...] | None  # where labels are numbers that stand for them
    columns: Sizes
    seen: np.ndarray  # sizes of the features as they enter the model, float64[p]
    repeats: np.ndarray  # pairs (first, repeat), int64[k, 2]
    dependence: Dependence | None  # None where it was not looked for
    unchecked: str  # what was not looked for, and why; empty where all was
    curvature: Curvature
    standardized_kappa: float  # κ with every feature at deviation 1; NaN where it is not known
    row_smoothness: float  # the largest Lᵢ
    effect: Effect
    separator: Separator | None
    exclusive: np.ndarray  # pairs (column, class that does not have it), int64[k, 2]

    @cached_property
    def shares(self) -> np.ndarray:
        """The weight of each class, float64[K]; empty for a regression."""
        problem = self.problem
        if problem.classes is None:
            return np.zeros(0)
        codes = problem.y if problem.outputs > 1 else (problem.y > 0).astype(np.int64)
        return np.bincount(codes, weights=problem.weights, minlength=len(problem.classes))

    def label(self, k: int) -> str:
        """A class by its name, or as its label is written."""
        if self.class_names is not None:
            return repr(self.class_names[k])
        classes = self.problem.classes
        return "" if classes is None else repr(classes.tolist()[k])

    def name(self, column: int) -> str:
        """A column as a reader knows it."""
        return f"{self.names[column]!r}" if self.names else f"column {column}"

    def listed(self, columns: Sequence[int] | np.ndarray, most: int = 5) -> str:
        """Some of the columns by name, and how many more there are."""
        named = ", ".join(self.name(int(j)) for j in columns[:most])
        return named + (f" and {len(columns) - most} more" if len(columns) > most else "")


def linear_facts(
    problem: LinearProblem,
    run: Run | None = None,
    names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
) -> LinearFacts:
    """Measure `problem`, at the end of `run` if it reached its tolerance."""
    w = run.w if run is not None and run.converged else None
    columns = sizes(problem)
    doubles = repeats(problem, columns)
    gram, unchecked = None, ""
    found, kappa = None, float("nan")
    if affordable(problem, problem.p + problem.fit_intercept):
        G = _gram(problem, columns)
        gram = _with_intercept(problem, columns, G)
        deviations = _deviations(problem, columns)
        kappa = _standardized_kappa(problem, G, deviations)
        found = _dependence(problem, G, doubles[:, 1], columns)
    else:
        unchecked = (
            "whether three or more columns depend on each other: for "
            f"{problem.n:,} × {problem.p:,} the matrix of their products takes too long"
        )
    part = _part(problem)
    return LinearFacts(
        problem=problem,
        run=run,
        names=None if names is None else tuple(names),
        class_names=None if class_names is None else tuple(class_names),
        columns=columns,
        seen=columns.seen(problem),
        repeats=doubles,
        dependence=found,
        unchecked=unchecked,
        curvature=curvature(problem, w, gram, part),
        standardized_kappa=kappa,
        row_smoothness=float(problem.row_smoothness.max()),
        effect=effect(problem, w, part),
        separator=separator(problem, columns, None if run is None else run.w),
        exclusive=exclusive(problem),
    )


def _part(problem: LinearProblem) -> LinearProblem:
    """The problem on rows enough for products with its Hessian, which are many."""
    entries = problem.matrix.entries * problem.outputs
    if entries <= ENOUGH:
        return problem
    count = max(int(problem.n * ENOUGH / entries), min(problem.n, 2 * problem.dim))
    rows = np.random.default_rng(0).choice(problem.n, count, replace=False)
    return problem.sample(np.sort(rows))


def _gram(problem: LinearProblem, columns: Sizes) -> np.ndarray:
    """Σ cᵢ(xᵢ − m)(xᵢ − m)ᵀ of the features as they enter the model, m = 0 without intercept."""
    shift = columns.means if problem.fit_intercept else np.zeros(problem.p)
    G = weighted_moments(problem.matrix, problem.weights, shift, problem.threads).second
    if problem.fit_intercept:  # of a sparse X these are differences, and rounding is left of them
        G[columns.constant], G[:, columns.constant] = 0.0, 0.0
    d = problem.features.units
    return G * np.outer(d, d)


def _with_intercept(problem: LinearProblem, columns: Sizes, G: np.ndarray) -> np.ndarray:
    """Σ cᵢx̃ᵢx̃ᵢᵀ from the centred Σ cᵢ(xᵢ − m)(xᵢ − m)ᵀ."""
    if not problem.fit_intercept:
        return G
    m, features = columns.means, problem.features
    m = features.units * (m - features.place)
    return np.block([[G + np.outer(m, m), m[:, None]], [m[None, :], np.ones((1, 1))]])


def _deviations(problem: LinearProblem, columns: Sizes) -> np.ndarray:
    """σ of the features as they enter the model, 1 for constant ones, float64[p]."""
    scales = problem.features.units
    return np.where(columns.deviations > 0.0, scales * columns.deviations, 1.0)


def _standardized_kappa(problem: LinearProblem, G: np.ndarray, deviations: np.ndarray) -> float:
    """κ of γΣcᵢx̃ᵢx̃ᵢᵀ + l2·I for features of deviation 1, and mean 0 with an intercept."""
    scaled = G / np.outer(deviations, deviations)
    if problem.fit_intercept:
        scaled = np.pad(scaled, (0, 1))
        scaled[-1, -1] = 1.0
    largest, smallest, _ = ends(bound(problem, scaled), problem.p, problem.l2)
    return largest / smallest if smallest > 0.0 else float("nan")


def _dependence(
    problem: LinearProblem, G: np.ndarray, copies: np.ndarray, columns: Sizes
) -> Dependence:
    """Among the columns that vary and repeat no other."""
    lengths = np.sqrt(np.diag(G))
    varies = columns.deviations > 0.0 if problem.fit_intercept else columns.sizes > 0.0
    varies[copies] = False
    kept = np.flatnonzero(varies & (lengths > 0.0) & np.isfinite(lengths))
    R = G[np.ix_(kept, kept)] / np.outer(lengths[kept], lengths[kept])
    scales = problem.features.units
    return dependence(R, kept, (lengths / scales)[kept])
