"""NPY and NPZ: arrays of NumPy, read a block at a time straight into float32 or float64.

An NPZ holds `X` (or `X_train`) and, if any, `y` (or `y_train`), or a CSR matrix as SciPy saves one:
`data`, `indices`, `indptr`, `shape`. Numbers that float32 holds exactly (8 and 16 bit) become that,
so a table of int16 takes twice its size and not four times. Bytes in three or more dimensions are
pixels (`load`). Pickled objects are refused.
"""

from __future__ import annotations

import io
import lzma
import math
import struct
import warnings
import zipfile
import zlib
from pathlib import Path
from tokenize import TokenError
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import scipy.sparse

from thalweg.core.errors import InputError
from thalweg.core.text import one_line
from thalweg.tables.budget import Budget, budget_of
from thalweg.tables.file import compression, opened
from thalweg.tables.format import NPY, NPZ
from thalweg.tables.raw import Raw

BLOCK = 1 << 20  # bytes read at a time
FEATURES, LABELS = ("X", "X_train", "x", "x_train"), ("y", "y_train", "Y", "labels")
SPARSE = ("data", "indices", "indptr", "shape")
ENCRYPTED = 0x1  # the bit of a zip's member
Header = tuple[tuple[int, ...], bool, np.dtype]  # shape, whether columns come first, type

_DAMAGE = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, NotImplementedError,
    RuntimeError, ValueError, OverflowError,
)  # fmt: skip
_BAD_HEADER = (
    ValueError, KeyError, TypeError, SyntaxError, TokenError, RecursionError, MemoryError,
    OverflowError, struct.error, AttributeError, IndexError,
)  # fmt: skip


def float_type(kinds: Any) -> np.dtype:
    """float32 where it holds every value of these types exactly, else float64."""
    return np.dtype(np.float32 if np.result_type(np.float32, *kinds) == np.float32 else np.float64)


def read_npy(path: Path, dtype: str | None = None, budget: Budget | None = None) -> Raw:
    """One array: the features, or the features and a column to be named as the target."""
    budget = budget or budget_of()
    with opened(path, budget) as stream:
        X, kind = _numbers(path, "its array", stream, dtype, budget)
        if stream.read(1):
            raise InputError(
                f"{path} goes on after its array: it is damaged, or holds several, which "
                "np.savez(file, X=X, y=y) keeps apart"
            )
    return _matrix(path, X, kind, NPY)


def read_npz(
    path: Path, target: str | None = None, dtype: str | None = None, budget: Budget | None = None
) -> Raw:
    """Features and labels; `target` may name another array of the archive as the labels."""
    budget = budget or budget_of()
    with opened(path, budget) as stream:
        content = io.BytesIO(stream.read()) if compression(path) else stream
        try:
            with zipfile.ZipFile(content) as archive:
                return _from_archive(Archive(path, archive, dtype, budget), target)
        except InputError:
            raise
        except _DAMAGE as problem:
            raise InputError(
                f"{path} cannot be read as NPZ ({one_line(problem)}): it is cut off or damaged, "
                "copy or download it again"
            ) from problem


def fill(stream: BinaryIO, kind: np.dtype, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """The next values of a stream, of type `kind`, as an array of `shape` and `dtype`."""
    out = np.empty(math.prod(shape), dtype)
    if kind.itemsize == 0:  # texts that are all empty
        return np.zeros(shape, dtype)
    step = max(1, BLOCK // kind.itemsize)
    for start in range(0, out.size, step):
        wanted = min(step, out.size - start)
        block = stream.read(wanted * kind.itemsize)
        if len(block) < wanted * kind.itemsize:
            raise EOFError(
                f"{out.size} numbers announced, {start + len(block) // kind.itemsize} there"
            )
        with np.errstate(over="ignore", invalid="ignore"):  # infinite then, and refused as such
            out[start : start + wanted] = np.frombuffer(block, kind)
    return out.reshape(shape)


class Archive(NamedTuple):
    """An NPZ that is open."""

    path: Path
    file: zipfile.ZipFile
    dtype: str | None
    budget: Budget

    @property
    def held(self) -> list[str]:
        """Names of its arrays, each there once."""
        files = self.file.namelist()
        names = [name.removesuffix(".npy") for name in files if name.endswith(".npy")]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise InputError(
                f"{self.path} must hold every array once, got {twice!r} {names.count(twice)} "
                "times: save it again, with np.savez(file, X=X, y=y)"
            )
        return names

    def numbers(self, name: str) -> tuple[np.ndarray, np.dtype]:
        """An array as floats, and the type that it had."""
        with self._opened(name) as stream:
            return _numbers(self.path, name, stream, self.dtype, self.budget)

    def anything(self, name: str) -> np.ndarray:
        """An array of numbers or text as it is."""
        with self._opened(name) as stream:
            shape, is_fortran, kind = _header(self.path, name, stream)
            if kind.kind == "O":
                raise InputError(
                    f"{self.path} cannot be read: {name} is pickled, which can run any code when "
                    "opened: save plain numbers or text"
                )
            values = _filled(self.path, name, stream, (shape, is_fortran, kind), kind, self.budget)
            return _legible(self.path, name, values)

    def _opened(self, name: str) -> Any:
        if self.file.getinfo(f"{name}.npy").flag_bits & ENCRYPTED:
            raise InputError(
                f"{self.path} is encrypted ({name}): decrypt it first, with unzip and a password, "
                "and save the arrays with np.savez(file, X=X, y=y)"
            )
        return self.file.open(f"{name}.npy")


def _from_archive(archive: Archive, target: Any) -> Raw:
    path, held = archive.path, archive.held
    features = next((name for name in FEATURES if name in held), None)
    labels = target if target in held else next((name for name in LABELS if name in held), None)
    if features is not None:
        X, kind = archive.numbers(features)
        raw = _matrix(path, X, kind, NPZ)
        used = {features}
    elif set(SPARSE) <= set(held):
        raw = Raw(_sparse(archive), NPZ)
        used = {*SPARSE, "format"}
    else:
        raise InputError(
            f"{path} must hold an array X, or data, indices, indptr and shape, got "
            f"{one_line(', '.join(held)) or 'none'}: save it with np.savez(file, X=X, y=y)"
        )
    if labels is not None:
        used.add(labels)
        raw.target = labels
        raw.y = archive.anything(labels)
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
        raw.notes.append(f"{path.name} also holds {one_line(', '.join(left))}, not read")
    return raw


def _sparse(archive: Archive) -> Any:
    data, _ = archive.numbers(SPARSE[0])
    indices, indptr, shape = (archive.anything(name) for name in SPARSE[1:])
    kinds = {"csr": scipy.sparse.csr_array, "csc": scipy.sparse.csc_array}
    try:
        layout = archive.anything("format").item() if "format" in archive.held else "csr"
        layout = layout.decode() if isinstance(layout, bytes) else layout
        for name, values in zip(SPARSE[1:], (indices, indptr, shape), strict=True):
            if values.dtype.kind not in "iu":
                raise TypeError(f"{name} must be whole numbers, got {values.dtype}")
        rows, columns = (int(size) for size in shape)
        archive.budget.check_shape(archive.path, (rows, columns), data.size)
        X = kinds[layout]((data, indices, indptr), shape=(rows, columns))
        X.check_format(full_check=True)
    except InputError:
        raise
    except (KeyError, TypeError, ValueError, IndexError) as problem:
        raise InputError(
            f"{archive.path} holds no CSR or CSC matrix that fits together ({one_line(problem)}): "
            "save it with scipy.sparse.save_npz"
        ) from problem
    if min(X.shape) == 0:
        raise InputError(
            f"{archive.path} must hold a matrix of rows and columns, got shape {X.shape}"
        )
    X = X.tocsr()
    X.sum_duplicates()  # an entry that is there twice is the sum, as SciPy has it
    return X


def _header(path: Path, name: str, stream: Any) -> Header:
    try:
        version = np.lib.format.read_magic(stream)
        read = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }[version]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that Python 2 wrote it
            shape, is_fortran, kind = read(stream)
        if not all(type(size) is int and size >= 0 for size in shape):
            raise ValueError(f"of shape {shape}")
        return shape, is_fortran, kind
    except _BAD_HEADER as problem:
        raise InputError(
            f"{path} cannot be read: {name} is no NumPy array ({one_line(problem)}): "
            "it is cut off or damaged"
        ) from problem


def _numbers(
    path: Path, name: str, stream: Any, dtype: str | None, budget: Budget
) -> tuple[np.ndarray, np.dtype]:
    """An array as floats, and the type that it had."""
    header = _header(path, name, stream)
    kind = header[2]
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
    return _filled(path, name, stream, header, into, budget), kind


def _filled(
    path: Path, name: str, stream: Any, header: Header, into: np.dtype, budget: Budget
) -> np.ndarray:
    """The values after a header, as an array of type `into`."""
    shape, is_fortran, kind = header
    copies = 2 if is_fortran else 1
    needed = copies * math.prod(shape) * max(1, into.itemsize)
    budget.check(path, needed, f"for {name} of shape {shape}")
    try:
        if is_fortran:
            return np.ascontiguousarray(fill(stream, kind, shape[::-1], into).T)
        return fill(stream, kind, shape, into)
    except EOFError as problem:
        raise InputError(
            f"{path} is cut off ({name}: {problem}): copy or download it again"
        ) from problem
    except (MemoryError, ValueError) as problem:
        raise InputError(
            f"{path} announces {name} of shape {shape}, which does not fit into memory: "
            "it is damaged, or give a part of its rows"
        ) from problem


def _legible(path: Path, name: str, values: np.ndarray) -> np.ndarray:
    """Text as str, bytes decoded; others as they are."""
    try:
        if values.dtype.kind == "S":
            return np.char.decode(values, "utf-8")
        if values.dtype.kind == "U":
            np.char.encode(values, "utf-8")
    except (ValueError, SystemError) as problem:
        raise InputError(
            f"{path} must hold text in UTF-8, got {name} with other bytes ({one_line(problem)}): "
            "save it as text of Python, np.array(list_of_str)"
        ) from problem
    return values


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
