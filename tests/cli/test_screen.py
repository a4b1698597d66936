import io
import os

import pytest

from thalweg.cli.screen import (
    BAD,
    GOOD,
    TIED,
    WIDEST,
    Column,
    Screen,
    grid,
    note,
    say,
    say_json,
    screen_of,
)

COLUMNS = (Column("name"), Column("count", is_right=True, rank=1), Column("remark"))
ROWS = [("a", "1", "short"), ("bcd", "1,000", "a remark of more words than there is room for")]


def screen(columns=80, has_colour=False, encoding="utf-8"):
    return Screen(columns, has_colour, False, encoding)


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self):
        return True


def test_a_table_by_hand():
    assert grid(screen(), COLUMNS, ROWS).splitlines() == [
        "name  count  remark",
        "a         1  short",
        "bcd   1,000  a remark of more words than there is room for",
    ]


def test_a_long_last_column_goes_on_below_itself():
    lines = grid(screen(34), COLUMNS, ROWS).splitlines()
    assert max(map(len, lines)) <= 34
    assert lines[2] == "bcd   1,000  a remark of more"
    assert lines[3] == "             words than there is"


def test_a_narrow_screen_loses_columns_by_rank():
    lines = grid(screen(28), COLUMNS, ROWS).splitlines()
    assert lines[:2] == ["name  remark", "a     short"]
    assert max(map(len, lines)) <= 28


def test_without_room_beside_the_others_text_goes_below_them():
    lines = grid(screen(20), (Column("run"), Column("outcome")), [("r" * 18, "not certified")])
    assert lines.splitlines()[2:] == ["r" * 18, "    not certified"]


def test_empty_columns_are_left_out():
    assert "count" not in grid(screen(), COLUMNS, [("a", "", "b")])


@pytest.mark.parametrize("columns", range(20, 101, 10))
def test_no_line_is_longer_than_the_screen(columns):
    lines = grid(screen(columns), COLUMNS, ROWS).splitlines()
    lines += screen(columns).wrapped("word " * 40, indent=2, hanging=3)
    lines += screen(columns).labelled("Problem", "word " * 40).splitlines()
    assert max(map(len, lines)) <= columns


def test_stand_ins_are_laid_out_at_their_length():
    plain = grid(screen(encoding="ascii"), COLUMNS, [("κ", "1", "x"), ("b", "2", "y")])
    assert [line.index(end) for line, end in zip(plain.splitlines()[1:], "xy", strict=True)] == [
        14, 14,
    ]  # fmt: skip


def test_tied_words_stay_together():
    lines = screen(12).wrapped(f"one two κ{TIED}={TIED}inf")
    assert lines == ["one two", "κ = inf"]


def test_colours_are_for_terminals(monkeypatch):
    for name in ("NO_COLOR", "TERM", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    assert screen_of(Terminal()).has_colour
    assert not screen_of(io.StringIO()).has_colour
    assert screen_of(Terminal()).paint("x", GOOD) == "\x1b[32mx\x1b[0m"
    assert screen_of(Terminal()).paint("x", None) == "x"
    for name, value in (("NO_COLOR", "1"), ("TERM", "dumb")):
        with monkeypatch.context() as now:
            now.setenv(name, value)
            assert not screen_of(Terminal()).has_colour
            assert screen_of(Terminal()).paint("x", BAD) == "x"
    monkeypatch.setenv("NO_COLOR", "")  # empty is not set
    assert screen_of(Terminal()).has_colour


def test_width(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    assert screen_of(io.StringIO()).columns == WIDEST
    for wanted, columns in (("40", 40), ("5", 20), ("900", 100), ("0", WIDEST), ("x", WIDEST)):
        monkeypatch.setenv("COLUMNS", wanted)
        assert screen_of(io.StringIO()).columns == columns


def test_answers_go_to_stdout_and_notes_to_stderr(capsys):
    say("an answer")
    note("a note " * 30)
    say_json({"a": float("inf")})
    out, err = capsys.readouterr()
    assert out == 'an answer\n{\n "a": {\n  "number": "inf"\n }\n}\n'
    assert err == f"note: {'a note ' * 30}\n"  # one line, where it is no terminal


def test_kept_lines_are_folded_only_where_they_must_be():
    found = screen(20).kept("short  line\n  a line that is too long for it")
    assert found.splitlines() == ["short  line", "  a line that is too", "      long for it"]


def test_a_terminal_says_its_width():
    main, other = os.openpty()
    try:
        os.set_inheritable(other, False)
        with os.fdopen(other, "w", closefd=False) as stream:
            assert screen_of(stream).is_terminal
    finally:
        os.close(main)
        os.close(other)


def test_lines_have_no_spaces_at_their_ends():
    columns = (Column("a"), Column("b", is_right=True), Column("c", is_right=True))
    lines = grid(screen(), columns, [("x", "1", ""), ("y", "", "22")]).splitlines()
    assert lines == ["a  b   c", "x  1", "y     22"]
