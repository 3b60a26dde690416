"""Options that several verbs share, and the values they make."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from rich.console import Console

F = TypeVar("F", bound=Callable[..., Any])

_SPAN = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|min|h)?")
_LONGEST_S = 100 * 365 * 86_400.0
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, None: 1.0}


class Span(click.ParamType[float]):
    """A length of time: 500ms, 5s, 2m; a bare number is seconds."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if isinstance(value, float):
            return value
        match = _SPAN.fullmatch(str(value).strip())
        if not match:
            self.fail(f"{value!r} is no length of time; write 500ms, 5s or 2m", param, ctx)
        seconds = float(match[1]) * _UNITS[match[2]]
        if seconds > _LONGEST_S:
            self.fail(f"{value!r} is longer than a hundred years", param, ctx)
        return seconds


def source_options(function: F) -> F:
    """`--root` and `--bundle`: which host is read."""
    root = click.option(
        "--root",
        type=click.Path(path_type=Path),
        help="Read a captured host (a folder that looks like one) instead of this one.",
    )
    bundle = click.option(
        "--bundle",
        type=click.Path(path_type=Path),
        help="Read a bundle made by `necroscope bundle` instead of this host.",
    )
    return root(bundle(function))


def output_options(function: F) -> F:
    """`--json`, `--no-color`, `-q`."""
    json = click.option("--json", "as_json", is_flag=True, help="Print one JSON document (schema in docs/json.md).")
    color = click.option("--no-color", is_flag=True, help="Neither colours nor bold (NO_COLOR is honoured too).")
    quiet = click.option("-q", "--quiet", is_flag=True, help="Print nothing; the exit code tells.")
    return json(color(quiet(function)))


def config_option(function: F) -> F:
    """`--config`."""
    return click.option(
        "--config",
        "config_file",
        type=click.Path(path_type=Path),
        help="Thresholds as TOML (default: /etc/necroscope/necroscope.toml).",
    )(function)


def console(no_color: bool, stderr: bool = False) -> Console:
    """Where reports go: the terminal's width, colours only on a terminal; piped, plain text of 100 columns.

    Without colours there is no bold and no dim either: no escape sequence at all.
    """
    from rich.console import Console

    class Report(Console):
        def on_broken_pipe(self) -> None:
            """Rich would end the program with 1, which says that something is wrong with the node."""
            raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))

    plain = no_color or bool(os.environ.get("NO_COLOR"))
    made = Report(
        no_color=plain,
        color_system=None if plain else "auto",
        stderr=stderr,
        highlight=False,
        emoji=False,
        soft_wrap=False,
    )
    if not made.is_terminal and "COLUMNS" not in made._environ:
        made.width = 100
    return made
