import pytest

from thalweg.core.errors import InputError
from thalweg.core.options import name_and_options, name_in


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("plain", ("plain", {})),
        ("a-b[c=1, d='e']", ("a-b", {"c": 1, "d": "e"})),
        (" adam [ lr = 0.1 , ] ", ("adam", {"lr": 0.1})),
        ("a[]", ("a", {})),
        ("adam[betas=(0.9, 0.99), lr=1e-3]", ("adam", {"betas": (0.9, 0.99), "lr": 1e-3})),
        ("a[b=[1, [2, 3]], c={'d': 1, 'e': 2}]", ("a", {"b": [1, [2, 3]], "c": {"d": 1, "e": 2}})),
        ("a[b='x, y', c=\"(\"]", ("a", {"b": "x, y", "c": "("})),
        ("gd[schedule=1/sqrt(t), step=None]", ("gd", {"schedule": "1/sqrt(t)", "step": None})),
        ("sag[sampling=lipschitz]", ("sag", {"sampling": "lipschitz"})),
        ("a[b=f(1, 2)]", ("a", {"b": "f(1, 2)"})),
        ("a[b=1=2]", ("a", {"b": "1=2"})),
        ("a[b=1,\n c=2]", ("a", {"b": 1, "c": 2})),
    ],
)
def test_by_hand(text, found):
    assert name_and_options(text) == found
    assert name_in(text) == found[0]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "a name must read name or name"),
        ("adam[lr=0.1", "a name must read name or name"),
        ("a b", "a name must read name or name"),
        ("adam[lr]", r"options must read name=value, got 'lr' in 'adam\[lr\]'"),
        ("adam[lr=]", "options must read name=value, got 'lr='"),
        ("adam[(0.9, 0.99)]", r"options must read name=value, got '\(0.9, 0.99\)'"),
        ("adam[lr=1, lr=2]", "an option must be given once, got 'lr' twice"),
    ],
)
def test_sentences(text, says):
    with pytest.raises(InputError, match=says):
        name_and_options(text)


def test_what_is_no_name_has_none():
    assert name_in("adam[lr=0.1") is None
    assert name_in("") is None
    assert name_in("adam[lr]") == "adam"
