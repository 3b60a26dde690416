"""Which year, and which day, a log's lines are of that do not say it: by the best witness there is.

    1. what the user says, the time of the first line
    2. the log's own head:    -- Journal begins at Mon 2026-11-02 06:25:01 UTC, ends at Mon 2026-11-16 18:10:00 UTC. --
    3. its file's name        kern.log-20261116.gz
    4. when it was written    copies often keep that

From the first line on, lines are taken to lie near the one before: so a log may go on into the next year.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

from necroscope import clock
from necroscope.sense.importers.file_name_times import day_in_name
from necroscope.sense.importers.logs.stamps import MINUTE_NS, S, with_year
from necroscope.sense.importers.sysstat.times import midnight_s

_DAY_NS = 86_400 * S
_HEAD = re.compile(
    rb"-- (?:Logs begin|Journal begins) at .{0,40}?, ends? at [A-Z][a-z]{2} (\d{4})-(\d\d)-(\d\d) \d\d:\d\d:\d\d "
)


class LogDates:
    """Puts stamps without a year on the calendar. `said` tells by what, once the first was put there."""

    def __init__(self, at_ns: int | None, name: str, written_ns: int | None) -> None:
        self._at_ns = at_ns
        self._name = name
        self._written_ns = written_ns
        self._head_ns: int | None = None
        self._previous_ns: int | None = None
        self._base_ns: int | None = None
        self.said = ""

    def read_head(self, line: bytes) -> None:
        """Take a line without a time, which may be the head of a journal."""
        if self._head_ns is None and (found := _HEAD.match(line)) is not None:
            try:
                ended = datetime(*map(int, found.groups()), tzinfo=UTC)  # type: ignore[misc,arg-type]
            except ValueError:
                return
            self._head_ns = int(ended.timestamp()) * S + _DAY_NS

    def dated(self, stamp_ns: int, arrived_ns: int | None = None) -> int:
        """A stamp of 1972 in its year. `arrived_ns`: when somebody else noted the line."""
        if arrived_ns is not None:
            self._previous_ns = with_year(stamp_ns, arrived_ns)
        elif self._previous_ns is not None:
            self._previous_ns = with_year(stamp_ns, self._previous_ns)
        else:
            self._previous_ns = self._first(stamp_ns)
        return self._previous_ns

    def since_last(self, passed_ns: int) -> int | None:
        """The time of a line that tells how long after the one before it was; None before the first date."""
        if self._base_ns is None:
            return None
        self._base_ns += passed_ns
        return self._base_ns

    def minute(self, at_ns: int) -> int:
        """A date to the minute: lines behind it count on from there, and never back before those that came before."""
        if self._base_ns is None or not at_ns <= self._base_ns < at_ns + MINUTE_NS:
            self._base_ns = at_ns
        return self._base_ns

    def _first(self, stamp_ns: int) -> int:
        if self._at_ns is not None:
            return with_year(stamp_ns, self._at_ns)
        named = day_in_name(self._name)
        if self._head_ns is not None:
            limit_ns, why = self._head_ns, "from the journal's head"
        elif named is not None:
            limit_ns, why = (midnight_s(named) + 86_400) * S, f"from the file's name, {named}"
        else:
            limit_ns = (self._written_ns or clock.now().realtime_ns) + _DAY_NS
            written = datetime.fromtimestamp((limit_ns - _DAY_NS) // S, UTC)
            why = f"the last one before the file was written, {written:%Y-%m-%d}"
        at_ns = with_year(stamp_ns, limit_ns - _DAY_NS, limit_ns)
        self.said = f"the log names no year: {datetime.fromtimestamp(at_ns // S, UTC).year} is taken, {why}"
        return at_ns
