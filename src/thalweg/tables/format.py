"""Which format a file is in: by its first bytes where they are a signature, by name, by its text.

    signature   Parquet "PAR1", NPZ "PK", NPY "\\x93NUMPY", IDX 0 0 type dimensions
    name        .csv .tsv .tab .svm .svmlight .libsvm .parquet .pq .npz .npy, before .gz and such
    text        "label index:value …" is svmlight; a tab in the first line is TSV; else CSV

A signature cannot be mistaken and a name can, so a file with another's signature is read as what it
is, and the table says so. A pickle runs whatever code is in it when it is opened: it is refused.
"""

from __future__ import annotations

import re
from pathlib import Path

from thalweg.core.errors import InputError
from thalweg.tables.file import SUFFIXES, ZSTD, compression

CSV, TSV, PARQUET, SVMLIGHT, NPZ, NPY, IDX = (
    "CSV",
    "TSV",
    "Parquet",
    "svmlight",
    "NPZ",
    "NPY",
    "IDX",
)
NAMES = {
    ".csv": CSV, ".tsv": TSV, ".tab": TSV, ".parquet": PARQUET, ".pq": PARQUET, ".svm": SVMLIGHT,
    ".svmlight": SVMLIGHT, ".libsvm": SVMLIGHT, ".npz": NPZ, ".npy": NPY,
}  # fmt: skip
PICKLES = (".pkl", ".pickle", ".joblib", ".pt", ".pth")
SPREADSHEETS = (".xlsx", ".xls", ".ods")
TEXT = (CSV, TSV, SVMLIGHT)
KNOWN = "CSV, TSV, Parquet, svmlight, NPZ, NPY or IDX"

_SIGNATURES = {b"PAR1": PARQUET, b"PK\x03\x04": NPZ, b"\x93NUMPY": NPY}
_IDX = re.compile(rb"\x00\x00[\x08\x09\x0b\x0c\x0d\x0e][\x01-\x08]")
_PICKLE = re.compile(rb"\x80[\x02-\x05][\x95\x8c(\]}\x80c]")
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")  # what no text holds
_WIDE = {b"\xff\xfe\0\0": "UTF-32", b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}
_SVMLIGHT = re.compile(rb"[-+]?[\d.][^\s:,;]*([ \t]+(qid|\d+):[-+\w.]+)+[ \t]*(#.*)?")


def recognise(path: Path, head: bytes) -> tuple[str, str]:
    """The format of the content that begins with `head`, and a note where the name says another."""
    named = NAMES.get(suffix(path))
    if suffix(path) in PICKLES or _PICKLE.match(head):
        raise InputError(
            f"{path} is a pickle, which can run any code when it is opened: it is never opened, "
            "save the arrays with np.savez(file, X=X, y=y)"
        )
    if suffix(path) in SPREADSHEETS:
        raise InputError(f"{path} is a spreadsheet: save it there as CSV, one sheet a file")
    if compression(path) == ZSTD:
        if named in (CSV, TSV):
            return named, ""
        raise InputError(
            f"{path} is compressed by zstd, which is read for .csv.zst and .tsv.zst alone: "
            f"decompress it first, with zstd -d {path.name}"
        )
    if not head:
        raise InputError(f"{path} is empty (0 bytes): name a file in {KNOWN}")
    signed = next((kind for mark, kind in _SIGNATURES.items() if head.startswith(mark)), None)
    if signed is None and _IDX.match(head):
        signed = IDX
    if signed:
        note = f"{path.name} is named as {named} and holds {signed}" if named else ""
        return signed, note if named != signed else ""
    if named is not None and named not in TEXT:
        raise InputError(
            f"{path} is named as {named} and is not in that format (it begins with "
            f"{head[:8]!r}): it may be damaged, or misnamed"
        )
    check_text(path, head)
    return named or _of_text(path, head), ""


def suffix(path: Path) -> str:
    """The last part of a name, `.csv` of `air.csv.xz`."""
    parts = [part.lower() for part in path.suffixes]
    if parts and parts[-1] in SUFFIXES:
        parts.pop()
    return parts[-1] if parts else ""


def check_text(path: Path, head: bytes) -> None:
    """Raise unless the content may be UTF-8 text."""
    wide = next((name for mark, name in _WIDE.items() if head.startswith(mark)), None)
    if wide:
        raise InputError(
            f"{path} is {wide} text: convert it, with iconv -f {wide} -t UTF-8 {path.name}"
        )
    control = _CONTROL.search(head)
    if control:
        raise InputError(
            f"{path} is binary (byte 0x{control[0][0]:02x} at {control.start()}) in no known "
            f"format: give it as {KNOWN}"
        )
    try:
        head.decode("utf-8")
    except UnicodeDecodeError as problem:
        # The last three bytes may be the beginning of a character that goes on after the head.
        if problem.start < len(head) - 3:
            raise not_utf8(path, head[problem.start]) from problem


def not_utf8(path: Path, byte: int | None = None) -> InputError:
    """The sentence for text in another encoding."""
    what = "" if byte is None else f" (byte 0x{byte:02x})"
    return InputError(
        f"{path} is not UTF-8 text{what}: convert it, with iconv -f LATIN1 -t UTF-8 {path.name}, "
        f"or give it as {KNOWN}"
    )


def _of_text(path: Path, head: bytes) -> str:
    lines = [line for line in head.splitlines() if line.strip() and not line.startswith(b"#")]
    if not lines:
        raise InputError(f"{path} holds blank lines alone: name a file in {KNOWN}")
    if _SVMLIGHT.fullmatch(lines[0].strip()):
        return SVMLIGHT
    if b"\t" in lines[0]:
        return TSV
    if any(mark in lines[0] for mark in (b",", b";", b"|")):
        return CSV
    raise InputError(
        f"{path} is text in no known format (its first line is {lines[0][:40]!r}): "
        f"give it as {KNOWN}, with the name to say which"
    )
