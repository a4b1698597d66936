"""Max-norm keeps every unit's incoming weights in a ball.

After each step the incoming weights w of every unit are put back into the ball of radius c,

    w ← argmin ‖z − w‖ over ‖z‖ ≤ c  =  w · min(1, c/‖w‖)

which moves a vector that is outside along its own direction onto the sphere, and leaves one that is
inside as it is. That p is the nearest point of the ball says

    ⟨w − p, z − p⟩ ≤ 0   for all ‖z‖ ≤ c

What a unit's incoming weights are depends on the layer. They are all weights that its output
depends on: a row of a linear layer; in a convolution the whole kernel of an output channel, over
all input channels of its group; in a transposed convolution, whose weight is [in, out/g, k, k], a
slice along the second axis. Here they are found by asking which weights an output has a gradient
of, so that nothing is taken from the layout.

Gradient steps followed by this projection are projected gradient descent. For one linear unit and
least squares, which is convex, it ends at the solution of the problem in its constrained form,

    min L(w)  subject to  ‖w‖ ≤ c

which is that of ridge regression (XᵀX + λI)w = Xᵀy, with the λ that makes ‖w‖ = c.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import thalweg as tw
from thalweg.labbook import (
    Break,
    Check,
    Contour,
    Curve,
    Figure,
    Findings,
    Lab,
    Point,
    Ruling,
    Setting,
    Sheet,
    curve,
    figure,
    panel,
)

if TYPE_CHECKING:
    from torch import Tensor, nn

SINGLE = 1e-6  # relative: what rounding in float32 may add to a norm
DOUBLE = 1e-12
RADII = (0.5, 1.0, 1.5)

Make = Callable[[float], Any]  # a regularizer, by the radius


class Projected(NamedTuple):
    """What one projection did to the units of a layer."""

    layer: str
    units: int
    outside: int  # units that were longer than c
    longest: float  # norm afterwards, by c
    off: float  # largest distance from w·min(1, c/‖w‖), by c
    moved: int  # units that were inside and are not bit for bit the same
    rise: float  # largest ⟨w − p, z − p⟩ over the ball, by c²; at most 0 for the nearest point
    biases: float  # how far they moved


def real(radius: float) -> Any:
    """The projection as Thalweg has it."""
    return tw.nets.MaxNorm(radius)


class Columns:
    """A wrong one: along the second axis, so over a linear layer's outgoing weights."""

    def __init__(self, radius: float) -> None:
        self.radius = radius

    def attach(self, model: nn.Module) -> None:
        """Nothing to prepare."""

    def detach(self) -> None:
        """Nothing to undo."""

    def penalty(self, model: nn.Module, progress: float) -> float:
        """Nothing in the loss."""
        return 0.0

    def after_step(self, model: nn.Module, progress: float, lr: float) -> None:
        """Scale slices of the second axis."""
        for weight in (p.data for p in model.parameters() if p.ndim > 1):
            axes = (0, *range(2, weight.ndim))
            norms = weight.square().sum(dim=axes, keepdim=True).sqrt()
            weight *= (self.radius / norms).clamp(max=1.0)


class Whole(Columns):
    """A wrong one: the layer as one vector. No unit is too long, but all are shortened."""

    def after_step(self, model: nn.Module, progress: float, lr: float) -> None:
        """Scale all weights of a layer by one number."""
        for weight in (p.data for p in model.parameters() if p.ndim > 1):
            weight *= min(1.0, self.radius / float(weight.norm()))


def experiment(setting: Setting, *, make: Make = real) -> Findings:
    """One projection of each kind of layer, training under it, and its fixed point."""
    projected = [_project(setting, make, name) for name in _layers()]
    steps = setting.pick(glance=50, quick=200, full=1500)
    courses = {c: _train(setting, make(c), steps) for c in RADII}
    free = _train(setting, tw.nets.Regularizer(0.0), steps)
    option = _option(setting, make)
    solved = _constrained(setting, make)
    checks = [
        *_checks_of_projection(projected),
        Check(
            "norms are at most c after every step of training",
            all(course.max() <= c * (1 + SINGLE) for c, course in courses.items()),
            ", ".join(f"{course.max():.6f} for c = {c:g}" for c, course in courses.items())
            + f", the longest of all units in {steps} steps",
        ),
        Check(
            "without it the same training leaves every one of these balls",
            free[0] < min(RADII) and free.max() > max(RADII),
            f"the longest unit grows from {free[0]:.2f} to {free.max():.2f}",
        ),
        Check(
            "the optimizers' option max_norm does the same", option <= SINGLE,
            f"weights {option:.1g} apart by c after training with either",
        ),
        Check(
            "one linear unit ends at the minimum of least squares under ‖w‖ ≤ c",
            max(row[3] for row in solved) <= 1e-6,
            ", ".join(f"{row[3]:.1g} for c = {row[0]:g}" for row in solved)
            + " apart from it, by c",
        ),
    ]  # fmt: skip
    return Findings(
        checks,
        [_table_of_projection(projected), _table_of_constrained(solved)],
        [_figure_of_norms(courses, free), _figure_of_path(setting, make)],
        [
            "training: scikit-learn's digits, 1,797 pictures of 8 × 8, through a convolution, a "
            "transposed convolution and a linear layer; SGD in batches of 32, rate "
            "0.2, momentum 0.9",
            "constrained minimum: diabetes, 442 × 10, against ridge regression by bisection",
        ],
    )


def _layers() -> dict[str, Callable[[], Any]]:
    from torch import nn

    return {
        "linear": lambda: nn.Linear(20, 12),
        "convolution": lambda: nn.Conv2d(4, 8, 3),
        "in 2 groups": lambda: nn.Conv2d(8, 8, 3, groups=2),
        "transposed": lambda: nn.ConvTranspose2d(6, 4, 3),
        "transposed, 2 groups": lambda: nn.ConvTranspose2d(8, 6, 3, groups=2),
    }


def _incoming(layer: Any) -> list[Tensor]:
    """For every output unit a mask of the weights that its output depends on."""
    import torch

    generator = torch.Generator().manual_seed(0)
    flat = layer.weight.ndim == 2
    shape = (2, layer.in_features) if flat else (2, layer.in_channels, 5, 5)
    x = torch.rand(shape, generator=generator, dtype=layer.weight.dtype) + 0.1
    output = layer(x)
    masks = []
    for unit in range(output.shape[1]):
        (gradient,) = torch.autograd.grad(output[:, unit].sum(), layer.weight, retain_graph=True)
        masks.append(gradient != 0)
    return masks


def _project(setting: Setting, make: Make, name: str) -> Projected:
    """One projection of units of all lengths, some inside and some outside the ball."""
    import torch

    c = 2.0
    layer = _layers()[name]().double()
    masks = _incoming(layer)
    rng = setting.rng("project", name)
    # Directions at random; lengths from a tenth of c to five times c.
    for k, mask in enumerate(masks):
        direction = rng.standard_normal(int(mask.sum()))
        length = c * (0.1 + 4.9 * k / (len(masks) - 1))
        layer.weight.data[mask] = torch.as_tensor(length * direction / np.linalg.norm(direction))
    layer.bias.data.fill_(100.0)
    before = [layer.weight.detach()[mask].numpy().copy() for mask in masks]
    make(c).after_step(layer, 0.5, 0.1)
    after = [layer.weight.detach()[mask].numpy() for mask in masks]
    norms = [float(np.linalg.norm(w)) for w in before]
    wanted = [w * min(1.0, c / norm) for w, norm in zip(before, norms, strict=True)]
    # The largest ⟨w − p, z − p⟩ over ‖z‖ ≤ c is at z = c(w − p)/‖w − p‖.
    rises = [c * np.linalg.norm(w - p) - (w - p) @ p for w, p in zip(before, after, strict=True)]
    inside = [k for k, norm in enumerate(norms) if norm <= c]
    return Projected(
        name,
        len(masks),
        len(masks) - len(inside),
        max(float(np.linalg.norm(p)) for p in after) / c,
        max(float(np.linalg.norm(p - w)) for p, w in zip(after, wanted, strict=True)) / c,
        sum(not np.array_equal(before[k], after[k]) for k in inside),
        max(map(float, rises)) / c**2,
        float((layer.bias.detach() - 100.0).abs().max()),
    )


def _network() -> Any:
    from torch import nn

    return nn.Sequential(
        nn.Unflatten(1, (1, 8, 8)),
        nn.Conv2d(1, 8, 3), nn.ReLU(),
        nn.ConvTranspose2d(8, 8, 3, groups=2), nn.ReLU(),
        nn.Flatten(), nn.Linear(512, 10),
    )  # fmt: skip


def _digits() -> tuple[Tensor, Tensor]:
    import torch

    table = tw.read("@digits")
    X = tw.scaling.ZScore().fit_transform(table.X)
    return torch.as_tensor(X, dtype=torch.float32), torch.as_tensor(table.y)


def _train(setting: Setting, regularizer: Any, steps: int) -> np.ndarray:
    """The norm of the longest unit, at the start and after every step."""
    import torch

    model = _network()
    # Small enough for all units to begin inside all balls.
    tw.nets.initialize(model, "normal[sigma=0.015]", seed=setting.seed_for("seed", "training"))
    layers = [layer for layer in model if getattr(layer, "weight", None) is not None]
    units = [(layer.weight, torch.stack(_incoming(layer)).float().flatten(1)) for layer in layers]

    def longest() -> float:
        squares = [mask @ weight.detach().square().flatten() for weight, mask in units]
        return float(torch.cat(squares).max().sqrt())

    norms = [longest()]

    def look(moment: Any) -> bool:
        norms.append(longest())
        return len(norms) > steps

    tw.nets.fit(
        model, _digits(), "sgd[lr=0.2, momentum=0.9]", epochs=1 + steps // 56, batch_size=32,
        seed=setting.seed, regularizers=[regularizer], probes=[look], progress=False,
    )  # fmt: skip
    return np.array(norms[: steps + 1])


def _option(setting: Setting, make: Make) -> float:
    """The largest difference of weights after training by regularizer and by option, by c."""
    from torch.nn.utils import parameters_to_vector

    c, found = 1.0, []
    for regularizers, optimizer in (([make(c)], "sgd[lr=0.5]"), ([], f"sgd[lr=0.5, max_norm={c}]")):
        model = _network().double()
        tw.nets.initialize(model, "he", seed=setting.seed_for("seed", "option"))
        X, y = _digits()
        tw.nets.fit(
            model, (X[:320].double(), y[:320]), optimizer, epochs=1, batch_size=64,
            seed=setting.seed, regularizers=regularizers, progress=False,
        )  # fmt: skip
        found.append(parameters_to_vector(model.parameters()).detach())
    return float((found[0] - found[1]).abs().max()) / c


def _constrained(setting: Setting, make: Make) -> list[tuple[float, float, float, float]]:
    """c, loss in the end, least loss under the constraint, distance from the solution by c."""
    table = tw.read("@diabetes", dtype="float64")
    X = tw.scaling.ZScore().fit_transform(table.X)
    y = np.asarray(table.y, dtype=float)
    y = (y - y.mean()) / y.std()
    found = []
    for c in setting.pick(glance=(0.2,), quick=(0.1, 0.2, 0.4), full=(0.05, 0.1, 0.2, 0.4)):
        w = _descend(make, X, y, c, setting.pick(glance=80, quick=400, full=2000))[-1]
        best = _ridge(X, y, c)
        loss, least = (float(np.mean((X @ each - y) ** 2)) for each in (w, best))
        found.append((c, loss, least, float(np.linalg.norm(w - best)) / c))
    return found


def _descend(make: Make | None, X: np.ndarray, y: np.ndarray, c: float, steps: int) -> np.ndarray:
    """The way of a linear unit by full gradient steps of 1/L and the projection."""
    import torch
    from torch import nn

    unit = nn.Linear(X.shape[1], 1, bias=False).double()
    tw.nets.initialize(unit, "zeros")
    L = 2.0 * float(np.linalg.eigvalsh(X.T @ X / len(y))[-1])  # of the mean of (xᵀw − y)²
    ways = [np.zeros(X.shape[1])]
    tw.nets.fit(
        unit, (torch.as_tensor(X), torch.as_tensor(y)[:, None]), f"sgd[lr={1.0 / L!r}]", _squares,
        steps, batch_size=None, regularizers=[] if make is None else [make(c)],
        probes=[lambda moment: ways.append(unit.weight.detach().numpy().ravel().copy())],
        progress=False,
    )  # fmt: skip
    return np.array(ways)


def _squares(output: Tensor, target: Tensor) -> Tensor:
    return (output - target).square().mean()


def _ridge(X: np.ndarray, y: np.ndarray, c: float) -> np.ndarray:
    """The minimum of least squares under ‖w‖ ≤ c: ridge regression with the λ that ‖w‖ = c asks."""
    values, vectors = np.linalg.eigh(X.T @ X)
    slopes = vectors.T @ (X.T @ y)
    low, high = 0.0, float(np.linalg.norm(slopes)) / c
    if np.linalg.norm(slopes / values) <= c:
        return vectors @ (slopes / values)
    for _ in range(200):
        middle = (low + high) / 2
        if np.linalg.norm(slopes / (values + middle)) > c:
            low = middle
        else:
            high = middle
    return vectors @ (slopes / (values + high))


def _checks_of_projection(projected: list[Projected]) -> list[Check]:
    longest = max(each.longest for each in projected)
    off = max(each.off for each in projected)
    rise = max(each.rise for each in projected)
    moved, outside = sum(e.moved for e in projected), sum(e.outside for e in projected)
    units = sum(each.units for each in projected)
    return [
        Check(
            "units are found along the right axis, in linear, convolution and transposed layers",
            off <= DOUBLE and longest <= 1 + DOUBLE,
            ", ".join(f"{each.layer} {each.off:.1g}" for each in projected)
            + " from w·min(1, c/‖w‖), by c; units are what an output has a gradient of",
        ),
        Check(
            "a unit outside goes to the nearest point of the ball", rise <= DOUBLE,
            f"⟨w − p, z − p⟩ is at most {rise:.1g} c² over the ball, of {outside} units",
        ),
        Check(
            "units inside stay bit for bit, and so do all biases",
            moved == 0 and max(each.biases for each in projected) == 0.0,
            f"{moved} of {units - outside} units inside moved; biases of 100 moved by "
            f"{max(each.biases for each in projected):g}",
        ),
    ]  # fmt: skip


def _table_of_projection(projected: list[Projected]) -> Sheet:
    heads = ("layer", "units", "outside", "longest by c", "off by c", "inside and moved")
    rows = tuple((e.layer, e.units, e.outside, e.longest, e.off, e.moved) for e in projected)
    return Sheet("One projection, c = 2, units from 0.1 c to 5 c long", heads, rows)


def _table_of_constrained(solved: list[tuple[float, float, float, float]]) -> Sheet:
    heads = ("c", "loss in the end", "least loss with ‖w‖ ≤ c", "distance by c")
    return Sheet("A linear unit under max-norm, and the constrained minimum", heads, tuple(solved))


def _figure_of_norms(courses: dict[float, np.ndarray], free: np.ndarray) -> Figure:
    marks = [curve("without", np.arange(len(free)), free, 0)]
    marks += [
        curve(f"c = {c:g}", np.arange(len(course)), course, hue)
        for hue, (c, course) in enumerate(courses.items(), 1)
    ]
    return figure(
        "The longest unit while training",
        panel("step", "largest norm of a unit", marks, log="y"),
        f"Without max-norm the longest unit reaches {free.max():.2f}; with it, "
        + ", ".join(f"{course.max():.3f} for c = {c:g}" for c, course in courses.items())
        + ".",
    )


def _figure_of_path(setting: Setting, make: Make) -> Figure:
    """A unit of two weights, on two columns of diabetes."""
    table = tw.read("@diabetes", dtype="float64")
    X = tw.scaling.ZScore().fit_transform(table.X[:, [2, 8]])  # body mass and a blood measure
    X = X * np.array([1.0, 0.4])  # of unequal scales, for a way that is not straight
    y = np.asarray(table.y, dtype=float)
    y = (y - y.mean()) / y.std()
    c = 0.5
    ways = {"without": _descend(None, X, y, c, 60), "max-norm": _descend(make, X, y, c, 60)}
    best = _ridge(X, y, c)
    across, up = np.linspace(-0.1, 0.7, 60), np.linspace(-0.1, 1.3, 60)
    grid = np.array([[np.mean((X @ (a, b) - y) ** 2) for a in across] for b in up])
    levels = grid.min() + np.array([0.002, 0.01, 0.03, 0.07, 0.13, 0.22])
    angle = np.linspace(0.0, np.pi / 2, 100)
    marks: list[Contour | Curve | Point] = [
        Contour(across, up, grid, levels),
        curve("‖w‖ = c", c * np.cos(angle), c * np.sin(angle), 0, theory=True),
        *(
            curve(name, way[:, 0], way[:, 1], hue, dots=True)
            for hue, (name, way) in enumerate(ways.items(), 1)
        ),
        Point("least with ‖w‖ ≤ c", float(best[0]), float(best[1]), "cross"),
    ]
    end = ways["max-norm"][-1]
    return figure(
        "Two weights, projected after every step",
        panel("first weight", "second weight", marks),
        f"Without max-norm the weights go to ({ways['without'][-1][0]:.2f}, "
        f"{ways['without'][-1][1]:.2f}). With c = {c:g} they meet the circle and go along it to "
        f"({end[0]:.3f}, {end[1]:.3f}); the constrained minimum is ({best[0]:.3f}, {best[1]:.3f}).",
    )


LAB = Lab(
    name="max-norm",
    claim="Max-norm bounds the incoming weights of every single unit: those that go out of the "
    "ball are projected back.",
    formula="w ← w · min(1, c/‖w‖),   for each unit's incoming weights w",
    places=("A, Max-Norm regularization",),
    expected=Ruling.HOLDS,
    experiment=experiment,
    breaks=(
        Break("columns", "the projection along the second axis", {"make": Columns}),
        Break("whole", "a layer projected as one vector", {"make": Whole}),
    ),
    fails_if="a unit whose norm is above c(1 + 10⁻⁶) after any step, in a linear layer or any kind "
    "of convolution; a unit inside the ball, or a bias, that changes by one bit; a projection that "
    "is not the nearest point; a linear unit that does not end at the constrained minimum",
    code="""\
import thalweg as tw
import torch

layer = torch.nn.ConvTranspose2d(6, 4, 3)  # weight [in, out, 3, 3]: a unit is a slice [:, o]
tw.nets.initialize(layer, "normal[sigma=1]", seed=0)
before = layer.weight.detach().square().sum((0, 2, 3)).sqrt()
tw.nets.MaxNorm(2.0).after_step(layer, progress=1.0, lr=0.1)
after = layer.weight.detach().square().sum((0, 2, 3)).sqrt()
print(before, after)
assert (before > 2.0).all() and torch.allclose(after, torch.full((4,), 2.0))
""",
    seconds=3.1,
    needs_torch=True,
    remark="What max-norm does to test errors is in the lab mnist-table. The projection changes "
    "weights alone: an optimizer's momentum still points outward.",
)
