from thalweg.doctor import causes


def test_every_word_is_in_the_list_once():
    words = [value for name, value in vars(causes).items() if name.isupper() and name != "CAUSES"]
    assert sorted(words) == sorted(causes.CAUSES)
    assert len(set(causes.CAUSES)) == len(causes.CAUSES) == 28
