"""Tables as people have them, drawn by a seed: what is wrong with each column is a flaw of it.

A table has a target that can be learnt, a few flaws and a way of its country to write numbers and
dates. Nothing here is known to the reader: names, marks, separators and notations are drawn.
"""

from __future__ import annotations

import csv
import datetime
from pathlib import Path

import numpy as np

MARKS = ("-", "--", "n.a.", "none", "unknown", "?", "NA", "", ".", "missing", "k. A.", "#N/A")
NAMES = ("betrag", "Size (m2)", "it's", "net income", "größe", "q.1", "rate %", "a;b", "x,y", "$v")
SPELLED = {
    "ymd": "{0:04d}-{1:02d}-{2:02d}", "dmy": "{2:02d}.{1:02d}.{0:04d}",
    "mdy": "{1:02d}/{2:02d}/{0:04d}", "slashed": "{2}/{1}/{0:04d}",
}  # fmt: skip
COUNTRIES = {  # separator, decimal mark, mark of thousands, dates
    "plain": (",", ".", "", "ymd"), "american": (",", ".", ",", "mdy"),
    "german": (";", ",", ".", "dmy"), "french": (";", ",", " ", "slashed"),
    "swiss": (";", ".", "'", "dmy"), "tabbed": ("\t", ",", "", "ymd"),
}  # fmt: skip
FLAWS = ("dates", "ids", "marks", "categories", "decimals", "grouped")


def messy(seed: int, folder: Path, *flaws: str) -> tuple[Path, str, np.ndarray]:
    """A file, its target, and y: all of the flaws, or some that are drawn."""
    rng = np.random.default_rng(seed)
    country = str(rng.choice(list(COUNTRIES)))
    separator, decimal, thousands, dates = COUNTRIES[country]
    n = int(rng.integers(120, 400))
    has = set(flaws) or {flaw for flaw in FLAWS if rng.random() < 0.6}
    names = [str(each) for each in rng.permutation(NAMES)]
    z, columns = np.zeros(n), {}

    def number(values: np.ndarray, digits: int, *, grouped: bool) -> list[str]:
        marks = str.maketrans({",": thousands if grouped else "", ".": decimal})
        return [f"{value:,.{digits}f}".translate(marks) for value in values]

    x = rng.normal(size=n)
    columns[names[0]] = number(50.0 + 20.0 * x, 2, grouped=False)
    z += 2.0 * x
    if "decimals" in has or "grouped" in has:
        x = rng.lognormal(0.0, 1.0, n)
        columns[names[1]] = number(3000.0 * x, int(rng.integers(0, 3)), grouped="grouped" in has)
        z += np.log(x)
    if "marks" in has:
        for k in range(int(rng.integers(1, 4))):
            x, mark = rng.normal(size=n), str(rng.choice(MARKS))
            texts = number(10.0 * x, 1, grouped=False)
            gone = rng.random(n) < rng.uniform(0.01, 0.3)
            columns[names[2 + k]] = [mark if g else t for g, t in zip(gone, texts, strict=True)]
            z += 0.5 * x
    if "dates" in has:
        for name in ("when", "Datum")[: int(rng.integers(1, 3))]:
            columns[name], x = _dates(rng, n, dates, missing=rng.random() < 0.4)
            z += x
    if "categories" in has:
        towns = np.array([f"{letter}-{k}" for k in range(30) for letter in "abc"])
        places = rng.integers(len(towns), size=n)
        columns["town"] = towns[places].tolist()
        z += rng.normal(size=len(towns))[places]
    if "ids" in has:
        columns |= _ids(rng, n)
    classes = ["bronze", "silver", "gold"] if rng.random() < 0.5 else ["no", "yes"]
    edges = np.quantile(z, np.linspace(0, 1, len(classes) + 1)[1:-1])
    y = np.digitize(z + 0.3 * rng.normal(size=n), edges)
    columns["target"] = [classes[k] for k in y]
    order = [str(each) for each in rng.permutation(list(columns))]
    file = folder / f"messy {seed}.csv"
    with file.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, delimiter=separator)
        writer.writerow(order)
        writer.writerows(zip(*(columns[name] for name in order), strict=True))
    return file, "target", y


def _dates(
    rng: np.random.Generator, n: int, spelled: str, *, missing: bool
) -> tuple[list[str], np.ndarray]:
    """Dates, of some with a time of day, and what they say of the target."""
    start = datetime.datetime(2021, 1, 1)
    has_hours, is_american = rng.random() < 0.5, spelled == "mdy"
    when = [start + datetime.timedelta(minutes=int(k)) for k in rng.integers(1_500_000, size=n)]
    texts = [SPELLED[spelled].format(each.year, each.month, each.day) for each in when]
    if has_hours:
        clock = " %I:%M %p" if is_american else " %H:%M"
        texts = [text + each.strftime(clock) for text, each in zip(texts, when, strict=True)]
    if missing:
        mark = str(rng.choice(["", "-", "unknown"]))
        texts = [mark if rng.random() < 0.05 else text for text in texts]
    said = np.array([np.sin(each.month / 2.0) + (each.weekday() > 4) for each in when])
    return texts, said


def _ids(rng: np.random.Generator, n: int) -> dict[str, list]:
    some = rng.choice(10**9, n, replace=False)
    kinds = {
        "": list(range(n)), "Kunde": [f"K-{k:09d}" for k in some], "customer_id": some.tolist(),
        "order": (10**6 + rng.permutation(n)).tolist(), "comment": [f"said {k:x}" for k in some],
    }  # fmt: skip
    chosen = rng.choice(list(kinds), int(rng.integers(1, 4)), replace=False)
    return {str(name): kinds[str(name)] for name in chosen}
