"""/proc/interrupts, /proc/softirqs and /proc/irq: which core serves which interrupt, and how often.

Rows are `label: count count ... description`, one count per CPU of the header. /proc/interrupts heads online CPUs only
(numbers may be missing), /proc/softirqs all possible ones. ERR and MIS are single counts without a CPU. The
description of a numbered interrupt ends in the names of its handlers, behind the chip and the trigger
(`PCI-MSI 524289-edge      eth0-Tx-Rx-0`, on arm64 `ITS-MSI 524289 Edge      eth0-Tx-Rx-0`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from necroscope.errors import Unavailable
from necroscope.sense.host import Host
from necroscope.sense.numbers import MAX_CPUS, count, counts, cpu_list, whole_lines
from necroscope.vocabulary.model import Reading, Sample, Signal, Unseen

_TRIGGER = re.compile(r"(?:^|[\s-])(?:edge|level|fasteoi|percpu)(?:\s+|$)", re.IGNORECASE)
_WITHOUT_CPU = ("ERR", "MIS")
_COLUMNS = re.compile(r"\s{2,}")
# A queue's number ends the handler's name. It stands behind a separator or a word for a queue: the 5 of `ens5` is none.
_QUEUE = re.compile(r"(?:[-._]|comp|blk|q|rx|tx|input|output|queue)([0-9]{1,5})$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Interrupt:
    """One interrupt: its number or kernel label (`LOC`), its handlers, and its count on each of `cpus`.

    ERR and MIS have a total and no CPUs.
    """

    irq: str
    name: str
    per_cpu: tuple[int, ...]
    cpus: tuple[int, ...]
    total: int

    def on(self, cpu: int) -> int | None:
        """How often this CPU served it; None when the CPU is offline."""
        return self.per_cpu[self.cpus.index(cpu)] if cpu in self.cpus else None


@dataclass(frozen=True, slots=True)
class Softirq:
    """One kind of deferred kernel work (`NET_RX`), and its count on each of `cpus`, offline ones included."""

    kind: str
    per_cpu: tuple[int, ...]
    cpus: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Affinity:
    """CPUs that may serve an interrupt, and those that do; None where the kernel does not tell."""

    irq: str
    allowed: tuple[int, ...] | None
    effective: tuple[int, ...] | None


class Interrupts:
    """Interrupts by number and by core, and deferred kernel work by core."""

    name: ClassVar[str] = "interrupts"
    signals: ClassVar[tuple[Signal, ...]] = (
        Signal("interrupts_served", "interrupts", "counter", "Interrupts by number and handler.", ("irq", "name")),
        Signal("interrupts_served_by_cpu", "interrupts", "counter", "Interrupts of all kinds by core.", ("cpu",)),
        Signal(
            "interrupts_softirqs",
            "softirqs",
            "counter",
            "Deferred kernel work by core and kind; NET_RX and NET_TX are the network's.",
            ("cpu", "kind"),
        ),
    )

    def read(self, host: Host) -> Reading:
        """One look at both files; either one is good without the other."""
        served: tuple[Interrupt, ...] = ()
        softirqs: tuple[Softirq, ...] = ()
        missing: list[Unavailable] = []
        try:
            served = parse_interrupts(host.read("/proc/interrupts"))
        except Unavailable as error:
            missing.append(error)
        try:
            softirqs = parse_softirqs(host.read("/proc/softirqs"))
        except Unavailable as error:
            missing.append(error)
        if len(missing) == 2:
            raise missing[0]
        online = frozenset(cpu for interrupt in served for cpu in interrupt.cpus)
        return Reading(
            samples=(*_interrupt_samples(served), *_softirq_samples(softirqs, online)),
            unseen=tuple(Unseen(self.name, error.message, error.hint) for error in missing),
        )


def parse_interrupts(text: bytes) -> tuple[Interrupt, ...]:
    """Whole rows of /proc/interrupts, in its order."""
    cpus, lines = _header(text, "/proc/interrupts")
    return tuple(row for line in lines if (row := _interrupt(line, cpus)) is not None)


def parse_softirqs(text: bytes) -> tuple[Softirq, ...]:
    """Whole rows of /proc/softirqs, in its order."""
    cpus, lines = _header(text, "/proc/softirqs")
    rows = []
    for line in lines:
        kind, _, rest = line.partition(b":")
        values = counts(rest.split())
        if kind.strip() and values is not None and len(values) == len(cpus):
            rows.append(Softirq(kind.strip().decode("ascii", "replace"), values, cpus))
    return tuple(rows)


def affinity(host: Host, irq: str) -> Affinity:
    """Where a numbered interrupt may go and goes; `Unavailable` when it does not exist."""
    if not (irq.isascii() and irq.isdigit()):
        raise Unavailable(f"{irq} is no numbered interrupt, so it has no affinity")
    folder = f"/proc/irq/{irq}"
    allowed, effective = _cpus(host, f"{folder}/smp_affinity_list"), _cpus(host, f"{folder}/effective_affinity_list")
    if allowed is None and effective is None:
        raise Unavailable(f"{folder} tells no affinity")
    return Affinity(irq, allowed, effective)


def queue_of(name: str) -> int | None:
    """The queue number in a handler's name: 3 for `eth0-Tx-Rx-3`, `mlx5_comp3@pci:0000:00:05.0`, `virtio2-input.3`."""
    match = _QUEUE.search(name.partition("@")[0])
    return int(match[1]) if match else None


def _header(text: bytes, path: str) -> tuple[tuple[int, ...], list[bytes]]:
    lines = whole_lines(text)
    names = lines[0].split() if lines else []
    cpus = counts([name.removeprefix(b"CPU") for name in names])
    if not cpus or not all(name.startswith(b"CPU") for name in names) or max(cpus) >= MAX_CPUS:
        raise Unavailable(f"{path} does not begin with a row of CPUs")
    return cpus, lines[1:]


def _interrupt(line: bytes, cpus: tuple[int, ...]) -> Interrupt | None:
    label, colon, rest = line.partition(b":")
    irq = label.strip().decode("ascii", "replace")
    if not colon or not irq:
        return None
    if irq.upper() in _WITHOUT_CPU:
        total = count(rest.strip())
        return None if total is None else Interrupt(irq, "", (), (), total)
    tokens = rest.split(maxsplit=len(cpus))
    per_cpu = counts(tokens[: len(cpus)])
    if per_cpu is None or len(per_cpu) < len(cpus):
        return None
    description = tokens[-1].decode("utf-8", "replace").strip() if len(tokens) > len(cpus) else ""
    return Interrupt(irq, _handlers(irq, description), per_cpu, cpus, sum(per_cpu))


def _handlers(irq: str, description: str) -> str:
    if not irq.isdigit():
        return description
    trigger = _TRIGGER.search(description)
    return description[trigger.end() :] if trigger else _COLUMNS.split(description)[-1]


def _cpus(host: Host, path: str) -> tuple[int, ...] | None:
    text = host.read_or_none(path)
    try:
        return None if text is None else cpu_list(text)
    except Unavailable:
        return None


def _interrupt_samples(served: Sequence[Interrupt]) -> Iterator[Sample]:
    for interrupt in served:
        yield Sample("interrupts_served", interrupt.total, (interrupt.irq, interrupt.name))
    rows = [interrupt for interrupt in served if interrupt.cpus]
    if rows:
        for cpu, column in zip(rows[0].cpus, zip(*(row.per_cpu for row in rows), strict=True), strict=True):
            yield Sample("interrupts_served_by_cpu", sum(column), (str(cpu),))


def _softirq_samples(rows: Iterable[Softirq], online: frozenset[int]) -> Iterator[Sample]:
    """Possible CPUs that are known to be offline are left out: their counts do not move."""
    for row in rows:
        for cpu, value in zip(row.cpus, row.per_cpu, strict=True):
            if not online or cpu in online:
                yield Sample("interrupts_softirqs", value, (str(cpu), row.kind))
