"""What an event says, as a sentence for people, made from its fields. Nobody parses it.

What somebody else said (a line of a log, the words of a mark) is shown as it was said.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from necroscope.clock import NS, iso
from necroscope.vocabulary.event import SYMPTOM_SOURCES, Event

_MISSING = {
    "perf": "no samples were taken",
    "sensors": "no signal was read",
}


def sentence(event: Event) -> str:
    """The sentence of an event; empty where it says nothing beyond its kind and subject."""
    made = _OWN.get(event.kind) if event.source not in SYMPTOM_SOURCES else None
    if made is not None:
        return made(event)
    return f"{event.text} (×{event.count})" if event.count is not None and event.count > 1 else event.text


def in_words(event: Event) -> Event:
    """The event with its sentence as its text, for readers that look at nothing else."""
    return replace(event, text=sentence(event))


def _span(event: Event) -> str:
    if event.from_ns is None or event.to_ns is None:
        return ""
    return f" from {iso(event.from_ns)} to {iso(event.to_ns)}"


def _seconds(event: Event) -> float:
    return ((event.to_ns or 0) - (event.from_ns or 0)) / NS


def _lasting(event: Event) -> str:
    return f"{_span(event)} ({_seconds(event):.1f} s)" if _span(event) else ""


def _gap(event: Event) -> str:
    if event.subject == "store" and event.count is not None:
        return f"{event.count:,} samples and other rows{_span(event)} were lost: {event.reason}"
    if event.subject == "perf" and event.count is not None:
        return f"{event.count:,} bytes of perf's stream made no sense"
    if not event.reason:
        return event.text
    what = _MISSING.get(event.subject, "nothing was recorded")
    return f"{what}{_lasting(event) or ' for a time that is not known'}: {event.reason}"


def _stuck(event: Event) -> str:
    return f"rows waited in memory{_lasting(event)}: {event.reason}"


def _recorder(event: Event) -> str:
    return f"pid {event.pid}, boot {event.boot or 'unknown'}"


def _boot(event: Event) -> str:
    return f"the kernel started, boot {event.boot or 'unknown'}"


def _step(event: Event) -> str:
    shown, became = iso(event.from_ns or 0), iso(event.to_ns or 0)
    return f"the wall clock was stepped by {_seconds(event):+.3f} s: {shown} became {became}"


def _lost(event: Event) -> str:
    since = f" since {iso(event.from_ns)}" if event.from_ns is not None else ""
    return f"{event.count} records of perf were lost{since}: nobody emptied its ring in time"


def _throttled(event: Event) -> str:
    return "the kernel resumed sampling" if event.reason == RESUMED else f"the kernel stopped sampling: {event.reason}"


def _life(event: Event) -> str:
    if event.cgroup is None:
        return event.text
    by = f", by {event.task or 'pid'} {event.pid}" if event.pid is not None else ""
    return f"hierarchy {event.hierarchy}, cgroup {event.cgroup}{by}"


def _churn(event: Event) -> str:
    where = "below it" if event.subject else "below other parents"
    by = f", most by pid {event.pid}" if event.pid is not None else ""
    many = f"hierarchy {event.hierarchy}: too many to record one by one"
    return f"{many}: {event.count} made {where} within {_seconds(event):.1f} s{by}; {event.text}".rstrip("; ")


def _start(event: Event) -> str:
    return f"{event.count} starts since the look before" if event.count is not None and event.count > 1 else "started"


def _restart(event: Event) -> str:
    return f"{event.count} more, the last one: {event.reason}" if event.count is not None else event.text


def _reason(event: Event) -> str:
    return event.reason or event.text


def _unresolved(event: Event) -> str:
    return f"{event.count:,} frames unresolved: {event.text}" if event.count is not None else event.text


def _refused(event: Event) -> str:
    seconds = f" for {_seconds(event):.0f} s" if event.to_ns is not None else ""
    return f"{event.reason} at {event.text} of process {event.pid}: no symbols for {event.subject}{seconds}"


def _went(event: Event) -> str:
    segments = "1 segment" if event.count == 1 else f"{event.count or 0:,} segments"
    return f"{segments} ({event.text}){_span(event)} went: {event.reason}"


def _sees(event: Event) -> str:
    return event.text or "sees again"


RESUMED = "resumed"
"""The reason of an event `sampling-throttled` that tells the end of it."""

_OWN: dict[str, Callable[[Event], str]] = {
    "recorder-gap": _gap,
    "store-stuck": _stuck,
    "recorder-started": _recorder,
    "recorder-stopped": _recorder,
    "boot": _boot,
    "clock-step": _step,
    "samples-lost": _lost,
    "sampling-throttled": _throttled,
    "cgroup-mkdir": _life,
    "cgroup-rmdir": _life,
    "cgroup-release": _life,
    "cgroup-churn": _churn,
    "unit-start": _start,
    "unit-failure": _reason,
    "unit-restart": _restart,
    "container-restart": _restart,
    "frames-unresolved": _unresolved,
    "symbols-refused": _refused,
    "retention": _went,
    "sensor-sees": _sees,
}

_WORDED = (
    "perf-started",
    "perf-ended",
    "perf-unavailable",
    "perf-lacks",
    "perf-sampling",
    "store-lost",
    "store-damaged",
    "recorder-sheds",
    "recorder-recovers",
    "sensor-blind",
    "verdict",
)
OWN_KINDS = frozenset({*_OWN, *_WORDED})
"""Kinds of events that a recorder writes itself; docs/recording.md describes them."""
