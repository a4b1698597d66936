"""A linear model as one C file without dependencies but libc: `predict(numbers, texts, answer)`.

Numbers and flags are one array, texts another, each in the order of the columns, which comments
list. A missing number is NaN, a missing text NULL. What comes back is the place of the class, or 0
of a number, or −1 where a value is missing that may not be; `answer` is filled with the number, or
with probabilities, or with the score where there are none.
"""

from __future__ import annotations

import numpy as np

from thalweg.exports.c_dates import date_lines
from thalweg.exports.portable import Portable, fill_of
from thalweg.runs.prediction import EXP, IDENTITY, LOGISTIC, SIGN, SOFTMAX
from thalweg.tables.column import DATE, TEXT, Column
from thalweg.tables.dates import SAID

SCORED = """
static int score(const double *numbers, const char *const *texts, double *z)
{
    int j, k, c;
    for (k = 0; k < SCORES; k++)
        z[k] = 0.0;
    for (j = 0; j < COLUMNS; j++) {
        const struct column *column = &columns[j];
        const double *w = WEIGHTS + (size_t)column->first * SCORES;
        if (column->categories > 0) {
            const char *text = texts[column->place];
            c = text == NULL ? (int)column->fill : -1;
            if (text == NULL && column->fill < 0)
                return -1;
            for (k = 0; text != NULL && k < column->categories; k++)
                if (strcmp(text, CATEGORIES[column->named + k]) == 0)
                    c = k;
            for (k = 0; c >= 0 && k < SCORES; k++)
                z[k] += w[c * SCORES + k];
        } else if (column->categories == 0) {
            double x = numbers[column->place];
            if (x != x)
                x = column->fill;
            if (x - x != 0.0)
                return -1;
            for (k = 0; k < SCORES; k++)
                z[k] += x * w[k];
        }
    }
    for (k = 0; k < SCORES; k++)
        z[k] += INTERCEPTS[k];
    return 0;
}
"""

ANSWERED = {
    IDENTITY: "    answer[0] = z[0];\n    return 0;\n",
    EXP: "    answer[0] = exp(z[0]);\n    return 0;\n",
    SIGN: "    answer[0] = z[0];\n    return z[0] > 0.0;\n",
    LOGISTIC: """\
    answer[0] = 1.0 / (1.0 + exp(z[0]));
    answer[1] = 1.0 / (1.0 + exp(-z[0]));
    return z[0] > 0.0;
""",
    SOFTMAX: """\
    for (k = 1; k < SCORES; k++)
        if (z[k] > z[best])
            best = k;
    for (k = 0; k < SCORES; k++)
        sum += answer[k] = exp(z[k] - z[best]);
    for (k = 0; k < SCORES; k++)
        answer[k] /= sum;
    return best;
""",
}
ANSWERS = {
    IDENTITY: "the number",
    EXP: "the number",
    SIGN: "the score",
    LOGISTIC: "both probabilities",
}


def c_bytes(model: Portable) -> bytes:
    """The file."""
    rows: list[str] = []
    categories: list[str] = []
    numbers: list[str] = []
    words: list[str] = []
    dates: list[tuple[Column, int, int]] = []
    features = 0
    for column, w in model.of_columns:
        if column.kind == DATE:
            dates.append((column, len(words), features))
            words.append(f"{column.name} (a date, {SAID[column.order or 'ymd']})")
            features += len(w)
            continue
        is_text = column.kind == TEXT
        place = len(words if is_text else numbers)
        # A text of no category, missing in every row, says nothing: no column of either kind.
        many = (len(column.categories) or -1) if is_text else 0
        rows.append(f"    {{{many}, {place}, {features}, {len(categories)}, {_fill(column)}}},")
        (words if is_text else numbers).append(column.name)
        categories += [f"    {_text(each)}," for each in column.categories]
        features += len(w)
    of = ANSWERS.get(model.link, "a probability each")
    lines = [
        f"/* What a linear model says of {_comment(model.target)}. C99, libc and libm alone.",
        " *",
        " *     int predict(const double *numbers, const char *const *texts, double *answer)",
        " *",
        f" * answer: {of}. Returned: the class below, 0 of a number, -1 without an answer.",
        " * A missing number is NAN, a missing text NULL.",
        *_listed("classes", model.classes),
        *_listed("numbers (true is 1, false 0)", numbers),
        *_listed("texts, in UTF-8", words),
        " */",
        "#include <math.h>",
        "#include <stddef.h>",
        "#include <string.h>",
        "",
        f"enum {{ COLUMNS = {len(rows)}, SCORES = {model.scores} }};",
        "",
        "struct column { int categories, place, first, named; double fill; };",
        "",
        f"static const double INTERCEPTS[] = {{{_numbers(model.intercepts)}}};",
        "static const double WEIGHTS[] = {",
        *(f"    {_numbers(w)}," for w in model.coefficients),
        "    0.0};",
        "static const char *const CATEGORIES[] = {",
        *categories,
        "    NULL};",
        "/* categories of a text or 0, place among its kind, first weight, first category, fill */",
        "static const struct column columns[] = {",
        *rows,
        "    {0, 0, 0, 0, 0.0}};",
        *(date_lines(dates) if dates else []),
        SCORED,
        "int predict(const double *numbers, const char *const *texts, double *answer)",
        "{",
        "    double z[SCORES];",
        *(["    double sum = 0.0;", "    int k, best = 0;"] if model.link == SOFTMAX else []),
        f"    if (score(numbers, texts, z) < 0{' || score_dates(texts, z) < 0' if dates else ''})",
        "        return -1;",
    ]
    return ("\n".join(lines) + "\n" + ANSWERED[model.link] + "}\n").encode()


def _fill(column: Column) -> str:
    fill = fill_of(column)
    if fill is None:
        return "-1.0" if column.kind == TEXT else "NAN"
    return repr(float(fill))


def _numbers(values: np.ndarray) -> str:
    return ", ".join(map(repr, values.tolist()))


def _text(words: str) -> str:
    """A literal, byte by byte where it is no plain letter; octal, which ends after three digits."""
    plain = "".join(
        chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\?' else f"\\{byte:03o}"
        for byte in words.encode()
    )
    return f'"{plain}"'


def _comment(name: str) -> str:
    return name.encode("unicode_escape").decode().replace("*/", "* /").replace("/*", "/ *")


def _listed(what: str, names: list[str] | tuple[str, ...]) -> list[str]:
    if not names:
        return []
    return [
        " *",
        f" * {what}:",
        *(f" *   {k:>4}  {_comment(name)}" for k, name in enumerate(names)),
    ]
