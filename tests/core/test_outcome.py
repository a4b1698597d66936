from thalweg.core.outcome import Outcome


def test_members_are_sentences():
    for outcome in Outcome:
        assert str(outcome)[0].isupper()
        assert str(outcome).endswith(".")
        assert len(str(outcome).split()) >= 4


def test_the_reasons_are_there_and_only_one_succeeds():
    names = {outcome.name for outcome in Outcome}
    assert names == {
        "CONVERGED", "ITERATION_LIMIT", "TIME_LIMIT", "DIVERGED", "NO_MINIMUM", "STALLED",
        "INTERRUPTED", "FINISHED", "EARLY_STOPPED",
    }  # fmt: skip
    assert [outcome for outcome in Outcome if outcome.succeeded] == [Outcome.CONVERGED]


def test_a_training_that_did_what_it_was_asked_is_no_failure():
    planned = [outcome for outcome in Outcome if outcome.is_planned]
    assert planned == [Outcome.FINISHED, Outcome.EARLY_STOPPED]


def test_word_stands_at_the_start_of_a_verdict():
    assert Outcome.ITERATION_LIMIT.word == "ITERATION LIMIT"
