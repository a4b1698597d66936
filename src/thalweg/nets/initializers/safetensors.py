"""Safetensors: eight bytes of length, a JSON header, then the bytes of the tensors.

    N: uint64, little-endian | header: N bytes of JSON | data
    header[name] = {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]}

Offsets count from the beginning of the data. The file is mapped into memory, so that only tensors
that are used are read; nothing in it is ever executed. Writes go nowhere: the mapping is private.
https://github.com/huggingface/safetensors#format
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from thalweg.core.errors import InputError

DTYPES = {
    "F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16,
    "F8_E4M3": torch.float8_e4m3fn, "F8_E5M2": torch.float8_e5m2,
    "I64": torch.int64, "I32": torch.int32, "I16": torch.int16, "I8": torch.int8,
    "U64": torch.uint64, "U32": torch.uint32, "U16": torch.uint16, "U8": torch.uint8,
    "BOOL": torch.bool, "C64": torch.complex64,
}  # fmt: skip
LENGTH = 8  # bytes of N
NAMES = {dtype: name for name, dtype in DTYPES.items()}
ALIGNMENT = 8  # bytes that the data begin at a multiple of


def read_safetensors(path: str | Path) -> dict[str, torch.Tensor]:
    """The tensors of a safetensors file, by name, on the CPU."""
    path = Path(path)
    size = path.stat().st_size
    with path.open("rb") as file:
        length = int.from_bytes(file.read(LENGTH), "little")
        if size < LENGTH or length > size - LENGTH:
            raise _broken(path, f"its header would have {length} bytes, and it has {size}")
        header = file.read(length)
    try:
        entries = json.loads(header)
    except ValueError as problem:
        raise _broken(path, f"its header is no JSON ({problem})") from problem
    if not isinstance(entries, dict):
        raise _broken(path, "its header is no JSON object")
    entries.pop("__metadata__", None)
    start = LENGTH + length
    if not entries or size == start:
        return {name: _tensor(path, name, entry, torch.empty(0)) for name, entry in entries.items()}
    mapped = torch.from_file(str(path), shared=False, size=size, dtype=torch.uint8)
    return {name: _tensor(path, name, entry, mapped[start:]) for name, entry in entries.items()}


def safetensors_bytes(tensors: Mapping[str, torch.Tensor]) -> bytes:
    """What a file of these tensors holds; those that share memory are written each for itself."""
    entries: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    parts, end = [], 0
    for name, tensor in tensors.items():
        if tensor.dtype not in NAMES:
            raise InputError(f"tensors must be of a type that safetensors has, got {tensor.dtype}")
        flat = tensor.detach().cpu().contiguous().reshape(-1)
        parts.append(flat.view(torch.uint8).numpy().tobytes() if flat.numel() else b"")
        begin, end = end, end + len(parts[-1])
        entries[name] = {
            "dtype": NAMES[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [begin, end],
        }
    header = json.dumps(entries, separators=(",", ":")).encode()
    header += b" " * (-len(header) % ALIGNMENT)
    return b"".join([len(header).to_bytes(LENGTH, "little"), header, *parts])


def _tensor(path: Path, name: str, entry: Any, data: torch.Tensor) -> torch.Tensor:
    try:
        dtype, shape = DTYPES[entry["dtype"]], [int(n) for n in entry["shape"]]
        begin, end = (int(n) for n in entry["data_offsets"])
    except (KeyError, TypeError, ValueError) as problem:
        raise _broken(path, f"{name!r} has an entry that cannot be read ({entry})") from problem
    wanted = math.prod(shape) * dtype.itemsize
    if min(shape, default=0) < 0 or not 0 <= begin <= end <= data.numel() or end - begin != wanted:
        raise _broken(
            path, f"{name!r} of shape {shape} needs {wanted} bytes, and has {begin} to {end}"
        )
    if wanted == 0:
        return torch.empty(shape, dtype=dtype)
    part = data[begin:end]
    if part.storage_offset() % dtype.itemsize:
        part = part.clone()  # a view needs aligned bytes, and the format promises none
    return part.view(dtype).reshape(shape)


def _broken(path: Path, why: str) -> InputError:
    return InputError(f"source must be a whole safetensors file, got {str(path)!r}: {why}")
