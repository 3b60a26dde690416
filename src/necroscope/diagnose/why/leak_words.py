"""What is told about a leak: what grew and where, what pins it, why the leaking unit runs, and the picture of it."""

from __future__ import annotations

from collections import Counter

from necroscope.clock import NS, iso
from necroscope.diagnose.why.leak_source import Source
from necroscope.diagnose.why.ledger_of_leaks import Leaks
from necroscope.model import Evidence
from necroscope.quantity import count, plural, share, span
from necroscope.query.rows import Row
from necroscope.verdict import Growth


def why_it_runs(unit: Row) -> list[Evidence]:
    """What systemd tells about why a unit runs at all, and whether it ever did what it is for."""
    found = []
    if unit["unit_file_state"]:
        found.append(Evidence(f"its unit file is {unit['unit_file_state']}", "systemd", unit["unit_file_state"]))
    for name, words in (("wanted_by", "wanted by"), ("triggered_by", "started by"), ("preset", "its preset is")):
        if unit[name]:
            found.append(Evidence(f"{words} {unit[name]}", "systemd", unit[name]))
    if unit["restart_policy"] and unit["restart_policy"] != "no":
        found.append(Evidence(f"Restart={unit['restart_policy']}", "systemd", unit["restart_policy"]))
    if unit["failures"]:
        ends = unit["failures"] + (unit["successes"] or 0)
        tries = f"it started {plural(unit['starts'] or 0, 'time')} since the recorder began"
        seen = f"of {plural(ends, 'end')} that were seen" if ends + 1 < (unit["starts"] or 0) else "of its ends"
        text = f"{tries}; {seen}, {count(unit['failures'])} failed and {count(unit['successes'] or 0)} went well"
        found.append(Evidence(text, "systemd", unit["failures"], "failures"))
    if unit["result"] and unit["result"] != "success":
        status = f", status {unit['exit_status']}" if unit["exit_status"] is not None else ""
        found.append(Evidence(f"its last run ended with {unit['result']}{status}", "systemd", unit["result"]))
    return found


def in_short(unit: Row) -> str:
    """Why a unit runs, in one sentence."""
    said = [f"is {unit['unit_file_state']}"] if unit["unit_file_state"] else []
    if unit["wanted_by"] or unit["triggered_by"]:
        said.append(f"is started by {unit['triggered_by'] or unit['wanted_by']}")
    if unit["restart_policy"] and unit["restart_policy"] != "no":
        said.append("restarts always" if unit["restart_policy"] == "always" else f"restarts {unit['restart_policy']}")
    if unit["failures"] and not unit["successes"]:
        said.append("was never seen to end well")
    if not said:
        return f"why {unit['name']} runs"
    return f"{unit['name']} {', '.join(said[:-1])}{' and ' if said[1:] else ''}{said[-1]}"


def growth_of(leaks: Leaks, source: Source | None) -> Growth | None:
    """How the zombies grew over the time that the picture shows, and the restarts of who leaks them."""
    by_look: dict[int, int] = {}
    for row in leaks.zombies:
        by_look[row["at_ns"]] = by_look.get(row["at_ns"], 0) + int(row["zombies"])
    if len(by_look) < len(leaks.counted):
        by_look = dict(leaks.counted)
    if len(by_look) < 2:
        return None
    moments = sorted(by_look)
    if len(moments) > 240:
        moments = [moments[place * (len(moments) - 1) // 239] for place in range(240)]
    name, restarts = (source.subject.name, source.restarts) if source else ("", ())
    return Growth("zombies", tuple(moments), tuple(by_look[at] for at in moments), name, restarts)


def grew(leaks: Leaks) -> list[Evidence]:
    """Parents below which zombies piled up, those that grew most first, and how many there are."""
    by_parent: dict[str, list[Row]] = {}
    for row in leaks.zombies:
        by_parent.setdefault(row["parent"], []).append(row)
    found = []
    for parent, rows in by_parent.items():
        first, last = rows[0], rows[-1]
        passed_s = (last["at_ns"] - first["at_ns"]) / NS
        more = int(last["zombies"]) - int(first["zombies"])
        text = f"{count(last['zombies'])} zombies below {parent}"
        if passed_s >= 5:
            text += f" at {iso(last['at_ns'])[11:19]} UTC, {count(more)} more than {span(passed_s)} earlier"
        found.append((more, int(last["zombies"]), Evidence(text, "memcg", int(last["zombies"]), "cgroups")))
    found.sort(key=lambda one: (-one[1], -one[0]))
    return [one[2] for one in found[:3]]


def pinned(leaks: Leaks) -> Evidence | None:
    """What keeps the named zombies; None where nobody saw."""
    kinds = Counter(row["pinned_by"] for row in leaks.names if row["pinned_by"])
    if not kinds:
        return None
    kind, number = kinds.most_common(1)[0]
    text = f"{kind} pins {share(number / sum(kinds.values()))} of the zombies that could be named"
    return Evidence(text, "kernel memory", kind)
