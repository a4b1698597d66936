import numpy as np
import pytest

from thalweg.core.errors import InputError
from thalweg.core.trace import COLUMNS, Trace


def filled(count, **options):
    trace = Trace(**options)
    for t in range(count):
        trace.append(
            iteration=t, passes=2 * t, evaluations=t, seconds=0.1 * t, value=1.0 / (t + 1),
            gradient_norm=2.0**-t, gap=np.nan,
        )  # fmt: skip
    return trace


def test_columns_come_back_as_they_were_written():
    trace = filled(3)
    np.testing.assert_array_equal(trace["iteration"], [0, 1, 2])
    np.testing.assert_array_equal(trace["value"], [1.0, 1 / 2, 1 / 3])
    assert len(trace) == 3
    assert trace.last["gradient_norm"] == 0.25
    assert np.isnan(trace["gap"]).all()


def test_a_column_is_a_copy():
    trace = filled(2)
    trace["value"][0] = 99.0
    assert trace["value"][0] == 1.0


def test_unknown_column_suggests_the_nearest():
    with pytest.raises(InputError, match="no column 'values': did you mean 'value'"):
        filled(1)["values"]


@pytest.mark.parametrize("count", [1, 7, 8, 9, 15, 16, 17, 31, 40, 100, 257])
def test_a_full_trace_keeps_first_last_and_evenly_spaced_rows(count):
    trace = filled(count, limit=8)
    iterations = trace["iteration"]
    assert len(trace) <= 9
    assert iterations[0] == 0
    assert iterations[-1] == count - 1
    np.testing.assert_array_equal(iterations[:-1], np.arange(len(trace) - 1) * trace.stride)
    assert trace.stride == 1 if count <= 8 else trace.stride > 1


def test_csv_holds_every_digit():
    trace = filled(30)
    again = Trace.from_csv(trace.to_csv(), stride=trace.stride)
    np.testing.assert_array_equal(again.rows, trace.rows)
    assert trace.to_csv().splitlines()[0] == ",".join(COLUMNS)
    assert trace.to_csv().splitlines()[1].startswith("0,0,0,0.0,1.0,")


def test_an_empty_trace_survives_csv():
    assert len(Trace.from_csv(Trace().to_csv())) == 0
    assert repr(Trace()) == "Trace(empty)"


def test_text_that_is_no_trace_is_refused():
    with pytest.raises(InputError, match="must begin with the columns"):
        Trace.from_csv("a,b\n1,2\n")


def test_iteration_gives_rows_by_name():
    assert [row["passes"] for row in filled(3)] == [0, 2, 4]


def test_repr_says_what_was_thinned():
    assert "every 8th iteration" in repr(filled(30, limit=8))


def test_extra_columns_stand_after_the_others_and_survive_csv():
    trace = Trace(extra=("rate",))
    trace.append(**dict.fromkeys(COLUMNS, 1.0), rate=0.1)
    again = Trace.from_csv(trace.to_csv())
    assert again.columns == (*COLUMNS, "rate")
    assert again["rate"].tolist() == [0.1]
    assert again.last["rate"] == 0.1
    with pytest.raises(InputError, match="did you mean 'rate'"):
        trace["rates"]
