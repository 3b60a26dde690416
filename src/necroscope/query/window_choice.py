"""The window that a question is about, and the samples of it: what was asked for, met with what was recorded."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from necroscope.clock import NS, iso
from necroscope.errors import BadInput
from necroscope.quantity import span
from necroscope.query.events.event_names import find_event, kinds_there, no_such
from necroscope.query.extent import extent, extent_of_all
from necroscope.query.samples.no_samples import without_samples
from necroscope.query.sealed import again
from necroscope.query.select import AFTER_S, BEFORE_S, DEFAULT_S, LAST_S, Select, Wanted
from necroscope.store.read.reader import Store
from necroscope.vocabulary.event import Window

_COMM_BYTES = 15
# What comes a little after a window is looked at too, and must be a time as well.
_LATEST_NS = (1 << 63) - 1 - 60 * NS


def chosen(store: Store, wanted: Wanted, counters: bool = False) -> tuple[Select, str]:
    """The selection, and in words what it is. Without any time: the last minute that the store has samples of, or with
    `counters`, where it has some, these."""
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
    # A second look, as the segment that has it may have been merged away during the first one.
    for _ in range(2):
        snapshot = store.snapshot()
        if event := find_event(snapshot, name):
            return event.at_ns, f"around {event.kind} {event.subject}".rstrip()
    raise no_such("event", name, kinds_there(snapshot))


def _processes(given: tuple[str, ...]) -> tuple[frozenset[int], frozenset[str]]:
    """Numbers are pids, all else names of threads; the kernel keeps 15 bytes of a name."""
    numbers = {one for one in given if one.isascii() and one.isdigit() and len(one) < 10}
    pids, names = frozenset(map(int, numbers)), set(given) - numbers
    if pids and names:
        raise BadInput("--process takes pids or names, not both at once.", "give only pids, or only names")
    cut = {name.encode("utf-8", "surrogateescape")[:_COMM_BYTES].decode("utf-8", "replace") for name in names}
    return pids, frozenset(names | cut)


def _words(window: Window, around: str, wanted: Wanted) -> str:
    """For people. Names of events, and names that were given, may come from anybody: they are not harmless yet."""
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
    return ", ".join(parts)


def bundle_window(store: Store, wanted: Wanted) -> tuple[Window, str]:
    """The window of a bundle, and in words what it is: of all rows, also where there are no samples. Without any time
    it is the last ten minutes of the recording."""
    around = wanted.at_ns is not None or wanted.event is not None
    last = wanted == Wanted()
    select, words = chosen(store, wanted if around else _bounded(store, wanted))
    return select.window, f"{words}, the last of the recording" if last else words


def nothing_there(store: Store, words: str) -> BadInput:
    """The error of a window without a row; `words` say which it is."""
    first_ns, last_ns = _whole(store)
    return BadInput(f"The recording has nothing of {words}.", f"it goes from {iso(first_ns)} to {iso(last_ns)}")


def _whole(store: Store) -> Window:
    """Times of the first and the last row of the store."""
    if (found := extent_of_all(store.snapshot())) is None:
        raise BadInput("The store is empty.", "record first (`necroscope record`), or take this instant with --now")
    return found


def _bounded(store: Store, wanted: Wanted) -> Wanted:
    """Both ends of the window, also where there are no samples."""
    if wanted.before_s is not None or wanted.after_s is not None or None not in (wanted.from_ns, wanted.to_ns):
        return wanted
    first_ns, last_ns = _whole(store)
    to_ns = max(last_ns, wanted.from_ns or 0) if wanted.to_ns is None else wanted.to_ns
    from_ns = wanted.from_ns
    if from_ns is None:
        from_ns = min(first_ns, to_ns) if wanted.to_ns is not None else max(first_ns, to_ns - round(LAST_S * NS) + 1)
    return replace(wanted, from_ns=from_ns, to_ns=to_ns)
