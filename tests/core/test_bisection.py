import pytest

from thalweg.core.bisection import last_inside


@pytest.mark.parametrize("edge", [0.0, 1e-9, 0.3, 2.0, 3.999])
def test_it_ends_inside_and_close_to_the_edge(edge):
    found = last_inside(lambda s: s <= edge, 4.0)
    assert edge - 1e-11 <= found <= edge


def test_a_line_that_is_all_inside_is_gone_to_its_end():
    asked = []
    assert last_inside(lambda s: asked.append(s) or True, 4.0) == 4.0
    assert asked == [4.0]
