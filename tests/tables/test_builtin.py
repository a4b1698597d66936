import pytest
from sklearn.datasets import load_breast_cancer

from thalweg.core.errors import InputError
from thalweg.tables.builtin import LOADERS, read_builtin


@pytest.mark.parametrize("name", LOADERS)
def test_rows_names_and_labels_agree(name):
    raw = read_builtin(name)
    assert raw.X.shape == (len(raw.y), len(raw.names))
    assert raw.class_names is None or len(set(raw.y)) == len(raw.class_names)


def test_names_are_the_real_ones():
    raw, data = read_builtin("@cancer", "float32"), load_breast_cancer()
    assert raw.names[0] == "mean radius"
    assert raw.class_names == ["malignant", "benign"]
    assert raw.X.dtype == "float32"
    assert (data.data.astype("float32") == raw.X).all()
    assert read_builtin("@digits").sample_shape == (8, 8)


def test_an_unknown_name_suggests_the_nearest():
    with pytest.raises(InputError, match="'@cancre' is no built-in data: did you mean '@cancer'"):
        read_builtin("@cancre")
