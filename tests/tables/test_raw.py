import numpy as np
import polars as pl
import scipy.sparse

from thalweg.tables.raw import Raw


def test_a_frame_is_told_from_numbers():
    assert Raw(pl.DataFrame({"a": [1]}), "CSV").is_frame
    assert not Raw(np.ones((2, 2)), "NPY").is_frame
    assert not Raw(scipy.sparse.csr_array(np.eye(2)), "NPZ").is_frame
