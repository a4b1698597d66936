"""Leaves: rows cut so that a sum over them has the same bits on any number of threads.

    Σᵢ f(i) = ((leaf 0 + leaf 1) + (leaf 2 + leaf 3)) + …       a fixed binary tree over 2ᵏ leaves

A leaf is a run of rows, summed by one kernel from its first row to its last. Where the leaves end
follows from the shape of the data alone, and the tree from their number: not from the threads, each
of which takes whole subtrees and keeps one partial sum a level. So the result depends on the data
and on the kind of CPU, not on how many worked at it, nor on which of them was faster.

A leaf costs a call and an addition of its partial sum. It has half a million numbers to look at, of
two leaves 50,000, or the second would not be worth waking a thread for, and at least four times as
many as its partial sum is long, or of more leaves 24 times.
"""

from __future__ import annotations

import contextvars
import functools
import operator
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from thalweg.kernels.threads import available_threads, blas_threads, hand_over

SECOND = 100_000  # numbers to look at from which there are two leaves; waking a thread takes 100 µs
LEAF = 524_288  # in each of more than two; a call takes 20 µs, as long as looking at 25,000 numbers
ADDED, OFTEN = 4, 24  # times as many as the partial sum has, which is added up: once, or more often
MOST_KEPT = 2**25  # numbers that the partial sums of a thread may have: 256 MB

Edges = tuple[int, ...]
Work = Callable[[int, int], Any]  # of the rows from start to stop


@functools.lru_cache(maxsize=4096)
def leaf_edges(rows: int, work: int, size: int = 1, fewest: int = 1) -> Edges:
    """Where leaves begin and end, for so many numbers to look at and a sum of `size` numbers.

    Each has as many rows as `fewest`, or more.
    """
    most = min(rows // fewest, work // (ADDED * max(1, size)))
    count = 1
    if work >= SECOND and most >= 2:
        most = min(most, max(2, work // max(LEAF, OFTEN * size)))
        while 2 * count <= most and (count == 1 or count.bit_length() * size <= MOST_KEPT):
            count *= 2
    return tuple(rows * k // count for k in range(count + 1))


def each_leaf(work: Work, edges: Edges, threads: int | None = None) -> list[Any]:
    """`work(start, stop)` of every leaf; the results in the order of the rows."""
    return _spread(lambda first, last: [work(*ends) for ends in _ends(edges, first, last)],
                   edges, threads, operator.iadd)  # fmt: skip


def tree_sum(work: Work, edges: Edges, threads: int | None = None) -> Any:
    """The sum of `work(start, stop)` over the leaves: a number, an array, or a tuple of them.

    Arrays are added to in place: they are to be fresh in every call.
    """

    return _spread(functools.partial(_subtree, work, edges), edges, threads, added)


def _subtree(work: Work, edges: Edges, first: int, last: int) -> Any:
    """The sum over some of the leaves, half by half."""
    if last - first == 1:
        return work(edges[first], edges[last])
    middle = (first + last) // 2
    return added(_subtree(work, edges, first, middle), _subtree(work, edges, middle, last))


def with_blas(spread: Callable[..., Any], work: Work, edges: Edges, threads: int | None) -> Any:
    """`each_leaf` or `tree_sum` of work that calls BLAS, which has one thread in each of ours.

    Left to itself it would spread every small product over all cores and wait for the slowest:
    twice the time alone, and many times that beside other work.
    """
    threads = available_threads() if threads is None else threads  # before BLAS has one alone
    with blas_threads(1):
        return spread(work, edges, threads)


def added(mine: Any, more: Any) -> Any:
    """mine + more, field by field; what is an array in `mine` changes in place."""
    if isinstance(mine, tuple):
        return tuple(operator.iadd(a, b) for a, b in zip(mine, more, strict=True))
    return operator.iadd(mine, more)


def _ends(edges: Edges, first: int, last: int) -> list[tuple[int, int]]:
    return list(pairwise(edges[first : last + 1]))


def _spread(
    subtree: Callable[[int, int], Any],
    edges: Edges,
    threads: int | None,
    join: Callable[[Any, Any], Any],
) -> Any:
    """The subtrees on several threads, joined as the tree has them."""
    count = len(edges) - 1
    if count == 1:
        return subtree(0, 1)
    threads = available_threads() if threads is None else threads
    if threads == 1:
        return subtree(0, count)
    parts = 2
    while parts < min(2 * threads, count):  # two a thread: what one is late by, another takes over
        parts *= 2
    shared = _Shared(subtree, count // parts, parts)
    # Each in a context of its own: what NumPy is told to ignore here holds there as well.
    others = [
        hand_over(contextvars.copy_context().run, shared.take)
        for _ in range(min(threads, parts) - 1)
    ]
    try:
        shared.take()
        for other in others:
            if not other.cancel():  # one that has not begun has nothing left to do
                other.result()
        found = shared.found
    finally:
        shared.forget()  # one that was cancelled waits in its queue, and would keep all of it
    while len(found) > 1:
        found = [join(found[k], found[k + 1]) for k in range(0, len(found), 2)]
    return found[0]


class _Shared:
    """Subtrees that several threads take in turn, each when it has time."""

    def __init__(self, subtree: Callable[[int, int], Any] | None, stride: int, parts: int) -> None:
        self.subtree = subtree
        self.stride = stride
        self.waiting = iter(range(parts))
        self.found: list[Any] = [None] * parts

    def take(self) -> None:
        """Sum what nobody has taken yet."""
        for k in self.waiting:
            assert self.subtree is not None
            self.found[k] = self.subtree(k * self.stride, (k + 1) * self.stride)

    def forget(self) -> None:
        """Let go of the work and its results."""
        self.subtree, self.found, self.waiting = None, [], iter(range(0))
