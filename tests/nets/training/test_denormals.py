import pytest
import torch

from thalweg.nets.training.denormals import are_flushed, flushed_denormals


def product():
    return (torch.full((8,), 1e-200, dtype=torch.float64) * 1e-115).max().item()


@pytest.fixture
def can_flush():
    able = torch.set_flush_denormal(True)
    torch.set_flush_denormal(False)
    if not able:
        pytest.skip("this processor cannot flush")


def test_they_are_zero_within_and_as_before_after(can_flush):
    assert product() > 0
    with flushed_denormals():
        assert product() == 0
        assert are_flushed()
    assert product() > 0


def test_what_was_set_before_stays_set(can_flush):
    torch.set_flush_denormal(True)
    try:
        with flushed_denormals():
            pass
        assert are_flushed()
    finally:
        torch.set_flush_denormal(False)


def test_an_error_puts_it_back(can_flush):
    with pytest.raises(RuntimeError), flushed_denormals():
        raise RuntimeError
    assert not are_flushed()
