import numpy as np
import pytest

from thalweg.methods.rounding import rounding_of


@pytest.mark.parametrize(("dtype", "eps"), [(np.float32, 2.0**-23), (np.float64, 2.0**-52)])
def test_ten_ulps_of_the_value_as_a_python_float(dtype, eps):
    assert rounding_of(-3.0, np.dtype(dtype)) == 10 * eps * 3.0
    assert type(rounding_of(1.0, np.dtype(dtype))) is float
    assert rounding_of(0.0, np.dtype(dtype)) == 0.0
