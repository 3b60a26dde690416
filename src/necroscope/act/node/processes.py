"""Processes known by number and start time, and the way by which the caller is here."""

from __future__ import annotations

import os
import select
import signal

from necroscope.act.node.doors import ProcessView
from necroscope.errors import Unavailable
from necroscope.sense.cgroups.hierarchies import parse_memberships
from necroscope.sense.host import Host

END_S = 10.0
_ANCESTORS_MOST = 64
# include/linux/sched.h calls it PF_KTHREAD
_KERNEL_THREAD = 0x00200000


class LiveProcesses:
    """The processes of this node."""

    def __init__(self, host: Host | None = None) -> None:
        self._host = host or Host()

    def process(self, pid: int) -> ProcessView | None:
        """A living process; None for none, or only its remains."""
        found = self._read(pid)
        return found[0] if found is not None else None

    def callers(self) -> list[ProcessView]:
        """This program and its ancestors."""
        line: list[ProcessView] = []
        pid = os.getpid()
        while pid > 0 and len(line) < _ANCESTORS_MOST and (found := self._read(pid)) is not None:
            line.append(found[0])
            pid = found[1]
        return line

    def end(self, pid: int, identity: str) -> str:
        """SIGTERM through a descriptor of the process, so that a number that is used again is never hit."""
        try:
            fd = os.pidfd_open(pid)
        except ProcessLookupError:
            return "it had ended already"
        except OSError as error:
            raise Unavailable(f"process {pid} cannot be held on to: {error.strerror}") from error
        try:
            now = self.process(pid)
            if now is None or now.identity != identity:
                raise Unavailable(f"process {pid} is another one by now")
            signal.pidfd_send_signal(fd, signal.SIGTERM)
            ended = bool(select.select([fd], [], [], END_S)[0])
        except OSError as error:
            raise Unavailable(f"process {pid} cannot be ended: {error.strerror}") from error
        finally:
            os.close(fd)
        return "" if ended else f"it did not end within {END_S:.0f} s of SIGTERM"

    def _read(self, pid: int) -> tuple[ProcessView, int] | None:
        """A process and its parent's number."""
        stat = self._host.read_or_none(f"/proc/{pid}/stat", 1 << 16) or b""
        head, _, rest = stat.rpartition(b")")
        fields = rest.split()
        if len(fields) < 20 or fields[0] in (b"Z", b"X"):
            return None
        memberships = parse_memberships(self._host.read_or_none(f"/proc/{pid}/cgroup", 1 << 16) or b"")
        name = head.partition(b"(")[2].decode("utf-8", "replace")
        kernel = bool(int(fields[6]) & _KERNEL_THREAD)
        view = ProcessView(pid, int(fields[19]), name, tuple(dict.fromkeys(memberships.values())), kernel)
        return view, int(fields[1])
