"""Folds: asked of any splitter, metadata to whom it belongs, and what they predicted."""

import numpy as np
import pytest
import sklearn
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold

import thalweg as tw
from thalweg.estimators.folds import Fold, Metadata, folds_of, out_of_fold, routed

NOTHING = Metadata({}, {})
X, y = np.zeros((6, 1)), np.array([0, 0, 0, 1, 1, 1])


def test_a_number_is_so_many_folds_stratified_for_classes():
    for is_classifier, kind in ((False, KFold), (True, StratifiedKFold)):
        folds = folds_of(3, X, y, NOTHING, is_classifier=is_classifier)
        slow = list(kind(3).split(X, y))
        for fold, (train, test) in zip(folds, slow, strict=True):
            np.testing.assert_array_equal(fold.train, train)
            np.testing.assert_array_equal(fold.test, test)


def test_masks_and_lists_are_rows_too():
    mask = np.array([True] * 4 + [False] * 2)
    (fold,) = folds_of([(mask, [4, 5])], X, y, NOTHING)
    assert fold.train.tolist() == [0, 1, 2, 3]
    assert fold.test.tolist() == [4, 5]


def test_folds_without_rows_are_refused():
    with pytest.raises(tw.InputError, match="got none: use cv=5"):
        folds_of([], X, y, NOTHING)
    with pytest.raises(tw.InputError, match="got fold 1 with 6 and 0"):
        folds_of([([0], [1]), (range(6), np.array([], dtype=int))], X, y, NOTHING)


def test_metadata_goes_to_who_asked_for_it():
    s, groups = np.ones(6), np.arange(6) // 2
    model = tw.RidgeCV(cv=GroupKFold(3))
    assert routed(model, s, {}).for_score == {"sample_weight": s}
    with pytest.raises(ValueError, match="groups"):
        routed(model, None, {"groups": groups})
    with sklearn.config_context(enable_metadata_routing=True):
        sent = routed(model, None, {"groups": groups})
        assert sent.for_split == {"groups": groups}
        folds = folds_of(model.cv, X, y, sent)
    assert sorted(fold.test.tolist() for fold in folds) == [[0, 1], [2, 3], [4, 5]]


def test_out_of_fold_is_the_mean_of_what_was_predicted_and_nan_where_nothing_was():
    folds = [Fold(np.arange(3), np.array(test)) for test in ([0, 1], [1, 2])]
    found = out_of_fold(4, folds, [np.array([1.0, 2.0]), np.array([4.0, 5.0])])
    np.testing.assert_array_equal(found, [1.0, 3.0, 5.0, np.nan])
