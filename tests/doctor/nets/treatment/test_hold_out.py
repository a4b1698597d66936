import pytest
import torch

from thalweg.core.errors import InputError
from thalweg.doctor.nets.treatment.hold_out import hold_out

X = torch.arange(100.0)[:, None]
Y = torch.tensor([0] * 80 + [1] * 15 + [2] * 5)


def test_every_class_has_its_share_in_both_parts():
    (x, y), (held_x, held_y) = hold_out((X, Y), classes=True, seed=0)
    assert torch.bincount(held_y).tolist() == [16, 3, 1]
    assert torch.bincount(y).tolist() == [64, 12, 4]
    assert sorted(torch.cat([x, held_x])[:, 0].tolist()) == X[:, 0].tolist()
    assert torch.equal(Y[held_x[:, 0].long()], held_y)
    assert torch.equal(x, x.sort(0).values)


def test_the_seed_decides():
    first, again, other = (hold_out((X, Y), classes=False, seed=s)[1][0] for s in (0, 0, 1))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert len(first) == 20


def test_a_class_of_one_row_stays_in_training():
    (_, y), (_, held) = hold_out((X[:4], torch.tensor([0, 0, 0, 1])), classes=True, seed=0)
    assert y.tolist() == [0, 0, 1]
    assert held.tolist() == [0]


def test_sentence():
    with pytest.raises(InputError, match="data must have rows to hold out, got 1"):
        hold_out((X[:1], Y[:1]), classes=True, seed=0)
