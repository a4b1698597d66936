import lzma

import pytest

from thalweg.core.errors import InputError
from thalweg.tables.svmlight import read_svmlight


def raw(tmp_path, text, **options):
    path = tmp_path / "t.svm"
    path.write_text(text)
    return read_svmlight(path, **options)


def test_by_hand_from_one_and_from_zero(tmp_path):
    ones = raw(tmp_path, "-1 1:2 3:0.5\n+1 2:7 # note\n")
    assert ones.X.toarray().tolist() == [[2, 0, 0.5], [0, 7, 0]]
    assert ones.y.tolist() == [-1, 1]
    assert ones.first_index == 1
    zeros = raw(tmp_path, "-1 0:2 3:0.5\n+1 2:7\n")
    assert zeros.X.toarray().tolist() == [[2, 0, 0, 0.5], [0, 0, 7, 0]]
    assert zeros.first_index == 0


def test_a_known_first_index_holds_for_a_file_that_leaves_it_out(tmp_path):
    assert raw(tmp_path, "1 1:2\n", first_index=0).X.toarray().tolist() == [[0, 2]]
    with pytest.raises(InputError, match="number its features from 1"):
        raw(tmp_path, "1 0:2\n", first_index=1)


def test_compressed(tmp_path):
    path = tmp_path / "t.svm.xz"
    path.write_bytes(lzma.compress(b"1 1:2\n2 1:3\n"))
    assert read_svmlight(path).X.toarray().tolist() == [[2], [3]]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("1,2 1:3\n", "cannot be read as svmlight"),
        ("1 1:x\n", "cannot be read as svmlight"),
        ("1 3:1 2:1\n", "cannot be read as svmlight"),
        ("# nothing\n", "no rows"),
        ("1\n2\n", "not one feature"),
        (
            "1 2000000000:3\n0 1:2\n",
            "must number its columns without such gaps, got 2,000,000,001 of them and 2 numbers",
        ),
    ],
)
def test_bad_lines_are_one_sentence(tmp_path, text, sentence):
    with pytest.raises(InputError, match=sentence):
        raw(tmp_path, text)
