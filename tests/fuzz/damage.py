"""Ways to edit a file of a run so that it is still one of its kind: values, keys, arrays."""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np

from .mutators import mutated

DEEP = "[" * 100_000
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 7, 0.5, -2.5, 1e308, 2**63, 10**400, "", "x", "../../x", "/etc",
    "@iris", "\x1b]0;x\x07", "\u202e", "\ud800", "1/n", "auto", "nan", [], {}, [1], ["a", "b"],
    [[]], {"a": 1}, {"number": "nan"}, {"number": "inf"}, {"number": [1]}, "é" * 3000,
)  # fmt: skip
KINDS = ("f8", "f4", "i8", "u1", "?", "c16", "f2", "<U3", "M8[s]", "S2")


def edited(name: str, content: bytes, rng: np.random.Generator) -> bytes:
    """The file otherwise: by its kind, or any bytes of it."""
    change = {"json": json_edited, "npz": npz_edited, "toml": lines_edited, "csv": lines_edited}
    by_kind = change.get(name.rpartition(".")[2])
    if by_kind is None or not content or rng.random() < 0.25:
        return mutated(content, rng)
    return by_kind(content, rng)


def json_edited(content: bytes, rng: np.random.Generator) -> bytes:
    """Another value in one place, a key that is gone or has another name, or one nested deep."""
    record = json.loads(content)
    if rng.random() < 0.01:
        return DEEP.encode()
    for _ in range(int(rng.integers(1, 3))):
        places = list(_places(record))
        if not places:
            break
        holder, key = places[int(rng.integers(len(places)))]
        way = int(rng.integers(6))
        if way == 0:
            del holder[key]
        elif way == 1 and isinstance(holder, dict):
            holder[f"{key}x"] = holder.pop(key)
        elif way == 2:
            other, place = places[int(rng.integers(len(places)))]
            holder[key], other[place] = other[place], holder[key]
            try:
                json.dumps(record)
            except (ValueError, RecursionError):  # one stood within the other
                return content[: len(content) // 2]
        else:
            holder[key] = VALUES[int(rng.integers(len(VALUES)))]
    return json.dumps(record).encode()


def _places(record: Any) -> Any:
    """Everything that holds something, and where."""
    keys = record if isinstance(record, dict) else range(len(record))
    for key in list(keys):
        yield record, key
        if isinstance(record[key], dict | list):
            yield from _places(record[key])


def npz_edited(content: bytes, rng: np.random.Generator) -> bytes:
    """One array of another type, shape or name, with numbers that are none, or gone."""
    with np.load(io.BytesIO(content), allow_pickle=False) as stored:
        arrays = {name: np.asarray(stored[name]) for name in stored.files}
    name = list(arrays)[int(rng.integers(len(arrays)))]
    array, way = arrays[name], int(rng.integers(7))
    with np.errstate(all="ignore"):
        if way == 0:
            del arrays[name]
        elif way == 1:
            arrays[f"{name}x"] = arrays.pop(name)
        elif way == 2:
            kind = str(rng.choice(KINDS))
            arrays[name] = np.zeros(array.shape, kind) if kind[0] in "<MS" else array.astype(kind)
        elif way == 3:
            arrays[name] = array[..., None]
        elif way == 4:
            arrays[name] = array.ravel()[:-1]
        elif way == 5 and array.size and array.dtype.kind == "f":
            flat = array.copy().ravel()
            flat[int(rng.integers(flat.size))] = rng.choice([np.nan, np.inf, -1e308, 1e308])
            arrays[name] = flat.reshape(array.shape)
        else:
            arrays[name] = np.concatenate([array.ravel()] * 2)
    out = io.BytesIO()
    np.savez(out, **arrays)
    return out.getvalue()


def lines_edited(content: bytes, rng: np.random.Generator) -> bytes:
    """A line gone, twice, elsewhere, or with another value after its = or in one of its fields."""
    lines = content.decode().splitlines()
    place, way = int(rng.integers(len(lines))), int(rng.integers(4))
    if way == 0:
        del lines[place]
    elif way == 1:
        lines.insert(int(rng.integers(len(lines) + 1)), lines[place])
    else:
        value = VALUES[int(rng.integers(len(VALUES)))]
        told = json.dumps(value, ensure_ascii=False)[:400]
        head, equals, _ = lines[place].partition(" = ")
        fields = lines[place].split(",")
        fields[int(rng.integers(len(fields)))] = told.strip('"')
        lines[place] = f"{head} = {told}" if equals else ",".join(fields)
    return ("\n".join(lines) + "\n").encode(errors="surrogatepass")
