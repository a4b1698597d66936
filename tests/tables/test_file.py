import bz2
import gzip
import lzma
import os
from pathlib import Path

import pytest

from thalweg.core.errors import InputError
from thalweg.tables import file
from thalweg.tables.budget import Budget
from thalweg.tables.file import compression, head, locate, opened

TEXT = b"a,b\n1,2\n" * 1000


@pytest.mark.parametrize("press", [gzip.compress, lzma.compress, bz2.compress, bytes])
def test_bytes_come_back_whatever_the_name_says(tmp_path, press):
    path = tmp_path / "table"
    path.write_bytes(press(TEXT))
    with opened(path) as stream:
        assert stream.read() == TEXT
    assert head(path) == TEXT
    assert bool(compression(path)) == (press is not bytes)


def test_the_head_holds_whole_lines_however_long(tmp_path, monkeypatch):
    monkeypatch.setattr(file, "HEAD", 30)
    path = tmp_path / "t.csv"
    path.write_bytes(b"".join(b"%d" % k * 20 + b"\n" for k in range(30)))
    assert head(path).count(b"\n") == file.LINES
    assert head(path).endswith(b"\n")


@pytest.mark.parametrize("press", [gzip.compress, lzma.compress, bz2.compress])
def test_what_is_cut_off_is_one_sentence(tmp_path, press):
    path = tmp_path / "table.csv"
    path.write_bytes(press(bytes(range(256)) * 4000)[:-20])
    with (
        pytest.raises(InputError, match=r"table\.csv is cut off or damaged"),
        opened(path) as stream,
    ):
        stream.read()


@pytest.mark.parametrize("press", [gzip.compress, lzma.compress, bz2.compress])
def test_damage_inside_is_one_sentence(tmp_path, press):
    path = tmp_path / "table.csv"
    whole = bytearray(press(TEXT))
    middle = len(whole) // 2
    whole[middle : middle + 10] = b"\xff" * 10
    path.write_bytes(whole)
    with pytest.raises(InputError, match="cut off or damaged"), opened(path) as stream:
        stream.read()


def test_a_path_that_is_not_there_suggests_the_nearest(tmp_path):
    (tmp_path / "train.csv").write_text("a\n1\n")
    with pytest.raises(InputError, match=r"does not exist: did you mean 'train\.csv'"):
        locate(tmp_path / "trian.csv")
    with pytest.raises(InputError, match="there is no folder"):
        locate(tmp_path / "no" / "train.csv")
    assert locate(tmp_path / "train.csv") == tmp_path / "train.csv"
    with pytest.raises(InputError, match="got an empty one"):
        locate("")
    with pytest.raises(InputError, match="no such user"):
        locate("~nobody-of-this-name/train.csv")


def test_a_link_that_leads_nowhere_and_a_pipe(tmp_path):
    (tmp_path / "round.csv").symlink_to("round.csv")
    (tmp_path / "broken.csv").symlink_to("gone.csv")
    with pytest.raises(InputError, match=r"round\.csv is a link to round\.csv, which does not"):
        locate(tmp_path / "round.csv")
    with pytest.raises(InputError, match=r"is a link to gone\.csv, which does not exist"):
        locate(tmp_path / "broken.csv")
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(InputError, match=r"got a pipe or a device.*to a file first"):
        locate(tmp_path / "pipe.csv")


def test_a_file_that_may_not_be_read(tmp_path, monkeypatch):
    path = tmp_path / "secret.csv"
    path.write_text("a\n1\n")

    def refuse(self, *_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(InputError, match=r"permission denied.*chmod u\+r secret\.csv"):
        head(path)


def test_a_folder_and_zstd_are_refused(tmp_path):
    with pytest.raises(InputError, match="is a folder"):
        compression(tmp_path)
    path = tmp_path / "x.npz.zst"
    path.write_bytes(b"\x28\xb5\x2f\xfd....")
    assert head(path) == b""
    with pytest.raises(InputError, match="decompress it first, with zstd -d"), opened(path):
        pass


def test_what_is_decompressed_is_counted(tmp_path):
    path = tmp_path / "t.gz"
    path.write_bytes(gzip.compress(bytes(5000)))
    with opened(path, Budget(5000, True)) as stream:
        assert stream.read() == bytes(5000)
    with opened(path, Budget(4999, True)) as stream, pytest.raises(InputError, match="holds more"):
        stream.read()
