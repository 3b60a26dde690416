"""`mpstat -P ALL -o JSON` and `sadf -j -- -P ALL -u ALL`: shares of each core by interval, as counters again.

The store keeps seconds that a core spent since some start, and views take differences. So shares are added up: a core's
counter grows by share times interval, and a row at the beginning of an interval says where it began. An interval is
never divided: of ten minutes the store has one row, which says that it tells about ten minutes.

Not read: interrupts by line, NUMA nodes, network and disks, CPU frequencies, averages of all cores. mpstat's times are
local times without a zone: `clock_offset_ns` is what to add. Times are whole seconds; of a shorter interval only the
order is right.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

from necroscope.errors import BadInput
from necroscope.quantity import span
from necroscope.sense.importers.rows import SignalsAt
from necroscope.sense.importers.source import CUT_SHORT, LOCAL, NO_PLACING, Placing, Source
from necroscope.sense.importers.sysstat.times import DAY_S, S, Stamp, first_day, midnight_s, read_stamp
from necroscope.sense.numbers import MAX_CPUS
from necroscope.vocabulary.model import Sample

SOURCE = "cpu"
_LIMIT_BYTES = 256 << 20
_LONG_S = 6
# Names of mpstat and `sadf -u ALL`, then those of plain `sadf -u`, where system holds irq and softirq, and user guests.
_MODES = {
    "usr": "user", "user": "user", "guest": "user", "nice": "nice", "gnice": "nice", "sys": "system",
    "system": "system", "iowait": "iowait", "irq": "irq", "soft": "softirq", "steal": "steal", "idle": "idle",
}  # fmt: skip
_NO_TIME, _NO_CORE = "their time is not understood", "they tell of no single core (-P ALL)"
_BACK, _LENGTH = "their time goes back, or they overlap", "how long they were is not given, or more than a day"
_MAKE = "make it with `mpstat -P ALL 1 -o JSON`"

Loads = dict[str, dict[str, float]]
"""Per cent of the time by core and mode."""


@dataclass(frozen=True, slots=True)
class _Interval:
    """What the cores did until a time."""

    end: Stamp
    loads: Loads


class Mpstat:
    """One file of sysstat. `host` is the one it was read from."""

    def __init__(self, file: Path | BinaryIO, placing: Placing = NO_PLACING) -> None:
        self._placing = placing
        with Source(file) as source:
            self._name, self._written_ns = source.name, source.modified_ns
            document, whole = _load(source)
            self._host = _host(document, placing.host, source.name)
            self._cut = () if whole and not source.cut else (CUT_SHORT,)
        self.host = str(self._host.get("nodename", ""))
        self.intervals = 0
        self._longest_s = self._offset_ns = 0
        self._skipped: set[str] = set()
        self._dropped: Counter[str] = Counter()
        self._placed: tuple[str, ...] = ()

    def notes(self) -> tuple[str, ...]:
        """What is lost or guessed in what was read so far, in sentences."""
        dropped = (f"{count:,} intervals were left out: {why}" for why, count in self._dropped.items())
        long = f"averages of up to {span(self._longest_s)}: of shorter times nothing is known"
        skipped = f"not read: {', '.join(sorted(self._skipped))}"
        said = ((self._longest_s > _LONG_S, long), (self._skipped, skipped))
        return (*self._cut, *self._placed, *dropped, *(sentence for holds, sentence in said if holds))

    def rows(self) -> Iterator[SignalsAt]:
        """Counters of each core at the end of each interval, and at its beginning where no other ended there."""
        totals: dict[tuple[str, str], float] = {}
        before_s: int | None = None
        before: set[tuple[str, str]] = set()
        for end_s, length_s, loads in self._placed_intervals():
            if before_s is not None and end_s - length_s < before_s - 1:
                # Whole seconds: what began within the second in which the last one ended did not overlap it.
                self._dropped[_BACK] += 1
                continue
            begin_s = end_s - length_s if before_s is None else max(before_s, end_s - length_s)
            grown = {
                (cpu, mode): totals.get((cpu, mode), 0.0) + share / 100 * (end_s - begin_s)
                for cpu, modes in loads.items()
                for mode, share in modes.items()
            }
            if begin_s != before_s or not before.issuperset(grown):
                yield self._row(begin_s, {key: totals.get(key, 0.0) for key in grown})
            totals.update(grown)
            yield self._row(end_s, grown)
            before_s, before = end_s, set(grown)
            self.intervals += 1
            self._longest_s = max(self._longest_s, length_s)
        if not self.intervals:
            why = "".join(f"; {count:,} intervals: {why}" for why, count in self._dropped.items())
            raise BadInput(f"{self._name} holds no load of a core{why}", _MAKE)

    def _row(self, at_s: int, values: dict[tuple[str, str], float]) -> SignalsAt:
        samples = (Sample("cpu_time_seconds", round(value, 4), key) for key, value in values.items())
        return SignalsAt(at_s * S + self._offset_ns, SOURCE, tuple(samples))

    def _placed_intervals(self) -> Iterator[tuple[int, int, Loads]]:
        """End of each interval (seconds, UTC as far as is known), its length, and shares by core and mode."""
        found = list(self._intervals())
        dated, timed = [one for one in found if one.end.dated], [one for one in found if not one.end.dated]
        placed = sorted(dated, key=lambda one: one.end.at_s) if dated else self._by_day(timed)
        if dated and timed:
            self._dropped[_NO_TIME] += len(timed)
        self._say_zone(found)
        for number, one in enumerate(placed):
            length_s = one.end.length_s or _distance(placed, number)
            if 0 < length_s <= DAY_S:
                yield one.end.at_s, length_s, one.loads
            else:
                self._dropped[_BACK if number else _LENGTH] += 1

    def _intervals(self) -> Iterator[_Interval]:
        for entry in self._host["statistics"]:
            stamp = read_stamp(entry.get("timestamp")) if isinstance(entry, dict) else None
            loads = _loads(entry.get("cpu-load")) if isinstance(entry, dict) else {}
            if isinstance(entry, dict):
                self._skipped.update(key for key in entry if key not in ("timestamp", "cpu-load"))
            if stamp is None or not loads:
                self._dropped[_NO_TIME if stamp is None else _NO_CORE] += 1
            else:
                yield _Interval(stamp, loads)

    def _by_day(self, intervals: list[_Interval]) -> list[_Interval]:
        """mpstat tells the time of day only: a time much before the last one is of the next day."""
        ends = [replace(one.end, length_s=_distance(intervals, number)) for number, one in enumerate(intervals)]
        first = first_day(self._host.get("date"), self._placing.at_ns, self._name, self._written_ns, ends)
        if first is None:
            raise BadInput(f"{self._name} has a date in a form that is not known", "say with --at when it was recorded")
        self._placed = (first.said,) if first.said else ()
        day_s, placed = midnight_s(first.day), list[_Interval]()
        for number, one in enumerate(intervals):
            if number and one.end.at_s + DAY_S // 2 < intervals[number - 1].end.at_s:
                day_s += DAY_S
            placed.append(_Interval(replace(one.end, at_s=day_s + one.end.at_s), one.loads))
        return placed

    def _say_zone(self, found: list[_Interval]) -> None:
        utc = all(one.end.utc for one in found)
        self._offset_ns = self._placing.offset_ns(local=not utc)
        if utc or not self._placing.zoneless:
            return
        zone = self._host.get("timezone")
        if zone in ("UTC", "GMT"):
            return
        named = f"of the zone {zone[:20]}" if isinstance(zone, str) and zone else ""
        self._placed += (LOCAL.replace("of a zone that it does not tell", named) if named else LOCAL,)


def _distance(intervals: list[_Interval], number: int) -> int:
    """How long an interval was that does not say so: since the one before; of the first, as long as the second."""
    after = max(1, number)
    if after >= len(intervals):
        return 0
    seconds = intervals[after].end.at_s - intervals[after - 1].end.at_s
    return seconds + DAY_S if seconds < -DAY_S // 2 and not intervals[after].end.dated else seconds


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
    raise BadInput(f"{source.name} is no JSON of sysstat", _MAKE)


def _host(document: Any, wanted: str, name: str) -> dict[str, Any]:
    try:
        hosts = document["sysstat"]["hosts"]
        found = [host for host in hosts if isinstance(host.get("statistics"), list)]
    except (KeyError, TypeError, AttributeError) as error:
        raise BadInput(f"{name} is no JSON of sysstat", _MAKE) from error
    named = [host for host in found if host.get("nodename") == wanted] if wanted else found
    if not named:
        others = ", ".join(sorted({str(host.get("nodename") or "a host without a name") for host in found}))
        raise BadInput(
            f"{name} has nothing of {wanted or 'any host'}" + (f", only of {others}" if others else ""),
            "give --host a name that is in the file, or leave it away",
        )
    host: dict[str, Any] = named[0]
    return host


def _loads(loads: Any) -> Loads:
    """Shares by core and mode; the average of all cores is left out."""
    shares: Loads = {}
    for load in loads if isinstance(loads, list) else ():
        cpu = load.get("cpu") if isinstance(load, dict) else None
        if isinstance(cpu, int) and not isinstance(cpu, bool):
            cpu = str(cpu)
        if isinstance(cpu, str) and cpu.isdecimal() and len(cpu) < 6 and int(cpu) < MAX_CPUS:
            modes = shares.setdefault(str(int(cpu)), {})
            for key, value in load.items():
                mode = _MODES.get(key)
                if mode and isinstance(value, int | float) and 0 <= value <= 101:
                    modes[mode] = modes.get(mode, 0.0) + value
            # What nobody accounts for was not work.
            modes.setdefault("idle", max(0.0, 100.0 - sum(modes.values())) if modes else 0.0)
    # A core that was off line has only zeros.
    return {cpu: modes for cpu, modes in shares.items() if sum(modes.values()) > 1}
