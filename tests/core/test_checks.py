import numpy as np
import pytest

from thalweg.core.checks import (
    check_callable,
    check_choice,
    check_count,
    check_known,
    check_number,
    check_reals,
    check_vector,
    describe,
)
from thalweg.core.errors import InputError


@pytest.mark.parametrize(
    ("limits", "good", "bad", "condition"),
    [
        ({"above": 0}, 1e-300, 0.0, "above 0"),
        ({"at_least": 0}, 0, -1e-300, "at least 0"),
        ({"below": 1}, 0.999, 1, "below 1"),
        ({"at_most": 1}, 1, 1.001, "at most 1"),
        ({"at_least": 0, "below": 1}, 0.0, 1.0, "in [0, 1)"),
        ({"above": 0, "at_most": 1}, 1.0, 0.0, "in (0, 1]"),
        ({}, -5, float("inf"), "finite"),
        ({}, 0, float("nan"), "finite"),
    ],
)
def test_number_is_held_to_its_limits(limits, good, bad, condition):
    assert check_number("beta", good, **limits) == float(good)
    with pytest.raises(InputError) as caught:
        check_number("beta", bad, **limits, advice="use 0.9")
    assert str(caught.value) == f"beta must be {condition}, got {float(bad)!r}: use 0.9"


@pytest.mark.parametrize("bad", ["0.1", None, True, 1 + 2j, [1.0]])
def test_number_refuses_other_kinds(bad):
    with pytest.raises(InputError, match="lr must be a number above 0, got"):
        check_number("lr", bad, above=0)


def test_numpy_scalars_are_numbers():
    assert check_number("lr", np.float32(0.5)) == 0.5
    assert check_count("memory", np.int64(3)) == 3


@pytest.mark.parametrize("bad", [0, -1, 2.0, "3", True, None])
def test_count_takes_whole_numbers_only(bad):
    with pytest.raises(InputError, match="memory must be a whole number, at least 1, got"):
        check_count("memory", bad)


def test_choice_suggests_the_nearest():
    assert check_choice("schedule", "1/t", ("constant", "1/t")) == "1/t"
    with pytest.raises(InputError, match="did you mean 'constant'"):
        check_choice("schedule", "constnt", ("constant", "1/t"))


def test_names_are_known_or_the_nearest_is_suggested():
    check_known("fit", "argument", {"shuffle": 1}, iter(["shuffle", "epochs"]))
    with pytest.raises(InputError, match="fit has no argument 'shufle': did you mean 'shuffle'"):
        check_known("fit", "argument", {"shufle": 1}, ["shuffle", "epochs"])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_vector_keeps_floats_and_is_a_copy(dtype):
    given = np.array([1, 2], dtype=dtype)
    vector = check_vector("w0", given)
    assert vector.dtype == dtype
    vector[0] = 7
    assert given[0] == 1


def test_integers_become_float64():
    assert check_vector("w0", [1, 2]).dtype == np.float64


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        ([1.0, float("nan")], "w0 must be finite, got nan at position 1"),
        ([float("inf"), 1.0, float("-inf")], "got inf at position 0 and 1 more"),
        ([[1.0, 2.0]], r"w0 must be one-dimensional, got shape \(1, 2\)"),
        ([], "at least one entry"),
        ([1 + 1j], "w0 must hold real numbers, got complex128"),
        (["a"], "w0 must hold real numbers, got <U1"),
        ([None], "w0 must hold real numbers, got object"),
        ([True], "w0 must hold real numbers, got bool"),
        (np.ones(2, dtype=np.float16), "w0 must be float32 or float64, got float16"),
        ([[1.0], [1.0, 2.0]], "w0 must be a vector of numbers"),
        (3.0, r"w0 must be one-dimensional, got shape \(\)"),
    ],
)
def test_vector_refuses_with_a_sentence(bad, says):
    with pytest.raises(InputError, match=says):
        check_vector("w0", bad)


def test_vector_of_the_wrong_length():
    with pytest.raises(InputError, match="w0 must have 2 entries, as the objective has variables"):
        check_vector("w0", [1.0, 2.0, 3.0], dim=2)


def test_callable():
    check_callable("value", abs, signature="of a vector")
    with pytest.raises(InputError, match="value must be a function of a vector, got 3"):
        check_callable("value", 3, signature="of a vector")


def test_describe_is_short():
    assert describe(np.ones((2, 3))) == "an array of shape (2, 3) and dtype float64"
    assert len(describe("x" * 1000)) < 100


def test_a_number_without_limits_is_asked_for_in_order():
    with pytest.raises(InputError, match="angle must be a finite number, got True"):
        check_number("angle", True)


def test_reals_keep_shape_and_precision():
    assert check_reals("box", [[0, 1], [2, 3]]).dtype == np.float64
    assert check_reals("box", np.zeros((2, 3), np.float32)).dtype == np.float32
    assert check_reals("box", np.zeros((2, 3), np.float16)).dtype == np.float64


@pytest.mark.parametrize("wrong", ["ab", [1j, 2], [[1, 2], [3]], None, [["a"]]])
def test_what_is_not_real_is_refused_by_name(wrong):
    with pytest.raises(InputError, match="box must hold real numbers, got"):
        check_reals("box", wrong)
