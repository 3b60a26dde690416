"""The words about a leak: what grew and where, what pins it, why the leaking unit runs, and the picture of it."""

from __future__ import annotations

from necroscope.clock import NS, iso
from necroscope.diagnose.leak.attribution import Leak
from necroscope.quantity import count, plural, share, span
from necroscope.vocabulary.leak_facts import LeakFacts, LeakUnit
from necroscope.vocabulary.model import Evidence
from necroscope.vocabulary.verdict import Growth

_LOOKS_SHOWN = 240


def why_it_runs(unit: LeakUnit) -> list[Evidence]:
    """Why a unit runs at all, as systemd knows it, and whether it ever did what it is for."""
    found = []
    if unit.unit_file_state:
        found.append(Evidence(f"its unit file is {unit.unit_file_state}", "systemd", unit.unit_file_state))
    for names, words in ((unit.wanted_by, "wanted by"), (unit.triggered_by, "started by")):
        if names:
            found.append(Evidence(f"{words} {' '.join(names)}", "systemd", " ".join(names)))
    if unit.preset:
        found.append(Evidence(f"its preset is {unit.preset}", "systemd", unit.preset))
    if unit.restart_policy and unit.restart_policy != "no":
        found.append(Evidence(f"Restart={unit.restart_policy}", "systemd", unit.restart_policy))
    if unit.failures:
        ends = unit.failures + (unit.successes or 0)
        tries = f"it started {plural(unit.starts or 0, 'time')} since the recorder began"
        seen = f"of {plural(ends, 'exit')} that were seen" if ends + 1 < (unit.starts or 0) else "of its exits"
        text = f"{tries}; {seen}, {count(unit.failures)} failed and {count(unit.successes or 0)} were successful"
        found.append(Evidence(text, "systemd", unit.failures, "failures"))
    if unit.result and unit.result != "success":
        status = f", status {unit.exit_status}" if unit.exit_status is not None else ""
        found.append(Evidence(f"its last run ended with {unit.result}{status}", "systemd", unit.result))
    return found


def in_short(unit: LeakUnit) -> str:
    """Why a unit runs, in one sentence."""
    said = [f"is {unit.unit_file_state}"] if unit.unit_file_state else []
    if starters := unit.triggered_by or unit.wanted_by:
        said.append(f"is started by {' '.join(starters)}")
    if unit.restart_policy and unit.restart_policy != "no":
        said.append("restarts always" if unit.restart_policy == "always" else f"restarts {unit.restart_policy}")
    if unit.failures and not unit.successes:
        said.append("never exited successfully")
    if not said:
        return f"why {unit.name} runs"
    return f"{unit.name} {', '.join(said[:-1])}{' and ' if said[1:] else ''}{said[-1]}"


def growth_of(facts: LeakFacts, leak: Leak | None) -> Growth | None:
    """How the zombies grew over the time that the picture shows, and the restarts of who leaks them."""
    looks = facts.zombies.looks
    if len(looks) < 2:
        return None
    if len(looks) > _LOOKS_SHOWN:
        looks = tuple(looks[place * (len(looks) - 1) // (_LOOKS_SHOWN - 1)] for place in range(_LOOKS_SHOWN))
    restarts = leak.restarts.noticed if leak is not None and leak.restarts is not None else ()
    name = leak.subject.name if leak is not None else ""
    return Growth("zombies", tuple(at for at, _ in looks), tuple(number for _, number in looks), name, restarts)


def grew(facts: LeakFacts) -> list[Evidence]:
    """Parents below which zombies accumulated, the largest first, and how many there are."""
    found = []
    for one in facts.zombies.growth:
        passed_s, more = (one.last_ns - one.first_ns) / NS, one.last - one.first
        text = f"{count(one.last)} zombies below {one.parent}"
        if passed_s >= 5:
            text += f" at {iso(one.last_ns)[11:19]} UTC, {count(more)} more than {span(passed_s)} earlier"
        found.append((one.last, more, Evidence(text, "memcg", one.last, "cgroups")))
    found.sort(key=lambda each: (-each[0], -each[1]))
    return [each[2] for each in found[:3]]


def pinned(facts: LeakFacts) -> Evidence | None:
    """What keeps the named zombies; None where nobody saw."""
    kinds = [pin for pin in facts.zombies.pins if pin.zombies]
    if not kinds:
        return None
    most = max(kinds, key=lambda pin: pin.zombies or 0)
    of_all = (most.zombies or 0) / sum(pin.zombies or 0 for pin in kinds)
    return Evidence(f"{most.kind} pins {share(of_all)} of the zombies that could be named", "kernel memory", most.kind)
