"""Changed copies of few images are worth many images.

An augmentation is a random map T under which an image keeps its label. Training on T(x), drawn anew
every time x comes, replaces the empirical distribution of n points by a smoothed one,

    p̂(x, y) = (1/n) Σᵢ δ(x − xᵢ) δ(y − yᵢ)   →   (1/n) Σᵢ p(x | xᵢ, T) δ(y − yᵢ)

whose mass lies around the points too, where other images of the class are. One draw of T a sample
and step is enough: the gradient is right on average, as that of SGD is over samples.

What T is, for an image that reads the old one at the position (x_in, y_in), in pixels from the
centre:

    flip            x_in = −x                       lens     r_in = r(1 + kr²), r = 1 at the corners
    crop and scale  short side L from [256, 480], a patch of 224 × 224
    translation     x_in = x − a                    rotation by θ, stretching by (u, v): linear maps
    colour jitter   no move: brightness bx and contrast cx + (1 − c)·mean

From an image whose two channels are its own coordinates, these numbers can be read back.

The gain depends on how many images there are. With few the points lie far apart and T fills gaps;
with many the gaps are full of real images, and what T adds, images that are never met, has to be
learned besides. A T that changes the label teaches what is wrong: a 6 upside down is a 9.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import thalweg as tw
from thalweg.figures.spec import Mark
from thalweg.labbook import (
    CONDITION,
    NOTED,
    WRITTEN,
    Break,
    Check,
    Figure,
    Findings,
    Guide,
    Heatmap,
    Lab,
    Panel,
    Ruling,
    Setting,
    Sheet,
    band,
    curve,
    figure,
    panel,
)
from thalweg.labbook.sources import Images, images

FEWEST, MOST = 10.0, 20.0  # points of accuracy that the lecture promises
TILES = (2, 4)  # of a panel of the gallery
READABLE = 0.8  # of the accuracy on x that is to be left on T(x)
TWO_SIDED = 2.0  # deviations of an accuracy that decide
BATCH = 50

Augment = Callable[[str, int], Any]


class Size(NamedTuple):
    """Accuracies for one number of training images, over repeats."""

    n: int
    plain: np.ndarray
    augmented: np.ndarray

    @property
    def gains(self) -> np.ndarray:
        """In points."""
        return 100.0 * (self.augmented - self.plain)


class Sweep(NamedTuple):
    """All sizes on one data set, and the last network that learned from T(x)."""

    data: Images
    sizes: list[Size]
    judge: Any

    @property
    def chance(self) -> float:
        """Deviation of a mean gain in points, from the choice of test images."""
        rate = float(self.sizes[0].plain.mean())
        count = len(self.data.y_test) * len(self.sizes[0].plain)
        return 100.0 * math.sqrt(2.0 * rate * (1.0 - rate) / count)


def label_keeping(name: str, seed: int) -> Any:
    """Moves that keep a digit, with mirrors and colours for photographs."""
    nets = tw.nets
    if name == "digits":
        moves = [nets.Translation(0.1), nets.Rotation(20.0)]
    else:
        moves = [nets.Translation(0.1), nets.Rotation(12.0), nets.Stretching(0.15)]
    if name == "cifar":
        moves = [nets.HorizontalFlip(), nets.ColourJitter(), *moves]
    return nets.Augmentation(*moves, seed=seed)


def label_changing(name: str, seed: int) -> Any:
    """Wrong: a 6 may become a 9, and a 2 its mirror image."""
    nets = tw.nets
    return nets.Augmentation(nets.HorizontalFlip(), nets.Rotation(180.0), seed=seed)


def unchanging(name: str, seed: int) -> Any:
    """Wrong: every image as it came."""
    return tw.nets.Rotation(0.0, seed=seed)


def experiment(setting: Setting, *, augment: Augment = label_keeping) -> Findings:
    """Trainings with `augment` and without, by the number of images, and each transform's range."""
    sweeps = [_sweep(setting, data, augment) for data in _data(setting)]
    first = sweeps[0]
    checks = [
        *_gains(first), *_labels(setting, first, augment), _smoothed(setting, first.data, augment),
        *_transforms(setting),
    ]  # fmt: skip
    rows = tuple(
        (
            sweep.data.name, size.n, float(size.plain.mean()), float(size.augmented.mean()),
            float(size.gains.mean()), float(size.gains.min()), float(size.gains.max()),
        )
        for sweep in sweeps
        for size in sweep.sizes
    )  # fmt: skip
    heads = ("data", "n", "plain", "augmented", "gain, points", "least", "most")
    return Findings(
        checks,
        [Sheet("Test accuracy by the number of training images", heads, rows)],
        [_curves(sweeps), *_gallery(first.data)],
        [sweep.data.note for sweep in sweeps],
    )


def _data(setting: Setting) -> list[Images]:
    """Digits for a glance; MNIST, and CIFAR-10 where there is time, else what stands in for it."""
    first = images("mnist") if setting.budget != "glance" else None
    if first is None or first.name == "digits":
        return [_moved_digits()]
    second = images("cifar") if setting.is_full else first
    return [first, second] if second.name == "cifar" else [first]


@functools.cache
def _moved_digits() -> Images:
    """scikit-learn's digits are centred and upright; these are as one would photograph them."""
    import torch

    table = tw.read("@digits")
    order = np.random.default_rng(0).permutation(len(table.X))
    X = (np.asarray(table.X, dtype=np.float32) / 16.0).reshape(-1, 1, 8, 8)[order]
    move = tw.nets.Augmentation(tw.nets.Translation(0.1), tw.nets.Rotation(20.0))
    X, y = move(torch.from_numpy(X)).numpy(), np.asarray(table.y)[order]
    note = (
        "digits, 1,100 and 697 pictures of 8 × 8, each shifted and turned once by chance before "
        "all else, by up to 0.8 pixels and 20°: those that come with scikit-learn are centred"
    )
    return Images("digits", X[:1100], y[:1100], X[1100:], y[1100:], note)


def _sweep(setting: Setting, data: Images, augment: Augment) -> Sweep:
    """Train on n images with and without augmentation, for few to many n."""
    if data.name == "digits":
        counts = setting.pick(
            glance=(50, 1_000), quick=(50, 100, 300, 1_000), full=(30, 50, 100, 200, 400, 1_000)
        )
    else:
        counts = setting.pick(quick=(50, 400, 6_000), full=(50, 100, 200, 500, 1_000, 2_000, 5_000))
    repeats = setting.pick(glance=3, quick=3, full=5)
    steps = setting.pick(glance=150, quick=300, full=1_000)
    rows = setting.pick(quick=2_000, full=10_000)
    data = data._replace(X_test=data.X_test[:rows], y_test=data.y_test[:rows])
    sizes, judge = [], None
    for n in counts:
        scores = []
        # Many images differ less from draw to draw.
        for repeat in range(repeats if n < max(counts) else max(2, repeats - 1)):
            setting.tell(f"{data.name}, {n:,} images, repeat {repeat + 1}")
            pair = [
                _trained(setting, data, n, repeat, steps, change)
                for change in (None, augment(data.name, repeat))
            ]
            judge = pair[1]
            test = (data.X_test, data.y_test)
            scores.append([tw.nets.evaluate(model, test).accuracy for model in pair])
        plain, augmented = np.array(scores).T
        sizes.append(Size(n, plain, augmented))
    return Sweep(data, sizes, judge)


def _trained(
    setting: Setting, data: Images, n: int, repeat: int, steps: int, augmentation: Any
) -> Any:
    """A network after `steps` steps on n images, as many of every class."""
    import torch

    rng = setting.rng(data.name, n, repeat)
    seed = int(rng.integers(2**31))
    rows = np.concatenate(
        [rng.permutation(np.flatnonzero(data.y == k))[: n // 10] for k in range(10)]
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = _network(data.X.shape[1], data.X.shape[-1])
    batch, rate = min(BATCH, len(rows)), 0.01 if data.name == "digits" else 0.003
    tw.nets.fit(
        model, (data.X[rows], data.y[rows]), f"adam[lr={rate}]",
        epochs=max(1, round(steps * batch / len(rows))), batch_size=batch,
        augmentation=augmentation, seed=seed, progress=False,
    )  # fmt: skip
    return model


def _network(channels: int, side: int) -> Any:
    """Two layers for pictures of 8 × 8, two convolutions and one layer for larger ones."""
    from torch import nn

    if side < 16:
        return nn.Sequential(nn.Flatten(), nn.Linear(side**2, 64), nn.ReLU(), nn.Linear(64, 10))
    return nn.Sequential(
        nn.Conv2d(channels, 12, 3, stride=2, padding=1), nn.ReLU(),
        nn.Conv2d(12, 24, 3, stride=2, padding=1), nn.ReLU(),
        nn.Flatten(), nn.Linear(24 * (side // 4) ** 2, 10),
    )  # fmt: skip


def _gains(sweep: Sweep) -> list[Check]:
    """Gain against n."""
    few, many = sweep.sizes[0], sweep.sizes[-1]
    room = TWO_SIDED * sweep.chance
    by_n = ", ".join(f"{size.gains.mean():+.1f} at n = {size.n:,}" for size in sweep.sizes)
    share = 100.0 * (few.augmented.mean() / few.plain.mean() - 1.0)
    return [
        Check(
            "augmentation raises the accuracy by 10 points or more, whatever n is",
            all(size.gains.mean() >= FEWEST for size in sweep.sizes), f"{by_n} (points)", WRITTEN,
        ),
        Check(
            "with few images it raises the accuracy", bool(few.gains.mean() > room),
            f"by {few.gains.mean():.1f} points at n = {few.n}, {few.gains.min():.1f} to "
            f"{few.gains.max():.1f}; chance gives ±{room:.1f}", CONDITION,
        ),
        Check(
            "with many the gain is smaller",
            bool(few.gains.mean() - many.gains.mean() > room),
            f"{few.gains.mean():+.1f} points at n = {few.n}, {many.gains.mean():+.1f} at "
            f"n = {many.n:,}", CONDITION,
        ),
        Check(
            "10 to 20 % are within reach with the fewest images", share >= FEWEST,
            f"{few.plain.mean():.1%} → {few.augmented.mean():.1%}: {few.gains.mean():.1f} points, "
            f"{share:.0f} % more, {len(sweep.data.X):,} images being at hand", NOTED,
        ),
    ]  # fmt: skip


def _labels(setting: Setting, sweep: Sweep, augment: Augment) -> list[Check]:
    """x and T(x) have the same label; x and its mirror image have not."""
    import torch

    data = sweep.data
    X, y = torch.from_numpy(data.X_test), torch.from_numpy(data.y_test)
    score = {
        "x": tw.nets.evaluate(sweep.judge, (X, y)).accuracy,
        "T": tw.nets.evaluate(sweep.judge, (augment(data.name, setting.seed)(X), y)).accuracy,
        "mirror": tw.nets.evaluate(
            sweep.judge, (tw.nets.HorizontalFlip(p=1.0)(X), y)
        ).accuracy,
    }  # fmt: skip
    turned = 0.0
    if data.name != "cifar":
        pair = (y == 6) | (y == 9)
        swapped = torch.where(y == 6, 9, 6)[pair]
        upside = tw.nets.Rotation((180.0, 180.0))(X[pair])
        turned = tw.nets.evaluate(sweep.judge, (upside, swapped)).accuracy
    return [
        Check(
            "T(x) keeps the label of x: a network that learned from many reads it as well",
            score["T"] > READABLE * score["x"],
            f"{score['T']:.1%} right on T(x), {score['x']:.1%} on x", CONDITION,
        ),
        Check(
            "not every change does: digits in the mirror are misread, 6 and 9 turned by 180° read "
            "as each other",
            score["mirror"] < 0.75 * score["x"] and turned > 0.5,
            f"{score['mirror']:.1%} right in the mirror; {turned:.0%} of turned 6 and 9 read as "
            "the other", CONDITION,
        ),
    ]  # fmt: skip


def _smoothed(setting: Setting, data: Images, augment: Augment) -> Check:
    """The smoothed distribution lies nearer to images that were not seen."""
    import torch

    rng = setting.rng("smoothed")
    rows = rng.permutation(len(data.X))[:50]
    X, test = torch.from_numpy(data.X[rows]), torch.from_numpy(data.X_test[:300]).flatten(1)
    copies = augment(data.name, setting.seed)(X.repeat(20, 1, 1, 1))
    spread = float((copies[:50] - copies[50:100]).flatten(1).norm(dim=1).min())
    near, nearer = (
        float(torch.cdist(test, each.flatten(1)).min(dim=1).values.mean()) for each in (X, copies)
    )
    return Check(
        "draws of T(xᵢ) differ, and images that were not seen have a nearer neighbour among them "
        "than among the xᵢ",
        spread > 0.0 and nearer < near,
        f"mean distance {near:.3f} to the nearest of 50 images, {nearer:.3f} to the nearest of 20 "
        "draws of each", CONDITION,
    )  # fmt: skip


def _transforms(setting: Setting) -> list[Check]:
    """Every transform's numbers, read back from images of coordinates."""
    draws = setting.pick(glance=60, quick=200, full=2_000)
    return [_flips(setting, draws), _crops(setting), _jitter(setting, draws),
            *_moves(setting, draws)]  # fmt: skip


def _coordinates(height: int, width: int, count: int) -> Any:
    """Images whose channels are x and y of every pixel, from the centre, float64."""
    import torch

    y = torch.arange(height, dtype=torch.float64) - (height - 1) / 2
    x = torch.arange(width, dtype=torch.float64) - (width - 1) / 2
    image = torch.stack([x.expand(height, width), y[:, None].expand(height, width)])
    return image.expand(count, -1, -1, -1).contiguous()


def _flips(setting: Setting, draws: int) -> Check:
    import torch

    X = torch.from_numpy(setting.rng("flip").random((draws, 3, 6, 9)))
    flip = tw.nets.HorizontalFlip(seed=setting.seed)
    out = flip(X)
    mirrored = X.flip(-1)
    is_mirror = (out == mirrored).flatten(1).all(1)
    is_same = (out == X).flatten(1).all(1)
    always = tw.nets.HorizontalFlip(p=1.0)
    share = float(is_mirror.double().mean())
    # Four deviations of a share of a half.
    return Check(
        "flips: each image is as it came or its mirror, half of them; two flips are none",
        bool((is_mirror | is_same).all()) and abs(share - 0.5) < 2.0 / math.sqrt(draws)
        and torch.equal(always(always(X)), X),
        f"{share:.0%} of {draws} mirrored",
    )  # fmt: skip


def _crops(setting: Setting) -> Check:
    """The lecture's crops: L from [256, 480], 224 × 224."""
    height, width = 300, 400
    draws = setting.pick(glance=16, quick=60, full=600)
    crop = tw.nets.RandomCrop(seed=setting.seed)
    lengths, corners, shapes = [], [], set()
    for _ in range(draws):
        out = crop(_coordinates(height, width, 1))[0]
        shapes.add(tuple(out.shape[1:]))
        middle = out[:, 100:124, 100:124]  # well inside, where reading is linear
        step = float(middle[1, -1, 0] - middle[1, 0, 0]) / 23.0
        lengths.append(height / step)
        # y_in of row 100, from the centre: (100 + r + ½)·step − ½ − (H − 1)/2.
        corners.append((float(middle[1, 0, 0]) + height / 2.0) / step - 100.5)
    found = np.array(lengths)
    start = np.array(corners)
    # Uniform on 256 … 480: deviation 65.
    mean_is_right = abs(found.mean() - 368.0) < 4.0 * 65.0 / math.sqrt(draws)
    whole = np.abs(found - np.round(found)).max() < 1e-6
    inside = start.min() > -1e-6 and np.all(start <= np.round(found) - 224 + 1e-6)
    return Check(
        "crops and scales: a short side of L from [256, 480], evenly, and a 224 × 224 patch of it",
        shapes == {(224, 224)} and bool(whole and inside and mean_is_right)
        and found.min() >= 256 - 1e-6 and found.max() <= 480 + 1e-6,
        f"L from {found.min():.0f} to {found.max():.0f}, mean {found.mean():.0f}, in {draws} "
        f"draws of a picture of {width} × {height}; patches {sorted(shapes)[0]}",
    )  # fmt: skip


def _jitter(setting: Setting, draws: int) -> Check:
    import torch

    X = torch.from_numpy(setting.rng("jitter").random((draws, 3, 8, 8)))
    out = tw.nets.ColourJitter(0.2, 0.2, seed=setting.seed)(X)
    before, after = X.flatten(1), out.flatten(1)
    brightness = after.mean(1) / before.mean(1)  # contrast leaves the mean alone
    both = after.std(1) / before.std(1)
    contrast = both / brightness
    straight = both[:, None] * (before - before.mean(1, keepdim=True)) + after.mean(1, keepdim=True)
    off = float((after - straight).abs().max())
    ends = [(float(each.min()), float(each.max())) for each in (brightness, contrast)]
    within = all(0.8 - 1e-9 <= low < 0.9 and 1.1 < high <= 1.2 + 1e-9 for low, high in ends)
    return Check(
        "colour jitter: brightness and contrast by factors of 0.8 to 1.2 of their own",
        off < 1e-9 and within,
        f"brightness {ends[0][0]:.3f} to {ends[0][1]:.3f}, contrast {ends[1][0]:.3f} to "
        f"{ends[1][1]:.3f}",
    )


def _moves(setting: Setting, draws: int) -> list[Check]:
    """Translation, rotation, stretching and lens distortion."""
    import torch

    side, edge = 40, 13
    X = _coordinates(side, side, draws)
    inner = X[0, :, edge:-edge, edge:-edge].flatten(1)  # float64[2, pixels]
    design = torch.cat([inner, torch.ones_like(inner[:1])]).T

    def affine(move: Any) -> tuple[np.ndarray, float]:
        """The 2 × 3 matrix of each draw by least squares, and the largest residual."""
        read = move(X)[..., edge:-edge, edge:-edge].flatten(2).transpose(1, 2)
        found = torch.linalg.lstsq(design.expand(draws, -1, -1), read).solution
        return found.transpose(1, 2).numpy(), float((design @ found - read).abs().max())

    M, bent = affine(tw.nets.Translation(0.1, seed=setting.seed))
    shift = -M[:, :, 2] / side
    R, crooked = affine(tw.nets.Rotation(15.0, seed=setting.seed))
    turn = np.degrees(np.arctan2(R[:, 1, 0], R[:, 0, 0]))
    rigid = np.abs(R[:, :, :2] @ R[:, :, :2].transpose(0, 2, 1) - np.eye(2)).max()
    S, skew = affine(tw.nets.Stretching(0.2, seed=setting.seed))
    factors = 1.0 / np.stack([S[:, 0, 0], S[:, 1, 1]])
    related = float(np.asarray(np.corrcoef(factors))[0, 1])
    read = tw.nets.LensDistortion(0.2, seed=setting.seed)(X)[..., edge:-edge, edge:-edge]
    squared = (inner**2).sum(0) / (2.0 * (side / 2.0) ** 2)
    bulge = (read.flatten(2) / inner - 1.0) / squared  # k at every pixel
    k = bulge.median(-1).values.mean(1).numpy()
    # Bilinear reading of straight coordinates is exact, whatever the positions.
    curved = float((bulge - torch.from_numpy(k)[:, None, None]).abs().median())
    straight = max(bent, crooked, skew) < 1e-5
    return [
        Check(
            "translation by up to a tenth of the side, nothing else",
            straight and bool(np.abs(M[:, :, :2] - np.eye(2)).max() < 1e-6) and _spans(shift, 0.1),
            f"from {shift.min():.3f} to {shift.max():.3f} of the side",
        ),
        Check(
            "rotation by up to 15°, rigid", bool(rigid < 1e-6) and _spans(turn, 15.0),
            f"from {turn.min():.1f}° to {turn.max():.1f}°",
        ),
        Check(
            "stretching by 1/1.2 to 1.2, sideways and upright apart",
            bool(np.abs(S[:, 0, 1]).max() < 1e-6) and _spans(np.log(factors), math.log(1.2))
            and abs(related) < 4.0 / math.sqrt(draws),
            f"from {factors.min():.3f} to {factors.max():.3f}",
        ),
        Check(
            "lens distortion: r_in = r(1 + kr²), |k| ≤ 0.2", curved < 1e-4 and _spans(k, 0.2),
            f"k from {k.min():.3f} to {k.max():.3f}",
        ),
    ]  # fmt: skip


def _spans(values: np.ndarray, end: float) -> bool:
    """Whether they are all within ±end, and some near both ends."""
    return bool(
        np.abs(values).max() <= end * (1.0 + 1e-4)
        and values.min() < -0.7 * end
        and values.max() > 0.7 * end
    )


def _curves(sweeps: list[Sweep]) -> Figure:
    accuracy: list[Mark] = []
    gain: list[Mark] = []
    for k, sweep in enumerate(sweeps):
        n = np.array([size.n for size in sweep.sizes])
        plain, augmented, gains = (
            [getattr(size, name) for size in sweep.sizes]
            for name in ("plain", "augmented", "gains")
        )
        name = sweep.data.name
        for label, values, hue in (
            ("plain", plain, 2 * k + 1),
            ("augmented", augmented, 2 * k + 2),
        ):
            means = [each.mean() for each in values]
            accuracy.append(curve(f"{name}, {label}", n, means, hue, dots=True))
        ends = [each.min() for each in gains], [each.max() for each in gains]
        gain.append(band("", n, *ends, 2 * k + 2))
        gain.append(curve(f"{name}, augmented", n, [each.mean() for each in gains], 2 * k + 2))
    few, many = sweeps[0].sizes[0], sweeps[0].sizes[-1]
    return figure(
        "What augmentation gains, by the number of images",
        [
            panel("training images n", "test accuracy", accuracy, log="x", title="accuracy"),
            panel(
                "training images n", "points of accuracy",
                [*gain, Guide("the lecture's 10 and 20", FEWEST), Guide("", MOST)],
                log="x", title="gain",
            ),
        ],
        f"On {sweeps[0].data.name} augmentation gains {few.gains.mean():.1f} points with {few.n} "
        f"images and {many.gains.mean():.1f} with {many.n:,}. The band reaches from the least to "
        "the most of the repeats.",
        columns=2,
    )  # fmt: skip


def _gallery(data: Images) -> list[Figure]:
    """One image as it came and seven draws of each transform."""
    import torch

    image = torch.from_numpy(data.X[np.flatnonzero(data.y == 5)[0]])[None].mean(1, keepdim=True)
    if image.shape[-1] < 28:
        image = torch.nn.functional.interpolate(
            image, (28, 28), mode="bilinear", align_corners=False
        )
    side = image.shape[-1]
    nets = tw.nets
    # The lecture's 224 of 256 to 480, in the size of this image.
    scales = (round(side * 256 / 224), round(side * 480 / 224))
    shown = {
        "horizontal flip": nets.HorizontalFlip(),
        f"crop {side} of {scales[0]} to {scales[1]}": nets.RandomCrop(side, scales),
        "colour jitter": nets.ColourJitter(0.5, 0.5, seed=2),
        "translation": nets.Translation(0.2),
        "rotation": nets.Rotation(30.0),
        "stretching": nets.Stretching(0.4),
        "lens distortion": nets.LensDistortion((-0.3, 0.8)),
        "all of them": nets.Augmentation(
            nets.ColourJitter(0.3, 0.3), nets.Translation(0.1), nets.Rotation(20.0),
            nets.Stretching(0.3), nets.LensDistortion(0.3),
        ),
    }  # fmt: skip
    panels = [_tiles(name, image, move) for name, move in shown.items()]
    what = "A picture as it came, at the upper left of each panel, and seven draws of: "
    names = list(shown)
    return [
        figure(
            f"Transforms of one image ({part})", panels[first : first + 4],
            what + ", ".join(names[first : first + 4]) + ".", columns=2,
        )
        for part, first in ((1, 0), (2, 4))
    ]  # fmt: skip


def _tiles(name: str, image: Any, move: Any) -> Panel:
    """The image and draws of it, side by side."""
    import torch

    rows, columns = TILES
    many = torch.cat([image, move(image.repeat(rows * columns - 1, 1, 1, 1))])[:, 0]
    side = image.shape[-1]
    sheet = np.full((rows * (side + 1) - 1, columns * (side + 1) - 1), np.nan)
    for k, each in enumerate(many.clamp(0.0, 1.5).numpy()):
        top, left = (k // columns) * (side + 1), (k % columns) * (side + 1)
        sheet[top : top + side, left : left + side] = np.round(each, 2)
    return panel("pixels", "pixels", [Heatmap("brightness", sheet)], title=name)


LAB = Lab(
    name="augmentation",
    claim="Training on randomly changed copies of the images, which keep their labels, raises the "
    "accuracy by 10 to 20 %.",
    formula="p̂(x, y) = (1/n) Σᵢ p(x | xᵢ, T) δ(y − yᵢ)",
    places=("A, Data Augmentation", "A, Data Augmentation - Training"),
    expected=Ruling.HOLDS_IF,
    experiment=experiment,
    breaks=(
        Break(
            "label",
            "turns of up to 180° and mirrors, which change digits",
            {"augment": label_changing},
        ),
        Break("nothing", "an augmentation that changes nothing", {"augment": unchanging}),
    ),
    fails_if="a gain with the fewest images that is within two deviations of zero, or not larger "
    "by that than the gain with the most; transformed images that the network does not read; or a "
    "transform whose numbers leave their range",
    condition="Images are scarce, and the transforms keep the label.",
    code="""\
import numpy as np, thalweg as tw, torch

table, move = tw.read("@digits"), [tw.nets.Translation(0.1), tw.nets.Rotation(20)]
X = torch.as_tensor(table.X / 16.0, dtype=torch.float32).reshape(-1, 1, 8, 8)
X, y = tw.nets.Augmentation(*move)(X), torch.as_tensor(table.y)  # as photographs are taken
scores = []
for augment in (None, tw.nets.Augmentation(*move, seed=1)):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(64, 64), torch.nn.ReLU(),
                                torch.nn.Linear(64, 10))
    tw.nets.fit(model, (X[:50], y[:50]), "adam[lr=0.01]", epochs=200, augmentation=augment,
                progress=False)
    scores.append(tw.nets.evaluate(model, (X[50:], y[50:])).accuracy)
print("50 images, plain {:.1%}, augmented {:.1%}".format(*scores))
assert scores[1] > scores[0]
""",
    seconds=38.0,
    needs_torch=True,
    remark="How much is gained is decided by the number of images, the network and T; the "
    "lecture's 10 to 20 % are met where some ten images of a class are all there is. With "
    "thousands of digits the gain is about nothing, and may be a loss in a training of the same "
    "length, for the changed copies have to be learned too.",
)
