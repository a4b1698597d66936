"""A flat record as TOML: one `key = value` a line, dictionaries as tables after the rest.

Reading is `tomllib`'s, which comes with Python; there is no writer beside it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from thalweg.core.checks import describe
from thalweg.core.errors import InputError


def to_toml(record: Mapping[str, Any]) -> str:
    """`record` as TOML text; what is None is left out, as TOML has no word for it.

    >>> print(to_toml({"name": "adam", "rate": 1e-3, "limit": None, "more": {"on": True}}), end="")
    name = "adam"
    rate = 0.001
    <BLANKLINE>
    [more]
    on = true
    """
    tables = {key: value for key, value in record.items() if isinstance(value, Mapping) and value}
    plain = {key: value for key, value in record.items() if not isinstance(value, Mapping)}
    text = "".join(
        f"{key} = {_value(key, value)}\n" for key, value in plain.items() if value is not None
    )
    return text + "".join(f"\n[{key}]\n{to_toml(table)}" for key, table in tables.items())


def _value(key: str, value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else str(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list | tuple):
        return f"[{', '.join(_value(key, item) for item in value)}]"
    raise InputError(f"{key} must be a number, a word or a list of them, got {describe(value)}")
