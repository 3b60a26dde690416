"""What `perf script --header` says above the samples: which host, when, and how the samples' clock relates to UTC.

    # hostname : node7
    # captured on    : Mon Nov 16 18:03:37 2026
    # event : name = cpu-clock:ppp, , id = { 1, 2 }, type = 1, size = 128, { sample_period, sample_freq } = 97, ...
    # time of last sample : 11530.991468
    # reference time: 2026-11-16 18:03:22.056570 = 1794852202.056570 (TOD) = 11528.622350266 (monotonic)

The last line is there when perf noted both clocks (`perf record --clockid`). "captured on" is when the recording was
last written, in the time zone of the machine that ran `perf script`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime

NS = 1_000_000_000

_LINE = re.compile(rb"^# ([a-z][a-z ]{2,30}?) *: (.{1,4000})$", re.MULTILINE)
_EVENT = re.compile(r"name = ([^\s,]{1,200}),.*?(?:\{ sample_period, sample_freq \} = (\d{1,10}))(.*)")
_REFERENCE = re.compile(r"= (\d{1,12})\.(\d{1,9}) \(TOD\) = (\d{1,12})\.(\d{1,9}) \(")
_FREQUENCY = re.compile(r"\s(?:-F|--freq)[ =]?(\d{1,7})\b")


@dataclass(frozen=True, slots=True)
class ScriptHead:
    """None and empty where the header does not tell. `offset_ns` makes UTC of the samples' times."""

    hostname: str = ""
    captured_ns: int | None = None
    first_ns: int | None = None
    last_ns: int | None = None
    offset_ns: int | None = None
    frequency: int | None = None
    events: tuple[str, ...] = field(default=())


def parse_head_comments(text: bytes) -> ScriptHead:
    """The comments of a file's beginning; of a file without any, nothing is known."""
    fields: dict[str, str] = {}
    events: list[tuple[str, int | None]] = []
    for name, value in _LINE.findall(text):
        key, said = name.decode().strip(), value.decode("utf-8", "replace").strip()
        if key == "event" and (found := _EVENT.match(said)):
            events.append((found[1], int(found[2]) if "freq = 1" in found[3] else None))
        fields.setdefault(key, said)
    reference = _REFERENCE.search(fields.get("reference time", ""))
    return ScriptHead(
        hostname=fields.get("hostname", ""),
        captured_ns=_date(fields.get("captured on", "")),
        first_ns=_stamp(fields.get("time of first sample", "")),
        last_ns=_stamp(fields.get("time of last sample", "")),
        offset_ns=_ns(reference[1], reference[2]) - _ns(reference[3], reference[4]) if reference else None,
        frequency=_frequency(fields.get("cmdline", ""), events),
        events=tuple(name for name, _ in events if not name.startswith("dummy")),
    )


def _frequency(cmdline: str, events: list[tuple[str, int | None]]) -> int | None:
    asked = _FREQUENCY.search(cmdline)
    declared = next((frequency for _, frequency in events if frequency), None)
    return declared or (int(asked[1]) if asked else None) or None


def _stamp(text: str) -> int | None:
    found = re.fullmatch(r"(\d{1,12})\.(\d{1,9})", text)
    return _ns(found[1], found[2]) if found else None


def _ns(seconds: str, fraction: str) -> int:
    return int(seconds) * NS + int(fraction.ljust(9, "0"))


def _date(text: str) -> int | None:
    try:
        return int(datetime.strptime(text, "%a %b %d %H:%M:%S %Y").replace(tzinfo=UTC).timestamp()) * NS
    except ValueError:
        return None
