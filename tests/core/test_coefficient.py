import csv
import io

from thalweg.core.coefficient import HEADS, Coefficient, coefficients_csv

AGE = Coefficient("age", "", "", -0.5, -4.5)
BERN = Coefficient("town=Bern", "yes", "Zug", 2.0, None, 0.25)


def test_its_size_is_that_per_deviation_where_it_is_known():
    assert AGE.size == 4.5
    assert BERN.size == 2.0


def test_a_category_says_what_it_is_measured_against():
    assert AGE.name == "age"
    assert BERN.name == "town=Bern against Zug"
    assert BERN._replace(feature="a\x1b").name == "a\\x1b against Zug"


def test_csv_is_read_back_and_computes_nothing():
    heads, *rows = csv.reader(io.StringIO(coefficients_csv([AGE, BERN])))
    assert tuple(heads) == HEADS
    assert rows[0] == ["age", "", "", "-0.5", "-4.5", ""]
    assert rows[1] == ["town=Bern", "yes", "Zug", "2.0", "", "0.25"]
    formula = AGE._replace(feature="=1+1")
    assert "\n'=1+1," in coefficients_csv([formula])
    assert "\n=1+1," in coefficients_csv([formula], raw=True)
