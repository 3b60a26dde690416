"""perfs of other distributions: programs that check the command line as that perf on that kernel would, complain in its
words, and else do what a recording perf does: begin a stream, and bring something whenever they are woken. With `real`
they become the real perf instead.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

LONG = (
    "all-cpus", "clockid", "event", "freq", "mmap-pages", "no-buffering", "output", "quiet", "switch-output", "control",
    "all-cgroups", "buildid-mmap",
)  # fmt: skip
OLDER = ("control", "all-cgroups", "buildid-mmap")
INVALID = (
    "Error:\nThe sys_perf_event_open() syscall returned with 22 (Invalid argument) for event (cycles).\n"
    '"dmesg | grep -i perf" may provide additional information.\n\n'
)
NO_BUILD_ID = "Failed: no support to record build id in mmap events, update your kernel.\n"
UBUNTU = (
    "WARNING: perf not found for kernel 5.4.0-150\n\n"
    "  You may need to install the following packages for this specific kernel:\n    linux-tools-5.4.0-150-generic\n"
)
NO_NAME = (
    "event syntax error: 'cycles/freq=97,name=cycles/'\n                             \\___ unknown term\n\n"
    "valid terms: config,config1,config2,period,freq,branch_type,time,call-graph,stack-size,no-inherit\n\n"
    "Run 'perf list' for a list of valid events\n"
)
NO_FREQ = NO_NAME.replace(",name=cycles", "").replace(",freq,", ",")
NO_TRACEPOINT = (
    "event syntax error: 'cgroup:cgroup_mkdir'\n                     \\___ can't access trace events\n\n"
    "Error:\tNo permissions to read /sys/kernel/tracing/events/cgroup/cgroup_mkdir\n"
)
NO_OVERFLOW = "Error:\ncycles: PMU Hardware doesn't support sampling/overflow-interrupts. Try 'perf stat'\n"
LIMITED = (
    "Error:\nAccess to performance monitoring and observability operations is limited.\n"
    "Consider adjusting /proc/sys/kernel/perf_event_paranoid setting to open\naccess to performance monitoring\n"
)


@dataclass(frozen=True)
class Refusal:
    """A command line with these words ends so: after a time, and after the stream has begun, or before."""

    words: str
    complaint: str
    after_s: float = 0.0
    begun: bool = False


@dataclass(frozen=True)
class Shim:
    """One perf. `answers`: whether it takes what it finds on its control pipe."""

    lacks: tuple[str, ...] = ()
    refuses: tuple[Refusal, ...] = ()
    wrapper: str = ""
    answers: bool = True
    real: str = ""

    def write(self, path: Path) -> Path:
        """The program at a path; what it was asked for is in `log`."""
        settings = {**asdict(self), "options": [one for one in LONG if one not in self.lacks], "log": f"{path}.log"}
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!{sys.executable} -IS\nSETTINGS = {json.dumps(settings)!r}\n{_PROGRAM}")
        path.chmod(0o755)
        return path


def asked(path: Path) -> list[str]:
    """The command lines that the program was run with, the oldest first; questions for its help are none."""
    log = Path(f"{path}.log")
    lines = log.read_text().splitlines() if log.exists() else []
    return [line for line in lines if line != "record -h"]


_PROGRAM = """
import json, os, select, signal, sys, time
settings, arguments = json.loads(SETTINGS), sys.argv[1:]
line = " ".join(arguments)
with open(settings["log"], "a") as log:
    log.write(line + "\\n")
USAGE = "\\n Usage: perf record [<options>] [<command>]\\n    or: perf record [<options>] -- <command>\\n\\n"


def end(words, status):
    sys.stderr.write(words)
    sys.exit(status)


def begin():
    os.write(1, b"PERFILE2" + (16).to_bytes(8, "little"))


if settings["wrapper"]:
    end(settings["wrapper"], 2)
if line == "record -h":
    end(USAGE + "".join(f"        --{one} <{one}>\\n" for one in settings["options"]), 129)
for one in arguments:
    name = one[2:].split("=")[0]
    if one.startswith("--") and name and name not in settings["options"]:
        end(f"  Error: unknown option `{name}'\\n{USAGE}", 129)
for one in settings["refuses"]:
    if one["words"] in line and not (one["begun"] and arguments[-1] == "true"):
        if one["begun"]:
            begin()
        time.sleep(one["after_s"])
        end(one["complaint"], 255)
if arguments[-1] == "true":
    sys.exit(0)
if settings["real"]:
    os.execv(settings["real"], ["perf", *arguments])


control = next((int(one[3:].split(",")[0]) for one in arguments if one.startswith("fd:")), None)
signals, signalled = os.pipe()
os.set_blocking(signalled, False)
signal.set_wakeup_fd(signalled)
signal.signal(signal.SIGUSR2, (lambda *_: None) if "--switch-output" in line else signal.SIG_IGN)
signal.signal(signal.SIGINT, lambda *_: sys.exit(0))
begin()
while True:
    heard = [signals] if control is None or not settings["answers"] else [signals, control]
    for ready in select.select(heard, [], [])[0]:
        os.read(ready, 4096)
        os.write(1, b"woken up")
"""
