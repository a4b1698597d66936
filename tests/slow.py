"""Which tests are slow, and left out by `make test-fast`: those in `slow.txt`, a row each.

A row is a file, or a function whose cases took a fifth of a second or more together. From a quiet
run,

    python -m pytest -q --durations=0 > log
    python tests/slow.py log

writes the table anew; files in it stay, whatever their functions took.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

TABLE = Path(__file__).with_name("slow.txt")
LONG = 0.2  # seconds, so that all others take a minute or so
TOOK = re.compile(r"([\d.]+)s (?:call|setup|teardown) +([^\s\[]+)")


def rows() -> set[str]:
    """The files and functions of the table."""
    return set(TABLE.read_text("utf-8").split())


def name_of(file: Path) -> str:
    """A file of tests as the table has it."""
    root = TABLE.parents[1]
    return file.relative_to(root).as_posix() if file.is_relative_to(root) else ""


def is_slow(test: str, table: set[str]) -> bool:
    """Whether a test, as pytest names it, is of the table."""
    function = test.partition("[")[0]
    return function in table or function.partition("::")[0] in table


def write(log: str) -> None:
    """Write the table anew, from what pytest says that tests took."""
    took: Counter[str] = Counter()
    for seconds, function in TOOK.findall(log):
        took[function] += float(seconds)
    files = {row for row in rows() if "::" not in row}
    long = {test for test, seconds in took.items() if seconds >= LONG and not is_slow(test, files)}
    TABLE.write_text("".join(f"{row}\n" for row in sorted(files | long)), "utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]).read_text("utf-8"))
