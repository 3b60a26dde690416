"""Cases put together by hand: seconds are counted from the symptom, stacks are names of kernel functions.

case(starvation(suspect("reader", SMAPS), cpu=1, begin=-9, end=-2, waits={"victim": 5.5}))
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from necroscope.clock import NS
from necroscope.vocabulary.case import (
    Caller,
    Callers,
    Case,
    Context,
    LineUp,
    OtherSymptom,
    Quota,
    Run,
    Stack,
    Starvation,
    Suspect,
    Wait,
)
from necroscope.vocabulary.event import Window
from necroscope.vocabulary.function_name import without_suffix
from necroscope.vocabulary.leak_facts import Below, LeakFacts, LeakUnit, Left, Leftovers, RestartsOf
from necroscope.vocabulary.model import MODES
from necroscope.vocabulary.verdict import Complaint
from stage.cases import AT_NS

Functions = tuple[str, ...]
Shapes = Functions | Mapping[Functions, float]
"""One stack, or several with their shares of the time. Nothing is code of the program itself."""

USER: Functions = ()
SYSCALL: Functions = ("do_syscall_64", "ksys_read")
WALK: Functions = (*SYSCALL, "try_charge_memcg", "try_to_free_mem_cgroup_pages", "shrink_node", "mem_cgroup_iter")
SMAPS: Functions = (*SYSCALL, "seq_read_iter", "show_smap", "smaps_pte_range")
SLABINFO: Functions = (*SYSCALL, "seq_read_iter", "slab_show", "count_partial")
ODD: Functions = ("do_syscall_64", "very_own_module_ioctl", "very_own_loop")
NET_RX: Functions = ("asm_common_interrupt", "irq_exit_rcu", "handle_softirqs", "net_rx_action", "process_backlog")
SEND: Functions = ("do_syscall_64", "__sys_sendto", "udp_sendmsg", "__dev_queue_xmit")
EXEC: Functions = ("do_syscall_64", "do_execveat_common", "bprm_execve", "load_elf_binary")
LEAKER = "sunny-orchid.service"


def stack(functions: Functions, seconds: float = 1.0) -> Stack:
    """Samples of one shape; without functions they are the program's own code."""
    names = tuple(map(without_suffix, functions))
    return Stack(names, names[-1] if names else "compute", bool(names), seconds)


def folded(*texts: str) -> tuple[Stack, ...]:
    """Stacks as folded text, `outer;inner`, each of which counts once."""
    return tuple(stack(tuple(text.split(";"))) for text in texts)


def suspect(
    name: str = "reader",
    shapes: Shapes = SMAPS,
    share: float = 1.0,
    *,
    before: float | None = 0.0,
    cgroup: str = "/r",
    pid: int = 77,
    processes: int = 1,
    context: Context = "",
    chance: float = 1e-30,
    seconds: float = 7.0,
) -> Suspect:
    """Somebody who took a share of a core for so many seconds."""
    parts = shapes if isinstance(shapes, Mapping) else {shapes: 1.0}
    total = sum(parts.values())
    stacks = tuple(stack(one, share * seconds * part / total) for one, part in parts.items())
    kernel = sum(part for one, part in parts.items() if one) / total
    pids = tuple(range(pid, pid + min(processes, 50)))
    if context:
        name, cgroup, pids = "", "", ()
    took = share * seconds
    return Suspect(name, cgroup, context, pids, took, share, before, chance, kernel, stacks, processes=processes)


def line_up(*suspects: Suspect, sampled: float | None = None, blocks: int = 6) -> LineUp:
    """Everybody on the core, and the cgroups that they are in."""
    ranked = tuple(sorted(suspects, key=lambda one: -one.excess))
    groups: dict[str, list[Suspect]] = {}
    for one in ranked:
        if one.cgroup not in ("", "/"):
            groups.setdefault(one.cgroup, []).append(one)
    by_cgroup = tuple(sorted((_together(path, *ones) for path, ones in groups.items()), key=lambda one: -one.excess))
    everybody = _together("", *suspects) if suspects else None
    seen = min(1.0, sum(one.share for one in suspects)) if sampled is None else sampled
    return LineUp(ranked, by_cgroup, everybody, seen, blocks)


def _together(cgroup: str, *ones: Suspect) -> Suspect:
    share, seconds = sum(one.share for one in ones), sum(one.seconds for one in ones)
    known = [one.before for one in ones if one.before is not None]
    return Suspect(
        "",
        cgroup,
        "",
        tuple(pid for one in ones for pid in one.pids)[:50],
        seconds,
        share,
        sum(known) if known else None,
        min(one.chance for one in ones),
        sum(one.kernel * one.seconds for one in ones) / seconds if seconds else 0.0,
        tuple(each for one in ones for each in one.stacks),
        processes=sum(one.processes for one in ones),
    )


def starvation(
    *suspects: Suspect,
    cpu: int = 1,
    begin: float = -9.0,
    end: float = -2.0,
    steal: float = 0.0,
    blocks: int = 6,
    sampled: float | None = None,
    waits: Mapping[str, float] | None = None,
    callers: Iterable[Caller] | None = None,
    quotas: Iterable[Quota] = (),
    whole: tuple[float, float] | None = None,
    counted: bool = True,
    **numbers: float,
) -> Starvation:
    """A core without idle time, who was on it, and the numbers of that time. What nobody of `suspects` took and the
    hypervisor did not is idle, unless little was sampled. `waits`: by name, how long somebody waited for the core."""
    run = Run(cpu, at(begin), at(end), _shares(suspects, steal, sampled), counted)
    around = replace(run, from_ns=at(whole[0]), to_ns=at(whole[1])) if whole is not None else run
    made = (
        Wait(name, 501 + place, waited, end - begin, f"/{name}")
        for place, (name, waited) in enumerate((waits or {}).items())
    )
    given = Callers(end - begin, 60.0, tuple(callers)) if callers is not None else None
    everybody = line_up(*suspects, sampled=sampled, blocks=blocks)
    quiet = tuple((at(-300 + 20 * n), at(-293 + 20 * n)) for n in range(blocks))
    return Starvation(run, around, everybody, quiet, dict(numbers), tuple(made), given, 0.1, 0.9, tuple(quotas))


def _shares(suspects: Iterable[Suspect], steal: float, sampled: float | None) -> tuple[float, ...]:
    """By mode; with interrupts off what could not be sampled went like the rest."""
    took = dict.fromkeys(MODES, 0.0)
    for one in suspects:
        took[one.context or "system"] += one.share * one.kernel
        took["user"] += one.share * (1 - one.kernel)
    total = sum(took.values())
    scale = (1 - steal) / total if total and (total + steal > 1 or sampled is not None) else 1.0
    took = {mode: share * scale for mode, share in took.items()} | {"steal": steal}
    return tuple(took[mode] if mode != "idle" else max(0.0, 1 - sum(took.values())) for mode in MODES)


def symptom(kind: str = "nic-reset", source: str = "kmsg", **more: object) -> Complaint:
    """The symptom."""
    given: dict[str, object] = {"text": "ena eth0: TX queue 3 is stuck", "subject": "eth0", "id": 42, **more}
    return Complaint(kind, AT_NS, source, **given)  # type: ignore[arg-type]


def mark(text: str = "job 7 failed") -> Complaint:
    """A symptom that somebody noticed, who may have been delayed himself."""
    return symptom("job-failed", "mark", text=text, subject="")


def case(*starvations: Starvation, recorded: tuple[float, float] = (-900, 60), **more: object) -> Case:
    """A symptom with the starved cores before it; everything around was recorded."""
    window = at(recorded[0]), at(recorded[1])
    given: dict[str, object] = {"symptom": symptom(), "covered": 1.0, "covered_close": 1.0, "busy_before": 0.2, **more}
    complaint = given.pop("symptom")
    lookback = at(-45), at(2)
    return Case(complaint, window, lookback, True, 4, starvations=starvations, **given)  # type: ignore[arg-type]


def other(*starvations: Starvation, seconds: float) -> OtherSymptom:
    """Another symptom, so many seconds from this one, with its starvations, which are counted from this one as well."""
    complaint = replace(symptom(), at_ns=at(seconds), id=43)
    return OtherSymptom(complaint, starvations=starvations)


def again(one: Starvation, seconds: float) -> Starvation:
    """The same starvation, moved in time."""

    def moved(run: Run) -> Run:
        return replace(run, from_ns=run.from_ns + round(seconds * NS), to_ns=run.to_ns + round(seconds * NS))

    return replace(one, run=moved(one.run), whole=moved(one.whole), numbers={})


def leaks(unit: str = LEAKER, zombies: int = 20_000, seen: int = 9) -> LeakFacts:
    """A unit that leaks zombies, one with each restart."""
    path = f"/system.slice/{unit}"
    moments = tuple(at(-800 + 83.7 * n + 7 * (n % 3)) for n in range(seen))
    return LeakFacts(
        span=(at(-900), at(30)),
        zombies=Leftovers(
            zombies,
            (Below("/system.slice", zombies),),
            looks=((at(-60), zombies - 1), (at(0), zombies)),
            left=(Left(path, None, seen, moments),),
            left_total=seen,
        ),
        live=100,
        units=(LeakUnit(unit, path, "activating", "exit-code", seen, 0, 1, "always", "enabled"),),
        restarts=(RestartsOf("unit", unit, moments),),
        systemd=True,
    )


def zombie_walk(**numbers: float) -> Starvation:
    """Somebody who is in no unit walks over zombies, and another one waits."""
    facts = {"zombies": 20_000.0, "tracked": 20_100.0, "live": 100.0, **numbers}
    walker = suspect("quiet-harbor", WALK, pid=900, cgroup="/pods/job")
    return starvation(walker, cpu=2, waits={"victim": 5.5}, **facts)


def at(seconds: float) -> int:
    """The moment so many seconds after the symptom."""
    return AT_NS + round(seconds * NS)


def window(begin: float, end: float) -> Window:
    """From and to, in seconds from the symptom."""
    return at(begin), at(end)
