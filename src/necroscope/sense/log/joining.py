"""Lines that tell of one event become one episode.

An episode begins with a line that the catalogue knows. Further known lines of the same family join it while they agree
(same device, same task, ...) and follow soon enough; the stack dump below it gives the function that ran and its
callers. A dump's sections are handed to whoever asked for that CPU or task, since several CPUs may print at once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from necroscope.sense.log.episodes import US, Episode, absorb, absorb_trace, line_key
from necroscope.sense.log.kernel_trace import TraceLine, read_line
from necroscope.sense.log.kmsg import LogRecord
from necroscope.sense.log.symptoms import Catalogue, Match

TRACE_GAP_US = 2 * US  # between two lines of one section
DUMP_GAP_US = 10 * US  # between a complaint and the section about its CPU: others may be dumped first
SAME_LINE_US = 1 * US  # the same complaint later than this is a new event
_FOREIGN_LIMIT = 2  # lines of others between two lines of a dump
_OPEN_LIMIT = 64
_NAMES_LIMIT = 1024


class Joiner:
    """Takes records in order, and hands out episodes that began or grew since the last time."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._open: deque[Episode] = deque(maxlen=_OPEN_LIMIT)
        self._touched: list[Episode] = []
        self._names: dict[str, str] = {}
        self._section: list[Episode] = []
        self._section_usec = 0
        self._foreign = 0

    def feed(self, records: Iterable[LogRecord]) -> None:
        """Take records, in the order of the log."""
        for record in records:
            found = self._catalogue.match(record.text)
            if found is not None and self._join(found, record):
                continue
            if self._open:
                self._trace(record)

    def settled(self) -> list[Episode]:
        """Like `take`, but only episodes that no further line can join: so a long log need not be held whole."""
        done = [episode for episode in self._touched if episode not in self._open]
        self._touched = [episode for episode in self._touched if episode in self._open]
        return done

    def take(self) -> list[Episode]:
        """Episodes that began or grew since the last call, oldest first. One that grew comes again, whole."""
        touched, self._touched = self._touched, []
        for episode in touched:
            episode.reported = True
        return touched

    # -- known lines --------------------------------------------------------------------------------

    def _join(self, found: Match, record: LogRecord) -> bool:
        self._learn_name(found.fields)
        self._expire(record.usec)
        for episode in reversed(self._open):
            if self._belongs(episode, found, record.usec):
                self._touch(episode)
                break
        else:
            if found.pattern.part:
                return False
            episode = Episode(found.pattern.kind, record.text, *(record.usec,) * 3, record.caller)
            self._open.append(episode)
            self._touched.append(episode)
            self._section = [episode] if episode.kind.trace in ("here", "task", "invoker") else []
            self._foreign, self._section_usec = 0, record.usec
        absorb(episode, found, record)
        return True

    def _touch(self, episode: Episode) -> None:
        if episode.reported:
            episode.reported = False
            self._touched.append(episode)

    def _belongs(self, episode: Episode, found: Match, usec: int) -> bool:
        pattern = found.pattern
        if episode.kind.family != pattern.kind.family or (episode.closed and not pattern.part):
            return False
        goes_on = pattern.part or pattern.last or pattern.kind.rank > episode.kind.rank
        within_s = pattern.kind.join_s if goes_on or pattern.kind.again_s is None else pattern.kind.again_s
        if usec - episode.heard_usec > within_s * US or not self._agree(episode, found):
            return False
        before = episode.seen.get(line_key(found))
        return pattern.part or before is None or usec - before <= SAME_LINE_US

    def _agree(self, episode: Episode, found: Match) -> bool:
        for name in found.pattern.kind.identity:
            if name == "device":
                ours, theirs = self._device_names(episode.fields), self._device_names(found.fields)
                if ours and theirs and ours.isdisjoint(theirs):
                    return False
            elif name in episode.fields and found.fields.get(name, episode.fields[name]) != episode.fields[name]:
                return False
        return True

    def _device_names(self, fields: dict[str, str]) -> set[str]:
        bus, device = fields.get("bus", ""), fields.get("device", "")
        return {name for name in (bus, device, self._names.get(bus, "")) if name}

    def _learn_name(self, fields: dict[str, str]) -> None:
        """A line with only a bus address is about the network device that other lines named with it."""
        bus, device = fields.get("bus"), fields.get("device")
        if bus and device and len(self._names) < _NAMES_LIMIT:
            self._names[bus] = device
        elif bus and not device and bus in self._names:
            fields["device"] = self._names[bus]

    def _expire(self, usec: int) -> None:
        while self._open and usec - self._open[0].heard_usec > max(self._open[0].kind.join_s * US, DUMP_GAP_US):
            self._open.popleft()

    # -- the dump below ------------------------------------------------------------------------------------

    def _trace(self, record: LogRecord) -> None:
        line = read_line(record.text)
        if record.usec - self._section_usec > TRACE_GAP_US:
            self._section = []
        if line is None:
            self._foreign += 1
            if self._foreign > _FOREIGN_LIMIT:
                self._section = []
            return
        self._foreign, self._section_usec = 0, record.usec
        if line.kind == "end":
            self._section = []
        elif line.kind == "cpu":
            self._route(line, record)
        for episode in self._section:
            if episode.kind.trace == "cpu" or not record.caller or episode.caller in ("", record.caller):
                absorb_trace(episode, line)
                episode.heard_usec = max(episode.heard_usec, record.usec)
                self._touch(episode)

    def _route(self, line: TraceLine, record: LogRecord) -> None:
        """A section about a CPU begins: it goes to the episodes that named this CPU, or that wait for theirs."""
        cpu = str(line.cpu)
        current = self._section
        wanting = [one for one in self._open if record.usec - one.heard_usec <= DUMP_GAP_US and not one.stack.frames]
        self._section = [
            one
            for one in wanting
            if one.kind.trace in ("here", "cpu", "invoker")
            and (one.fields.get("cpu") == cpu or (one in current and "cpu" not in one.fields))
        ]
