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

from necroscope.sense.perf.modules import NOT_KERNEL, in_kernel
from necroscope.sense.perf.symbols.bpf_programs import BPF
from necroscope.store.redact import kernel_words

DIGITS = 4

_SUFFIX = re.compile(r"(.+)\.(service|slice|scope|socket|mount|timer|path|target|device|swap|automount)")
USUAL = frozenset(
    (
        *("", "system.slice", "user.slice", "machine.slice", "init.scope", "-.slice", "<id>", "<n>"),
        *(f"{name}.target" for name in ("basic", "default", "graphical", "local-fs", "multi-user", "network")),
        *(f"{name}.target" for name in ("network-online", "paths", "remote-fs", "sockets", "sysinit", "timers")),
    )
)
_THREADED = re.compile(r"irq/(\d{1,5})-(.*)", re.DOTALL)
_BPF = re.compile(r"(bpf_prog_)([0-9a-f]{16}\w*)")
_BPF_OWN = re.compile(r"bpf_prog_[0-9a-f]+|bpf_trampoline_\d+(_\d+)?|bpf_dispatcher_xdp")
_NUMBERED = re.compile(r":-?\d{1,10}")
_SHORT_NUMBER = re.compile(r"\d{1,6}")


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
        """A thread of the kernel's: it keeps its name as far as kernels give such."""
        if not name or kernel_words.kernel_thread(name):
            return name
        if threaded := _THREADED.fullmatch(name):
            return f"irq/{threaded[1]}-{self.interrupt(threaded[2])}"
        worker, work = kernel_words.worker_of(name)
        return f"{worker}{self.token('work', work)}" if worker else self.token("process", name)

    def process(self, name: str) -> str:
        """A thread or process of somebody's. perf calls one whose name it does not know by its number."""
        return name if not name or _NUMBERED.fullmatch(name) else self.token("process", name)

    def unit(self, name: str) -> str:
        """A unit keeps its sort: `unit-7f3a.service`."""
        if name in USUAL:
            return name
        found = _SUFFIX.fullmatch(name)
        return f"{self.token('unit', found[1])}.{found[2]}" if found else self.token("unit", name)

    def path(self, path: str) -> str:
        """A path, name by name, so that what lies below the same folder still does."""
        return "/".join(map(self._segment, path.split("/")))

    def frame(self, name: str, module: str) -> tuple[str, str]:
        """A function and its module; the kernel and its modules stay."""
        if in_kernel(module):
            shown = _BPF.sub(lambda found: found[1] + self.token("x", found[2])[2:], name)
            own = module != BPF or _BPF_OWN.fullmatch(shown) or name in ("", "[unknown]")
            return shown if own else self.token("function", name), module
        shown = name if name in ("", "[unknown]") else self.token("function", name)
        return shown, module if module in NOT_KERNEL or not module else self.token("module", module)

    def device(self, name: str) -> str:
        """A device; names that kernels give stay."""
        return name if kernel_words.device(name) or _SHORT_NUMBER.fullmatch(name) else self.token("device", name)

    def interrupt(self, name: str) -> str:
        """A handler of interrupts; names that are all words of drivers and the kernel's devices stay."""
        return name if kernel_words.interrupt(name) else self.token("interrupt", name)

    def perf_event(self, name: str) -> str:
        """An event of perf; somebody's own probes and names do not stay."""
        return name if not name or kernel_words.perf_event(name) else self.token("event", name)

    def _segment(self, name: str) -> str:
        if name in USUAL:
            return name
        return self.unit(name) if _SUFFIX.fullmatch(name) else self.token("cgroup", name)


def is_unit(name: str) -> bool:
    """Whether a name is that of a unit."""
    return _SUFFIX.fullmatch(name) is not None
