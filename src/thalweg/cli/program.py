"""The command with its verbs. What a verb needs is imported when it runs, so that help is quick.

Options stand before or after the verb: what comes before it is moved behind it. A verb returns its
exit code; what it raises becomes one paragraph on stderr (`failure`).
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import click

from thalweg.cli import failure
from thalweg.cli.address_space import keep_within
from thalweg.cli.certify import certify
from thalweg.cli.diagnose import diagnose
from thalweg.cli.exit_code import DONE, PIPE_BROKEN
from thalweg.cli.explain import explain
from thalweg.cli.export import export
from thalweg.cli.lab import lab
from thalweg.cli.letters import prepare
from thalweg.cli.methods import methods
from thalweg.cli.plan import plan
from thalweg.cli.predict import predict
from thalweg.cli.report import report
from thalweg.cli.runs import runs
from thalweg.cli.streams import silence, usable
from thalweg.cli.train import train
from thalweg.cli.warm_up import warm_up
from thalweg.core.errors import InputError, suggest

VERBS = (
    plan,
    train,
    predict,
    certify,
    diagnose,
    explain,
    report,
    export,
    runs,
    methods,
    warm_up,
    lab,
)
EPILOG = """\b
Completion in your shell, for the session; put the line into its start-up file to keep it:
  bash  eval "$(_THALWEG_COMPLETE=bash_source thalweg)"
  zsh   eval "$(_THALWEG_COMPLETE=zsh_source thalweg)"
  fish  _THALWEG_COMPLETE=fish_source thalweg | source
"""


class Program(click.Group):
    """A group of verbs, whose errors are sentences."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run the verb and leave with its exit code."""
        prepare(sys.stdout, sys.stderr)
        if not standalone_mode:
            return super().main(args, prog_name, complete_var, False, **extra)
        with usable():
            try:
                keep_within()
                code = super().main(args, prog_name, complete_var, False, **extra)
                sys.stdout.flush()
            except PipeClosed:
                silence(sys.stdout)
                code = PIPE_BROKEN
            except (Exception, KeyboardInterrupt) as problem:
                typed = sys.argv[1:] if args is None else [*args]
                found = failure.failure_of(problem, typed, self._options_of_verb(typed))
                failure.show(found)
                code = found.code
                _leave(sys.stdout)
        sys.exit(code if isinstance(code, int) else DONE)

    def make_context(self, *given: Any, **named: Any) -> click.Context:
        """Read what was typed, and show help."""
        with _telling_closed_pipes():
            return super().make_context(*given, **named)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the verb."""
        with _telling_closed_pipes():
            return super().invoke(ctx)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Options before the verb are moved behind it."""
        options = self._options()
        place = _place_of_verb(args, options)
        if place is not None:
            args = [args[place], *args[:place], *args[place + 1 :]]
        elif not ctx.resilient_parsing and any(_name(each) in options for each in args):
            ctx.fail(f"Missing verb, one of {', '.join(self.commands)}.")
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The verb, or the nearest to what was typed."""
        name = args[0]
        if self.get_command(ctx, name) is None and not ctx.resilient_parsing:
            ctx.fail(f"No such verb {name!r}: {suggest(name, self.commands)}")
        found = super().resolve_command(ctx, args)
        if found[1] is not None and not ctx.resilient_parsing:
            refuse_twice(ctx, found[1], found[2])
        return found

    def _options_of_verb(self, typed: Sequence[str]) -> list[str]:
        """The options that the verb in `typed` has."""
        place = _place_of_verb(typed, self._options())
        verb = None if place is None else self.commands.get(typed[place])
        return [] if verb is None else [name for param in verb.params for name in param.opts]

    def _options(self) -> dict[str, bool]:
        """The options of all verbs, and whether they take a value."""
        return {
            name: not (option.is_flag or option.count)
            for verb in self.commands.values()
            for option in verb.params
            if isinstance(option, click.Option)
            for name in (*option.opts, *option.secondary_opts)
        }


def refuse_twice(ctx: click.Context, verb: click.Command, args: Sequence[str]) -> None:
    """Raise where an option that takes one value was typed twice: one would be lost, unseen."""
    try:
        own = click.Context(verb, info_name=verb.name, parent=ctx)
        order = verb.make_parser(own).parse_args(list(args))[2]
    except click.UsageError:  # the verb says it better
        return
    for option, times in Counter(order).items():
        has_one = isinstance(option, click.Option) and not (option.multiple or option.is_flag)
        if has_one and times > 1:
            raise InputError(f"{option.opts[0]} must be given once, got it {times} times")


class PipeClosed(Exception):  # noqa: N818
    """Whoever read the output has gone: `thalweg runs | head`."""


@click.group(
    cls=Program, epilog=EPILOG, invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)  # fmt: skip
@click.version_option(package_name="thalweg")
@click.pass_context
def main(ctx: click.Context) -> None:
    """A workbench for optimization in machine learning.

    DATA is a file (CSV, TSV, Parquet, svmlight, NPZ, NPY, IDX) or a built-in: @cancer, @diabetes,
    @digits, @iris, @wine. Try `thalweg plan @cancer --standardize`.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


for verb in VERBS:
    main.add_command(verb)


@contextmanager
def _telling_closed_pipes() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError as problem:
        raise PipeClosed from problem  # click would leave with the code of an internal error


def _place_of_verb(args: Sequence[str], options: Mapping[str, bool]) -> int | None:
    """Where the verb stands: the first word that is no option and no option's value."""
    place = 0
    while place < len(args) and args[place] not in ("--", "--version"):
        if not args[place].startswith("-"):
            return place
        has_value = options.get(_name(args[place])) and "=" not in args[place]
        place += 2 if has_value else 1
    return None


def _name(word: str) -> str:
    return word.partition("=")[0]


def _leave(stream: Any) -> None:
    """Write what waits in a stream, or lose it: that it cannot be written has been said."""
    try:
        stream.flush()
    except OSError:
        silence(stream)
