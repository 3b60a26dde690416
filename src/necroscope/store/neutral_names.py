"""Neutral names: whoever reads them sees which things are the same and what sort they are, not what they are called.

    acme-agent                         ->  process-7f3a
    /system.slice/acme-agent.service   ->  /system.slice/unit-04c1.service
    acme::Ledger::settle, libacme.so   ->  function-9b20, module-c38e

A token is made from the name with a key that nobody keeps: equal names stay equal, and none can be looked up or tried
out elsewhere. What the kernel and systemd call the same on every machine stays as it is.
"""

from __future__ import annotations

import hashlib
import os
import re

from necroscope.sense.perf.modules import NOT_KERNEL

DIGITS = 4

_SUFFIX = re.compile(r"(.+)\.(service|slice|scope|socket|mount|timer|path|target|device|swap|automount)")
_USUAL = frozenset(
    (
        *("", "system.slice", "user.slice", "machine.slice", "init.scope", "-.slice", "<id>", "<n>"),
        *(f"{name}.target" for name in ("basic", "default", "graphical", "local-fs", "multi-user", "network")),
        *(f"{name}.target" for name in ("network-online", "paths", "remote-fs", "sockets", "sysinit", "timers")),
    )
)
_KERNEL_THREAD = re.compile(
    r"swapper(/\d+)?|(ksoftirqd|migration|cpuhp|watchdog|idle_inject|rcu[a-z]{1,2}|backlog_napi)/\d+|:-?\d+"
    r"|kworker/[\w:]{1,12}([-+][\w.+-]*)?|(kswapd|kcompactd|scsi_eh_|kdamond\.|md)\d+|rcu_[a-z_]+(/\d+)?"
    r"|khugepaged|ksmd|kthreadd|kauditd|khungtaskd|oom_reaper|writeback|kblockd|kdevtmpfs|watchdogd|kdamond"
    r"|jbd2/(nvme|sd|vd|xvd|dm-|md)[\w-]*"
)
_DEVICE = re.compile(
    r"lo|cpu\d+|(eth|eno|ens|enp|ib|wlan|bond|nvme|loop|md|dm-|sr|zram|virtio|veth|tun|tap|br)\d+(\.\d+|[a-z]\d+)*"
    r"|tty[A-Z]{0,3}\d*|(sd|vd|xvd|hd)[a-z]{1,2}\d*|mlx\d(_\d+)?|[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]"
)
_INTERRUPT = re.compile(
    r"(?:ena|acpi|ACPI|ahci|xhci_hcd|ehci_hcd|i8042|rtc|timer|PCIe|pciehp|dmar|ioat|idxd|megasas|mpt|vfio|arch_timer|IPI"
    r"|AER|edac|hv|xen)[\w]{0,12}(?![\w])"
)
_THREADED = re.compile(r"irq/(\d+)-(.*)", re.DOTALL)
_BPF = re.compile(r"(bpf_prog_)([0-9a-f]{16}\w*)")
_PERF_EVENT = re.compile(r"(?!u?probe|sdt_)([\w-]+(:\w+)*|[\w-]+/[\w.=,-]+/\w*)", re.ASCII)
_KERNEL_MODULE = re.compile(r"\[\w+\]", re.ASCII)


class Names:
    """The tokens of one bundle."""

    def __init__(self, key: bytes | None = None) -> None:
        self._key = os.urandom(32) if key is None else key
        self._digits: dict[str, str] = {}
        self._taken: set[str] = set()

    def token(self, sort: str, name: str) -> str:
        """What stands for a name. Different names have different digits, whatever their sort."""
        found = self._digits.get(name)
        if found is None:
            digest = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), key=self._key, digest_size=32).hexdigest()
            found = next(digest[:length] for length in range(DIGITS, 65) if digest[:length] not in self._taken)
            self._digits[name] = found
            self._taken.add(found)
        return f"{sort}-{found}"

    def number(self, number: int) -> int:
        """64 bits that stand for others."""
        digest = hashlib.blake2b(number.to_bytes(8, "little"), key=self._key, digest_size=8).digest()
        return int.from_bytes(digest, "little")

    def thread(self, name: str) -> str:
        """A thread or process; those of the kernel keep their names."""
        if not name or is_kernel_thread(name):
            return name
        if threaded := _THREADED.fullmatch(name):
            return f"irq/{threaded[1]}-{self.interrupt(threaded[2])}"
        return self.token("process", name)

    def unit(self, name: str) -> str:
        """A unit keeps its sort: `unit-7f3a.service`."""
        if name in _USUAL:
            return name
        found = _SUFFIX.fullmatch(name)
        return f"{self.token('unit', found[1])}.{found[2]}" if found else self.token("unit", name)

    def path(self, path: str) -> str:
        """A path, name by name, so that what lies below the same folder still does."""
        return "/".join(map(self._segment, path.split("/")))

    def frame(self, name: str, module: str) -> tuple[str, str]:
        """A function and its module; the kernel and its modules stay."""
        if is_kernel(module):
            return _BPF.sub(lambda found: found[1] + self.token("x", found[2])[2:], name), module
        shown = name if name in ("", "[unknown]") else self.token("function", name)
        return shown, module if module in NOT_KERNEL or not module else self.token("module", module)

    def device(self, name: str) -> str:
        """A device; names that kernels give stay."""
        return name if is_device(name) or name.isdigit() else self.token("device", name)

    def interrupt(self, name: str) -> str:
        """A handler of interrupts; those that begin like a driver's or a kernel's device stay."""
        begins = re.split(r"[-@:.\[ ]", name, maxsplit=1)[0]
        return name if not name or is_device(begins) or _INTERRUPT.match(name) else self.token("interrupt", name)

    def perf_event(self, name: str) -> str:
        """An event of perf; somebody's own probes do not stay."""
        return name if not name or _PERF_EVENT.fullmatch(name) else self.token("event", name)

    def _segment(self, name: str) -> str:
        if name in _USUAL:
            return name
        return self.unit(name) if _SUFFIX.fullmatch(name) else self.token("cgroup", name)


def is_kernel(module: str) -> bool:
    """Whether a module is the kernel or one of its modules."""
    return module not in NOT_KERNEL and _KERNEL_MODULE.fullmatch(module) is not None


def is_kernel_thread(name: str) -> bool:
    """Whether a thread's name is one that kernels give."""
    return _KERNEL_THREAD.fullmatch(name) is not None


def is_device(name: str) -> bool:
    """Whether a device's name is one that kernels give."""
    return _DEVICE.fullmatch(name) is not None


def is_unit(name: str) -> bool:
    """Whether a name is that of a unit."""
    return _SUFFIX.fullmatch(name) is not None
