"""The Hessian's eigenvalues tell minimum, maximum and saddle apart.

At a stationary point f(w + d) = f(w) + ½dᵀHd + …, and in the eigenvectors of H this is ½ Σ λᵢdᵢ².

    all λᵢ > 0      f rises in every direction: a minimum
    all λᵢ < 0      it falls in every direction: a maximum
    both signs      it rises one way and falls another: a saddle

Where an eigenvalue is zero the next terms of the series decide, and H alone cannot: x⁴ + y⁴ and
x⁴ − y⁴ have the same Hessian at the origin, zero.

The whole of H has n² numbers: for a network of a million weights, 8 terabytes. The signs need only
the two ends of the spectrum, and Lanczos finds those from products Hv, each of which costs about
two gradients:

    H·v = ∇(∇f(w)ᵀv)

With m ≤ 100 products it keeps m vectors: memory 100·n, not n². A negative eigenvalue that it finds
is a fact, uᵀHu < 0 for the u in hand. That there is none holds with a stated confidence, and where
the smallest eigenvalue is too near zero for a hundred products to tell, the verdict is
"degenerate".
"""

from __future__ import annotations

import itertools
import tracemalloc
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
    Panel,
    Ruling,
    Setting,
    Sheet,
    curve,
    figure,
    panel,
)

NEAR = 1e-2  # distance at which f is looked at around a point
LOOKS = 200  # directions
MEGABYTE = 1e6

Judge = Callable[[Any, np.ndarray], Any]  # an objective and a point to a verdict


class Place(NamedTuple):
    """A stationary point whose kind is known beforehand."""

    surface: Any
    w: np.ndarray
    kind: str


def judged(objective: Any, w: np.ndarray) -> Any:
    """The library's verdict."""
    return tw.classify(objective, w)


def with_matrix(objective: Any, w: np.ndarray) -> Any:
    """Wrong: the same verdict after forming the whole Hessian."""
    _matrix(objective, w)
    return tw.classify(objective, w)


def without_sign(objective: Any, w: np.ndarray) -> Any:
    """Wrong: products with H², which has no negative eigenvalue."""
    return tw.classify(
        tw.Objective(
            objective.value,
            objective.gradient,
            lambda w, v: objective.hessian_vector(w, objective.hessian_vector(w, v)),
            dim=w.size,
            check_gradient=False,
        ),
        w,
    )


def experiment(setting: Setting, *, judge: Judge = judged) -> Findings:
    """Known points of surfaces and of networks, then the memory that a verdict takes."""
    places = _places(setting)
    verdicts = [judge(place.surface, place.w) for place in places]
    networks = _network_points(setting, judge)
    lengths = setting.pick(
        glance=(500, 1_000, 2_000), quick=(500, 2_000, 8_000, 32_000),
        full=(500, 2_000, 8_000, 32_000, 128_000, 512_000),
    )  # fmt: skip
    by_products = [_peak(judge, n) for n in lengths]
    small = setting.pick(glance=(250, 500, 1_000), quick=(250, 500, 1_000, 2_000),
                         full=(500, 1_000, 2_000, 4_000))  # fmt: skip
    by_matrix = [_peak(_matrix, n) for n in small]
    return Findings(
        [
            *_about_places(places, verdicts),
            _degenerate(judge),
            *_about_networks(networks),
            *_about_memory(lengths, by_products, small, by_matrix),
        ],
        [_place_table(places, verdicts), _network_table(networks)],
        [_slices(), _memory_figure(lengths, by_products, small, by_matrix)],
        [
            "memory: the peak that Python's tracemalloc counts, NumPy's arrays included; the "
            "passes of a network through PyTorch take a few vectors of n numbers more"
        ],
    )


def _places(setting: Setting) -> list[Place]:
    """Stationary points of surfaces; their kinds follow from formulas, not from H."""
    found = []
    many = tw.surfaces.StyblinskiTang(dim=setting.pick(glance=2, quick=3, full=5))
    # In each coordinate the outer roots of 2x³ − 16x + 5/2 are wells, the middle one is a hill.
    roots = np.sort(np.roots([2.0, 0.0, -16.0, 2.5]).real)
    for which in itertools.product(range(3), repeat=many.dim):
        hills = which.count(1)
        kind = "minimum" if hills == 0 else "maximum" if hills == many.dim else "saddle"
        found.append(Place(many, roots[list(which)], kind))
    wells = tw.surfaces.DoubleWell()
    found += [Place(wells, w, "minimum") for w in wells.minimizers]
    found.append(Place(wells, wells.barrier, "saddle"))
    for dim in (2, 3):
        found.append(Place(tw.surfaces.Rosenbrock(dim=dim), np.ones(dim), "minimum"))
    for curvatures, kind in _signed(setting):
        turned = tw.surfaces.Quadratic(curvatures, rotation="random", seed=setting.seed)
        found.append(Place(turned, np.zeros(turned.dim), kind))
    return found


def _signed(setting: Setting) -> list[tuple[np.ndarray, str]]:
    """200 curvatures of a sign; with one of the other sign among them, a saddle."""
    up = setting.rng("curvatures").uniform(0.5, 2.0, 200)
    one = up.copy()
    one[0] = -0.1
    return [(up, "minimum"), (-up, "maximum"), (one, "saddle"), (-one, "saddle")]


def _around(place: Place, rng: np.random.Generator) -> tuple[int, int]:
    """In how many of some directions f rises, and in how many it falls."""
    directions = rng.standard_normal((LOOKS, place.w.size))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    change = place.surface.value(place.w + NEAR * directions) - place.surface.value(place.w)
    return int(np.sum(change > 0)), int(np.sum(change < 0))


def _matrix(objective: Any, w: np.ndarray) -> np.ndarray:
    """The whole Hessian, a column at a time."""
    H = np.empty((w.size, w.size))
    v = np.zeros(w.size)
    for k in range(w.size):
        v[k] = 1.0
        H[:, k] = objective.hessian_vector(w, v)
        v[k] = 0.0
    return H


def _about_places(places: list[Place], verdicts: list[Any]) -> list[Check]:
    right = [v.kind == place.kind for place, v in zip(places, verdicts, strict=True)]
    counts = {kind: sum(place.kind == kind for place in places)
              for kind in ("minimum", "maximum", "saddle")}  # fmt: skip
    rng = np.random.default_rng(0)
    seen = []
    for place, verdict in zip(places, verdicts, strict=True):
        rises, falls = _around(place, rng)
        if place.w.size > 10:  # random directions do not find one falling axis among 200
            seen.append(verdict.kind != "saddle" or verdict.drop > 0.0)
        else:
            seen.append({"minimum": falls == 0, "maximum": rises == 0,
                         "saddle": rises > 0 and falls > 0}.get(verdict.kind, False))  # fmt: skip
    off = 0.0
    for place, verdict in zip(places, verdicts, strict=True):
        ends = np.linalg.eigvalsh(_matrix(place.surface, place.w))[[0, -1]]
        off = max(off, *np.abs([verdict.smallest, verdict.largest] - ends) / np.abs(ends).max())
    return [
        Check(
            "the eigenvalues' signs tell the kind of every known point", all(right),
            f"{sum(right)} of {len(places)}: "
            + ", ".join(f"{count} of kind {kind}" for kind, count in counts.items()),
        ),
        Check(
            "f around each point does what the verdict says", all(seen),
            f"{sum(seen)} of {len(seen)}, {LOOKS} directions at a distance of {NEAR:g} each; along "
            "the escape direction in 200 variables",
        ),
        Check(
            "both ends of the spectrum are those of the full Hessian", off <= 1e-3,
            f"off by {off:.1g} of λ_max at most",
        ),
    ]  # fmt: skip


def _degenerate(judge: Judge) -> Check:
    """Zero eigenvalues: points of three kinds that the Hessian cannot tell apart."""
    flat = {
        "x⁴ + y⁴": tw.Objective(lambda w: w[0] ** 4 + w[1] ** 4, lambda w: 4 * w**3, dim=2),
        "x⁴ − y⁴": tw.Objective(
            lambda w: w[0] ** 4 - w[1] ** 4, lambda w: np.array([4.0, -4.0]) * w**3, dim=2
        ),
        "monkey saddle": tw.surfaces.MonkeySaddle(),
    }
    kinds = {name: judge(f, np.zeros(2)).kind for name, f in flat.items()}
    return Check(
        "where eigenvalues are zero they decide nothing, and the verdict says so",
        set(kinds.values()) == {"degenerate"},
        ", ".join(f"{name}: {kind}" for name, kind in kinds.items()),
    )


class Judged(NamedTuple):
    """The verdict on a point of a network."""

    what: str
    dim: int
    expected: str
    verdict: Any
    full: tuple[float, float] | None  # both ends of the whole Hessian, where it was formed


def _network_points(setting: Setting, judge: Judge) -> list[Judged]:
    """A network at the weights that made its labels, and at zero; a large one at zero."""
    found = []
    # With as few as 50 weights the whole spectrum is seen, and a minimum can be proved.
    small, teacher = _network(setting, 6, 5, 2, rows=400)
    for what, w, kind in (
        ("at the teacher's weights", teacher, "minimum"),
        ("at zero", np.zeros(small.dim), "saddle"),
    ):
        ends = np.linalg.eigvalsh(_matrix(small, w))[[0, -1]]
        found.append(Judged(what, small.dim, kind, judge(small, w), (ends[0], ends[1])))
    inputs, hidden = setting.pick(glance=(20, 20), quick=(100, 300), full=(784, 300))
    large, _ = _network(setting, inputs, hidden, 10, rows=100)
    found.append(Judged("at zero", large.dim, "saddle", judge(large, np.zeros(large.dim)), None))
    return found


def _network(
    setting: Setting, inputs: int, hidden: int, outputs: int, rows: int
) -> tuple[Any, np.ndarray]:
    """Squared loss of a tanh network on labels that such a network made, and that one's weights."""
    import torch

    X = torch.tensor(setting.rng("inputs", inputs).standard_normal((rows, inputs)))
    model = torch.nn.Sequential(
        torch.nn.Linear(inputs, hidden, bias=False), torch.nn.Tanh(),
        torch.nn.Linear(hidden, outputs, bias=False),
    ).double()  # fmt: skip
    tw.nets.initialize(model, "lecun", seed=setting.seed)
    with torch.no_grad():
        Y = model(X)
    f = tw.nets.objective(model, (X, Y), "squared")
    return f, f.start.copy()


def _about_networks(networks: list[Judged]) -> list[Check]:
    right = [each.verdict.kind == each.expected for each in networks]
    compared = [each for each in networks if each.full is not None]
    off = max(
        float(np.abs(np.array([each.verdict.smallest, each.verdict.largest]) - each.full).max())
        / max(map(abs, each.full or ()))
        for each in compared
    )
    large = networks[-1]
    return [
        Check(
            "they tell a network's minimum from its saddle", all(right) and off <= 1e-3,
            ", ".join(f"{each.what}, {each.dim:,} weights: {each.verdict.kind}"
                      for each in networks) + f"; ends off by {off:.1g} of λ_max",
        ),
        Check(
            "from a hundred products or so, whatever the number of weights",
            large.verdict.products <= 102,
            f"{large.verdict.products} products for {large.dim:,} weights, λ_min = "
            f"{large.verdict.smallest:.3g}; the matrix would have {large.dim**2:.2g} numbers",
        ),
    ]  # fmt: skip


def _peak(work: Callable[[Any, np.ndarray], Any], n: int) -> int:
    """Bytes that `work` has at once, beyond those before, on a saddle of n variables."""
    surface = tw.surfaces.StyblinskiTang(dim=n)
    roots = np.sort(np.roots([2.0, 0.0, -16.0, 2.5]).real)
    w = np.resize(roots[:2], n)  # a well in one coordinate, a hill in the next
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    work(surface, w)
    peak = tracemalloc.get_traced_memory()[1] - before
    tracemalloc.stop()
    return peak


def _exponent(n: Any, size: Any) -> float:
    """p of size = constant + c·nᵖ, from the increments: small problems have a constant to pay."""
    return float(np.polyfit(np.log(n[1:]), np.log(np.diff(size)), 1)[0])


def _about_memory(
    lengths: tuple[int, ...], by_products: list[int], small: tuple[int, ...], by_matrix: list[int]
) -> list[Check]:
    linear, square = _exponent(lengths, by_products), _exponent(small, by_matrix)
    most = lengths[-1]
    vectors = (by_products[-1] - by_products[0]) / (8 * (most - lengths[0]))
    return [
        Check(
            "the full Hessian takes O(n²) memory", 1.9 <= square <= 2.1,
            f"n to the power {square:.2f}; {by_matrix[-1] / MEGABYTE:,.1f} MB at n = "
            f"{small[-1]:,}",
        ),
        Check(
            # 100 vectors of the basis, and some more that a look takes.
            "the verdict from products takes O(n): at most 130 vectors",
            0.9 <= linear <= 1.1 and vectors <= 130.0,
            f"n to the power {linear:.2f}, {vectors:.0f} vectors beside a constant; "
            f"{by_products[-1] / MEGABYTE:,.1f} MB at n = {most:,}, where the matrix has "
            f"{8 * most**2 / MEGABYTE:,.0f} MB",
        ),
    ]  # fmt: skip


def _place_table(places: list[Place], verdicts: list[Any]) -> Sheet:
    groups: dict[tuple[str, str], list[Any]] = {}
    for place, verdict in zip(places, verdicts, strict=True):
        name = f"{type(place.surface).__name__}, {place.w.size} variables"
        groups.setdefault((name, place.kind), []).append(verdict)
    rows = tuple(
        (
            name, kind, len(found), sum(v.kind == kind for v in found),
            min(v.smallest for v in found), max(v.largest for v in found),
        )
        for (name, kind), found in groups.items()
    )  # fmt: skip
    heads = ("surface", "kind", "points", "told", "least λ_min", "largest λ_max")
    return Sheet("Stationary points of surfaces", heads, rows)


def _network_table(networks: list[Judged]) -> Sheet:
    rows = tuple(
        (
            each.what, each.dim, each.verdict.kind, each.verdict.smallest, each.verdict.largest,
            each.verdict.products, f"{8 * each.dim**2 / MEGABYTE:,.3g} MB",
        )
        for each in networks
    )  # fmt: skip
    heads = ("network", "weights", "verdict", "λ_min", "λ_max", "products", "full Hessian")
    return Sheet("Points of networks, inputs – tanh – outputs", heads, rows)


def _slices() -> Figure:
    """f along the first and the last eigenvector at four points."""
    himmelblau, monkey = tw.surfaces.Himmelblau(), tw.surfaces.MonkeySaddle()
    drawn, told = [], []
    for surface, start in (
        (himmelblau, (3.0, 2.0)), (himmelblau, (-0.3, -0.9)), (himmelblau, (3.4, 0.07)),
        (monkey, (0.0, 0.0)),
    ):  # fmt: skip
        w = np.array(start)
        for _ in range(20):  # Newton's method on ∇f = 0, to the point nearby
            w = w - np.linalg.lstsq(_matrix(surface, w), surface.gradient(w))[0]
        part, words = _slice(surface, w)
        drawn.append(part)
        told.append(words)
    return figure(
        "f along both eigenvectors",
        drawn, " ".join(told),
        "broken: ½λα², what the eigenvalue says",
        columns=2,
    )  # fmt: skip


def _slice(surface: Any, w: np.ndarray) -> tuple[Panel, str]:
    kind = tw.classify(surface, w).kind
    values, vectors = np.linalg.eigh(_matrix(surface, w))
    alpha = np.linspace(-0.5, 0.5, 61)
    marks = []
    for hue, (name, k) in enumerate((("along λ_min", 0), ("along λ_max", -1)), start=1):
        # A direction of a cubic that does not vanish on it, where the eigenvectors are arbitrary.
        u = vectors[:, k] if np.any(values) else np.array([[0.0, 1.0], [1.0, 0.0]])[hue - 1]
        change = surface.value(w + alpha[:, None] * u) - surface.value(w)
        marks.append(curve(name, alpha, change, hue))
        marks.append(curve("", alpha, 0.5 * values[k] * alpha**2, hue, theory=True))
    words = f"{type(surface).__name__}: {kind}, λ = {values[0]:.3g} and {values[-1]:.3g}."
    return panel("α", "f(w + αu) − f(w)", marks, title=kind), words


def _memory_figure(
    lengths: tuple[int, ...], by_products: list[int], small: tuple[int, ...], by_matrix: list[int]
) -> Figure:
    n = np.array([small[0], lengths[-1]], dtype=float)
    drawn = [
        curve("full Hessian", small, np.array(by_matrix) / MEGABYTE, 2, dots=True),
        curve("8n² bytes", n, 8 * n**2 / MEGABYTE, 2, theory=True),
        curve("verdict from products", lengths, np.array(by_products) / MEGABYTE, 1, dots=True),
        curve("100 vectors, 800n bytes", n, 800 * n / MEGABYTE, 1, theory=True),
    ]
    return figure(
        "Memory that a verdict takes",
        panel("n, variables", "megabytes", drawn, log="xy"),
        f"At n = {lengths[-1]:,} the verdict takes {by_products[-1] / MEGABYTE:,.1f} MB, the "
        f"matrix would take {8 * lengths[-1] ** 2 / MEGABYTE:,.0f} MB.",
    )


LAB = Lab(
    name="hessian-verdict",
    claim="The eigenvalues of the Hessian tell whether a stationary point is a minimum, a maximum "
    "or a saddle; the full matrix takes O(n²) memory, too much for networks.",
    formula="all λᵢ > 0: minimum;   all λᵢ < 0: maximum;   both signs: saddle",
    places=("C, Poor Conditioning",),
    expected=Ruling.HOLDS,
    experiment=experiment,
    breaks=(
        Break("unsigned", "products with H², which have lost the sign", {"judge": without_sign}),
        Break("matrix", "a verdict that forms the whole Hessian", {"judge": with_matrix}),
    ),
    fails_if="a point of known kind that is told wrongly, or around which f does something else; "
    "a verdict on a degenerate point; memory that grows with another power of n than 1 ± 0.1",
    code="""\
import numpy as np
import thalweg as tw

surface = tw.surfaces.Himmelblau()
for w in ([3.0, 2.0], [-0.270845, -0.923039], [3.385154, 0.073852]):
    print(tw.classify(surface, w, tol=1e-3).kind, "at", w)
big = tw.surfaces.StyblinskiTang(dim=20_000)
point = tw.classify(big, np.resize([-2.903534, 0.156731], big.dim), tol=1e-3)
print(point)
assert point.kind == "saddle" and point.products <= 102
""",
    seconds=1.7,
    needs_torch=True,
    remark="Where an eigenvalue is zero the Hessian cannot decide, a case that the slide leaves "
    "out and that is common in networks: flat directions. A saddle is proved by one direction; "
    "that there is none is hard to prove where the smallest eigenvalue is near zero.",
)
