"""The times at the beginning of a log's lines, in the forms that dmesg, journalctl and syslog daemons write them.

[12345.678901] text                        since boot                       dmesg
[12345.678901][ T4711] text                with who printed it              CONFIG_PRINTK_CALLER
kern  :warn  : [12345.678901] text         with facility and level          dmesg -x
[Mon Nov 16 18:03:37 2026] text            local time                       dmesg -T, months in many languages
[Nov16 18:03] text                         local minute without a year      dmesg -H, each first line of a minute
[  +0.000123] text                         since the line before            dmesg -H, the lines below
2026-11-16T18:03:37,123456+00:00 text      with zone                        dmesg --time-format iso
Nov 16 18:03:37 node7 kernel: text         local time without a year        journalctl -k, /var/log/kern.log
Nov 16 18:03:37 kernel: text               the same                         journalctl -k --no-hostname
2026-11-16T18:03:37+0000 node7 kernel: ..  with zone                        journalctl -k -o short-iso, rsyslog
Mon 2026-11-16 18:03:37 UTC node7 kernel:  zones whose names are no riddles journalctl -k -o short-full
1794852202.056570 node7 kernel: text       UTC                              journalctl -k -o short-unix
[12345.678901] node7 kernel: text          since boot                       journalctl -k -o short-monotonic
<4>1 2026-11-16T18:03:37Z node7 kernel - - - text      with zone            RFC 5424
6,1234,12345678901,-;text                  since boot, microseconds         /dev/kmsg
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Literal

from necroscope.sense.importers.logs.month_names import month_of
from necroscope.sense.importers.logs.wrapping import unquote, unwrap
from necroscope.sense.log.kmsg import parse_record

Clock = Literal["boot", "utc", "local", "no-year", "since-last"]
S = 1_000_000_000
MINUTE_NS = 60 * S

_LEVEL = rb"(?:<\d{1,3}>|[a-z0-9]{2,8} *:[a-z]{3,7} *: )?"
# A month's name: letters of any language and perhaps a dot, or a number with a word behind it.
_MONTH = rb"(\d{1,2}[^\x00-\x7f]{2,6}|[^\s\d\[\]:]{2,24})"
_TIME = rb"(\d\d):(\d\d):(\d\d)"
_BOOT = re.compile(_LEVEL + rb"\[ *(\d{1,9})\.(\d{6})(?: <[ \d.,]{1,20}>)?\] ?(?:\[ *([TC]\d{1,10})\] ?)?")
_CTIME = re.compile(_LEVEL + rb"\[[^\s\d\[\]]{1,24} +" + _MONTH + rb" +(\d{1,2}) " + _TIME + rb" (\d{4})\] ?")
_MINUTE = re.compile(_LEVEL + rb"\[ ?" + _MONTH + rb" {0,2}(\d{1,2}) (\d\d):(\d\d)\] ?(?:\[ *([TC]\d{1,10})\] ?)?")
_SINCE = re.compile(_LEVEL + rb"\[ *\+(\d{1,7})[.,](\d{6})\] ?(?:\[ *([TC]\d{1,10})\] ?)?")
_ISO = re.compile(_LEVEL + rb"(\d{4})-(\d\d)-(\d\d)[T ]" + _TIME + rb"(?:[.,](\d{1,9}))?(Z|[+-]\d\d:?\d\d| UTC)?(?= ) ")
_BRACKETED = re.compile(_LEVEL + rb"\[(\d{4}-\d\d-\d\d[T ][^\]]{8,24})\](?= )")
_FULL = re.compile(
    rb"[A-Z][a-z]{2} (\d{4})-(\d\d)-(\d\d) " + _TIME + rb"(?:\.(\d{1,9}))?( [A-Z]{1,5}| [+-]\d\d(?:\d\d)?) "
)
_SYSLOG = re.compile(rb"(?:<\d{1,3}>)?" + _MONTH + rb" +(\d{1,2}) " + _TIME + rb"(?:\.(\d{1,9}))? ")
_5424 = re.compile(rb"(?:<\d{1,3}>)?1 (?=\d{4}-)")
_5424_HEAD = re.compile(rb"(\S{1,255}) (\S{1,48}) \S{1,128} \S{1,32} (?=-|\[)")
_UNIX = re.compile(rb"(\d{9,11})\.(\d{6}) ")
_TAG = rb"([^\s:\[\]]{1,64})(\[\d{1,10}\])?:(?= |\[|$) ?"
# Between host and tag, busybox writes facility and level.
_FROM = re.compile(rb"(?!\[)(\S{0,254}[^\s:]) (?:[a-z0-9]{2,8}\.[a-z]{3,7} )?" + _TAG)
_TAGGED = re.compile(_TAG)
_KERNEL = re.compile(rb"(?:\S{1,255} )?kernel: ?(?=\[)")
# What has the form of a date, whatever its words are: the first is that of `dmesg -T`.
_DATED = re.compile(
    rb"(?:" + _LEVEL + rb"\[[^\]\r\n]{4,60} " + _TIME + rb"[^\]\r\n]{0,12}\]|\S{1,24}\.? +\d{1,2}\.? " + _TIME + rb" )"
)
_DATA_BYTES = 4096
# Hours east of UTC. Names that mean several zones (CST, IST, BST) are not there: such times are local.
_ZONES = {
    b"UTC": 0, b"GMT": 0, b"WET": 0, b"WEST": 1, b"CET": 1, b"CEST": 2, b"EET": 2, b"EEST": 3, b"MSK": 3, b"JST": 9,
    b"KST": 9, b"EST": -5, b"EDT": -4, b"CDT": -5, b"MST": -7, b"MDT": -6, b"PST": -8, b"PDT": -7,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Stamped:
    """A line with its time on `clock`. `step_ns` is how fine the time was written.

    `host` and `tag` (who logged it: kernel, systemd) are empty where the line does not name them. `arrived_ns` is when
    a container's runtime got the line, UTC.
    """

    clock: Clock
    stamp_ns: int
    step_ns: int
    text: bytes
    host: str = ""
    tag: str = ""
    caller: str = ""
    arrived_ns: int | None = None


def parse_line(line: bytes) -> Stamped | None:
    """A line that begins with a time, quoted or not; None when it does not."""
    inner = unwrap(line)
    line = inner.line
    found = _stamped(line)
    if found is None and (bare := unquote(line)) != line:
        found = _stamped(bare)
    if found is None and (cut := _KERNEL.match(line)) is not None:
        found = _stamped(line[cut.end() :])
    if found is None and inner.arrived_ns is not None:
        return Stamped("utc", inner.arrived_ns, 1000, line)
    return found if found is None or inner.arrived_ns is None else replace(found, arrived_ns=inner.arrived_ns)


def looks_dated(line: bytes) -> bool:
    """Whether a line that `parse_line` did not understand begins with a date all the same: in another language."""
    return _DATED.match(unquote(unwrap(line).line)) is not None


def _stamped(line: bytes) -> Stamped | None:
    if line[:1].isdigit() and (record := parse_record(line)) is not None:
        text = record.text.encode("utf-8", "replace")
        return Stamped("boot", record.usec * 1000, 1000, text, tag="kernel", caller=record.caller)
    found = _BOOT.match(line)
    if found is not None:
        caller = (found[3] or b"").decode()
        stamped = Stamped("boot", int(found[1]) * S + int(found[2]) * 1000, 1000, line[found.end() :], caller=caller)
        return _with_sender(stamped, tagged_only=True)
    if found := _SINCE.match(line):
        caller = (found[3] or b"").decode()
        return Stamped("since-last", int(found[1]) * S + int(found[2]) * 1000, 1000, line[found.end() :], caller=caller)
    try:
        return _dated(line)
    except (ValueError, OverflowError):
        return None


def _dated(line: bytes) -> Stamped | None:
    if found := _CTIME.match(line):
        at_ns = _ns(found[6], _month(found[1]), *found.groups()[1:5])
        return _without_boot(Stamped("local", at_ns, S, line[found.end() :]))
    if found := _MINUTE.match(line):
        at_ns = _ns(1972, _month(found[1]), *found.groups()[1:4], 0)
        return Stamped("no-year", at_ns, MINUTE_NS, line[found.end() :], caller=(found[5] or b"").decode())
    if found := _SYSLOG.match(line):
        at_ns = _ns(1972, _month(found[1]), *found.groups()[1:5], fraction=found[6])
        return _with_sender(Stamped("no-year", at_ns, S if found[6] is None else 1000, line[found.end() :]))
    if found := _UNIX.match(line):
        return _with_sender(Stamped("utc", int(found[1]) * S + int(found[2]) * 1000, 1000, line[found.end() :]))
    if found := _5424.match(line):
        stamped = _iso(line[found.end() :])
        return None if stamped is None else _of_5424(stamped)
    if found := _FULL.match(line):
        return _with_sender(_whole_date(line, found))
    if found := _BRACKETED.match(line):
        line = found[1] + line[found.end() :]
    stamped = _iso(line)
    return None if stamped is None else _with_sender(stamped, tagged_only=b"," in line[:32])


def _iso(line: bytes) -> Stamped | None:
    found = _ISO.match(line)
    return None if found is None else _whole_date(line, found)


def _whole_date(line: bytes, found: re.Match[bytes]) -> Stamped:
    zone_ns = _zone_ns(found[8])
    at_ns = _ns(*found.groups()[:6], fraction=found[7]) - (zone_ns or 0)
    clock: Clock = "local" if zone_ns is None else "utc"
    return Stamped(clock, at_ns, S if found[7] is None else 1000, line[found.end() :])


def _of_5424(stamped: Stamped) -> Stamped:
    """Host, program and message; what else stands between is left out."""
    found = _5424_HEAD.match(stamped.text)
    if found is None:
        return stamped
    text = stamped.text[found.end() :]
    at = 1 if text.startswith(b"-") else _end_of_data(text[:_DATA_BYTES])
    text = text[at:].removeprefix(b" ").removeprefix(b"\xef\xbb\xbf")
    tag = _name(found[2]) if found[2] != b"-" else ""
    return _without_boot(replace(stamped, text=text, host=_name(found[1]) if found[1] != b"-" else "", tag=tag))


def _end_of_data(text: bytes) -> int:
    """Where structured data, `[id name="value"]...`, end."""
    quoted = False
    at = 0
    while at < len(text):
        char = text[at : at + 1]
        if quoted and char == b"\\":
            at += 1
        elif char == b'"':
            quoted = not quoted
        elif char == b"]" and not quoted and text[at + 1 : at + 2] != b"[":
            return at + 1
        at += 1
    return len(text)


def _with_sender(stamped: Stamped, tagged_only: bool = False) -> Stamped:
    """The line without host and tag. dmesg writes none: there, only `kernel:` is taken for a tag."""
    if alone := _TAGGED.match(stamped.text):
        if alone[1] != b"kernel" and (tagged_only or alone[2] is None):
            return _without_boot(stamped)
        return _without_boot(replace(stamped, text=stamped.text[alone.end() :], tag=_name(alone[1])))
    found = _FROM.match(stamped.text)
    if found is None or (tagged_only and found[2] != b"kernel"):
        return _without_boot(stamped)
    text, host, tag = stamped.text[found.end() :], _name(found[1]), _name(found[2])
    return _without_boot(replace(stamped, text=text, host=host, tag=tag))


def _without_boot(stamped: Stamped) -> Stamped:
    """The line without a second stamp, which counts from boot."""
    inner = _BOOT.match(stamped.text)
    if inner is None or stamped.tag not in ("", "kernel") or (stamped.clock, stamped.tag) == ("boot", ""):
        return stamped
    return replace(stamped, text=stamped.text[inner.end() :], caller=(inner[3] or b"").decode() or stamped.caller)


def _month(name: bytes) -> int:
    number = month_of(name)
    if number is None:
        raise ValueError(name)
    return number


def _ns(*parts: bytes | int, fraction: bytes | None = None) -> int:
    year, month, day, hour, minute, second = map(int, parts)
    leap = timedelta(seconds=1) if second == 60 else timedelta()
    moment = datetime(year, month, day, hour, minute, min(second, 59), tzinfo=UTC) + leap
    return int(moment.timestamp()) * S + (int(fraction.ljust(9, b"0")) if fraction else 0)


def _zone_ns(zone: bytes | None) -> int | None:
    """East of UTC; None where nobody says, or in a name that means several zones."""
    if zone is None or zone == b"Z":
        return None if zone is None else 0
    if zone[1:].isalpha():
        hours = _ZONES.get(zone[1:])
        return None if hours is None else hours * 3600 * S
    text = zone.strip().replace(b":", b"").ljust(5, b"0")
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
