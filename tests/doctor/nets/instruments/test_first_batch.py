import math

import pytest
import torch

from thalweg.doctor.nets.instruments.first_batch import NOTHING, first_batch


def test_a_batch_by_hand():
    x = torch.tensor([[0.0, 7.0, 1.0], [2.0, 7.0, 1.0]])
    found = first_batch(["words", x])
    assert found == {
        "input_rows": 2.0,
        "input_columns": 3.0,
        "input_min": 0.0,
        "input_max": 7.0,
        "input_mean": 3.0,
        "input_std": pytest.approx(math.sqrt((9 + 16 + 4 + 1 + 16 + 4) / 6)),
        "input_not_finite": 0.0,
        "input_constant": 2.0,
    }
    assert list(found) == list(NOTHING)


def test_images_are_read_pixel_by_pixel():
    x = torch.rand(4, 3, 5, 5, generator=torch.Generator().manual_seed(0))
    x[:, 1, 2, 2] = 0.25
    found = first_batch([x])
    assert (found["input_columns"], found["input_constant"]) == (75, 1)


def test_of_one_sample_nothing_is_known_to_be_constant():
    assert math.isnan(first_batch([torch.ones(1, 3)])["input_constant"])


def test_words_and_half_precision():
    assert first_batch([torch.tensor([[1, 5], [2, 5]])])["input_max"] == 5
    assert first_batch([torch.ones(2, 2, dtype=torch.bfloat16)])["input_mean"] == 1
    assert first_batch([torch.tensor(3.0)])["input_mean"] == 3


def test_entries_that_are_not_finite_are_counted():
    x = torch.tensor([[1.0, math.nan], [math.inf, 1.0]])
    assert first_batch([x])["input_not_finite"] == 2


def test_nothing_to_describe():
    assert first_batch([]) is None
    assert first_batch([torch.empty(0, 3), None, "x"]) is None
