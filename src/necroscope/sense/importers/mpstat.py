"""`mpstat -P ALL -o JSON` and `sadf -j -- -P ALL -u ALL`: shares of each core by interval, as counters again.

The store keeps seconds that a core spent since some start, and views take differences. So shares are added up: a core's
counter grows by share times interval, and a first row at the beginning of the first interval is the start, zero.

Not read: interrupts by line, NUMA nodes, network and disks, CPU frequencies. mpstat's times are local times without a
zone: `clock_offset_ns` is what to add. Times are whole seconds; of a shorter interval only the order is right.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, BinaryIO

from necroscope.errors import BadInput
from necroscope.model import Sample
from necroscope.sense.fields import MAX_CPUS
from necroscope.sense.importers.rows import SignalsAt
from necroscope.sense.importers.source import CUT_SHORT, NOTHING_TOLD, Placing, Source

SOURCE = "cpu"
_LIMIT_BYTES = 256 << 20
_DAY_S = 86_400
_S = 1_000_000_000
# Names of mpstat and `sadf -u ALL`, then those of plain `sadf -u`, where system holds irq and softirq, and user guests.
_MODES = {
    "usr": "user", "user": "user", "guest": "user", "nice": "nice", "gnice": "nice", "sys": "system",
    "system": "system", "iowait": "iowait", "irq": "irq", "soft": "softirq", "steal": "steal", "idle": "idle",
}  # fmt: skip
_DATES = ("%Y-%m-%d", "%m/%d/%y", "%m/%d/%Y", "%d.%m.%Y", "%d.%m.%y", "%d/%m/%Y", "%d/%m/%y", "%Y/%m/%d")
_TIME = re.compile(r"(\d\d):(\d\d):(\d\d)(?: ([AP]M))?")


class Mpstat:
    """One file of sysstat. `host` is the one it was read from."""

    def __init__(self, file: Path | BinaryIO, placing: Placing = NOTHING_TOLD) -> None:
        self._placing = placing
        with Source(file) as source:
            self._name = source.name
            document, whole = _load(source)
            self._host = _host(document, placing.host, source.name)
            self._cut = () if whole and not source.cut else (CUT_SHORT,)
        self.host = str(self._host.get("nodename", ""))
        self.intervals = 0
        self._skipped: set[str] = set()

    def notes(self) -> tuple[str, ...]:
        """What is lost in what was read so far, in sentences."""
        skipped = (f"not read: {', '.join(sorted(self._skipped))}",) if self._skipped else ()
        return (*self._cut, *skipped)

    def rows(self) -> Iterator[SignalsAt]:
        """Counters of each core at the end of each interval, and once at the beginning of the first."""
        totals: dict[tuple[str, str], float] = {}
        before_s: int | None = None
        for at_s, interval_s, loads in self._looks():
            length_s = interval_s or (at_s - before_s if before_s is not None else 1)
            if length_s <= 0 or (before_s is not None and at_s <= before_s):
                continue
            grown = {
                (cpu, mode): totals.get((cpu, mode), 0.0) + share / 100 * length_s
                for cpu, modes in loads.items()
                for mode, share in modes.items()
            }
            # A gap, or the first interval, begins with the counters as they were; new cores begin at zero.
            if before_s is None or at_s - length_s > before_s or any(key not in totals for key in grown):
                yield self._row(at_s - length_s, {key: totals.get(key, 0.0) for key in grown})
            totals.update(grown)
            yield self._row(at_s, grown)
            before_s = at_s
            self.intervals += 1
        if not self.intervals:
            raise BadInput(f"{self._name} holds no load of a core", "make it with `mpstat -P ALL 1 -o JSON`")

    def _row(self, at_s: int, values: dict[tuple[str, str], float]) -> SignalsAt:
        samples = (Sample("cpu_time_seconds", round(value, 4), key) for key, value in values.items())
        return SignalsAt(at_s * _S + (self._placing.clock_offset_ns or 0), SOURCE, tuple(samples))

    def _looks(self) -> Iterator[tuple[int, int, dict[str, dict[str, float]]]]:
        """End of the interval (seconds, UTC as far as is known), its length (0: not told), shares by core and mode."""
        clock = _Clock(self._host, self._placing.at_ns, self._name)
        for entry in self._host["statistics"]:
            if not isinstance(entry, dict):
                continue
            self._skipped.update(key for key in entry if key not in ("timestamp", "cpu-load"))
            moment, loads = clock.read(entry.get("timestamp")), _loads(entry.get("cpu-load"))
            if moment is not None and loads:
                yield *moment, loads


class _Clock:
    """Times of the entries. mpstat tells the time of day only: a time before the last one is of the next day."""

    def __init__(self, host: dict[str, Any], at_ns: int | None, name: str) -> None:
        self._day = _date(host.get("date"), at_ns)
        self._name = name
        self._last_s = 0

    def read(self, stamp: Any) -> tuple[int, int] | None:
        if isinstance(stamp, dict):
            day, second = _date(stamp.get("date"), None), _time(stamp.get("time"))
            interval = stamp.get("interval")
            length_s = interval if isinstance(interval, int) and 0 < interval <= _DAY_S else 0
            return (_midnight_s(day) + second, length_s) if day is not None and second is not None else None
        second = _time(stamp)
        if second is None:
            return None
        if self._day is None:
            raise BadInput(f"{self._name} has a date in a form that is not known", "say with --at when it was recorded")
        at_s = max(_midnight_s(self._day), self._last_s - self._last_s % _DAY_S) + second
        if at_s + _DAY_S // 2 < self._last_s:
            at_s += _DAY_S
        self._last_s = at_s
        return at_s, 0


def _load(source: Source) -> tuple[Any, bool]:
    """The document, and whether it is whole."""
    parts, size = [], 0
    while data := source.read():
        parts.append(data)
        size += len(data)
        if size > _LIMIT_BYTES:
            raise BadInput(f"{source.name} is larger than {_LIMIT_BYTES >> 20} MiB", "import it in parts")
    text = b"".join(parts)
    try:
        return json.loads(text), True
    except (ValueError, RecursionError):
        pass
    # mpstat that was killed has not closed its brackets.
    for end in (b"]}]}}", b"]}]}]}}"):
        try:
            return json.loads(text[: text.rfind(b"}") + 1] + end), False
        except (ValueError, RecursionError):
            continue
    raise BadInput(f"{source.name} is no JSON of sysstat", "make it with `mpstat -P ALL 1 -o JSON`")


def _host(document: Any, wanted: str, name: str) -> dict[str, Any]:
    try:
        hosts = document["sysstat"]["hosts"]
        found = [host for host in hosts if isinstance(host.get("statistics"), list)]
    except (KeyError, TypeError, AttributeError) as error:
        raise BadInput(f"{name} is no JSON of sysstat", "make it with `mpstat -P ALL 1 -o JSON`") from error
    named = [host for host in found if host.get("nodename") == wanted] if wanted else found
    if not named:
        others = ", ".join(sorted({str(host.get("nodename") or "a host without a name") for host in found}))
        raise BadInput(
            f"{name} has nothing of {wanted or 'any host'}" + (f", only of {others}" if others else ""),
            "give --host a name that is in the file, or leave it away",
        )
    host: dict[str, Any] = named[0]
    return host


def _loads(loads: Any) -> dict[str, dict[str, float]]:
    """Shares by core and mode; the average of all cores is left out."""
    shares: dict[str, dict[str, float]] = {}
    for load in loads if isinstance(loads, list) else ():
        cpu = load.get("cpu") if isinstance(load, dict) else None
        if isinstance(cpu, str) and cpu.isdecimal() and len(cpu) < 6 and int(cpu) < MAX_CPUS:
            modes = shares.setdefault(str(int(cpu)), {})
            for key, value in load.items():
                mode = _MODES.get(key)
                if mode and isinstance(value, int | float) and 0 <= value <= 101:
                    modes[mode] = modes.get(mode, 0.0) + value
    # A core that was off line has only zeros.
    return {cpu: modes for cpu, modes in shares.items() if sum(modes.values()) > 1}


def _date(text: Any, at_ns: int | None) -> date | None:
    """A day as sysstat prints it, by the locale; the user's word counts more."""
    if at_ns is not None:
        return datetime.fromtimestamp(at_ns // _S, UTC).date()
    for form in _DATES if isinstance(text, str) else ():
        try:
            return datetime.strptime(text, form).replace(tzinfo=UTC).date()
        except ValueError:
            continue
    return None


def _time(text: Any) -> int | None:
    found = _TIME.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        return None
    hour, minute, second = map(int, found.groups()[:3])
    if found[4]:
        hour = hour % 12 + (12 if found[4] == "PM" else 0)
    return hour * 3600 + minute * 60 + second


def _midnight_s(day: date) -> int:
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp())
