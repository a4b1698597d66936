import re

import numpy as np
import pytest

import thalweg as tw
from thalweg.core.errors import InputError
from thalweg.tables.load import load
from thalweg.tables.notation import ALL, PLAIN, Notation, is_number


def read(tmp_path, content, **options):
    (tmp_path / "t.csv").write_text(content, encoding="utf-8")
    return tw.read(tmp_path / "t.csv", **options)


@pytest.mark.parametrize(
    ("text", "numbers", "said"),
    [
        ("a,b\n1, 2\n3, 4\n", [[1, 2], [3, 4]], "around the values of 'b'"),
        ("a;b\n1,5;2,25\n-3;,5\n", [[1.5, 2.25], [-3, 0.5]], "'1,5' being 1.5"),
        ("1,5;2,25\n2,5;3,25\n", [[1.5, 2.25], [2.5, 3.25]], "separated by ';'"),
        ('a,b\n"1,234,567",1\n"12",2\n', [[1234567, 1], [12, 2]], "being 1234567"),
        ('a,b\n"1,234.5",1\n"1,000",2\n', [[1234.5, 1], [1000, 2]], "being 1000"),
        ("a;b\n1.234,5;1\n1.000;2\n", [[1234.5, 1], [1000, 2]], "being 1234.5"),
        ("a;b\n1 234;1\n12 345,5;2\n", [[1234, 1], [12345.5, 2]], "being 1234"),
        ("a;b\n1'234;1\n10;2\n", [[1234, 1], [10, 2]], "being 1234"),
        ("a;b\n\u22125;1\n10;2\n", [[-5, 1], [10, 2]], "'a'"),
        ("a,b\n1, true\n2, false\n", [[1, 1], [2, 0]], "around the values of 'b'"),
    ],
)
def test_numbers_are_read_as_numbers_with_a_note(tmp_path, text, numbers, said):
    table = read(tmp_path, text)
    np.testing.assert_array_equal(table.X, numbers)
    assert any(said in note for note in table.notes), table.notes


def test_missing_values_beside_blanks_are_missing(tmp_path):
    table = read(tmp_path, "a,b\n1, 2.5 \n3, NA\n5,  \n7, 4\n", impute="mean")
    assert table.X[:, 1].tolist() == [2.5, 3.25, 3.25, 4]


DOUBTFUL = {
    "comma": ('a,b\n"1,234",1\n"5,678",2\n', r"'1,234', which may be 1.234 \(decimal=','\) or 1234 "
              r"\(thousands=','\)"),
    "point beside commas": ("a;b\n1,5;1.234\n2,5;5.678\n", r"'1.234', which may be 1.234 "
                            r"\(decimal='.'\) or 1234 \(thousands='.'\), as 'a' has decimal"),
    "two notations": ('a,b\n"1,5",1\n2.5,2\n', "must write its numbers in one notation, got"),
    "infinite": ("a,b\n-Infinity,1\n2.5,2\n", "'a' must be finite, got 1 infinite value"),
    "quantities and a word": ("a,b\n1.5,1\n2.5,2\n-,3\n", r"missing=\['-'\].*text=\['a'\]"),
}  # fmt: skip


@pytest.mark.parametrize("case", DOUBTFUL)
def test_what_may_mean_two_things_is_refused_unless_it_is_dropped(tmp_path, case):
    text, sentence = DOUBTFUL[case]
    with pytest.raises(InputError, match=sentence) as caught:
        read(tmp_path, text)
    assert "\n" not in str(caught.value)
    if case != "infinite":
        name = "b" if case == "point beside commas" else "a"
        assert read(tmp_path, text, drop=[name]).X.shape[1] == 1
        kept = read(tmp_path, text, text=[name])
        assert kept.encoding.columns["ab".index(name)].kind == "text"


@pytest.mark.parametrize(
    ("case", "options", "numbers"),
    [
        ("comma", {"decimal": ","}, [1.234, 5.678]),
        ("comma", {"thousands": ","}, [1234, 5678]),
        ("comma", {"decimal": "."}, [1234, 5678]),
        ("quantities and a word", {"missing": ["-"], "impute": "mean"}, [1.5, 2.5, 2.0]),
    ],
)
def test_options_settle_it(tmp_path, case, options, numbers):
    assert read(tmp_path, DOUBTFUL[case][0], **options).X[:, 0].tolist() == numbers


def test_another_column_tells_what_one_leaves_open(tmp_path):
    assert read(tmp_path, "a;b\n1,234;2,5\n5,678;1\n").X[:, 0].tolist() == [1.234, 5.678]
    table = read(tmp_path, 'a;b\n1,234;"1,234,567.5"\n5,678;1\n')
    assert table.X[:, 0].tolist() == [1234, 5678]
    with pytest.raises(InputError, match="'1,234', which may be"):  # 1 234 shows no decimals
        read(tmp_path, "a;b\n1,234;1 234\n5,678;1\n")
    assert read(tmp_path, "a;b\n0,234;1\n5,678;2\n").X[:, 0].tolist() == [0.234, 5.678]


@pytest.mark.parametrize(
    ("options", "b"), [({"decimal": ","}, [1234, 5678]), ({"thousands": "."}, [1234, 5678])]
)
def test_options_hold_for_the_whole_file(tmp_path, options, b):
    table = read(tmp_path, DOUBTFUL["point beside commas"][0], **options)
    np.testing.assert_array_equal(table.X, np.column_stack([[1.5, 2.5], b]))


def test_an_option_that_the_file_contradicts_is_a_sentence(tmp_path):
    with pytest.raises(InputError, match=r"with decimal='\.', as was asked for, got '1,5'"):
        read(tmp_path, "a;b\n1,5;1\n2,25;2\n", decimal=".")
    with pytest.raises(InputError, match="thousands must differ from decimal"):
        read(tmp_path, "a\n1\n", decimal=",", thousands=",")
    with pytest.raises(InputError, match="decimal must be a known name"):
        read(tmp_path, "a\n1\n", decimal="x")


def test_later_files_are_read_as_the_first_was_found_to_be_written(tmp_path):
    encoding = read(tmp_path, "a;b\n1,5;1\n2,25;2\n").encoding
    encoding = tw.Encoding.from_dict(encoding.to_dict())
    (tmp_path / "later.csv").write_text("a;b\n1,234;3\n")
    assert encoding.apply(tmp_path / "later.csv").tolist() == [[1.234, 3]]


def test_names_of_categories_may_be_numbers(tmp_path):
    table = read(tmp_path, "floor,b\n1,1\n2,2\nB,3\n1,4\n", sparse=False)
    assert table.feature_names == ["floor=1", "floor=2", "floor=B", "b"]
    assert "'floor' holds numbers and text ('B') and was taken as categories" in table.notes
    table = read(tmp_path, "code,b\n01,1\n02,2\n", text=["code"], sparse=False)
    assert table.feature_names == ["code=01", "code=02", "b"]


@pytest.mark.parametrize("text", ["abc", "1.2.3", "12.05.2020", "1,2,3", "", "-", "e5", "0x1F"])
def test_what_is_no_number_in_any_notation(text):
    assert not is_number(text)


@pytest.mark.parametrize("notation", ALL)
def test_every_notation_reads_what_it_writes(notation):
    import polars as pl

    values = [0.0, 1.5, -1234.25, 1234567.0, 12.0]
    texts = [
        f"{v:,.3f}".translate(str.maketrans({",": notation.thousands, ".": notation.decimal}))
        for v in values
    ]
    series = pl.Series(texts)
    assert series.str.contains(notation.pattern).all()
    assert notation.numbers(series).to_list() == values


def test_plain_numbers_are_those_of_python():
    assert Notation() == PLAIN
    for text in ("1", "+1", "-1.5", ".5", "5.", "1e5", "1E-05", "inf", "-Infinity"):
        assert is_number(text)
        float(text)


@pytest.mark.parametrize("seed", range(60))
def test_numbers_in_a_notation_are_read_as_written_or_in_doubt(tmp_path, seed):
    rng = np.random.default_rng(seed)
    notation = ALL[seed % len(ALL)]
    marks = str.maketrans({",": notation.thousands, ".": notation.decimal})
    columns = {}
    for name in "ab":
        digits, size = int(rng.integers(0, 5)), 10.0 ** rng.integers(0, 7)
        columns[name] = [f"{v:,.{digits}f}" for v in rng.normal(size=8) * size]
    lines = zip(*columns.values(), strict=True)
    text = "a;b\n" + "".join(";".join(line).translate(marks) + "\n" for line in lines)
    (tmp_path / "t.csv").write_text(text)
    raw = load(tmp_path / "t.csv")
    for name, texts in columns.items():
        truth = [float(each.replace(",", "")) for each in texts]
        # Points that group thousands, in a file that shows nothing else, are decimals to all.
        looks_plain = all(PLAIN_TEXT.fullmatch(each.translate(marks)) for each in texts)
        shown = raw.decimal or "."
        if name not in raw.doubts and not (looks_plain and notation.decimal != shown):
            assert raw.X[name].to_list() == truth, text


PLAIN_TEXT = re.compile(r"-?\d+(\.\d*)?")
