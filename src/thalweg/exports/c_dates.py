"""How the C file of a model reads dates: the text, and the tables of its columns of dates.

The text is read as `tables.dates` reads it. Its parts are numbered in the order of `PARTS`.
"""

from __future__ import annotations

from collections.abc import Sequence

from thalweg.exports.portable import fills_of
from thalweg.tables.column import Column
from thalweg.tables.dates import CYCLES, ORDERS, PARTS, PIVOT

READING = r"""
/* Digits of a number, at most `most`; how many there are is counted. */
static int digits(const char **text, int most, int *count)
{
    int n = 0;
    for (*count = 0; **text >= '0' && **text <= '9' && *count < most; (*count)++)
        n = 10 * n + *(*text)++ - '0';
    return n;
}

static int is_blank(char letter)
{
    return letter == ' ' || (letter >= '\t' && letter <= '\r');
}

/* Hours, minutes, seconds and AM or PM where they are; -1 where they are none. */
static int hour_of(const char **text)
{
    int hour, minute, many, late = 0, has_half = 0;
    if ((**text != ' ' && **text != 'T') || (*text)[1] < '0' || (*text)[1] > '9')
        return 0;
    (*text)++;
    hour = digits(text, 2, &many);
    if (*(*text)++ != ':')
        return -1;
    minute = digits(text, 2, &many);
    if (many != 2 || minute > 59)
        return -1;
    if (**text == ':') {
        (*text)++;
        if (digits(text, 2, &many) > 59 || many != 2)
            return -1;
        if (**text == '.' || **text == ',') {
            (*text)++;
            digits(text, 1, &many);
            if (many != 1)
                return -1;
            while (many)
                digits(text, 1, &many);
        }
    }
    if (strchr("AaPp", (*text)[**text == ' ']) != NULL && (*text)[**text == ' '] != '\0') {
        *text += **text == ' ';
        has_half = 1;
        late = **text == 'P' || **text == 'p';
        (*text)++;
        if (**text != 'M' && **text != 'm')
            return -1;
        (*text)++;
    }
    if (has_half)
        return hour < 1 || hour > 12 ? -1 : hour % 12 + 12 * late;
    return hour > 23 ? -1 : hour;
}

/* Whether nothing follows but a zone, which is passed over. */
static int ends(const char *text)
{
    int many;
    if (*text == ' ' && !is_blank(text[1]) && text[1] != '\0')
        text++;
    if (*text == 'Z') {
        text++;
    } else if (strncmp(text, "UTC", 3) == 0) {
        text += 3;
    } else if (*text == '+' || *text == '-') {
        text++;
        digits(&text, 2, &many);
        if (many != 2)
            return 0;
        text += *text == ':';
        digits(&text, 2, &many);
        if (many != 2)
            return 0;
    }
    while (is_blank(*text))
        text++;
    return *text == '\0';
}

/* The parts of a date; -1 where the text is none. */
static int date_of(const char *text, const int *places, double *told)
{
    static const int DAYS[] = {0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    static const int SHIFTS[] = {0, 3, 2, 5, 0, 3, 5, 1, 4, 6, 2, 4};
    static const double FIRST[] = {@FIRST@}, MANY[] = {@MANY@};
    int n[3], width[3], k, year, month, day, hour, weekday, past;
    char mark = '\0';
    while (is_blank(*text))
        text++;
    for (k = 0; k < 3; k++) {
        if (k > 0) {
            if ((*text != '-' && *text != '/' && *text != '.') || (k == 2 && *text != mark))
                return -1;
            mark = *text++;
        }
        n[k] = digits(&text, 4, &width[k]);
        if (width[k] == 0)
            return -1;
    }
    if (width[places[1]] > 2 || width[places[2]] > 2)
        return -1;
    if (width[places[0]] != 4 && (places[0] == 0 || width[places[0]] != 2))
        return -1;
    year = n[places[0]], month = n[places[1]], day = n[places[2]];
    if (width[places[0]] == 2)
        year += year < @PIVOT@ ? 2000 : 1900;
    if (year < 1 || month < 1 || month > 12 || day < 1)
        return -1;
    if (day > DAYS[month] + (month == 2 && year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)))
        return -1;
    hour = hour_of(&text);
    if (hour < 0 || !ends(text))
        return -1;
    past = year - (month < 3);
    weekday = (past + past / 4 - past / 100 + past / 400 + SHIFTS[month - 1] + day) % 7;
    told[0] = year, told[1] = month, told[2] = weekday ? weekday : 7, told[3] = hour;
    for (k = 0; k < 3; k++) {
        double angle = 2.0 * acos(-1.0) * (told[k + 1] - FIRST[k]) / MANY[k];
        told[4 + 2 * k] = sin(angle);
        told[5 + 2 * k] = cos(angle);
    }
    return 0;
}

/* What the columns of dates add to the scores. */
static int score_dates(const char *const *texts, double *z)
{
    double told[10];
    int j, i, k;
    for (j = 0; j < DATES; j++) {
        const struct date *date = &dates[j];
        const char *text = texts[date->place];
        if (text == NULL && !date->is_filled)
            return -1;
        if (text != NULL && date_of(text, date->places, told) < 0)
            return -1;
        for (i = 0; i < date->parts; i++) {
            int part = date->listed + i;
            const double *w = WEIGHTS + (size_t)(date->first + i) * SCORES;
            double x = text == NULL ? FILLS[part] : told[LISTED[part]];
            for (k = 0; k < SCORES; k++)
                z[k] += x * w[k];
        }
    }
    return 0;
}
"""
assert PARTS[:4] == ("year", *CYCLES)  # as `told` numbers them


def date_lines(dates: Sequence[tuple[Column, int, int]]) -> list[str]:
    """Tables and functions for columns of dates, each with its place among texts and its first
    weight."""
    rows: list[str] = []
    listed: list[str] = []
    fills: list[str] = []
    for column, place, first in dates:
        places = ", ".join(map(str, ORDERS[column.order or "ymd"]))
        own = fills_of(column)
        rows.append(
            f"    {{{place}, {first}, {len(column.parts)}, {len(listed)}, {int(own is not None)}, "
            f"{{{places}}}}},"
        )
        listed += [str(PARTS.index(part)) for part in column.parts]
        fills += [repr(float(each)) for each in own or [0.0] * len(column.parts)]
    begin, many = ([str(float(pair[k])) for pair in CYCLES.values()] for k in (0, 1))
    reading = READING.replace("@FIRST@", ", ".join(begin)).replace("@MANY@", ", ".join(many))
    return [
        "",
        f"enum {{ DATES = {len(dates)} }};",
        "/* place among texts, first weight, parts, the first of them below, whether filled, and",
        "   places of year, month and day */",
        "struct date { int place, first, parts, listed, is_filled, places[3]; };",
        "static const struct date dates[] = {",
        *rows,
        "};",
        f"static const int LISTED[] = {{{', '.join(listed)}}};",
        f"static const double FILLS[] = {{{', '.join(fills)}}};",
        *reading.replace("@PIVOT@", str(PIVOT)).rstrip().splitlines(),
    ]
