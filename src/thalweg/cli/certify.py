"""`thalweg certify RUN`: what the saved weights are, proved anew on the run's data."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from thalweg.cli import completion
from thalweg.cli.exit_code import DONE, STOPPED
from thalweg.cli.options import builder, everywhere
from thalweg.cli.screen import DOUBTFUL, GOOD, Screen, say, say_json, screen_of

if TYPE_CHECKING:
    from thalweg.certificates.critical_point import CriticalPoint
    from thalweg.core.certificate import Certificate


@click.command()
@click.argument("run", type=click.Path(), shell_complete=completion.runs)
@builder
@everywhere
def certify(run: str, model: str | None, as_json: bool, quiet: bool) -> int:
    """Prove, or not, what the saved weights of RUN are.

    The run's data are read again. A linear model gets its duality gap; a network is told minimum,
    saddle or not stationary, by the gradient and the ends of the Hessian's spectrum on some of its
    rows. Of a comparison, the best run is certified.

    Exits with 0 where it is certified, or a minimum, and 3 where it is not.
    """
    from thalweg.core.certificate import Certificate
    from thalweg.jobs.certification import certified
    from thalweg.runs.saved import load

    saved = load(run).best
    found = certified(saved, builder=model or "")
    if isinstance(found, Certificate):
        holds, text = found.holds, certificate_text(screen_of(), found)
    else:
        holds, text = found.kind == "minimum", point_text(screen_of(), found)
    if as_json:
        say_json({"run": str(saved.folder), "holds": bool(holds), **record(found)})
    else:
        say(text)
    return DONE if holds else STOPPED


def certificate_text(screen: Screen, found: Certificate) -> str:
    """What a person reads of a linear model."""
    word = "CERTIFIED" if found.holds else "NOT CERTIFIED"
    return card(
        screen, word, found.statement, found.holds,
        {"shows": found.shows, "not shown": found.does_not_show},
    )  # fmt: skip


def point_text(screen: Screen, found: CriticalPoint) -> str:
    """What a person reads of a network."""
    return card(screen, found.kind.upper(), found.objective, found.kind == "minimum", {
        "verdict": found.explanation,
        "gradient": f"‖∇f‖∞ = {found.gradient_norm:.3g}, limit {found.gradient_limit:.3g}",
        "curvature": f"λ_min = {found.smallest:.4g}, λ_max = {found.largest:.4g}, "
        f"error ≤ {found.error:.2g} ({found.products} products)",
        "escape": "" if found.escape is None else f"f falls by {found.drop:.3g} along a direction",
    })  # fmt: skip


def card(screen: Screen, word: str, about: str, is_good: bool, lines: dict[str, str]) -> str:
    """The verdict on the first line, what it rests on below."""
    first, *rest = screen.wrapped(f"{word}  {about}", hanging=2)
    head = screen.paint(word, GOOD if is_good else DOUBTFUL) + first[len(word) :]
    below = [screen.labelled(f"  {label}", text, 13) for label, text in lines.items() if text]
    return "\n".join([head, *rest, *below])


def record(found: Any) -> dict[str, Any]:
    """The same as plain values: a certificate or a critical point, the other None."""
    from thalweg.core.certificate import Certificate

    if isinstance(found, Certificate):
        return {"certificate": asdict(found), "point": None}
    return {"certificate": None, "point": {**asdict(found), "escape": found.escape is not None}}
