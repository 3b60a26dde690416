"""Names that kernels and systemd give, word by word. All of it is finite: no part of such a name can say anything else.

A shape (`kworker/` and whatever follows) would let any name through that somebody dresses like that. So what is not
listed here is taken for somebody's name, even if a kernel gave it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from necroscope.store.redact.kernel_vocabulary import EVENTS, FILE_NAMES, INTERRUPTS, THREADS, WORKS

COMM_LENGTH = 15
"""Letters of a thread's name that the kernel keeps; a name of that length may have been cut."""

_DISK = (
    r"(?:nvme\d{1,3}n\d{1,3}(?:p\d{1,3})?|(?:sd|vd|xvd|hd)[a-z]{1,2}\d{0,3}"
    r"|(?:dm-|md|loop|sr|zram|nbd)\d{1,4}(?:p\d{1,3})?)"
)
_NUMBERED = re.compile(
    r"swapper(/\d{1,4})?|:-?\d{1,10}|(kswapd|kcompactd|scsi_eh_|scsi_tmf_|kdamond\.|md)\d{1,4}(:\d{1,4})?"
    r"|(ksoftirqd|migration|cpuhp|watchdog|idle_inject|rcuc|rcub|rcuo[bgps]|rcu_exp_gp_kthread_worker"
    r"|rcu_exp_par_gp_kthread_worker|backlog_napi|irq_work|stopper)/\d{1,4}"
    rf"|md\d{{1,4}}_raid\d{{1,2}}|jbd2/{_DISK}(-\d{{0,4}})?|xfs(aild|-cil|-log)/{_DISK}"
)
_WORKER = re.compile(r"kworker/(?:u?\d{1,4}:\d{1,5}H?|R)(?:[-+](.*))?", re.DOTALL)
_FLUSH = re.compile(r"flush-(\d{1,4}:\d{1,4}|btrfs-\d{1,4})")
_DEVICE = re.compile(
    rf"lo|{_DISK}|cpu\d{{1,4}}|(?:eth|ib|wlan|bond|virtio|veth|tun|tap|br)\d{{1,4}}(?:\.\d{{1,4}})?"
    r"|eno\d{1,4}(?:np\d{1,2})?|nvme\d{1,3}(?:q\d{1,4})?|tty(?:S|AMA|USB|ACM)?\d{0,3}|mlx\d(?:_\d{1,3})?"
    r"|en[sp]\d{1,4}(?:s\d{1,3})?(?:f\d{1,2})?(?:d\d{1,2})?(?:np\d{1,2})?(?:\.\d{1,4})?"
    r"|[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]"
)
_PIECES = re.compile(r"[^A-Za-z0-9]+|(?<=[A-Za-z])(?=\d)|(?<=\d)(?=[A-Za-z])")

_OF_PMU = re.compile(r"(?:cpu|cpu_core|cpu_atom|armv8_pmuv3_0)/(.*)/([ukhGHpPSDWIe]{0,6})", re.DOTALL)
_WITH_TERMS = re.compile(r"([\w-]+)/(?:(?:freq|period)=\d{1,9},?){0,3}/[ukhGHpPSDWIe]{0,6}", re.ASCII)
_MODIFIED = re.compile(r"(.*):[ukhGHpPSDWIe]{1,6}", re.DOTALL)
_RAW = re.compile(
    r"r[0-9a-f]{1,16}|(?:(?:event|umask|cmask|edge|inv|any|ldlat|config[12]?)=(?:0x)?[0-9a-f]{1,16},?){1,9}"
)


def kernel_thread(name: str) -> bool:
    """Whether a thread's name is, in every part, one that kernels give."""
    if _NUMBERED.fullmatch(name) or _among(name, THREADS, len(name)):
        return True
    worker = _WORKER.fullmatch(name)
    return worker is not None and (not worker[1] or kernel_work(worker[1], len(name)))


def kernel_work(work: str, length: int = 0) -> bool:
    """Whether a work queue's name is a kernel's; `length` is that of the whole name, which may have been cut."""
    disk = work.partition("/")
    if disk[1]:
        return disk[0] in WORKS and device(disk[2])
    return _among(work, WORKS, length) or _FLUSH.fullmatch(work) is not None


def worker_of(name: str) -> tuple[str, str]:
    """A worker's name in two: what it is, and the work queue it works for; twice nothing for other threads."""
    found = _WORKER.fullmatch(name)
    if found is None or not found[1]:
        return "", ""
    return name[: found.start(1)], found[1]


def device(name: str) -> bool:
    """Whether a device's name is one that kernels give."""
    return _DEVICE.fullmatch(name) is not None


def interrupt(name: str) -> bool:
    """Whether the name of an interrupt's handler has no word that somebody may have chosen."""
    pieces = [piece for piece in _PIECES.split(name) if piece]
    return all((piece.isdecimal() and len(piece) < 6) or piece.lower() in INTERRUPTS for piece in pieces)


def perf_event(name: str) -> bool:
    """Whether an event of perf is the kernel's or the processor's; probes and names of one's own are not."""
    for wrapping in (_OF_PMU, _WITH_TERMS, _MODIFIED):
        found = wrapping.fullmatch(name)
        name = found[1] if found else name
    return name in EVENTS or _RAW.fullmatch(name) is not None


def kernel_file(path: str) -> bool:
    """Whether a path is that of one of the kernel's own files."""
    first, *names = path.split("/")
    return not first and bool(names) and names[0] in ("proc", "sys", "dev") and FILE_NAMES.issuperset(names)


def _among(word: str, words: Iterable[str], length: int) -> bool:
    return word in words or (length == COMM_LENGTH and bool(word) and any(one.startswith(word) for one in words))
