"""Leaves and their tree: by the definition, written slowly, to the last bit."""

import gc
import itertools
import subprocess
import sys
import threading
import time
import weakref
from functools import partial

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from thalweg.kernels import leaves
from thalweg.kernels.leaves import (
    ADDED,
    LEAF,
    MOST_KEPT,
    OFTEN,
    SECOND,
    added,
    each_leaf,
    leaf_edges,
    tree_sum,
    with_blas,
)

THREADS = (1, 2, 3, 8)
SHAPES = list(
    itertools.product(
        (1, 2, 3, 7, 1_000, 123_457, 10**7),
        (0, SECOND - 1, SECOND, LEAF, 10**6, 10**9, 10**12),
        (1, 20, 10_000, 10**7, 10**9),
    )
)


def edges_of(count, rows=None):
    """So many leaves, of about the same length."""
    rows = 10 * count if rows is None else rows
    return tuple(rows * k // count for k in range(count + 1))


SIXTEEN = edges_of(16, rows=17_003)


def numbers(rows, seed=0):
    """Of sizes so different that every order of summation has bits of its own."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal(rows) * 10.0 ** rng.integers(-8, 9, rows)


def slow_tree(parts):
    """The sum as the tree has it: neighbours first."""
    while len(parts) > 1:
        parts = [left + right for left, right in zip(parts[::2], parts[1::2], strict=True)]
    return parts[0]


def slow_sum(work, edges):
    return slow_tree([work(start, stop) for start, stop in itertools.pairwise(edges)])


def test_edges_by_hand():
    assert leaf_edges(10, SECOND - 1) == (0, 10)  # too little to wake a thread for
    assert leaf_edges(10, SECOND) == (0, 5, 10)
    assert leaf_edges(10, 4 * LEAF) == (0, 2, 5, 7, 10)
    assert leaf_edges(10, 7 * LEAF) == (0, 2, 5, 7, 10)
    assert leaf_edges(1, 10**9) == (0, 1)
    assert leaf_edges(3, 10**9) == (0, 1, 3)
    # A partial sum of p numbers is added up: a leaf looks at four times as many.
    assert leaf_edges(100, 8 * 10**6, 10**6) == (0, 50, 100)
    assert leaf_edges(100, 8 * 10**6 - 1, 10**6) == (0, 100)


def test_leaves_take_every_row_once_and_are_a_power_of_two():
    for shape in SHAPES:
        edges = leaf_edges(*shape)
        lengths = np.diff(edges)
        assert (edges[0], edges[-1]) == (0, shape[0]), shape
        assert lengths.min() >= 1, shape
        assert lengths.max() - lengths.min() <= 1, shape
        assert lengths.size.bit_count() == 1, shape


def test_a_leaf_is_worth_its_call_and_its_addition():
    for shape in SHAPES:
        rows, work, size = shape
        count = len(leaf_edges(*shape)) - 1
        assert count == 1 or work >= max(SECOND, count * ADDED * size), shape
        assert count <= 2 or work >= count * max(LEAF, OFTEN * size), shape
        assert count <= 2 or (count.bit_length() - 1) * size <= MOST_KEPT, shape
        # Twice as many would not be worth it, or would not fit.
        more = 2 * count * max(LEAF, OFTEN * size)
        least = max(SECOND if count == 1 else more, 2 * count * ADDED * size)
        has_room = count == 1 or count.bit_length() * size <= MOST_KEPT
        assert 2 * count > rows or work < least or not has_room, shape


def test_edges_ask_for_no_number_of_threads(monkeypatch):
    monkeypatch.setattr(leaves, "available_threads", None)
    monkeypatch.setattr(leaves, "hand_over", None)
    assert len(leaf_edges.__wrapped__(12_345, 10**8, 30)) > 2


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("count", [1, 2, 4, 16, 128])
def test_a_sum_is_that_of_the_tree_to_the_last_bit(count, threads):
    a = numbers(10 * count)
    edges = edges_of(count)

    def work(start, stop):
        return float(np.sum(a[start:stop]))

    assert tree_sum(work, edges, threads) == slow_sum(work, edges)


@pytest.mark.parametrize("threads", THREADS)
def test_arrays_and_tuples_are_summed_field_by_field(threads):
    A = numbers(3 * SIXTEEN[-1]).reshape(-1, 3)

    def array(start, stop):
        return A[start:stop].sum(axis=0)

    def several(start, stop):
        return float(A[start, 0]), array(start, stop), A[start:stop, 1:].sum(axis=0)

    expected = slow_sum(array, SIXTEEN)
    found = tree_sum(array, SIXTEEN, threads)
    assert found.tobytes() == expected.tobytes()
    number, whole, part = tree_sum(several, SIXTEEN, threads)
    assert number == slow_sum(lambda start, stop: float(A[start, 0]), SIXTEEN)
    assert whole.tobytes() == expected.tobytes()
    assert part.tobytes() == expected[1:].tobytes()


def test_the_order_of_these_sums_is_seen_in_their_bits():
    # Or no test here would tell a tree from one leaf after the other.
    a = numbers(SIXTEEN[-1])
    parts = [float(np.sum(a[start:stop])) for start, stop in itertools.pairwise(SIXTEEN)]
    assert sum(parts) != slow_tree(parts)
    assert slow_tree(parts[::-1]) == slow_tree(parts)  # a + b is b + a, at every node


def test_an_array_that_is_there_already_may_be_the_first_leaf():
    room = np.full(2, np.nan)

    def work(start, stop):
        part = room if start == 0 else np.empty(2)
        part[:] = start, stop
        return part

    assert tree_sum(work, edges_of(4, rows=8), 1) is room
    assert room.tolist() == [0 + 2 + 4 + 6, 2 + 4 + 6 + 8]


def test_added_by_hand():
    assert added(1.0, 2.0) == 3.0
    mine = np.array([1.0, 2.0])
    number, array = added((1, mine), (4, np.array([10.0, 20.0])))
    assert number == 5
    assert array is mine
    assert mine.tolist() == [11.0, 22.0]


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("count", [1, 2, 8, 64])
def test_results_come_in_the_order_of_the_rows(count, threads):
    edges, last_may_go = edges_of(count), threading.Event()

    def work(start, stop):
        if start == 0 and threads > 1 and count > 1:  # ends last, and must still come first
            last_may_go.wait(10)
        elif stop == edges[-1]:
            last_may_go.set()
        return start, stop

    assert each_leaf(work, edges, threads) == list(itertools.pairwise(edges))


@pytest.mark.parametrize("spread", [each_leaf, tree_sum])
@pytest.mark.parametrize("threads", THREADS)
def test_each_leaf_is_worked_at_once(spread, threads):
    seen, edges = [], edges_of(32)

    def work(start, stop):
        seen.append((start, stop))
        return 1

    spread(work, edges, threads)
    assert sorted(seen) == list(itertools.pairwise(edges))


@pytest.mark.parametrize("spread", [each_leaf, tree_sum])
@pytest.mark.parametrize("count", [2, 4, 32])
def test_two_threads_work_at_the_same_time(spread, count):
    meeting, seen = threading.Barrier(2), set()

    def work(start, stop):
        meeting.wait(30)  # broken, and an error, unless another thread comes
        seen.add(threading.get_ident())
        return 1

    spread(work, edges_of(count), 2)
    assert len(seen) == 2
    assert threading.get_ident() in seen


@pytest.mark.parametrize(("count", "threads"), [(8, 1), (1, 8)])
def test_one_thread_or_one_leaf_stays_where_it_is(count, threads):
    seen = each_leaf(lambda start, stop: threading.get_ident(), edges_of(count), threads)
    assert seen == [threading.get_ident()] * count


def test_without_a_number_of_threads_it_is_what_the_process_may_use(monkeypatch):
    monkeypatch.setattr(leaves, "available_threads", lambda: 1)
    seen = each_leaf(lambda start, stop: threading.get_ident(), edges_of(8))
    assert seen == [threading.get_ident()] * 8
    monkeypatch.setattr(leaves, "available_threads", lambda: 2)
    meeting = threading.Barrier(2)
    assert tree_sum(lambda start, stop: meeting.wait(30) >= 0, edges_of(8)) == 8


@pytest.mark.parametrize("spread", [each_leaf, tree_sum])
@pytest.mark.parametrize("there", [True, False])
def test_an_error_in_a_leaf_is_raised(spread, there):
    """In the calling thread, or there, in another; and nothing is left of it for the next sum."""
    here, meeting = threading.get_ident(), threading.Barrier(2)

    def work(start, stop):
        meeting.wait(30)
        if (threading.get_ident() != here) == there:
            raise RuntimeError("in a leaf")
        return 1

    with pytest.raises(RuntimeError, match="in a leaf"):
        spread(work, edges_of(2), 2)
    assert tree_sum(lambda start, stop: 1, edges_of(64), 2) == 64


@pytest.mark.parametrize("spread", [each_leaf, tree_sum])
def test_what_the_caller_does_not_want_to_hear_of_no_thread_tells(spread):
    meeting, huge = threading.Barrier(2), np.array([1e308])

    def work(start, stop):
        meeting.wait(30)  # two of them: one here, one there
        return huge * 10.0

    with np.errstate(over="ignore"):
        assert np.isinf(spread(work, edges_of(2), 2)).all()
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        spread(work, edges_of(2), 2)


@pytest.mark.parametrize("spread", [each_leaf, tree_sum])
@pytest.mark.parametrize("threads", [1, 2])
def test_nothing_is_kept_of_what_was_summed(spread, threads):
    # Not even until the next collection of cycles: a product with X leaves vectors of p behind.
    a = numbers(80)
    kept = weakref.ref(a)
    gc.disable()
    try:
        spread(lambda start, stop, a=a: float(np.sum(a[start:stop])), edges_of(8), threads)
        del a
        for _ in range(100 * (threads > 1)):  # another thread lets go a moment later
            if kept() is None:
                break
            time.sleep(0.01)
        assert kept() is None
    finally:
        gc.enable()


NESTED = """
from thalweg.kernels.leaves import each_leaf, tree_sum, with_blas

edges = tuple(range(9))

def deep(levels):
    if not levels:
        return 1
    return with_blas(tree_sum, lambda start, stop: deep(levels - 1), edges, 8)

print(deep(3), sum(each_leaf(lambda start, stop: deep(2), edges, 8)))
"""


def test_leaves_within_leaves_wait_for_nobody():
    # More of them than there are threads: one that waited for its turn would wait for ever.
    done = subprocess.run(
        [sys.executable, "-c", NESTED], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout.split() == ["512", "512"]


def test_sums_from_several_threads_at_once_do_not_mix():
    a, found = numbers(640), {}

    def work(start, stop, scale):
        return scale * float(np.sum(a[start:stop]))

    def ask(scale):
        for _ in range(50):
            found[scale] = tree_sum(partial(work, scale=scale), edges_of(64), 3)

    askers = [threading.Thread(target=ask, args=(2.0**k,)) for k in range(4)]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join()
    whole = slow_sum(partial(work, scale=1.0), edges_of(64))
    assert found == {2.0**k: 2.0**k * whole for k in range(4)}


def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


@pytest.mark.parametrize("spread", [each_leaf, tree_sum])
@pytest.mark.parametrize("threads", [1, 2])
def test_blas_runs_on_one_thread_in_each_of_ours(spread, threads):
    before, seen = blas_threads(), []

    def work(start, stop):
        seen.extend(blas_threads())
        return [1]

    assert with_blas(spread, work, edges_of(4), threads)
    assert seen
    assert set(seen) == {1}
    assert blas_threads() == before


def test_blas_is_let_go_after_an_error():
    before = blas_threads()
    with pytest.raises(ZeroDivisionError):
        with_blas(each_leaf, lambda start, stop: 1 / 0, edges_of(4), 2)
    assert blas_threads() == before


def test_our_threads_are_counted_before_blas_has_one_alone(monkeypatch):
    before, asked = blas_threads(), []

    def counted():
        asked.append(blas_threads())
        return 2

    monkeypatch.setattr(leaves, "available_threads", counted)
    meeting = threading.Barrier(2)
    assert with_blas(tree_sum, lambda start, stop: meeting.wait(30) >= 0, edges_of(8), None) == 8
    assert asked == [before]
