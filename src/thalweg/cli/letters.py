"""Stand-ins for letters that a terminal does not have: κ is `kappa`, ≤ is `<=`.

Text is written for UTF-8. Where a stream has another encoding, what it cannot write is spelled out
by this table, so that nothing reads "?": first before lines are laid out, so that columns stay
under each other, and once more as an error handler of the stream, for whatever goes past that.
"""

from __future__ import annotations

import codecs
import io
import unicodedata

HANDLER = "thalweg.letters"

STAND_INS = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "eps", "η": "eta", "κ": "kappa",
    "λ": "lambda", "μ": "mu", "µ": "u", "ρ": "rho", "σ": "sigma", "τ": "tau", "φ": "phi",
    "Δ": "Delta", "Σ": "sum ", "∇": "grad ", "∂": "d", "∞": "inf", "√": "sqrt ", "‖": "||",
    "≤": "<=", "≥": ">=", "≈": "~", "≠": "!=", "±": "+-", "×": "x", "·": "*", "−": "-", "∈": "in",
    "—": "-", "–": "-", "…": "...", "→": "->", "←": "<-", "↦": "->", "▸": ">", "•": "*",
    "━": "#", "─": "-", "²": "^2", "³": "^3", "½": "1/2", "₀": "0", "₁": "1", "₂": "2", "ᵀ": "'",
    "ℓ": "l", "′": "'", "‘": "'", "’": "'", "“": '"', "”": '"', "✔": "yes", "✘": "no",
}  # fmt: skip


def spelled(text: str, encoding: str) -> str:
    """The text with stand-ins for what `encoding` lacks."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return "".join(_stand_in(letter, encoding) for letter in text)
    return text


def prepare(*streams: object) -> None:
    """Make streams that lack letters write their stand-ins, in place."""
    for stream in streams:
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=HANDLER)


def encoding_of(stream: object) -> str:
    """What a stream writes, UTF-8 where it does not say or says what Python does not know."""
    name = getattr(stream, "encoding", None) or "utf-8"
    try:
        return codecs.lookup(name).name
    except LookupError:
        return "utf-8"


def _stand_in(letter: str, encoding: str) -> str:
    plain = unicodedata.normalize("NFKD", letter)  # ᵗ is a t, é an e and an accent
    bare = "".join(part for part in plain if not unicodedata.combining(part))
    for candidate in (letter, STAND_INS.get(letter, letter), bare):
        try:
            candidate.encode(encoding)
        except UnicodeEncodeError:
            continue
        if candidate:
            return candidate
    return letter.encode("ascii", "backslashreplace").decode()


def _write_stand_ins(problem: UnicodeError) -> tuple[str, int]:
    if not isinstance(problem, UnicodeEncodeError):
        raise problem
    lacking = problem.object[problem.start : problem.end]
    return "".join(_stand_in(letter, problem.encoding) for letter in lacking), problem.end


codecs.register_error(HANDLER, _write_stand_ins)
