"""Memory cgroups that were removed and not released, and who leaks them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from necroscope.config import ZombieLimits
from necroscope.diagnose.fact import Containers, KernelMemory, Units
from necroscope.diagnose.leak import Leak, leaks
from necroscope.model import Census, ContainerState, Evidence, Family, Finding, Pin, Severity, Subject
from necroscope.quantity import count, plural, size, span

# Fewer zombies than this joined to one name may be stragglers of an ordinary restart.
_MIN_LEAK = 10

_FREEING = {
    "tmpfs": "delete the files on tmpfs that pin them{files}: nothing else frees tmpfs pages",
    "page-cache": "drop the page cache that pins them (posix_fadvise DONTNEED on its files{files})",
    "anon": "end the process that still holds memory of the removed cgroups",
    "kernel": "reboot in a maintenance window: kernel objects (sockets, slabs) pin them",
}


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
    found = leaks(census, units.items if units else (), containers.items if containers else ())
    owned = 0
    for leak in found:
        if leak.zombies >= _MIN_LEAK:
            owned += leak.zombies
            yield _leaked_by(leak, census, limits, memory)
    rest = census.zombies - owned
    severity = _severity(rest, None if owned else census.growth_per_hour, limits)
    if severity is not None:
        yield _unowned(rest, severity, census, memory)


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


def _unowned(zombies: int, severity: Severity, census: Census, memory: KernelMemory | None) -> Finding:
    parent = census.by_parent[0].path if census.by_parent else "/"
    where = f" below {parent}" if census.by_parent else ""
    most = f", {count(census.by_parent[0].zombies)} of them{where}" if census.by_parent else ""
    return Finding(
        "zombie-memcg",
        severity,
        f"{plural(zombies, 'zombie memory cgroup')}{most}; no unit or container seen here owns them",
        Subject("cgroup", parent),
        (_total(census), *_families(census.families), *_growth(census), *_cost(memory)),
        (
            "find what makes and removes these cgroups and stop it first; the newest names tell most",
            *_freeing(_pins(census.families) or census.pinned_by),
        ),
    )


def _severity(zombies: int, growth_per_hour: float | None, limits: ZombieLimits) -> Severity | None:
    if zombies >= limits.critical:
        return "critical"
    growing = growth_per_hour is not None and growth_per_hour >= limits.growth_per_hour
    if zombies >= limits.warning or (zombies >= limits.growing_from and growing):
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
    kind = "deaths" if isinstance(leak.state, ContainerState) and not leak.state.restarts else "restarts"
    text = f"{count(leak.restarts)} {kind} against {plural(leak.zombies, 'zombie')}"
    source = leak.state.engine if isinstance(leak.state, ContainerState) else "systemd"
    yield Evidence(text + (": one per restart" if leak.one_per_restart else ""), source, leak.restarts, kind)
    if leak.sampled:
        yield Evidence(
            "the newest zombies bear ids that died under this name; older ones are taken by their pattern", source
        )


def _families(families: Iterable[Family]) -> Iterator[Evidence]:
    for family in tuple(families)[:3]:
        pins = ", ".join(f"{pin.kind} {size(pin.bytes)}" for pin in family.pins)
        youngest = f", the youngest {span(family.newest_age_s)} old" if family.newest_age_s is not None else ""
        text = f"{count(family.zombies)} were {family.pattern}" + (f", pinned by {pins}" if pins else "") + youngest
        yield Evidence(text, "kernel memory", family.zombies, "cgroups")


def _growth(census: Census) -> Iterator[Evidence]:
    if census.growth_per_hour is not None:
        basis = {"measured": "measured", "ages": "by the zombies' ages", "since-boot": "average since boot"}
        text = f"{count(census.growth_per_hour)} new ones an hour ({basis.get(census.growth_basis, 'unknown')})"
        yield Evidence(text, census.source, round(census.growth_per_hour, 1), "cgroups/h")


def _cost(memory: KernelMemory | None) -> Iterator[Evidence]:
    if memory and memory.unreclaimable_bytes is not None and memory.percpu_bytes is not None:
        text = (
            f"kernel memory: {size(memory.unreclaimable_bytes)} unreclaimable slab, {size(memory.percpu_bytes)} per-CPU"
        )
        yield Evidence(text, "/proc/meminfo", memory.unreclaimable_bytes + memory.percpu_bytes, "bytes")


# -- remedies --------------------------------------------------------------------------------------------


def _stop(leak: Leak) -> str:
    if leak.subject.kind == "unit":
        return f"stop the leak first: systemctl disable --now {leak.subject.name} (undo: enable --now)"
    return f"stop the leak first: find out who starts container {leak.subject.name}, and stop that"


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
        files = f", such as {pin.files[0]}" if pin.files else ""
        yield f"then free what exists: {_FREEING[pin.kind].format(files=files)}"
    yield "stopping the leak ends the growth only; a reboot frees every zombie"
