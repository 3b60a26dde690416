"""One perf process for everything: samples of all CPUs and the life of cgroups, as one stream of bytes.

    with PerfSession.start(host, options) as session:
        while data := session.take(timeout_s=0.5): ...

perf writes to a pipe. Its rings are large, so that nothing is lost while its core is taken by somebody else, and a
`ping` on its control pipe every half second makes it empty them; without, data would come when a ring is full, minutes
late. A thread of its own reads the pipe into memory and waits for nothing but perf. perf dies with us in any case. When
it is closed, what it still had in its rings can be taken: also from a perf that somebody had stopped.

What this perf or kernel lacks is found by trying: the full command first, then without one feature after the other.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from types import TracebackType

from necroscope import clock
from necroscope.clock import NS
from necroscope.errors import Unavailable
from necroscope.sense.command import trusted_program
from necroscope.sense.host import Host
from necroscope.sense.surroundings import for_programs

FREQUENCY_HZ = 97
RING_PAGES = 512
RINGS_BYTES = 64 << 20
QUEUE_BYTES = 64 << 20
CHUNK_BYTES = 1 << 20
PING_S = 0.5
_BEFORE_S = 0.1
TRACEPOINTS = ("cgroup_mkdir", "cgroup_rmdir", "cgroup_release", "cgroup_attach_task")
TRACEFS = ("/sys/kernel/tracing", "/sys/kernel/debug/tracing")

_SETTLED_S = 0.6
_GOODBYE_S = 2.0
# A fresh process ties itself to our life and becomes perf: between fork and exec no Python may run beside threads.
_TIED = """
import ctypes, os, sys
ctypes.CDLL(None).prctl(1, 9)  # PR_SET_PDEATHSIG, SIGKILL
if os.getppid() == int(sys.argv[1]):
    os.execvp(sys.argv[2], sys.argv[2:])
"""
_F_SETPIPE_SZ = 1031
# A mount namespace of perf's own: tracefs is mounted for perf and for nobody else.
_WITH_TRACEFS = ("unshare", "--mount", "--propagation", "private", "sh", "-c")
_MOUNT_AND_RUN = 'mount -t tracefs none /sys/kernel/tracing && exec "$@"'


@dataclass(frozen=True, slots=True)
class PerfOptions:
    """What perf is asked for; `lacking` says what could not be had."""

    event: str = "cycles"
    frequency_hz: int = FREQUENCY_HZ
    cgroups: bool = True
    build_ids: bool = True
    tracepoints: bool = True
    lacking: tuple[str, ...] = ()


# What is given up, one after the other, until perf starts: how, and the sentence for it.
_RETREATS: tuple[tuple[dict[str, object], str], ...] = (
    ({"event": "cpu-clock"}, "no hardware counter: the CPU clock samples, and does not see code with interrupts off"),
    ({"build_ids": False}, "this perf or kernel does not give build ids with mappings"),
    ({"cgroups": False}, "this perf or kernel does not give the cgroup of samples"),
    ({"tracepoints": False}, "the cgroup tracepoints cannot be used: tracefs is not there or perf may not read it"),
)


def ring_pages(cpus: int, page_bytes: int = 4096) -> int:
    """Pages of one CPU's ring: 512, or the largest power of two with which all rings fit their limit."""
    most = max(1, RINGS_BYTES // (max(1, cpus) * page_bytes))
    return min(RING_PAGES, 1 << (most.bit_length() - 1))


def perf_command(options: PerfOptions, cpus: int, control: tuple[int, int], perf: str = "perf") -> list[str]:
    """The command line; the control pipes are inherited descriptors.

    The frequency is the sampled event's own. Given for all (`-F 97`), perf would thin out the tracepoints as well: of
    20 cgroups made in a row it then tells a handful.
    """
    command = [perf, "record", "--quiet", "-g", "--all-cpus"]
    command += ["--clockid", "mono", "--mmap-pages", str(ring_pages(cpus))]
    command += ["--all-cgroups"] if options.cgroups else []
    command += ["--buildid-mmap"] if options.build_ids else []
    command += ["--control", f"fd:{control[0]},{control[1]}"]
    command += ["--event", f"{options.event}/freq={options.frequency_hz}/"]
    for name in TRACEPOINTS if options.tracepoints else ():
        command += ["--event", f"cgroup:{name}"]
    return [*command, "--output", "-"]


class PerfSession:
    """A running perf. Make one with `start`."""

    def __init__(self, process: subprocess.Popen[bytes], control: _Control, options: PerfOptions) -> None:
        self.options = options
        self._process = process
        self._control = control
        self._chunks: queue.Queue[bytes] = queue.Queue(maxsize=QUEUE_BYTES // CHUNK_BYTES)
        self._rest: list[bytes] = []
        self._reader = threading.Thread(target=self._read, name="perf-reader", daemon=True)
        self._pinger = threading.Thread(target=self._ping, name="perf-pinger", daemon=True)
        self._ending = threading.Event()
        self._reader.start()
        self._pinger.start()

    @classmethod
    def start(cls, host: Host, options: PerfOptions | None = None, perf: str | None = None) -> PerfSession:
        """Start perf with as much of `options` as works here; `Unavailable` when it does not start at all."""
        binary = perf or str(trusted_program("perf", hint="Debian: apt-get install linux-perf"))
        host.live_path("/proc")
        complaint = ""
        for attempt in _attempts(options or PerfOptions()):
            try:
                return cls(*_launch(host, attempt, binary), attempt)
            except Unavailable as error:
                complaint = error.message
        raise Unavailable(f"perf does not start: {complaint}", "run as root, or set kernel.perf_event_paranoid to -1")

    @property
    def pid(self) -> int:
        """perf's process."""
        return self._process.pid

    def take(self, timeout_s: float) -> bytes | None:
        """Everything that came, at least once per ping; None when perf has ended and all was taken."""
        chunks, self._rest = self._rest, []
        if chunks:
            timeout_s = 0.0
        with contextlib.suppress(queue.Empty):
            chunks.append(self._chunks.get(timeout_s > 0, timeout_s))
            while True:
                chunks.append(self._chunks.get_nowait())
        if not chunks and not self._reader.is_alive() and self._chunks.empty():
            return None
        return b"".join(chunks)

    def hangs_for_s(self) -> float:
        """For how long perf has not answered pings: a stopped or stuck perf shows here. Time in which nobody asked,
        because this process itself was stopped, does not count."""
        return self._control.unanswered * PING_S

    def close(self) -> None:
        """End perf: asked first, then killed. Nothing of it remains, and what it still had to say can be taken."""
        self._ending.set()
        if self._process.poll() is None:
            # One that is stopped hears nothing; once it goes on it empties its rings, then ends.
            self._process.send_signal(signal.SIGINT)
            self._process.send_signal(signal.SIGCONT)
        self._keep_rest(_GOODBYE_S)
        if self._process.poll() is None:
            try:
                self._process.wait(0.2)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._keep_rest(_GOODBYE_S)
        self._pinger.join(2.0)
        self._control.close()
        assert self._process.stdout is not None
        self._process.stdout.close()

    def __enter__(self) -> PerfSession:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _keep_rest(self, patience_s: float) -> None:
        """Take in what still comes, until the reader has seen the end: it waits for room in the queue."""
        ends = clock.elapsed_s() + patience_s
        while (alive := self._reader.is_alive()) or not self._chunks.empty():
            with contextlib.suppress(queue.Empty):
                self._rest.append(self._chunks.get(alive, 0.05))
            if clock.elapsed_s() > ends:
                return

    def _read(self) -> None:
        assert self._process.stdout is not None
        fd = self._process.stdout.fileno()
        while True:
            try:
                chunk = os.read(fd, CHUNK_BYTES)
            except OSError:
                return
            if not chunk:
                return
            self._chunks.put(chunk)

    def _ping(self) -> None:
        while not self._ending.wait(_until_ping(clock.now().realtime_ns)) and self._process.poll() is None:
            self._control.ping()


def _until_ping(now_ns: int) -> float:
    """Seconds to the next ping: a little before whole and half seconds, when rows are written down."""
    period_ns = int(PING_S * NS)
    return (period_ns - (now_ns + int(_BEFORE_S * NS)) % period_ns) / NS


class _Control:
    """perf's control pipes: `ping` in, `ack` out."""

    def __init__(self) -> None:
        self.for_perf, self._commands = os.pipe2(os.O_CLOEXEC)
        self._answers, self.from_perf = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(self._commands, False)
        os.set_blocking(self._answers, False)
        self.unanswered = 0

    def handed_over(self) -> None:
        """perf has its ends; ours are closed."""
        os.close(self.for_perf)
        os.close(self.from_perf)

    def ping(self) -> None:
        """Ask perf to empty its rings. A pipe full of unread pings says that it does not listen."""
        with contextlib.suppress(OSError):
            if os.read(self._answers, 4096):
                self.unanswered = 0
        self.unanswered += 1
        with contextlib.suppress(OSError):
            os.write(self._commands, b"ping\n")

    def close(self) -> None:
        os.close(self._commands)
        os.close(self._answers)


def _attempts(options: PerfOptions) -> Iterator[PerfOptions]:
    yield options
    for change, reason in _RETREATS:
        if any(getattr(options, name) != value for name, value in change.items()):
            options = replace(options, **change, lacking=(*options.lacking, reason))  # type: ignore[arg-type]
            yield options


def _launch(host: Host, options: PerfOptions, perf: str) -> tuple[subprocess.Popen[bytes], _Control]:
    control = _Control()
    descriptors = (control.for_perf, control.from_perf)
    command = perf_command(options, os.cpu_count() or 1, descriptors, perf)
    if options.tracepoints and not any(host.exists(f"{folder}/events/cgroup") for folder in TRACEFS):
        command = [*_WITH_TRACEFS, _MOUNT_AND_RUN, "sh", *command]
    with tempfile.TemporaryFile() as complaints:
        process = _popen(command, descriptors, complaints.fileno())
        control.handed_over()
        ends = clock.elapsed_s() + _SETTLED_S
        while clock.elapsed_s() < ends and process.poll() is None:
            clock.sleep(0.02)
        if process.poll() is None:
            assert process.stdout is not None
            _enlarge(process.stdout.fileno())
            return process, control
        control.close()
        assert process.stdout is not None
        process.stdout.close()
        complaints.seek(0)
        raise Unavailable(_first_complaint(complaints.read(4096)))


def _popen(command: Sequence[str], descriptors: tuple[int, int], complaints: int) -> subprocess.Popen[bytes]:
    tied = [sys.executable, "-I", "-S", "-c", _TIED, str(os.getpid()), *command]
    return subprocess.Popen(
        tied,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=complaints,
        pass_fds=descriptors,
        env=for_programs(),
    )


def _enlarge(fd: int) -> None:
    import fcntl

    with contextlib.suppress(OSError):
        fcntl.fcntl(fd, _F_SETPIPE_SZ, 1 << 20)


def _first_complaint(text: bytes) -> str:
    lines = [line.strip() for line in text.decode("utf-8", "replace").splitlines() if line.strip()]
    return next((line for line in lines if line.lower() not in ("error:", "event syntax error:")), "it ended at once")
