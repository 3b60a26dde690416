"""Memory cgroups that were removed and not released, and who leaks them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from necroscope.config import ZombieLimits
from necroscope.diagnose.fact import Containers, KernelMemory, Units
from necroscope.diagnose.leak import Attribution, Leak, attribute, newest_owners
from necroscope.model import Census, ContainerState, Evidence, Family, Finding, Pin, Severity, Subject
from necroscope.quantity import count, plural, size, span

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
    engines = containers.items if containers else ()
    found = attribute(census, units.items if units else (), engines)
    small = 0
    for leak in found.leaks:
        if leak.zombies >= _MIN_LEAK:
            yield _leaked_by(leak, census, limits, memory)
        else:
            small += leak.zombies
    severity = _severity(found.unowned + small, census, limits, alone=not found.leaks)
    if severity is not None:
        yield _unowned(found, severity, census, engines, memory)


def _leaked_by(leak: Leak, census: Census, limits: ZombieLimits, memory: KernelMemory | None) -> Finding:
    severity: Severity = "warning" if leak.zombies < limits.critical else "critical"
    kind = leak.subject.kind
    title = f"{kind} {leak.subject.name} leaks memory cgroups: {plural(leak.zombies, 'zombie')} were its own"
    return Finding(
        "zombie-memcg",
        severity,
        title,
        leak.subject,
        (_total(census), *_restarts(leak), *_families(leak.families), *_growth(census), *_cost(memory)),
        (_stop(leak), *_freeing(_pins(leak.families))),
    )


def _unowned(
    found: Attribution,
    severity: Severity,
    census: Census,
    containers: Iterable[ContainerState],
    memory: KernelMemory | None,
) -> Finding:
    top = found.by_parent[0] if found.by_parent else None
    most = f", {count(top.zombies)} of them below {top.path}" if top else ""
    newest = _newest(found.families[0], containers) if found.families else ()
    return Finding(
        "zombie-memcg",
        severity,
        f"{plural(found.unowned, 'zombie memory cgroup')}{most}; nobody can be shown to own them",
        Subject("cgroup", top.path if top else "/"),
        (_total(census), *_families(found.families), *newest, *_growth(census), *_cost(memory)),
        (
            "find what makes and removes these cgroups and stop it first; the newest names tell most",
            *_freeing(_pins(found.families) or census.pinned_by),
        ),
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


# -- evidence ------------------------------------------------------------------------------------------


def _total(census: Census) -> Evidence:
    live = "unknown" if census.live is None else count(census.live)
    tracked = "unknown" if census.tracked is None else count(census.tracked)
    text = f"the kernel tracks {tracked} memory cgroups, {live} are alive, {count(census.zombies or 0)} are zombies"
    return Evidence(text, census.source, census.zombies, "cgroups")


def _restarts(leak: Leak) -> Iterator[Evidence]:
    if leak.restarts is None:
        return
    container = leak.state if isinstance(leak.state, ContainerState) else None
    kind = "deaths" if container and not container.restarts else "restarts"
    text = f"{count(leak.restarts)} {kind} against {plural(leak.zombies, 'zombie')}"
    agree = ": one per restart" if leak.one_per_restart else ""
    yield Evidence(text + agree, container.engine if container else "systemd", leak.restarts, kind)


def _newest(family: Family, containers: Iterable[ContainerState]) -> Iterator[Evidence]:
    for container, number in newest_owners(family, containers):
        text = f"{number} of the {len(family.newest)} newest of {family.pattern} were container {container.name}"
        yield Evidence(f"{text}; of the older ones the engine remembers nothing", container.engine, number, "cgroups")


def _families(families: Iterable[Family]) -> Iterator[Evidence]:
    for family in tuple(families)[:3]:
        pins = ", ".join(f"{pin.kind} {size(pin.bytes)}" for pin in family.pins)
        youngest = f", the youngest {span(family.newest_age_s)} old" if family.newest_age_s is not None else ""
        text = f"{count(family.zombies)} were {family.pattern}" + (f", pinned by {pins}" if pins else "") + youngest
        yield Evidence(text, "kernel memory", family.zombies, "cgroups")


def _growth(census: Census) -> Iterator[Evidence]:
    if census.growth_per_hour is not None:
        yield Evidence(growth(census), census.source, round(census.growth_per_hour, 1), "cgroups/h")


def growth(census: Census) -> str:
    """How fast they come, and how that is known. Ages tell births of those still there, not net growth."""
    rate = census.growth_per_hour or 0.0
    if census.growth_basis == "measured":
        return f"{count(rate)} more an hour, measured over {span(census.measured_s or 0.0)}"
    if census.growth_basis == "ages":
        return f"{count(rate)} an hour were born lately and are still there (by their ages)"
    return f"{count(rate)} an hour on average since boot"


def _cost(memory: KernelMemory | None) -> Iterator[Evidence]:
    if memory and memory.unreclaimable_bytes is not None and memory.percpu_bytes is not None:
        text = (
            f"kernel memory: {size(memory.unreclaimable_bytes)} unreclaimable slab, {size(memory.percpu_bytes)} per-CPU"
        )
        yield Evidence(text, "/proc/meminfo", memory.unreclaimable_bytes + memory.percpu_bytes, "bytes")


# -- remedies --------------------------------------------------------------------------------------------


def _stop(leak: Leak) -> str:
    name = leak.subject.name
    if leak.subject.kind == "unit" and (leak.one_per_restart or leak.restarts is None):
        return f"stop the leak first, if the node can do without: systemctl disable --now {name} (undo: enable --now)"
    return f"stop the leak first: find out what starts {leak.subject.kind} {name} over and over, and stop that"


def _pins(families: Iterable[Family]) -> tuple[Pin, ...]:
    by_kind: dict[str, Pin] = {}
    for family in families:
        for pin in family.pins:
            known = by_kind.get(pin.kind)
            files = (*(known.files if known else ()), *pin.files)
            by_kind[pin.kind] = Pin(pin.kind, pin.bytes + (known.bytes if known else 0), files)
    return tuple(sorted(by_kind.values(), key=lambda pin: -pin.bytes))


def _freeing(pins: Iterable[Pin]) -> Iterator[str]:
    for pin in pins:
        there = [file for file in pin.files if not file.endswith("(deleted)")]
        file = f", such as {there[0]}" if there else ""
        if pin.kind == "tmpfs" and pin.files and not there:
            yield "then free what exists: the tmpfs files are deleted already; end the processes that still hold them"
        elif pin.kind == "tmpfs":
            yield f"then free what exists: delete the tmpfs files that pin them and that nobody uses{file}"
        elif pin.kind == "page-cache":
            yield f"then free what exists: drop the page cache of the files (posix_fadvise DONTNEED){file}"
        elif pin.kind == "anon":
            yield "then free what exists: end the process that still holds memory of the removed cgroups"
    yield "stopping the leak ends the growth only; a reboot frees every zombie"
