"""Incidents of which everything is known: a node's work, second by second, written as a recorder would write it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from necroscope.clock import NS
from necroscope.sense.cgroups.zombie_names import ZombieNames
from necroscope.sense.inventory import Inventory
from necroscope.store.read.reader import Store
from necroscope.store.write.writer import Writer
from necroscope.vocabulary.event import Event
from necroscope.vocabulary.model import ParentCount, ProcessUse, Sample, UnitState, ZombieName
from stage.looked import Frames, One, batch
from stage.recorded import START_NS

MODES = ("user", "system", "irq", "softirq", "steal")
USER: Frames = (("main", "app"), ("compute", "app"))
SYSCALL: Frames = (("main", "app"), ("read", "libc.so.6"), ("do_syscall_64", "[kernel]"))
WALK: Frames = (
    *SYSCALL,
    ("try_charge_memcg", "[kernel]"),
    ("try_to_free_mem_cgroup_pages", "[kernel]"),
    ("shrink_node", "[kernel]"),
    ("mem_cgroup_iter", "[kernel]"),
)
SMAPS: Frames = (*SYSCALL, ("seq_read_iter", "[kernel]"), ("show_smap", "[kernel]"), ("smaps_pte_range", "[kernel]"))
ODD: Frames = (*SYSCALL, ("very_own_module_ioctl", "[very_own]"), ("very_own_loop", "[very_own]"))
NET_RX: Frames = (
    *USER,
    ("asm_common_interrupt", "[kernel]"),
    ("irq_exit_rcu", "[kernel]"),
    ("handle_softirqs", "[kernel]"),
    ("net_rx_action", "[kernel]"),
    ("__napi_poll", "[kernel]"),
    ("process_backlog", "[kernel]"),
)
SEND: Frames = (
    *SYSCALL,
    ("__sys_sendto", "[kernel]"),
    ("udp_sendmsg", "[kernel]"),
    ("__dev_queue_xmit", "[kernel]"),
)


@dataclass(frozen=True)
class Work:
    """Somebody's share of a core from one second to another."""

    cpu: int
    begin: int
    end: int
    share: float
    comm: str
    pid: int
    frames: Frames = USER
    cgroup: str = "/"
    mode: str = "user"
    sampled: float = 1.0


@dataclass
class Played:
    """A node that is being made up. Seconds count from the recording's start."""

    cores: int = 4
    seconds: int = 80
    work: list[Work] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    units: list[tuple[float, UnitState]] = field(default_factory=list)
    zombies: list[tuple[float, str, int]] = field(default_factory=list)
    names: list[tuple[float, ZombieName]] = field(default_factory=list)
    uses: list[tuple[float, ProcessUse]] = field(default_factory=list)
    gauges: dict[str, float] = field(default_factory=dict)
    kernel: str = ""
    """Its release; empty: not recorded."""
    called: dict[str, int] = field(default_factory=dict)
    counted: bool = True
    hole: tuple[int, int] = (0, 0)

    def does(self, cpu: int, begin: int, end: int, share: float, comm: str, pid: int, **more: object) -> None:
        """Somebody works."""
        self.work.append(Work(cpu, begin, end, share, comm, pid, **more))  # type: ignore[arg-type]

    def happens(
        self, at_s: float, kind: str, text: str = "", subject: str = "", source: str = "kmsg", **fields: object
    ) -> None:
        """Something happens."""
        self.events.append(Event(at(at_s), kind, source, subject, text or kind, **fields))  # type: ignore[arg-type]

    def leaks(self, at_s: float, path: str, number: int, pid: int = 1, hierarchy: int = 4) -> None:
        """A cgroup is made and removed, and never released."""
        for shift_s, kind in ((0.05, "cgroup-mkdir"), (0.0, "cgroup-rmdir")):
            made = Event(at(at_s - shift_s), kind, "perf", path, pid=pid, cgroup=number, hierarchy=hierarchy)
            self.events.append(made)

    def usual(self) -> None:
        """Every core does a little of this and that all along."""
        for cpu in range(self.cores):
            self.does(cpu, 0, self.seconds, 0.2, "steady", 500 + cpu, cgroup="/steady")
            self.does(cpu, 0, self.seconds, 0.05, "agent", 600, frames=SYSCALL, mode="system", cgroup="/agent")

    def write(self, folder: Path, live: bool = False) -> Store:
        """The recording of it; with `live`, the recorder still writes."""
        writer = Writer(folder, flush_s=1e9, segment_s=1e9, signals=(*ZombieNames.signals, *Inventory.signals))
        spent = {(cpu, mode): 100.0 for cpu in range(self.cores) for mode in (*MODES, "idle")}
        self._look(writer, 0, spent)
        for second in range(self.seconds):
            mine = [one for one in self.work if one.begin <= second < one.end]
            for cpu in range(self.cores):
                self._count(spent, cpu, [one for one in mine if one.cpu == cpu])
            if not self.hole[0] <= second < self.hole[1]:
                ones = [sample for one in mine for sample in _samples(one, second)]
                writer.add_samples(batch(ones)) if ones else None
                self._look(writer, second + 1, spent)
            if second == self.seconds // 2:
                writer.seal()
        self._records(writer)
        if live:
            writer.flush()
            writer.disown()
        else:
            writer.close(merge=False)
        return Store(folder)

    def _count(self, spent: dict[tuple[int, str], float], cpu: int, mine: list[Work]) -> None:
        total = 0.0
        for one in mine:
            share = min(one.share, 1.0 - total)
            spent[cpu, one.mode] += share
            total += share
        spent[cpu, "idle"] += 1.0 - total

    def _look(self, writer: Writer, second: int, spent: dict[tuple[int, str], float]) -> None:
        if self.counted:
            samples = [Sample("cpu_time_seconds", round(value, 3), (str(c), m)) for (c, m), value in spent.items()]
            writer.add_signals(at(second), samples, "cpu")
        if self.gauges and second % 10 == 0:
            writer.add_signals(at(second), [Sample(name, value) for name, value in self.gauges.items()], "memcg")
        if self.kernel and second % 10 == 0:
            writer.add_signals(at(second), [Sample("host_kernel", 1.0, (self.kernel,))], "inventory")
        if self.called and second == 0:
            called = [Sample("memcg_zombies_called", number, (path,)) for path, number in self.called.items()]
            writer.add_signals(at(second), called, "zombie-names")

    def _records(self, writer: Writer) -> None:
        writer.add_events(self.events)
        for at_s, unit in self.units:
            writer.add_units(at(at_s), [unit])
        for moment in sorted({one[0] for one in self.zombies}):
            writer.add_zombies(at(moment), [ParentCount(path, n) for when, path, n in self.zombies if when == moment])
        for at_s, record in (*self.names, *self.uses):
            writer.add_records(at(at_s), [record])


def at(second: float) -> int:
    """UTC nanoseconds of a second of the recording."""
    return START_NS + round(second * NS)


def _samples(one: Work, second: int) -> list[One]:
    number = round(97 * one.share * one.sampled)
    step = NS // max(1, number)
    # Never in step with the second, so that no sample falls on its edge.
    return [
        One(at(second) + place * step + 1_000_000, one.frames, one.cpu, one.pid, one.pid, one.comm, one.cgroup)
        for place in range(number)
    ]


def nic_reset(node: Played, at_s: float, cpu: int | None = None) -> None:
    """A network driver complains."""
    named = f" napi CPU: {cpu}." if cpu is not None else ""
    text = f"ena 0000:00:05.0 eth0: TX q 1 is paused for too long.{named}"
    node.happens(at_s, "nic-reset", text, "eth0", device="eth0", driver="ena", queue=1, cpu=cpu)


def walked() -> Played:
    """Two cores, two minutes: a process holds core 1 for six seconds, and a driver complains four seconds later."""
    node = Played(2, 120)
    node.usual()
    node.does(1, 60, 66, 1.0, "walker", 9, frames=SMAPS, mode="system")
    nic_reset(node, 70)
    return node


def unit(name: str, group: str, restarts: int = 0, **more: object) -> UnitState:
    """A unit that restarts."""
    given: dict[str, object] = {
        "result": "exit-code",
        "exit_status": 1,
        "restart_policy": "always",
        "unit_file_state": "enabled",
        "starts": restarts,
        "successes": 0,
        "failures": restarts,
        **more,
    }
    return UnitState(name, "activating", "auto-restart", restarts=restarts, control_group=group, **given)  # type: ignore[arg-type]


def zombie_incident(seconds: int = 90) -> Played:
    """The seeds' incident: one unit leaks, another's process walks, a core is taken, the driver complains."""
    node = Played(4, seconds)
    node.usual()
    node.gauges = {"memcg_zombies": 20_000.0, "memcg_tracked": 20_100.0, "memcg_live": 100.0, "memcg_hierarchy": 4.0}
    node.does(2, 60, 67, 1.0, "quiet-harbor", 900, frames=WALK, cgroup="/pods/job", mode="system")
    nic_reset(node, 70)
    group = "/system.slice/sunny-orchid.service"
    for number in range(7):
        moment = 4.3 + 9.1 * number
        node.leaks(moment, group, 1000 + number)
        node.happens(moment - 0.2, "unit-start", "started", "sunny-orchid.service", "systemd")
        node.happens(5.0 + 9.7 * number, "unit-start", "started", "other-oak.service", "systemd")
    for second in range(5, seconds, 10):
        node.units.append((second, unit("sunny-orchid.service", group, second // 9)))
        node.units.append((second, unit("other-oak.service", "/system.slice/other-oak.service", second // 9)))
        node.zombies.append((second, "/system.slice", 19_990 + second // 9))
    node.uses.append((69, ProcessUse(501, 1, "victim", "/", 0.1, 0.0, 5.5, 1 << 20, 2)))
    return node
