"""Clipping keeps an exploding gradient's direction, not its length.

A deep network multiplies: with n layers of weight 2 the gradient of the output is n·2ⁿ⁻¹, and the
loss has cliffs. Clipping by norm shortens what is longer than u:

    if ‖g‖ > u:  g ← g·u/‖g‖

The direction stays, the length is min(‖g‖, u), and a gradient that is short enough is not touched:
minima stay where they are, and near them nothing changes. It is the projection on the ball of
radius u, so that no step of gradient descent is longer than ηu.

On a slope of g that ends at a wall of slope H, a step η that crosses the bend is thrown back by
ηH. A step that is safe on the wall, η < 2/L with L = H/4s for a bend of width s, needs x/ηg steps
for a way of x along the slope. With clipping a step may be as long as the slope asks for: at the
wall it is thrown back by ηu at most, and stays that close to the minimum.

With gradients that carry noise clipping is not free: the mean of clipped gradients is not the
clipped mean, and where the noise is skewed the iterates settle beside the minimum.
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
    Contour,
    Figure,
    Findings,
    Guide,
    Lab,
    Point,
    Ruling,
    Setting,
    Sheet,
    curve,
    figure,
    panel,
)

Clip = Callable[[Any, float], Any]
LIMIT = 0.2  # u at the cliff, twice its gentle slope
RATES = (0.001, 0.01, 0.1, 0.3, 1.0)
LAYERS = (5, 10, 20, 40)
DEPTH, GAIN, BATCH = 8, 3.0, 32  # of the network, whose gradients explode


def walk(
    gradient: Callable[[Any], Any], w: np.ndarray, T: int, rate: float, clip: Clip | None, u: float
) -> np.ndarray:
    """w₀ … w_T by gradient descent, or as far as numbers are finite."""
    way = [w]
    with np.errstate(all="ignore"):
        for _ in range(T):
            g = gradient(w)
            if not np.all(np.isfinite(g)):
                break
            w = rules.plain_step(w, g if clip is None else clip(g, u), rate)
            way.append(w)
    return np.array(way)


def rule_checks(setting: Setting, clip: Clip) -> list[Check]:
    """Length, direction, and what is left alone."""
    rng, u = setting.rng("rule"), 1.5
    count = setting.pick(glance=300, quick=2_000, full=20_000)
    length_off = angle_off = 0.0
    untouched = total = 0
    for _ in range(count):
        g = rng.standard_normal(int(rng.integers(1, 50))) * 10.0 ** rng.uniform(-3.0, 3.0)
        norm = float(np.linalg.norm(g))
        short = clip(g, u)
        length_off = max(length_off, abs(float(np.linalg.norm(short)) / min(norm, u) - 1.0))
        angle_off = max(angle_off, float(np.abs(short / np.linalg.norm(short) - g / norm).max()))
        if norm <= u:
            total += 1
            untouched += bool(np.array_equal(short, g))
    huge = np.array([3e200, -4e200])
    clipped = np.asarray(clip(huge, 5.0))
    broken = np.array([1.0, np.nan])
    return [
        Check(
            "the length is min(‖g‖, u)", length_off < 1e-12,
            f"off by {length_off:.0e} of it at most, over {count:,} gradients of norm 0.001 to "
            "10,000",
        ),
        Check(
            "the direction stays", angle_off < 1e-12,
            f"no entry of the direction changes by more than {angle_off:.0e}",
        ),
        Check(
            "a gradient that is short enough stays as it is", untouched == total > 0,
            f"{untouched:,} of {total:,} of those with ‖g‖ ≤ u",
        ),
        Check(
            "it is done without overflow, and numbers that are none stay seen",
            np.allclose(clipped, [3.0, -4.0]) and np.isnan(np.asarray(clip(broken, 0.1))).any(),
            f"(3, −4)·10²⁰⁰ becomes ({clipped[0]:.3g}, {clipped[1]:.3g}) with u = 5; a NaN is "
            "handed on",
        ),
    ]  # fmt: skip


class Wall(NamedTuple):
    """Ways on `tw.surfaces.Cliff`, by rate, with clipping and without."""

    surface: Any
    ways: dict[tuple[float, bool], np.ndarray]

    def distances(self, rate: float, clipped: bool) -> np.ndarray:
        """From the minimum, float64[T + 1]."""
        return np.linalg.norm(self.ways[rate, clipped] - self.surface.minimizer, axis=1)

    def arrived(self, rate: float, clipped: bool) -> int | None:
        """The first step within ηu or 0.1 of the minimum, None where there is none."""
        near = self.distances(rate, clipped) < max(0.1, rate * LIMIT)
        return int(near.argmax()) if near.any() else None

    def late(self, rate: float, clipped: bool) -> float:
        """The farthest of the second half."""
        far = self.distances(rate, clipped)
        return float(far[len(far) // 2 :].max())


def walled(setting: Setting, clip: Clip) -> Wall:
    """A slope of 0.1 that ends at a wall of slope 100."""
    T = setting.pick(glance=500, quick=2_000, full=30_000)
    surface = tw.surfaces.Cliff()
    start = surface.start + setting.rng("cliff").uniform(-0.3, 0.3, 2)
    ways = {
        (rate, by is not None): walk(surface.gradient, start, T, rate, by, LIMIT)
        for rate in RATES
        for by in (None, clip)
    }
    return Wall(surface, ways)


def wall_checks(found: Wall) -> list[Check]:
    """Thrown back, or not."""
    large, first = RATES[-1], found.distances(RATES[-1], True)[0]
    free, held = found.late(large, False), found.late(large, True)
    longest = max(
        float(np.linalg.norm(np.diff(found.ways[rate, True], axis=0), axis=1).max() / rate)
        for rate in RATES
    )
    steps = found.arrived(large, True)
    safe = tw.theory.stability.gd_limit(found.surface.smoothness)
    needed = first / (safe * found.surface.gentle)
    return [
        Check(
            "no step is longer than ηu", longest <= LIMIT * (1.0 + 1e-9),
            f"longest {longest:.6f} η, u = {LIMIT}",
        ),
        Check(
            "without clipping a step of 1 is thrown back from the wall, again and again",
            free > 3.0 * first,
            f"as far as {free:.3g} from the minimum in the second half of the run, "
            f"{free / first:.0f} times as far as the start",
        ),
        Check(
            "with clipping it arrives, and stays within ηu of the minimum",
            steps is not None and held <= large * LIMIT * (1.0 + 1e-9),
            f"there after {steps} steps and never more than {held:.3f} away later; the longest "
            f"step that is safe on the wall, {safe:.1g}, needs {needed:,.0f}",
        ),
        Check(
            "clipping does not settle what is too large a step at the minimum itself",
            held > 0.1 * large * LIMIT,
            f"with η = {large:g} it goes on circling, up to {held:.2f} away",
            NOTED,
        ),
    ]  # fmt: skip


class Chain(NamedTuple):
    """A chain of layers of one depth, from (a, b) = (1, 2)."""

    layers: int
    slope: float  # ‖∂h/∂w‖ of the output at the start
    gradient: float  # ‖∇f‖ there
    free: int  # steps until a number is not finite
    steps: int | None  # with clipping, until f < 1e-6


def chains(setting: Setting, clip: Clip) -> list[Chain]:
    """η = 1/n², which suits the curvature at the minimum; u = 1."""
    found = []
    for n in setting.pick(glance=LAYERS[:3], quick=LAYERS, full=(*LAYERS, 80)):
        surface = tw.surfaces.LinearChain(layers=n)
        start = np.array([1.0, 2.0])
        rate, T = 1.0 / n**2, 3 * n**2
        free = walk(surface.gradient, start, T, rate, None, 1.0)
        values = surface.value(walk(surface.gradient, start, T, rate, clip, 1.0))
        near = values < 1e-6
        found.append(
            Chain(
                n, float(np.linalg.norm(surface.output_gradient(start))),
                float(np.linalg.norm(surface.gradient(start))), len(free) - 1,
                int(near.argmax()) if near[-1] else None,
            )
        )  # fmt: skip
    return found


def chain_checks(found: list[Chain]) -> list[Check]:
    """Exploding gradients, the lecture's Case 1."""
    last = found[-1]
    expected = [(each.layers**2 + (each.layers * 2.0 ** (each.layers - 1)) ** 2) ** 0.5
                for each in found]  # fmt: skip
    off = max(abs(each.slope / norm - 1.0) for each, norm in zip(found, expected, strict=True))
    return [
        Check(
            "with a = 1, b = 2 the gradient of n layers is (n, n·2ⁿ⁻¹), and descent explodes",
            off < 1e-12 and all(each.free <= 10 for each in found),
            f"{last.layers} layers: ‖∇h‖ = {last.slope:.1e}, ‖∇f‖ = {last.gradient:.1e}; no "
            f"number is finite after {max(each.free for each in found)} steps",
        ),
        Check(
            # From b = 2 to 1 in steps of ηu = 1/n² takes n² steps.
            "clipped to u = 1 it walks down in the n² steps that ηu = 1/n² asks for",
            all(each.steps is not None and each.steps <= 1.1 * each.layers**2 for each in found),
            f"{last.steps} steps for {last.layers} layers",
        ),
    ]  # fmt: skip


class Net(NamedTuple):
    """Training a network with first weights three times too large."""

    losses: dict[bool, np.ndarray]  # of each batch, with clipping and without
    norms: np.ndarray  # of the gradients, with clipping, before it
    off: float  # one clipped step against the rule on all parameters at once


def network(setting: Setting, clip: Clip) -> Net:
    """tw.nets.SGD with `clip_norm` and without, on digits."""
    import torch

    table = tw.read("@digits")
    X = torch.tensor(np.asarray(table.X, dtype=np.float32) / 16.0)
    y = torch.tensor(np.asarray(table.y))
    steps = setting.pick(glance=60, quick=200, full=2_000)
    losses, norms, off = {}, [], 0.0
    for clipped in (False, True):
        model = exploding(setting)
        optimizer = tw.nets.SGD(model, lr=0.1, clip_norm=1.0 if clipped else None)
        rng, seen = setting.rng("batches"), []
        for step in range(steps):
            rows = torch.tensor(rng.integers(0, len(y), BATCH))
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(X[rows]), y[rows])
            loss.backward()
            seen.append(loss.item())
            if not np.isfinite(seen[-1]):
                break
            g = np.concatenate([p.grad.double().numpy().ravel() for p in model.parameters()])
            before = _flat(model)
            optimizer.step()
            if clipped:
                norms.append(float(np.linalg.norm(g)))
                if step < 5:
                    # float32 weights: a step is exact to a few units in their last place.
                    moved = before - 0.1 * np.asarray(clip(g, 1.0))
                    off = max(off, float(np.abs(_flat(model) - moved).max()))
        losses[clipped] = np.array(seen)
    return Net(losses, np.array(norms), off)


def exploding(setting: Setting) -> Any:
    """64, seven times 32, and 10 units with ReLU: each layer makes its input larger."""
    import torch

    rng, layers = setting.rng("weights"), []
    for k in range(DEPTH):
        inputs, outputs = 64 if k == 0 else 32, 10 if k == DEPTH - 1 else 32
        layer = torch.nn.Linear(inputs, outputs)
        with torch.no_grad():
            drawn = GAIN / inputs**0.5 * rng.standard_normal((outputs, inputs))
            layer.weight.copy_(torch.tensor(drawn))
            layer.bias.zero_()
        layers += [layer, torch.nn.ReLU()]
    return torch.nn.Sequential(*layers[:-1])


def _flat(model: Any) -> np.ndarray:
    return np.concatenate([p.detach().double().numpy().ravel() for p in model.parameters()])


def network_checks(found: Net) -> list[Check]:
    """Lost, or trained."""
    free, held = found.losses[False], found.losses[True]
    first, last = held[0], float(held[-10:].mean())
    is_lost = not np.isfinite(free[-1]) or free[-1] > 1e3 * first
    return [
        Check(
            "clip_norm of tw.nets clips all parameters by one norm", found.off < 1e-5,
            f"largest difference {found.off:.0e} of a weight over five steps",
        ),
        Check(
            "a network whose gradients explode is lost without clipping, and learns with it",
            is_lost and last < 0.1 * first,
            f"first gradient {found.norms[0]:,.0f} long; without, no finite loss after "
            f"{len(free) - 1} steps; with u = 1 from {first:.0f} to {last:.1f} in {len(held)}",
        ),
    ]  # fmt: skip


def bias_check(setting: Setting, clip: Clip) -> Check:
    """Noise of mean 0: −1 nine times of ten, 9 once."""
    rng, u, rate = setting.rng("bias"), 2.0, 0.02
    T = setting.pick(glance=5_000, quick=20_000, full=200_000)
    w, total = np.zeros(1), 0.0
    for noise in np.where(rng.random(T) < 0.9, -1.0, 9.0):
        w = rules.plain_step(w, clip(w + noise, u), rate)
        total += float(w[0]) / T
    expected = 7.0 / 9.0  # 0.9(w − 1) + 0.1u = 0
    return Check(
        "under skewed noise clipping is biased: it settles beside the minimum",
        abs(total - expected) < 0.1,
        f"at {total:.2f} on average, theory {expected:.2f}, where the minimum is 0", NOTED,
    )  # fmt: skip


def draw_cliff(found: Wall) -> Figure:
    """Seen from above, with η = 1, and distances over time."""
    surface, large = found.surface, RATES[-1]
    x, y = np.linspace(-3.0, 0.5, 80), np.linspace(-2.0, 2.0, 40)
    heights = surface.value(np.stack(np.meshgrid(x, y), axis=-1))
    levels = np.quantile(heights, np.linspace(0.05, 0.95, 12))
    ways = {clipped: found.ways[large, clipped] for clipped in (False, True)}
    above = panel(
        Axis("x", low=-3.0, high=0.5), Axis("y", low=-2.0, high=2.0),
        [Contour(x, y, heights, levels),
         curve("not clipped", ways[False][:60, 0], ways[False][:60, 1], 2, decides_range=False),
         curve("clipped, u = 0.2", ways[True][:60, 0], ways[True][:60, 1], 1,
               decides_range=False),
         Point("start", float(ways[True][0, 0]), float(ways[True][0, 1])),
         Point("minimum", float(surface.minimizer[0]), 0.0, "cross")],
        title="η = 1, the first 60 steps",
    )  # fmt: skip
    t = np.arange(120)
    over_time = panel(
        "step", "distance from the minimum",
        [curve("not clipped", t, np.maximum(found.distances(large, False)[:120], 1e-3), 2),
         curve("clipped, u = 0.2", t, np.maximum(found.distances(large, True)[:120], 1e-3), 1),
         Guide("ηu", large * LIMIT)],
        log="y", title="The same over time",
    )  # fmt: skip
    return figure(
        "A cliff, with clipping and without", [above, over_time],
        f"Without clipping a step of 1 is thrown as far as {found.late(large, False):.0f} from the "
        f"minimum at the wall; clipped to u = {LIMIT} it stays within "
        f"{found.late(large, True):.2f}.",
        columns=2,
    )  # fmt: skip


def draw_network(chain: list[Chain], net: Net) -> Figure:
    """Gradients over depth, and the loss of the network."""
    n = np.array([each.layers for each in chain])
    first = panel(
        "layers n", "norm of the gradient at (1, 2)",
        [curve("of the loss", n, [each.gradient for each in chain], 5, dots=True),
         curve("of the output", n, [each.slope for each in chain], 3, dots=True),
         curve("n·2ⁿ⁻¹", n, n * 2.0 ** (n - 1.0), 3, theory=True)],
        log="y", title="A chain of linear layers",
    )  # fmt: skip
    held, free = net.losses[True], net.losses[False]
    second = panel(
        "step", "loss of a batch",
        [curve("not clipped", np.arange(len(free)), np.minimum(free, 1e6), 2, dots=True),
         curve("clipped, u = 1", np.arange(len(held)), held, 1)],
        log="y", title="A network on digits",
    )  # fmt: skip
    return figure(
        "Exploding gradients", [first, second],
        f"The gradient of {chain[-1].layers} layers is {chain[-1].slope:.1e} long. The network is "
        f"lost after {len(free) - 1} steps without clipping and comes from a loss of {held[0]:.0f} "
        f"to {held[-10:].mean():.1f} with it.",
        "Losses above a million are cut off", columns=2,
    )  # fmt: skip


def experiment(setting: Setting, *, clip: Clip = rules.clip_by_norm) -> Findings:
    """The rule, a cliff, a deep chain and a network, with `clip` for the rule."""
    wall, chain, net = walled(setting, clip), chains(setting, clip), network(setting, clip)
    checks = [
        *rule_checks(setting, clip), *wall_checks(wall), *chain_checks(chain),
        *network_checks(net), bias_check(setting, clip),
    ]  # fmt: skip
    rows = []
    for rate in RATES:
        cells = [wall.arrived(rate, clipped) for clipped in (False, True)]
        shown = ["never" if cell is None else cell for cell in cells]
        rows.append(
            (f"{rate:g}", shown[0], wall.late(rate, False), shown[1], wall.late(rate, True))
        )
    return Findings(
        checks,
        [
            Sheet(
                "On the cliff: first step near the minimum, and farthest in the second half",
                ("η", "not clipped: near", "farthest", "clipped: near", "farthest"), tuple(rows),
            ),
            Sheet(
                "Chains of n layers from (1, 2)",
                ("n", "‖∇h‖", "‖∇f‖", "finite steps, not clipped", "steps to 1e-6, clipped"),
                tuple((str(each.layers), each.slope, each.gradient, each.free,
                       "never" if each.steps is None else each.steps) for each in chain),
            ),
        ],
        [draw_cliff(wall), draw_network(chain, net)],
        [f"cliff of slopes 0.1 and 100; network of {DEPTH} layers with ReLU on digits, first "
         f"weights {GAIN:g}/√inputs, η = 0.1"],
    )  # fmt: skip


def by_value(g: Any, limit: float) -> Any:
    """Each entry cut off by itself: the direction turns."""
    return np.clip(g, -limit, limit)


def always(g: Any, limit: float) -> Any:
    """Scaled to the limit even where it is short."""
    with np.errstate(over="ignore"):
        norm = np.linalg.norm(g)
    return g * (limit / norm) if norm > 0 else g


LAB = Lab(
    name="clipping",
    claim="Exploding gradients make cliffs of the loss; scaling a gradient that is longer than u "
    "down to u keeps descent on course.",
    formula="if ‖g‖ > u:  g ← g·u/‖g‖",
    places=("C, Vanishing/Exploding Gradients",),
    expected=Ruling.HOLDS,
    experiment=experiment,
    breaks=(
        Break("by-value", "each entry cut off by itself", {"clip": by_value}),
        Break("always", "short gradients are scaled up to u as well", {"clip": always}),
    ),
    fails_if="a clipped gradient that is not min(‖g‖, u) long, has turned, or was short and "
    "changed; a step longer than ηu; a run that is thrown off the cliff with clipping, or is not "
    "without; a chain that takes more than 1.1·n² clipped steps; a network that does not learn",
    code="""\
import numpy as np
import thalweg as tw
from thalweg.rules import clip_by_norm

cliff, farthest = tw.surfaces.Cliff(), {}
for u in (0.2, np.inf):
    w, far = cliff.start, []
    for _ in range(200):
        w = w - 1.0 * clip_by_norm(cliff.gradient(w), u)
        far.append(np.linalg.norm(w - cliff.minimizer))
    farthest[u] = max(far[100:])
print({u: round(float(far), 3) for u, far in farthest.items()})
assert farthest[0.2] <= 0.2 and farthest[np.inf] > 2.0
""",
    seconds=1.1,
    needs_torch=True,
    remark="Clipping bounds the step, not the error: where η is too large for the minimum itself "
    "the iterates circle it within ηu, and under skewed noise they settle beside it.",
)
