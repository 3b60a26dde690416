"""Which samples a verb is about: options that several verbs share.

@window_options
def flame(wanted: Wanted, ...):
    select, words = window_choice.chosen(store, wanted)
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

import click

from necroscope.cli.shared.completion import event_option
from necroscope.cli.shared.options import Span
from necroscope.cli.shared.times import Instant
from necroscope.query.select import AFTER_S, BEFORE_S, Wanted

_CORES = re.compile(r"\d{1,6}(-\d{1,6})?(,\d{1,6}(-\d{1,6})?)*")
_MOST_CORES = 1 << 16


class Cores(click.ParamType[frozenset[int]]):
    """Numbers of cores: 3, or 0-3,8."""

    name = "cores"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> frozenset[int]:
        if isinstance(value, frozenset):
            return value
        if not _CORES.fullmatch(str(value)):
            self.fail(f"{value!r} names no cores; write 3 or 0-3,8", param, ctx)
        spans = ((part.partition("-")[0], part.rpartition("-")[2]) for part in str(value).split(","))
        found = frozenset(core for low, high in spans for core in range(int(low), min(int(high), _MOST_CORES) + 1))
        if not found:
            self.fail(f"{value!r} names no cores; write 3 or 0-3,8", param, ctx)
        return found


_OPTIONS = (
    click.option("--from", "from_ns", type=Instant(), help="From this time on: -10m, 14:03:07, ISO 8601."),
    click.option("--to", "to_ns", type=Instant(), help="Up to this time."),
    click.option("--at", "at_ns", type=Instant(), help="Around this time (see --before, --after)."),
    event_option("Around an event: its id, as `necroscope events` prints it, or a kind (its latest occurrence)."),
    click.option("--before", "before_s", type=Span(), help=f"With --at or --event: so long before ({BEFORE_S:.0f}s)."),
    click.option("--after", "after_s", type=Span(), help=f"With --at or --event: so long after ({AFTER_S:.0f}s)."),
    click.option("--cpu", "cpus", type=Cores(), help="Only these cores: 3, or 0-3,8."),
    click.option(
        "--process",
        "processes",
        metavar="PID|NAME",
        multiple=True,
        help="Only this pid, or threads of this name; repeatable.",
    ),
    click.option(
        "--thread", "threads", metavar="TID", type=int, multiple=True, help="Only this thread id; repeatable."
    ),
    click.option(
        "--cgroup", "cgroups", metavar="PATH", multiple=True, help="Only this cgroup path and all below it; repeatable."
    ),
    click.option(
        "--event-type",
        "event_types",
        metavar="EVENT",
        multiple=True,
        help="Only samples of this perf event; repeatable.",
    ),
)


def window_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options of a window. The function gets them as one argument, `wanted`."""

    @functools.wraps(function)
    def gathered(**arguments: Any) -> Any:
        given = {name: arguments.pop(name) for name in Wanted.__dataclass_fields__}
        return function(wanted=Wanted(**{**given, "cpus": given["cpus"] or frozenset()}), **arguments)

    made: Callable[..., Any] = gathered
    for option in reversed(_OPTIONS):
        made = option(made)
    return made
