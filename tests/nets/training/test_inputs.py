import pytest
import torch
from torch import nn

from thalweg.core.errors import InputError
from thalweg.nets.training.inputs import Inputs


def test_images_are_divided_by_255_and_floats_get_the_models_precision():
    inputs = Inputs(nn.Linear(2, 1).double())
    assert inputs(torch.tensor([[0, 255]], dtype=torch.uint8)).tolist() == [[0.0, 1.0]]
    assert inputs(torch.ones(1, 2)).dtype == torch.float64
    assert inputs(torch.ones(1, 2, dtype=torch.int64)).dtype == torch.int64


def test_the_same_tensor_where_nothing_is_to_be_done():
    x = torch.ones(3, 2)
    assert Inputs(nn.Linear(2, 1))(x) is x


def test_bfloat16_rounds_and_comes_back():
    model = nn.Linear(64, 8)
    x = torch.rand(5, 64)
    exact, rounded = Inputs(model).run(model, x), Inputs(model, "bfloat16").run(model, x)
    assert rounded.dtype == torch.float32
    assert 0 < (exact - rounded).abs().max() < 0.05


def test_sentences():
    with pytest.raises(InputError, match="must have at least one parameter"):
        Inputs(nn.ReLU())
    with pytest.raises(InputError, match="precision must be None or 'bfloat16'"):
        Inputs(nn.Linear(1, 1), "float16")
    model = nn.LSTM(2, 2)
    with pytest.raises(InputError, match="must return one tensor"):
        Inputs(model).run(model, torch.ones(1, 1, 2))
    model = nn.Linear(2, 2)
    with pytest.raises(InputError, match=r"cannot take samples of shape \[n, 3\]: mat1 and mat2"):
        Inputs(model).look(model, torch.ones(4, 3))
