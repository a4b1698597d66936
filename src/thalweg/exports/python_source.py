"""A linear model as one Python file without dependencies: `predict(row)`, `probabilities(row)`.

Numbers are written in the shortest form that reads back to the same bits, and are added in the
order of the columns, as Thalweg adds them: scores are the same to the last bit, but for sines of
dates. A date is text in the order of the training data, or one of Python's.
"""

from __future__ import annotations

from thalweg.exports.portable import Portable
from thalweg.runs.prediction import EXP, SIGN
from thalweg.tables.column import DATE, FLAG, FLAGS, TEXT
from thalweg.tables.dates import CYCLES, PATTERN, PIVOT

DATED = '''

DATE = re.compile({pattern!r})


def parts_of(value, order):
    """Year, month, weekday and hour by name, of a date in text or one of Python."""
    if not hasattr(value, "timetuple"):
        found = DATE.match(str(value).strip())
        if found is None or found[2] != found[4]:
            raise ValueError(f"{{value!r}} is no date")
        places = {{"ymd": (1, 3, 5), "dmy": (5, 3, 1), "mdy": (5, 1, 3)}}[order]
        year, month, day = (found[k] for k in places)
        if len(year) != 4 and (order == "ymd" or len(year) != 2):
            raise ValueError(f"{{value!r}} is no date in the order {{order}}")
        hour, half = int(found[6] or 0), (found[8] or "").lower()
        if half:
            if not 1 <= hour <= 12:
                raise ValueError(f"{{value!r}} is no date")
            hour = hour % 12 + 12 * (half == "p")
        whole = int(year) if len(year) == 4 else int(year) + (2000 if int(year) < {pivot} else 1900)
        value = datetime.datetime(whole, int(month), int(day), hour)
    told = {{"year": value.year, "month": value.month, "weekday": value.isoweekday()}}
    told["hour"] = getattr(value, "hour", 0)
    for name, (first, many) in {cycles!r}.items():
        angle = 2.0 * math.pi * (told[name] - first) / many
        told[name + " sin"], told[name + " cos"] = math.sin(angle), math.cos(angle)
    return told
'''

OF_DATE = """        if kind[:4] == "date":
            x = fill if value is fill else [parts_of(value, kind[5:])[part] for part in w]
            for each, part in zip(x, w.values(), strict=True):
                for k, coefficient in enumerate(part):
                    z[k] += each * coefficient
            continue
"""

CHECKED = '''

def scores(row):
    """One number a class, or one; `row` maps columns to values, or lists them in order."""
    if not hasattr(row, "keys"):
        row = dict(zip([column[0] for column in COLUMNS], row, strict=True))
    z = [0.0] * len(INTERCEPTS)
    for name, kind, fill, w in COLUMNS:
        if name not in row:
            raise ValueError(f"row must have {name!r}, got {sorted(map(str, row))}")
        value = row[name]
        if value is None or value == "" or value != value:
            if fill is None:
                raise ValueError(f"{name!r} must have a value, as in training, got {value!r}")
            value = fill
{of_date}        if kind == "text":
            for k, each in enumerate(w.get(value, ())):
                z[k] += each
            continue
        x = FLAGS.get(str(value).lower()) if kind == "flag" else float(value)
        if x is None or x - x != 0.0:
            raise ValueError(f"{name!r} must be a {kind}, got {value!r}")
        for k, each in enumerate(w):
            z[k] += x * each
    return [each + b for each, b in zip(z, INTERCEPTS, strict=True)]
'''

OF_NUMBERS = '''

def predict(row):
    """{target} of a row."""
    return scores(row)[0]
'''

OF_MEANS = '''

def predict(row):
    """{target} of a row, on average."""
    return math.exp(scores(row)[0])
'''

OF_TWO = '''

def predict(row):
    """{target} of a row: one of `CLASSES`."""
    return CLASSES[scores(row)[0] > 0.0]
'''

ODDS_OF_TWO = '''

def probabilities(row):
    """Of each of `CLASSES`."""
    z = scores(row)[0]
    odds = math.exp(-abs(z))
    likely, other = 1.0 / (1.0 + odds), odds / (1.0 + odds)
    return [other, likely] if z > 0.0 else [likely, other]
'''

OF_SEVERAL = '''

def predict(row):
    """{target} of a row: one of `CLASSES`."""
    z = scores(row)
    return CLASSES[z.index(max(z))]


def probabilities(row):
    """Of each of `CLASSES`."""
    z = scores(row)
    parts = [math.exp(each - max(z)) for each in z]
    return [each / sum(parts) for each in parts]
'''


def python_bytes(model: Portable) -> bytes:
    """The file."""
    has_dates = any(column.kind == DATE for column in model.columns)
    flags = {word: float(value) for word, value in FLAGS.items()}
    lines = [
        f'"""What a linear model says of {_safe(model.target)!s}: needs nothing but Python."""',
        "",
        *(["import datetime", "import math", "import re"] if has_dates else ["import math"]),
        "",
        f"TARGET = {model.target!r}",
        f"CLASSES = {list(model.classes)!r}",
        f"FLAGS = {flags!r}",
        f"INTERCEPTS = {model.intercepts.tolist()!r}",
        "# name, kind, what stands for a missing value (None: none may be missing), coefficients",
        "COLUMNS = [",
    ]
    for column, w in model.of_columns:
        told: object = w[0].tolist()
        if column.kind == TEXT:
            told = dict(zip(column.categories, w.tolist(), strict=True))
        kind = column.kind
        if column.kind == DATE:
            told = dict(zip(column.parts, w.tolist(), strict=True))
            kind = f"date {column.order or 'ymd'}"
        fill = bool(column.fill) if column.kind == FLAG and column.fill is not None else column.fill
        lines.append(f"    ({column.name!r}, {kind!r}, {fill!r}, {told!r}),")
    lines.append("]")
    return ("\n".join(lines) + "\n" + _functions(model, has_dates)).encode()


def _functions(model: Portable, has_dates: bool) -> str:
    if not model.classes:
        said = OF_MEANS if model.link == EXP else OF_NUMBERS
    elif len(model.classes) > 2 or model.scores > 1:
        said = OF_SEVERAL
    else:
        said = OF_TWO if model.link == SIGN else OF_TWO + ODDS_OF_TWO
    dated = DATED.format(pattern=PATTERN, cycles=CYCLES, pivot=PIVOT) if has_dates else ""
    checked = CHECKED.replace("{of_date}", OF_DATE if has_dates else "")
    return dated + checked + said.replace("{target}", _safe(model.target))


def _safe(name: str) -> str:
    """A name that ends no docstring."""
    return name.encode("unicode_escape").decode().replace("\\", "/").replace('"', "'")
