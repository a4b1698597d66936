import numpy as np
import pytest

import thalweg as tw
from thalweg.objectives.labels import check_labels, check_targets, check_weights

TWO_CLASSES = {
    "ints": ([3, -1, 3, 3], [-1, 3]),
    "floats": ([0.5, 0.0, 0.5, 0.5], [0.0, 0.5]),
    "bools": ([True, False, True, True], [False, True]),
    "text": (["spam", "ham", "spam", "spam"], ["ham", "spam"]),
    "objects": (np.array(["b", "a", "b", "b"], dtype=object), ["a", "b"]),
    "object ints": (np.array([10, 9, 10, 10], dtype=object), [9, 10]),
    "a column": ([[3], [-1], [3], [3]], [-1, 3]),
}


@pytest.mark.parametrize("kind", TWO_CLASSES)
def test_the_second_class_in_order_is_plus_one(kind):
    y, expected = TWO_CLASSES[kind]
    for loss in ("logistic", "squared-hinge"):
        classes, signs = check_labels(y, 4, loss)
        assert classes.tolist() == expected
        assert signs.tolist() == [1.0, -1.0, 1.0, 1.0]
        assert signs.dtype == np.float64


@pytest.mark.parametrize("kind", TWO_CLASSES)
def test_multinomial_labels_count_from_zero_in_order(kind):
    y, expected = TWO_CLASSES[kind]
    classes, codes = check_labels(y, 4, "multinomial")
    assert classes.tolist() == expected
    assert codes.tolist() == [1, 0, 1, 1]
    assert codes.dtype == np.int64


def test_numbers_are_ordered_as_numbers_and_text_as_text():
    assert check_labels([10, 9, 100], 3, "multinomial")[0].tolist() == [9, 10, 100]
    assert check_labels(["10", "9", "100"], 3, "multinomial")[0].tolist() == ["10", "100", "9"]


BAD_LABELS = {
    "mixed kinds": (np.array([1, "a", 2.5], dtype=object), "kind, got float and int and str"),
    "missing among text": (np.array(["a", None, "b"], dtype=object), "got NoneType and str"),
    "NaN among objects": (
        np.array([1.0, np.nan, 2.0], dtype=object),
        "must be finite, got nan at position 1: drop that sample",
    ),
    "one class": ([7, 7, 7], "at least two classes, got only 7: there is nothing to tell apart"),
    "one class of text": (["a", "a", "a"], "at least two classes, got only 'a'"),
    "three classes": (["a", "b", "c"], "two classes for the logistic loss, got 3: use loss='multi"),
    "NaN": ([0.0, np.nan, 1.0], "must be finite, got nan at position 1: drop that sample"),
    "infinity": ([0.0, 1.0, np.inf], "must be finite, got inf at position 2"),
    "complex": ([1j, 2j, 1j], "must hold labels, got complex128"),
    "short": ([0, 1], "must have 3 entries, as X has rows, got 2"),
    "long": ([0, 1, 0, 1], "must have 3 entries, as X has rows, got 4"),
    "two columns": ([[0, 1], [1, 0], [0, 1]], r"one axis, got an array of shape \(3, 2\)"),
    "a number": (1.0, "must have one axis"),
    "nothing": (None, "must have one axis"),
    "ragged": ([[1], [1, 2], [3]], "must have one axis"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_LABELS)
def test_bad_labels_are_refused_with_a_sentence(case):
    y, says = BAD_LABELS[case]
    with pytest.raises(tw.InputError, match=f"^y .*{says}"):
        check_labels(y, 3, "logistic")


@pytest.mark.parametrize("loss", ["logistic", "squared-hinge"])
def test_three_classes_name_the_loss_that_was_asked_for(loss):
    with pytest.raises(tw.InputError, match=f"two classes for the {loss} loss"):
        check_labels([0, 1, 2], 3, loss)


@pytest.mark.parametrize(
    "y", [[1, 2, 3], np.float32([1, 2, 3]), [True, False, True], [[1.0], [2.0], [3.0]]]
)
def test_targets_become_a_fresh_float64_vector(y):
    targets = check_targets(y, 3)
    assert targets.dtype == np.float64
    np.testing.assert_array_equal(targets, np.ravel(y))
    assert not np.shares_memory(targets, y)


def test_float64_targets_are_copied():
    y = np.array([1.0, 2.0])
    check_targets(y, 2)[0] = 99.0
    assert y.tolist() == [1.0, 2.0]


BAD_TARGETS = {
    "text": (["1", "2", "3"], "real numbers for a regression, got <U1"),
    "objects": (np.array([1, 2, None], dtype=object), "real numbers for a regression, got object"),
    "complex": ([1j, 2, 3], "real numbers for a regression, got complex128"),
    "NaN": ([1.0, 2.0, np.nan], "finite, got nan at position 2"),
    "infinity": ([-np.inf, 2.0, 3.0], "finite, got -inf at position 0"),
    "short": ([1.0], "3 entries, as X has rows, got 1"),
    "two columns": (np.zeros((3, 2)), "one axis, got an array of shape"),
}


@pytest.mark.parametrize("case", BAD_TARGETS)
def test_bad_targets_are_refused_with_a_sentence(case):
    y, says = BAD_TARGETS[case]
    with pytest.raises(tw.InputError, match=f"^y must .*{says}"):
        check_targets(y, 3)


def test_without_weights_every_sample_counts_the_same():
    assert check_weights(None, 4).tolist() == [0.25] * 4


@pytest.mark.parametrize("weights", [[1, 0, 3], np.float32([1, 0, 3]), [[1.0], [0.0], [3.0]]])
def test_weights_are_shares_of_their_sum(weights):
    shares = check_weights(weights, 3)
    assert shares.tolist() == [0.25, 0.0, 0.75]
    assert shares.dtype == np.float64


def test_bools_leave_samples_out():
    assert check_weights([True, False, True], 3).tolist() == [0.5, 0.0, 0.5]


def test_weights_are_never_modified():
    weights = np.array([1.0, 3.0])
    check_weights(weights, 2)[0] = 99.0
    assert weights.tolist() == [1.0, 3.0]


BAD_WEIGHTS = {
    "negative": ([1.0, 2.0, -0.5], "not be negative, got -0.5 at position 2: use 0 to leave"),
    "NaN": ([1.0, np.nan, 1.0], "finite, got nan at position 1"),
    "infinity": ([1.0, np.inf, 1.0], "finite, got inf at position 1"),
    "all zero": ([0, 0, 0], "not be all zero: give some sample a weight"),
    "short": ([1.0, 1.0], "3 entries, as X has rows, got 2"),
    "two axes": (np.ones((3, 2)), "one axis, got an array of shape"),
    "a number": (2.0, "one axis"),
    "text": (["1", "2", "3"], "real numbers, got <U1"),
    "objects": (np.array([1, 2, None], dtype=object), "real numbers, got object"),
}


@pytest.mark.parametrize("case", BAD_WEIGHTS)
def test_bad_weights_are_refused_with_a_sentence(case):
    weights, says = BAD_WEIGHTS[case]
    with pytest.raises(tw.InputError, match=f"^sample_weight must .*{says}"):
        check_weights(weights, 3)


def test_weights_whose_sum_overflows_are_weights_like_others():
    np.testing.assert_allclose(check_weights([1e308, 1e308, 2e307], 3), [10 / 22, 10 / 22, 2 / 22])
