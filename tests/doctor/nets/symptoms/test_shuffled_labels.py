from records import STUCK, facts_of
from thalweg.doctor.nets.symptoms.shuffled_labels import shuffled_labels


def test_labels_that_moved():
    (finding,) = shuffled_labels(facts_of(batch_moved=0.7))
    assert "same permutation" in finding.advice
    assert shuffled_labels(facts_of(batch_moved=0.1)) == []


def test_augmentation_that_relabels():
    torn = {"batch_skill": 0.5, "data_neighbours": 0.9}
    (finding,) = shuffled_labels(facts_of(**STUCK, **torn))
    assert "augmentation" in finding.cause.lower()
    assert shuffled_labels(facts_of(**torn)) == []  # it learns all the same


def test_training_labels_that_nothing_can_tell():
    (finding,) = shuffled_labels(facts_of(data_signal=0.05))
    assert finding.limit == 3 * 0.03
    assert shuffled_labels(facts_of(data_signal=0.1)) == []
    assert shuffled_labels(facts_of(data_signal=0.05, data_signal_validation=0.3)) == []


def test_a_rare_class_hides_the_signal():
    rare = {"data_smallest_share": 0.03, "data_classes": 2.0}
    assert shuffled_labels(facts_of(data_signal=0.0, **rare)) == []
