"""Who leaks: cgroups that were left behind, joined to whoever they belonged to. The walker is another role.

Three witnesses, which need not all be there: names (a leaked cgroup was a unit's own, a container's, or was made by a
process that a sample shows), counts (as many leaks as restarts), and time (leaks and restarts fall together, and would
not if the restarts were shifted). One name alone is only believed when most leaks bear it, and nobody who leaks now is
to blame for a pile that is another's: it must have a good part of the zombies where its own were (`pile`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from necroscope.clock import NS
from necroscope.diagnose.why.alignment import Alignment, align
from necroscope.diagnose.why.identity import Owners, container_in, made_for_others, subject_of, unit_in, within
from necroscope.diagnose.why.ledger_of_leaks import Leaks
from necroscope.diagnose.why.pile import pile_of
from necroscope.model import Evidence, Subject
from necroscope.quantity import count, plural, share
from necroscope.query.lives import Life
from necroscope.query.rows import Row

_FEW = 3
_MOST_OF_THEM = 0.6
_HALF_OF_THEM = 0.5
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
    named = _by_names(leaks) if what == "zombies" else None
    if len(leaked) < _FEW:
        return named
    found = _by_lives(leaks, leaked, what)
    if found is None:
        # Nobody of those who leak now left the pile, or several alike; its own names may tell.
        return named if leaks.called else None
    if named is None or named.subject == found.subject:
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
    theirs: dict[Subject, list[Life]] = {}
    for life in leaked:
        if (owner := of_path[life.path, life.maker]) is not None:
            theirs.setdefault(owner, []).append(life)
    told = sum(map(len, theirs.values()))
    # Of many processes that took turns, only some are known by name; what these tell stands for the rest.
    if told < min(len(leaked), max(_FEW, len(leaked) // 10)):
        return None
    pile = pile_of(leaks) if what == "zombies" else None
    shares = None if pile is None else {one: pile.share(lives) for one, lives in theirs.items() if len(lives) >= _FEW}
    subject = _leader(theirs, shares)
    if subject is None or (shares and not leaks.called and _side_by_side(subject, shares)):
        return None
    return _with_witnesses(leaks, subject, theirs[subject], len(leaked), what, shares[subject] if shares else None)


def _side_by_side(subject: Subject, shares: Mapping[Subject, float]) -> bool:
    """Whether somebody else leaks in the same place, so that its pile may be either's."""
    return any(part >= _HALF_OF_THEM * shares[subject] for one, part in shares.items() if one != subject)


def _leader(theirs: Mapping[Subject, Sequence[Life]], shares: Mapping[Subject, float] | None) -> Subject | None:
    """Who leaks most; where it is known whose the pile is, of those who have about as much of it as anybody."""
    numbers = Counter({one: len(lives) for one, lives in theirs.items()})
    if shares is not None:
        most = max(shares.values(), default=0.0)
        if most < _SOME_OF_THEM:
            return None
        numbers = Counter({one: numbers[one] for one, part in shares.items() if part >= 0.5 * most})
    if not numbers:
        return None
    (subject, number), *others = numbers.most_common(2)
    if number < _MOST_OF_THEM * numbers.total() or (others and others[0][1] > 0.5 * number):
        return None
    return subject


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


def _with_witnesses(
    leaks: Leaks, subject: Subject, mine: Sequence[Life], total: int, what: str, part: float | None
) -> Source:
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
    if part is not None:
        evidence.append(Evidence(f"{share(part)} of all zombies are where they were", "memcg", round(part, 3), "share"))
        strength *= 1.0 if part >= _HALF_OF_THEM else 0.8
    if len(mine) < _HALF_OF_THEM * total:
        strength *= 0.95
    return Source(subject, strength, tuple(evidence), len(mine), unit, aligned, tuple(restarts))


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
    """What the zombies' own names tell. Units by their cgroup's path, or nobody."""
    names, total, which = _names_of(leaks)
    owners: Counter[str] = Counter()
    for path, times in names.items():
        known = next((name for name, group in leaks.owners.units if within(path, group)), None)
        if (name := known or unit_in(path)) is not None:
            owners[name] += times
    if not owners or owners.most_common(1)[0][1] < _MOST_OF_THEM * total:
        return None
    name, number = owners.most_common(1)[0]
    subject = Subject("unit", name)
    unit = next((row for row in leaks.units if row["name"] == name), None)
    text = f"{count(number)} of {count(total)} zombies{which} were cgroups of {name}"
    evidence = (
        Evidence(text, "kernel memory", number, "cgroups", leaks.span),
        *_restart_evidence(leaks, unit, number),
    )
    strength = 0.8 if number >= 5 else 0.6
    return Source(subject, strength, evidence, number, unit, None, tuple(leaks.restarts_of(name)))


def _names_of(leaks: Leaks) -> tuple[Mapping[str, int], int, str]:
    """Names of zombies with how many bore them, of how many, and which these are: all, where names that come again and
    again were counted; else the youngest, which are told one by one."""
    pile = pile_of(leaks)
    if pile is not None and leaks.called:
        return leaks.called, pile.total, ""
    return Counter(row["path"] for row in leaks.names), len(leaks.names), " that could be named"
