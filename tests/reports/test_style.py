import re

import pytest

from thalweg.reports.convergence import AXES, MEASURES
from thalweg.reports.style import STYLE


def luminance(code):
    channels = [int(code[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a, b):
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


def colours():
    """The variables of the page, light and dark."""
    blocks = re.findall(r":root\{[^}]*--bg[^}]*\}", STYLE)
    assert len(blocks) == 2
    return [dict(re.findall(r"--([\w-]+):(#\w{6})", block)) for block in blocks]


@pytest.mark.parametrize("side", [0, 1])
def test_every_text_stands_out_from_its_ground(side):
    code = colours()[side]
    for tone in ("good", "warn", "bad", "info"):
        assert contrast(code[tone], code[f"{tone}-bg"]) >= 4.5, tone
        assert contrast(code["ink"], code[f"{tone}-bg"]) >= 4.5, tone
    for text in ("ink", "muted", "link"):
        for ground in ("bg", "soft"):
            assert contrast(code[text], code[ground]) >= 4.5, (text, ground)


def test_there_is_a_rule_for_every_figure_that_may_be_chosen():
    for y in range(len(MEASURES)):
        for x in range(len(AXES)):
            assert f"[value=y{y}]:checked):has([value=x{x}]:checked) .y{y}.x{x}{{" in STYLE


def test_every_brace_is_closed_and_nothing_is_fetched():
    assert STYLE.count("{") == STYLE.count("}")
    for word in ("http", "url(", "@import", "<", "&"):
        assert word not in STYLE, word
