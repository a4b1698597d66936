import numpy as np
import polars as pl
import pytest

from thalweg.core.errors import InputError
from thalweg.tables.target import Target, later_values, learn_target, target_values


def test_text_and_flags_are_classes_in_order():
    values = target_values(pl.Series("t", ["no", "yes", "no"]))
    target, y, note = learn_target("t", values)
    assert (target.classes, y.tolist(), note) == (("no", "yes"), [0, 1, 0], "")
    target, y, _ = learn_target("t", target_values(pl.Series("t", [True, False])))
    assert (target.classes, y.tolist()) == (("False", "True"), [1, 0])
    target, y, _ = learn_target("t", np.array(["b", "a", "b"]))
    assert (target.classes, y.tolist()) == (("a", "b"), [1, 0, 1])


def test_few_whole_numbers_are_classes_and_others_are_not():
    target, y, note = learn_target("t", np.array([3.0, 1.0, 7.0]))
    assert (target.classes, y.tolist()) == (("1", "3", "7"), [1, 0, 2])
    assert note == "target 't' has 3 whole values and was taken as classes"
    assert learn_target("t", np.array([-1, 1]))[2] == ""
    for values in (np.array([0.5, 1.0]), np.arange(21)):
        target, y, _ = learn_target("t", values)
        assert (target.classes, y.dtype) == ((), np.float64)
    late = np.append(np.zeros(2000), 0.5)
    assert learn_target("t", late)[0].classes == ()


def test_the_task_decides():
    assert learn_target("t", np.array([1, 2, 3]), "regression")[0].classes == ()
    many = np.repeat(np.arange(30), 3)
    assert len(learn_target("t", many, "classification")[0].classes) == 30
    with pytest.raises(InputError, match="must hold numbers for a regression, got 'a'"):
        learn_target("t", np.array(["a", "b"]), "regression")
    with pytest.raises(InputError, match="did you mean 'regression'"):
        learn_target("t", np.array([1, 2]), "regresion")


def test_named_classes_keep_how_the_source_writes_them():
    target, y, _ = learn_target("t", np.array([0, 1, 1]), None, ["bad", "good"])
    assert (target.classes, target.labels) == (("bad", "good"), ("0", "1"))
    assert target.encode(np.array([1.0, 0.0]))[0].tolist() == [1, 0]
    assert y.tolist() == [0, 1, 1]


def test_later_values_that_are_new_or_missing():
    target = Target("t", ("no", "yes"))
    y, note = later_values(target, pl.Series("t", ["yes", "maybe", None]))
    assert y.tolist() == [1, -1, -1]
    assert note.startswith("2 rows have a class")
    y, _ = later_values(Target("t"), pl.Series("t", [1.5, None]))
    assert y[0] == 1.5
    assert np.isnan(y[1])
    assert later_values(target, pl.Series("t", [None]))[0] is None
    with pytest.raises(InputError, match="must hold numbers, as at first, got 'x'"):
        later_values(Target("t"), pl.Series("t", ["x"]))


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        (np.array(["a", "a"]), "two values at least, got a in every row"),
        (np.array([2.0, 2.0]), "got 2 in every row"),
        (np.array([0.5, 0.5]), "got 0.5 in every row"),
        (np.array([f"id{k}" for k in range(30)]), "classes that repeat, got 30 in 30 rows"),
        (np.array([0.5, np.inf]), "must be finite"),
    ],
)
def test_nothing_to_learn_is_one_sentence(values, sentence):
    with pytest.raises(InputError, match=sentence):
        learn_target("t", values)


@pytest.mark.parametrize("task", [None, "classification", "regression"])
def test_an_infinite_label_is_no_class(task):
    with pytest.raises(InputError, match="target 't' must be finite"):
        learn_target("t", np.array([0.0, 1.0, np.inf, 1.0]), task)
