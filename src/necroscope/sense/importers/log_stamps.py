"""The times at the beginning of a log's lines, in the forms that dmesg, journalctl and syslog daemons write them.

[12345.678901] text                        since boot                       dmesg
[12345.678901][ T4711] text                with who printed it              CONFIG_PRINTK_CALLER
kern  :warn  : [12345.678901] text         with facility and level          dmesg -x
[Mon Nov 16 18:03:37 2026] text            local time                       dmesg -T
2026-11-16T18:03:37,123456+00:00 text      with zone                        dmesg --time-format iso
Nov 16 18:03:37 node7 kernel: text         local time without a year        journalctl -k, /var/log/kern.log
2026-11-16T18:03:37+0000 node7 kernel: ..  with zone                        journalctl -k -o short-iso, rsyslog
Mon 2026-11-16 18:03:37 UTC node7 kernel:  only UTC is known as a zone      journalctl -k -o short-full
1794852202.056570 node7 kernel: text       UTC                              journalctl -k -o short-unix
[12345.678901] node7 kernel: text          since boot                       journalctl -k -o short-monotonic
6,1234,12345678901,-;text                  since boot, microseconds         /dev/kmsg
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from necroscope.sense.kmsg import parse_record

Clock = Literal["boot", "utc", "local", "no-year"]
S = 1_000_000_000

_LEVEL = rb"(?:<\d{1,3}>|[a-z0-9]{2,8} *:[a-z]{3,7} *: )?"
_BOOT = re.compile(_LEVEL + rb"\[ *(\d{1,9})\.(\d{6})(?: <[ \d.]{1,20}>)?\] ?(?:\[ *([TC]\d{1,10})\] ?)?")
_CTIME = re.compile(_LEVEL + rb"\[(?:[A-Z][a-z]{2}) ([A-Z][a-z]{2}) +(\d{1,2}) (\d\d):(\d\d):(\d\d) (\d{4})\] ?")
_ISO = re.compile(
    _LEVEL + rb"(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?(Z|[+-]\d\d:?\d\d| UTC)?(?= ) "
)
_FULL = re.compile(rb"[A-Z][a-z]{2} (?=\d{4}-\d\d-\d\d )")
_SYSLOG = re.compile(rb"(?:<\d{1,3}>)?([A-Z][a-z]{2}) +(\d{1,2}) (\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))? ")
_UNIX = re.compile(rb"(\d{9,11})\.(\d{6}) ")
_FROM = re.compile(rb"(?!\[)(\S{1,255}) ([^\s:\[\]]{1,64})(?:\[\d{1,10}\])?: ?")
_MONTHS = {name: place for place, name in enumerate(b"Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(), 1)}


@dataclass(frozen=True, slots=True)
class Stamped:
    """A line with its time on `clock`. `step_ns` is how fine the time was written.

    `host` and `tag` (who logged it: kernel, systemd) are empty where the line does not name them.
    """

    clock: Clock
    stamp_ns: int
    step_ns: int
    text: bytes
    host: str = ""
    tag: str = ""
    caller: str = ""


def parse_line(line: bytes) -> Stamped | None:
    """A line that begins with a time; None when it does not."""
    if line[:1].isdigit() and (record := parse_record(line)) is not None:
        text = record.text.encode("utf-8", "replace")
        return Stamped("boot", record.usec * 1000, 1000, text, tag="kernel", caller=record.caller)
    found = _BOOT.match(line)
    if found is not None:
        caller = (found[3] or b"").decode()
        stamped = Stamped("boot", int(found[1]) * S + int(found[2]) * 1000, 1000, line[found.end() :], caller=caller)
        return _with_sender(stamped, tagged_only=True)
    try:
        return _dated(line)
    except (ValueError, OverflowError, KeyError):
        return None


def _dated(line: bytes) -> Stamped | None:
    if found := _CTIME.match(line):
        return Stamped("local", _ns(found[6], _MONTHS[found[1]], *found.groups()[1:5]), S, line[found.end() :])
    if found := _SYSLOG.match(line):
        at_ns = _ns(1972, _MONTHS[found[1]], *found.groups()[1:5], fraction=found[6])
        return _with_sender(Stamped("no-year", at_ns, S if found[6] is None else 1000, line[found.end() :]))
    if found := _UNIX.match(line):
        return _with_sender(Stamped("utc", int(found[1]) * S + int(found[2]) * 1000, 1000, line[found.end() :]))
    if named := _FULL.match(line):
        line = line[named.end() :]
    if found := _ISO.match(line):
        at_ns = _ns(*found.groups()[:6], fraction=found[7]) - _zone_ns(found[8])
        clock: Clock = "local" if found[8] is None else "utc"
        stamped = Stamped(clock, at_ns, S if found[7] is None else 1000, line[found.end() :])
        return _with_sender(stamped, tagged_only=b"," in found[0])
    return None


def _with_sender(stamped: Stamped, tagged_only: bool = False) -> Stamped:
    """The line without host and tag. dmesg writes none: there, only `kernel:` behind a word is taken for them."""
    found = _FROM.match(stamped.text)
    if found is None or (tagged_only and found[2] != b"kernel"):
        return stamped
    text, host, tag = stamped.text[found.end() :], _name(found[1]), _name(found[2])
    caller = stamped.caller
    if tag == "kernel" and (inner := _BOOT.match(text)):
        text, caller = text[inner.end() :], (inner[3] or b"").decode()
    return Stamped(stamped.clock, stamped.stamp_ns, stamped.step_ns, text, host, tag, caller)


def _ns(*parts: bytes | int, fraction: bytes | None = None) -> int:
    year, month, day, hour, minute, second = map(int, parts)
    leap = timedelta(seconds=1) if second == 60 else timedelta()
    moment = datetime(year, month, day, hour, minute, min(second, 59), tzinfo=UTC) + leap
    return int(moment.timestamp()) * S + (int(fraction.ljust(9, b"0")) if fraction else 0)


def _zone_ns(zone: bytes | None) -> int:
    if zone is None or zone in (b"Z", b" UTC"):
        return 0
    text = zone.replace(b":", b"")
    return (int(text[1:3]) * 3600 + int(text[3:5]) * 60) * S * (-1 if text[:1] == b"-" else 1)


def _name(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def with_year(stamp_ns: int, near_ns: int, not_after_ns: int | None = None) -> int:
    """A stamp of the year 1972 in the year that brings it nearest to `near_ns`, and not after another time."""
    moment = datetime.fromtimestamp(stamp_ns // S, UTC)
    year = datetime.fromtimestamp(near_ns // S, UTC).year
    candidates = []
    for candidate in range(max(1, year - 8), min(9999, year + 8)):
        try:
            candidates.append(int(moment.replace(year=candidate).timestamp()) * S + stamp_ns % S)
        except ValueError:
            continue  # 29 February
    allowed = [one for one in candidates if not_after_ns is None or one <= not_after_ns]
    return min(allowed or candidates, key=lambda one: abs(one - near_ns))
