"""Texts that are typed: times, sizes, penalties, shares, names with options, layers, recipes.

A grammar draws a text; a reference says what it means by other means than the parser, or None where
it does not judge. A parser gives that meaning, or refuses in one sentence.
"""

from __future__ import annotations

import ast
import math
import re
import tomllib
import warnings
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from thalweg.core.duration import seconds_in
from thalweg.core.options import name_and_options
from thalweg.methods.registry import METHODS, resolve
from thalweg.runs.strength import strength_of
from thalweg.tables.budget import budget_of

from .mutators import mutated
from .readers import File

NUMBERS = ("0", "1", "-1", "2.5", "1e3", "1e-400", "1e999", ".5", "5.", "+4", "nan", "inf", "1_0",
           "٣", "0x10", "9" * 400, "9" * 5000, "", " 7", "1,5")  # fmt: skip
VALUES = (*NUMBERS, "True", "None", "(1, 2)", "lipschitz", "'a, b'", "[1, [2]]", "{1: 2}", "-",
          "uniform", "1is", "(" * 300, "'" , "\\x00", "b'x'", "1+2j", "wolfe[c2=0.1]")  # fmt: skip
PLAIN = re.compile(r"\+?(\d+(\.\d*)?|\.\d+)(e[+-]?\d{1,3})?", re.ASCII)
MOST = 10**6  # weights of a network that is built


class Word(NamedTuple):
    """One kind of text."""

    draw: Callable[[np.random.Generator], str]
    read: Callable[[str], Any]
    reference: Callable[[str], Any]  # None where it does not judge


def _of(texts: tuple[str, ...], rng: np.random.Generator) -> str:
    return texts[int(rng.integers(len(texts)))]


def _fraction(text: str) -> Fraction | None:
    """The number by exact arithmetic; None where the text is not plainly one, or very long."""
    return Fraction(text) if len(text) < 999 and PLAIN.fullmatch(text) else None


def _positive(value: Fraction | None) -> float | None:
    if value is None:
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if number > 0.0 else None


def _time(text: str) -> float | None:
    unit = {"s": 1, "m": 60, "h": 3600}.get(text[-1:])
    number = _fraction(text[:-1] if unit else text)
    return None if number is None else _positive(number * (unit or 1))


def _size(text: str) -> float | None:
    found = re.fullmatch(r"(\d+(?:\.\d+)?) ?([kKMGT]?)(i?)B?", text, re.ASCII)
    if not found or len(found[1]) > 15:
        return None
    base = 1024 if found[3] else 1000
    value = Fraction(found[1]) * base ** " KMGT".index(found[2].upper() or " ")
    return float(int(value)) if value else None


def _strength(text: str) -> tuple[float, bool] | None:
    amount, slash, per = text.partition("/")
    number = _fraction(amount)
    if number is None or (slash and per != "n"):
        return None
    try:
        return float(number), bool(slash)
    except OverflowError:
        return None


def _options(text: str) -> Any:
    """As Python reads the arguments of a call, where it does."""
    found = re.fullmatch(r"([\w-]+)\[(.*)\]", text.strip(), re.S)
    if not found or "__" in text:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call = ast.parse(f"f({found[2]})", mode="eval").body
            if not isinstance(call, ast.Call) or call.args or not call.keywords:
                return None
            return found[1], {word.arg: ast.literal_eval(word.value) for word in call.keywords}
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return None


def _with_options(rng: np.random.Generator) -> str:
    names = ("step", "lr", "sampling", "memory", "search", "batch", "betas", "seed", "", "ste p")
    pairs = [f"{_of(names, rng)}={_of(VALUES, rng)}" for _ in range(int(rng.integers(0, 4)))]
    return f"{_of((*METHODS, 'sagg', 'auto', ''), rng)}[{', '.join(pairs)}]"


def _read_method(text: str) -> None:
    resolve(text)


def _layers(rng: np.random.Generator) -> str:
    widths = "x".join(_of(("1", "64", "0", "007", "-3", "9" * 12, "9" * 5000, ""), rng)
                      for _ in range(int(rng.integers(1, 4))))  # fmt: skip
    return _of(("linear", "mlp:", "conv:", "mlp", "conv:4/"), rng) + widths


def _read_layers(text: str) -> None:
    from thalweg.nets.recipes.layers import build, check_layers, weights_of

    check_layers(text)
    if weights_of(text, (8,), 2) < MOST:
        build(text, (8,), 2)


RECIPE = """layers = "mlp:4"
activation = "relu"
initializer = "he"
norm = "batch"
keep = 0.9
optimizer = "adam"
learning_rate = 0.01
clip_norm = 1.0
epochs = 2
batch_size = 8
augmentation = ["rotation[degrees=10]"]
patience = 3
[optimizer_options]
beta1 = 0.8
"""


def _recipe(rng: np.random.Generator) -> str:
    lines = RECIPE.splitlines()
    for _ in range(int(rng.integers(1, 3))):
        place = int(rng.integers(len(lines)))
        head, _, _ = lines[place].partition(" = ")
        told = _of(('"x"', "1", "-1", "0", "nan", "inf", "true", "[]", "{}", "1e999", '""', "[1]",
                    '"\\u001b[31m"', "9" * 400, "1979-05-27", '"mlp:2"', '["noise[std=0.1]"]',
                    "0.5", '"linear"', "[" * 500), rng)  # fmt: skip
        lines[place] = _of((f"{head} = {told}", f"{head}x = {told}", "", told), rng)
    return "\n".join(lines)


def _read_recipe(text: str) -> dict[str, Any]:
    from dataclasses import asdict

    from thalweg.nets.recipes.layers import weights_of
    from thalweg.nets.recipes.recipe import Recipe

    recipe = Recipe.from_toml(text)
    if weights_of(recipe.layers, (8,), 2) < MOST:
        recipe.build((8,), 2)
    return asdict(recipe)


def _toml(text: str) -> Any:
    """What tomllib has, for the fields that it has."""
    try:
        record = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError):
        return None
    return record


WORDS: dict[str, Word] = {
    "time": Word(lambda rng: _of(NUMBERS, rng) + _of(("", "s", "m", "h", "d", "ms"), rng),
                 seconds_in, _time),
    "size": Word(lambda rng: _of(NUMBERS, rng) + _of(("", "B", "kB", "MB", "GiB", "T", "X"), rng),
                 lambda text: float(budget_of(text).limit), _size),
    "penalty": Word(lambda rng: _of(NUMBERS, rng) + _of(("", "/n", "/", "/m", "n"), rng),
                    lambda text: tuple(strength_of("l2", text)), _strength),
    "options": Word(_with_options, name_and_options, _options),
    "method": Word(_with_options, _read_method, lambda text: None),
    "layers": Word(_layers, _read_layers, lambda text: None),
    "recipe": Word(_recipe, _read_recipe, _toml),
}  # fmt: skip


def draw(rng: np.random.Generator) -> tuple[str, File]:
    """A kind, and a text of it: as the grammar has it, or damaged."""
    kind = str(rng.choice(list(WORDS)))
    text = WORDS[kind].draw(rng).encode()
    if rng.random() < 0.4:
        text = mutated(text, rng)
    return kind, File(kind, text)


def judged(kind: str, file: File) -> tuple[str, str]:
    """Read it; what came of it, and how it differs from the reference."""
    text = file.content.decode(errors="surrogateescape")
    word = WORDS[kind]
    expected = word.reference(text)
    found = word.read(text)
    if expected is None:
        return "read", ""
    return "equal", "" if _is_same(found, expected) else f"{found!r}, and {expected!r} by reference"


def _is_same(found: Any, expected: Any) -> bool:
    if isinstance(expected, float) and isinstance(found, float):
        is_none = math.isnan(found) and math.isnan(expected)
        return is_none or found == expected or math.isclose(found, expected, rel_tol=1e-12)
    if isinstance(expected, dict) and isinstance(found, dict):
        return all(_is_same(found.get(key), value) for key, value in expected.items())
    if isinstance(expected, list | tuple) and isinstance(found, list | tuple):
        return len(found) == len(expected) and all(map(_is_same, found, expected))
    return found == expected or repr(found) == repr(expected) or (expected == 0 and found is None)
