"""NPY and NPZ: arrays of NumPy, read a block at a time straight into float32 or float64.

An NPZ holds `X` (or `X_train`) and, if any, `y` (or `y_train`), or a CSR matrix as SciPy saves one:
`data`, `indices`, `indptr`, `shape`. Numbers that float32 holds exactly (8 and 16 bit) become that,
so a table of int16 takes twice its size and not four times. Bytes in three or more dimensions are
pixels (`load`). Pickled objects are refused.
"""

from __future__ import annotations

import io
import math
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from tokenize import TokenError
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse

from thalweg.core.errors import InputError
from thalweg.tables.file import compression, opened
from thalweg.tables.format import NPY, NPZ
from thalweg.tables.raw import Raw

BLOCK = 1 << 20  # bytes read at a time
FEATURES, LABELS = ("X", "X_train", "x", "x_train"), ("y", "y_train", "Y", "labels")
SPARSE = ("data", "indices", "indptr", "shape")


def float_type(kinds: Any) -> np.dtype:
    """float32 where it holds every value of these types exactly, else float64."""
    return np.dtype(np.float32 if np.result_type(np.float32, *kinds) == np.float32 else np.float64)


def read_npy(path: Path, dtype: str | None = None) -> Raw:
    """One array: the features, or the features and a column to be named as the target."""
    with opened(path) as stream:
        X, kind = _numbers(path, "its array", stream, dtype)
    return _matrix(path, X, kind, NPY)


def read_npz(path: Path, target: str | None = None, dtype: str | None = None) -> Raw:
    """Features and labels; `target` may name another array of the archive as the labels."""
    with opened(path) as stream:
        content = io.BytesIO(stream.read()) if compression(path) else stream
        try:
            with zipfile.ZipFile(content) as archive:
                return _from_archive(path, archive, target, dtype)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as problem:
            raise InputError(
                f"{path} cannot be read as NPZ ({problem}): it is cut off or damaged, copy or "
                "download it again"
            ) from problem


def fill(stream: BinaryIO, kind: np.dtype, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """The next numbers of a stream, of type `kind`, as an array of `shape` and `dtype`."""
    out = np.empty(math.prod(shape), dtype)
    step = max(1, BLOCK // kind.itemsize)
    for start in range(0, out.size, step):
        wanted = min(step, out.size - start)
        block = stream.read(wanted * kind.itemsize)
        if len(block) < wanted * kind.itemsize:
            raise EOFError(
                f"{out.size} numbers announced, {start + len(block) // kind.itemsize} there"
            )
        out[start : start + wanted] = np.frombuffer(block, kind)
    return out.reshape(shape)


def _from_archive(path: Path, archive: zipfile.ZipFile, target: Any, dtype: str | None) -> Raw:
    held = [name.removesuffix(".npy") for name in archive.namelist() if name.endswith(".npy")]

    def member(name: str, read: Callable) -> Any:
        with archive.open(f"{name}.npy") as stream:
            return read(path, name, stream)

    def numbers(path: Path, name: str, stream: Any) -> tuple[np.ndarray, np.dtype]:
        return _numbers(path, name, stream, dtype)

    features = next((name for name in FEATURES if name in held), None)
    labels = target if target in held else next((name for name in LABELS if name in held), None)
    if features is not None:
        X, kind = member(features, numbers)
        raw = _matrix(path, X, kind, NPZ)
        used = {features}
    elif set(SPARSE) <= set(held):
        raw = Raw(_sparse(path, held, member, numbers), NPZ)
        used = {*SPARSE, "format"}
    else:
        raise InputError(
            f"{path} must hold an array X, or data, indices, indptr and shape, got "
            f"{', '.join(held) or 'none'}: save it with np.savez(file, X=X, y=y)"
        )
    if labels is not None:
        used.add(labels)
        raw.target = labels
        raw.y = member(labels, _anything)
        if raw.y.dtype.kind not in "biufUS":
            raise InputError(
                f"{path} must hold labels that are numbers or text, got {labels} of type "
                f"{raw.y.dtype}: save them as such"
            )
        if raw.y.size == raw.X.shape[0]:
            raw.y = raw.y.ravel()
        if raw.y.shape != (raw.X.shape[0],):
            raise InputError(
                f"{path} must hold one label a row: X has {raw.X.shape[0]} rows and {labels} is "
                f"of shape {raw.y.shape}"
            )
    left = sorted(set(held) - used)
    if left:
        raw.notes.append(f"{path.name} also holds {', '.join(left)}, not read")
    return raw


def _sparse(path: Path, held: list[str], member: Callable, numbers: Callable) -> Any:
    data, _ = member(SPARSE[0], numbers)
    indices, indptr, shape = (member(name, _anything) for name in SPARSE[1:])
    layout = member("format", _anything).item() if "format" in held else b"csr"
    layout = layout.decode() if isinstance(layout, bytes) else layout
    kinds = {"csr": scipy.sparse.csr_array, "csc": scipy.sparse.csc_array}
    try:
        X = kinds[layout]((data, indices, indptr), shape=tuple(int(size) for size in shape))
        X.check_format(full_check=True)
    except (KeyError, TypeError, ValueError, IndexError) as problem:
        raise InputError(
            f"{path} holds no CSR or CSC matrix that fits together ({problem}): "
            "save it with scipy.sparse.save_npz"
        ) from problem
    return X.tocsr()


def _header(path: Path, name: str, stream: Any) -> tuple[tuple[int, ...], bool, np.dtype]:
    try:
        version = np.lib.format.read_magic(stream)
        read = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }[version]
        shape, is_fortran, kind = read(stream)
        if min(shape, default=0) < 0:
            raise ValueError(f"of shape {shape}")
        return shape, is_fortran, kind
    except (ValueError, KeyError, SyntaxError, TokenError) as problem:
        raise InputError(
            f"{path} cannot be read: {name} is no NumPy array ({problem}): it is cut off or damaged"
        ) from problem


def _numbers(path: Path, name: str, stream: Any, dtype: str | None) -> tuple[np.ndarray, np.dtype]:
    """An array as floats, and the type that it had."""
    shape, is_fortran, kind = _header(path, name, stream)
    if kind.kind == "O":
        raise InputError(
            f"{path} holds pickled objects in {name}, which can run any code when opened: "
            "save numbers, with X.astype(float)"
        )
    if kind.kind not in "biuf":
        raise InputError(
            f"{path} must hold numbers, got {name} of type {kind}: "
            "give text columns as CSV or Parquet"
        )
    into = np.dtype(dtype) if dtype else float_type([kind])
    try:
        if is_fortran:
            return np.ascontiguousarray(fill(stream, kind, shape[::-1], into).T), kind
        return fill(stream, kind, shape, into), kind
    except EOFError as problem:
        raise InputError(
            f"{path} is cut off ({name}: {problem}): copy or download it again"
        ) from problem
    except MemoryError as problem:
        raise InputError(
            f"{path} announces {name} of shape {shape}, which does not fit into memory: "
            "it is damaged, or give a part of its rows"
        ) from problem


def _anything(path: Path, name: str, stream: Any) -> np.ndarray:
    """An array of numbers or text."""
    try:
        return np.lib.format.read_array(stream, allow_pickle=False)
    except (ValueError, MemoryError) as problem:
        raise InputError(
            f"{path} cannot be read: {name} is pickled, cut off or damaged ({problem}): "
            "save plain numbers or text"
        ) from problem


def _matrix(path: Path, X: np.ndarray, kind: np.dtype, form: str) -> Raw:
    if X.ndim < 2 or X.shape[0] == 0 or X.size == 0:
        raise InputError(
            f"{path} must hold a matrix of rows and columns, got shape {X.shape}: "
            "one row a sample, X.reshape(-1, 1) for one feature"
        )
    return images(X, kind, form)


def images(X: np.ndarray, kind: np.dtype, form: str) -> Raw:
    """Rows of an array that was of type `kind`; more axes than two are those of images."""
    shape = X.shape[1:] if X.ndim > 2 else ()
    are_pixels = bool(kind == np.uint8 and shape)
    return Raw(X.reshape(len(X), -1), form, sample_shape=shape, are_pixels=are_pixels)
