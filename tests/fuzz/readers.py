"""Every reader: files that it must read, and what an independent one makes of any file.

A grammar draws a name and the bytes of a file. References give what a file holds, by other means
than `thalweg.tables`: a few lines of Python, and NumPy, SciPy, scikit-learn, pandas and pyarrow,
which people would read it by else. One that does not read it, or does not judge it, gives None;
where none does, the reader may say what it likes, in a sentence.
"""

from __future__ import annotations

import csv
import io
import math
import struct
import warnings
import zipfile
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pyarrow.parquet
import scipy.sparse
import sklearn.datasets

from thalweg.tables.delimited import MISSING


class File(NamedTuple):
    """What a grammar draws."""

    name: str
    content: bytes


class Reader(NamedTuple):
    """One format."""

    draw: Callable[[np.random.Generator], File]
    references: tuple[Callable[[bytes], Any], ...]  # to cells[n][p], a frame, float[n, p] or None
    share: float = 1.0  # how often it is drawn


NUMBERS = ("0", "1", "-3", "2.5", "1e3", "-0.125", ".5", "7.", "+4", "1E-2", "00012")
WORDS = ("a", "Köln", "b c", "x;y", 'say "so"', "", "NA", " ", "1-2", "true", "日本")


def _draw_delimited(rng: np.random.Generator) -> File:
    separator = ",;|\t"[int(rng.integers(4))]
    rows, width = int(rng.integers(1, 30)), int(rng.integers(1, 6))
    out = io.StringIO()
    writer = csv.writer(
        out, delimiter=separator, lineterminator=("\n", "\r\n")[int(rng.integers(2))],
        quoting=(csv.QUOTE_MINIMAL, csv.QUOTE_ALL)[int(rng.random() < 0.2)],
    )  # fmt: skip
    writer.writerow([f"c{j}" for j in range(width)])
    kinds = rng.integers(4, size=width)
    for _ in range(rows):
        writer.writerow([_field(kind, rng) for kind in kinds])
    return File("t.tsv" if separator == "\t" else "t.csv", out.getvalue().encode())


def _field(kind: int, rng: np.random.Generator) -> str:
    if kind == 0:
        return str(rng.choice(NUMBERS))
    if kind == 1:
        return repr(float(rng.normal() * 10.0 ** rng.integers(-5, 6)))
    if kind == 2:
        return str(rng.choice(["true", "false"]))
    return str(rng.choice([*WORDS, *NUMBERS]))


def _cells(content: bytes) -> list[list[str]] | None:
    """Fields by the csv module, of regular files whose separator is beyond doubt."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return None
    line = text.partition("\n")[0]
    there = [each for each in ",;|\t" if each in line]
    if not there and any(each in text for each in ",;|\t"):
        return None
    odd = any(mark in text.replace("\r\n", "\n") for mark in "\r\0")
    # Quotes in the middle of a field are read differently by every reader.
    if len(there) > 1 or odd or ('"' in text and not _is_quoted_well(text, there)):
        return None
    try:
        rows = list(csv.reader(io.StringIO(text), delimiter=(there or [","])[0], strict=True))
    except csv.Error:
        return None
    if len(rows) < 2 or any(len(row) != len(rows[0]) for row in rows) or not rows[0]:
        return None
    return rows


def _by_pandas(content: bytes) -> pd.DataFrame | None:
    """Columns by pandas, of the files that `_cells` judges."""
    rows = _cells(content)
    if rows is None or len(rows[0]) < 2:  # one column may have blank lines, which it leaves out
        return None
    there = next(each for each in ",;|\t" if each in content.decode().partition("\n")[0])
    try:
        return pd.read_csv(
            io.BytesIO(content), sep=there, index_col=False,
            keep_default_na=False, na_values=["", *MISSING],
        )  # fmt: skip
    except (ValueError, OverflowError):  # pandas' own errors are ValueErrors
        return None


def _is_quoted_well(text: str, separators: list[str]) -> bool:
    """Whether writing what was read gives the same text."""
    for quoting in (csv.QUOTE_MINIMAL, csv.QUOTE_ALL):
        for end in ("\n", "\r\n"):
            out = io.StringIO()
            try:
                rows = csv.reader(io.StringIO(text, newline=""), delimiter=(separators or [","])[0])
                csv.writer(
                    out, delimiter=(separators or [","])[0], lineterminator=end, quoting=quoting
                ).writerows(rows)
            except csv.Error:
                return False
            if out.getvalue() == text:
                return True
    return False


def _draw_npy(rng: np.random.Generator) -> File:
    out = io.BytesIO()
    np.save(out, _array(rng))
    return File("t.npy", out.getvalue())


def _array(rng: np.random.Generator) -> np.ndarray:
    kind = str(rng.choice(["f8", "f4", "i4", "u1", ">f8", "?", "f2", "i8", "<U3", "c16"]))
    shape = tuple(int(each) for each in rng.integers(0, 5, size=int(rng.integers(1, 4))))
    values = np.asarray(rng.normal(size=shape) * 9)
    return np.asarray(values.astype(kind), order="CF"[int(rng.integers(2))])


def _of_npy(content: bytes) -> Any:
    try:
        return _floats(np.load(io.BytesIO(content), allow_pickle=False))
    except Exception:  # whatever NumPy says, it does not read it
        return None


def _floats(values: np.ndarray) -> Any:
    if values.dtype.kind not in "biuf" or values.ndim < 2 or values.size == 0:
        return None
    is_image = values.dtype == np.uint8 and values.ndim > 2
    with np.errstate(all="ignore"):
        return values.reshape(len(values), -1).astype(float) / (255 if is_image else 1)


def _draw_npz(rng: np.random.Generator) -> File:
    out = io.BytesIO()
    save = (np.savez, np.savez_compressed)[int(rng.integers(2))]
    if rng.random() < 0.4:
        layout = ("csr", "csc")[int(rng.integers(2))]
        held = scipy.sparse.random(5, 4, 0.4, layout, rng=rng)
        scipy.sparse.save_npz(out, held, compressed=bool(rng.integers(2)))
    else:
        X = rng.normal(size=(6, 3))
        y = (rng.integers(0, 2, 6), np.array(list("ababab")), X[:, 0])[int(rng.integers(3))]
        save(out, X=X, y=y)
    return File("t.npz", out.getvalue())


def _of_npz(content: bytes) -> Any:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = archive.namelist()
        if "X.npy" in names:
            return _floats(np.load(io.BytesIO(content), allow_pickle=False)["X"])
        return scipy.sparse.load_npz(io.BytesIO(content)).toarray().astype(float)
    except Exception:
        return None


def _draw_idx(rng: np.random.Generator) -> File:
    code = int(rng.choice([8, 9, 11, 12, 13, 14]))
    shape = tuple(int(each) for each in rng.integers(1, 5, size=int(rng.integers(1, 4))))
    values = np.asarray(rng.normal(size=shape) * 9).astype(_IDX[code])
    head = bytes([0, 0, code, len(shape)]) + struct.pack(f">{len(shape)}I", *shape)
    return File("images", head + values.tobytes())


_IDX = {8: "u1", 9: "i1", 11: ">i2", 12: ">i4", 13: ">f4", 14: ">f8"}


def _of_idx(content: bytes) -> Any:
    if len(content) < 8 or content[:2] != b"\0\0" or content[2] not in _IDX or not content[3]:
        return None
    start = 4 + 4 * content[3]
    shape = tuple(np.frombuffer(content[4:start], ">u4").tolist())
    if len(shape) != content[3] or math.prod(shape) > 10**6:
        return None
    kind = np.dtype(_IDX[content[2]])
    if len(content) != start + kind.itemsize * math.prod(shape):
        return None
    return _floats(np.frombuffer(content[start:], kind).reshape(shape))


def _draw_svmlight(rng: np.random.Generator) -> File:
    lines = []
    for _ in range(int(rng.integers(1, 12))):
        indices = np.flatnonzero(rng.random(8) < 0.4) + 1
        pairs = (f"{j}:{rng.normal():.4g}" for j in indices)
        lines.append(" ".join([str(int(rng.integers(0, 2))), *pairs]))
    return File("t.svm", ("\n".join(lines) + "\n").encode())


def _of_svmlight(content: bytes) -> Any:
    """Line by line; what is out of the ordinary is left to others."""
    rows = []
    try:
        for line in content.decode("ascii").split("\n"):
            words = line.partition("#")[0].split()
            if not words:
                continue
            float(words[0])
            if any("qid" in word for word in words):
                return None
            pairs = [word.split(":") for word in words[1:]]
            rows.append({int(index): float(value) for index, value in pairs})
    except ValueError:
        return None
    held = [index for row in rows for index in row]
    if not held or min(held) < 0 or max(held) > 1000:
        return None
    first = min(1, *held) if len(held) > 1 else min(1, held[0])
    X = np.zeros((len(rows), max(held) + 1 - first))
    for i, row in enumerate(rows):
        for index, value in row.items():
            X[i, index - first] = value
    return X


def _by_scikit_learn(content: bytes) -> np.ndarray | None:
    if b"qid" in content:
        return None
    try:
        X, _ = sklearn.datasets.load_svmlight_file(io.BytesIO(content), zero_based="auto")
    except Exception:  # whatever it says, it does not read it
        return None
    return X.toarray() if X.shape[1] <= 1000 and X.nnz else None


def _draw_parquet(rng: np.random.Generator) -> File:
    out = io.BytesIO()
    rows = int(rng.integers(1, 20))
    columns = {
        "f": rng.normal(size=rows), "i": rng.integers(-9, 9, rows), "b": rng.random(rows) < 0.5,
    }  # fmt: skip
    compression = str(rng.choice(["zstd", "snappy", "gzip", "uncompressed"]))
    pl.DataFrame(columns).write_parquet(out, compression=compression)
    return File("t.parquet", out.getvalue())


def _by_pyarrow(content: bytes) -> pd.DataFrame | None:
    try:
        return pyarrow.parquet.read_table(io.BytesIO(content)).to_pandas()
    except Exception:  # whatever it says, it does not read it
        return None


READERS = {
    "delimited": Reader(_draw_delimited, (_cells, _by_pandas), 3.0),
    "npy": Reader(_draw_npy, (_of_npy,)),
    "npz": Reader(_draw_npz, (_of_npz,)),
    "idx": Reader(_draw_idx, (_of_idx,)),
    "svmlight": Reader(_draw_svmlight, (_of_svmlight, _by_scikit_learn)),
    "parquet": Reader(_draw_parquet, (_by_pyarrow,), 0.01),  # a process each
}


def difference(raw: Any, reference: Any) -> str:
    """Where what was read is not what the reference has; empty where it is."""
    if isinstance(reference, list):
        return _other_cell(raw, reference)
    if isinstance(reference, pd.DataFrame):
        return _other_column(raw, reference)
    X = raw.X.toarray() if scipy.sparse.issparse(raw.X) else raw.X
    with np.errstate(over="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = reference.astype(X.dtype)
    if X.shape != expected.shape:
        return f"shape {X.shape}, and {expected.shape} by the reference"
    close = np.isclose(X, expected, rtol=1e-6, atol=0.0, equal_nan=True)
    return "" if close.all() else f"{X[~close][0]!r}, and {expected[~close][0]!r} by the reference"


def _other_cell(raw: Any, rows: list[list[str]]) -> str:
    has_header = not any("taken as data" in note for note in raw.notes)
    body = rows[1:] if has_header else rows
    if raw.X.shape != (len(body), len(rows[0])):
        return f"shape {raw.X.shape}, and {(len(body), len(rows[0]))} by csv"
    for name, column in zip(raw.X.columns, zip(*body, strict=True), strict=True):
        if name in raw.doubts:
            continue
        for found, cell in zip(raw.X[name].to_list(), column, strict=True):
            if not _is_same(found, cell):
                return f"{found!r} in column {name!r}, and {cell!r} by csv"
    return ""


def _other_column(raw: Any, frame: pd.DataFrame) -> str:
    """Where a column that pandas or pyarrow takes for numbers is another one here."""
    if any("taken as data" in note for note in raw.notes):
        return ""
    if raw.X.shape != frame.shape:
        return f"shape {raw.X.shape}, and {frame.shape} by another reader"
    for j, name in enumerate(raw.X.columns):
        theirs = frame.iloc[:, j]
        if name in raw.doubts or not pd.api.types.is_numeric_dtype(theirs.dtype):
            continue
        expected = theirs.to_numpy(dtype=float, na_value=np.nan)
        try:
            found = np.array(raw.X[name].cast(float).to_list(), dtype=float)
        except pl.exceptions.PolarsError:
            return f"column {name!r} is {raw.X[name].dtype}, and numbers by another reader"
        close = np.isclose(found, expected, rtol=1e-12, atol=0.0, equal_nan=True)
        if not close.all():
            return f"{found[~close][0]!r} in {name!r}, {expected[~close][0]!r} by another reader"
    return ""


def _is_same(found: Any, cell: str) -> bool:
    if found is None:
        return cell.strip() in (*MISSING, "")
    if isinstance(found, bool):
        return cell.strip().lower() == str(found).lower()
    if isinstance(found, str):
        return found == cell
    plain = cell.strip().replace("\u2212", "-")
    candidates = (plain, plain.replace(",", "."), plain.replace(",", ""), plain.replace(" ", ""),
                  plain.replace(".", "").replace(",", "."), plain.replace("'", ""),
                  plain.replace("_", ""))  # fmt: skip
    for text in candidates:
        try:
            if math.isclose(float(text), found, rel_tol=1e-12) or math.isnan(found):
                return True
        except ValueError:
            continue
    return False
