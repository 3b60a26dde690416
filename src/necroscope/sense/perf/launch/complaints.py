"""What perf says when it ends: which feature it complains of, and whether it may sample at all."""

from __future__ import annotations

import re

from necroscope.errors import Unavailable
from necroscope.sense.host import Host
from necroscope.sense.perf.launch.options import FEATURES, Feature, PerfOptions

_HEADINGS = ("error:", "event syntax error:")
# What follows an unknown option names every option there is, and what follows an unknown term every term.
_USAGE = re.compile(r"^\s*Usage: ", re.MULTILINE)
_TERMS = re.compile(r"^\s*valid terms:.*$", re.MULTILINE)
_ALLOWED = re.compile(
    r"may not have permission|no permission|access to performance monitoring|perf_event_paranoid"
    r"|operation not permitted|permission denied",
    re.IGNORECASE,
)
_OTHER_KERNEL = re.compile(r"perf not found for kernel|linux-perf-\S+ is not installed|linux-tools-", re.IGNORECASE)


def without_usage(text: bytes) -> str:
    """What perf said, without the lists of options and terms that it prints after it."""
    words = _TERMS.sub("", text.decode("utf-8", "replace"))
    found = _USAGE.search(words)
    return (words[: found.start()] if found and found.start() else words).strip()


def first_sentence(said: str) -> str:
    """The first line that says something; empty when nothing was said."""
    lines = (line.strip() for line in said.splitlines())
    return next((line for line in lines if line and line.lower() not in _HEADINGS), "")


def refused_feature(said: str, options: PerfOptions) -> Feature | None:
    """The feature that perf complains of, of those that it was asked for."""
    return next((one for one in FEATURES if one.asked_by(options) and one.complaint.search(said)), None)


def refuses_this_kernel(said: str) -> bool:
    """Whether this was a distribution's wrapper that found no perf for the running kernel."""
    return bool(_OTHER_KERNEL.search(said))


def forbidden(said: str, host: Host, root: bool) -> Unavailable | None:
    """The sentence for a perf that may not sample at all."""
    if not _ALLOWED.search(said):
        return None
    if root:
        return Unavailable(
            "perf may not sample the CPUs, though this is root",
            "in a container: run it privileged, or with CAP_PERFMON and a seccomp profile that allows perf_event_open; "
            "a kernel in lockdown refuses it to everybody",
        )
    level = (host.read_or_none("/proc/sys/kernel/perf_event_paranoid", 64) or b"").decode("ascii", "replace").strip()
    return Unavailable(
        f"perf may not sample all CPUs for an ordinary user (kernel.perf_event_paranoid is {level or 'unknown'})",
        "run as root, or set kernel.perf_event_paranoid to -1",
    )
