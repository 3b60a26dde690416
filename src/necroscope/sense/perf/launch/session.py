"""One perf process for everything: samples of all CPUs and the life of cgroups, as one stream of bytes.

    starter = PerfStarter(host)
    with starter.start() as session:
        while (data := session.take(timeout_s=0.5)) is not None: ...
    starter.ended(session)

perf writes to a pipe. Its rings are large, so that nothing is lost while its core is taken by somebody else, and it is
woken twice a second to empty them (`launch/rounds.py`); without, data would come when a ring is half full, minutes
late. A thread of its own reads the pipe into memory and waits for nothing but perf. perf dies with us in any case. When
it is closed, what it still had in its rings can be taken: also from a perf that somebody had stopped.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import subprocess
import threading
from types import TracebackType

from necroscope import clock
from necroscope.sense.perf.launch.chunks import Chunks
from necroscope.sense.perf.launch.options import WAKE_S, PerfOptions
from necroscope.sense.perf.launch.process import Launched
from necroscope.sense.perf.launch.rounds import leave_record, until_pass_s

QUEUE_BYTES, PLENTY_BYTES = 64 << 20, 8 << 20
CHUNK_BYTES = 1 << 20
# Opening events for hundreds of cores and telling every process of a slow machine takes perf this long at most.
_BEGINS_S = 60.0
_DRAIN_S = 2.0


class PerfSession:
    """A running perf. `PerfStarter` makes one. `lacking` has a sentence for each thing that could not be had."""

    def __init__(self, launched: Launched, options: PerfOptions, lacking: tuple[str, ...] = ()) -> None:
        self.options, self.lacking = options, lacking
        self._launched = launched
        self._process, self._waking = launched.process, launched.waking
        self._chunks = Chunks(QUEUE_BYTES, PLENTY_BYTES)
        self._rest: list[bytes | bytearray] = []
        self._began_s = clock.elapsed_s()
        self._heard = False
        self._unheard_before = 0
        self._said = ""
        self._reader = threading.Thread(target=self._read, name="perf-reader", daemon=True)
        self._waker = threading.Thread(target=self._wake, name="perf-waker", daemon=True)
        self._ending = threading.Event()
        self._reader.start()
        self._waker.start()

    @property
    def pid(self) -> int:
        """perf's process."""
        return self._process.pid

    @property
    def age_s(self) -> float:
        """How long ago it began."""
        return clock.elapsed_s() - self._began_s

    @property
    def said(self) -> str:
        """What perf has complained of; of one that is closed too."""
        return self._said if self._ending.is_set() else self._launched.said()

    def take(self, timeout_s: float) -> bytes | bytearray | None:
        """Everything that came, once a second; no bytes when that is not due within the time, None when perf has ended
        and all was taken. Without any time: what is there at once."""
        if self._rest:
            rest, self._rest = self._rest, []
            return b"".join([*rest, self._chunks.take(0.0)])
        data = self._chunks.take(timeout_s)
        return None if not data and self._chunks.over else data

    def hangs_for_s(self) -> float:
        """For how long perf has neither taken a waking nor written a byte: a stopped or stuck perf shows here. Time in
        which nobody asked, because this process itself was stopped, does not count, nor does a minute to begin in."""
        hangs_s = max(0, self._waking.unheard - self._unheard_before - 1) * WAKE_S
        return hangs_s if self._heard else max(0.0, hangs_s - _BEGINS_S)

    def close(self) -> None:
        """End perf: asked first, then killed. Nothing of it remains, and what it still had to say can be taken."""
        self._ending.set()
        if self._process.poll() is None:
            # One that is stopped hears nothing; once it goes on it empties its rings, then ends.
            self._process.send_signal(signal.SIGINT)
            self._process.send_signal(signal.SIGCONT)
        self._keep_rest(_DRAIN_S)
        if self._process.poll() is None:
            try:
                self._process.wait(0.2)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._keep_rest(_DRAIN_S)
        self._waker.join(2.0)
        self._said = self._launched.said()
        self._launched.release()

    def __enter__(self) -> PerfSession:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _keep_rest(self, patience_s: float) -> None:
        """Take in what still comes, until the reader has seen the end: it waits for room."""
        ends = clock.elapsed_s() + patience_s
        while not self._chunks.over and clock.elapsed_s() < ends:
            if data := self._chunks.take(0.0):
                self._rest.append(data)
            self._reader.join(0.02)

    def _read(self) -> None:
        assert self._process.stdout is not None
        fd = self._process.stdout.fileno()
        room = bytearray(CHUNK_BYTES)
        with contextlib.suppress(OSError):  # more than users may have, on some kernels
            fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, CHUNK_BYTES)
        with contextlib.suppress(OSError):
            while size := os.readv(fd, [room]):
                self._heard = True
                self._unheard_before = self._waking.unheard
                self._chunks.put(memoryview(room)[:size])
        self._chunks.end()

    def _wake(self) -> None:
        while not self._ending.wait(until_pass_s(clock.now().realtime_ns)) and self._process.poll() is None:
            before = self._waking.unheard
            leave_record()
            self._waking.wake(self._process)
            if self._waking.unheard <= before:
                self._heard, self._unheard_before = True, 0
