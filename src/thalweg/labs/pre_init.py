"""Trained weights are a better start than random ones where samples are few.

Pre-initialization copies the weights of a network that was trained on one task into the network
for another, and goes on from there. Why that helps can be said exactly for a linear model of d
weights and n < d samples y = Xw*. Gradient steps move w along the rows of X alone, so that from w₀
they end at

    ŵ = w₀ + X⁺(y − Xw₀),        ŵ − w* = (I − X⁺X)(w₀ − w*)

What the samples show, they correct; in all other directions the start stays. For X drawn at random
without a preferred direction, a share 1 − n/d of the squared error of the start is left:

    E‖ŵ − w*‖² = (1 − n/d) ‖w₀ − w*‖²

So what matters is how near to w* the start is, the fewer samples the more, and from n = d on not at
all. It is the values that matter: the same numbers in another order have the same mean and
variance as any random start has by design, and are as far from w*.

For networks the same is an experiment: the source is trained on many images of another collection,
the target has few. A source whose task is far away can be a worse start than a random one.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

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
from thalweg.labbook.sources import images

SCRATCH, PRE, SHUFFLED = "random start", "trained elsewhere", "the same, shuffled"
ANGLE = 15.0  # degrees by which the target's digits are turned where MNIST is not here
WEIGHTS = 50  # of the linear model
STEEP = 20  # samples of it up to which gradient descent takes few hundred steps
DEVIATIONS = 5.0  # of chance, that a mean may be off
FEW = 30  # images up to which the gain is to be beyond its spread
HEAD = "7."  # the last layer of `_network`

Carry = Callable[..., Any]  # model, source → the record of it


class Task(NamedTuple):
    """A source to train on, and a target of which few are shown."""

    X: np.ndarray
    y: np.ndarray
    X_few: np.ndarray  # the target's, drawn from for training
    y_few: np.ndarray
    test: tuple[np.ndarray, np.ndarray]  # the target's
    note: str


class Course(NamedTuple):
    """One training on the target."""

    accuracy: float  # on the test part, in %
    losses: np.ndarray  # of training, by step
    accuracies: np.ndarray  # on the test part in %, by step, if it was watched


class Size(NamedTuple):
    """Trainings on n images, by start, over repeats."""

    n: int
    courses: dict[str, list[Course]]

    def mean(self, start: str) -> float:
        """Accuracy in %."""
        return float(np.mean([each.accuracy for each in self.courses[start]]))

    def gains(self, start: str = PRE) -> np.ndarray:
        """Over a random start, in points, repeat by repeat."""
        pairs = zip(self.courses[start], self.courses[SCRATCH], strict=True)
        return np.array([one.accuracy - other.accuracy for one, other in pairs])


class Linear(NamedTuple):
    """The linear model with n samples."""

    n: int
    left: float  # ‖ŵ − w*‖² by ‖w₀ − w*‖², measured
    deviation: float  # of that mean, by theory
    apart: float  # gradient descent from w₀ + X⁺(y − Xw₀), by ‖w₀ − w*‖


def carried(model: Any, source: Any, **options: Any) -> Any:
    """The values as they are."""
    return tw.nets.pre_initialize(model, source, **options)


def scrambled(model: Any, source: Any, **options: Any) -> Any:
    """Wrong: the values of each tensor in another order."""
    record = tw.nets.pre_initialize(model, source, **options)
    _shuffle(model, 0)
    return record


def experiment(setting: Setting, *, carry: Carry = carried, is_trained: bool = True) -> Findings:
    """A source's weights as the start on few images, beside random ones."""
    task = _task(setting)
    source = _source(setting, task, is_trained)
    as_it_is = _accuracy(source, task)
    sizes = [_size(setting, task, source, carry, n) for n in _counts(setting)]
    middle = sizes[setting.pick(glance=-1, quick=-2, full=-3)]
    line = _linear(setting)
    far = _far(setting, task, source, carry, is_trained)
    checks = [
        *_copied(setting, source, carry), *_gained(sizes), *_sooner(middle), _values(sizes),
        *_line_checks(line), *(_far_check(name, *pair) for name, pair in far.items()),
    ]  # fmt: skip
    return Findings(
        checks,
        [_table(sizes), _line_table(line)],
        [_by_count(sizes, as_it_is), _by_step(middle), _line_drawn(line)],
        [
            f"{task.note}; two convolutions and two linear layers, all weights carried over; "
            f"{_steps(setting)} steps of Adam on all n images, tested on {len(task.test[1]):,}",
            "linear model: rows from the normal distribution, labels without noise",
        ],
    )


def _counts(setting: Setting) -> tuple[int, ...]:
    return setting.pick(
        glance=(10, 60), quick=(10, 30, 100, 300), full=(10, 20, 50, 100, 200, 300, 600)
    )


def _steps(setting: Setting) -> int:
    return setting.pick(glance=30, quick=45, full=100)


def _digits() -> tuple[np.ndarray, np.ndarray]:
    table = tw.read("@digits")
    X = (np.asarray(table.X, dtype=np.float32) / np.float32(16.0)).reshape(-1, 1, 8, 8)
    return X, np.asarray(table.y)


def _task(setting: Setting) -> Task:
    """MNIST for digits; at a glance, and where MNIST is not here, digits for digits turned."""
    X, y = _digits()
    order = setting.rng("digits").permutation(len(y))
    X, y = X[order], y[order]
    data = images("mnist") if setting.budget != "glance" else None
    if data is not None and data.name == "mnist":
        count = setting.pick(quick=6_000, full=20_000)
        note = (
            f"source: {count:,} images of MNIST, shrunk to 8 × 8; target: scikit-learn's digits, "
            "another collection by other writers"
        )
        return Task(
            _shrunk(data.X[:count]), data.y[:count], X[:900], y[:900], (X[900:], y[900:]), note
        )
    note = (
        "source: 900 of scikit-learn's digits as they are; target: the others, turned by "
        f"{ANGLE:g}°"
    )
    turned = _turned(X[900:])
    return Task(X[:900], y[:900], turned[:400], y[900:1300], (turned[400:], y[1300:]), note)


def _shrunk(X: np.ndarray) -> np.ndarray:
    """MNIST in 8 × 8, cut to the part that digits fill there."""
    import torch

    cut = torch.as_tensor(X[:, :, 4:24, 4:24])
    return torch.nn.functional.adaptive_avg_pool2d(cut, 8).numpy()


def _turned(X: np.ndarray) -> np.ndarray:
    import torch
    from torch.nn.functional import affine_grid, grid_sample

    c, s = math.cos(math.radians(ANGLE)), math.sin(math.radians(ANGLE))
    turn = torch.tensor([[c, -s, 0.0], [s, c, 0.0]]).expand(len(X), 2, 3)
    grid = affine_grid(turn, list(X.shape), align_corners=False)
    return grid_sample(torch.as_tensor(X), grid, align_corners=False).numpy()


def _network(setting: Setting, seed: int, classes: int = 10) -> Any:
    """Convolutions for 8 × 8 pictures, drawn by He's variance."""
    from torch import nn

    c = setting.pick(quick=8, full=16)
    net = nn.Sequential(
        nn.Conv2d(1, c, 3, padding=1), nn.ReLU(),
        nn.Conv2d(c, 2 * c, 3, stride=2, padding=1), nn.ReLU(),
        nn.Flatten(), nn.Linear(32 * c, 4 * c), nn.ReLU(), nn.Linear(4 * c, classes),
    )  # fmt: skip
    tw.nets.initialize(net, "he", seed=seed)
    return net


def _source(setting: Setting, task: Task, is_trained: bool, classes: int = 10) -> Any:
    """A network that has learned the source's images, or would have."""
    net = _network(setting, setting.seed_for("source"), classes)
    if is_trained:
        tw.nets.fit(
            net, (task.X, task.y), "adam[lr=0.005]", batch_size=64, seed=setting.seed,
            epochs=8 if len(task.y) < 2_000 else 4, progress=False,
        )  # fmt: skip
    return net


def _accuracy(net: Any, task: Task) -> float:
    return 100.0 * tw.nets.evaluate(net, task.test).accuracy


def _shuffle(net: Any, seed: int) -> None:
    """Every tensor's values in another order: same mean, same variance."""
    import torch

    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for tensor in net.parameters():
            order = torch.randperm(tensor.numel(), generator=generator)
            tensor.copy_(tensor.flatten()[order].reshape(tensor.shape))


def _course(
    setting: Setting, net: Any, task: Task, n: int, repeat: int, watched: int = 0
) -> Course:
    """Go on from the weights of `net` with n images; `watched` test rows are looked at."""
    rows = setting.rng("few", n, repeat).permutation(len(task.y_few))[:n]
    run = tw.nets.fit(
        net, (task.X_few[rows], task.y_few[rows]), "adam[lr=0.003]", epochs=_steps(setting),
        batch_size=None, seed=repeat, progress=False,
        validation=tuple(each[:watched] for each in task.test) if watched else None,
    )  # fmt: skip
    # A step is an epoch. The first row of the trace is before all steps and has no validation;
    # a later one has the training loss before its step.
    losses = np.asarray(run.trace["training_loss"], dtype=float)[1:]
    accuracies = 100.0 * np.asarray(run.trace["validation_accuracy"], dtype=float)[1:]
    return Course(_accuracy(net, task), losses, accuracies)


def _size(setting: Setting, task: Task, source: Any, carry: Carry, n: int) -> Size:
    """Trainings on n images from each start, the same images for all."""
    counts = _counts(setting)
    # One n is watched along the steps, which takes time.
    watched = (
        setting.pick(glance=200, quick=200, full=800)
        if n == counts[setting.pick(glance=-1, quick=-2, full=-3)]
        else 0
    )
    is_shuffled = n in counts[: setting.pick(glance=1, quick=3, full=len(counts))]
    starts = [SCRATCH, PRE, SHUFFLED] if is_shuffled else [SCRATCH, PRE]
    courses: dict[str, list[Course]] = {start: [] for start in starts}
    # Many images differ less from draw to draw.
    repeats = setting.pick(glance=3, quick=4, full=8) if n <= FEW else setting.pick(quick=2, full=5)
    for repeat in range(repeats):
        setting.tell(f"{n} images, repeat {repeat + 1}")
        for start in starts:
            net = _network(setting, setting.seed_for("target", repeat))
            if start != SCRATCH:
                carry(net, source)
            if start == SHUFFLED:
                _shuffle(net, setting.seed_for("shuffle", repeat))
            courses[start].append(_course(setting, net, task, n, repeat, watched))
    return Size(n, courses)


def _far(
    setting: Setting, task: Task, source: Any, carry: Carry, is_trained: bool
) -> dict[str, tuple[float, float]]:
    """Accuracies from a random start and from sources that are further away; not at a glance."""
    if setting.budget == "glance":
        return {}
    first, last, tested = task.y < 5, task.y_few >= 5, task.test[1] >= 5
    halves = task._replace(
        X=task.X[first], y=task.y[first], X_few=task.X_few[last], y_few=task.y_few[last] - 5,
        test=(task.test[0][tested], task.test[1][tested] - 5),
    )  # fmt: skip
    half = _source(setting, halves, is_trained, 5).state_dict()
    body = {name: tensor for name, tensor in half.items() if not name.startswith(HEAD)}
    negative = task._replace(X_few=1.0 - task.X_few, test=(1.0 - task.test[0], task.test[1]))
    found = {}
    for name, other, classes, given in (
        ("digits 0 to 4 for 5 to 9, without the last layer", halves, 5, body),
        ("pictures for their negatives", negative, 10, source),
    ):
        pair: dict[str, list[float]] = {SCRATCH: [], PRE: []}
        for repeat in range(setting.pick(quick=3, full=8)):
            for start, scores in pair.items():
                net = _network(setting, setting.seed_for("target", repeat), classes)
                if start == PRE:
                    carry(net, given)
                scores.append(_course(setting, net, other, 10, repeat).accuracy)
        found[name] = float(np.mean(pair[SCRATCH])), float(np.mean(pair[PRE]))
    return found


def _equal(net: Any, source: Any, names: Any) -> int:
    """How many of the tensors `names` are those of the source, bit for bit."""
    import torch

    mine, others = net.state_dict(), source.state_dict()
    return sum(torch.equal(mine[name], others[name]) for name in names)


def _copied(setting: Setting, source: Any, carry: Carry) -> list[Check]:
    """What is carried over, what is not, and what stays frozen."""
    import torch

    names = tuple(source.state_dict())
    seed = setting.seed_for("copied")
    found = []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "source.pt"
        torch.save(source.state_dict(), file)
        for given in (source, source.state_dict(), file):
            net = _network(setting, seed)
            matched = carry(net, given).matched
            found.append((len(matched), _equal(net, source, names)))
    drawn, net = _network(setting, seed, classes=5), _network(setting, seed, classes=5)
    record = carry(net, source, freeze=True)
    body = tuple(name for name in names if not name.startswith(HEAD))
    head = tuple(name for name in names if name.startswith(HEAD))
    untouched = _equal(net, drawn, head)
    X, y = _digits()
    tw.nets.fit(net, (X[:50], y[:50] % 5), "adam[lr=0.01]", epochs=3, progress=False)
    still, moved = _equal(net, source, body), len(head) - _equal(net, drawn, head)
    return [
        Check(
            "what is carried over is the source's to the bit: from a network, its tensors or a "
            "file", all(pair == (len(names), len(names)) for pair in found),
            ", ".join(f"{equal} of {len(names)} tensors" for _, equal in found),
        ),
        Check(
            "a layer of another shape is left as it was drawn, and named",
            set(record.skipped) == set(head) and untouched == len(head),
            "; ".join(f"{name}: {why}" for name, why in record.skipped.items()),
        ),
        Check(
            "frozen weights stay where they are in training, and the others learn",
            still == len(body) and moved == len(head),
            f"{still} of {len(body)} frozen tensors are the source's after training, {moved} of "
            f"{len(head)} others moved",
        ),
    ]  # fmt: skip


def _gained(sizes: list[Size]) -> list[Check]:
    """Accuracies against a random start."""
    few, many = sizes[0], sizes[-1]
    said = ", ".join(
        f"{size.mean(SCRATCH):.1f} → {size.mean(PRE):.1f} % at n = {size.n}" for size in sizes
    )
    return [
        Check(
            "with few samples the accuracy is above that of a random start",
            all(_beyond(size.gains()) for size in sizes if size.n <= FEW)
            and all(size.gains().mean() > 0.0 for size in sizes if size.n <= 100), said,
        ),
        Check(
            "the gain falls as samples grow", few.gains().mean() > many.gains().mean(),
            f"{few.gains().mean():+.1f} points at n = {few.n}, {many.gains().mean():+.1f} at "
            f"n = {many.n}",
        ),
    ]  # fmt: skip


def _beyond(gains: np.ndarray) -> bool:
    """Whether the mean of paired gains is above 0 by two of its deviations."""
    return bool(gains.mean() > 2.0 * gains.std(ddof=1) / math.sqrt(len(gains)))


def _curves(size: Size, start: str, of: str) -> np.ndarray:
    return np.mean([getattr(each, of) for each in size.courses[start]], axis=0)


def _sooner(size: Size) -> list[Check]:
    """How soon it is where a random start ends."""
    random, trained = (_curves(size, start, "accuracies") for start in (SCRATCH, PRE))
    goal = 0.9 * random[-1]
    taken, needed = (
        int((way >= goal).argmax()) + 1 if (way >= goal).any() else len(way) + 1
        for way in (trained, random)
    )
    before, after = (_curves(size, start, "losses")[5] for start in (SCRATCH, PRE))
    return [
        Check(
            "it learns sooner: half of the steps at most to 9/10 of where a random start ends",
            taken <= needed / 2,
            f"{goal:.1f} % after {taken} steps, from a random start after {needed}, n = {size.n}",
        ),
        Check(
            "the training loss is lower from the first steps on", after < 0.5 * before,
            f"{after:.2f} after 5 steps, {before:.2f} from a random start",
        ),
    ]  # fmt: skip


def _values(sizes: list[Size]) -> Check:
    few = sizes[0]
    gain, shuffled = few.gains().mean(), few.gains(SHUFFLED).mean()
    return Check(
        "it is the values: the same weights shuffled within each tensor give less than half of it",
        shuffled < 0.5 * gain,
        f"{shuffled:+.1f} points at n = {few.n}, in order {gain:+.1f}",
    )


def _far_check(name: str, random: float, trained: float) -> Check:
    return Check(
        f"a source further away helps too: {name}", trained > random,
        f"{random:.1f} → {trained:.1f} % with 10 images: how near the tasks are decides, and that "
        "is not part of the claim", NOTED,
    )  # fmt: skip


def _linear(setting: Setting) -> list[Linear]:
    """Random samples of a linear model, and where gradient descent from a start ends."""
    d, draws, found = WEIGHTS, setting.pick(glance=50, quick=200, full=2_000), []
    for n in (5, 10, 20, 30, 40):
        rng = setting.rng("linear", n)
        truth, start = rng.standard_normal((2, d))
        left = []
        for _ in range(draws):
            X = rng.standard_normal((n, d))
            end = start + np.linalg.pinv(X) @ (X @ (truth - start))
            left.append(np.sum((end - truth) ** 2) / np.sum((start - truth) ** 2))
        apart = math.nan
        if n <= STEEP:
            problem = tw.LinearProblem(X, X @ truth, fit_intercept=False)
            run = tw.minimize(
                problem, tw.GD(step=1.0 / problem.smoothness), start, tol=1e-8, max_iter=3_000,
                progress=False,
            )  # fmt: skip
            apart = float(np.linalg.norm(run.w - end) / np.linalg.norm(start - truth))
        # The share of a vector in a random subspace of d − n dimensions is Beta((d − n)/2, n/2).
        spread = math.sqrt(2.0 * n * (d - n) / (d**2 * (d + 2)))
        found.append(Linear(n, float(np.mean(left)), spread / math.sqrt(draws), apart))
    return found


def _line_checks(line: list[Linear]) -> list[Check]:
    worst = max(each.apart for each in line if each.n <= STEEP)
    off = max(abs(each.left - (1.0 - each.n / WEIGHTS)) / each.deviation for each in line)
    return [
        Check(
            "a linear model: gradient descent ends at w₀ + X⁺(y − Xw₀)", worst <= 1e-4,
            f"at most {worst:.1g} of ‖w₀ − w*‖ from it, n = 5 to {STEEP} of d = {WEIGHTS}",
        ),
        Check(
            "and a share 1 − n/d of the start's squared error is left", off <= DEVIATIONS,
            ", ".join(f"{each.left:.3f} for n = {each.n}" for each in line)
            + f"; at most {off:.1f} deviations off",
        ),
    ]  # fmt: skip


def _table(sizes: list[Size]) -> Sheet:
    rows = []
    for size in sizes:
        shuffled = f"{size.mean(SHUFFLED):.1f}" if SHUFFLED in size.courses else "–"
        gains = size.gains()
        rows.append(
            (
                f"{size.n}", f"{size.mean(SCRATCH):.1f}", f"{size.mean(PRE):.1f}", shuffled,
                f"{gains.mean():+.1f}", f"{gains.min():+.1f}", f"{gains.max():+.1f}",
            )
        )  # fmt: skip
    heads = ("n", SCRATCH, PRE, SHUFFLED, "gain", "least", "most")
    return Sheet("Test accuracy in % by the number of training images", heads, rows)


def _line_table(line: list[Linear]) -> Sheet:
    rows = [(each.n, 1.0 - each.n / WEIGHTS, each.left, each.deviation) for each in line]
    heads = ("n", "1 − n/d", "measured", "deviation by theory")
    return Sheet(f"Share of the start's squared error that is left, d = {WEIGHTS}", heads, rows)


def _by_count(sizes: list[Size], as_it_is: float) -> Figure:
    marks: list[Any] = []
    for hue, start in enumerate((SCRATCH, PRE, SHUFFLED)):
        shown = [size for size in sizes if start in size.courses]
        marks.append(
            curve(start, [s.n for s in shown], [s.mean(start) for s in shown], hue, dots=True)
        )
    marks.append(Guide("the source as it is", as_it_is))
    few, many = sizes[0], sizes[-1]
    return figure(
        "Accuracy by the number of images", panel("n", "test accuracy, %", marks, log="x"),
        f"From {few.n} images a random start reaches {few.mean(SCRATCH):.1f} % and trained weights "
        f"{few.mean(PRE):.1f} %; from {many.n}, {many.mean(SCRATCH):.1f} and "
        f"{many.mean(PRE):.1f} %. The source has {as_it_is:.1f} % on the target before any step.",
    )  # fmt: skip


def _by_step(size: Size) -> Figure:
    panels = []
    for label, of, log in (
        ("test accuracy, %", "accuracies", ""),
        ("training loss", "losses", "y"),
    ):
        marks = [
            curve(start, np.arange(len(way)) + (1 if of == "accuracies" else 0), way, hue)
            for hue, start in enumerate((SCRATCH, PRE))
            for way in [_curves(size, start, of)]
        ]
        panels.append(panel("step", label, marks, log=log))
    first, last = (_curves(size, start, "accuracies") for start in (SCRATCH, PRE))
    return figure(
        f"Training on {size.n} images", panels,
        f"After 5 steps a random start has {first[4]:.1f} % and trained weights {last[4]:.1f} %; "
        f"in the end {first[-1]:.1f} and {last[-1]:.1f} %.",
        columns=2,
    )  # fmt: skip


def _line_drawn(line: list[Linear]) -> Figure:
    grid = np.linspace(0.0, 1.0, 51)
    marks = [
        curve("1 − n/d", grid, 1.0 - grid, 1, theory=True),
        curve(
            "measured", [each.n / WEIGHTS for each in line], [e.left for e in line], 1, dots=True
        ),
    ]
    return figure(
        "A linear model: what is left of the start",
        panel("n/d", "‖ŵ − w*‖² by ‖w₀ − w*‖²", marks),
        f"With n = {line[0].n} samples for {WEIGHTS} weights {line[0].left:.2f} of the start's "
        f"squared error is left, with {line[-1].n} samples {line[-1].left:.2f}.",
    )


LAB = Lab(
    name="pre-init",
    claim="Pre-initialization takes the weights of a network that is already trained as the start "
    "of another: a tenable way to learn from images where samples are few, and the idea of "
    "transfer learning.",
    formula="ŵ − w* = (I − X⁺X)(w₀ − w*),   E‖ŵ − w*‖² = (1 − n/d) ‖w₀ − w*‖²",
    places=("C, Pre-initialization",),
    expected=Ruling.HOLDS,
    experiment=experiment,
    breaks=(
        Break("untrained", "a source that was never trained", {"is_trained": False}),
        Break("scrambled", "values copied in another order", {"carry": scrambled}),
    ),
    fails_if="a tensor that is not the source's to the bit, a frozen one that moves, an accuracy "
    "with up to 30 images that is not above a random start's by two deviations, a gain that does "
    "not fall with n, more than half of a random start's steps to 9/10 of where it ends, or "
    "shuffled weights that give half of the gain",
    code="""\
import thalweg as tw, torch

table = tw.read("@digits")
x, y = torch.tensor(table.X / 16).float(), torch.tensor(table.y)

def network(seed):
    net = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10))
    tw.nets.initialize(net, "he", seed=seed)
    return net

source = network(0)
tw.nets.fit(source, (x[:900], y[:900]), "adam[lr=0.01]", epochs=5, progress=False)
scratch, pre = network(1), network(1)
print(tw.nets.pre_initialize(pre, source))
noise = 0.4 * torch.randn(x.shape, generator=torch.Generator().manual_seed(0))
x, rows = x + noise, slice(900, 920)  # another task, and 20 images of it
scores = []
for net in (scratch, pre):
    tw.nets.fit(net, (x[rows], y[rows]), "adam[lr=0.01]", epochs=20, progress=False)
    scores.append(tw.nets.evaluate(net, (x[1000:], y[1000:])).accuracy)
print("random start {:.1%}, trained elsewhere {:.1%}".format(*scores))
assert scores[1] > scores[0] + 0.1
""",
    seconds=8.5,
    needs_torch=True,
    remark="How much it gives depends on how near the source's task is. Between halves of the "
    "digits, with a last layer drawn anew, it gives little, and from negatives of the pictures it "
    "can harm; both are measured and decide nothing. Where MNIST is not here, source and target "
    "are parts of one collection, the second turned.",
)
