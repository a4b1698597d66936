import subprocess
import sys

import numpy as np
import pytest
import sklearn.datasets

from thalweg.core.errors import InputError
from thalweg.tables.builtin import BUILTINS, read_builtin

LOADERS = {"@cancer": "breast_cancer"} | {
    f"@{name}": name for name in ("diabetes", "digits", "iris", "wine")
}


@pytest.mark.parametrize("name", BUILTINS)
def test_it_is_what_scikit_learn_loads(name):
    raw, data = read_builtin(name), getattr(sklearn.datasets, f"load_{LOADERS[name]}")()
    np.testing.assert_array_equal(raw.X, data.data)
    np.testing.assert_array_equal(raw.y, data.target)
    assert raw.names == [str(each) for each in data.feature_names]
    expected = [str(each) for each in data.get("target_names", [])]
    assert raw.class_names == (expected or None)
    assert raw.X.flags.c_contiguous


def test_types_and_shapes():
    assert read_builtin("@cancer", "float32").X.dtype == "float32"
    assert read_builtin("@digits").sample_shape == (8, 8)
    assert read_builtin("@iris").sample_shape == ()


def test_without_importing_scikit_learn():
    code = (
        "import sys\nfrom thalweg.tables.builtin import read_builtin\n"
        "read_builtin('@cancer')\nassert 'sklearn' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_unknown_name_suggests_the_nearest():
    with pytest.raises(InputError, match="'@cancre' is no built-in data: did you mean '@cancer'"):
        read_builtin("@cancre")
