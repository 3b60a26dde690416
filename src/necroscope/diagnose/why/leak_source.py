"""Who leaks: cgroups that were left behind, joined to whoever they belonged to. The walker is another role.

Three witnesses, which need not all be there: names (a leaked cgroup was a unit's own, a container's, or was made by a
process that a sample shows), counts (as many leaks as restarts), and time (leaks and restarts fall together, and would
not if the restarts were shifted). One name alone is only believed when most leaks bear it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from necroscope.clock import NS
from necroscope.diagnose.why.alignment import Alignment, align
from necroscope.diagnose.why.identity import Owners, container_in, made_for_others, subject_of, unit_in, within
from necroscope.diagnose.why.ledger_of_leaks import Leaks
from necroscope.model import Evidence, Subject
from necroscope.quantity import count, plural, share
from necroscope.query.lives import Life
from necroscope.query.rows import Row

_FEW = 3
_MOST_OF_THEM = 0.6
_SOME_OF_THEM = 0.2
_PILE = 5


@dataclass(frozen=True, slots=True)
class Source:
    """Who leaks, how well that is shown (0 to 1), by which witnesses, and the unit behind it where there is one."""

    subject: Subject
    strength: float
    evidence: tuple[Evidence, ...]
    leaked: int
    unit: Row | None = None
    alignment: Alignment | None = None
    restarts: tuple[tuple[int, int], ...] = ()


def leaked_zombies(leaks: Leaks) -> list[Life]:
    """Memory cgroups that were removed and not released in the time that was looked at."""
    return [life for life in leaks.lives if leaks.in_memory(life) and life.leaked(leaks.span[1])]


def leaked_directories(leaks: Leaks) -> list[Life]:
    """Cgroups that were made and never removed; a few are alive and well on any node."""
    made = [life for life in leaks.lives if leaks.in_memory(life) and life.made_ns and not life.removed_ns]
    young_ns = leaks.span[1] - 10 * NS
    return [life for life in made if (life.made_ns or 0) < young_ns] or made


def find_source(leaks: Leaks, what: str) -> Source | None:
    """Who leaks zombies or directories; None where nobody can be shown to."""
    leaked = leaked_zombies(leaks) if what == "zombies" else leaked_directories(leaks)
    named = _by_names(leaks) if what == "zombies" and leaks.names else None
    if len(leaked) < _FEW:
        return named
    found = _by_lives(leaks, leaked, what)
    if found is None or named is None or named.subject == found.subject:
        return found
    # Who leaks now is not who left the pile that the kernel names: a few of one explain nothing of the other's.
    return named if _PILE * found.leaked < named.leaked else None


def _by_lives(leaks: Leaks, leaked: Sequence[Life], what: str) -> Source | None:
    known = leaks.owners
    counted = _by_count(leaks, leaked)
    of_path: dict[tuple[str, int | None], Subject | None] = {}
    for life in leaked:
        key = life.path, life.maker
        if key not in of_path:
            of_path[key] = _owner(leaks, known, life, counted)
    owners = Counter(owner for life in leaked if (owner := of_path[life.path, life.maker]) is not None)
    if not owners:
        return None
    (subject, number), *others = owners.most_common(2)
    told = owners.total()
    # Of many processes that took turns, only some are known by name; what these tell stands for the rest.
    if told < min(len(leaked), max(_FEW, len(leaked) // 10)) or number < _MOST_OF_THEM * told:
        return None
    if others and others[0][1] > 0.5 * number:
        return None
    mine = [life for life in leaked if of_path[life.path, life.maker] == subject]
    return _with_witnesses(leaks, subject, mine, len(leaked), what)


def _by_count(leaks: Leaks, leaked: Sequence[Life]) -> dict[str, Subject]:
    """Containers by what nothing but a count tells: as many leaks in one place as one container has restarts. What one
    process made that was seen to is its own, however often others restarted meanwhile."""
    one_made = _made_by_one(leaks, leaked)
    theirs = [life.path for life in leaked if not one_made or container_in(life.path) is not None]
    places = Counter(place for path in theirs for place in (path, path.rpartition("/")[0]))
    found: dict[str, Subject] = {}
    for place, number in places.items():
        agree = [name for name, times in leaks.container_restarts().items() if _agree(number, times)]
        if len(agree) == 1 and place not in ("", "/"):
            found[place] = Subject("container", agree[0])
    return found


def _made_by_one(leaks: Leaks, leaked: Sequence[Life]) -> bool:
    makers = Counter(life.maker for life in leaked if life.maker in leaks.makers)
    return bool(makers) and makers.most_common(1)[0][1] >= 0.5 * len(leaked)


def _agree(leaked: int, restarts: int) -> bool:
    """Looks at an engine come seconds apart, so that the last restarts may not be counted yet."""
    return min(leaked, restarts) >= 5 and abs(leaked - restarts) <= 0.25 * max(leaked, restarts)


def _owner(leaks: Leaks, owners: Owners, life: Life, counted: Mapping[str, Subject]) -> Subject | None:
    """Whose a cgroup was: by its path, where that tells; by as many restarts, of a container whose id nobody knows;
    else whoever made it, unless it is called like what managers make for others: the manager does not leak it."""
    owner = owners.of(life.path)
    if owner is not None and (owner.kind == "unit" or owner.name in owners.container_names):
        return owner
    if (same := counted.get(life.path) or counted.get(life.path.rpartition("/")[0])) is not None:
        return same
    if (short_id := container_in(life.path)) is not None:
        return Subject("container", short_id)
    maker = leaks.makers.get(life.maker) if life.maker is not None else None
    if maker is None or maker.pid == 1 or made_for_others(life.path):
        return None
    return subject_of(owners, maker.name, (maker.cgroup,))


def _with_witnesses(leaks: Leaks, subject: Subject, mine: Sequence[Life], total: int, what: str) -> Source:
    unit = next((row for row in leaks.units if row["name"] == subject.name), None) if subject.kind == "unit" else None
    moments = [life.removed_ns or life.made_ns or 0 for life in mine]
    restarts = leaks.restarts_of(subject.name)
    exact = leaks.exact_restarts_of(subject.name)
    aligned = align(moments, exact, leaks.span) if exact else None
    left = "were removed and never released" if what == "zombies" else "were made and never removed"
    evidence = [
        Evidence(
            f"{count(len(mine))} of {plural(total, 'cgroup')} that {left} were those of {subject.kind} {subject.name}",
            "cgroup events",
            len(mine),
            "cgroups",
            leaks.span,
        ),
        *_maker_evidence(leaks, mine),
        *_restart_evidence(leaks, unit, len(mine)),
        *([_aligned_evidence(aligned, leaks)] if aligned is not None and aligned.holds else ()),
    ]
    strength = 0.97 if aligned is not None and aligned.holds else 0.85 if len(mine) < 5 else 0.92
    if what == "zombies" and (near := _where_they_are(leaks, mine)) is not None:
        evidence.append(near[1])
        strength *= 1.0 if near[0] >= _SOME_OF_THEM else 0.55
    return Source(subject, strength, tuple(evidence), len(mine), unit, aligned, tuple(restarts))


def _where_they_are(leaks: Leaks, mine: Sequence[Life]) -> tuple[float, Evidence] | None:
    """Which part of all zombies stands where the leaker's were: who leaks here does not explain those over there."""
    if not leaks.zombies:
        return None
    last_ns = leaks.zombies[-1]["at_ns"]
    now = {row["parent"]: int(row["zombies"]) for row in leaks.zombies if row["at_ns"] == last_ns}
    total = sum(now.values())
    places = {_nearest(now, life.path) for life in mine[-200:]}
    part = sum(number for parent, number in now.items() if parent in places)
    if not total:
        return None
    text = f"{share(part / total)} of all zombies are where they were"
    return part / total, Evidence(text, "memcg", round(part / total, 3), "share")


def _nearest(parents: Iterable[str], path: str) -> str:
    above = [one for one in parents if f"{path}/".startswith(f"{one.rstrip('/')}/")]
    return max(above, key=len, default="")


def _maker_evidence(leaks: Leaks, mine: Sequence[Life]) -> Iterable[Evidence]:
    makers = Counter(life.maker for life in mine if life.maker is not None)
    names = Counter(leaks.makers[pid].name for pid in makers.elements() if pid in leaks.makers)
    for name, number in names.most_common(1):
        processes = plural(len(makers), "process", "processes")
        text = f"{name} made {count(number)} of those whose maker samples show ({processes})"
        yield Evidence(text, "samples", number, "cgroups", leaks.span)


def _restart_evidence(leaks: Leaks, unit: Row | None, leaked: int) -> Iterable[Evidence]:
    if unit is None:
        return
    first = next((row for row in leaks.first_units if row["name"] == unit["name"]), unit)
    grew = int(unit["restarts"]) - int(first["restarts"])
    if grew > 0 or unit["restarts"]:
        text = f"{unit['name']} restarted {plural(grew, 'time')} while {plural(leaked, 'cgroup')} of it leaked"
        yield Evidence(f"{text}; {count(unit['restarts'])} restarts in all", "systemd", grew, "restarts", leaks.span)


def _aligned_evidence(found: Alignment, leaks: Leaks) -> Evidence:
    text = (
        f"{found.matched} of {found.restarts} starts and ends have a leak within {found.near_s:.1f} s; "
        f"shifted in time it would be {found.expected:.1f} (chance {found.chance:.3f})"
    )
    return Evidence(text, "systemd and cgroup events", round(found.share, 3), "share", leaks.span)


def _by_names(leaks: Leaks) -> Source | None:
    """No leak was seen to happen: what the zombies' own names tell. Units by their cgroup's path, or nobody."""
    owners: Counter[str] = Counter()
    for row in leaks.names:
        known = next((name for name, group in leaks.owners.units if within(row["path"], group)), None)
        if (name := known or unit_in(row["path"])) is not None:
            owners[name] += 1
    if not owners or owners.most_common(1)[0][1] < _MOST_OF_THEM * len(leaks.names):
        return None
    name, number = owners.most_common(1)[0]
    subject = Subject("unit", name)
    unit = next((row for row in leaks.units if row["name"] == name), None)
    text = f"{count(number)} of {count(len(leaks.names))} zombies that could be named were cgroups of {name}"
    evidence = (
        Evidence(text, "kernel memory", number, "cgroups", leaks.span),
        *_restart_evidence(leaks, unit, number),
    )
    strength = 0.8 if number >= 5 else 0.6
    return Source(subject, strength, evidence, number, unit, None, tuple(leaks.restarts_of(name)))
