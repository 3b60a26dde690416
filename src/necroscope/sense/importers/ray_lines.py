"""Lines of Ray's logs: their times, and the few that tell of a failure.

    [2026-11-16 18:01:36,405 C 3315 3315] (raylet) node_manager.cc:971: ...   raylet.out, gcs_server.out, python-core-*
    2026-11-16 18:01:22,466\tINFO job_supervisor.py:437 -- ...                 Python: dashboard, drivers, jobs
    {"label":"RAY_NODE_REMOVED","message":"...","timestamp":1794852089,...}   events/event_*.log
    {"asctime":"2026-11-16 18:01:22,466","message":"...",...}                 structured logging

Texts were read in Ray 2.60 and, where older ones differ, in the logs that its users published (1.9 to 2.50).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

_STAMP = rb"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)[,.](\d{3,6})"
_CORE = re.compile(rb"\[" + _STAMP + rb" ([IWECDF]) \d+ \d+\] ?(?:\([\w-]+\) )?([\w./-]+\.(?:cc|h)):\d+: ?")
_PYTHON = re.compile(_STAMP + rb"\s+([A-Z]+) ([\w./<>-]+):\d+ -- ?")
_PREFIX = re.compile(rb"(?:\x1b\[\d+m)?\([^()]{1,120}\)(?:\x1b\[0m)? ")
_ESCAPE = re.compile(rb"\x1b\[[\d;]*m")
_ID = rb"([0-9a-f]{8,64})"
_ANY = re.compile(
    rb"ealth check failed|marked dead|marked as dead|death reason|imed out|ime out|is failed on worker"
    rb"|failed with error|worker died or was killed|neither in memory nor|lost object|exceptions\.|memory pressure"
    rb"|command exited with code|ray job|as finished|marking job state|supervisor actor for|Job '|heartbeat was sent"
)


@dataclass(frozen=True, slots=True)
class RayLine:
    """A line with its time (None: it has none of its own), without what comes before the message."""

    at_ns: int | None
    text: bytes
    step_ns: int = 1_000_000


@dataclass(frozen=True, slots=True)
class Told:
    """What a line tells: the kind of event, and whom it is about (an id, or empty)."""

    kind: str
    subject: str


@dataclass(frozen=True, slots=True)
class _Pattern:
    kind: str
    regex: re.Pattern[bytes]


def _pattern(kind: str, *regexes: bytes) -> tuple[_Pattern, ...]:
    return tuple(_Pattern(kind, re.compile(regex)) for regex in regexes)


PATTERNS = (
    *_pattern("ray-health-check-failed", rb".*Health check failed for node " + _ID),
    *_pattern(
        "ray-node-dead",
        rb".*Node is dead because the health check failed\. +node_id=" + _ID,
        rb".*The node with node id: " + _ID + rb" and .{0,200}has been marked dead because the detector",
        rb".*death reason = UNEXPECTED_TERMINATION.{0,300}?node_id=" + _ID,
        rb".*Exiting because this node manager has mistakenly been marked(?: as)? dead()",
        rb".*This node has bee[nm] marked as dead()",
        rb".*Node timed out[:,]? *" + _ID,
    ),
    *_pattern("ray-node-left", rb".*death reason = EXPECTED_TERMINATION.{0,300}?node_id=" + _ID),
    *_pattern("ray-heartbeat-late", rb".*Last heartbeat was sent (?:\d+) ms ago()"),
    *_pattern(
        "ray-actor-died",
        rb".*Actor is failed on worker .{0,200}need_reschedule = 1.*actor_id=" + _ID,
        rb".*Actor " + _ID + rb" is failed on worker .{0,200}need_reschedule = 1",
        rb".*Task attempt [0-9a-f]{16}([0-9a-f]{32}) failed with error ACTOR_(?:DIED|UNAVAILABLE)",
        rb"(?:\S+ )?ray\.exceptions\.(?:ActorDiedError|RayActorError|ActorUnavailableError): ?()",
    ),
    *_pattern(
        "ray-worker-died",
        rb".*A worker died or was killed while executing a task.{0,400}?Worker ID: " + _ID,
        rb".*Task attempt ([0-9a-f]{48}) failed with error WORKER_DIED",
        rb"(?:\S+ )?ray\.exceptions\.WorkerCrashedError: ?()",
    ),
    *_pattern(
        "ray-object-lost",
        rb".*Object neither in memory nor external storage " + _ID,
        rb".*Attempting to recover \d+ lost objects()",
        rb".*failed with error OBJECT_(?:LOST|UNRECONSTRUCTABLE\w*)()",
        rb"(?:\S+ )?ray\.exceptions\.(?:ObjectLostError|OwnerDiedError|ObjectReconstructionFailed\w*): \D*"
        + _ID
        + rb"?",
    ),
    *_pattern(
        "ray-fetch-timeout",
        rb".*Object time out " + _ID,
        rb".*Fetch for object " + _ID + rb" timed out",
        rb"(?:\S+ )?ray\.exceptions\.(?:ObjectFetchTimedOutError|GetTimeoutError): ?()",
    ),
    *_pattern("ray-oom-kill", rb".*(?:killed|Killing worker).{0,200}memory pressure()"),
    *_pattern(
        "ray-job-failed",
        rb".*Job (\S{1,100}) entrypoint command exited with code (?!0\b)",
        rb".*Completed a ray job (\S{1,100}) with a status FAILED",
        rb".*[Jj]ob supervisor actor for (\S{1,100}) died",
        rb".*Job '(\S{1,100})' failed",
    ),
    *_pattern(
        "ray-job-ended",
        rb".*Job (\S{1,100}) entrypoint command exited with code 0\b",
        rb".*Completed a ray job (\S{1,100}) with a status (?:SUCCEEDED|STOPPED)",
        rb".*Job '(\S{1,100})' (?:succeeded|was stopped)",
        rb".*Marking job as finished\. +job_id=" + _ID,
        rb".*Finished marking job state, job id = " + _ID,
    ),
)
_INTENDED = (
    re.compile(rb".*Task attempt [0-9a-f]{16}([0-9a-f]{32}) .*IntentionalSystemExit"),
    re.compile(rb".*Actor is failed on worker .{0,200}need_reschedule = 0.*actor_id=" + _ID),
)


def parse_line(line: bytes) -> RayLine:
    """A line of any of Ray's logs; without a time of its own where it goes on from the one before."""
    if line.startswith(b"{"):
        return _json_line(line)
    line = _ESCAPE.sub(b"", line)
    if (named := _PREFIX.match(line)) is not None:
        line = line[named.end() :]
    found = _CORE.match(line) or _PYTHON.match(line)
    if found is None:
        return RayLine(None, line)
    return RayLine(_ns(found[1].decode(), found[2].decode()), line[found.end() :])


def told(text: bytes) -> Told | None:
    """The failure that a message tells of, or None."""
    if _ANY.search(text) is None:
        return None
    for pattern in PATTERNS:
        if (found := pattern.regex.match(text)) is not None:
            return Told(pattern.kind, (found[1] or b"").decode("utf-8", "replace"))
    return None


def intended_actor(text: bytes) -> str:
    """The actor that a line says to have ended as it should; empty for other lines."""
    for regex in _INTENDED:
        if (found := regex.match(text)) is not None:
            return found[1].decode()
    return ""


def _json_line(line: bytes) -> RayLine:
    try:
        entry: Any = json.loads(line)
        text = entry["message"].encode("utf-8", "replace").replace(b"\n", b" ")
        if isinstance(moment := entry.get("asctime"), str):
            return RayLine(_ns(*re.split("[,.]", moment, maxsplit=1)), text)
        seconds = int(entry["timestamp"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError):
        return RayLine(None, line)
    return RayLine(seconds * 1_000_000_000, text, 1_000_000_000) if 0 < seconds < 1 << 33 else RayLine(None, text)


def _ns(date: str, fraction: str = "0") -> int | None:
    try:
        moment = datetime.strptime(date, "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC)
    except ValueError:
        return None
    return int(moment.timestamp()) * 1_000_000_000 + int(fraction[:9].ljust(9, "0"))
