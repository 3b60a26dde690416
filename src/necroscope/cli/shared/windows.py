"""Which samples a verb is about: options that several verbs share, and the selection they make.

@window_options
def flame(wanted: Wanted, ...):
    select, words = chosen(store, wanted)
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from necroscope.cli.shared.blindness import without_samples
from necroscope.cli.shared.options import Span
from necroscope.cli.shared.times import Instant
from necroscope.clock import NS, iso
from necroscope.errors import BadInput

if TYPE_CHECKING:
    from necroscope.query.select import Select
    from necroscope.store.read.reader import Store
    from necroscope.vocabulary.event import Window

DEFAULT_S = 60.0
BEFORE_S, AFTER_S = 10.0, 2.0
_CORES = re.compile(r"\d{1,6}(-\d{1,6})?(,\d{1,6}(-\d{1,6})?)*")
_MOST_CORES = 1 << 16
_COMM_BYTES = 15
# What comes a little after a window is looked at too, and must be a time as well.
_LATEST_NS = (1 << 63) - 1 - 60 * NS


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the options said; None and empty: nothing."""

    from_ns: int | None = None
    to_ns: int | None = None
    at_ns: int | None = None
    event: str | None = None
    before_s: float | None = None
    after_s: float | None = None
    cpus: frozenset[int] = frozenset()
    processes: tuple[str, ...] = ()
    threads: tuple[int, ...] = ()
    cgroups: tuple[str, ...] = ()
    event_types: tuple[str, ...] = ()


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
    click.option(
        "--event", help="Around an event: its id (`necroscope events --json`), or a kind, for the last of it."
    ),
    click.option("--before", "before_s", type=Span(), help=f"With --at or --event: so long before ({BEFORE_S:.0f}s)."),
    click.option("--after", "after_s", type=Span(), help=f"With --at or --event: so long after ({AFTER_S:.0f}s)."),
    click.option("--cpu", "cpus", type=Cores(), help="Only these cores: 3, or 0-3,8."),
    click.option("--process", "processes", multiple=True, help="Only this pid, or threads of this name; repeatable."),
    click.option("--thread", "threads", type=int, multiple=True, help="Only this thread id; repeatable."),
    click.option("--cgroup", "cgroups", multiple=True, help="Only this cgroup path and all below it; repeatable."),
    click.option("--event-type", "event_types", multiple=True, help="Only samples of this perf event; repeatable."),
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


def chosen(store: Store, wanted: Wanted, counters: bool = False) -> tuple[Select, str]:
    """The selection, and in words what it is. Without any time: the last minute that the store has samples of, or with
    `counters`, where it has some, these."""
    from necroscope.query.sealed import again
    from necroscope.query.select import Select

    window, around = again(lambda: _window(store, wanted, counters))
    if window[0] > window[1]:
        raise BadInput("The window ends before it begins.", "look at --from and --to")
    pids, comms = _processes(wanted.processes)
    select = Select(
        window,
        cpus=wanted.cpus,
        pids=pids,
        tids=frozenset(wanted.threads),
        comms=comms,
        cgroups=frozenset(wanted.cgroups),
        events=frozenset(wanted.event_types),
    )
    return select, _words(window, around, wanted)


def _window(store: Store, wanted: Wanted, counters: bool) -> tuple[Window, str]:
    if wanted.event is not None or wanted.at_ns is not None:
        return _around(store, wanted)
    if wanted.before_s is not None or wanted.after_s is not None:
        raise BadInput("--before and --after need an instant.", "add --at TIME or --event ID")
    if wanted.from_ns is not None and wanted.to_ns is not None:
        return (wanted.from_ns, wanted.to_ns), ""
    first_ns, last_ns = _extent(store, counters)
    if wanted.to_ns is not None:
        return (min(first_ns, wanted.to_ns), wanted.to_ns), ""
    if wanted.from_ns is not None:
        return (wanted.from_ns, max(last_ns, wanted.from_ns)), ""
    return (max(first_ns, last_ns - int(DEFAULT_S * NS) + 1), last_ns), "the last that was recorded"


def _extent(store: Store, counters: bool) -> Window:
    from necroscope.query.extent import extent

    snapshot = store.snapshot()
    if counters:
        with suppress(BadInput):
            return extent(snapshot, "cores")
    try:
        return extent(snapshot)
    except BadInput as error:
        raise without_samples(store, error) from error


def _around(store: Store, wanted: Wanted) -> tuple[Window, str]:
    if wanted.from_ns is not None or wanted.to_ns is not None or None not in (wanted.at_ns, wanted.event):
        raise BadInput("--from/--to, --at and --event exclude each other.", "give one of them")
    words = ""
    at_ns = wanted.at_ns
    if at_ns is None:
        at_ns, words = _event(store, wanted.event or "")
    before_s = BEFORE_S if wanted.before_s is None else wanted.before_s
    after_s = AFTER_S if wanted.after_s is None else wanted.after_s
    return (max(0, at_ns - round(before_s * NS)), min(_LATEST_NS, at_ns + round(after_s * NS))), words


def _event(store: Store, name: str) -> tuple[int, str]:
    """When an event happened, and which it was: by id, or the last of a kind."""
    from necroscope.query.landmarks import find_event

    # A second look, as the segment that has it may have been merged away during the first one.
    for _ in range(2):
        if found := find_event(store.snapshot(), name):
            return found
    raise BadInput(f"The store has no event {name}.", "`necroscope events --json` lists them with their ids")


def _processes(given: tuple[str, ...]) -> tuple[frozenset[int], frozenset[str]]:
    """Numbers are pids, all else names of threads; the kernel keeps 15 bytes of a name."""
    numbers = {one for one in given if one.isascii() and one.isdigit() and len(one) < 10}
    pids, names = frozenset(map(int, numbers)), set(given) - numbers
    if pids and names:
        raise BadInput("--process takes pids or names, not both at once.", "give only pids, or only names")
    cut = {name.encode("utf-8", "surrogateescape")[:_COMM_BYTES].decode("utf-8", "replace") for name in names}
    return pids, frozenset(names | cut)


def _words(window: Window, around: str, wanted: Wanted) -> str:
    """For people: names of events, and names that were given, may come from anybody."""
    from necroscope.quantity import span
    from necroscope.show.plain import plain

    length = span((window[1] - window[0] + 1) / NS)
    parts = [f"{iso(window[0])} to {iso(window[1])} ({', '.join(filter(None, (length, around)))})"]
    if wanted.cpus:
        parts.append(f"cpu {','.join(map(str, sorted(wanted.cpus)))}")
    for word, given in (
        ("process", wanted.processes),
        ("thread", wanted.threads),
        ("cgroup", wanted.cgroups),
        ("event type", wanted.event_types),
    ):
        parts += [f"{word} {' '.join(map(str, given))}"] if given else []
    return plain(", ".join(parts))
