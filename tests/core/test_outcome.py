from thalweg.core.outcome import Outcome


def test_members_are_sentences():
    for outcome in Outcome:
        assert str(outcome)[0].isupper()
        assert str(outcome).endswith(".")
        assert len(str(outcome).split()) >= 4


def test_the_six_reasons_are_there_and_only_one_succeeds():
    names = {outcome.name for outcome in Outcome}
    assert names == {
        "CONVERGED", "ITERATION_LIMIT", "TIME_LIMIT", "DIVERGED", "STALLED", "INTERRUPTED",
    }  # fmt: skip
    assert [outcome for outcome in Outcome if outcome.succeeded] == [Outcome.CONVERGED]


def test_word_stands_at_the_start_of_a_verdict():
    assert Outcome.ITERATION_LIMIT.word == "ITERATION LIMIT"
