"""The sentences of events as format versions 1 and 2 had them, taken apart: kind by kind, into fields.

A pattern is that of the version that wrote it, and does not change. A sentence of which nothing is left but its fields
is gone afterwards: its text is empty, as in rows that are written today.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from necroscope.sense.importers.logs.ray_lines import ray_event
from necroscope.sense.log.symptom_event import fields_of_line
from necroscope.vocabulary.event import SYMPTOM_SOURCES
from necroscope.vocabulary.event_sentence import RESUMED

Fields = dict[str, Any]
_LOGS = frozenset({"kmsg", "dmesg", "journal"})
_MS = 1_000_000
_INT31, _INT63 = (1 << 31) - 1, (1 << 63) - 1

_TIMES = re.compile(r" \(×(\d{1,9})\)$")
_LIFE = re.compile(r"hierarchy (\d{1,9}), cgroup (\d{1,19})(?:, level \d+)?(?:, by (.{1,64}) (-?\d{1,10}))?$")
_CHURN = re.compile(
    r"hierarchy (\d{1,9}): too many to be told one by one: (\d{1,12}) made, (.+?) (?:below it|below other parents) "
    r"within ([\d.]{1,12}) s, (\d{1,12}) of them removed and released at once(?:, most by pid (\d{1,10}))?(.*)$"
)
_SPAN = re.compile(r" from (\S{20,40}Z) to (\S{20,40}Z)")
_WHY = re.compile(r"(?: \([\d.]+ s\)| were lost| went): (.*)$", re.DOTALL)
_UNKNOWN_SPAN = re.compile(r"nothing was recorded for a time that is not known: (.*)$")
_ROWS = re.compile(r"([\d,]{1,20}) samples and other rows ")
_BYTES = re.compile(r"(\d{1,18}) bytes of perf's stream")
_STARTED = re.compile(r"pid (\d{1,10}), boot (\S{1,64})$")
_BOOTED = re.compile(r"\bboot (\S{1,64})$")
_STEP = re.compile(r": (\S{20,40}Z) became (\S{20,40}Z)$")
_LOST = re.compile(r"(\d{1,18}) records of perf were lost(?: since (\S{20,40}Z))?")
_CPU = re.compile(r"cpu(\d{1,9})")
_MORE = re.compile(r"(\d{1,12}) more, \d{1,12} in all: (.*)$", re.DOTALL)
_STARTS = re.compile(r"(\d{1,12}) starts ")
_UNRESOLVED = re.compile(r"([\d,]{1,20}) frames unresolved: (.*)$", re.DOTALL)
_REFUSED = re.compile(r"(.*) at (.*) of process (\d{1,10}): no symbols for .* for (\d{1,9}) s$", re.DOTALL)
_WENT = re.compile(r"(?:1 segment|([\d,]{1,20}) segments) \(([^)]*)\)")


def fields_of(at_ns: int, kind: str, source: str, subject: str, text: str) -> Fields:
    """What a sentence says: fields of an event, and its `text` where that is another now. Whatever the text."""
    if source == "ray":
        return _of_ray(text)
    if source in _LOGS:
        return _of_log(kind, subject, text)
    made = _KINDS.get(kind) if source not in SYMPTOM_SOURCES else None
    return made(at_ns, subject, text) if made is not None else {}


def _of_ray(text: str) -> Fields:
    found = ray_event(text.encode("utf-8", "replace"))
    fields = {"pid": found.pid, "stall_s": found.stall_s} if found is not None else {}
    return _bounded({name: value for name, value in fields.items() if value is not None})


def _of_log(kind: str, subject: str, text: str) -> Fields:
    if kind.startswith("unit-"):
        return {"count": 1} if kind in ("unit-start", "unit-restart") else {}
    times = _TIMES.search(text)
    line = text[: times.start()] if times else text
    found = {"text": line, **fields_of_line(line)}
    if times:
        found["count"] = int(times[1])
    if "cpu" not in found and (cpu := _CPU.fullmatch(subject)):
        found["cpu"] = int(cpu[1])
    return _bounded(found)


def _life(at_ns: int, subject: str, text: str) -> Fields:
    found = _LIFE.match(text)
    if found is None:
        return {}
    who = {"pid": int(found[4]), "task": "" if found[3] == "pid" else found[3]} if found[4] else {}
    return _bounded({"text": "", "hierarchy": int(found[1]), "cgroup": int(found[2]), **who})


def _churn(at_ns: int, subject: str, text: str) -> Fields:
    found = _CHURN.match(text)
    if found is None:
        return {}
    rest = f"{found[3]}, {found[5]} of them removed and released at once{found[7]}"
    fields = {"text": rest, "hierarchy": int(found[1]), "count": int(found[2]), "from_ns": at_ns}
    fields["to_ns"] = at_ns + round(_seconds(found[4]) * 1e9)
    return _bounded({**fields, **({"pid": int(found[6])} if found[6] else {})})


def _gap(at_ns: int, subject: str, text: str) -> Fields:
    if unknown := _UNKNOWN_SPAN.match(text):
        return {"reason": unknown[1]}
    if skipped := _BYTES.match(text):
        return {"text": "", "count": int(skipped[1])}
    rows = _ROWS.match(text)
    return _spanned(at_ns, text) | ({"count": _whole(rows[1])} if rows else {})


def _stuck(at_ns: int, subject: str, text: str) -> Fields:
    found = _spanned(at_ns, text)
    return {"text": "", **found} if found else {}


def _spanned(at_ns: int, text: str) -> Fields:
    """From when to when, and why. A begin that is the event's own time is as exact as that."""
    span, why = _SPAN.search(text), _WHY.search(text)
    low, high = (_ns(one) for one in span.groups()) if span else (None, None)
    if low is None or high is None:
        return {}
    low = at_ns if 0 <= at_ns - low < _MS else low
    return {"from_ns": low, "to_ns": high, **({"reason": why[1]} if why else {})}


def _recorder(at_ns: int, subject: str, text: str) -> Fields:
    found = _STARTED.match(text)
    return _bounded({"pid": int(found[1]), "boot": _boot_id(found[2])}) if found else {}


def _boot(at_ns: int, subject: str, text: str) -> Fields:
    found = _BOOTED.search(text)
    return {"text": "", "boot": _boot_id(found[1])} if found else {}


def _step(at_ns: int, subject: str, text: str) -> Fields:
    found = _STEP.search(text)
    low, high = (_ns(one) for one in found.groups()) if found else (None, None)
    return {"text": "", "from_ns": low, "to_ns": high} if low is not None and high is not None else {}


def _lost(at_ns: int, subject: str, text: str) -> Fields:
    found, cpu = _LOST.match(text), _CPU.fullmatch(subject)
    if found is None:
        return {}
    since = {"from_ns": low} if found[2] and (low := _ns(found[2])) is not None else {}
    fields = {"text": "", "count": int(found[1]), "to_ns": at_ns, **since}
    return _bounded({**fields, **({"cpu": int(cpu[1])} if cpu else {})})


def _throttled(at_ns: int, subject: str, text: str) -> Fields:
    cpu = _CPU.fullmatch(subject)
    why = RESUMED if "resumed" in text else "it took too long"
    return _bounded({"text": "", "reason": why, **({"cpu": int(cpu[1])} if cpu else {})})


def _start(at_ns: int, subject: str, text: str) -> Fields:
    found = _STARTS.match(text)
    return {"count": int(found[1]) if found else 1}


def _failure(at_ns: int, subject: str, text: str) -> Fields:
    return {"reason": text}


def _restart(at_ns: int, subject: str, text: str) -> Fields:
    found = _MORE.match(text)
    return {"count": int(found[1]), "reason": found[2]} if found else {}


def _unresolved(at_ns: int, subject: str, text: str) -> Fields:
    found = _UNRESOLVED.match(text)
    return {"count": _whole(found[1]), "text": found[2]} if found else {}


def _refused(at_ns: int, subject: str, text: str) -> Fields:
    found = _REFUSED.match(text)
    if found is None:
        return {}
    span = {"from_ns": at_ns, "to_ns": at_ns + int(found[4]) * 1_000_000_000}
    return _bounded({"reason": found[1], "text": found[2], "pid": int(found[3]), **span})


def _went(at_ns: int, subject: str, text: str) -> Fields:
    found, span = _WENT.match(text), _spanned(0, text)
    return {"count": _whole(found[1]) if found[1] else 1, "text": found[2], **span} if found and span else {}


_KINDS: dict[str, Callable[[int, str, str], Fields]] = {
    "cgroup-mkdir": _life,
    "cgroup-rmdir": _life,
    "cgroup-release": _life,
    "cgroup-churn": _churn,
    "recorder-gap": _gap,
    "store-stuck": _stuck,
    "recorder-started": _recorder,
    "recorder-stopped": _recorder,
    "boot": _boot,
    "clock-step": _step,
    "samples-lost": _lost,
    "sampling-throttled": _throttled,
    "unit-start": _start,
    "unit-failure": _failure,
    "unit-restart": _restart,
    "container-restart": _restart,
    "frames-unresolved": _unresolved,
    "symbols-refused": _refused,
    "retention": _went,
}


def _ns(text: str) -> int | None:
    try:
        moment = datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC)
    except ValueError:
        return None
    return round(moment.timestamp() * 1000) * _MS


def _whole(text: str) -> int:
    return int(text.replace(",", "") or 0)


def _seconds(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


def _boot_id(text: str) -> str:
    return "" if text == "unknown" else text


def _bounded(fields: Fields) -> Fields:
    """Without numbers that no column holds."""
    small = {"cpu", "queue", "hierarchy"}
    return {
        name: value
        for name, value in fields.items()
        if not isinstance(value, int) or -_INT31 <= value <= (_INT31 if name in small else _INT63)
    }
