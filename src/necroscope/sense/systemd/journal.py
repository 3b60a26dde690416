"""What the journal remembers of a unit: its last words, how it ended last, and whether it ever succeeded.

systemd logs the life of a unit under message ids that are part of its catalogue and do not change (systemd 240 and
later for all of those below). A life is a success when the unit ended by itself with success, or stayed up for a
minute; being stopped by somebody soon after the start is neither. Only the newest lives are looked at,
and, in the whole journal, the ends with success.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from necroscope import clock
from necroscope.errors import Unavailable
from necroscope.sense import command

STAYED_UP_S = 60.0
MAX_LINES = 4
MAX_LINE_CHARACTERS = 400

_STARTED = "39f53479d3a045ac8e11786248231fbf"
_START_FAILED = "be02cf6855d2428ba40df7e9d022f03d"
_STOPPED = "9d1aaa27d60140bd96365438aad20286"
_SUCCEEDED = "7ad2d189f7e94e70a38c781354912448"
_FAILED = "d9b373ed55a64feb8242e02dbe79a49c"
_EXITED = "98e322203f7a4ed290d09fe03c09fe15"
_ENDS = frozenset({_SUCCEEDED, _FAILED, _START_FAILED})

_FIELDS = "MESSAGE,MESSAGE_ID,_PID,INVOCATION_ID,JOB_TYPE,UNIT_RESULT,EXIT_CODE,EXIT_STATUS"
_RECENT_ENTRIES = 40
_LIFE_ENTRIES = 600

Entry = dict[str, Any]


@dataclass(frozen=True, slots=True)
class UnitHistory:
    """A unit's past. `ever_succeeded` is None where the journal holds no end of the unit at all."""

    last_lines: tuple[str, ...] = ()
    ever_succeeded: bool | None = None
    result: str = ""
    exit_code: str = ""
    exit_status: int | None = None


class Journal:
    """Asks journalctl; `root` is a directory to read the journal below, instead of this host's."""

    def __init__(self, root: str | None = None, run: command.Runner = command.run) -> None:
        self._where = [f"--root={root}"] if root else []
        self._run = run

    def history(self, unit: str, budget_s: float) -> UnitHistory:
        """What is remembered of one unit. `Unavailable` when the journal cannot be asked in time."""
        deadline = clock.elapsed_s() + budget_s
        recent = self._entries(_RECENT_ENTRIES, [f"--unit={unit}"], deadline)
        lives = self._entries(_LIFE_ENTRIES, _matches(unit, (_STARTED, _STOPPED, *_ENDS)), deadline)
        verdict = ever_succeeded(lives)
        if verdict is False:
            verdict = ever_succeeded([*lives, *self._old_successes(unit, deadline)])
        return UnitHistory(last_lines(recent), verdict, *_last_end([*lives, *recent]))

    def _old_successes(self, unit: str, deadline: float) -> list[Entry]:
        stops = [f"UNIT={unit}", f"MESSAGE_ID={_STOPPED}", "JOB_TYPE=stop"]
        return self._entries(_RECENT_ENTRIES, [*_matches(unit, (_SUCCEEDED,)), "+", *stops], deadline)

    def _entries(self, count: int, matches: Iterable[str], deadline: float) -> list[Entry]:
        left_s = deadline - clock.elapsed_s()
        if left_s <= 0:
            raise Unavailable("the journal did not answer in time")
        options = ["--quiet", "--no-pager", "--output=json", f"--output-fields={_FIELDS}", f"--lines={count}"]
        return parse_entries(self._run(["journalctl", *self._where, *options, *matches], left_s))


def parse_entries(text: bytes) -> list[Entry]:
    """Entries of `journalctl -o json`, one object a line; lines that are none are left out."""
    entries = []
    for line in text.splitlines():
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(entry, dict):
            entries.append(entry)
    return entries


def field(entry: Entry, name: str) -> str:
    """A field as text. The journal writes bytes that are no text as a list of numbers, and repeated
    fields as a list of values, of which the last counts."""
    value = entry.get(name)
    if isinstance(value, list):
        if all(isinstance(item, int) and 0 <= item < 256 for item in value):
            return bytes(value).decode("utf-8", "replace")
        value = value[-1]
    return value if isinstance(value, str) else ""


def last_lines(entries: list[Entry]) -> tuple[str, ...]:
    """The unit's own last words, each once; what systemd says about it only where it said nothing itself."""
    own = [entry for entry in entries if field(entry, "_PID") != "1"]
    texts = (field(entry, "MESSAGE").strip()[:MAX_LINE_CHARACTERS] for entry in reversed(own or entries))
    newest_first = list(dict.fromkeys(text for text in texts if text))
    return tuple(reversed(newest_first[:MAX_LINES]))


def ever_succeeded(entries: list[Entry]) -> bool | None:
    """True for one success among the lives, False for none, None where no life ended."""
    stopped = {
        field(entry, "INVOCATION_ID")
        for entry in entries
        if field(entry, "MESSAGE_ID") == _STOPPED and field(entry, "JOB_TYPE") == "stop"
    }
    started: dict[str, int] = {}
    verdict: bool | None = None
    for entry in sorted(entries, key=_at_us):
        life, kind = field(entry, "INVOCATION_ID"), field(entry, "MESSAGE_ID")
        if kind == _STARTED:
            started[life] = _at_us(entry)
        elif kind in _ENDS:
            stayed_up = life in started and _at_us(entry) - started[life] >= STAYED_UP_S * 1e6
            if stayed_up or (kind == _SUCCEEDED and life not in stopped):
                return True
            verdict = False
    return verdict


def _last_end(entries: list[Entry]) -> tuple[str, str, int | None]:
    """Result, exit code and exit status of the newest failure."""
    result, code, status = "", "", None
    for entry in sorted(entries, key=_at_us):
        if field(entry, "MESSAGE_ID") == _FAILED:
            result = field(entry, "UNIT_RESULT")
        elif field(entry, "MESSAGE_ID") == _EXITED:
            code, text = field(entry, "EXIT_CODE"), field(entry, "EXIT_STATUS")
            # Of a signal the journal tells the name (KILL), of an exit the number.
            status = int(text) if text.isdecimal() and len(text) < 4 else None
    return result, code, status


def _matches(unit: str, kinds: Iterable[str]) -> list[str]:
    return [f"UNIT={unit}", *(f"MESSAGE_ID={kind}" for kind in kinds)]


def _at_us(entry: Entry) -> int:
    text = field(entry, "__REALTIME_TIMESTAMP")
    return int(text) if text.isdecimal() and len(text) < 20 else 0
