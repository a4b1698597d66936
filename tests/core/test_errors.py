import pytest

from thalweg.core.errors import InputError, StorageError, ThalwegError, suggest


def test_the_nearest_known_name_comes_first():
    assert suggest("lbgfs", ["gd", "lbfgs", "bfgs"]).startswith("did you mean 'lbfgs'?")


def test_without_a_near_name_all_are_listed():
    assert suggest("xyz", ["gd", "adam"]) == "Known: adam, gd."


@pytest.mark.parametrize(("error", "builtin"), [(InputError, ValueError), (StorageError, OSError)])
def test_errors_are_also_the_builtin_kind(error, builtin):
    assert issubclass(error, ThalwegError)
    assert issubclass(error, builtin)
