import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

from thalweg.core.errors import InputError
from thalweg.nets.training.batches import (
    Batches,
    Stream,
    as_tensor,
    batches_of,
    groups_of,
    pair_of,
)

X = torch.arange(20.0).reshape(10, 2)
Y = torch.arange(10)


def rows(batches, skip=0):
    return [batch.y.tolist() for batch in batches.epoch(skip)]


def test_without_shuffling_rows_come_in_order_as_views():
    batches = Batches(X, Y, 4, shuffle=False)
    assert rows(batches) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert len(batches) == 3
    assert next(batches.epoch()).x.data_ptr() == X.data_ptr()


def test_drop_last_leaves_the_short_one_out():
    batches = Batches(X, Y, 4, shuffle=False, drop_last=True)
    assert rows(batches) == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert len(batches) == 2


def test_no_batch_size_is_all_rows_in_one_view():
    (batch,) = Batches(X, Y, None).epoch()
    assert batch.x.data_ptr() == X.data_ptr()
    assert len(batch.x) == 10


def test_an_epoch_is_the_permutation_of_its_seed():
    drawn = Batches(X, Y, 3, seed=5)
    generator = torch.Generator().manual_seed(5)
    for _ in range(2):
        order = torch.randperm(10, generator=generator).tolist()
        assert [y for batch in rows(drawn) for y in batch] == order


def test_samples_keep_their_labels():
    for batch in Batches(X, Y, 3).epoch():
        assert batch.x[:, 0].tolist() == [2.0 * y for y in batch.y.tolist()]


@pytest.mark.parametrize("skip", [1, 2, 4])
def test_the_rest_of_an_epoch_replays_and_so_does_the_next(skip):
    batches = Batches(X, Y, 3, seed=1)
    rows(batches)
    under_way = batches.epoch()
    for _ in range(skip):
        next(under_way)
    state = batches.state_dict()
    rest, following = [batch.y.tolist() for batch in under_way], rows(batches)
    again = Batches(X, Y, 3, seed=99)
    again.load_state_dict(state)
    assert rows(again, skip) == rest
    assert rows(again) == following


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("skip", [0, 1, 3])
def test_a_loader_replays_too(own, skip):
    def stream():
        generator = torch.Generator().manual_seed(7) if own else None
        data = TensorDataset(X, Y)
        return Stream(DataLoader(data, 4, shuffle=True, generator=generator))

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        first = stream()
        rows(first)
        under_way, rest = first.epoch(), []
        for k in range(3):
            if k == skip:
                state, now = first.state_dict(), torch.random.get_rng_state()
            batch = next(under_way)
            torch.rand(5)  # dropout draws in between
            if k >= skip:
                rest.append(batch.y.tolist())
        if skip == 3:
            state, now = first.state_dict(), torch.random.get_rng_state()
        assert list(under_way) == []
        following = rows(first)

        torch.random.set_rng_state(now)
        again = stream()
        again.load_state_dict(state)
        if skip:
            found = []
            for batch in again.epoch(skip):
                torch.rand(5)
                found.append(batch.y.tolist())
            assert found == rest
            assert rows(again) == following


def test_arrays_share_their_memory_and_read_only_ones_are_taken():
    array = np.ones((3, 2), dtype=np.float32)
    assert as_tensor(array, "data", "x").data_ptr() == array.ctypes.data
    array.flags.writeable = False
    assert as_tensor(array, "data", "x").sum() == 6
    assert as_tensor(array[::-1], "data", "x").shape == (3, 2)
    assert as_tensor(np.array([1, 2], dtype=np.uint16), "data", "y").dtype == torch.int64
    assert as_tensor([[1.0, 2.0]], "data", "x").dtype == torch.float64


def test_rows_that_lie_apart_in_memory():
    turned = torch.arange(20.0).reshape(2, 10).T
    assert [batch.x.tolist() for batch in Batches(turned, Y, 5, shuffle=False).epoch()] == [
        turned[:5].tolist(), turned[5:].tolist(),
    ]  # fmt: skip


def test_what_is_taken_for_what():
    assert isinstance(batches_of((X, Y), 4), Batches)
    assert isinstance(batches_of(TensorDataset(X, Y), 4), Batches)
    assert isinstance(batches_of([(X, Y)], 4), Stream)
    assert isinstance(batches_of(((X, Y), (X, Y)), 4), Stream)
    assert not batches_of(iter([(X, Y)]), 4).can_repeat
    ready = Batches(X, Y)
    assert batches_of(ready, 4) is ready


def test_groups():
    assert [len(group) for group in groups_of(Batches(X, Y, 2).epoch(), 2)] == [2, 2, 1]


def test_fingerprints_tell_data_apart():
    same, other = X.clone(), X.clone()
    other[0, 0] = 1.0
    assert Batches(X, Y).fingerprint() == Batches(same, Y).fingerprint()
    assert Batches(X, Y).fingerprint() != Batches(other, Y).fingerprint()


def spoiled(row, column, value):
    x = torch.zeros(5000, 2)
    x[row, column] = value
    return x


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ((X[:0], Y[:0]), "data must have at least one row"),
        ((X, Y[:9]), "got 10 samples and 9 labels"),
        ((spoiled(4999, 1, torch.nan), torch.zeros(5000)), "got nan in row 4999, column 1"),
        ((spoiled(0, 0, torch.inf), torch.zeros(5000)), "got inf in row 0, column 0"),
        ((X, torch.full((10,), torch.nan)), "y of data must be finite, got nan in row 0:"),
        ((np.array([["a"]]), Y[:1]), "x of data must hold numbers, got <U1"),
        ([], "must hold at least one batch, got an empty list"),
        (DataLoader(TensorDataset(X, Y), 16, drop_last=True), "got an empty DataLoader"),
        (X, r"data must be a pair \(x, y\) or an iterable of such pairs"),
        ([X], r"data must give pairs \(x, y\)"),
        ([(X, Y), (spoiled(3, 1, torch.nan), torch.zeros(5000))], "got nan in row 13, column 1"),
    ],
)
def test_sentences(data, says):
    with pytest.raises(InputError, match=says):
        list(batches_of(data, 4).epoch())


def test_huge_numbers_whose_sum_overflows_are_finite():
    x = torch.full((4, 2), 3e38)
    assert len(Batches(x, torch.zeros(4))) == 1


def test_sparse_data_is_refused():
    from scipy.sparse import csr_matrix

    with pytest.raises(InputError, match="must be dense"):
        Batches(csr_matrix(np.eye(2)), Y[:2])
    with pytest.raises(InputError, match=r"batch_size must be a whole number.*None takes all rows"):
        Batches(X, Y, 0)


def test_a_pair_and_what_is_none():
    x, y = pair_of("data", (np.ones((3, 2)), [0, 1, 1]), "do")
    assert x.shape == (3, 2)
    assert y.tolist() == [0, 1, 1]
    with pytest.raises(InputError, match=r"data must be a pair \(x, y\), got 3: do so"):
        pair_of("data", 3, "do so")
    with pytest.raises(InputError, match=r"got \[3, 2\] samples and \[2\] labels"):
        pair_of("data", (x, y[:2]), "do")
