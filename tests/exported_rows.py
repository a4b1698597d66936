"""Rows with gaps, texts and odd names, and the runs on them that are exported."""

import csv
import datetime

import numpy as np

import thalweg as tw

ODD = "*/ \"odd\"\n'name'"  # of a column: what ends comments and texts
TARGETS = {"sold", "price", "kind", "visits", "claim"}
TEXTS = {"town", ODD, "heat"}
GAPS = {"built": 11, "town": 13, "age": 17, "garden": 19, ODD: 23}  # one missing of so many
DATES = {"built", "seen"}  # month first with gaps; ISO with a time of day
FILLED = ["--impute", "median"]
CASES = {  # target, options
    "two": ("sold", FILLED),
    "sign": ("sold", [*FILLED, "--loss", "squared-hinge"]),
    "several": ("kind", FILLED),
    "number": ("price", FILLED),
    "robust": ("price", [*FILLED, "--loss", "huber"]),
    "counts": ("visits", [*FILLED, "--loss", "poisson"]),
    "sizes": ("claim", [*FILLED, "--loss", "gamma"]),
    "dates": ("kind", [*FILLED, "--dates", "expand"]),
    "cyclic": ("price", ["--impute", "mean", "--dates", "cyclic"]),
    "no gaps": ("sold", [word for name in GAPS for word in ("--drop", name)]),
}
DATED = ("dates", "cyclic")


def rows_of(n, seed, *, is_new=False):
    """A table of numbers, true and false, and texts, with gaps; new rows have unknown towns."""
    rng = np.random.default_rng(seed)
    towns = ["Bern", "Zürich", 'say "hi"', "back\\slash??/"] + ["nowhere"] * is_new
    size, age = rng.normal(100.0, 30.0, n), rng.integers(0, 90, n)
    town, odd = rng.choice(towns, n), rng.choice(["a*/b", "c"], n)
    z = (size - 100) / 30 + (town == "Bern") - age / 50 + (odd == "c") + rng.normal(0, 0.5, n)
    garden = rng.random(n) < 0.4
    days, minutes = rng.integers(-7000, 20000, n), rng.integers(0, 2**20, n)
    z += 0.3 * np.sin(days / 58.0)
    start = datetime.datetime(2003, 12, 31)
    built = [start + datetime.timedelta(days=int(day)) for day in days]
    seen = [start + datetime.timedelta(minutes=int(minute)) for minute in minutes]
    rows = [
        {
            "size": float(size[k]), "town": str(town[k]), "age": float(age[k]),
            "garden": bool(garden[k]), ODD: str(odd[k]), "lit": bool(rng.random() < 0.5),
            "built": f"{built[k].month}/{built[k].day:02d}/{built[k].year}",
            "seen": seen[k].isoformat(" T"[k % 2])[: (16, 19)[k % 3 == 0]] + "Z" * (k % 5 == 0),
            "heat": str(rng.choice(["gas", "oil", *["wood"] * is_new])),
            "sold": "yes" if z[k] > -0.5 else "no", "price": float(z[k]),
            "kind": "abc"[int(np.digitize(z[k], [-1.0, 0.5]))],
        }
        for k in range(n)
    ]  # fmt: skip
    for k, row in enumerate(rows):
        mean = np.exp(0.5 * z[k])
        row["visits"], row["claim"] = int(rng.poisson(mean)), float(rng.gamma(2.0, mean / 2.0))
        for name, every in GAPS.items():
            if k % every == 0:
                row[name] = None
    return rows


def written(rows, file):
    """The rows as a CSV file, true and false in small letters."""
    spelled = {None: "", True: "true", False: "false"}
    with open(file, "w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out)
        writer.writerow(rows[0])
        for row in rows:
            told = [spelled[v] if v is None or v is True or v is False else v for v in row.values()]
            writer.writerow(told)
    return file


def told(exported, name):
    """The run, what it says of the new rows, and these by the columns that it reads."""
    place, rows, file = exported
    saved = tw.load(place / name)
    columns = [column.name for column in saved.encoding.columns]
    return saved, saved.predict(file), [{name: row[name] for name in columns} for row in rows]


def same(prediction, answers, probabilities, within=1e-12):
    if prediction.classes:
        assert list(answers) == prediction.names.tolist()
    else:
        np.testing.assert_allclose(answers, prediction.values, rtol=within, atol=within)
    if prediction.probabilities is not None:
        np.testing.assert_allclose(probabilities, prediction.probabilities, atol=within)
    else:
        assert probabilities is None


def stacked(found):
    answers, odds = zip(*found, strict=True)
    return answers, None if odds[0] is None else np.array(odds)
