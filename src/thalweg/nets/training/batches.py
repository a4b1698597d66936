"""Mini-batches: from memory without a loader's overhead, or from any iterable of pairs.

An epoch visits every row once. In memory its order is a permutation drawn from a generator of its
own, seeded, and a batch is one gather of its rows; without shuffling, and where one batch is all
rows, it is a view. What the order of the epoch under way was drawn from is kept, so that a resumed
training sees the same rows: an epoch is drawn again, and the batches that were done are skipped.

An iterable, such as a `DataLoader`, is taken as it comes. It replays to the same rows if its order
depends on nothing but PyTorch's generator or its own, as a `DataLoader`'s does.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sized
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.utils.data import TensorDataset

from thalweg.core.checks import check_count, describe
from thalweg.core.errors import InputError
from thalweg.nets.training import world

Pair = tuple[torch.Tensor, torch.Tensor]  # samples and their labels


class Batch(NamedTuple):
    """Some samples and their labels."""

    x: torch.Tensor  # [b, …]
    y: torch.Tensor  # [b, …]


class Batches:
    """Mini-batches of tensors in memory."""

    def __init__(
        self,
        x: Any,
        y: Any,
        batch_size: int | None = 64,
        *,
        shuffle: bool = True,
        drop_last: bool = False,
        seed: int = 0,
        name: str = "data",
    ) -> None:
        self.x, self.y, self.name = as_tensor(x, name, "x"), as_tensor(y, name, "y"), name
        if batch_size is not None:
            batch_size = check_count("batch_size", batch_size, advice="None takes all rows")
        _check_rows(self.x, self.y, name)
        self.shuffle = shuffle
        self.generator = torch.Generator().manual_seed(seed)
        self._begun = self.generator.get_state()  # where the order of this epoch is drawn from
        self._share = slice(world.rank(), len(self.x) // world.size() * world.size(), world.size())
        self.rows = len(range(len(self.x))[self._share])  # of one epoch, in this process
        self.size = self.rows if batch_size is None else min(batch_size, self.rows)
        self._end = self.rows // self.size * self.size if drop_last else self.rows

    def __len__(self) -> int:
        return -(-self._end // self.size)

    @property
    def can_repeat(self) -> bool:
        """Whether there is a second epoch."""
        return True

    def epoch(self, skip: int = 0) -> Iterator[Batch]:
        """The batches of one epoch but the first `skip`, which were seen before."""
        self._begun = self.generator.get_state()
        whole = self.size == self.rows and world.size() == 1
        order = None
        if not whole and (self.shuffle or world.size() > 1):
            order = torch.arange(len(self.x))
            if self.shuffle:
                order = torch.randperm(len(self.x), generator=self.generator)
            order = order[self._share].to(self.x.device)
        for start in range(skip * self.size, self._end, self.size):
            end = min(start + self.size, self._end)
            if order is None:
                yield Batch(self.x[start:end], self.y[start:end])
            else:
                rows = order[start:end]
                yield Batch(self.x.index_select(0, rows), self.y.index_select(0, rows))
        self._begun = self.generator.get_state()

    def state_dict(self) -> dict[str, Any]:
        """What the order of the epoch under way was drawn from."""
        return {"generator": self._begun}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Draw from there again."""
        self._begun = state["generator"]
        self.generator.set_state(self._begun)

    def fingerprint(self) -> str:
        """What tells other data from these, from a few rows."""
        some = torch.linspace(0, len(self.x) - 1, min(64, len(self.x))).long().to(self.x.device)
        parts = [self.x.index_select(0, some), self.y.index_select(0, some)]
        sums = [part.double().abs().sum().item() for part in parts]
        shapes = " and ".join(f"{list(t.shape)} {t.dtype}" for t in (self.x, self.y))
        return f"{shapes}, {sums[0]!r}, {sums[1]!r}"


class Stream:
    """Batches from an iterable of pairs."""

    def __init__(self, source: Any, name: str = "data") -> None:
        self.source, self.name = source, name
        self.rows = 0  # of one epoch, once it was seen
        self.generator: torch.Generator | None = getattr(source, "generator", None)
        self._length = len(source) if isinstance(source, Sized) else None
        self.is_checked = False  # whether every batch was looked at once
        self._keep()
        if self._length == 0:
            raise self._empty()

    def __len__(self) -> int:
        if self._length is None:
            raise TypeError("the number of batches is not known before the first epoch is over")
        return self._length

    @property
    def can_repeat(self) -> bool:
        """Whether there is a second epoch: a generator has none."""
        return not isinstance(self.source, Iterator)

    def epoch(self, skip: int = 0) -> Iterator[Batch]:
        """The batches of one epoch but the first `skip`, which were seen before.

        Those are drawn from where the epoch began, and leave PyTorch's generator as it was.
        """
        now = torch.random.get_rng_state()
        if skip:
            torch.random.set_rng_state(self._begun)
        else:
            self._keep()
        count, rows = 0, 0
        source = iter(self.source)
        for _ in range(skip):
            count, rows = count + 1, rows + len(self._checked(next(source), rows).x)
        if skip:
            torch.random.set_rng_state(now)
        for pair in source:
            batch = self._checked(pair, rows)
            count, rows = count + 1, rows + len(batch.x)
            yield batch
        if count == 0:
            raise self._empty()
        self._length, self.rows, self.is_checked = count, rows, True
        self._keep()

    def _checked(self, pair: Any, first_row: int) -> Batch:
        if not (isinstance(pair, list | tuple) and len(pair) == 2):
            raise InputError(
                f"{self.name} must give pairs (x, y), got {describe(pair)}: "
                "let every batch be samples and labels"
            )
        batch = Batch(as_tensor(pair[0], self.name, "x"), as_tensor(pair[1], self.name, "y"))
        if not self.is_checked:
            _check_rows(batch.x, batch.y, self.name, first_row)
        return batch

    def _keep(self) -> None:
        self._begun = torch.random.get_rng_state()
        self._own = None if self.generator is None else self.generator.get_state()

    def _empty(self) -> InputError:
        return InputError(
            f"{self.name} must hold at least one batch, got an empty "
            f"{type(self.source).__name__}: check its dataset, batch_size and drop_last"
        )

    def state_dict(self) -> dict[str, Any]:
        """Both generators that a loader may draw its order from, as the epoch began."""
        return {"torch": self._begun, "generator": self._own}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Begin there again."""
        self._begun, self._own = state["torch"], state["generator"]
        if self.generator is not None and self._own is not None:
            self.generator.set_state(self._own)

    def fingerprint(self) -> str:
        """What is known of it."""
        return f"{type(self.source).__name__} of {self._length or 'unknown'} batches"


def batches_of(
    data: Any,
    batch_size: int | None,
    *,
    shuffle: bool = True,
    drop_last: bool = False,
    seed: int = 0,
    name: str = "data",
) -> Batches | Stream:
    """Batches of a pair (x, y) in memory, or of any iterable of such pairs."""
    if isinstance(data, Batches | Stream):
        return data
    if isinstance(data, TensorDataset) and len(data.tensors) == 2:
        data = data.tensors
    if isinstance(data, tuple) and len(data) == 2 and not isinstance(data[0], tuple):
        return Batches(
            *data, batch_size, shuffle=shuffle, drop_last=drop_last, seed=seed, name=name
        )
    if hasattr(data, "__iter__") and not isinstance(data, torch.Tensor | np.ndarray | str | dict):
        return Stream(data, name)
    raise InputError(
        f"{name} must be a pair (x, y) or an iterable of such pairs, got {describe(data)}: "
        "pass (X, y), or a DataLoader"
    )


def groups_of(batches: Iterator[Batch], size: int) -> Iterator[list[Batch]]:
    """So many batches at a time; the last group may be shorter."""
    group = []
    for batch in batches:
        group.append(batch)
        if len(group) == size:
            yield group
            group = []
    if group:
        yield group


def as_tensor(values: Any, name: str, part: str) -> torch.Tensor:
    """`values` as a tensor, sharing memory where that is possible."""
    if isinstance(values, torch.Tensor):
        return values.detach()
    if hasattr(values, "toarray"):
        raise InputError(f"{part} of {name} must be dense, got a sparse matrix: use .toarray()")
    array = np.asarray(values)
    if array.dtype.kind not in "fiub":
        raise InputError(
            f"{part} of {name} must hold numbers, got {array.dtype}: encode it as numbers first"
        )
    if array.dtype.kind == "u" and array.dtype.itemsize > 1:
        array = array.astype(np.int64)  # PyTorch can do little with wider unsigned numbers
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    if any(stride < 0 for stride in array.strides):
        array = np.ascontiguousarray(array)
    with warnings.catch_warnings():
        # Memory that is read only, as a file mapped into memory, is only read here.
        warnings.simplefilter("ignore", UserWarning)
        return torch.from_numpy(array)


def pair_of(name: str, data: Any, advice: str) -> Pair:
    """Samples and labels of a pair (x, y), as tensors with as many rows; `advice` for others."""
    if not (isinstance(data, tuple | list) and len(data) == 2):
        raise InputError(f"{name} must be a pair (x, y), got {describe(data)}: {advice}")
    x, y = (as_tensor(part, name, letter) for part, letter in zip(data, "xy", strict=True))
    if x.ndim == 0 or y.ndim == 0 or len(x) == 0 or len(x) != len(y):
        raise InputError(
            f"{name} must have at least one row and as many labels, got {list(x.shape)} samples "
            f"and {list(y.shape)} labels"
        )
    return x, y


def _check_rows(x: torch.Tensor, y: torch.Tensor, name: str, first_row: int = 0) -> None:
    """Raise unless there are rows, as many labels, and nothing that is not finite."""
    if x.ndim == 0 or y.ndim == 0 or len(x) == 0:
        raise InputError(f"{name} must have at least one row, got {list(x.shape)} samples")
    if len(x) != len(y):
        raise InputError(
            f"{name} must have as many labels as samples, got {len(x)} samples and {len(y)} labels"
        )
    for part, values in (("x", x), ("y", y)):
        # One sum is the fastest look at all entries; it may overflow, which the second look tells.
        if values.is_floating_point() and not bool(torch.isfinite(values.sum())):
            _report(part, values, name, first_row)


def _report(part: str, values: torch.Tensor, name: str, first_row: int) -> None:
    """Raise for the first entry that is not finite, if there is one."""
    for start in range(0, len(values), 4096):
        bad = (~torch.isfinite(values[start : start + 4096])).nonzero()
        if len(bad):
            row, *column = bad[0].tolist()
            where = f", column {column[0] if len(column) == 1 else tuple(column)}" if column else ""
            value = float(values[(start + row, *column)])
            raise InputError(
                f"{part} of {name} must be finite, got {value} in row {first_row + start + row}"
                f"{where}: replace it by a number, or drop that row"
            )
