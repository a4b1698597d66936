"""An HTML document that asks for nothing else: its style and its one script are in it.

Its policy (Content-Security-Policy) forbids every request, and every script but that one.
"""

from __future__ import annotations

from thalweg.core.text import escaped
from thalweg.reports.markup import Markup, element
from thalweg.reports.script import SCRIPT, script_hash
from thalweg.reports.style import STYLE

FOOT = "Made by Thalweg. This page asks for nothing and sends nothing."


def document(title: str, content: Markup, style: str = "") -> str:
    """The whole document; `style` comes after that of all pages."""
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src {script_hash()}; "
        "base-uri 'none'; form-action 'none'"
    )
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8" />'
        f'<meta http-equiv="Content-Security-Policy" content="{escaped(policy)}" />'
        '<meta name="viewport" content="width=device-width, initial-scale=1" />'
        '<meta name="generator" content="Thalweg" />'
        f"<title>{escaped(title)}</title><style>{STYLE}{style}</style></head>"
        f"<body><main>{content}{element('footer', FOOT)}"
        f"</main><script>{SCRIPT}</script></body></html>\n"
    )
