import numpy as np
import pytest
import torch

from thalweg.doctor.nets.facts.batches import Batches
from thalweg.doctor.nets.facts.measured import Measured

GENERATOR = torch.Generator().manual_seed(0)
X = torch.randn(200, 2, generator=GENERATOR)
Y = (X[:, 0] > 0).long()


def seen(batches):
    watch = Batches(X, Y, np.random.default_rng(0))
    for x, y in batches:
        watch.add(x, y)
    return watch.facts()


def test_rows_of_the_data_with_their_labels():
    rows = torch.randperm(200, generator=GENERATOR)
    facts = seen([(X[rows[:50]], Y[rows[:50]]), (X[rows[50:]], Y[rows[50:]])])
    assert facts == Measured(batch_known=1.0, batch_moved=0.0)


def test_labels_drawn_apart():
    other = torch.randperm(200, generator=GENERATOR)
    moved = float((Y[other] != Y).float().mean())
    assert seen([(X, Y[other])]).batch_moved == pytest.approx(moved)
    assert moved > 0.3


def test_a_row_that_occurs_with_two_labels_has_not_moved():
    watch = Batches(torch.zeros(20, 2), torch.arange(20) % 2, np.random.default_rng(0))
    watch.add(torch.zeros(5, 2), torch.ones(5, dtype=torch.long))
    assert watch.facts().batch_moved == 0.0


def test_augmentation_that_keeps_and_that_changes_the_class():
    kept = seen([(X + 0.01, Y)])
    assert kept.batch_known == 0.0
    assert kept.batch_skill > 0.9
    mirrored = seen([(-X + 0.001, Y)])
    assert mirrored.batch_skill < -0.5
    assert mirrored.data_neighbours > 0.9


def test_batches_of_another_kind_are_passed_over():
    assert seen([(None, Y), (X, None), (X[:, :1], Y), (X[:5], Y), (X, Y.float() / 3)]) == Measured()


def test_numbers_as_labels():
    watch = Batches(X, X[:, :1], np.random.default_rng(0))
    watch.add(X[:50], X[1:51, :1])
    assert watch.facts().batch_moved == 1.0


def test_of_large_data_a_sample_is_enough():
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(3000, 2, generator=generator)
    y = (x[:, 0] > 0).long()
    watch = Batches(x, y, np.random.default_rng(0))
    watch.add(x[:500], y[:500])
    facts = watch.facts()
    assert 0.5 < facts.batch_known < 0.8
    assert facts.batch_moved == 0.0
    assert facts.batch_skill > 0.9
