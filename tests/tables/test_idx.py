import gzip
import struct

import numpy as np
import pytest

from thalweg.core.errors import InputError
from thalweg.tables.idx import images_in, read_idx

IMAGES = np.arange(24, dtype=np.uint8).reshape(4, 3, 2)
LABELS = np.array([3, 1, 3, 0], np.uint8)


def idx(values, code=8):
    return (
        bytes([0, 0, code, values.ndim])
        + struct.pack(f">{values.ndim}I", *values.shape)
        + values.tobytes()
    )


def folder(tmp_path, labels=LABELS):
    (tmp_path / "train-images-idx3-ubyte.gz").write_bytes(gzip.compress(idx(IMAGES)))
    (tmp_path / "t10k-images-idx3-ubyte").write_bytes(idx(IMAGES[:1]))
    if labels is not None:
        (tmp_path / "train-labels-idx1-ubyte").write_bytes(idx(labels))
    return tmp_path


def test_a_folder_is_its_training_images_with_their_labels(tmp_path):
    raw = read_idx(images_in(folder(tmp_path)))
    np.testing.assert_array_equal(raw.X, IMAGES.reshape(4, 6))
    assert raw.X.dtype == np.float32
    assert raw.y.tolist() == [3, 1, 3, 0]
    assert raw.sample_shape == (3, 2)


def test_a_file_of_images_may_stand_alone(tmp_path):
    raw = read_idx(folder(tmp_path) / "t10k-images-idx3-ubyte")
    assert raw.y is None
    assert raw.notes == ["no file of labels beside t10k-images-idx3-ubyte"]


def test_big_endian_numbers(tmp_path):
    values = np.array([[1.5, -2.0]], ">f4")
    (tmp_path / "images").write_bytes(idx(values, 13))
    assert read_idx(tmp_path / "images").X.tolist() == [[1.5, -2.0]]


def test_bad_files_are_one_sentence(tmp_path):
    with pytest.raises(InputError, match=r"one label an image: .* has 4 images"):
        read_idx(images_in(folder(tmp_path, np.zeros(3, np.uint8))))
    with pytest.raises(InputError, match="got shape"):
        read_idx(tmp_path / "train-labels-idx1-ubyte")
    path = tmp_path / "images"
    for content, sentence in [
        (b"\x00\x00\x07\x01....", "begin as an IDX file"),
        (idx(IMAGES)[:-1], "24 numbers announced, 23 there"),
        (idx(IMAGES)[:6], "sizes are not complete"),
        (b"\x00\x00\x08\x04" + b"\xff" * 16, "does not fit into memory"),
    ]:
        path.write_bytes(content)
        with pytest.raises(InputError, match=sentence):
            read_idx(path)


def test_a_folder_without_images_is_one_sentence(tmp_path):
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(InputError, match=r"a folder without IDX files.*notes\.txt"):
        images_in(tmp_path)


def test_bytes_after_the_numbers_are_refused(tmp_path):
    path = tmp_path / "images"
    path.write_bytes(b"\0\0\x08\x02" + struct.pack(">2I", 1, 2) + b"ab" + b"c")
    with pytest.raises(InputError, match="goes on after the 2 numbers that it announces"):
        read_idx(path)
