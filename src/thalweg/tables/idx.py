"""IDX, the format of MNIST: 0 0 type dimensions, each size as four bytes, then the numbers.

A folder is read by its training images (`train-images…`, or the only images there); a file of
images by itself. The labels are the file of the same name with `labels` in the place of `images`.
"""

from __future__ import annotations

import math
import struct
from pathlib import Path

import numpy as np

from thalweg.core.errors import InputError
from thalweg.tables.array import fill, float_type, images
from thalweg.tables.budget import Budget, budget_of
from thalweg.tables.file import opened, reading
from thalweg.tables.format import IDX
from thalweg.tables.raw import Raw

TYPES = {
    code: np.dtype(kind)
    for code, kind in {8: "u1", 9: "i1", 11: ">i2", 12: ">i4", 13: ">f4", 14: ">f8"}.items()
}


def images_in(folder: Path) -> Path:
    """The file of images that stands for a folder."""
    with reading(folder):
        files = sorted(folder.iterdir())
    images = [file for file in files if "images" in file.name and file.is_file()]
    chosen = next((file for file in images if file.name.startswith("train")), None)
    if chosen is None and len(images) == 1:
        chosen = images[0]
    if chosen is None:
        held = ", ".join(file.name for file in files[:5]) or "nothing"
        raise InputError(
            f"{folder} is a folder without IDX files (train-images… and train-labels…): it holds "
            f"{held}; name a file"
        )
    return chosen


def read_idx(path: Path, dtype: str | None = None, budget: Budget | None = None) -> Raw:
    """Images as rows of numbers, and their labels if there is a file of them."""
    budget = budget or budget_of()
    X, kind = _array(path, dtype, budget)
    if X.ndim < 2 or X.size == 0:
        raise InputError(
            f"{path} must hold rows of numbers, got shape {X.shape}: name the file of images"
        )
    raw = images(X, kind, IDX)
    labels = _labels_of(path)
    if labels is None:
        raw.notes.append(f"no file of labels beside {path.name}")
        return raw
    raw.y, _ = _array(labels, "float64", budget)
    raw.target = "label"
    if raw.y.shape != (len(X),):
        raise InputError(
            f"{labels} must hold one label an image: {path.name} has {len(X)} images, labels are "
            f"of shape {raw.y.shape}"
        )
    return raw


def _labels_of(path: Path) -> Path | None:
    name = path.name.replace("images", "labels").replace("idx3", "idx1").replace("idx4", "idx1")
    stem = name.removesuffix(".gz")
    for candidate in (name, stem, f"{stem}.gz"):
        if candidate != path.name and (path.parent / candidate).is_file():
            return path.parent / candidate
    return None


def _array(path: Path, dtype: str | None, budget: Budget) -> tuple[np.ndarray, np.dtype]:
    """The numbers of a file as floats, and the type that they had."""
    with opened(path, budget) as stream:
        start = stream.read(4)
        if len(start) < 4 or start[:2] != b"\x00\x00" or start[2] not in TYPES or not start[3]:
            raise InputError(
                f"{path} must begin as an IDX file does (0 0 type dimensions), got {start!r}"
            )
        kind = TYPES[start[2]]
        sizes = stream.read(4 * start[3])
        if len(sizes) < 4 * start[3]:
            raise EOFError("the sizes are not complete")
        shape = struct.unpack(f">{start[3]}I", sizes)
        into = np.dtype(dtype) if dtype else float_type([kind])
        budget.check(path, math.prod(shape) * into.itemsize, f"for an array of shape {shape}")
        try:
            values = fill(stream, kind, shape, into)
        except (MemoryError, ValueError) as problem:
            raise InputError(
                f"{path} announces an array of shape {shape}, which does not fit into memory: "
                "it is damaged, or no IDX file"
            ) from problem
        if stream.read(1):
            raise InputError(
                f"{path} goes on after the {math.prod(shape):,} numbers that it announces: it is "
                "damaged, copy or download it again"
            )
        return values, kind
