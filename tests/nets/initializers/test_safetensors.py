import json

import pytest
import torch

import thalweg as tw
from thalweg.nets.initializers.safetensors import read_safetensors, safetensors_bytes

KINDS = {
    torch.float64: "F64",
    torch.float32: "F32",
    torch.float16: "F16",
    torch.bfloat16: "BF16",
    torch.int64: "I64",
    torch.bool: "BOOL",
}


def write(path, entries, data, padding=0):
    header = json.dumps(entries).encode() + b" " * padding
    path.write_bytes(len(header).to_bytes(8, "little") + header + data)
    return path


def save(path, tensors, padding=0, **more):
    """A file as the format describes it, tensor after tensor."""
    entries, data = dict(more), b""
    for name, tensor in tensors.items():
        raw = bytes(tensor.contiguous().flatten().view(torch.uint8).tolist())
        kind = KINDS[tensor.dtype]
        offsets = [len(data), len(data) + len(raw)]
        entries[name] = {"dtype": kind, "shape": list(tensor.shape), "data_offsets": offsets}
        data += raw
    return write(path, entries, data, padding)


def test_by_hand(tmp_path):
    # 1.0 and −2.0 in single precision.
    path = write(
        tmp_path / "two.safetensors",
        {"w": {"dtype": "F32", "shape": [1, 2], "data_offsets": [0, 8]}},
        bytes.fromhex("0000803f000000c0"),
    )
    assert read_safetensors(path)["w"].tolist() == [[1.0, -2.0]]


@pytest.mark.parametrize("padding", range(8))
def test_every_type_comes_back_wherever_its_bytes_begin(tmp_path, padding):
    tensors = {
        "flags": torch.tensor([True, False, True]),
        "half": torch.randn(3, generator=torch.Generator().manual_seed(0)).half(),
        "brain": torch.tensor([[1.5], [-3.0]]).bfloat16(),
        "single": torch.arange(6.0).reshape(2, 3),
        "double": torch.tensor(0.1, dtype=torch.float64),
        "count": torch.tensor([7, -1]),
        "nothing": torch.empty(0, 4),
    }
    read = read_safetensors(save(tmp_path / "all.safetensors", tensors, padding))
    assert read.keys() == tensors.keys()
    for name, tensor in tensors.items():
        assert read[name].dtype == tensor.dtype
        assert torch.equal(read[name], tensor)


def test_metadata_is_no_tensor(tmp_path):
    path = save(tmp_path / "m.safetensors", {"w": torch.ones(2)}, __metadata__={"format": "pt"})
    assert list(read_safetensors(path)) == ["w"]


def test_writing_reaches_no_file(tmp_path):
    for padding in range(4):  # one of them aligns the bytes
        path = save(tmp_path / "m.safetensors", {"w": torch.ones(2)}, padding)
        read_safetensors(path)["w"].zero_()
        assert read_safetensors(path)["w"].tolist() == [1.0, 1.0]


ENTRY = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ({"w": {**ENTRY, "data_offsets": [0, 9]}}, r"'w' of shape \[2\] needs 8 bytes"),
        ({"w": {**ENTRY, "data_offsets": [4, 12]}}, "needs 8 bytes, and has 4 to 12"),
        ({"w": {**ENTRY, "data_offsets": [-8, 0]}}, "needs 8 bytes, and has -8 to 0"),
        ({"w": {**ENTRY, "shape": [-2, -1]}}, "needs 8 bytes"),
        ({"w": {**ENTRY, "dtype": "F7"}}, "'w' has an entry that cannot be read"),
        ({"w": 3}, "'w' has an entry that cannot be read"),
        ([1], "its header is no JSON object"),
    ],
)
def test_a_broken_entry_is_named(tmp_path, entries, said):
    path = write(tmp_path / "bad.safetensors", entries, bytes(8))
    with pytest.raises(tw.InputError, match=said):
        read_safetensors(path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "its header would have 0 bytes, and it has 0"),
        (b"\xff" * 20, "its header would have"),
        (b"\x02" + bytes(7) + b"{]", "its header is no JSON"),
    ],
)
def test_another_file_is_refused(tmp_path, content, said):
    path = tmp_path / "other.safetensors"
    path.write_bytes(content)
    with pytest.raises(tw.InputError, match=said):
        read_safetensors(path)


def test_bytes_and_back(tmp_path):
    tensors = {
        "weight": torch.randn(3, 4),
        "half": torch.randn(5).to(torch.bfloat16),
        "turned": torch.arange(6.0).reshape(2, 3).T,
        "count": torch.tensor(7),
        "flags": torch.tensor([True, False, True]),
        "none": torch.empty(0, 2),
    }
    content = safetensors_bytes(tensors)
    (tmp_path / "a.safetensors").write_bytes(content)
    found = read_safetensors(tmp_path / "a.safetensors")
    assert list(found) == list(tensors)
    for name, tensor in tensors.items():
        assert found[name].dtype == tensor.dtype
        assert torch.equal(found[name], tensor)
    assert (int.from_bytes(content[:8], "little") + 8) % 8 == 0


def test_a_type_that_the_format_has_not():
    with pytest.raises(tw.InputError, match=r"got torch\.complex128"):
        safetensors_bytes({"w": torch.zeros(2, dtype=torch.complex128)})
