"""What jobs share: Necroscope as users start it, and a kernel's log that can be written to."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

OUT = Path("/out")
STORE = OUT / "store"
# Software emulation is slow, and the machine below may be busy.
_BEGIN_S, _ANSWER_S = 120.0, 240.0
_PROGRAM = [sys.executable, "-m", "necroscope"]


def say(text: str) -> None:
    """On the job's output, at once."""
    sys.stdout.write(text.rstrip("\n") + "\n")
    sys.stdout.flush()


def ask(verb: str, *arguments: str) -> tuple[int, str]:
    """A verb's exit code, and what it says; how long it took is told."""
    began_s = time.monotonic()
    stored = () if verb == "scan" else ("--store", str(STORE))
    command = [*_PROGRAM, verb, *stored, *arguments]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=_ANSWER_S)
    say(f"# {verb} {' '.join(arguments)}: exit code {ran.returncode}, {time.monotonic() - began_s:.1f} s {ran.stderr}")
    return ran.returncode, ran.stdout


def document(verb: str, *arguments: str) -> dict[str, Any]:
    """A verb's answer for machines."""
    text = ask(verb, *arguments, "--json")[1]
    (OUT / f"{verb}.json").write_text(text, "utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def begun() -> subprocess.Popen[str]:
    """A recorder, when there are samples in its store."""
    command = [*_PROGRAM, "record", "-q", "--store", str(STORE)]
    began_s = time.monotonic()
    recorder = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    _wait_for_samples(recorder)
    say(f"# the recorder's first samples after {time.monotonic() - began_s:.1f} s")
    return recorder


@contextlib.contextmanager
def recording() -> Iterator[None]:
    """The recorder runs while the block does, from its first samples on."""
    recorder = begun()
    try:
        yield
    finally:
        recorder.send_signal(signal.SIGTERM)
        try:
            said = recorder.communicate(timeout=60)[0]
        except subprocess.TimeoutExpired:
            recorder.kill()
            said = "killed: it did not end. " + recorder.communicate()[0]
        say(f"# the recorder ended with {recorder.returncode} {said}")


def _wait_for_samples(recorder: subprocess.Popen[str]) -> None:
    from necroscope.store.read.reader import Store

    ends = time.monotonic() + _BEGIN_S
    while recorder.poll() is None and time.monotonic() < ends:
        with contextlib.suppress(Exception):
            samples = Store(STORE).snapshot((0, 1 << 62)).live.get("samples")
            if samples is not None and len(samples):
                return
        time.sleep(1.0)


def symptom(text: str) -> None:
    """A line of a network driver, in the kernel's own log."""
    with open("/dev/kmsg", "w") as log:
        log.write(f"<4>ena 0000:00:05.0 eth0: {text}\n")
