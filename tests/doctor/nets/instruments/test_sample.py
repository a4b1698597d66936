import pytest
import torch

from thalweg.doctor.nets.instruments.sample import Sample


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def test_small_tensors_are_taken_whole():
    tensor = torch.arange(6.0).reshape(2, 3).T  # not contiguous
    sample = Sample([tensor], 6, generator())
    assert sample.of(0, tensor).tolist() == tensor.reshape(-1).tolist()
    assert sample.scales == [1.0]


def test_what_was_taken_does_not_follow_the_tensor():
    tensor = torch.zeros(3)
    taken = Sample([tensor], 3, generator()).of(0, tensor)
    tensor += 1
    assert taken.tolist() == [0, 0, 0]


def test_the_same_entries_every_time():
    tensor = torch.arange(1000.0).reshape(10, 100)
    sample = Sample([torch.zeros(5), tensor], 50, generator())
    first = sample.of(1, tensor)
    assert torch.equal(first, sample.of(1, tensor))
    assert len(first) == 50
    assert sample.scales == pytest.approx([1.0, 20**0.5])


def test_products_are_right_on_average():
    u, v = torch.randn(2, 400, generator=generator(1), dtype=torch.float64)
    found = []
    for seed in range(2000):
        sample = Sample([u], 40, generator(seed))
        found.append(sample.scales[0] ** 2 * float(sample.of(0, u) @ sample.of(0, v)))
    found = torch.tensor(found)
    assert abs(found.mean() - u @ v) < 4 * found.std() / 2000**0.5
