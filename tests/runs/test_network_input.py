import numpy as np
import pytest
import scipy.sparse
import torch

from thalweg.core.errors import InputError
from thalweg.runs.network_input import Shape, input_shape, samples
from thalweg.tables.column import Column
from thalweg.tables.encoding import Encoding

X = np.arange(12.0).reshape(3, 4)
COLUMNS = tuple(Column(f"x{j}") for j in range(4))


def test_images_have_a_channel():
    x = torch.arange(12.0).reshape(3, 1, 2, 2)
    assert torch.equal(Shape((1, 2, 2))(x.reshape(3, 4)), x)
    assert torch.equal(Shape((1, 2, 2))(x), x)
    assert input_shape(Encoding(COLUMNS, sample_shape=(2, 2))) == (1, 2, 2)
    assert input_shape(Encoding(COLUMNS, sample_shape=(4, 1, 1))) == (4, 1, 1)
    assert input_shape(Encoding(COLUMNS)) == (4,)


def test_sparse_rows_become_dense_ones():
    assert torch.equal(samples(scipy.sparse.csr_array(X)), samples(X))


def test_memory_that_is_read_only_is_left_alone():
    kept = X.astype(np.float32)
    kept.flags.writeable = False
    samples(kept)[0, 0] = 7.0
    assert kept[0, 0] == 0.0


def test_numbers_beyond_float32_are_refused():
    with pytest.raises(InputError, match=r"finite in float32.* in row 1"):
        samples(X * np.array([[1.0], [1e39], [1.0]]))
