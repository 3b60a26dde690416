"""Memory cgroups that were removed and not released, and who leaks them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from necroscope.config import ZombieLimits
from necroscope.diagnose.fact import Containers, KernelMemory, Units
from necroscope.diagnose.leak import Attribution, Leak, attribute, facts_of_scan
from necroscope.diagnose.leak.by_name import newest_owners
from necroscope.diagnose.leak.identity import identities
from necroscope.diagnose.leak.remedies import remedies, said
from necroscope.quantity import count, plural, size, span
from necroscope.vocabulary.leak_facts import LeakFacts, LeakFamily, Pins
from necroscope.vocabulary.model import Census, Evidence, Finding, Severity, Subject

# Fewer zombies than this joined to one name may be stragglers of an ordinary restart.
_MIN_LEAK = 10
# New zombies that two looks must have seen before growth is believed.
_MIN_BORN = 5


def zombie_memcg(
    census: Census,
    limits: ZombieLimits,
    units: Units | None,
    containers: Containers | None,
    memory: KernelMemory | None,
) -> Iterator[Finding]:
    """Finds zombie memory cgroups: one finding per unit or container that leaks them, one for those nobody owns."""
    if not census.zombies:
        return
    facts = facts_of_scan(census, units.items if units else None, containers.items if containers else None)
    found = attribute(facts)
    small = 0
    for leak in found.leaks:
        if leak.number >= _MIN_LEAK:
            yield _leaked_by(leak, census, limits, memory)
        else:
            small += leak.number
    severity = _severity(found.unowned + small, census, limits, alone=not found.leaks)
    if severity is not None:
        yield _unowned(found, facts, severity, census, memory)


def _leaked_by(leak: Leak, census: Census, limits: ZombieLimits, memory: KernelMemory | None) -> Finding:
    severity: Severity = "warning" if leak.number < limits.critical else "critical"
    kind = leak.subject.kind
    return Finding(
        "zombie-memcg",
        severity,
        f"{kind} {leak.subject.name} leaks memory cgroups: {plural(leak.number, 'zombie')} were its own",
        leak.subject,
        (_total(census), *leak.evidence, *_families(leak.families), *_growth(census), *_cost(memory)),
        tuple(said(one) for one in remedies("zombies", leak, _pins(leak.families))),
    )


def _unowned(
    found: Attribution, facts: LeakFacts, severity: Severity, census: Census, memory: KernelMemory | None
) -> Finding:
    top = found.below[0] if found.below else None
    most = f", {count(top.count)} of them below {top.parent}" if top else ""
    pins = _pins(found.families) or facts.zombies.pins
    return Finding(
        "zombie-memcg",
        severity,
        f"{plural(found.unowned, 'zombie memory cgroup')}{most}; nobody can be shown to own them",
        Subject("cgroup", top.parent if top else "/"),
        (_total(census), *_families(found.families), *_newest(found, facts), *_growth(census), *_cost(memory)),
        tuple(said(one) for one in remedies("zombies", None, pins, top.parent if top else "")),
    )


def _severity(zombies: int, census: Census, limits: ZombieLimits, alone: bool) -> Severity | None:
    """By number; by growth only where two looks have seen it and it can be nobody else's."""
    if zombies >= limits.critical:
        return "critical"
    born = census.measured_born or 0
    growing = born >= _MIN_BORN and (census.growth_per_hour or 0.0) >= limits.growth_per_hour
    if zombies >= limits.warning or (alone and zombies >= limits.growing_from and growing):
        return "warning"
    return None


def _total(census: Census) -> Evidence:
    live = "unknown" if census.live is None else count(census.live)
    tracked = "unknown" if census.tracked is None else count(census.tracked)
    text = f"the kernel tracks {tracked} memory cgroups, {live} are alive, {count(census.zombies or 0)} are zombies"
    return Evidence(text, census.source, census.zombies, "cgroups")


def _newest(found: Attribution, facts: LeakFacts) -> Iterator[Evidence]:
    for container, family, number in newest_owners(found.families, identities(facts)):
        text = f"{number} of the {len(family.newest)} newest of {family.pattern} were container {container.name}"
        yield Evidence(f"{text}; of the older ones the engine remembers nothing", container.engine, number, "cgroups")


def _families(families: Iterable[LeakFamily]) -> Iterator[Evidence]:
    for family in tuple(families)[:3]:
        pins = ", ".join(f"{pin.kind} {size(pin.bytes or 0)}" for pin in family.pins)
        youngest = f", the youngest {span(family.newest_age_s)} old" if family.newest_age_s is not None else ""
        text = f"{count(family.count)} were {family.pattern}" + (f", pinned by {pins}" if pins else "") + youngest
        yield Evidence(text, "kernel memory", family.count, "cgroups")


def _growth(census: Census) -> Iterator[Evidence]:
    if census.growth_per_hour is not None:
        yield Evidence(growth(census), census.source, round(census.growth_per_hour, 1), "cgroups/h")


def growth(census: Census) -> str:
    """How fast they come, and how that is known. Ages show the births of those still there, not net growth."""
    rate = census.growth_per_hour or 0.0
    if census.growth_basis == "measured":
        return f"{count(rate)} more an hour, measured over {span(census.measured_s or 0.0)}"
    if census.growth_basis == "ages":
        return f"{count(rate)} an hour were created lately and are still there (by their ages)"
    return f"{count(rate)} an hour on average since boot"


def _cost(memory: KernelMemory | None) -> Iterator[Evidence]:
    if memory and memory.unreclaimable_bytes is not None and memory.percpu_bytes is not None:
        text = (
            f"kernel memory: {size(memory.unreclaimable_bytes)} unreclaimable slab, {size(memory.percpu_bytes)} per-CPU"
        )
        yield Evidence(text, "/proc/meminfo", memory.unreclaimable_bytes + memory.percpu_bytes, "bytes")


def _pins(families: Iterable[LeakFamily]) -> tuple[Pins, ...]:
    return tuple(pin for family in families for pin in family.pins)
