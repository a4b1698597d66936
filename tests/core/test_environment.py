import re

from thalweg.core.environment import environment


def test_it_names_what_a_run_depends_on():
    found = environment()
    assert {"python", "machine", "thalweg", "numpy", "numba", "date"} <= set(found)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", found["date"])


def test_a_record_of_ones_own_each_time():
    environment()["numpy"] = "changed"
    assert environment()["numpy"] != "changed"
