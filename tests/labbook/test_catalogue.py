import pytest

import thalweg as tw
from thalweg.cli import completion
from thalweg.labbook.catalogue import LECTURES, NAMES, READING, SECTIONS, labs


def test_names_are_found_and_misspelt_ones_suggested():
    assert tw.lab("gd-rate").name == "gd-rate"
    assert isinstance(tw.lab("gd-rate"), tw.Lab)
    with pytest.raises(tw.InputError, match="got 'gd-rat': did you mean 'gd-rate'"):
        tw.lab("gd-rat")


def test_each_has_one_place_and_a_lecture():
    assert len(set(NAMES)) == len(NAMES) == sum(map(len, SECTIONS.values())) == 55
    assert set(completion.LABS) == set(NAMES)
    assert list(READING) == list(LECTURES)


@pytest.mark.parametrize("letter", LECTURES)
def test_the_reading_order_has_all_labs_of_the_lecture(letter):
    from_it = {each.name for each in labs() if letter in each.lectures}
    assert set(READING[letter]) == from_it
    assert len(READING[letter]) == len(from_it)
