import pickle
from pathlib import Path

import pytest

from thalweg.core.errors import InputError
from thalweg.tables.format import check_text, recognise, suffix


def told(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    return recognise(path, content)


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("t.csv", b"a b\n1 2\n", "CSV"),
        ("t.CSV", b"a\n1\n", "CSV"),
        ("t.tsv", b"a,b\n", "TSV"),
        ("t", b"a,b\n1,2\n", "CSV"),
        ("t", b"a;b\n1;2\n", "CSV"),
        ("t.txt", b"a\tb\n1\t2\n", "TSV"),
        ("a9a", b"-1 3:1 11:1 14:1 \n", "svmlight"),
        ("t", b"# made by hand\n+1 qid:3 1:0.5 2:1e-3 # first\n", "svmlight"),
        ("t.svm", b"1\n2\n", "svmlight"),
        ("t", b"PAR1....PAR1", "Parquet"),
        ("t", b"PK\x03\x04....", "NPZ"),
        ("t", b"\x93NUMPY\x01\x00", "NPY"),
        ("t", b"\x00\x00\x08\x03\x00\x00", "IDX"),
    ],
)
def test_format_by_signature_name_and_text(tmp_path, name, content, kind):
    assert told(tmp_path, name, content) == (kind, "")


def test_a_signature_outdoes_a_name(tmp_path):
    assert told(tmp_path, "t.csv", b"PAR1....") == (
        "Parquet",
        "t.csv is named as CSV and holds Parquet",
    )


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("t.csv", b"", "is empty"),
        ("t.pkl", b"anything", "is a pickle.*np.savez"),
        ("t.csv", pickle.dumps([1, 2]), "is a pickle"),
        ("t", pickle.dumps({"a": 1}, protocol=2), "is a pickle"),
        ("t.npz", b"a,b\n", "named as NPZ and is not"),
        ("t.parquet", b"a,b\n", "named as Parquet and is not"),
        ("t.csv", b"a\x00b", "is binary"),
        ("t", b"\x01\x02\xff\x00" * 9, "is binary"),
        ("t.png", b"\x89PNG\r\n\x1a\n", "is binary .byte 0x1a at 6. in no known format"),
        ("t.xlsx", b"PK\x03\x04...", "is a spreadsheet: save it there as CSV"),
        ("t.csv", "a,b\n".encode("utf-32"), "UTF-32 text.*iconv -f UTF-32"),
        ("t.csv", "a,é\n1,2\n".encode("latin1"), "not UTF-8.*iconv"),
        ("t.csv", "a,b\n".encode("utf-16"), "UTF-16"),
        ("t", b"\n\n \n", "blank lines"),
        ("t", b"just words\n", "no known format"),
        ("t.npy", b"\x28\xb5\x2f\xfd.", "zstd -d"),
    ],
)
def test_what_is_no_table_is_one_sentence(tmp_path, name, content, sentence):
    with pytest.raises(InputError, match=sentence) as caught:
        told(tmp_path, name, content)
    assert "\n" not in str(caught.value)


def test_a_character_cut_in_two_at_the_end_of_the_head_is_text():
    check_text(Path("t"), "a,é".encode()[:-1])


@pytest.mark.parametrize(
    ("name", "found"), [("a.csv.xz", ".csv"), ("a.csv", ".csv"), ("a.b.NPZ", ".npz"), ("a9a", "")]
)
def test_suffix_is_found_before_compression(name, found):
    assert suffix(Path(name)) == found
