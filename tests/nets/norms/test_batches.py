import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

import thalweg as tw
from thalweg.nets.norms.batches import Batches

X = torch.arange(20.0).reshape(10, 2)
LIKE = torch.zeros(1, dtype=torch.float64)


def test_every_row_once_in_an_order_by_the_seed():
    batches = list(Batches(X, 4, 0, LIKE))
    assert [len(batch) for batch in batches] == [4, 4, 2]
    rows = torch.cat(batches)
    assert not torch.equal(rows, X.double())
    assert torch.equal(rows[rows[:, 0].argsort()], X.double())
    assert torch.equal(rows, torch.cat(list(Batches(X, 4, 0, LIKE))))
    assert not torch.equal(rows, torch.cat(list(Batches(X, 4, 1, LIKE))))


def test_the_same_batches_again_and_nothing_global_moves():
    before = torch.random.get_rng_state()
    batches = Batches(X, 3, 0, LIKE)
    first, second = list(batches), list(batches)
    assert all(torch.equal(a, b) for a, b in zip(first, second, strict=True))
    assert torch.equal(torch.random.get_rng_state(), before)


@pytest.mark.parametrize("data", [X.numpy(), (X, torch.ones(10)), X.numpy()[::-1][::-1]])
def test_arrays_and_tuples_of_inputs_and_targets(data):
    ours = torch.cat(list(Batches(data, 4, 0, LIKE)))
    assert torch.equal(ours, torch.cat(list(Batches(X, 4, 0, LIKE))))


@pytest.mark.parametrize(
    "data",
    [
        [X[:5], X[5:]],
        [(X[:5], torch.ones(5)), (X[5:], torch.ones(5))],
        DataLoader(TensorDataset(X, torch.ones(10)), batch_size=5),
    ],
)
def test_batches_are_taken_as_they_come(data):
    assert torch.equal(torch.cat(list(Batches(data, 128, 0, LIKE))), X.double())


def test_whole_numbers_stay_whole():
    assert next(iter(Batches(X.long(), 2, 0, LIKE))).dtype == torch.int64


@pytest.mark.parametrize(
    ("data", "size", "said"),
    [
        (torch.empty(0, 3), 4, r"data must have at least one sample, got \(0, 3\)"),
        (np.float64(3.0), 4, "data must be a tensor, an array, or batches"),
        (iter([X]), 4, "batches that can be gone through again"),
        (X, 1, "batch_size must be a whole number, at least 2, got 1"),
        ([], 4, "data must have at least one batch, got none"),
    ],
)
def test_bad_input(data, size, said):
    with pytest.raises(tw.InputError, match=said):
        list(Batches(data, size, 0, LIKE))
