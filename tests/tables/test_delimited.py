import gzip

import polars as pl
import pytest

from thalweg.core.errors import InputError
from thalweg.tables import delimited
from thalweg.tables.delimited import Writing, read_delimited
from thalweg.tables.file import head


def frame(tmp_path, content, kind="CSV", **options):
    path = tmp_path / "t.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_delimited(path, kind, head(path), Writing(**options))


def test_types_missing_values_and_names(tmp_path):
    raw = frame(tmp_path, 'n,x,flag,word\n1,0.5,true,a\n2,NA,false,"b,c"\n3,?,true,\n')
    assert raw.X.columns == ["n", "x", "flag", "word"]
    assert raw.X.dtypes == [pl.Float64, pl.Float64, pl.Boolean, pl.String]
    assert raw.X.null_count().row(0) == (0, 2, 0, 1)
    assert raw.X["word"].to_list() == ["a", "b,c", None]
    assert raw.notes == []


@pytest.mark.parametrize("separator", [",", ";", "|", "\t"])
def test_separator_is_found(tmp_path, separator):
    kind = "TSV" if separator == "\t" else "CSV"
    raw = frame(tmp_path, "a,b\n1,2\n".replace(",", separator), kind)
    assert raw.X.to_dicts() == [{"a": 1.0, "b": 2.0}]
    assert raw.notes == ([f"columns are separated by {separator!r}"] if separator in ";|" else [])


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("1,5;2,25\n2,5;3,25\n", 2),
        ("a;b;x,y\n1,5;2024-01-31;gold\n2,5;2024-02-01;tin\n", 3),
        ("a;b,c\nx;1,2\ny;3,4\n", 2),
        ("a,b\n1,x;y\n2,z;w\n", 2),
    ],
)
def test_of_two_separators_that_are_as_regular_one_leaves_the_other_in_numbers(
    tmp_path, text, columns
):
    assert frame(tmp_path, text).X.width == columns


def test_numbers_alone_in_the_first_line_are_data(tmp_path):
    raw = frame(tmp_path, "1,2\n3,4\n")
    assert raw.X.to_dict(as_series=False) == {"x0": [1.0, 3.0], "x1": [2.0, 4.0]}
    assert "taken as data" in raw.notes[0]
    assert frame(tmp_path, "1,2\n3,4\n", header=True).X.columns == ["1", "2"]
    assert frame(tmp_path, "a,b\nc,d\n", header=False).X.height == 2


@pytest.mark.parametrize("late", ["2.5", "x"])
def test_a_column_that_changes_after_the_head_is_read_as_what_it_is(tmp_path, monkeypatch, late):
    text = "a,b\n" + "1,2\n" * 100 + f"{late},3\n"
    path = tmp_path / "t.csv"
    path.write_text(text)
    monkeypatch.setattr(delimited, "HEAD", 40)
    found = read_delimited(path, "CSV", text.encode()[:40]).X["a"]
    assert found.dtype == (pl.Float64 if late == "2.5" else pl.String)
    assert str(found[-1]) == late
    assert len(found) == 101


def test_texts_that_stand_for_missing_and_columns_that_stay_text(tmp_path):
    assert frame(tmp_path, "a\n1\n-\n", missing=("-",)).X["a"].to_list() == [1.0, None]
    assert frame(tmp_path, "a,b\n1,1\n2,2\n", text=("b", "c")).X.dtypes == [
        pl.Float64,
        pl.String,
    ]


def test_byte_order_mark_blank_names_and_line_ends(tmp_path):
    raw = frame(tmp_path, "\ufeff,b \r\n1,2\r\n")
    assert raw.X.to_dicts() == [{"x0": 1.0, "b": 2.0}]


@pytest.mark.parametrize("press", [gzip.compress, None])
def test_compressed_by_gzip_and_zstd(tmp_path, press):
    path = tmp_path / "t.csv.zst"
    if press:
        path.write_bytes(press(b"a,b\n1,x\n"))
    else:
        pl.DataFrame({"a": [1.0], "b": ["x"]}).write_csv(path, compression="zstd")
    assert read_delimited(path, "CSV", head(path)).X.to_dicts() == [{"a": 1.0, "b": "x"}]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a,b\n", "a header and no rows: 2 columns"),
        ("a,b", "a header and no rows"),
        ("a,b,a\n1,2,3\n", "name every column once, got 'a' 2 times"),
        ("a,b\n1,2,3\n", "2 fields in every line"),
        ("\n\n", "holds blank lines alone"),
        ("a,b\r1,2\r", r"got \\r alone: convert it, with tr"),
        ("x" * 300_000, "field larger than field limit"),
        ("a," * 200_000 + "b\n", "name every column once, got 'a' 200000 times"),
        ("a,b\n" + "1,2\n" * 100_000 + "é,3\n".encode("latin1").decode("latin1"), None),
    ],
)
def test_bad_tables_are_one_sentence(tmp_path, text, sentence):
    if sentence is None:
        text, sentence = text.encode("latin1"), "not UTF-8"
    with pytest.raises(InputError, match=sentence):
        frame(tmp_path, text)


def test_cut_zstd_is_one_sentence(tmp_path):
    path = tmp_path / "t.csv.zst"
    pl.DataFrame({"a": list(range(10_000))}).write_csv(path, compression="zstd")
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(InputError, match=r"t\.csv\.zst"):
        read_delimited(path, "CSV", b"")


def test_a_head_that_ends_in_no_character_is_one_sentence(tmp_path):
    with pytest.raises(InputError, match="not UTF-8"):
        frame(tmp_path, b"a,b\xff\n")


def test_a_first_line_longer_than_the_head(tmp_path):
    names = [f"column{j}" for j in range(30_000)]
    lines = [",".join(names), ",".join(["1"] * 30_000), ",".join(["2"] * 30_000)]
    raw = frame(tmp_path, "\n".join(lines))
    assert raw.X.columns == names
    assert set(raw.X.dtypes) == {pl.Float64}
    with pytest.raises(InputError, match="a header and no rows: 30000 columns"):
        frame(tmp_path, lines[0])


@pytest.mark.parametrize(
    "name", ["data[1].csv", "q?.csv", "all*.csv", "dir[1]/ok.csv", "{a,b}.csv"]
)
def test_a_name_is_no_pattern(tmp_path, name):
    for other in ("data1.csv", "qa.csv", "all1.csv", "dir1/ok.csv", "a.csv", name):
        (tmp_path / other).parent.mkdir(exist_ok=True)
        (tmp_path / other).write_text("a,b\n9,9\n" if other != name else "a,b\n1,2\n")
    raw = read_delimited(tmp_path / name, "CSV", head(tmp_path / name))
    assert raw.X.to_dicts() == [{"a": 1.0, "b": 2.0}]


def test_text_that_looks_like_numbers_keeps_its_spelling_where_types_change_late(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(delimited, "HEAD", 40)
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "1,1.50\n" * 100 + "x,1.50\n")
    raw = read_delimited(path, "CSV", path.read_bytes()[:40], Writing(text=("b",)))
    assert set(raw.X["b"].to_list()) == {"1.50"}
