"""The last lines of every unit at once: one look at the end of the journal, put together by unit."""

from __future__ import annotations

from necroscope.sense import command
from necroscope.sense.systemd.journal import Entry, field, last_lines, parse_entries

LINES = 1500
_FIELDS = "MESSAGE,_PID,_SYSTEMD_UNIT,UNIT"


def read_journal_tail(
    root: str | None, run: command.Runner = command.run, budget_s: float = 1.0
) -> dict[str, tuple[str, ...]]:
    """Last lines by unit, of those that said anything lately. `Unavailable` where the journal is too slow."""
    where = [f"--root={root}"] if root else []
    options = ["--quiet", "--no-pager", "--output=json", f"--output-fields={_FIELDS}", f"--lines={LINES}"]
    return lines_by_unit(parse_entries(run(["journalctl", *where, *options], budget_s)))


def lines_by_unit(entries: list[Entry]) -> dict[str, tuple[str, ...]]:
    """Of each unit what it said last; what systemd said of it only where it said nothing itself."""
    by_unit: dict[str, list[Entry]] = {}
    for entry in entries:
        name = field(entry, "UNIT") or field(entry, "_SYSTEMD_UNIT")
        if name:
            by_unit.setdefault(name, []).append(entry)
    return {name: last_lines(mine) for name, mine in by_unit.items()}
